/* guard.h: who may use the service: by the name it is called by, the origin of a page, and the token for writing. */
#ifndef IDX_TOOLS_CONNECTIONS_GUARD_H
#define IDX_TOOLS_CONNECTIONS_GUARD_H

#include "tools/connections/options.h"

/* A token has at least TOKEN_LEAST bytes and fewer than TOKEN_MOST. */
enum { TOKEN_LEAST = 16, TOKEN_MOST = 512 };

/* This environment variable holds the token if no file does. */
#define TOKEN_VARIABLE "IDX_TOKEN"

struct guard {
    const struct strings *hosts, *origins; /* Those of --host and --allow-origin. */
    char token[TOKEN_MOST];                /* All bytes behind the token are 0. */
    size_t token_length;                   /* 0: the service does not write. */
};

/* Takes the names that the options have, which must stay valid. If the service is to write, reads the token, and unsets
 * the environment variable if it is from there. Complains and returns false if there is no token that can be used. */
bool guard_open(struct guard *guard, const struct serve_options *options);

/* Returns whether a client may call the service by this value of the header Host: an IP address, localhost or a name of
 * --host, and perhaps a port. Other names are refused, since somebody else's DNS could lead them to this machine. */
bool guard_accepts_host(const struct guard *guard, const char *host);

/* Returns whether a page of this origin may use the service: one of the service's own, whose origin has the request's
 * `host`, or one that --allow-origin names. `host` is the header Host, or NULL. */
bool guard_accepts_origin(const struct guard *guard, const char *origin, const char *host);

/* Returns whether --allow-origin names this origin. */
bool guard_names_origin(const struct guard *guard, const char *origin);

/* Returns whether Authorization, or NULL, has the token. The time does not tell how much of a wrong token is right. */
bool guard_accepts_token(const struct guard *guard, const char *authorization);

#endif
