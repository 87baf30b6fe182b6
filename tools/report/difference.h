/* difference.h: which words of two texts differ: those that are left when as many as possible stand in both, in order.
 */
#ifndef IDX_TOOLS_DIFFERENCE_H
#define IDX_TOOLS_DIFFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The words of a text. */
struct words {
    const uint64_t *hashes;
    bool *differs; /* set for each */
    size_t count;
};

/* Sets which words differ. Takes memory and time in proportion to the words; where texts differ in more than some
 * thousand words, more may be said to differ than do. False: out of memory. */
bool difference_find(struct words *a, struct words *b);

#endif
