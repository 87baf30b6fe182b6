/* service.c: begins and ends a service, and accepts connections in between. Each of several threads of libmicrohttpd
 * serves some of the connections; they get new ones in turn. */
#include "tools/serve/service.h"

#include "tools/serve/files.h"
#include "tools/serve/router.h"
#include "tools/serve/sockets.h"
#include "tools/shared/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* A connection has CONNECTION_BYTES for what it receives and sends, besides its body and its answer. At the end,
 * requests under way have END_SECONDS, and then their clients REFUSAL_SECONDS to take the refusal. Connections are
 * looked at every TICK milliseconds. OTHER_DESCRIPTORS are kept for other things than connections, or SPARE_DESCRIPTORS
 * besides those in use if the limit is low. */
enum {
    CONNECTION_BYTES = 16384,
    END_SECONDS = 30,
    REFUSAL_SECONDS = 1,
    TICK = 250,
    OTHER_DESCRIPTORS = 256,
    SPARE_DESCRIPTORS = 16
};

struct server {
    struct service *service;
    struct sockets sockets;
    struct MHD_Daemon **daemons;
    unsigned threads; /* Threads that were started. */
    unsigned next;    /* The thread that gets the next connection. */
    rlim_t limit;     /* How many descriptors the process may have. */
};

/* ---- Threads ---- */

static void notify_connection(void *context, struct MHD_Connection *connection, void **socket_context,
                              enum MHD_ConnectionNotificationCode code) {
    struct service *service = context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        *socket_context = info == NULL ? NULL : peers_add(&service->peers, info->connect_fd);
    } else if (*socket_context != NULL) {
        peers_remove(&service->peers, *socket_context);
        *socket_context = NULL;
    }
}

/* Discards the messages of libmicrohttpd, which are about mistakes of clients. */
static void say_nothing(void *context, const char *format, va_list arguments) {
    (void)context, (void)format, (void)arguments;
}

/* libmicrohttpd 1.0 itself refuses headers that go on in the next line, if it is to be strict. Version 0.9 leaves them
 * to head.c, and if it is strict, ends some connections without an answer. */
#define IS_STRICT (MHD_VERSION >= 0x01000000)

static struct MHD_Daemon *start_thread(struct service *service) {
    const unsigned flags = MHD_USE_AUTO_INTERNAL_THREAD | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME |
                           MHD_USE_ITC | MHD_USE_ERROR_LOG;
    return MHD_start_daemon(flags, 0, NULL, NULL, router_handle, service, MHD_OPTION_EXTERNAL_LOGGER, say_nothing, NULL,
                            MHD_OPTION_URI_LOG_CALLBACK, router_begin, service, MHD_OPTION_NOTIFY_COMPLETED, router_end,
                            service, MHD_OPTION_NOTIFY_CONNECTION, notify_connection, service,
                            MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES, MHD_OPTION_CONNECTION_LIMIT,
                            service->options->connections * 4 + 64, MHD_OPTION_CONNECTION_TIMEOUT,
                            (unsigned)PEER_SILENCE_SECONDS, MHD_OPTION_STRICT_FOR_CLIENT, IS_STRICT, MHD_OPTION_END);
}

static bool start_threads(struct server *server) {
    unsigned count = server->service->options->threads;
    server->daemons = calloc(count, sizeof(struct MHD_Daemon *));
    while (server->daemons != NULL && server->threads < count) {
        struct MHD_Daemon *daemon = start_thread(server->service);
        if (daemon == NULL) break;
        server->daemons[server->threads++] = daemon;
    }
    if (server->threads < count) complain("can't start %u threads", count);
    return server->threads == count;
}

/* ---- Connections ---- */

/* Answers a connection that is one too many even after the waiting ones were closed. */
static void refuse_connection(int connection) {
    static const char body[] = "{\"error\":\"there are too many connections; try again later\"}\n";
    char answer[512], request[4096];
    int length = snprintf(answer, sizeof answer,
                          "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n"
                          "Content-Length: %zu\r\nRetry-After: 1\r\nConnection: close\r\n\r\n%s",
                          sizeof body - 1, body);
    (void)!send(connection, answer, (size_t)length, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)!recv(connection, request, sizeof request,
                MSG_DONTWAIT); /* Closing a socket with unread bytes would discard the answer. */
    close(connection);
}

