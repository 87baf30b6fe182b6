/* router.c: has the routes, and leads a request through them. */
#include "tools/serve/router.h"

#include "tools/connections/guard.h"
#include "tools/connections/peers.h"
#include "tools/page/assets.h"
#include "tools/serve/files.h"
#include "tools/serve/head.h"
#include "tools/serve/jobs.h"
#include "tools/serve/lookups.h"
#include "tools/serve/request.h"
#include "tools/serve/service.h"
#include "tools/serve/status.h"
#include "tools/shared/clock.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The most bytes of a URL and of a head. Beyond its own, higher limit, libmicrohttpd answers with a page of its own. */
enum { MAX_URI_BYTES = 4096, MAX_HEAD_BYTES = 8192 };

#define LINES "application/x-ndjson"
#define JSON "application/json"
#define RAW "application/octet-stream"

/* Answers with an asset: a file of the page, which the build put into the executable. The path of the route chooses it.
 * Returns true, since nothing is left to a job. */
static bool answer_asset(struct request *request) {
    static const struct asset {
        const char *path, *type, *text, *second_text; /* `second_text` follows the text. */
    } assets[] = {
        {"/", "text/html; charset=utf-8", asset_page, ""},
        {"/page.js", "text/javascript; charset=utf-8", asset_shared, asset_serve},
        {"/page.css", "text/css; charset=utf-8", asset_style, ""},
        {"/openapi.json", "application/json", asset_openapi, ""},
    };
    for (size_t i = 0; i < sizeof assets / sizeof *assets; i++) {
        if (strcmp(assets[i].path, request->route->path) != 0) continue;
        output_text(&request->answer, assets[i].text);
        output_text(&request->answer, assets[i].second_text);
        request_finish_answer(request, assets[i].type);
    }
    return true;
}

static bool answer_metrics(struct request *request);

static const struct route routes[] = {
    {.path = "/lookup/",
     .takes = TAKES_MATCHES,
     .name = "lookup",
     .answer = lookups_answer_one,
     .answer_quickly = lookups_answer_one_quickly},
    {.path = "/lookup",
     .post = true,
     .takes = TAKES_MATCHES,
     .name = "lookup-many",
     .types = {LINES, JSON, RAW},
     .answer = lookups_answer_many},
    {.path = "/text",
     .post = true,
     .takes = TAKES_MATCHES | TAKES_RESEMBLE,
     .name = "text",
     .types = {"text/plain", "text/html"},
     .answer = texts_answer},
    {.path = "/documents", .takes = TAKES_MATCHES | TAKES_ID, .name = "documents", .answer = lookups_answer_id},
    {.path = "/document", .takes = TAKES_ID, .name = "document", .answer = files_answer_document},
    {.path = "/info", .name = "info", .answer = status_answer_info},
    {.path = "/healthz", .name = "healthz", .answer_quickly = status_answer_health},
    {.path = "/metrics", .name = "metrics", .answer_quickly = answer_metrics},
    {.path = "/check-and-add",
     .post = true,
     .writes = true,
     .takes = TAKES_DISTANCE | TAKES_SMALL_LIMIT | TAKES_DOCUMENTS | TAKES_RESEMBLE,
     .name = "check-and-add",
     .types = {LINES, JSON},
     .answer = writes_answer_add},
    {.path = "/remove",
     .post = true,
     .writes = true,
     .name = "remove",
     .types = {LINES, JSON},
     .answer = writes_answer_remove},
    {.path = "/", .name = "page", .answer_quickly = answer_asset},
    {.path = "/page.js", .name = "page", .answer_quickly = answer_asset},
    {.path = "/page.css", .name = "page", .answer_quickly = answer_asset},
    {.path = "/openapi.json", .name = "page", .answer_quickly = answer_asset},
};

enum { ROUTE_COUNT = sizeof routes / sizeof *routes };
_Static_assert((int)ROUTE_COUNT < (int)METRICS_ROUTES, "each route has its counts, and so has none");

