/* head.h: reads the head of a request. */
#ifndef IDX_TOOLS_SERVE_HEAD_H
#define IDX_TOOLS_SERVE_HEAD_H

#include "tools/serve/request.h"

/* A head that a proxy could read in another way than this service is refused, so that nobody smuggles a request past
 * the proxy. So is a name that has a NUL byte, since C would end it there. */

/* Notes the URL as it came, before libmicrohttpd decodes it in place. */
void head_take_uri(struct request *request, const char *uri);

/* Checks the whole head, which has `length` bytes and begins with `method`. Returns false where the request failed.
 * Then the connection is closed, because nobody knows where the request's body ends. */
bool head_check(struct request *request, const char *method, const char *version, size_t length);

/* Reads the parameters that the route takes. Any other parameter fails the request, and false is returned. */
bool parameters_read(struct request *request);

#endif
