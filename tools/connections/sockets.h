/* sockets.h: opens the sockets at which a service listens. */
#ifndef IDX_TOOLS_CONNECTIONS_SOCKETS_H
#define IDX_TOOLS_CONNECTIONS_SOCKETS_H

#include "tools/shared/command.h"

/* The service listens here if nothing else is asked for, so that only this machine reaches it. */
#define DEFAULT_ADDRESS "127.0.0.1:8470"

enum { MAX_SOCKETS = 16 };

struct sockets {
    int descriptors[MAX_SOCKETS];   /* The first `count` of them are open. */
    const char *paths[MAX_SOCKETS]; /* Paths of the UNIX sockets that sockets_open made; NULL for others. */
    unsigned count;
};

/* Listens at `addresses`, each ADDRESS:PORT or unix:PATH. If there are none, listens at the sockets that systemd
 * passed, or if there are none either, at DEFAULT_ADDRESS. Complains and returns false if any of that fails. The caller
 * calls sockets_close in any case, and keeps the addresses until then. */
bool sockets_open(struct sockets *sockets, const struct strings *addresses);

/* Writes a message for each socket with its address: unix:PATH, or a URL, whose port is the one that the system chose
 * if the port was 0. */
void sockets_print_addresses(const struct sockets *sockets);

/* Closes the sockets, those of systemd included, and removes the UNIX sockets that sockets_open made from the file
 * system. May be called again. */
void sockets_close(struct sockets *sockets);

/* Sends systemd a line of sd_notify(3), such as READY=1, if the environment variable NOTIFY_SOCKET asks for that.
 * Errors are ignored, since the service works without it. */
void sockets_notify_systemd(const char *line);

#endif
