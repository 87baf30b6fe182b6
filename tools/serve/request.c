/* request.c: what a request may take, what is said when it fails, and its answer's way to the client, with the headers
 * that browsers and proxies go by. */
#include "tools/serve/request.h"

#include "tools/connections/peers.h"
#include "tools/serve/jobs.h"
#include "tools/serve/service.h"
#include "tools/shared/clock.h"
#include "tools/shared/json.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- What a request may take ---- */

/* The time between two checks whether the client is still there. */
#define CHECK_INTERVAL_NANOSECONDS ((uint64_t)250000000)

/* The most bytes of an error's sentence before some are escaped; the rest is cut off. */
enum { MAX_SENTENCE_BYTES = 2048 };

double request_get_age_seconds(const struct request *request) {
    return (double)(read_nanoseconds() - request->received) / 1e9;
}

/* Removes the last character of a UTF-8 text, even if only its first bytes are there: the text was cut, perhaps within
 * that character. */
static void drop_last_character(char *text) {
    size_t length = strlen(text);
    while (length > 0 && ((unsigned char)text[length - 1] & 0xc0) == 0x80) length--;
    if (length > 0) text[length - 1] = '\0';
}

/* Writes a sentence of fewer than MAX_SENTENCE_BYTES bytes as a JSON string, in which what is not printable is
 * escaped. */
static void write_printable_sentence(struct output *output, const char *sentence) {
    char printable[4 * MAX_SENTENCE_BYTES + PRINTABLE_PIECE_BYTES];
    size_t length = 0;
    while (*sentence != '\0') {
        sentence += printable_write_piece(sentence, printable + length);
        length += strlen(printable + length);
    }
    json_write_bytes(output, printable, length);
}

bool request_fail(struct request *request, unsigned status, const char *format, ...) {
    char sentence[MAX_SENTENCE_BYTES];
    va_list arguments;
    if (request->committed) return false;
    va_start(arguments, format);
    bool cut = vsnprintf(sentence, sizeof sentence, format, arguments) >= (int)sizeof sentence;
    va_end(arguments);
    if (cut) drop_last_character(sentence);
    request->status = status;
    request->answer_type = "application/json";
    request->answer.length = 0;
    request->answer.error = 0;
    output_text(&request->answer, "{\"error\":");
    write_printable_sentence(&request->answer, sentence);
    output_text(&request->answer, "}\n");
    return false;
}

/* Returns the HTTP status for a status of the library other than IDX_OK. The library's statuses below IDX_NOT_FOUND are
 * mistakes of the caller, and so of the client. */
static unsigned map_to_http_status(enum idx_status status) {
    if (status == IDX_OUT_OF_MEMORY || status == IDX_BUSY) return MHD_HTTP_SERVICE_UNAVAILABLE;
    if (status == IDX_DISK_FULL) return MHD_HTTP_INSUFFICIENT_STORAGE;
    return status < IDX_NOT_FOUND ? MHD_HTTP_BAD_REQUEST : MHD_HTTP_INTERNAL_SERVER_ERROR;
}

bool request_fail_by_error(struct request *request, const struct idx_error *error) {
    if (request->committed) complain("%s", error->sentence);
    return request_fail(request, map_to_http_status(error->status), "%s", error->sentence);
}

/* Returns whether the client has gone. Checks that only once in CHECK_INTERVAL_NANOSECONDS, since it takes a system
 * call, and returns false in between. */
static bool client_has_gone(struct request *request) {
    uint64_t now = read_nanoseconds();
    if (now < request->client_checked + CHECK_INTERVAL_NANOSECONDS) return false;
    request->client_checked = now;
    return peer_has_gone(request->peer);
}

