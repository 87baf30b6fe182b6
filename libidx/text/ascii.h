/* ascii.h: the words of ASCII text without ICU, 64 characters at a time. */
#ifndef IDX_LIBIDX_TEXT_ASCII_H
#define IDX_LIBIDX_TEXT_ASCII_H

#include <stddef.h>
#include <stdint.h>

/* The classes of 64 characters: bit i belongs to the character at i. Other ASCII characters are in no class. */
struct idxt_ascii_block {
    uint64_t letters;     /* A to Z, a to z */
    uint64_t digits;      /* 0 to 9 */
    uint64_t underscores; /* _ */
    uint64_t dots;        /* . and ': inside words and inside numbers they don't end them */
    uint64_t commas;      /* , and ;: the same inside numbers alone */
    uint64_t blanks;      /* white space: space, and U+0009 to U+000D */
    uint64_t non_ascii;   /* bytes that aren't ASCII */
};

/* Returns the classes of the 64 bytes at `bytes`, and writes these to the 64 bytes at `folded`, with A to Z as a to z.
 * Both functions do the same; the plain one is for tests, and for processors without SSE2. */
struct idxt_ascii_block idxt_ascii_classify(const char *bytes, char *folded);
struct idxt_ascii_block idxt_ascii_classify_plain(const char *bytes, char *folded);

/* Returns how many uint64_t each map of a text of `length` bytes takes: a bit for each byte, and at least one more. */
static inline size_t idxt_ascii_map_size(size_t length) { return length / 64 + 1; }

/* Maps a text of `length` bytes. Each map has idxt_ascii_map_size(length) numbers: byte i of the text has bit i % 64 of
 * number i / 64. Bits past the end of the text are 0, except that an edge may be right at the end.
 *
 *   folded     64 * idxt_ascii_map_size(length) bytes: the text with A to Z as a to z
 *   edges      where words begin and end, by turns: bit i is 1 when a word begins at byte i or ends before it. Holds
 *              for words in stretches of ASCII that begin with white space or with the text, and that end with the text
 *              or before white space
 *   blanks     white space
 *   non_ascii  bytes that aren't ASCII */
void idxt_ascii_map(const char *text, size_t length, char *folded, uint64_t *edges, uint64_t *blanks,
                    uint64_t *non_ascii);

#endif
