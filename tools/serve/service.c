/* service.c: begins and ends a service, and accepts connections in between. Each of several threads of libmicrohttpd
 * serves some of the connections; they get new ones in turn. */
#include "tools/serve/service.h"

#include "tools/connections/sockets.h"
#include "tools/serve/files.h"
#include "tools/serve/router.h"
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

enum {
    CONNECTION_BYTES = 16384,  /* For what a connection receives and sends, besides its body and its answer. */
    END_SECONDS = 30,          /* For requests that are under way when the service ends. */
    REFUSAL_SECONDS = 1,       /* For their clients to take the refusal, after that. */
    TICK_MILLISECONDS = 250,   /* Between two looks at what is overdue. */
    MAX_ACCEPTED_AT_ONCE = 64, /* Connections of a socket, so that other sockets and signals get their turn. */
    OTHER_DESCRIPTORS = 256,   /* Free for other things than connections, if the limit allows it. */
    SPARE_DESCRIPTORS = 16     /* Free at least, besides those that are in use once all threads run. */
};

/* The threads of libmicrohttpd, and the sockets at which the service listens. */
struct server {
    struct service *service;
    struct sockets sockets;
    struct MHD_Daemon **daemons;
    unsigned started_count;
    unsigned next_thread; /* Modulo started_count, the thread that gets the next connection. */
    rlim_t descriptor_limit;
};

/* ---- Threads ---- */

/* Adds a connection to the peers of the service, which is the context, or removes it. libmicrohttpd calls this when a
 * connection begins, and when it ends. The context of its socket is its struct peer, or NULL if memory ran out; then
 * router_begin refuses its requests. */
