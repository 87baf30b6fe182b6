/* request.c: what is said of a request that fails, and how much it may take. */
#include "tools/serve/request.h"

#include "tools/serve/service.h"
#include "tools/shared/json.h"
#include "tools/shared/message.h"
#include "tools/shared/printable.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Between two looks whether the client is still there. */
#define LOOK_NANOSECONDS ((uint64_t)250000000)

/* Bytes that the sentence of an error may have, before what is escaped in it. */
enum { MOST_SENTENCE = 2048 };

uint64_t now_nanoseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

double request_seconds(const struct request *request) { return (double)(now_nanoseconds() - request->whole) / 1e9; }

/* Takes away the letter at the end of a text that was cut, which may have been cut too. */
static void drop_last_letter(char *text) {
    size_t length = strlen(text);
    while (length > 0 && ((unsigned char)text[length - 1] & 0xc0) == 0x80) length--;
    if (length > 0) text[length - 1] = '\0';
}

/* As it is, but for what is not printable. */
static void put_sentence(struct output *output, const char *sentence) {
    char printable[4 * MOST_SENTENCE + PRINTABLE_PIECE];
    size_t length = 0;
    while (*sentence != '\0') {
        sentence += printable_piece(sentence, printable + length);
        length += strlen(printable + length);
    }
    json_put_bytes(output, printable, length);
}

void request_fail(struct request *request, unsigned status, const char *format, ...) {
    char sentence[MOST_SENTENCE];
    va_list arguments;
    if (request->committed) return;
    va_start(arguments, format);
    bool cut = vsnprintf(sentence, sizeof sentence, format, arguments) >= (int)sizeof sentence;
    va_end(arguments);
    if (cut) drop_last_letter(sentence);
    request->status = status;
    request->answer_type = "application/json";
    request->answer.length = 0;
    request->answer.error = 0;
    output_text(&request->answer, "{\"error\":");
    put_sentence(&request->answer, sentence);
    output_text(&request->answer, "}\n");
}

void request_fail_by(struct request *request, const struct idx_error *error) {
    unsigned status = error->status == IDX_OUT_OF_MEMORY || error->status == IDX_BUSY ? MHD_HTTP_SERVICE_UNAVAILABLE
                      : error->status == IDX_DISK_FULL                                ? MHD_HTTP_INSUFFICIENT_STORAGE
                      : error->status < IDX_NOT_FOUND                                 ? MHD_HTTP_BAD_REQUEST
                                                                                      : MHD_HTTP_INTERNAL_SERVER_ERROR;
    if (request->committed) complain("%s", error->sentence);
    request_fail(request, status, "%s", error->sentence);
}

/* Whether the client has gone, which is looked at now and then. */
static bool client_has_gone(struct request *request) {
    uint64_t time = now_nanoseconds();
    if (time < request->looked + LOOK_NANOSECONDS) return false;
    request->looked = time;
    return peer_has_gone(request->peer);
}

bool request_goes_on(struct request *request) {
    if (request->status != 0) return false;
    if (request->answer.length > MOST_ANSWER_BYTES)
        request_fail(request, MHD_HTTP_UNPROCESSABLE_CONTENT,
                     "the answer has more than %zu bytes; ask for less at once, or set limit and max-documents",
                     MOST_ANSWER_BYTES);
    else if (request->answer.error != 0)
        request_fail(request, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory for the answer");
    else if (request_seconds(request) > MOST_SECONDS)
        request_fail(request, MHD_HTTP_SERVICE_UNAVAILABLE,
                     "the answer takes more than %d seconds; ask for less at once", MOST_SECONDS);
    else if (jobs_ended(&request->service->jobs))
        request_fail(request, MHD_HTTP_SERVICE_UNAVAILABLE, "the service ends; try again later");
    else if (client_has_gone(request))
        request_fail(request, CLIENT_HAS_GONE, "the client has gone");
    else
        return true;
    return false;
}

void request_end(struct request *request, const char *type) {
    if (request->answer.length > MOST_ANSWER_BYTES || request->answer.error != 0) request_goes_on(request);
    if (request->status != 0) return;
    request->status = MHD_HTTP_OK;
    request->answer_type = type;
}

bool request_hold(struct request *request, size_t bytes) {
    size_t held = atomic_fetch_add(&request->service->held, bytes);
    request->held += bytes;
    return held + bytes <= MOST_HELD_BYTES;
}
