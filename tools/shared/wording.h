/* wording.h: how things are put into words: messages, numbers, sizes, fingerprints, and bytes from outside. */
#ifndef IDX_TOOLS_SHARED_WORDING_H
#define IDX_TOOLS_SHARED_WORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Message ---- */

/* Writes messages to standard error, each of which is a sentence on a line of its own, after the name of the
 * subcommand. Any thread may call these functions. */

/* Sets the name that messages begin with, such as "build" for `idx build: …`; NULL is the command itself. The text is
 * not copied. */
void message_speaker(const char *subcommand);

/* Writes a sentence. It becomes one line of printable text (see below), whatever the arguments hold. Returns false
 * always, so that a check can return it. */
__attribute__((format(printf, 1, 2))) bool complain(const char *format, ...);

/* Writes a sentence about how the command was called, and says where its help is. Returns false always. */
__attribute__((format(printf, 1, 2))) bool complain_of_usage(const char *format, ...);

/* Shows a line on a terminal that the next such line or message overwrites. The line is shorter than the terminal is
 * wide. An empty line removes the last one. */
void message_overwrite(const char *line);

/* A parser that prints nothing sets this clause, which follows "FILE:LINE: " and says what is wrong with a line, a
 * number or a file. */
struct problem {
    char sentence[320];
};

/* Sets the clause. Returns false always, so that a parser can return it. */
__attribute__((format(printf, 2, 3))) bool problem_set(struct problem *problem, const char *format, ...);

/* ---- Reads the numbers that options take ---- */

/* Reads digits alone, of a number below 2^64. */
bool number_parse_digits(const char *text, size_t length, uint64_t *value);

/* Digits, perhaps with a decimal point and more digits; then nothing, or K, M, G or T (powers of 1024), or eN (times
 * 10^N), or after digits alone ^N (to the power of N). The number that this makes must be whole and below 2^64. */
bool number_parse(const char *text, uint64_t *value);

/* ---- Prints sizes in binary units, and compares tables with the least that their fingerprints need ---- */

/* size_print writes at most so many bytes, the terminating NUL included. */
enum { SIZE_LENGTH = 24 };

/* Writes bytes as `17 B`, `1.5 KiB`, `640 MiB`. */
void size_print(char text[SIZE_LENGTH], double bytes);

/* It is what a table takes, or 0 if there are no fingerprints. */
struct density {
    double bits;  /* So many bits are stored per fingerprint. */
    double limit; /* idx_information_limit returns it. */
    double ratio; /* It is the first divided by the second. */
};

/* Returns the density of a table of `bytes` that holds so many fingerprints of `bits` bits. */
struct density density_of(double bytes, uint64_t fingerprints, unsigned bits);

/* The mean of all tables: a format of its bits and its ratio. */
#define DENSITY_MEAN_FORMAT                                                                                            \
    "mean of the tables: %.3f bits per fingerprint, %.4f times the limit for uniform fingerprints; less is better"

/* ---- Reads and writes fingerprints in text, without I/O ---- */

enum notation {
    NOTATION_HEX,    /* An optional 0x is followed by as many hex digits as the bits take. */
    NOTATION_DEC,    /* It is unsigned decimal. */
    NOTATION_SIGNED, /* It is the two's complement of the fingerprint's bits, in decimal. */
};

/* The names are in the order of the enum. */
extern const char *const notation_names[];

/* notation_print writes at most so many bytes. */
enum { NOTATION_MAX_LENGTH = 20 };

/* Reads a fingerprint of `bits` bits that takes up all of `text`. */
bool notation_parse(enum notation notation, unsigned bits, const char *text, size_t length, uint64_t *fingerprint,
                    struct problem *problem);

/* Writes a fingerprint into at least NOTATION_MAX_LENGTH bytes, without a terminating NUL, and returns its length. */
size_t notation_print(enum notation notation, unsigned bits, uint64_t fingerprint, char *text);

/* Writes a number in decimal into at least NOTATION_MAX_LENGTH bytes, without a terminating NUL, and returns its
 * length. */
size_t notation_print_decimal(uint64_t number, char *text);

/* ---- Bytes from outside, written so that they do no harm ---- */

/* Escaped IDs: an ID that has a control character (bytes 0 to 31, and 127) is written behind one more tab, with \t, \n
 * and \\ in place of a tab, a newline and a backslash, and \xNN in place of any other control character. So it can
 * neither end a line nor pass for a column. Printable text: a name of a file, or other text, that is shown on a
 * terminal neither moves its cursor nor ends its line. Neither of the two does I/O or allocates memory. */

/* Returns whether an ID has to be escaped. */
bool escape_is_needed(const char *id, size_t length);

/* One byte becomes at most so many. */
enum { ESCAPE_MOST = 4 };

/* Writes a byte as it is in an escaped ID. Returns the length of that. */
size_t escape_byte(char byte, char text[ESCAPE_MOST]);

/* Reads the escape sequence at `at`, which begins with a backslash and ends before `end`. Sets *byte, and returns the
 * length of the sequence, or 0 if it is none. */
size_t escape_read(const char *at, const char *end, char *byte);

/* Replaces an escaped ID by the original one, in place. Returns its length. */
size_t escape_undo(char *id, size_t length);

/* printable_piece writes at most so many bytes, the terminating NUL included. */
enum { PRINTABLE_PIECE = 17 };

/* Writes the first character of a text that is not empty: as it is, or each of its bytes as \xNN if it is a control
 * character, ends a line, changes the direction of writing, or is not UTF-8. Returns its length in the text. */
size_t printable_piece(const char *text, char piece[PRINTABLE_PIECE]);

bool printable_is_utf8(const void *bytes, size_t length);

#endif
