/* two_way.h: merges two arrays, without branches that the processor could mispredict. */
#ifndef IDX_LIBIDX_TWO_WAY_H
#define IDX_LIBIDX_TWO_WAY_H

#include <stddef.h>
#include <stdint.h>

/* Two ascending sides, a and b, and the arrays `out` and `out_values` into which they are merged. a_values[i] is the
 * value of the entry with the fingerprint a[i], and so on. Where entries have no values, these pointers are NULL. */
struct idxi_sides {
    const uint64_t *a, *a_values, *b, *b_values;
    uint64_t *out, *out_values;
};

/* Merges the sides by fingerprint, then value, and writes the first `count` entries. Each side must have `count`
 * entries or more. Returns how many of those written are from a; the others are from b. */
size_t idxi_merge_entries(const struct idxi_sides *sides, size_t count);

/* Does what idxi_merge_entries does for fingerprints alone, without reading or writing values. */
size_t idxi_merge_fingerprints(const struct idxi_sides *sides, size_t count);

#endif
