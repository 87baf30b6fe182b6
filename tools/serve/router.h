/* router.h: finds what a request asks for, checks who asks, and has it answered. */
#ifndef IDX_TOOLS_SERVE_ROUTER_H
#define IDX_TOOLS_SERVE_ROUTER_H

#include <microhttpd.h>

/* libmicrohttpd calls these functions. `service`, or the context of router_end, is the struct service. */

/* Begins a request, whose first line has come. Returns the struct request, which router_handle and router_end get
 * as *request_context, or NULL if memory ran out. */
void *router_begin(void *service, const char *uri, struct MHD_Connection *connection);

/* Handles what has come of a request: first its head, then each part of its body, of *upload_size bytes, and at last
 * its end, where *upload_size is 0. At the end, queues the answer, or has a job make it; after a job, libmicrohttpd
 * calls this once more. Returns MHD_NO, which closes the connection, if there is no request, or if the answer can't be
 * queued. */
enum MHD_Result router_handle(void *service, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *upload, size_t *upload_size, void **request_context);

/* Ends a request, whose answer was sent or whose connection ended before: counts it in the metrics, and frees it. */
void router_end(void *context, struct MHD_Connection *connection, void **request_context,
                enum MHD_RequestTerminationCode reason);

#endif