bool request_check_limits(struct request *request) {
    if (request->status != 0) return false;
    if (request->answer.length > MAX_ANSWER_BYTES)
        return request_fail(request, MHD_HTTP_UNPROCESSABLE_CONTENT,
                            "the answer has more than %zu bytes; ask for less at once, or set limit and max-documents",
                            MAX_ANSWER_BYTES);
    if (request->answer.error != 0)
        return request_fail(request, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory for the answer");
    if (request_get_age_seconds(request) > MAX_SECONDS)
        return request_fail(request, MHD_HTTP_SERVICE_UNAVAILABLE,
                            "the answer takes more than %d seconds; ask for less at once", MAX_SECONDS);
    if (jobs_are_stopped(&request->service->jobs))
        return request_fail(request, MHD_HTTP_SERVICE_UNAVAILABLE, "the service ends; try again later");
    if (client_has_gone(request)) return request_fail(request, CLIENT_HAS_GONE, "the client has gone");
    return true;
}

void request_finish_answer(struct request *request, const char *type) {
    /* request_check_limits fails the request then. The other limits do not count for an answer that is complete. */
    if (request->answer.length > MAX_ANSWER_BYTES || request->answer.error != 0) request_check_limits(request);
    if (request->status != 0) return;
    request->status = MHD_HTTP_OK;
    request->answer_type = type;
}

bool request_count_held_bytes(struct request *request, size_t bytes) {
    size_t held = atomic_fetch_add(&request->service->held_bytes, bytes);
    request->held_bytes += bytes;
    return held + bytes <= MAX_HELD_BYTES;
}

/* ---- The answer on its way ---- */

/* The page comes with one script and one style sheet, and asks this service alone. */
static const char page_policy[] = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
                                  "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/* Returns whether the answer is text, a style sheet or a script, which browsers show or run, and not data for programs.
 */
static bool is_for_browsers(const struct request *request) { return strncmp(request->answer_type, "text/", 5) == 0; }

/* Adds a header to an answer. Returns false if memory ran out. */
static bool add_header(struct MHD_Response *response, const char *name, const char *value) {
    return MHD_add_response_header(response, name, value) == MHD_YES;
}

/* Adds headers by which browsers keep other pages from showing or reading the page. Returns false if memory ran out. */
static bool add_page_headers(struct MHD_Response *response) {
    return add_header(response, "Cache-Control", "no-store") &&
           add_header(response, "Content-Security-Policy", page_policy) &&
           add_header(response, "Cross-Origin-Resource-Policy", "same-origin") &&
           add_header(response, "X-Frame-Options", "DENY") && add_header(response, "Referrer-Policy", "no-referrer") &&
           add_header(response, "Cross-Origin-Opener-Policy", "same-origin");
}

/* Adds headers by which browsers let pages of request->origin, which must not be NULL, read the answer. For an answer
 * to OPTIONS, adds others that say what such pages may send. Returns false if memory ran out. */
static bool add_origin_headers(struct MHD_Response *response, const struct request *request) {
    bool ok =
        add_header(response, "Access-Control-Allow-Origin", request->origin) && add_header(response, "Vary", "Origin");
    if (!request->preflight) return ok;
    return ok && add_header(response, "Access-Control-Allow-Methods", request->allow) &&
           add_header(response, "Access-Control-Allow-Headers", "Authorization, Content-Type") &&
           add_header(response, "Access-Control-Max-Age", "600");
}

/* Adds the header, if any, that tells the client what to do about this status. Returns false if memory ran out. */
static bool add_status_header(struct MHD_Response *response, unsigned status) {
    if (status == MHD_HTTP_UNAUTHORIZED) return add_header(response, "WWW-Authenticate", "Bearer");
    if (status == MHD_HTTP_SERVICE_UNAVAILABLE) return add_header(response, "Retry-After", "1");
    return true;
}

/* Adds all headers of an answer, by the status, the type and the origin of the request. Returns false if memory ran
 * out; some headers may be added even then. */
static bool add_headers(struct MHD_Response *response, const struct request *request) {
    bool ok = true;
    if (request->answer_type != NULL) {
        ok = add_header(response, "Content-Type", request->answer_type) &&
             add_header(response, "X-Content-Type-Options", "nosniff");
        if (is_for_browsers(request)) ok = ok && add_page_headers(response);
    }
    if (request->status != MHD_HTTP_OK) ok = ok && add_status_header(response, request->status);
    if (request->allow != NULL) ok = ok && add_header(response, "Allow", request->allow);
    if (request->origin != NULL) ok = ok && add_origin_headers(response, request);
    if (request->closes || atomic_load_explicit(&request->service->peers.ending, memory_order_relaxed))
        ok = ok && add_header(response, "Connection", "close");
    return ok;
}

/* An answer of up to so many bytes is sent even if requests hold more memory than they may. */
enum { SMALL_ANSWER_BYTES = 1 << 16 };

enum MHD_Result request_queue_answer(struct request *request) {
    size_t length = request->answer.length;
    peer_enter_phase(request->peer, PEER_RECEIVES);
    if (!request_count_held_bytes(request, length) && length > SMALL_ANSWER_BYTES && !request->committed) {
        request_fail(request, MHD_HTTP_SERVICE_UNAVAILABLE, "the service is busy; try again later");
        length = request->answer.length;
    }
    struct MHD_Response *response =
        MHD_create_response_from_buffer(length, request->answer.bytes, MHD_RESPMEM_MUST_FREE);
    if (response == NULL) return MHD_NO; /* The answer still belongs to the request. */
    request->answer = (struct output)OUTPUT_BUFFER;
    enum MHD_Result result =
        add_headers(response, request) ? MHD_queue_response(request->connection, request->status, response) : MHD_NO;
    MHD_destroy_response(response);
    return result;
}
