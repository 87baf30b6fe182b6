/* manual.c: runs mandoc for a manual page, as a child process without a shell. Its input and output are the two
 * directions of one socket. Both are served together, so that neither process waits for the other forever. */
#include "tools/formats/manual.h"

#include "tools/shared/clock.h"
#include "tools/shared/command.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Limits of mandoc for a page: seconds of the clock, seconds of a processor, and bytes of memory. */
enum { MOST_SECONDS = 60, MOST_PROCESSOR_SECONDS = 20 };
#define MOST_MEMORY ((rlim_t)2 << 30)

/* The least exit status with which mandoc has not printed the page. Lower ones only report rules of style or syntax. */
enum { MANDOC_FAILED = 5 };

/* ---- Recognising ---- */

bool manual_has_page_name(const char *name, size_t length) {
    size_t dot = length;
    while (dot > 0 && name[dot - 1] != '.' && name[dot - 1] != '/') dot--;
    if (dot < 2 || name[dot - 1] != '.' || name[dot - 2] == '/') return false;
    struct span ending = {name + dot, length - dot};
    if (ending.length == 1 && *ending.bytes == 'n') return true;
    if (ending.length == 3 && memcmp(ending.bytes, "man", 3) == 0) return true;
    if (ending.length < 1 || *ending.bytes < '1' || *ending.bytes > '9') return false;
    if (ending.length > 1 && !isalpha((unsigned char)ending.bytes[1])) return false;
    for (size_t i = 1; i < ending.length; i++) {
        if (!isalnum((unsigned char)ending.bytes[i])) return false;
    }
    return true;
}

/* Returns whether a line calls the request or macro `name`, which has two characters: as .TH or '  TH do. */
static bool calls_macro(struct span line, const char *name) {
    if (line.length < 3 || (*line.bytes != '.' && *line.bytes != '\'')) return false;
    line.bytes++, line.length--;
    span_skip(&line, " \t");
    if (line.length < 2 || memcmp(line.bytes, name, 2) != 0) return false;
    return line.length == 2 || strchr(" \t\r", line.bytes[2]) != NULL; /* strchr also finds a NUL. */
}

/* Returns whether a line has nothing but white space. */
static bool is_blank_line(struct span line) {
    span_skip(&line, " \t\n\v\f\r");
    return line.length == 0;
}

/* Returns whether a line is blank, a comment of roff, or a control character alone, which does nothing. */
static bool is_blank_or_comment(struct span line) {
    if (is_blank_line(line) || (line.length == 1 && strchr(".'", *line.bytes) != NULL)) return true;
    return calls_macro(line, "\\\"") || calls_macro(line, "\\#") ||
           (line.length >= 3 && memchr(".'", *line.bytes, 2) != NULL && memcmp(line.bytes + 1, "\\\"", 2) == 0);
}

bool manual_begins_as_page(const char *bytes, size_t length) {
    struct span rest = {bytes, length}, line;
    bool all_lines_are_roff = true;
    charset_remove_utf8_mark(&rest);
    if (rest.length == 0) return false;
    do {
        line = span_cut(&rest, '\n');
    } while (rest.length > 0 && is_blank_line(line));
    if (line.length < 2 || (*line.bytes != '.' && *line.bytes != '\'')) return false;
    /* A macro that every page has suffices. Without one, all lines must be roff, and the last one must not be blank. */
    for (;; line = span_cut(&rest, '\n')) {
        if (calls_macro(line, "TH") || calls_macro(line, "Dd") || calls_macro(line, "so")) return true;
        all_lines_are_roff = all_lines_are_roff && (is_blank_line(line) || *line.bytes == '.' || *line.bytes == '\'');
        if (rest.length == 0) return all_lines_are_roff && !is_blank_line(line);
    }
}

/* Returns whether a page only includes another one, by one request so and no text. Then sets *name to the name of that
 * page, a part of `page`; otherwise *name is unspecified. */
