/* peers.h: the open connections. One that waits for a client is closed in good time, however slowly the client goes on
 * sending or receiving; and where there are too many, those go first that have waited longest for a request. */
#ifndef IDX_TOOLS_SERVE_PEERS_H
#define IDX_TOOLS_SERVE_PEERS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Seconds that a client may take: to send anything at all, a head (and the pause before it), a body, and to take an
 * answer. */
enum { PEER_SILENCE_SECONDS = 30, PEER_HEAD_SECONDS = 40, PEER_BODY_SECONDS = 60, PEER_ANSWER_SECONDS = 300 };

enum peer_phase {
    PEER_WAITS,   /* for a request, and its head */
    PEER_SENDS,   /* a body */
    PEER_WORKS,   /* the service does; no limit of the client's */
    PEER_RECEIVES /* the answer */
};

struct peer {
    atomic_int socket; /* -1: it is being closed */
    bool local;        /* a UNIX socket */
    atomic_int phase;
    atomic_bool begun;          /* PEER_WAITS: the first line of a request has come */
    atomic_uint_fast64_t since; /* nanoseconds: the phase */
    struct peer *previous, *next;
};

struct peers {
    pthread_mutex_t mutex;
    struct peer *first;
    atomic_uint count;
    unsigned most;
    atomic_bool ending;
};

void peers_open(struct peers *peers, unsigned most);

/* A connection that begins, and one that ends, whose socket is still open then. NULL without memory. */
struct peer *peers_add(struct peers *peers, int socket);
void peers_remove(struct peers *peers, struct peer *peer);

void peer_enter(struct peer *peer, enum peer_phase phase);

/* Whether the client has closed the connection, rather than its own sending alone. */
bool peer_has_gone(const struct peer *peer);

unsigned peers_count(const struct peers *peers);

/* Closes the connections whose time is over, and those that are too many. */
void peers_reap(struct peers *peers);

/* Closes those that wait for a request, and has the others closed after their answer. */
void peers_end(struct peers *peers);

void peers_close(struct peers *peers);

#endif
