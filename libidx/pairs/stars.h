/* stars.h: makes stars from pairs in any order, with memory for a bounded number of pairs. In a star, a representative
 * has all members near to itself. The caller puts all pairs again and again until every star is made; each time, the
 * pairs of the next most preferred fingerprints are stored, as many as fit, unless one of a pair is in a star
 * already. */
#ifndef IDX_LIBIDX_STARS_H
#define IDX_LIBIDX_STARS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct idxi_stars {
    uint32_t *roots;      /* each number's representative, or itself; the caller's array */
    uint64_t *pairs;      /* (smaller number) · 2^32 + larger number */
    uint64_t *spare;      /* room to sort as many pairs */
    size_t count, most;   /* how many pairs are stored, and how many fit */
    uint64_t from, below; /* pairs are stored whose smaller number is in [from, below) */
};

/* Begins stars of `count` numbers, each of which is its own root. `memory` is in bytes, at least 16 for each number and
 * 16 more. Returns false if memory is short. Call idxi_stars_free in either case. */
bool idxi_stars_make(struct idxi_stars *stars, uint32_t *roots, size_t count, uint64_t memory);

/* Stores a near pair, its two numbers in either order, if its stars are to be made next and there is room. Each pair
 * must be put once, until idxi_stars_end. */
void idxi_stars_put(struct idxi_stars *stars, uint32_t a, uint32_t b);

/* Makes stars of what was stored, after all pairs were put. Returns true if all stars are made; else all pairs must be
 * put again. */
bool idxi_stars_end(struct idxi_stars *stars);

void idxi_stars_free(struct idxi_stars *stars);

/* Adds one pair to the stars; pairs must come in ascending order. A smaller number that is in no star yet is a
 * representative, and takes the larger one into its star if that is in none, too. */
static inline void idxi_star_take(uint32_t *roots, uint32_t smaller, uint32_t larger) {
    if (roots[smaller] == smaller && roots[larger] == larger) roots[larger] = smaller;
}

#endif
