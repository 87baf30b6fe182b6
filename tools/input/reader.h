/* reader.h: reads a file or standard input, by lines of any length or by bytes. */
#ifndef IDX_TOOLS_INPUT_READER_H
#define IDX_TOOLS_INPUT_READER_H

#include "tools/shared/command.h"
#include "tools/shared/wording.h"

/* The longest line that is read: an ID has at most 2^24 - 1 bytes, and a fingerprint and a tab precede it. */
enum { READER_MOST_LINE = (1 << 24) + 128 };

enum reader_status {
    READER_OK,
    READER_END,
    READER_PENDING,     /* There is nothing more without waiting. */
    READER_INTERRUPTED, /* A signal was noted (command.h). */
    READER_LONG,        /* The line has more than READER_MOST_LINE bytes. */
    READER_FAILED,      /* A complaint was made. */
};

struct reader {
    const char *name; /* The path, or "standard input", for messages. */
    int descriptor;   /* -1: the reader is closed. */
    bool ended;       /* The end of the file was read. */
    char *bytes;      /* Those from `start` to `end` were read, but not returned yet. */
    size_t start, end, capacity;
    size_t searched; /* Bytes from `start` on that are known to have no \n. */
    uint64_t line;   /* Number of the line that was returned last, from 1. */
    bool in_long;    /* That line was too long, and what is read next is the rest of it. */
};

#define READER_INIT                                                                                                    \
    { NULL, -1, false, NULL, 0, 0, 0, 0, 0, false }

/* Opens a file, or standard input for `-`; if that is a terminal, says that it is waiting. `path` must stay valid. A
 * closed reader may be opened again, and keeps its buffer. */
bool reader_open(struct reader *reader, const char *path);

/* Sets *line to the next line without its \n, valid until the next call. Complains of one of more than READER_MOST_LINE
 * bytes, and returns READER_FAILED. Without `wait`, may return READER_PENDING before the whole line has come. */
enum reader_status reader_read_line(struct reader *reader, bool wait, const char **line, size_t *length);

/* Does the same, but without a complaint of a longer line: returns READER_LONG, and sets *line to more than
 * READER_MOST_LINE bytes of its beginning. The next call passes over the rest of it. */
enum reader_status reader_read_any_line(struct reader *reader, bool wait, const char **line, size_t *length);

/* Sets *problem to what is wrong with a line that is READER_LONG. */
void reader_explain_long(struct problem *problem);

/* Sets *line to the next line if all of it was read already, or else returns false, without a complaint. It reads
 * nothing, so earlier lines stay valid as well. */
bool reader_take_held_line(struct reader *reader, const char **line, size_t *length);

/* Sets *bytes to the next `wanted` bytes, for which it waits, and which are valid until the next call, and *got to
 * their number. At the end of the file, *got is less; with READER_END, it is 0. */
enum reader_status reader_read_bytes(struct reader *reader, size_t wanted, const char **bytes, size_t *got);

/* Takes back the last `length` of the bytes that reader_read_bytes returned last, so that they are read once more. */
void reader_give_back(struct reader *reader, size_t length);

/* Closes the file, but not standard input. The reader may be opened again. */
void reader_close(struct reader *reader);

/* Closes the file and frees the buffer. */
void reader_free(struct reader *reader);

#endif
