/* sorting.h: sorts fingerprints into buckets by some of their bits, on several threads. */
#ifndef IDX_LIBIDX_SORTING_H
#define IDX_LIBIDX_SORTING_H

#include "libidx/base/base.h"
#include "libidx/fingerprints/compare.h"

/* What to sort, where to, and how. */
struct idxi_sorting {
    const struct idxi_compare_way *way;
    unsigned threads;
    struct idxi_progress *progress; /* may be NULL if `counts` is */
    uint32_t *counts;               /* room for each thread's counts; NULL: the calling thread sorts alone */
    const uint64_t *from;
    size_t count;
    uint64_t mask;
    struct idxi_buckets to;
};

/* Returns how many bytes the buckets of `count` fingerprints by `width` bits take. */
uint64_t idxi_get_buckets_bytes(size_t count, unsigned width);

/* Returns how many bytes the counts of one thread take, when it sorts by `width` bits. */
size_t idxi_get_counts_bytes(unsigned width);

/* Sorts sorting->count fingerprints, fewer than 2^32, from sorting->from into the buckets sorting->to, which the caller
 * has allocated, by the bits of sorting->mask. Errors: IDX_CANCELLED. */
enum idx_status idxi_sort_into_buckets(struct idxi_sorting *sorting, struct idx_error *error);

#endif
