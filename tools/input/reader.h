/* reader.h: reads a file or standard input, by lines of any length or by bytes. */
#ifndef IDX_TOOLS_INPUT_READER_H
#define IDX_TOOLS_INPUT_READER_H

#include "tools/shared/command.h"
#include "tools/shared/wording.h"

/* The most bytes of a line that is read, without its \n: an ID has at most 2^24 - 1 bytes, and a fingerprint and a tab
 * precede it. */
enum { READER_MAX_LINE_BYTES = (1 << 24) + 128 };

enum reader_status {
    READER_OK,
    READER_END,
    READER_PENDING,     /* There is nothing more without waiting. */
    READER_INTERRUPTED, /* A signal was noted (command.h). */
    READER_TOO_LONG,    /* The line has more than READER_MAX_LINE_BYTES bytes. */
    READER_FAILED,      /* A complaint was made. */
};

struct reader {
    const char *name; /* The path, or "standard input", for messages. */
    int descriptor;   /* -1: the reader is closed. */
    bool ended;       /* The end of the file was read. */
    char *bytes; /* The buffer. Its bytes from `start` up to, but not including, `end` were read, but not returned. */
    size_t start, end, capacity;
    size_t searched_bytes; /* How many bytes from `start` on are known to have no \n. */
    uint64_t line;         /* The number of the line that was returned last, from 1. */
    bool in_too_long_line; /* That line was too long, and the rest of it is still to be skipped. */
};

#define READER_INIT                                                                                                    \
    { NULL, -1, false, NULL, 0, 0, 0, 0, 0, false }

/* Opens a file, or standard input for `-`; if that is a terminal, says that it is waiting. `path` must stay valid while
 * the reader is open. A closed reader may be opened again, and keeps its buffer. Complains and returns false if the
 * file can't be opened. */
bool reader_open(struct reader *reader, const char *path);

/* Sets *line to the next line without its \n, and *length to its bytes, and returns READER_OK. The line has no
 * terminating NUL, and is valid until the next call. The last line of the file may lack its \n. Otherwise, *line and
 * *length are unspecified, and this returns
 * - READER_END behind the last line;
 * - READER_PENDING, only without `wait`, if the whole line has not come yet;
 * - READER_INTERRUPTED after a signal;
 * - READER_FAILED, after a complaint, if the line has more than READER_MAX_LINE_BYTES bytes, if the file can't be read,
 *   or if memory ran out. */
enum reader_status reader_read_line(struct reader *reader, bool wait, const char **line, size_t *length);

/* Like reader_read_line, but without a complaint of a line that is too long: returns READER_TOO_LONG, and sets *line to
 * as many of its first bytes as were read, and *length to their number, above READER_MAX_LINE_BYTES. The next call
 * skips the rest of that line. */
enum reader_status reader_read_any_line(struct reader *reader, bool wait, const char **line, size_t *length);

/* Sets *problem to the sentence that says why a line was READER_TOO_LONG. */
void reader_explain_too_long_line(struct problem *problem);

/* Sets *line and *length to the next line, as reader_read_line does, if all of it is in the buffer. Otherwise, returns
 * false without a complaint, and sets neither. Does not read the file, so earlier lines stay valid. */
bool reader_next_buffered_line(struct reader *reader, const char **line, size_t *length);

/* Waits for the next `max_length` bytes. Sets *bytes to them, valid until the next call, and *length to their number,
 * which is less only at the end of the file. Returns READER_END, with a *length of 0, if there are no more. If it
 * returns READER_INTERRUPTED, or READER_FAILED after a complaint, sets neither. */
enum reader_status reader_read_bytes(struct reader *reader, size_t max_length, const char **bytes, size_t *length);

/* Moves the last `length` bytes that reader_read_bytes returned back into the buffer, so that the next call returns
 * them again. `length` must not exceed the *length of that call, the last one. */
void reader_unread_bytes(struct reader *reader, size_t length);

/* Closes the file, unless it is standard input, and keeps the buffer. A closed reader is accepted. The reader may be
 * opened again. */
void reader_close(struct reader *reader);

/* Closes the file and frees the buffer. */
void reader_free(struct reader *reader);

#endif
