/* head.h: reads the head of a request. */
#ifndef IDX_TOOLS_SERVE_HEAD_H
#define IDX_TOOLS_SERVE_HEAD_H

#include "tools/serve/request.h"

/* A head that a proxy could read in another way than this service is refused, so that nobody smuggles a request past
 * the proxy. So is a name that has a NUL byte, since C would end it there. */

/* Notes the URL before libmicrohttpd decodes it in place, and what is wrong with it, for head_check. */
void head_note_uri(struct request *request, const char *uri);

/* Checks the whole head, which has `length` bytes and begins with `method`. head_note_uri comes before. Returns false
 * where the request failed. Then the connection is to be closed, because nobody knows where the request's body ends. */
bool head_check(struct request *request, const char *method, const char *version, size_t length);

/* Sets what the parameters of the URL ask for, and defaults for those that are not given. Returns false where the
 * request failed, as it does by a parameter that the route does not take. */
bool head_read_parameters(struct request *request);

#endif