/* Returns the name of a route by its index in `routes`, or "none" for METRICS_NO_ROUTE. This is a route_namer. */
static const char *get_route_name(unsigned index) { return index < ROUTE_COUNT ? routes[index].name : "none"; }

/* Answers GET /metrics with the names of these routes. Returns true, since nothing is left to a job. */
static bool answer_metrics(struct request *request) { return metrics_answer(request, get_route_name); }

/* ---- The head ---- */

/* Returns the value of a header of the request, or NULL if it has none. */
static const char *find_header(const struct request *request, const char *name) {
    return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

/* Returns the first route that answers a path, or NULL if there is none. A route whose path ends in / has all paths
 * below it, except for /, which is the page alone. */
static const struct route *find_route(const char *path) {
    for (const struct route *route = routes; route < routes + ROUTE_COUNT; route++) {
        size_t length = strlen(route->path);
        bool is_folder = length > 1 && route->path[length - 1] == '/';
        if (is_folder ? strncmp(path, route->path, length) == 0 : strcmp(path, route->path) == 0) return route;
    }
    return NULL;
}

/* Returns whether a route answers to a method. Any route that takes GET also takes HEAD. */
static bool takes_method(const struct route *route, const char *method) {
    if (route->post) return strcmp(method, "POST") == 0;
    return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
}

/* Sets the request's route by its path and method, or fails the request if there is none. Answers the method OPTIONS at
 * once, by the list of methods. Returns whether the request is still to be answered. */
static bool choose_route(struct request *request, const char *path, const char *method) {
    const struct route *route = find_route(path);
    request->route = route;
    if (route == NULL)
        return request_fail(request, MHD_HTTP_NOT_FOUND,
                            "there is nothing at this path; /openapi.json lists what there is");
    request->path_rest = path + strlen(route->path);
    if (takes_method(route, method)) return true;
    request->allow = route->post ? "POST, OPTIONS" : "GET, HEAD, OPTIONS";
    request->preflight = strcmp(method, "OPTIONS") == 0;
    if (!request->preflight)
        return request_fail(request, MHD_HTTP_METHOD_NOT_ALLOWED, "this path takes %s", request->allow);
    request->status = MHD_HTTP_NO_CONTENT;
    return false;
}

/* Checks by the headers Host and Origin who asks. Fails the request if a page of another origin asks, or if the name in
 * Host is not the service's, although it leads to this machine; over a UNIX socket, no name is needed. Notes the origin
 * of a page that may read the answer. Returns false where the request failed. */
static bool check_host_and_origin(struct request *request) {
    const struct guard *guard = &request->service->guard;
    const char *host = find_header(request, "Host"), *origin = find_header(request, "Origin");
    if (!request->peer->local && host == NULL)
        request_fail(request, MHD_HTTP_BAD_REQUEST, "the header Host is missing");
    else if (!request->peer->local && !guard_accepts_host(guard, host))
        request_fail(request, MHD_HTTP_MISDIRECTED_REQUEST,
                     "this service is not called by this name; name it with --host when the service is started");
    else if (origin != NULL && !guard_accepts_origin(guard, origin, host))
        request_fail(request, MHD_HTTP_FORBIDDEN,
                     "pages of this origin may not use the service; --allow-origin lets them");
    else if (origin != NULL && guard_names_origin(guard, origin))
        request->origin = origin;
    return request->status == 0;
}

/* Checks whether the request may write, if its route does. Fails it if the service does not write, or if the request
 * lacks the token. Returns false where the request failed. */
static bool check_right_to_write(struct request *request) {
    const struct guard *guard = &request->service->guard;
    if (!request->route->writes) return true;
    if (guard->token_length == 0)
        request_fail(request, MHD_HTTP_FORBIDDEN, "this service does not write; it has to be started with --writable");
    else if (!guard_accepts_token(guard, find_header(request, "Authorization")))
        request_fail(request, MHD_HTTP_UNAUTHORIZED,
                     "writing needs the token of the service, in a header: Authorization: Bearer TOKEN");
    return request->status == 0;
}

/* Fails the request, since its body has more bytes than the option --max-body allows. */
static void fail_as_body_too_long(struct request *request) {
    request_fail(request, MHD_HTTP_CONTENT_TOO_LARGE, "the body has more than %" PRIu64 " bytes",
                 request->service->options->max_body);
}

/* Returns the index in route->types of a Content-Type, whose parameters, such as charset, do not count. Returns -1 if
 * the route does not take it, or if `type` is NULL. */
static int find_body_type(const struct route *route, const char *type) {
    size_t length = type == NULL ? 0 : strcspn(type, "; \t");
    for (int i = 0; i < MAX_TYPES && length > 0 && route->types[i] != NULL; i++) {
        if (strlen(route->types[i]) == length && strncasecmp(type, route->types[i], length) == 0) return i;
    }
    return -1;
}

/* Checks the headers that describe the body to come: its Content-Type, Content-Encoding and Content-Length. Notes the
 * type in body_type. Returns false where the request failed. The route must be one with a body. */
static bool check_body_headers(struct request *request) {
    const char *content_length = find_header(request, "Content-Length");
    const char *const *types = request->route->types; /* Each route with a body has two of them, or three. */
    request->body_type = find_body_type(request->route, find_header(request, "Content-Type"));
    if (request->body_type < 0 && types[2] == NULL)
        request_fail(request, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE, "the Content-Type has to be %s or %s", types[0],
                     types[1]);
    else if (request->body_type < 0)
        request_fail(request, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE, "the Content-Type has to be %s, %s or %s", types[0],
                     types[1], types[2]);
    else if (find_header(request, "Content-Encoding") != NULL)
        request_fail(request, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE, "bodies can't be compressed: omit Content-Encoding");
    else if (content_length != NULL && strtoull(content_length, NULL, 10) > request->service->options->max_body)
        fail_as_body_too_long(request);
    return request->status == 0;
}

/* Checks the head in this order: its size, what it says, who asks, the route, the right to write, parameters, and the
 * body's type. The first fault fails the request. */
static void check_head(struct request *request, const char *path, const char *method, const char *version) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    if (request->uri_length > MAX_URI_BYTES)
        request_fail(request, MHD_HTTP_URI_TOO_LONG, "the URL has more than %d bytes", MAX_URI_BYTES);
    else if (info == NULL || info->header_size > MAX_HEAD_BYTES)
        request_fail(request, MHD_HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE, "the request has more than %d bytes of headers",
                     MAX_HEAD_BYTES);
    if (request->status != 0 || !head_check_syntax(request, method, version, info->header_size)) return;
    if (!check_host_and_origin(request)) return;
    if (!choose_route(request, path, method) || !check_right_to_write(request)) return;
    if (head_read_parameters(request) && request->route->post) check_body_headers(request);
}

