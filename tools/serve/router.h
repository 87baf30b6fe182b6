/* router.h: finds what a request asks for, checks who asks, and has it answered. */
#ifndef IDX_TOOLS_SERVE_ROUTER_H
#define IDX_TOOLS_SERVE_ROUTER_H

#include <microhttpd.h>

/* libmicrohttpd calls these with the service as their context: when the first line of a request has come, for each
 * further part, and at its end. */
void *router_begin(void *service, const char *uri, struct MHD_Connection *connection);
enum MHD_Result router_handle(void *service, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *upload, size_t *upload_size, void **request);
void router_end(void *service, struct MHD_Connection *connection, void **request,
                enum MHD_RequestTerminationCode reason);

#endif
