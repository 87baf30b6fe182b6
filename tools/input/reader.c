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
enum { READ_BYTES = 1 << 18 };

bool reader_open(struct reader *reader, const char *path) {
    bool is_standard = strcmp(path, "-") == 0;
    reader->name = is_standard ? "standard input" : path;
    reader->ended = false;
    reader->start = reader->end = reader->searched_bytes = 0;
    reader->line = 0;
    reader->in_too_long_line = false;
    /* Opening a FIFO does not wait for its writer here; reading does, and ends at a signal. */
    reader->descriptor = is_standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (reader->descriptor < 0) return complain("%s: %s", path, strerror(errno));
    if (is_standard && isatty(STDIN_FILENO)) complain("waiting for standard input; Ctrl-D ends it");
    return true;
}

/* Complains of the file, by its name and the text of `error_number`, an errno. Returns READER_FAILED. */
static enum reader_status fail_with_errno(const struct reader *reader, int error_number) {
    complain("%s: %s", reader->name, strerror(error_number));
    return READER_FAILED;
}

/* Returns READER_INTERRUPTED if a signal is noted, or else READER_OK if a read would not wait. Otherwise waits until
 * one of these holds, or without `wait`, returns READER_PENDING at once. Complains and returns READER_FAILED if poll
 * fails. */
static enum reader_status poll_input(const struct reader *reader, bool wait) {
    struct pollfd descriptors[2] = {{.fd = reader->descriptor, .events = POLLIN},
                                    {.fd = interrupt_get_descriptor(), .events = POLLIN}};
    while (poll(descriptors, 2, wait ? -1 : 0) < 0) {
        if (errno != EINTR && errno != EAGAIN) return fail_with_errno(reader, errno);
    }
    if (descriptors[1].revents != 0) return READER_INTERRUPTED;
    return descriptors[0].revents != 0 ? READER_OK : READER_PENDING;
}

/* Makes sure that READ_BYTES bytes are free behind the buffered ones: moves these to the front, and enlarges the buffer
 * if that is not enough. Returns false, without a complaint, if memory ran out. */
static bool make_room_to_read(struct reader *reader) {
    if (reader->capacity - reader->end >= READ_BYTES) return true;
    size_t buffered = reader->end - reader->start;
    if (reader->start > 0) memmove(reader->bytes, reader->bytes + reader->start, buffered);
    reader->start = 0;
    reader->end = buffered;
    if (reader->capacity - buffered >= READ_BYTES) return true;
    size_t capacity = buffered + buffered / 2 + READ_BYTES;
    char *bytes = realloc(reader->bytes, capacity);
    if (bytes == NULL) return false;
    reader->bytes = bytes;
    reader->capacity = capacity;
    return true;
}

/* Reads further bytes into the buffer, or sets `ended` at the end of the file. May return READER_OK without either, if
 * a signal handler ran or another process read the bytes: the caller tries again. Otherwise returns like poll_input;
 * complains and returns READER_FAILED also if memory ran out or the file can't be read. */
static enum reader_status read_into_buffer(struct reader *reader, bool wait) {
    enum reader_status status = poll_input(reader, wait);
    if (status != READER_OK) return status;
    if (!make_room_to_read(reader)) return fail_with_errno(reader, ENOMEM);
    ssize_t length = read(reader->descriptor, reader->bytes + reader->end, READ_BYTES);
    if (length < 0) return errno == EINTR || errno == EAGAIN ? READER_OK : fail_with_errno(reader, errno);
    reader->end += (size_t)length;
    reader->ended = length == 0;
    return READER_OK;
}

/* Removes the next `length` bytes from the buffer, which must have as many. Sets *bytes to them, and *bytes_length to
 * `length`. They stay in memory until the buffer is filled again. */
static void consume_bytes(struct reader *reader, size_t length, const char **bytes, size_t *bytes_length) {
    *bytes = reader->bytes + reader->start;
    *bytes_length = length;
    reader->start += length;
    reader->searched_bytes = 0;
}

bool reader_next_buffered_line(struct reader *reader, const char **line, size_t *length) {
    size_t buffered = reader->end - reader->start;
    if (buffered == 0) return false;
    const char *begin = reader->bytes + reader->start;
    const char *newline = memchr(begin + reader->searched_bytes, '\n', buffered - reader->searched_bytes);
    if (newline == NULL && !reader->ended) {
        reader->searched_bytes = buffered;
        return false;
    }
    consume_bytes(reader, newline != NULL ? (size_t)(newline - begin) : buffered, line, length);
    if (newline != NULL) reader->start++; /* Skips the newline, which is not a byte of the line. */
    reader->line++;
    return true;
}

/* Skips the rest of the line that was returned last, if that was too long, and returns READER_OK. Without `wait`,
 * returns READER_PENDING if more of it has yet to come, and the next call continues. Returns READER_INTERRUPTED after a
 * signal, and READER_FAILED after a complaint. */
static enum reader_status skip_rest_of_too_long_line(struct reader *reader, bool wait) {
    while (reader->in_too_long_line) {
        size_t buffered = reader->end - reader->start;
        const char *begin = reader->bytes + reader->start,
                   *newline = buffered == 0 ? NULL : memchr(begin, '\n', buffered);
        reader->start = newline != NULL ? reader->start + (size_t)(newline - begin) + 1 : reader->end;
        reader->in_too_long_line = newline == NULL && !reader->ended;
        enum reader_status status = reader->in_too_long_line ? read_into_buffer(reader, wait) : READER_OK;
        if (status != READER_OK) return status;
    }
    return READER_OK;
}

enum reader_status reader_read_any_line(struct reader *reader, bool wait, const char **line, size_t *length) {
    enum reader_status status = skip_rest_of_too_long_line(reader, wait);
    while (status == READER_OK && !reader_next_buffered_line(reader, line, length)) {
        if (reader->ended) return READER_END;
        reader->in_too_long_line = reader->end - reader->start > READER_MAX_LINE_BYTES;
        if (reader->in_too_long_line) {
            consume_bytes(reader, reader->end - reader->start, line, length);
            reader->line++;
            return READER_TOO_LONG;
        }
        status = read_into_buffer(reader, wait);
    }
    /* A line may also come whole and be too long, if its newline is in the bytes that were read last. */
    return status == READER_OK && *length > READER_MAX_LINE_BYTES ? READER_TOO_LONG : status;
}

void reader_explain_too_long_line(struct problem *problem) {
    problem_set(problem, "the line has more than %d bytes, which no fingerprint and ID have", READER_MAX_LINE_BYTES);
}

enum reader_status reader_read_line(struct reader *reader, bool wait, const char **line, size_t *length) {
    enum reader_status status = reader_read_any_line(reader, wait, line, length);
    struct problem problem;
    if (status != READER_TOO_LONG) return status;
    reader_explain_too_long_line(&problem);
    complain("%s:%" PRIu64 ": %s", reader->name, reader->line, problem.sentence);
    return READER_FAILED;
}

enum reader_status reader_read_bytes(struct reader *reader, size_t max_length, const char **bytes, size_t *length) {
    while (reader->end - reader->start < max_length && !reader->ended) {
        enum reader_status status = read_into_buffer(reader, true);
        if (status != READER_OK) return status;
    }
    size_t buffered = reader->end - reader->start;
    consume_bytes(reader, buffered < max_length ? buffered : max_length, bytes, length);
    return *length > 0 ? READER_OK : READER_END;
}

void reader_unread_bytes(struct reader *reader, size_t length) { reader->start -= length; }

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
