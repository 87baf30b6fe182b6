/* sort.h: the sorts that building needs, all radix sorts, all stable. */
#ifndef IDX_LIBIDX_SORT_H
#define IDX_LIBIDX_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/permute.h"

/* Sorts fingerprints ascending, each with its value (`values` may be NULL); equal fingerprints stay in their order.
 * With `by_value`, equal fingerprints are sorted by value. The spares hold as many elements and are overwritten. */
void idxi_sort_pairs(uint64_t *fingerprints, uint64_t *values, size_t count, bool by_value, uint64_t *spare,
                     uint64_t *spare_values);

/* Makes a table's order from fingerprints that ascend: permuted ones, sorted by the bits of the mask alone, since the
 * rest is in order already (SPEC.md, chapter 3). `permuted` and `spare` hold `count` elements each; returns whichever
 * of the two the result is in. */
uint64_t *idxi_sort_table(const uint64_t *fingerprints, size_t count, const struct idxf_permutation *permutation,
                          unsigned prefix, uint64_t *permuted, uint64_t *spare);

#endif
