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

/* Sets *line to the next line without its \n, which has no terminating NUL and is valid until the next call. The last
 * line may lack its \n. Complains and returns READER_FAILED if the line has more than READER_MAX_LINE_BYTES bytes, or
 * if the file can't be read. Without `wait`, returns READER_PENDING if the whole line has not come yet. */
enum reader_status reader_read_line(struct reader *reader, bool wait, const char **line, size_t *length);

/* Like reader_read_line, but does not complain of a longer line: returns READER_TOO_LONG, and sets *line to its first
 * bytes, which are more than READER_MAX_LINE_BYTES. The next call skips the rest of it. */
enum reader_status reader_read_any_line(struct reader *reader, bool wait, const char **line, size_t *length);

/* Sets *problem to the sentence about a line that is READER_TOO_LONG. */
void reader_explain_too_long(struct problem *problem);

/* Sets *line to the next line, as reader_read_line does, if all of it is in the buffer, or else returns false, without
 * a complaint. Does not read the file, so lines that were returned before stay valid as well. */
bool reader_next_buffered_line(struct reader *reader, const char **line, size_t *length);

/* Waits for the next `max_length` bytes. Sets *bytes to them, valid until the next call, and *length to their number,
 * which is less only at the end of the file. Returns READER_END, with a *length of 0, if there are no more. If it
 * returns READER_INTERRUPTED or READER_FAILED, sets neither. */
enum reader_status reader_read_bytes(struct reader *reader, size_t max_length, const char **bytes, size_t *length);

/* Has the next call return the last `length` bytes once more of those that reader_read_bytes returned last. */
void reader_unread_bytes(struct reader *reader, size_t length);

/* Closes the file, but not standard input. The reader may be opened again. */
void reader_close(struct reader *reader);

/* Closes the file and frees the buffer. */
void reader_free(struct reader *reader);

#endif
