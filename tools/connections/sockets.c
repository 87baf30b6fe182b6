/* sockets.c: opens the sockets at which a service listens. */
#include "tools/connections/sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* How many connections wait at a socket until they are accepted; and the descriptor of the first socket that systemd
 * passes, the one behind those of standard input, output and error. */
enum { BACKLOG = 1024, FIRST_PASSED_DESCRIPTOR = 3 };

/* An address of any family. Its members share their storage, as the socket calls expect. */
union address {
    struct sockaddr any;
    struct sockaddr_un local;
    struct sockaddr_storage storage;
};

/* Complains that the service can't listen at an address, for this reason. Returns false always. */
static bool complain_of_address(const char *address, const char *reason) {
    return complain("can't listen at %s: %s", address, reason);
}

/* Binds a socket to an address of `length` bytes, which messages call `name`, and listens. Makes the socket
 * non-blocking, since accept would otherwise wait if the connection that poll reported has ended. Complains and returns
 * false if that fails; the socket stays open. */
static bool listen_at(int socket, const union address *address, socklen_t length, const char *name) {
    if (bind(socket, &address->any, length) == 0 && listen(socket, BACKLOG) == 0 &&
        fcntl(socket, F_SETFL, O_NONBLOCK) == 0)
        return true;
    return complain_of_address(name, strerror(errno));
}

/* ---- UNIX sockets ---- */

/* Removes the UNIX socket at an address, which has its path, if a killed service left it: no process answers there. A
 * file of another kind stays. */
static void remove_stale_socket(const union address *address) {
    struct stat status;
    if (lstat(address->local.sun_path, &status) != 0 || !S_ISSOCK(status.st_mode)) return;
    int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (probe < 0) return;
    if (connect(probe, &address->any, sizeof address->local) != 0 && errno == ECONNREFUSED)
        unlink(address->local.sun_path);
    close(probe);
}

/* Makes a UNIX socket at a path, listens at it, and adds it to `sockets`, which keep the path. Messages call it `name`.
 * Complains and returns false if that fails; the socket, if there is one by then, is added even so. */
static bool open_unix_socket(struct sockets *sockets, const char *path, const char *name) {
    union address address = {.local = {.sun_family = AF_UNIX}};
    if (*path == '\0' || strlen(path) >= sizeof address.local.sun_path)
        return complain_of_address(name, "the path is empty, or too long for a socket");
    strcpy(address.local.sun_path, path);
    remove_stale_socket(&address);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0) return complain_of_address(name, strerror(errno));
    unsigned index = sockets->count++;
    sockets->descriptors[index] = listener;
    if (!listen_at(listener, &address, sizeof address.local, name)) return false;
    sockets->paths[index] = path; /* Noted for removal only now: before, the path may be somebody else's. */
    return true;
}

/* ---- Addresses ---- */

/* Splits ADDRESS:PORT, where an IPv6 address has brackets. Copies the address, without brackets but with a NUL, to
 * `host`, which has `host_size` bytes. Sets *port to the end of `name`, which is the port. Returns false, without a
 * complaint, if the name has another form, or if its address does not fit. */
static bool split_address(const char *name, char *host, size_t host_size, const char **port) {
    const char *colon = strrchr(name, ':');
    uint64_t number;
    if (colon == NULL || !number_parse_digits(colon + 1, strlen(colon + 1), &number) || number > 65535) return false;
    size_t length = (size_t)(colon - name);
    const bool is_bracketed = length >= 2 && name[0] == '[' && name[length - 1] == ']';
    if (is_bracketed) length -= 2;
    if (length == 0 || length >= host_size) return false;
    memcpy(host, is_bracketed ? name + 1 : name, length);
    host[length] = '\0';
    *port = colon + 1;
    return true;
}

/* Listens at ADDRESS:PORT or unix:PATH, and adds the socket to `sockets`. If the host has several addresses, only the
 * first one is used. Complains and returns false if that fails; the socket, if there is one by then, is added even
 * so. */
static bool open_socket_by_name(struct sockets *sockets, const char *name) {
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *found;
    union address address;
    char host[256];
    const char *port;
    int enabled = 1;
    if (strncmp(name, "unix:", 5) == 0) return open_unix_socket(sockets, name + 5, name);
    if (!split_address(name, host, sizeof host, &port))
        return complain_of_address(name, "an address is ADDRESS:PORT, [IPV6-ADDRESS]:PORT or unix:PATH");
    int error = getaddrinfo(host, port, &hints, &found);
    if (error != 0) return complain_of_address(name, gai_strerror(error));
    socklen_t length = found->ai_addrlen;
    memcpy(&address, found->ai_addr, length);
    int listener = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    freeaddrinfo(found);
    if (listener < 0) return complain_of_address(name, strerror(errno));
    sockets->descriptors[sockets->count++] = listener;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &enabled, sizeof enabled);
    return listen_at(listener, &address, length, name);
}