/* Returns whether the body of a refused request is to be read to its end. Most clients read an answer only after they
 * have sent the whole body. Two kinds of body are not read: a body of more than SERVE_MAX_BODY_BYTES, and the body of a
 * request with a header Expect, whose client waits for an answer before it sends the body. */
static bool should_read_whole_body(const struct request *request) {
    const char *content_length = find_header(request, "Content-Length"), *expect = find_header(request, "Expect");
    return expect == NULL && (content_length == NULL || strtoull(content_length, NULL, 10) <= SERVE_MAX_BODY_BYTES);
}

/* Checks the head. Afterwards the body comes, even if the request is refused: then it is discarded. But if the body of
 * a refused request is not to be read to its end, queues the refusal at once, and closes the connection after it.
 * Returns MHD_NO, which closes the connection, if that fails. */
static enum MHD_Result handle_head(struct request *request, const char *path, const char *method, const char *version) {
    request->stage = STAGE_BODY;
    check_head(request, path, method, version);
    peer_enter_phase(request->peer, PEER_SENDS);
    const bool is_refused = request->status >= 400; /* It is 0 unless it is known, and 204 as an answer to OPTIONS. */
    if (!is_refused || (!request->closes && should_read_whole_body(request))) return MHD_YES;
    request->closes = true;
    return request_queue_answer(request);
}

