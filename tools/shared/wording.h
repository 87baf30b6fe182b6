/* wording.h: how things are put into words: messages, numbers, sizes, fingerprints, and bytes from outside. */
#ifndef IDX_TOOLS_SHARED_WORDING_H
#define IDX_TOOLS_SHARED_WORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Message ---- */

/* Writes messages to standard error, each of which is a sentence on a line of its own, after the name of the
 * subcommand. Any thread may call these functions. */

/* Sets the subcommand that messages name, such as "build"; NULL: they name idx alone. The string is not copied, and
 * must stay valid. Call this before other threads write messages. */
void message_set_speaker(const char *subcommand);

/* Writes a sentence. It becomes one line of printable text (see below), whatever the arguments hold. Returns false
 * always, so that a check can return it. */
__attribute__((format(printf, 1, 2))) bool complain(const char *format, ...);

/* Writes a sentence as `complain` does, about a mistake on the command line, and adds where the help of the subcommand
 * is. Returns false always. */
__attribute__((format(printf, 1, 2))) bool complain_of_usage(const char *format, ...);

/* Shows a line on a terminal, which the next such line or message overwrites. The line must fit into the width of the
 * terminal. An empty line removes the last one. */
void message_show_status_line(const char *line);

/* What is wrong with a line, a number or a file: a clause that follows "FILE:LINE: ", and is not printed yet. */
struct problem {
    char sentence[768]; /* It has room for two recipes. */
};

/* Sets the clause, formatted as printf does, and cuts off what does not fit. Returns false always, so that a parser can
 * return it. */
__attribute__((format(printf, 2, 3))) bool problem_set(struct problem *problem, const char *format, ...);

/* ---- Reads the numbers that options take ---- */

/* Sets *number to what `length` decimal digits say. Returns false, without a complaint, if there are none, if any other
 * character is among them, or if the number is 2^64 or more. */
bool number_parse_digits(const char *text, size_t length, uint64_t *number);

/* Reads digits, perhaps with a decimal point and more digits; then nothing, or K, M, G or T (powers of 1024), or eN
 * (times 10^N), or after digits alone ^N (to the power of N). Returns false, without a complaint, unless this is a
 * whole number below 2^64. */
bool number_parse(const char *text, uint64_t *number);

/* Reads a share or a threshold as a decimal number, rounded to a multiple of 1/IDX_THRESHOLD_ONE, the unit of *share.
 * Returns false, without a complaint, for anything else. */
bool share_parse(const char *text, size_t length, int64_t *share);

/* ---- Prints sizes in binary units, and compares tables with the least that their fingerprints need ---- */

/* The most bytes that size_format writes, with the terminating NUL. */
enum { SIZE_TEXT_BYTES = 24 };

/* Writes a number of bytes, at least 0, with its unit: `17 B`, `1.5 KiB`, `640 MiB`, and a terminating NUL. */
void size_format(char text[SIZE_TEXT_BYTES], double bytes);

/* The size of a table beside the least that is possible. `bits` and `ratio` are 0 without fingerprints. */
struct density {
    double bits;  /* Bits that are stored per fingerprint. */
    double limit; /* What idx_information_limit returns. */
    double ratio; /* bits / limit. */
};

/* Computes the density of a table that takes `bytes` bytes and has `fingerprint_count` fingerprints, each of `bits`
 * bits, 1 to 64. */
struct density compute_density(double bytes, uint64_t fingerprint_count, unsigned bits);

/* A format for the mean of all tables, of its bits and its ratio. */
#define DENSITY_MEAN_FORMAT                                                                                            \
    "mean of the tables: %.3f bits per fingerprint, %.4f times the limit for uniform fingerprints; less is better"

/* ---- Reads and writes fingerprints in text, without I/O ---- */

enum notation {
    NOTATION_HEX,    /* An optional 0x is followed by as many hex digits as the bits take. */
    NOTATION_DEC,    /* An unsigned decimal number. */
    NOTATION_SIGNED, /* The fingerprint's bits as two's complement, in decimal. */
};

/* The names are in the order of the enum. */
extern const char *const notation_names[];

/* The most bytes that notation_format_fingerprint writes. */
enum { NOTATION_MAX_LENGTH = 20 };

/* Parses all of `text`, `length` bytes without a terminating NUL, as a fingerprint of `bits` bits, 1 to 64. Returns
 * false and sets *problem if it is none; then *fingerprint stays as it is. */
bool notation_parse_fingerprint(enum notation notation, unsigned bits, const char *text, size_t length,
                                uint64_t *fingerprint, struct problem *problem);

/* Writes a fingerprint of `bits` bits to `text`, which has at least NOTATION_MAX_LENGTH bytes, without a terminating
 * NUL. Returns how many bytes it wrote. */
size_t notation_format_fingerprint(enum notation notation, unsigned bits, uint64_t fingerprint, char *text);

/* Writes a number in decimal to `text`, which has at least NOTATION_MAX_LENGTH bytes, without a terminating NUL.
 * Returns how many bytes it wrote. */
size_t notation_format_decimal(uint64_t number, char *text);

/* ---- Bytes from outside, written so that they do no harm ---- */

/* Escaped IDs: before an ID that is empty or has a control character (bytes 0 to 31, and 127), one more tab is written;
 * in the ID, \t, \n and \\ stand for a tab, a newline and a backslash, and \xNN for any other control character. So an
 * ID can neither end a line nor pass for a column, nor for none. Printable text: what is shown on a terminal, such as
 * the name of a file, neither moves the cursor nor ends its line. These functions do no I/O and allocate no memory. */

/* Returns whether an ID has to be escaped: it is empty, or has a control character. */
bool escape_is_needed(const char *id, size_t length);

/* The most bytes that one byte becomes. */
enum { ESCAPE_MAX_BYTES = 4 };

/* Writes a byte as it is in an escaped ID, without a terminating NUL. Returns how many bytes that takes: 1, 2 or 4. */
size_t escape_byte(char byte, char text[ESCAPE_MAX_BYTES]);

/* Decodes the escape sequence that begins with the backslash at `sequence`, in a text that ends before `text_end`. Sets
 * *byte to the byte that the sequence stands for, and returns its length. Returns 0, and leaves *byte, if the backslash
 * begins no escape sequence. */
size_t escape_decode_sequence(const char *sequence, const char *text_end, char *byte);

/* Decodes an escaped ID in place, and returns the length of the decoded ID. `id` is what follows the tab that marks
 * escaped IDs. A backslash that begins no escape sequence stays. */
size_t escape_decode_id(char *id, size_t length);

/* The most bytes that printable_write_piece writes, with the terminating NUL. */
enum { PRINTABLE_PIECE_BYTES = 17 };

/* Writes the first character of a text, which must not be empty, and a terminating NUL. The character is written as it
 * is, or each of its bytes as \xNN if it is a control character, ends a line or changes the direction of writing. A
 * byte that is not UTF-8 is a character of its own, written as \xNN. Returns how many bytes of the text it has. */
size_t printable_write_piece(const char *text, char piece[PRINTABLE_PIECE_BYTES]);

/* Returns whether bytes are well-formed UTF-8, printable or not. */
bool bytes_are_utf8(const void *bytes, size_t length);

/* Returns how many bytes to keep of a text that is cut: all `length` bytes, or if there are more than `limit`, that
 * many or up to three fewer, so that the cut does not divide a character of UTF-8. */
size_t printable_find_cut(const char *text, size_t length, size_t limit);

#endif
