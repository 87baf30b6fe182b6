/* difference.h: finds which words of two texts differ. As many as possible are matched in order; the others differ. */
#ifndef IDX_TOOLS_REPORT_DIFFERENCE_H
#define IDX_TOOLS_REPORT_DIFFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The words of a text. */
struct words {
    const uint64_t *hashes;
    bool *differs; /* One for each word. */
    size_t count;
};

/* Sets which words differ. Memory and time are proportional to the words. Where texts differ in more than some thousand
 * words, more words may be marked than necessary. Returns false if memory ran out. */
bool difference_find(struct words *a, struct words *b);

#endif
