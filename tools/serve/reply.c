/* reply.c: answers on their way to the client, with the headers that browsers and proxies go by. */
#include "tools/serve/reply.h"

#include "tools/serve/service.h"

#include <stdlib.h>
#include <string.h>

/* The page comes with one script and one style sheet, and asks this service alone. */
static const char policy[] = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
                             "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/* What a browser shows or runs, rather than what a program asked for. */
static bool is_for_browsers(const struct request *request) { return strncmp(request->answer_type, "text/", 5) == 0; }

static bool add(struct MHD_Response *response, const char *name, const char *value) {
    return MHD_add_response_header(response, name, value) == MHD_YES;
}

static bool add_for_pages(struct MHD_Response *response) {
    return add(response, "Cache-Control", "no-store") && add(response, "Content-Security-Policy", policy) &&
           add(response, "Cross-Origin-Resource-Policy", "same-origin") && add(response, "X-Frame-Options", "DENY") &&
           add(response, "Referrer-Policy", "no-referrer") &&
           add(response, "Cross-Origin-Opener-Policy", "same-origin");
}

static bool add_for_origin(struct MHD_Response *response, const struct request *request) {
    bool well = add(response, "Access-Control-Allow-Origin", request->origin) && add(response, "Vary", "Origin");
    if (!request->preflight) return well;
    return well && add(response, "Access-Control-Allow-Methods", request->allow) &&
           add(response, "Access-Control-Allow-Headers", "Authorization, Content-Type") &&
           add(response, "Access-Control-Max-Age", "600");
}

static bool add_for_status(struct MHD_Response *response, unsigned status) {
    if (status == MHD_HTTP_UNAUTHORIZED) return add(response, "WWW-Authenticate", "Bearer");
    if (status == MHD_HTTP_SERVICE_UNAVAILABLE) return add(response, "Retry-After", "1");
    return true;
}

static bool add_headers(struct MHD_Response *response, const struct request *request) {
    bool well = true;
    if (request->answer_type != NULL) {
        well =
            add(response, "Content-Type", request->answer_type) && add(response, "X-Content-Type-Options", "nosniff");
        if (is_for_browsers(request)) well = well && add_for_pages(response);
    }
    if (request->status != MHD_HTTP_OK) well = well && add_for_status(response, request->status);
    if (request->allow != NULL) well = well && add(response, "Allow", request->allow);
    if (request->origin != NULL) well = well && add_for_origin(response, request);
    if (request->closes || atomic_load_explicit(&request->service->peers.ending, memory_order_relaxed))
        well = well && add(response, "Connection", "close");
    return well;
}

enum MHD_Result reply(struct request *request) {
    size_t length = request->answer.length;
    peer_enter(request->peer, PEER_RECEIVES);
    if (!request_hold(request, length) && length > 1 << 16 && !request->committed) {
        request_fail(request, MHD_HTTP_SERVICE_UNAVAILABLE, "the service is busy; try again later");
        length = request->answer.length;
    }
    struct MHD_Response *response =
        MHD_create_response_from_buffer(length, request->answer.bytes, MHD_RESPMEM_MUST_FREE);
    if (response == NULL) return MHD_NO; /* the answer stays the request's */
    request->answer = (struct output)OUTPUT_KEPT;
    enum MHD_Result result =
        add_headers(response, request) ? MHD_queue_response(request->connection, request->status, response) : MHD_NO;
    MHD_destroy_response(response);
    return result;
}
