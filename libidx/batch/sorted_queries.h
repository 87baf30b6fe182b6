/* sorted_queries.h: a sweep's queries in the order of one table, which is divided into ranges by its leading bits. */
#ifndef IDX_LIBIDX_SORTED_QUERIES_H
#define IDX_LIBIDX_SORTED_QUERIES_H

#include "format/bytes.h"
#include "libidx/view/index.h"

/* How many bytes of blocks a range has at most, so that it fits the caches. */
#define IDXI_RANGE_BYTES ((uint64_t)256 << 10)

struct idxi_sorted_queries {
    const struct idxi_table *table;
    size_t segment, order;      /* the table's segment, and its place in the probing */
    unsigned radius, flippable; /* up to `radius` of the first `flippable` bits may be flipped */
    unsigned range_bits;
    size_t first_range; /* how many ranges the tables before this one have */

    /* The following are set by idxi_sorted_queries_sort. */
    const uint64_t *queries;
    size_t count;
    uint64_t *keys; /* ascending: the first half of the permuted query's bits, then its number */
    size_t *starts; /* where each range's keys begin, and one more for the end */
};

/* Returns the ranges of a table, without queries yet: of table number `order` among those that are probed at
 * `distance`, at most k, in segment number `segment`. The table is cut by some of the bits that may be flipped, or with
 * radius 0 by some of the prefix. So one probe never needs several ranges. The caller sets first_range. */
struct idxi_sorted_queries idxi_sorted_queries_plan(const struct idx_index *index, size_t segment, size_t order,
                                                    unsigned distance);

/* Sorts fewer than 2^32 queries for the table of *sorted, as idxi_sorted_queries_plan has set it. The queries must
 * outlive it. `spare` is scratch memory for `count` numbers. Call idxi_sorted_queries_free even if this fails. Errors:
 * IDX_OUT_OF_MEMORY. */
enum idx_status idxi_sorted_queries_sort(struct idxi_sorted_queries *sorted, const uint64_t *queries, size_t count,
                                         uint64_t *spare, struct idx_error *error);

/* Frees the sorted keys, if there are any. */
void idxi_sorted_queries_free(struct idxi_sorted_queries *sorted);

/* Returns the place of the first key that is not below the value, or sorted->count if all are. The lower 32 bits of the
 * value should be 0, since keys have numbers there. */
size_t idxi_sorted_queries_find_first_key(const struct idxi_sorted_queries *sorted, uint64_t value);

/* Finds the keys whose first `bits` bits, 32 at most, are those of the value. Sets *begin to the place of the first
 * one, and *end to the place behind the last one. */
static inline void idxi_sorted_queries_find_range(const struct idxi_sorted_queries *sorted, uint64_t value,
                                                  unsigned bits, size_t *begin, size_t *end) {
    uint64_t rest_mask = idxf_low_bits(64 - bits), last = value | rest_mask;
    *begin = idxi_sorted_queries_find_first_key(sorted, value & ~rest_mask);
    *end = last == UINT64_MAX ? sorted->count : idxi_sorted_queries_find_first_key(sorted, last + 1);
}

#endif