/* ---- systemd ---- */

/* Parses the value of an environment variable as a decimal number. Returns false, without a complaint, if the variable
 * is not set or is no number. */
static bool read_environment_number(const char *name, uint64_t *number) {
    const char *text = getenv(name);
    return text != NULL && number_parse_digits(text, strlen(text), number);
}

/* Adds to `sockets` those, if any, that systemd passed to this process, as sd_listen_fds(3) describes it: LISTEN_FDS
 * descriptors, one after the other, for the process LISTEN_PID. After success, unsets both variables, unless they are
 * for another process. Complains and returns false if there are too many sockets, or if one is no listening stream
 * socket. */
static bool add_passed_sockets(struct sockets *sockets) {
    uint64_t process_id, count;
    if (!read_environment_number("LISTEN_PID", &process_id) || process_id != (uint64_t)getpid()) return true;
    if (!read_environment_number("LISTEN_FDS", &count)) return true;
    for (uint64_t i = 0; i < count; i++) {
        int passed = FIRST_PASSED_DESCRIPTOR + (int)i, type, listens;
        socklen_t length = sizeof type;
        if (sockets->count == MAX_SOCKETS) return complain("more than %d sockets were passed", MAX_SOCKETS);
        if (getsockopt(passed, SOL_SOCKET, SO_TYPE, &type, &length) != 0 || type != SOCK_STREAM ||
            getsockopt(passed, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) != 0 || !listens)
            return complain("descriptor %d was passed as a socket, but is no listening stream socket", passed);
        fcntl(passed, F_SETFD, FD_CLOEXEC);
        fcntl(passed, F_SETFL, O_NONBLOCK);
        sockets->descriptors[sockets->count++] = passed;
    }
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    return true;
}

void sockets_notify_systemd(const char *line) {
    const char *path = getenv("NOTIFY_SOCKET");
    union address address = {.local = {.sun_family = AF_UNIX}};
    if (path == NULL || (*path != '/' && *path != '@') || strlen(path) >= sizeof address.local.sun_path) return;
    strcpy(address.local.sun_path, path);
    if (*path == '@') address.local.sun_path[0] = '\0'; /* An abstract socket, whose name begins with a NUL byte. */
    int sender = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
    if (sender >= 0) (void)!sendto(sender, line, strlen(line), MSG_NOSIGNAL, &address.any, length);
    if (sender >= 0) close(sender);
}

/* ---- All ---- */

bool sockets_open(struct sockets *sockets, const struct strings *addresses) {
    *sockets = (struct sockets){.count = 0};
    if (addresses->count > MAX_SOCKETS) return complain_of_usage("--listen can be given %d times", MAX_SOCKETS);
    for (size_t i = 0; i < addresses->count; i++)
        if (!open_socket_by_name(sockets, addresses->values[i])) return false;
    if (sockets->count == 0 && !add_passed_sockets(sockets)) return false;
    return sockets->count > 0 || open_socket_by_name(sockets, DEFAULT_ADDRESS);
}

void sockets_print_addresses(const struct sockets *sockets) {
    for (unsigned i = 0; i < sockets->count; i++) {
        union address address;
        socklen_t length = sizeof address;
        char host[128], port[16];
        if (getsockname(sockets->descriptors[i], &address.any, &length) != 0) continue;
        if (address.any.sa_family == AF_UNIX)
            complain("listening at unix:%.*s", (int)(length - offsetof(struct sockaddr_un, sun_path)),
                     address.local.sun_path);
        else if (getnameinfo(&address.any, length, host, sizeof host, port, sizeof port,
                             NI_NUMERICHOST | NI_NUMERICSERV) == 0)
            complain(strchr(host, ':') == NULL ? "listening at http://%s:%s/" : "listening at http://[%s]:%s/", host,
                     port);
    }
}

void sockets_close(struct sockets *sockets) {
    for (unsigned i = 0; i < sockets->count; i++) {
        if (sockets->paths[i] != NULL) unlink(sockets->paths[i]);
        close(sockets->descriptors[i]);
    }
    sockets->count = 0;
}
