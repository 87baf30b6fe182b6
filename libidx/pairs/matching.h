/* matching.h: finds the pairs among fingerprints in memory that differ in few of some bits, by groups that share some
 * of these, however large the groups are. */
#ifndef IDX_LIBIDX_MATCHING_H
#define IDX_LIBIDX_MATCHING_H

#include "libidx/fingerprints/balls.h"

/* What one thread has. A pair is not found again where it is in one of balls.before, which the owner puts there. */
struct idxi_matching {
    struct idxi_balls balls;
    uint32_t counts[IDXI_SORT_COUNTS];
};

/* Fingerprints, and room for as many. */
struct idxi_matched {
    const uint64_t *at;
    uint64_t *room;
    size_t count;
};

/* Finds pairs of one of `a` and one of `b` with at most `errors` errors in the bits of `narrow`, within the distance;
 * maybe others within that distance; none twice in a call. `b` NULL: pairs within `a`. The fingerprints stay as they
 * are. `ascending`: they ascend, and have the bits above the highest of `narrow` in common, on each side. */
void idxi_match(struct idxi_matching *matching, const struct idxi_matched *a, const struct idxi_matched *b,
                uint64_t narrow, unsigned errors, bool ascending);

#endif