/* ---- The body, and the answer ---- */

/* Appends a part of the body to the request, or fails the request if the body is too long or memory ran out. Discards
 * the part if the request has failed or its route takes no body. */
static void append_body_part(struct request *request, const char *bytes, size_t length) {
    if (request->status != 0 || !request->route->post) return;
    if (request->body.length + length > request->service->options->max_body)
        fail_as_body_too_long(request);
    else if (!request_count_held_bytes(request, length))
        request_fail(request, MHD_HTTP_SERVICE_UNAVAILABLE, "the service is busy; try again later");
    else
        output_bytes(&request->body, bytes, length);
    if (request->body.error != 0) request_fail(request, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory for the body");
}

/* Answers a request that has come as a whole, or has a job answer it. Returns true if a job will. Returns false if the
 * answer is ready to be queued; it may be an error. */
static bool answer_or_submit_request(struct request *request) {
    const struct route *route = request->route;
    if (request->status != 0) return false;
    peer_enter_phase(request->peer, PEER_WORKS);
    request->received = request->client_checked = read_nanoseconds();
    request->stage = STAGE_ANSWERED;
    if (route->answer_quickly != NULL && route->answer_quickly(request)) return false;
    if (jobs_submit_request(route->writes ? &request->service->writing : &request->service->jobs, request)) return true;
    return request_fail(request, MHD_HTTP_SERVICE_UNAVAILABLE, "the service is busy; try again later");
}

void *router_begin(void *service, const char *uri, struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct peer *peer = info == NULL ? NULL : info->socket_context; /* As add_or_remove_peer set it. */
    struct request *request = peer == NULL ? NULL : calloc(1, sizeof *request);
    if (request == NULL) return NULL;
    *request = (struct request){.service = service,
                                .connection = connection,
                                .peer = peer,
                                .started = read_nanoseconds(),
                                .body = OUTPUT_BUFFER,
                                .answer = OUTPUT_BUFFER};
    head_note_uri(request, uri);
    atomic_store_explicit(&request->peer->request_began, true, memory_order_relaxed);
    return request;
}

enum MHD_Result router_handle(void *service, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *upload, size_t *upload_size, void **request_context) {
    struct request *request = *request_context;
    (void)service, (void)connection;
    if (request == NULL) return MHD_NO;
    if (request->stage == STAGE_HEAD) return handle_head(request, url, method, version);
    if (request->stage == STAGE_BODY && *upload_size > 0) {
        append_body_part(request, upload, *upload_size);
        *upload_size = 0; /* This tells libmicrohttpd that the whole part was read. */
        return MHD_YES;
    }
    if (request->stage == STAGE_BODY && answer_or_submit_request(request)) return MHD_YES;
    return request_queue_answer(request);
}

void router_end(void *context, struct MHD_Connection *connection, void **request_context,
                enum MHD_RequestTerminationCode reason) {
    struct service *service = context;
    struct request *request = *request_context;
    (void)connection, (void)reason;
    if (request == NULL) return;
    unsigned route_index = request->route == NULL ? METRICS_NO_ROUTE : (unsigned)(request->route - routes);
    metrics_count_answer(&service->metrics, route_index, request->status, read_nanoseconds() - request->started);
    peer_enter_phase(request->peer, PEER_WAITS);
    if (request->held_bytes > 0) atomic_fetch_sub(&service->held_bytes, request->held_bytes);
    free(request->body.bytes);
    free(request->answer.bytes);
    free(request);
    *request_context = NULL;
}
