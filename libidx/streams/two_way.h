/* two_way.h: merges two arrays, without branches that the processor could mispredict. */
#ifndef IDX_LIBIDX_TWO_WAY_H
#define IDX_LIBIDX_TWO_WAY_H

#include <stddef.h>
#include <stdint.h>

/* Two ascending sides, a and b, and the arrays into which they are merged. */
struct idxi_sides {
    const uint64_t *a, *a_values, *b, *b_values;
    uint64_t *out, *out_values;
};

/* Merges `count` entries by fingerprint, then value; each side has as many or more. Returns how many come from a. */
size_t idxi_merge_entries(const struct idxi_sides *sides, size_t count);

/* Does the same for fingerprints alone, without reading or writing values. */
size_t idxi_merge_fingerprints(const struct idxi_sides *sides, size_t count);

#endif
