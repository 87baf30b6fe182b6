/* head.h: reads the head of a request. */
#ifndef IDX_TOOLS_SERVE_HEAD_H
#define IDX_TOOLS_SERVE_HEAD_H

#include "tools/serve/request.h"

/* A head that a proxy could read in another way than this service is refused, so that nobody smuggles a request past
 * the proxy. So is a name that has a NUL byte, since C would end it there. */

/* Notes for head_check_syntax where the URL ends, and what is wrong with it. Call this before libmicrohttpd decodes the
 * URL in place. */
void head_note_uri(struct request *request, const char *uri);

/* Checks the whole head, which has `length` bytes, begins at `method`, and has the HTTP version at `version`. Call this
 * after head_note_uri. Returns false where the request failed. Then it also sets request->closes, because nobody knows
 * where the request's body ends. */
bool head_check_syntax(struct request *request, const char *method, const char *version, size_t length);

/* Stores the values of the URL's parameters in the request, whose route must be set, and defaults for those that the
 * URL lacks. Returns false where the request failed: the route does not take a parameter, a value is bad, two
 * parameters exclude each other, or a needed ID is missing. */
bool head_read_parameters(struct request *request);

#endif
