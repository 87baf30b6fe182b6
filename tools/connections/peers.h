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
    atomic_bool begun;          /* In PEER_WAITS, the first line of a request has come. */
    atomic_uint_fast64_t since; /* When the phase began, in nanoseconds. */
    struct peer *previous, *next;
};

struct peers {
    pthread_mutex_t mutex;
    struct peer *first;
    atomic_uint count;
    unsigned most;      /* If there are more, peers_close_overdue closes some that wait for a request. */
    atomic_bool ending; /* Each connection is closed after its answer. */
};

/* Begins without connections, of which there may be `most`. */
void peers_open(struct peers *peers, unsigned most);

/* Adds a connection that begins, in PEER_WAITS. Returns NULL, without a complaint, if memory ran out. peers_remove
 * frees the result. */
struct peer *peers_add(struct peers *peers, int socket);

/* Removes a connection that ends, and frees it. Its socket must still be open, since its number may belong to another
 * file once it is closed. */
void peers_remove(struct peers *peers, struct peer *peer);

/* Begins a phase, whose time counts from now on. */
void peer_enter_phase(struct peer *peer, enum peer_phase phase);

/* Returns whether the client has closed the whole connection, rather than its own side alone. */
bool peer_has_gone(const struct peer *peer);

/* Returns how many connections are open. */
unsigned peers_count(const struct peers *peers);

/* Closes connections that are overdue, or given up by clients, and if there are too many, some that are idle. */
void peers_close_overdue(struct peers *peers);

/* Closes the connections that wait for a request, and has the others closed after their answer, without waiting. */
void peers_drain(struct peers *peers);

/* Frees what peers_open made, once no connection is left. */
void peers_close(struct peers *peers);

#endif
