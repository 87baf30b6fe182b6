/* peers.h: the open connections, and how long each may take. */
#ifndef IDX_TOOLS_CONNECTIONS_PEERS_H
#define IDX_TOOLS_CONNECTIONS_PEERS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* A connection that waits for its client is closed after a fixed time, even if the client keeps sending or receiving
 * slowly: libmicrohttpd and proxies limit only the time between two bytes. If there are too many connections, those
 * that have waited longest for a request are closed first. */

/* The seconds that a client may take: between two bytes, for pause and head, for a body, and to receive an answer. */
enum { PEER_SILENCE_SECONDS = 30, PEER_HEAD_SECONDS = 40, PEER_BODY_SECONDS = 60, PEER_ANSWER_SECONDS = 300 };

enum peer_phase {
    PEER_WAITS,   /* It waits for the head of a request. */
    PEER_SENDS,   /* The client sends a body. */
    PEER_WORKS,   /* The service computes the answer; the client has no limit here. */
    PEER_RECEIVES /* The client takes the answer. */
};

struct peer {
    atomic_int socket; /* -1: it is being closed. */
    bool local;        /* It is a UNIX socket. */
    atomic_int phase;
    atomic_bool request_began;        /* In PEER_WAITS, the first line of a request has come. */
    atomic_uint_fast64_t phase_began; /* The time of read_nanoseconds when the phase began. */
    struct peer *previous, *next;
};

struct peers {
    pthread_mutex_t mutex;
    struct peer *first;
    atomic_uint count;
    unsigned max_count; /* If there are more, peers_close_overdue closes some that wait for a request. */
    atomic_bool ending; /* Each connection is closed after its answer. */
};

/* Initializes the account of connections, without any. peers_close_overdue keeps their number down to `max_count`;
 * peers_add does not refuse more. The caller calls peers_close. */
void peers_open(struct peers *peers, unsigned max_count);

/* Adds a new connection, by the descriptor of its socket, in the phase PEER_WAITS. Returns NULL, without a complaint,
 * if memory ran out. The socket stays the caller's; peers_remove frees the result. */
struct peer *peers_add(struct peers *peers, int socket);

/* Removes a connection that ends, and frees it. Call this before the socket is closed: afterwards another file may have
 * its descriptor, which peers_close_overdue would shut down. */
void peers_remove(struct peers *peers, struct peer *peer);

/* Begins a phase of a connection, whose time counts from now on, and sets `request_began` to false. */
void peer_enter_phase(struct peer *peer, enum peer_phase phase);

/* Returns whether the client has closed the whole connection, rather than its own side alone. Returns false for a
 * connection that peers_close_overdue or peers_drain has shut down. */
bool peer_has_gone(const struct peer *peer);

/* Returns how many connections are open. */
unsigned peers_count(const struct peers *peers);

/* Shuts down the connections whose clients took too long or have given up. If more than max_count are left, also shuts
 * down those that have waited longest for a request, until max_count are left. The threads that serve them then close
 * them. Call this several times a second. */
void peers_close_overdue(struct peers *peers);

/* Ends connections without cutting off requests. Shuts down the receiving side of those that wait for a request whose
 * first line has not come, and sets `ending`, so that the others are closed after their next answer. Returns at once,
 * without waiting for either. */
void peers_drain(struct peers *peers);

/* Destroys the mutex that peers_open made. No connection may be left. */
void peers_close(struct peers *peers);

#endif
