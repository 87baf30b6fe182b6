/* matching.h: finds the pairs of fingerprints in memory that differ in a limited number of given bits. They are grouped
 * by some of these bits; groups of any size are handled. */
#ifndef IDX_LIBIDX_MATCHING_H
#define IDX_LIBIDX_MATCHING_H

#include "libidx/fingerprints/balls.h"

/* The memory of one thread. Pairs that agree in a mask of balls.before, which the owner fills, are not found again. */
struct idxi_matching {
    struct idxi_balls balls;
    uint32_t counts[IDXI_SORT_COUNTS];
};

/* The fingerprints of one side, which are not changed, and memory to sort a copy of them. */
struct idxi_match_side {
    const uint64_t *values; /* the fingerprints */
    uint64_t *spare;        /* for `count` fingerprints; overwritten */
    size_t count;
};

/* Finds pairs of one fingerprint of `a` and one of `b`, or of two of `a` if `b` is NULL, and calls the visitor of
 * matching->balls.comparison with them: all that are within the distance and differ in at most `max_errors` bits of
 * `error_mask`. It may find other pairs within the distance, but none twice in a call. `ascending` says that each side
 * ascends and all fingerprints agree in the bits above the highest one of `error_mask`, which saves sorting once. */
void idxi_match_sides(struct idxi_matching *matching, const struct idxi_match_side *a, const struct idxi_match_side *b,
                      uint64_t error_mask, unsigned max_errors, bool ascending);

#endif
