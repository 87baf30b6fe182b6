/* sorting.h: sorts fingerprints into buckets by some of their bits, on several threads. */
#ifndef IDX_LIBIDX_SORTING_H
#define IDX_LIBIDX_SORTING_H

#include "libidx/base/base.h"
#include "libidx/fingerprints/compare.h"

/* What to sort, where to, and how. */
struct idxi_sorting {
    const struct idxi_compare_way *way;
    unsigned threads;               /* 1 or more; does not matter if `counts` is NULL */
    struct idxi_progress *progress; /* asked whether to go on; may be NULL if `counts` is */
    uint32_t *counts;               /* idxi_get_counts_bytes for each thread; NULL: the calling thread sorts alone */
    const uint64_t *from;           /* `count` fingerprints, fewer than 2^32 */
    size_t count;
    uint64_t mask;          /* the bits to sort by */
    struct idxi_buckets to; /* room for all of them, allocated by the caller */
};

/* Returns how many bytes the buckets of `count` fingerprints take, if their mask has `width` bits. */
uint64_t idxi_get_buckets_bytes(size_t count, unsigned width);

/* Returns how many bytes the counts of one thread take, if the mask has `width` bits. */
size_t idxi_get_counts_bytes(unsigned width);

/* Sorts the fingerprints by the bits of sorting->mask into sorting->to. Within a bucket they keep their order. Errors:
 * IDX_CANCELLED. */
enum idx_status idxi_sort_into_buckets(struct idxi_sorting *sorting, struct idx_error *error);

#endif
