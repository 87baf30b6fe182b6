/* reader.c: reads a file or standard input, by lines of any length or by bytes. */
#include "tools/input/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The most bytes that are read at a time. */
enum { READ_SIZE = 1 << 18 };

bool reader_open(struct reader *reader, const char *path) {
    bool is_standard = strcmp(path, "-") == 0;
    reader->name = is_standard ? "standard input" : path;
    reader->ended = false;
    reader->start = reader->end = reader->searched = 0;
    reader->line = 0;
    reader->in_long = false;
    /* Opening a FIFO does not wait for its writer here; reading does, and notices signals meanwhile. */
    reader->descriptor = is_standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (reader->descriptor < 0) return complain("%s: %s", path, strerror(errno));
    if (is_standard && isatty(STDIN_FILENO)) complain("waiting for standard input; Ctrl-D ends it");
    return true;
}

/* Complains that the file failed with this errno. Returns READER_FAILED. */
static enum reader_status fail_with_error(const struct reader *reader, int error) {
    complain("%s: %s", reader->name, strerror(error));
    return READER_FAILED;
}

/* Waits for input or a signal, and returns READER_OK or READER_INTERRUPTED; without `wait`, returns READER_PENDING if
 * there is neither. Complains and returns READER_FAILED if it can't. */
static enum reader_status poll_input(const struct reader *reader, bool wait) {
    struct pollfd polled[2] = {{reader->descriptor, POLLIN, 0}, {interrupt_descriptor(), POLLIN, 0}};
    while (poll(polled, 2, wait ? -1 : 0) < 0) {
        if (errno != EINTR && errno != EAGAIN) return fail_with_error(reader, errno);
    }
    if (polled[1].revents != 0) return READER_INTERRUPTED;
    return polled[0].revents != 0 ? READER_OK : READER_PENDING;
}

/* Makes room for READ_SIZE bytes behind the held ones. Returns false, without a complaint, if memory ran out. */
static bool make_room(struct reader *reader) {
    if (reader->capacity - reader->end >= READ_SIZE) return true;
    size_t held = reader->end - reader->start;
    if (reader->start > 0) memmove(reader->bytes, reader->bytes + reader->start, held);
    reader->start = 0;
    reader->end = held;
    if (reader->capacity - held >= READ_SIZE) return true;
    size_t capacity = held + held / 2 + READ_SIZE;
    char *bytes = realloc(reader->bytes, capacity);
    if (bytes == NULL) return false;
    reader->bytes = bytes;
    reader->capacity = capacity;
    return true;
}

/* Reads further bytes, or sets `ended` at the end of the file. READER_OK may come without either, after a signal. */
static enum reader_status read_more(struct reader *reader, bool wait) {
    enum reader_status status = poll_input(reader, wait);
    if (status != READER_OK) return status;
    if (!make_room(reader)) return fail_with_error(reader, ENOMEM);
    ssize_t length = read(reader->descriptor, reader->bytes + reader->end, READ_SIZE);
    if (length < 0) return errno == EINTR || errno == EAGAIN ? READER_OK : fail_with_error(reader, errno);
    reader->end += (size_t)length;
    reader->ended = length == 0;
    return READER_OK;
}

/* Sets *bytes to the next `length` bytes that are held, and *got to their number, and removes them from those that are
 * held. */
static void hand_out(struct reader *reader, size_t length, const char **bytes, size_t *got) {
    *bytes = reader->bytes + reader->start;
    *got = length;
    reader->start += length;
    reader->searched = 0;
}

bool reader_take_held_line(struct reader *reader, const char **line, size_t *length) {
    size_t held = reader->end - reader->start;
    if (held == 0) return false;
    const char *begin = reader->bytes + reader->start;
    const char *newline = memchr(begin + reader->searched, '\n', held - reader->searched);
    if (newline == NULL && !reader->ended) {
        reader->searched = held;
        return false;
    }
    hand_out(reader, newline != NULL ? (size_t)(newline - begin) : held, line, length);
    if (newline != NULL) reader->start++;
    reader->line++;
    return true;
}

/* Passes over the rest of the line that was returned last, if that was too long. Without `wait`, returns READER_PENDING
 * where more of it has yet to come; then the next call goes on. */
static enum reader_status skip_rest_of_long_line(struct reader *reader, bool wait) {
    while (reader->in_long) {
        size_t held = reader->end - reader->start;
        const char *begin = reader->bytes + reader->start, *newline = held == 0 ? NULL : memchr(begin, '\n', held);
        reader->start = newline != NULL ? reader->start + (size_t)(newline - begin) + 1 : reader->end;
        reader->in_long = newline == NULL && !reader->ended;
        enum reader_status status = reader->in_long ? read_more(reader, wait) : READER_OK;
        if (status != READER_OK) return status;
    }
    return READER_OK;
}

enum reader_status reader_read_any_line(struct reader *reader, bool wait, const char **line, size_t *length) {
    enum reader_status status = skip_rest_of_long_line(reader, wait);
    while (status == READER_OK && !reader_take_held_line(reader, line, length)) {
        if (reader->ended) return READER_END;
        reader->in_long = reader->end - reader->start > READER_MOST_LINE;
        if (reader->in_long) {
            hand_out(reader, reader->end - reader->start, line, length);
            reader->line++;
            return READER_LONG;
        }
        status = read_more(reader, wait);
    }
    return status == READER_OK && *length > READER_MOST_LINE ? READER_LONG : status;
}

void reader_explain_long(struct problem *problem) {
    problem_set(problem, "the line has more than %d bytes, which no fingerprint and ID have", READER_MOST_LINE);
}

enum reader_status reader_read_line(struct reader *reader, bool wait, const char **line, size_t *length) {
    enum reader_status status = reader_read_any_line(reader, wait, line, length);
    struct problem problem;
    if (status != READER_LONG) return status;
    reader_explain_long(&problem);
    complain("%s:%" PRIu64 ": %s", reader->name, reader->line, problem.sentence);
    return READER_FAILED;
}

enum reader_status reader_read_bytes(struct reader *reader, size_t wanted, const char **bytes, size_t *got) {
    while (reader->end - reader->start < wanted && !reader->ended) {
        enum reader_status status = read_more(reader, true);
        if (status != READER_OK) return status;
    }
    size_t held = reader->end - reader->start;
    hand_out(reader, held < wanted ? held : wanted, bytes, got);
    return *got > 0 ? READER_OK : READER_END;
}

void reader_give_back(struct reader *reader, size_t length) { reader->start -= length; }

void reader_close(struct reader *reader) {
    if (reader->descriptor > STDIN_FILENO) close(reader->descriptor);
    reader->descriptor = -1;
}

void reader_free(struct reader *reader) {
    reader_close(reader);
    free(reader->bytes);
    reader->bytes = NULL;
    reader->capacity = reader->start = reader->end = 0;
}