static bool only_includes_another_page(struct span page, struct span *name) {
    name->length = 0;
    charset_remove_utf8_mark(&page);
    while (page.length > 0) {
        struct span line = span_cut(&page, '\n');
        if (is_blank_or_comment(line)) continue;
        if (name->length > 0 || !calls_macro(line, "so")) return false;
        const char *request = memmem(line.bytes, line.length, "so", 2); /* It is there, as calls_macro found. */
        *name = (struct span){request + 2, line.length - (size_t)(request + 2 - line.bytes)};
        while (name->length > 0 && isspace((unsigned char)*name->bytes)) name->bytes++, name->length--;
        while (name->length > 0 && isspace((unsigned char)name->bytes[name->length - 1])) name->length--;
    }
    return name->length > 0;
}

const char *manual_get_refusal(const char *recipe) {
    unsigned version = recipe_read(recipe).manuals;
    if (version == 2) return NULL;
    return version == 0
               ? "has no part man=2, which says that the texts of such pages are compared"
               : "has the part man=1, of fingerprints of pages with their headers and footers; pages are read without "
                 "these now, by man=2";
}

/* ---- Running mandoc ---- */

static pthread_once_t removed_folder_once = PTHREAD_ONCE_INIT;
static int removed_folder = -1; /* The descriptor of a folder that was removed; -1: it could not be made. */

/* Opens a new folder and removes it: mandoc runs there, and so finds no file that a page includes by a relative path.
 * If that fails, removed_folder stays -1. */
static void open_removed_folder(void) {
    const char *folder = getenv("TMPDIR");
    char *path;
    if (folder == NULL || *folder == '\0') folder = "/tmp";
    if (asprintf(&path, "%s/idx-manual-XXXXXX", folder) < 0) return;
    if (mkdtemp(path) != NULL) {
        removed_folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        rmdir(path);
    }
    free(path);
}

/* Sets the actions and attributes of the child process: it runs in the removed folder, reads from and writes to
 * `socket`, prints no messages, and is ended by SIGPIPE, SIGINT and SIGTERM, which this process may ignore or note.
 * Returns 0, or an errno. */