static void add_or_remove_peer(void *context, struct MHD_Connection *connection, void **socket_context,
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

/* Discards a message of libmicrohttpd, since they are about mistakes of clients. This is an MHD_LogCallback. */
static void discard_message(void *context, const char *format, va_list arguments) {
    (void)context, (void)format, (void)arguments;
}

/* libmicrohttpd 1.0 itself refuses headers that go on in the next line, if it is to be strict. Version 0.9 leaves them
 * to head.c, and if it is strict, ends some connections without an answer. */
#define IS_STRICT (MHD_VERSION >= 0x01000000)

/* Starts a daemon of libmicrohttpd, which is one thread. MHD_OPTION_CONNECTION_LIMIT, beyond which it closes
 * connections without an answer, is more than admit_connection lets in. Returns NULL, without a complaint, if that
 * fails; the caller stops the daemon. */
static struct MHD_Daemon *start_http_thread(struct service *service) {
    const unsigned flags = MHD_USE_AUTO_INTERNAL_THREAD | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME |
                           MHD_USE_ITC | MHD_USE_ERROR_LOG;
    return MHD_start_daemon(flags, 0, NULL, NULL, router_handle, service, MHD_OPTION_EXTERNAL_LOGGER, discard_message,
                            NULL, MHD_OPTION_URI_LOG_CALLBACK, router_begin, service, MHD_OPTION_NOTIFY_COMPLETED,
                            router_end, service, MHD_OPTION_NOTIFY_CONNECTION, add_or_remove_peer, service,
                            MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES, MHD_OPTION_CONNECTION_LIMIT,
                            service->options->connections * 4 + 64, MHD_OPTION_CONNECTION_TIMEOUT,
                            (unsigned)PEER_SILENCE_SECONDS, MHD_OPTION_STRICT_FOR_CLIENT, IS_STRICT, MHD_OPTION_END);
}

/* Starts the threads of libmicrohttpd. Complains, and returns false, if that fails; stop_server ends those that run. */
static bool start_http_threads(struct server *server) {
    unsigned thread_count = server->service->options->threads;
    server->daemons = calloc(thread_count, sizeof(struct MHD_Daemon *));
    while (server->daemons != NULL && server->started_count < thread_count) {
        struct MHD_Daemon *daemon = start_http_thread(server->service);
        if (daemon == NULL) break;
        server->daemons[server->started_count++] = daemon;
    }
    if (server->started_count < thread_count) complain("can't start %u threads", thread_count);
    return server->started_count == thread_count;
}

/* ---- Connections ---- */

/* Answers on the socket `connection` with status 503, whatever the request is, and closes it. Reads the bytes that
 * came, since closing a socket with unread bytes would discard the answer. Waits for nothing. */
static void refuse_connection(int connection) {
    static const char body[] = "{\"error\":\"there are too many connections; try again later\"}\n";
    char answer[512], request[4096];
    int length = snprintf(answer, sizeof answer,
                          "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n"
                          "Content-Length: %zu\r\nRetry-After: 1\r\nConnection: close\r\n\r\n%s",
                          sizeof body - 1, body);
    (void)!send(connection, answer, (size_t)length, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)!recv(connection, request, sizeof request, MSG_DONTWAIT);
    close(connection);
}

/* Hands a new connection, a socket, to the next thread, which closes it at its end. `address`, of `length` bytes, is
 * the client's. Refuses it if there are 2 * max_count open connections. From max_count on, closes connections that wait
 * for a request, to make room; their threads need a while for that, so the second limit is higher. */
static void admit_connection(struct server *server, int connection, const struct sockaddr *address, socklen_t length) {
    struct peers *peers = &server->service->peers;
    unsigned open_connections = peers_count(peers);
    if (open_connections >= 2 * peers->max_count) {
        refuse_connection(connection);
        return;
    }
    /* libmicrohttpd closes the connection if it can't serve it. */
    MHD_add_connection(server->daemons[server->next_thread++ % server->started_count], connection, address, length);
    if (open_connections >= peers->max_count) peers_close_overdue(peers);
}

/* Accepts the connections that wait at the listening socket, up to MAX_ACCEPTED_AT_ONCE. If descriptors or memory ran
 * out, sleeps for 10 ms and returns. */
static void accept_waiting_connections(struct server *server, int listener) {
    for (unsigned i = 0; i < MAX_ACCEPTED_AT_ONCE; i++) {
        struct sockaddr_storage address;
        socklen_t address_length = sizeof address;
        int connection = accept4(listener, (struct sockaddr *)&address, &address_length, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (connection >= 0) {
            admit_connection(server, connection, (struct sockaddr *)&address, address_length);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            usleep(10000); /* The socket stays ready, so that poll would not wait until a descriptor is free. */
            return;
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return;
        }
    }
}

/* Closes connections whose time is over, and refuses requests that have waited for a thread too long. Call this several
 * times a second. */
static void close_and_refuse_overdue(struct service *service) {
    peers_close_overdue(&service->peers);
    jobs_refuse_overdue(&service->jobs);
    jobs_refuse_overdue(&service->writing);
}

/* Accepts connections until a signal ends the service. Also has the view refreshed after SIGHUP, and several times a
 * second ends what is overdue. The last descriptor that is polled becomes ready by a signal, so that none is missed
 * that comes just before poll. */
static void accept_connections_until_signal(struct server *server) {
    struct pollfd polled[MAX_SOCKETS + 1];
    unsigned socket_count = server->sockets.count;
    uint64_t last_tick = read_nanoseconds();
    for (unsigned i = 0; i < socket_count; i++)
        polled[i] = (struct pollfd){.fd = server->sockets.descriptors[i], .events = POLLIN};
    polled[socket_count] = (struct pollfd){.fd = interrupt_get_descriptor(), .events = POLLIN};
    while (!interrupt_is_noted()) {
        if (poll(polled, socket_count + 1, TICK_MILLISECONDS) < 0 && errno != EINTR) break;
        for (unsigned i = 0; i < socket_count; i++)
            if (polled[i].revents != 0) accept_waiting_connections(server, polled[i].fd);
        if (interrupt_consume_hangup()) views_ask_refresh(&server->service->views);
        if (read_nanoseconds() - last_tick >= (uint64_t)TICK_MILLISECONDS * 1000000) {
            last_tick = read_nanoseconds();
            close_and_refuse_overdue(server->service);
        }
    }
}

/* ---- The whole ---- */

/* Raises the process's limit of file descriptors to `wanted`, or as far as the system allows. Returns how many of the
 * wanted descriptors the limit then allows; if the limit can't be read, all of them. */
static rlim_t raise_descriptor_limit(rlim_t wanted) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return wanted;
    rlim_t limit_before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : limit_before;
}

/* Raises the limit of descriptors to 2 * max_count, since admit_connection accepts so many connections, and those for
 * everything else: two for each thread, what is open, and a reserve. If the system allows less, lowers max_count.
 * Complains and returns false if not even one connection fits. */
static bool fit_connections_to_descriptors(struct server *server) {
    struct peers *peers = &server->service->peers;
    int lowest_free = fcntl(interrupt_get_descriptor(), F_DUPFD_CLOEXEC, 0); /* All descriptors below are in use. */
    if (lowest_free >= 0) close(lowest_free);
    rlim_t used = (rlim_t)(lowest_free < 0 ? 0 : lowest_free) + 2 * (rlim_t)server->service->options->threads;
    rlim_t min_other_descriptors = used + SPARE_DESCRIPTORS;
    rlim_t other_descriptors = min_other_descriptors < OTHER_DESCRIPTORS ? OTHER_DESCRIPTORS : min_other_descriptors;
    server->descriptor_limit = raise_descriptor_limit(2 * (rlim_t)peers->max_count + other_descriptors);
    if (lowest_free < 0 || server->descriptor_limit < min_other_descriptors + 2)
        return complain("the limit of %ju file descriptors leaves no room for connections; raise it, as with ulimit -n",
                        (uintmax_t)server->descriptor_limit);
    rlim_t max_connections = (server->descriptor_limit - min_other_descriptors) / 2;
    if (max_connections < peers->max_count) peers->max_count = (unsigned)max_connections;
    return true;
}

/* Warns if fit_connections_to_descriptors has lowered the number of connections that the options ask for. */
static void warn_of_fewer_connections(const struct server *server) {
    unsigned max_count = server->service->peers.max_count, wanted = server->service->options->connections;
    if (max_count == wanted) return;
    complain("the limit of %ju file descriptors leaves room for %u of %u connections; raise it, as with ulimit -n",
             (uintmax_t)server->descriptor_limit, max_count, wanted);
}

/* Waits until all connections have ended, but at most `max_seconds`. Meanwhile drains them (peers_drain), and ends what
 * is overdue. */
static void wait_for_end_of_connections(struct service *service, unsigned max_seconds) {
    uint64_t deadline = read_nanoseconds() + (uint64_t)max_seconds * 1000000000;
    while (peers_count(&service->peers) > 0 && read_nanoseconds() < deadline) {
        peers_drain(&service->peers); /* Each time, since some connections have got their answer since the last one. */
        usleep(20000);
        close_and_refuse_overdue(service);
    }
}

/* Closes the sockets at which the service listens, and waits up to END_SECONDS until the requests that are under way
 * are answered. A second signal ends the process at once. */
static void finish_requests(struct server *server) {
    sockets_notify_systemd("STOPPING=1");
    sockets_close(&server->sockets);
    interrupt_end_at_second_signal();
    wait_for_end_of_connections(server->service, END_SECONDS);
}

/* Starts all threads. Returns false, after a complaint, if that fails. Calls each function even if one before it
 * failed, because stop_server ends what all of them begin. */
static bool start_server(struct server *server) {
    struct service *service = server->service;
    const struct serve_options *options = service->options;
    peers_open(&service->peers, options->connections);
    bool ok = fit_connections_to_descriptors(server);
    ok = jobs_start(&service->jobs, options->threads) && ok;
    ok = jobs_start(&service->writing, 1) && ok;
    ok = views_start_thread(&service->views, options->refresh_seconds) && ok;
    return ok && start_http_threads(server);
}

/* Refuses the requests that are still under way, except those that can't be interrupted. Then ends all threads, and
 * frees what start_server made, even if that failed. */
static void stop_server(struct server *server) {
    struct service *service = server->service;
    jobs_stop(&service->jobs);
    jobs_stop(&service->writing);
    /* The threads of libmicrohttpd do not wait for suspended connections, so that jobs must end first. */
    jobs_join(&service->jobs);
    jobs_join(&service->writing);
    wait_for_end_of_connections(service, REFUSAL_SECONDS);
    for (unsigned i = 0; i < server->started_count; i++) MHD_stop_daemon(server->daemons[i]);
    free(server->daemons);
    jobs_close(&service->jobs);
    jobs_close(&service->writing);
    views_stop_thread(&service->views);
    peers_close(&service->peers);
}

/* Starts the threads, serves until a signal, and stops the threads. Returns the status of the process: ENDS_BADLY,
 * after a complaint, if not all threads could be started. */
static int run_server(struct server *server) {
    bool started = start_server(server);
    if (started) {
        sockets_print_addresses(&server->sockets);
        warn_of_fewer_connections(server);
        sockets_notify_systemd("READY=1");
        accept_connections_until_signal(server);
        finish_requests(server);
    }
    stop_server(server);
    return started ? ENDS_WELL : ENDS_BADLY;
}

/* Opens the folder of the documents, if the options name one. Returns false, after a complaint, if that fails. */
static bool open_documents_folder(struct service *service) {
    if (service->options->documents == NULL) return true;
    service->documents_folder = files_open_folder(service->options->documents);
    return service->documents_folder >= 0;
}

/* Opens all other parts of the service, whose index is open, runs it until a signal, and closes these parts. Returns
 * the status of the process: ENDS_BADLY, after a complaint, if a part can't be opened. */
static int open_other_parts_and_run(struct service *service) {
    struct server server = {.service = service};
    int status = ENDS_BADLY;
    bool texts_are_open = texts_open(&service->texts, service->options, service->views.current->index);
    if (texts_are_open && writes_open(&service->writes, service->options) && open_documents_folder(service)) {
        bool catches_signals = interrupt_catch_in_service() || complain("can't make a pipe: %s", strerror(errno));
        if (catches_signals && sockets_open(&server.sockets, &service->options->listen)) status = run_server(&server);
        sockets_close(&server.sockets);
    }
    writes_close(&service->writes);
    texts_close(&service->texts);
    if (service->documents_folder >= 0) close(service->documents_folder);
    return status;
}

int serve_run(const struct serve_options *options) {
    static struct service service; /* All 0 at first. Its metrics are too large for the stack. */
    struct idx_open_options opening = IDX_OPEN_OPTIONS_INIT;
    int status = ENDS_BADLY;
    service.options = options;
    service.documents_folder = -1;
    if (!guard_open(&service.guard, options)) return status;
    opening.threads = options->threads;
    if (options->unpacked) {
        opening.residence = IDX_RESIDENCE_UNPACKED;
        opening.distance = options->distance;
    }
    if (views_open(&service.views, options->path, &opening)) status = open_other_parts_and_run(&service);
    views_close(&service.views);
    return status;
}
