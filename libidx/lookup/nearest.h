/* nearest.h: keeps the nearest matches of queries, which are found in any order. */
#ifndef IDX_LIBIDX_NEAREST_H
#define IDX_LIBIDX_NEAREST_H

#include <idx.h>

/* The nearest matches of each query so far, up to `capacity` of them, as a heap with the farthest on top. Those of
 * query q begin at matches[q * capacity]. Of equal distances, the smaller fingerprint is nearer. */
struct idxi_nearest {
    struct idx_match *matches;
    size_t capacity;
    size_t *counts; /* how many matches each query had, in the heap or not; the caller sets 0 at first */
};

/* Counts a match of query number `query`, and adds it to the query's heap. If the heap is full, the match takes the
 * place of the farthest one, or is dropped if it is the farthest itself. This is an idxi_match_visitor, whose context
 * is a struct idxi_nearest. Returns true. */
bool idxi_nearest_add(void *context, size_t query, const struct idx_match *match);

/* Turns the heap of query number `query` into an array that ascends by distance, then by fingerprint. No match of the
 * query may be added afterwards. */
void idxi_nearest_sort(const struct idxi_nearest *nearest, size_t query);

#endif
