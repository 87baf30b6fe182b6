/* two_way.h: merges two arrays, without branches that the processor could mispredict. */
#ifndef IDX_LIBIDX_TWO_WAY_H
#define IDX_LIBIDX_TWO_WAY_H

#include <stddef.h>
#include <stdint.h>

/* Two ascending sides, a and b, and the arrays into which they are merged. Values are those of the entries with the
 * same index; where entries have none, these pointers are NULL. */
struct idxi_sides {
    const uint64_t *a, *a_values, *b, *b_values;
    uint64_t *out, *out_values;
};

/* Writes the first `count` entries of the merged sides, ordered by fingerprint, then value. Each side must have `count`
 * entries or more. Returns how many come from a. */
size_t idxi_merge_entries(const struct idxi_sides *sides, size_t count);

/* Does the same for fingerprints alone, without reading or writing values. */
size_t idxi_merge_fingerprints(const struct idxi_sides *sides, size_t count);

#endif
