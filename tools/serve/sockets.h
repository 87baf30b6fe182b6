/* sockets.h: where a service listens. */
#ifndef IDX_TOOLS_SERVE_SOCKETS_H
#define IDX_TOOLS_SERVE_SOCKETS_H

#include "tools/shared/arguments.h"

#include <stdbool.h>

/* Where it listens if nothing else is asked for: this machine alone can reach it. */
#define DEFAULT_ADDRESS "127.0.0.1:8470"

enum { MOST_SOCKETS = 16 };

struct sockets {
    int list[MOST_SOCKETS];
    const char *paths[MOST_SOCKETS]; /* of UNIX sockets that sockets_open made; or NULL */
    unsigned count;
};

/* Listens at the addresses: those given, else the sockets that systemd passed, else the default. False after a
 * complaint. */
bool sockets_open(struct sockets *sockets, const struct texts *addresses);

/* Says where it listens. */
void sockets_say(const struct sockets *sockets);

/* Accepts no more. */
void sockets_close(struct sockets *sockets);

/* Tells systemd, if that is to be told, a line such as READY=1. */
void sockets_notify(const char *line);

#endif
