/* stars.h: makes stars from pairs in any order, with memory for a bounded number of pairs. In a star, all members are
 * near to the representative. The caller goes through all pairs again and again until every star is made. Each time,
 * the pairs of the next most preferred fingerprints are stored, as many as fit, except pairs with a member of a star
 * that is already made. */
#ifndef IDX_LIBIDX_STARS_H
#define IDX_LIBIDX_STARS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct idxi_stars {
    uint32_t *roots;        /* each number's representative, or itself; the caller's array */
    uint64_t *pairs;        /* (smaller number) · 2^32 + larger number */
    uint64_t *spare;        /* memory to sort as many pairs */
    size_t count, capacity; /* how many pairs are stored, and how many fit */
    uint64_t from, below;   /* pairs are stored whose smaller number is in [from, below) */
};

/* Begins stars of `count` numbers. roots[i] must be i for each, and the array must outlive *stars. `memory` is how many
 * bytes the pairs may take, at least 16 for each number and 16 more. Returns false if memory runs out. Call
 * idxi_stars_free in either case. */
bool idxi_stars_begin(struct idxi_stars *stars, uint32_t *roots, size_t count, uint64_t memory);

/* Stores a near pair, its two numbers in either order, if its smaller number is one of those whose stars are made next.
 * The caller calls it once for each pair, and then idxi_stars_make_stored. */
void idxi_stars_store_pair(struct idxi_stars *stars, uint32_t a, uint32_t b);

/* Makes stars of the stored pairs, and forgets these. Returns true if all stars are made. Else some pairs did not fit,
 * and the caller must call idxi_stars_store_pair for all pairs again. */
bool idxi_stars_make_stored(struct idxi_stars *stars);

/* Frees the memory of the pairs. */
void idxi_stars_free(struct idxi_stars *stars);

/* Puts the larger number of a pair into the star of the smaller one, if neither is in a star yet: then the smaller one
 * is a representative. Pairs must come in ascending order. */
static inline void idxi_star_add_pair(uint32_t *roots, uint32_t smaller, uint32_t larger) {
    if (roots[smaller] == smaller && roots[larger] == larger) roots[larger] = smaller;
}

#endif
