/* stars.h: stars from pairs in any order, in memory for a bounded number of pairs. All pairs are given again and again,
 * until every star is made; each time, those of the most preferred fingerprints that are still free and fit in memory
 * are kept. */
#ifndef IDX_LIBIDX_STARS_H
#define IDX_LIBIDX_STARS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct idxi_stars {
    uint32_t *roots;      /* of each number: its representative, or itself; the caller's */
    uint64_t *pairs;      /* (smaller number) · 2^32 + larger number */
    uint64_t *spare;      /* as many */
    size_t count, most;   /* of pairs */
    uint64_t from, below; /* Pairs are kept whose smaller number is in [from, below). */
};

/* For `count` numbers, of which each is its own root, in `memory` bytes: at least 16 for each number, and 16. False
 * where memory is short. To be freed also then. */
bool idxi_stars_make(struct idxi_stars *stars, uint32_t *roots, size_t count, uint64_t memory);

/* Each pair of near fingerprints once, its two numbers in either order. */
void idxi_stars_put(struct idxi_stars *stars, uint32_t a, uint32_t b);

/* After all pairs. True if all stars are made; else all pairs must be put again. */
bool idxi_stars_end(struct idxi_stars *stars);

void idxi_stars_free(struct idxi_stars *stars);

/* For pairs in ascending order: what is free when it comes as the smaller number becomes a representative, and takes
 * the other if that is free, too. */
static inline void idxi_star_take(uint32_t *roots, uint32_t smaller, uint32_t larger) {
    if (roots[smaller] == smaller && roots[larger] == larger) roots[larger] = smaller;
}

#endif
