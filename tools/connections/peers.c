/* peers.c: keeps account of the open connections, and closes those that take too long. */
#include "tools/connections/peers.h"

#include "tools/shared/clock.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>

/* A connection that waits for a request gets at least this much time before it is closed to make room for others. */
#define MIN_WAIT_NANOSECONDS ((uint64_t)100000000)

void peers_open(struct peers *peers, unsigned max_count) {
    *peers = (struct peers){.max_count = max_count};
    pthread_mutex_init(&peers->mutex, NULL);
}

struct peer *peers_add(struct peers *peers, int socket) {
    struct sockaddr address = {.sa_family = AF_UNSPEC};
    socklen_t length = sizeof address;
    struct peer *peer = calloc(1, sizeof *peer);
    if (peer == NULL) return NULL;
    getsockname(socket, &address, &length);
    peer->local = address.sa_family == AF_UNIX;
    peer->socket = socket;
    peer->phase_began = read_nanoseconds();
    pthread_mutex_lock(&peers->mutex);
    peer->next = peers->first;
    if (peer->next != NULL) peer->next->previous = peer;
    peers->first = peer;
    peers->count++;
    pthread_mutex_unlock(&peers->mutex);
    return peer;
}

void peers_remove(struct peers *peers, struct peer *peer) {
    pthread_mutex_lock(&peers->mutex);
    if (peer->previous != NULL)
        peer->previous->next = peer->next;
    else
        peers->first = peer->next;
    if (peer->next != NULL) peer->next->previous = peer->previous;
    peers->count--;
    pthread_mutex_unlock(&peers->mutex);
    free(peer);
}

void peer_enter_phase(struct peer *peer, enum peer_phase phase) {
    atomic_store_explicit(&peer->phase_began, read_nanoseconds(), memory_order_relaxed);
    atomic_store_explicit(&peer->request_began, false, memory_order_relaxed);
    /* Release: a thread that reads this phase also reads when it began. */
    atomic_store_explicit(&peer->phase, phase, memory_order_release);
}

/* A TCP connection that the client closed in good order looks half closed until something was sent to the client. */
bool peer_has_gone(const struct peer *peer) {
    struct pollfd polled = {.fd = atomic_load(&peer->socket)};
    return poll(&polled, 1, 0) == 1 && (polled.revents & (POLLHUP | POLLERR)) != 0;
}

unsigned peers_count(const struct peers *peers) { return atomic_load(&peers->count); }

/* Returns whether the client has taken longer for the phase of its connection than it may, at the time `now`, in
 * nanoseconds. */
static bool is_overdue(const struct peer *peer, uint64_t now) {
    static const uint64_t max_seconds[] = {
        [PEER_WAITS] = PEER_HEAD_SECONDS, [PEER_SENDS] = PEER_BODY_SECONDS, [PEER_RECEIVES] = PEER_ANSWER_SECONDS};
    int phase = atomic_load(&peer->phase);
    uint64_t began = atomic_load(&peer->phase_began);
    /* The phase may have begun after `now`, in another thread. */
    return phase != PEER_WORKS && now > began && now - began > max_seconds[phase] * 1000000000;
}

/* Returns whether the client has ended its side of the connection without a whole request, in a phase that began more
 * than a second before `now`, in nanoseconds. libmicrohttpd may miss an end that comes together with bytes. */
static bool has_abandoned_request(const struct peer *peer, uint64_t now) {
    struct pollfd polled = {.fd = peer->socket, .events = POLLRDHUP};
    int phase = atomic_load(&peer->phase);
    if (peer->socket < 0 || (phase != PEER_WAITS && phase != PEER_SENDS)) return false;
    return now > atomic_load(&peer->phase_began) + 1000000000 && poll(&polled, 1, 0) == 1 &&
           (polled.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

/* Returns the connection that has waited longest for a request at the time `now`, in nanoseconds, or NULL if there is
 * none. Leaves out connections that are shut down, and those that wait for less than MIN_WAIT_NANOSECONDS, since
 * their requests may be on their way. The mutex must be held. */
static struct peer *find_longest_waiting(const struct peers *peers, uint64_t now) {
    struct peer *longest = NULL;
    for (struct peer *peer = peers->first; peer != NULL; peer = peer->next) {
        if (atomic_load(&peer->phase) != PEER_WAITS || peer->socket < 0) continue;
        if (now < atomic_load(&peer->phase_began) + MIN_WAIT_NANOSECONDS) continue;
        if (longest == NULL || atomic_load(&peer->phase_began) < atomic_load(&longest->phase_began)) longest = peer;
    }
    return longest;
}

/* Shuts one side of the socket down, or both, by the `how` of shutdown(2). Does nothing to a socket that was shut down
 * before. The thread that serves the connection notices, and closes it. */
static void shut_socket_down(struct peer *peer, int how) {
    if (peer->socket >= 0) shutdown(peer->socket, how);
    peer->socket = -1;
}

void peers_close_overdue(struct peers *peers) {
    uint64_t now = read_nanoseconds();
    unsigned shut_count = 0;
    pthread_mutex_lock(&peers->mutex);
    for (struct peer *peer = peers->first; peer != NULL; peer = peer->next) {
        if (is_overdue(peer, now)) shut_socket_down(peer, SHUT_RDWR);
        if (has_abandoned_request(peer, now)) shut_socket_down(peer, SHUT_RD); /* What the client sent is still read. */
        if (peer->socket < 0) shut_count++;
    }
    /* peers->count still has the connections that were shut down, above or by an earlier call: their threads close
     * them. */
    for (unsigned open_count = atomic_load(&peers->count) - shut_count; open_count > peers->max_count; open_count--) {
        struct peer *peer = find_longest_waiting(peers, now);
        if (peer == NULL) break;
        shut_socket_down(peer, SHUT_RDWR);
    }
    pthread_mutex_unlock(&peers->mutex);
}

void peers_drain(struct peers *peers) {
    pthread_mutex_lock(&peers->mutex);
    atomic_store(&peers->ending, true);
    for (struct peer *peer = peers->first; peer != NULL; peer = peer->next) {
        /* A request that came before is still read, and answered. */
        if (atomic_load(&peer->phase) == PEER_WAITS && !atomic_load(&peer->request_began))
            shut_socket_down(peer, SHUT_RD);
    }
    pthread_mutex_unlock(&peers->mutex);
}

void peers_close(struct peers *peers) { pthread_mutex_destroy(&peers->mutex); }
