/* two_way.h: merges two arrays, without branches that the processor could mispredict. */
#ifndef IDX_LIBIDX_TWO_WAY_H
#define IDX_LIBIDX_TWO_WAY_H

#include <stddef.h>
#include <stdint.h>

/* Two sides, a and b, that ascend, and where what they have goes. */
struct idxi_sides {
    const uint64_t *a, *a_values, *b, *b_values;
    uint64_t *out, *out_values;
};

/* Merges the first `count` entries; each side has as many. Returns how many come from a. */
size_t idxi_merge_entries(const struct idxi_sides *sides, size_t count);

/* The same for fingerprints alone: there are no values. */
size_t idxi_merge_fingerprints(const struct idxi_sides *sides, size_t count);

#endif
