/* guard.h: who may ask: the names by which a service is called, the pages that may use it, and the token for writing.
 */
#ifndef IDX_TOOLS_SERVE_GUARD_H
#define IDX_TOOLS_SERVE_GUARD_H

#include "tools/serve/options.h"

#include <stdbool.h>
#include <stddef.h>

/* Bytes that a token may have. */
enum { TOKEN_LEAST = 16, TOKEN_MOST = 512 };

/* The environment variable that holds the token. */
#define TOKEN_VARIABLE "IDX_TOKEN"

struct guard {
    const struct texts *hosts, *origins;
    char token[TOKEN_MOST]; /* the rest is 0 */
    size_t token_length;    /* 0: there is none */
};

/* Reads the token where the service is to write. False after a complaint. */
bool guard_open(struct guard *guard, const struct serve_options *options);

/* Whether a client may call the service by the name in its header Host, which names or numbers a host and perhaps a
 * port. A name that somebody else's DNS leads here is none of these. */
bool guard_takes_host(const struct guard *guard, const char *host);

/* Whether a page of an origin may use the service: one of its own, or one that was named. */
bool guard_takes_origin(const struct guard *guard, const char *origin, const char *host);

/* Whether that origin was named. */
bool guard_named_origin(const struct guard *guard, const char *origin);

/* Whether a header Authorization has the token. Takes the same time whatever the header says. */
bool guard_takes_token(const struct guard *guard, const char *authorization);

#endif
