/* output.h: writes to a file, such as standard output, buffered and checked for errors. An output without a file keeps
 * its bytes in memory, for answers that are printed later. */
#ifndef IDX_TOOLS_OUTPUT_H
#define IDX_TOOLS_OUTPUT_H

#include "tools/shared/wording.h"

struct output {
    int descriptor; /* -1: the bytes stay in memory. */
    char *bytes;
    size_t length, capacity;
    int error; /* The errno of the first failure, after which nothing more is written; 0: there was none. */
};

#define OUTPUT_STANDARD                                                                                                \
    { 1, NULL, 0, 0, 0 }
#define OUTPUT_BUFFER                                                                                                  \
    { -1, NULL, 0, 0, 0 }

/* Writes bytes to the file through the buffer, or adds them to those in memory. Does nothing after an error. */
void output_bytes(struct output *output, const void *bytes, size_t length);

/* Grows the buffer, if need be, by `size` unused bytes behind those in it. Returns the first of these, which the caller
 * may fill: it then adds to `length` how many it wrote. Returns NULL, and sets `error`, if memory ran out. If `size` is
 * 0, NULL may also mean that the buffer is empty. */
char *output_reserve(struct output *output, size_t size);

/* These write their argument as text, without a NUL, under the same conditions as output_bytes. */
void output_text(struct output *output, const char *text);
void output_printable(struct output *output, const char *text);       /* As printable_write_piece makes it. */
void output_id(struct output *output, const void *id, size_t length); /* Escaped if need be (wording.h). */
void output_byte(struct output *output, char byte);
void output_decimal(struct output *output, uint64_t number);

/* Writes a fingerprint of `bits` bits as notation_format_fingerprint does. */
void output_fingerprint(struct output *output, enum notation notation, unsigned bits, uint64_t fingerprint);

/* Writes shared / total, rounded down to four digits after the point. If `total` is 0, writes 1.0000, since two empty
 * sets are equal. `shared` * 10000 must be below 2^64. */
void output_share(struct output *output, uint64_t shared, uint64_t total);

/* Formats text of any length as printf does, and writes it as output_bytes does. Sets `error` if memory ran out. */
__attribute__((format(printf, 2, 3))) void output_format(struct output *output, const char *format, ...);

/* Writes what is buffered to the file; without a file, the bytes stay in memory. Returns false, without a complaint, if
 * there was an error, now or before. */
bool output_flush(struct output *output);

/* Flushes an output that is standard output, and frees the buffer. Complains and returns false if there was an error,
 * now or before. The descriptor stays open. */
bool output_close(struct output *output);

/* Writes a text to standard output at once. Complains and returns false if that fails. */
bool output_print(const char *text);

#endif
