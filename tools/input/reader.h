/* reader.h: reads a file or standard input, by lines of any length or by bytes. */
#ifndef IDX_TOOLS_READER_H
#define IDX_TOOLS_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest line that is read: an ID has at most 2^24 - 1 bytes, and a fingerprint and a tab precede it. */
enum { READER_MOST_LINE = (1 << 24) + 128 };

enum reader_status {
    READER_OK,
    READER_END,
    READER_PENDING,     /* nothing more without waiting */
    READER_INTERRUPTED, /* a signal was noted (interrupt.h) */
    READER_FAILED,      /* after a complaint */
};

struct reader {
    const char *name; /* for messages: the path, or "standard input" */
    int descriptor;   /* -1: closed */
    bool ended;
    char *bytes; /* read and not yet given: [start, end) */
    size_t start, end, capacity;
    size_t searched; /* how many bytes from start are known to hold no \n */
    uint64_t line;   /* number of the line given last, from 1 */
};

#define READER_INIT                                                                                                    \
    { NULL, -1, false, NULL, 0, 0, 0, 0, 0 }

/* Opens a file; `-` is standard input, and where that is a terminal, says that it is waiting. `path` must stay valid.
 * False after a complaint. A reader that is closed may be opened again, and keeps its buffer. */
bool reader_open(struct reader *reader, const char *path);

/* Gives the next line, without its \n and of up to READER_MOST_LINE bytes, valid until the next call of it. Without
 * `wait`, READER_PENDING where the rest of the line has still to come. */
enum reader_status reader_line(struct reader *reader, bool wait, const char **line, size_t *length);

/* Gives the next line where all of it was read already, and false else: it reads nothing, so that the lines given
 * before it stay valid, too. */
bool reader_held_line(struct reader *reader, const char **line, size_t *length);

/* Gives the next `want` bytes, valid until the next call, or what is left of them at the end: *got may be less then,
 * and is 0 with READER_END. */
enum reader_status reader_bytes(struct reader *reader, size_t want, const char **bytes, size_t *got);

/* Takes back the last `count` of the bytes that reader_bytes gave last. */
void reader_give_back(struct reader *reader, size_t count);

/* Closes the file. */
void reader_close(struct reader *reader);

/* Closes the file and frees the buffer. */
void reader_free(struct reader *reader);

#endif
