/* matching.h: finds the pairs of fingerprints in memory that differ in at most a few of some bits, by groups that agree
 * in some of these, however large the groups are. */
#ifndef IDX_LIBIDX_MATCHING_H
#define IDX_LIBIDX_MATCHING_H

#include "libidx/fingerprints/balls.h"

/* The memory of one thread. Pairs that agree in a mask of balls.before, which the owner fills, are not found again. */
struct idxi_matching {
    struct idxi_balls balls;
    uint32_t counts[IDXI_SORT_COUNTS];
};

/* The fingerprints of one side, which stay as they are, and room to sort a copy of them. */
struct idxi_match_side {
    const uint64_t *values; /* the fingerprints */
    uint64_t *room;
    size_t count;
};

/* Finds the pairs of one fingerprint of `a` and one of `b`, or of two of `a` if `b` is NULL, that are within the
 * distance and differ in at most `errors` bits of `narrow`, and calls the visitor of the comparison with them. It may
 * find other pairs within the distance, but none twice in a call. `ascending`: each side ascends, and all agree in the
 * bits above the highest of `narrow`. */
void idxi_match_sides(struct idxi_matching *matching, const struct idxi_match_side *a, const struct idxi_match_side *b,
                      uint64_t narrow, unsigned errors, bool ascending);

#endif
