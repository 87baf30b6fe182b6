/* guard.h: who may use the service: by the name it is called by, the origin of a page, and the token for writing. */
#ifndef IDX_TOOLS_CONNECTIONS_GUARD_H
#define IDX_TOOLS_CONNECTIONS_GUARD_H

#include "tools/connections/options.h"

/* A token has at least TOKEN_MIN_BYTES bytes, and fewer than TOKEN_BUFFER_BYTES: a 0 ends it. */
enum { TOKEN_MIN_BYTES = 16, TOKEN_BUFFER_BYTES = 512 };

/* This environment variable holds the token if no file does. */
#define TOKEN_VARIABLE "IDX_TOKEN"

struct guard {
    const struct strings *hosts, *origins; /* Those of --host and --allow-origin. */
    char token[TOKEN_BUFFER_BYTES];        /* All bytes behind the token are 0. */
    size_t token_length;                   /* 0: the service does not write. */
};

/* Fills the guard by the options, which must stay valid. If the service is to write, reads the token from its
 * file, or else from the environment variable, which it then unsets. Complains and returns false if the service is to
 * write and the token is missing, can't be read, or can't be used. */
bool guard_open(struct guard *guard, const struct serve_options *options);

/* Returns whether a client may call the service by this value of the header Host, which must not be NULL: an IP
 * address, localhost or a name of --host, and perhaps a port. Other names are refused, since somebody else's DNS could
 * lead them to this machine. */
bool guard_accepts_host(const struct guard *guard, const char *host);

/* Returns whether a page of this origin may use the service: a page of the service itself, whose origin is http:// or
 * https:// and `host`, or one whose origin --allow-origin names. `host` is the request's header Host, or NULL if it has
 * none. */
bool guard_accepts_origin(const struct guard *guard, const char *origin, const char *host);

/* Returns whether --allow-origin names this origin. */
bool guard_names_origin(const struct guard *guard, const char *origin);

/* Returns whether a value of the header Authorization is "Bearer " and the token; false if it is NULL, or if the
 * service does not write. A wrong token is refused in the same time, however many of its bytes are right. */
bool guard_accepts_token(const struct guard *guard, const char *authorization);

#endif
