/* head.h: reads the head of a request. It refuses one that a proxy could read in another way than this service, so that
 * nobody smuggles a request past it, and names that end where they don't seem to. */
#ifndef IDX_TOOLS_SERVE_HEAD_H
#define IDX_TOOLS_SERVE_HEAD_H

#include "tools/serve/request.h"

/* Takes the URL of a request as it came, which libmicrohttpd decodes in place afterwards. */
void head_take_uri(struct request *request, const char *uri);

/* Checks the whole head, which has so many bytes and begins with the method. False: the request was failed, and its
 * connection has to be closed, as nobody knows where its body ends. */
bool head_check(struct request *request, const char *method, const char *version, size_t length);

/* Reads those that the route takes, and fails by any other. */
bool parameters_read(struct request *request);

#endif
