/* sort.h: sorts of fingerprints and keys, all radix sorts, all stable. Each runs in the calling thread alone; any
 * number of threads may sort arrays of their own. Arrays in huge pages, aligned to 64 bytes, are sorted fastest. From
 * 2^18 elements on, up to 512 KiB more are allocated; without that, sorting is slower. */
#ifndef IDX_LIBIDX_SORT_H
#define IDX_LIBIDX_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sorts fingerprints ascending, each with its value (`values` may be NULL); equal fingerprints stay in their order.
 * With `by_value`, equal fingerprints are sorted by value. The spares hold as many elements and are overwritten; there
 * is no spare of values that are NULL. */
void idxi_sort_pairs(uint64_t *fingerprints, uint64_t *values, size_t count, bool by_value, uint64_t *spare,
                     uint64_t *spare_values);

/* Sorts fewer than 2^32 keys, faster than idxi_sort_pairs where they are spread evenly over all values. The spare holds
 * as many and is overwritten. */
void idxi_sort_even_keys(uint64_t *keys, size_t count, uint64_t *spare);

/* Sorts permuted, left-aligned fingerprints that are in order within each prefix of `prefix` bits, 0 to 64, by the
 * prefix alone (SPEC.md, chapter 2). The spare holds as many elements and is overwritten. */
void idxi_sort_prefixes(uint64_t *fingerprints, size_t count, unsigned prefix, uint64_t *spare);

/* Whether a mask below 2^bits is the highest of `bits` bits (1 to 64), some or none or all: then permuting is a shift,
 * and ascending fingerprints stay in order. */
bool idxi_mask_leads(uint64_t mask, unsigned bits);

#endif
