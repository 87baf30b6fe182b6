/* head.h: reads the head of a request. It refuses one that a proxy could read in another way than this service, so that
 * nobody smuggles a request past it, and names that end where they don't seem to. */
#ifndef IDX_TOOLS_SERVE_HEAD_H
#define IDX_TOOLS_SERVE_HEAD_H

#include "tools/serve/request.h"

/* Notes the URL as it came, before libmicrohttpd decodes it in place. */
void head_take_uri(struct request *request, const char *uri);

/* Checks the whole head, which has `length` bytes and begins with `method`. Returns false where the request failed.
 * Then the connection is closed, because nobody knows where the request's body ends. */
bool head_check(struct request *request, const char *method, const char *version, size_t length);

/* Reads the parameters that the route takes. Any other parameter fails the request, and false is returned. */
bool parameters_read(struct request *request);

#endif