static int set_up_mandoc_process(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes, int socket) {
    sigset_t no_signals, ending_signals;
    sigemptyset(&no_signals);
    sigemptyset(&ending_signals);
    sigaddset(&ending_signals, SIGPIPE);
    sigaddset(&ending_signals, SIGINT);
    sigaddset(&ending_signals, SIGTERM);
    int error = posix_spawnattr_setsigmask(attributes, &no_signals);
    if (error == 0) error = posix_spawnattr_setsigdefault(attributes, &ending_signals);
    if (error == 0) error = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (error == 0) error = posix_spawn_file_actions_addfchdir_np(actions, removed_folder);
    if (error == 0) error = posix_spawn_file_actions_adddup2(actions, socket, STDIN_FILENO);
    if (error == 0) error = posix_spawn_file_actions_adddup2(actions, socket, STDOUT_FILENO);
    if (error == 0) error = posix_spawn_file_actions_addopen(actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    return error;
}

/* Starts mandoc, whose input and output are `socket`, and sets *process to its process ID. Returns 0, or an errno. */
static int start_mandoc(int socket, pid_t *process) {
    /* The width is so large that few lines are broken, but bounded, since some lines are filled with blanks. */
    static char program[] = "mandoc", format[] = "-Tutf8", charset[] = "-Kutf-8", width[] = "-Owidth=1000";
    static char locale[] = "LC_ALL=C.UTF-8";
    char *arguments[] = {program, format, charset, width, NULL}, *environment[] = {locale, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) return error;
    error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        error = set_up_mandoc_process(&actions, &attributes, socket);
        if (error == 0) error = posix_spawnp(process, program, &actions, &attributes, arguments, environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Limits mandoc's processor time and memory, so that it ends even if this process is killed. An error is ignored. */
static void limit_mandoc(pid_t process) {
#ifdef IDX_LINUX
    const struct rlimit seconds = {MOST_PROCESSOR_SECONDS, MOST_PROCESSOR_SECONDS}, memory = {MOST_MEMORY, MOST_MEMORY};
    prlimit(process, RLIMIT_CPU, &seconds, NULL);
    prlimit(process, RLIMIT_AS, &memory, NULL);
#else
    (void)process;
#endif
}

/* How the exchange of texts with mandoc ended, if it did. */
enum exchange { GOES_ON, ENDED, TOO_LONG, TOO_SLOW, BROKEN, NO_MEMORY };

/* Sends as much of the page as the socket accepts, and removes it from *page. If mandoc no longer reads, removes all:
 * its exit status says why. */
static void send_page_part(int socket, struct span *page) {
    ssize_t sent = send(socket, page->bytes, page->length, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) page->bytes += sent, page->length -= (size_t)sent;
    if (sent < 0 && errno != EAGAIN && errno != EINTR) page->length = 0;
}

/* Appends up to MAX_RECEIVED bytes that mandoc has printed to `text`, without waiting. Returns how the exchange ended,
 * or that it goes on. */
static enum exchange receive_text_part(int socket, uint64_t max_bytes, struct output *text) {
    enum { MAX_RECEIVED = 1 << 16 };
    char *free_space = output_reserve(text, MAX_RECEIVED);
    if (free_space == NULL) return NO_MEMORY;
    ssize_t received = recv(socket, free_space, MAX_RECEIVED, MSG_DONTWAIT);
    if (received == 0 || (received < 0 && errno == ECONNRESET)) return ENDED;
    if (received < 0) return errno == EAGAIN || errno == EINTR ? GOES_ON : BROKEN;
    text->length += (size_t)received;
    return text->length > max_bytes ? TOO_LONG : GOES_ON;
}

/* Sends the page, and appends what mandoc prints to `text`. Goes on until mandoc ends its output, takes longer than
 * MOST_SECONDS or prints more than `max_bytes` bytes, or until an error. Returns which of these it was. */
static enum exchange exchange_with_mandoc(int socket, struct span page, uint64_t max_bytes, struct output *text) {
    const uint64_t start_time = read_nanoseconds();
    enum exchange exchange = GOES_ON;
    bool sending = true;
    while (exchange == GOES_ON) {
        if (sending && page.length == 0) {
            shutdown(socket, SHUT_WR);
            sending = false;
        }
        struct pollfd polled = {.fd = socket, .events = (short)(sending ? POLLIN | POLLOUT : POLLIN)};
        int64_t milliseconds_left = MOST_SECONDS * 1000 - (int64_t)((read_nanoseconds() - start_time) / 1000000);
        if (milliseconds_left <= 0) return TOO_SLOW;
        if (poll(&polled, 1, (int)milliseconds_left) < 0 && errno != EINTR) return BROKEN;
        if ((polled.revents & POLLOUT) != 0) send_page_part(socket, &page);
        if ((polled.revents & (POLLIN | POLLHUP | POLLERR)) != 0) exchange = receive_text_part(socket, max_bytes, text);
    }
    return exchange;
}

/* Waits for the end of mandoc. Returns whether its exit status says that it printed all of the page; true if the status
 * is not known. */
static bool wait_for_mandoc(pid_t process) {
    int status = 0;
    pid_t ended_process;
    do {
        ended_process = waitpid(process, &status, 0);
    } while (ended_process < 0 && errno == EINTR);
    /* This process was started with SIGCHLD ignored, so the system has dropped the status. */
    if (ended_process < 0) return true;
    return WIFEXITED(status) && WEXITSTATUS(status) < MANDOC_FAILED;
}

/* Returns whether mandoc printed the page: it did if `exchange` is ENDED, and `exited_well`, the result of
 * wait_for_mandoc, is true. Otherwise sets *bad. */
static bool check_page_was_printed(enum exchange exchange, bool exited_well, uint64_t max_bytes, struct bad *bad) {
    switch (exchange) {
        case NO_MEMORY: return bad_set_memory(bad);
        case TOO_LONG:
            return bad_set(bad, BAD_LONG, "as text, it has more than %" PRIu64 " bytes; --max-text takes longer ones",
                           max_bytes);
        case TOO_SLOW:
            return bad_set(bad, BAD_MANUAL, "mandoc did not print this manual page within %d seconds", MOST_SECONDS);
        default:
            return (exchange == ENDED && exited_well) || bad_set(bad, BAD_MANUAL, "mandoc can't read this manual page");
    }
}

/* Sets *bad to why mandoc could not be started, which is the errno `error`. Returns false always. */
static bool set_start_problem(struct bad *bad, int error) {
    if (error == ENOMEM) return bad_set_memory(bad);
    if (error == ENOENT)
        return bad_set(bad, BAD_MANUAL,
                       "this is a manual page, which needs the program mandoc, and that is not installed; install the "
                       "package mandoc");
    return bad_set(bad, BAD_MANUAL, "the program mandoc, which reads manual pages, can't be started: %s",
                   strerror(error));
}

/* Appends what mandoc prints of the page to `text`. Kills mandoc unless it ended by itself, since it may go on printing
 * or waiting. Sets *bad and returns false if mandoc can't be started, fails or takes too long, if it prints more than
 * `max_bytes` bytes, or if memory ran out. */
static bool run_mandoc(struct span page, uint64_t max_bytes, struct output *text, struct bad *bad) {
    int sockets[2];
    pid_t process;
    pthread_once(&removed_folder_once, open_removed_folder);
    if (removed_folder < 0)
        return bad_set(bad, BAD_MANUAL, "no folder for mandoc can be made; set TMPDIR to one that can be written to");
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) return set_start_problem(bad, errno);
    int error = start_mandoc(sockets[1], &process);
    close(sockets[1]);
    if (error != 0) {
        close(sockets[0]);
        return set_start_problem(bad, error);
    }
    limit_mandoc(process);
    enum exchange exchange = exchange_with_mandoc(sockets[0], page, max_bytes, text);
    close(sockets[0]);
    if (exchange != ENDED) kill(process, SIGKILL);
    return check_page_was_printed(exchange, wait_for_mandoc(process), max_bytes, bad);
}

/* ---- The text of a page ---- */

/* Removes each character before a backspace, with the backspace. mandoc prints a bold letter twice, and an underlined
 * one behind a _, with a backspace in between. */
static void remove_overstrikes(struct output *text) {
    size_t kept_length = 0;
    for (size_t i = 0; i < text->length; i++) {
        if (text->bytes[i] != '\b') {
            text->bytes[kept_length++] = text->bytes[i];
            continue;
        }
        if (kept_length == 0 || text->bytes[kept_length - 1] == '\n') continue;
        /* A character in UTF-8 is one byte, and perhaps bytes behind it whose upper bits are 10. */
        while (kept_length > 1 && ((unsigned char)text->bytes[kept_length - 1] & 0xc0) == 0x80) kept_length--;
        kept_length--;
    }
    text->length = kept_length;
}

/* Returns whether a line is a rule across the page: of _ alone, perhaps with blanks before and between them. */
static bool is_rule(struct span line) {
    for (size_t i = 0; i < line.length; i++) {
        if (line.bytes[i] != ' ' && line.bytes[i] != '_') return false;
    }
    return line.length > 0 && line.bytes[line.length - 1] == '_';
}

/* Removes the lines that are rules, with their line feeds. */
static void remove_rules(struct output *text) {
    size_t kept_length = 0;
    struct span rest = {text->bytes, text->length};
    while (rest.length > 0) {
        struct span line = span_cut(&rest, '\n');
        if (is_rule(line)) continue;
        size_t length = (size_t)(rest.bytes - line.bytes); /* With its line feed, if it has one. */
        memmove(text->bytes + kept_length, line.bytes, length);
        kept_length += length;
    }
    text->length = kept_length;
}

/* Removes the header and the footer, which name the page and its system: the lines before the first blank one and those
 * behind the last one. mandoc prints them in all pages, and of several lines where one does not suffice. */
static void remove_header_and_footer(struct output *text) {
    struct span rest = {text->bytes, text->length};
    while (rest.length > 0 && !is_blank_line(span_cut(&rest, '\n'))) continue;
    const char *body_begin = rest.bytes, *body_end = body_begin;
    while (rest.length > 0) {
        struct span line = span_cut(&rest, '\n');
        if (is_blank_line(line)) body_end = line.bytes;
    }
    text->length = (size_t)(body_end - body_begin);
    memmove(text->bytes, body_begin, text->length);
}

bool manual_read_text(struct span page, uint64_t max_bytes, struct output *text, struct bad *bad) {
    struct span included;
    text->length = 0;
    if (only_includes_another_page(page, &included))
        return bad_set(bad, BAD_MANUAL,
                       "this manual page has no text: it only includes another one, %.*s, which is not read",
                       included.length > 100 ? 100 : (int)included.length, included.bytes);
    if (!run_mandoc(page, max_bytes, text, bad)) return false;
    remove_overstrikes(text);
    remove_header_and_footer(text);
    remove_rules(text);
    return true;
}
