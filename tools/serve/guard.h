/* guard.h: who may use the service, by the name that a client calls it by, by the origin of a page, and by the token
 * for writing. */
#ifndef IDX_TOOLS_SERVE_GUARD_H
#define IDX_TOOLS_SERVE_GUARD_H

#include "tools/serve/options.h"

/* A token has at least TOKEN_LEAST bytes and fewer than TOKEN_MOST. */
enum { TOKEN_LEAST = 16, TOKEN_MOST = 512 };

/* This environment variable holds the token if no file does. */
#define TOKEN_VARIABLE "IDX_TOKEN"

struct guard {
    const struct strings *hosts, *origins;
    char token[TOKEN_MOST]; /* All bytes behind the token are 0. */
    size_t token_length;    /* 0: the service does not write. */
};

/* Reads the token if the service is to write. */
bool guard_open(struct guard *guard, const struct serve_options *options);

/* Returns whether a client may call the service by this value of the header Host, a host and perhaps a port. A name
 * that somebody else's DNS leads to this machine is refused. */
bool guard_takes_host(const struct guard *guard, const char *host);

/* Returns whether a page of this origin may use the service: one of the service's own, or one that --allow-origin
 * names. */
bool guard_takes_origin(const struct guard *guard, const char *origin, const char *host);

/* Returns whether --allow-origin names this origin. */
bool guard_named_origin(const struct guard *guard, const char *origin);

/* Returns whether a header Authorization has the token. The time that this takes does not depend on the header's
 * value. */
bool guard_takes_token(const struct guard *guard, const char *authorization);

#endif