static void take_connection(struct server *server, int connection, const struct sockaddr *address, socklen_t length) {
    struct peers *peers = &server->service->peers;
    unsigned count = peers_count(peers);
    if (count >= 2 * peers->most) {
        refuse_connection(connection);
        return;
    }
    /* libmicrohttpd closes the connection if it can't serve it. */
    MHD_add_connection(server->daemons[server->next++ % server->threads], connection, address, length);
    if (count >= peers->most) peers_reap(peers);
}

/* Accepts the connections that wait at a socket, at most 64, so that other sockets and signals get their turn. */
static void accept_some(struct server *server, int from) {
    for (unsigned i = 0; i < 64; i++) {
        struct sockaddr_storage address;
        socklen_t length = sizeof address;
        int connection = accept4(from, (struct sockaddr *)&address, &length, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (connection >= 0) {
            take_connection(server, connection, (struct sockaddr *)&address, length);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            usleep(10000); /* Some descriptors may be closed by then. */
            return;
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return;
        }
    }
}

static void reap_all(struct service *service) {
    peers_reap(&service->peers);
    jobs_reap(&service->jobs);
    jobs_reap(&service->writing);
}

/* Accepts connections until a signal ends the service. In between, it has views refreshed after SIGHUP, and reaps every
 * TICK. */
static void accept_until_signal(struct server *server) {
    struct pollfd polled[MOST_SOCKETS + 1] = {{.fd = interrupt_descriptor(), .events = POLLIN}};
    unsigned count = server->sockets.count + 1;
    uint64_t looked = now_nanoseconds();
    for (unsigned i = 1; i < count; i++)
        polled[i] = (struct pollfd){.fd = server->sockets.list[i - 1], .events = POLLIN};
    while (!interrupt_noted()) {
        if (poll(polled, count, TICK) < 0 && errno != EINTR) break;
        for (unsigned i = 1; i < count; i++) {
            if (polled[i].revents != 0) accept_some(server, polled[i].fd);
        }
        if (interrupt_take_hangup()) views_ask(&server->service->views);
        if (now_nanoseconds() - looked < (uint64_t)TICK * 1000000) continue;
        looked = now_nanoseconds();
        reap_all(server->service);
    }
}

/* ---- The whole ---- */

/* Raises the limit of descriptors to what connections and others need, as far as the system allows. Returns the
 * limit. */
static rlim_t raise_limit(unsigned connections, rlim_t others) {
    struct rlimit limit;
    rlim_t wanted = 2 * (rlim_t)connections + others;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return wanted;
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : before;
}

/* Takes as many connections as there are descriptors for, besides those of the threads. Returns false if there is room
 * for none. */
static bool fit_connections(struct server *server) {
    struct peers *peers = &server->service->peers;
    int lowest = fcntl(interrupt_descriptor(), F_DUPFD_CLOEXEC, 0); /* All descriptors below this one are in use. */
    if (lowest >= 0) close(lowest);
    rlim_t others = (rlim_t)(lowest < 0 ? 0 : lowest) + 2 * (rlim_t)server->service->options->threads;
    others += SPARE_DESCRIPTORS;
    server->limit = raise_limit(peers->most, others < OTHER_DESCRIPTORS ? OTHER_DESCRIPTORS : others);
    if (lowest < 0 || server->limit < others + 2)
        return complain("the limit of %ju file descriptors leaves no room for connections; raise it, as with ulimit -n",
                        (uintmax_t)server->limit);
    rlim_t room = (server->limit - others) / 2;
    if (room < peers->most) peers->most = (unsigned)room;
    return true;
}

static void say_room(const struct server *server) {
    unsigned room = server->service->peers.most, wanted = server->service->options->connections;
    if (room == wanted) return;
    complain("the limit of %ju file descriptors leaves room for %u of %u connections; raise it, as with ulimit -n",
             (uintmax_t)server->limit, room, wanted);
}

/* Waits until all connections are closed, but at most `seconds` seconds. */
static void await_end(struct service *service, unsigned seconds) {
    uint64_t end = now_nanoseconds() + (uint64_t)seconds * 1000000000;
    while (peers_count(&service->peers) > 0 && now_nanoseconds() < end) {
        usleep(20000);
        reap_all(service);
    }
}

/* Lets requests under way be answered. A second signal ends the process at once. */
static void finish_requests(struct server *server) {
    struct service *service = server->service;
    sockets_notify("STOPPING=1");
    sockets_close(&server->sockets);
    interrupt_end_at_once();
    peers_end(&service->peers);
    await_end(service, END_SECONDS);
}

static bool start_server(struct server *server) {
    const struct serve_options *options = server->service->options;
    struct service *service = server->service;
    peers_open(&service->peers, options->connections);
    bool fits = fit_connections(server);
    bool jobs = jobs_start(&service->jobs, options->threads), writing = jobs_start(&service->writing, 1);
    bool refreshing = views_start(&service->views, options->refresh_seconds);
    return fits && jobs && writing && refreshing && start_threads(server);
}

/* Refuses the requests that are still under way, except those that can't be interrupted. */
static void stop_server(struct server *server) {
    struct service *service = server->service;
    jobs_stop(&service->jobs);
    jobs_stop(&service->writing);
    jobs_end(&service->jobs); /* The threads of libmicrohttpd do not wait for suspended connections, so that jobs must
                                 end first. */
    jobs_end(&service->writing);
    await_end(service, REFUSAL_SECONDS);
    for (unsigned i = 0; i < server->threads; i++) MHD_stop_daemon(server->daemons[i]);
    free(server->daemons);
    jobs_close(&service->jobs);
    jobs_close(&service->writing);
    views_stop(&service->views);
    peers_close(&service->peers);
}

static int run_server(struct server *server) {
    bool started = start_server(server);
    if (started) {
        sockets_say(&server->sockets);
        say_room(server);
        sockets_notify("READY=1");
        accept_until_signal(server);
        finish_requests(server);
    }
    stop_server(server);
    return started ? ENDS_WELL : ENDS_BADLY;
}

/* Opens the folder of the documents, unless what --documents names is their file of sets, which is open. */
static bool open_documents(struct service *service) {
    if (service->options->documents == NULL || service->texts.sets != NULL) return true;
    service->documents = files_open_folder(service->options->documents);
    return service->documents >= 0;
}

/* Runs the service after the index was opened and before threads are started. */
static int run_open(struct service *service) {
    struct server server = {.service = service};
    int status = ENDS_BADLY;
    bool texts = texts_open(&service->texts, service->options, service->views.current->index);
    if (texts && writes_open(&service->writes, service->options) && open_documents(service)) {
        bool catches = interrupt_catch_in_service() || complain("can't make a pipe: %s", strerror(errno));
        if (catches && sockets_open(&server.sockets, &service->options->listen)) status = run_server(&server);
        sockets_close(&server.sockets);
    }
    writes_close(&service->writes);
    texts_close(&service->texts);
    if (service->documents >= 0) close(service->documents);
    return status;
}

int serve_run(const struct serve_options *options) {
    static struct service service; /* The counts are too large for the stack. */
    struct idx_open_options opening = IDX_OPEN_OPTIONS_INIT;
    int status = ENDS_BADLY;
    service.options = options;
    service.documents = -1;
    if (!guard_open(&service.guard, options)) return status;
    if (options->unpacked) opening.residence = IDX_RESIDENCE_UNPACKED;
    if (options->unpacked) opening.distance = options->distance;
    opening.threads = options->threads;
    if (views_open(&service.views, options->path, &opening)) status = run_open(&service);
    views_close(&service.views);
    return status;
}
