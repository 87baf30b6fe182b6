/* router.h: finds what a request asks for, checks who asks, and has it answered. */
#ifndef IDX_TOOLS_SERVE_ROUTER_H
#define IDX_TOOLS_SERVE_ROUTER_H

#include <microhttpd.h>

/* libmicrohttpd calls these with the service as their context. */

/* The first line of a request has come. Returns the request, for the other functions, or NULL if memory ran out. */
void *router_begin(void *service, const char *uri, struct MHD_Connection *connection);

/* The head has come, or a part of the body, or the end of the request. MHD_NO closes the connection. */
enum MHD_Result router_handle(void *service, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *upload, size_t *upload_size, void **request);

/* The answer was sent, or the connection ended before. Counts the request, and frees it. */
void router_end(void *service, struct MHD_Connection *connection, void **request,
                enum MHD_RequestTerminationCode reason);

#endif
