/* sockets.h: opens the sockets at which a service listens. */
#ifndef IDX_TOOLS_CONNECTIONS_SOCKETS_H
#define IDX_TOOLS_CONNECTIONS_SOCKETS_H

#include "tools/shared/command.h"

/* The service listens here if nothing else is asked for, so that only this machine reaches it. */
#define DEFAULT_ADDRESS "127.0.0.1:8470"

enum { MOST_SOCKETS = 16 };

struct sockets {
    int list[MOST_SOCKETS];
    const char *paths[MOST_SOCKETS]; /* Paths of the UNIX sockets that sockets_open made; NULL for others. */
    unsigned count;
};

/* Listens at the given addresses, or else at the sockets that systemd passed, or else at the default address. Complains
 * and returns false if that fails. The caller calls sockets_close in any case, and keeps the addresses until then. */
bool sockets_open(struct sockets *sockets, const struct strings *addresses);

/* Writes a message with the address of each socket, as a URL where it has one, with the port that was found if none was
 * asked for. */
void sockets_print_addresses(const struct sockets *sockets);

/* Closes the sockets, and removes those of UNIX that were made. */
void sockets_close(struct sockets *sockets);

/* Sends systemd a line such as READY=1 if it asked for that. Errors are ignored: the service works without it. */
void sockets_notify_systemd(const char *line);

#endif
