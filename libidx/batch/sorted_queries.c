/* sorted_queries.c: plans the ranges of a table, and sorts and finds queries. */
#include "libidx/batch/sorted_queries.h"

#include <stdlib.h>

#include "libidx/base/base.h"
#include "libidx/streams/sort.h"

/* A table has at most 2^MAX_RANGE_BITS ranges. */
#define MAX_RANGE_BITS 20

/* Ranges are halved until one has at most IDXI_RANGE_BYTES of blocks, or bits that are not flipped would divide it. */
struct idxi_sorted_queries idxi_sorted_queries_plan(const struct idx_index *index, size_t segment, size_t order,
                                                    unsigned distance) {
    const struct idxi_probed_table *probed = &index->probings[distance].tables[order];
    const struct idxi_table *table = &index->segments[segment]->tables[probed->table];
    struct idxi_sorted_queries sorted = {.table = table, .segment = segment, .order = order, .radius = probed->radius};
    sorted.flippable = probed->radius == 0 ? table->prefix : table->prefix - table->spared_bits;
    uint64_t bytes = table->header.blocks * table->header.block_size;
    while (sorted.range_bits < sorted.flippable && sorted.range_bits < MAX_RANGE_BITS &&
           bytes >> sorted.range_bits > IDXI_RANGE_BYTES)
        sorted.range_bits++;
    return sorted;
}

enum idx_status idxi_sorted_queries_sort(struct idxi_sorted_queries *sorted, const uint64_t *queries, size_t count,
                                         uint64_t *spare, struct idx_error *error) {
    size_t ranges = (size_t)1 << sorted->range_bits, next_range = 0;
    sorted->queries = queries;
    sorted->count = count;
    sorted->keys = idxi_array_reserve(count);
    sorted->starts = malloc((ranges + 1) * sizeof *sorted->starts);
    if (sorted->keys == NULL || sorted->starts == NULL) return idxi_fail_memory(error);
    for (size_t i = 0; i < count; i++)
        /* half of the bits are enough to put a query into its place, and the number takes the place of the others */
        sorted->keys[i] = (idxf_permute(&sorted->table->permutation, queries[i]) & ~(uint64_t)UINT32_MAX) | i;
    idxi_sort_even_keys(sorted->keys, count, spare);
    for (size_t i = 0; i < count; i++) {
        size_t range = idxf_get_first_bits(sorted->keys[i], sorted->range_bits);
        while (next_range <= range) sorted->starts[next_range++] = i;
    }
    while (next_range <= ranges) sorted->starts[next_range++] = count;
    return IDX_OK;
}

void idxi_sorted_queries_free(struct idxi_sorted_queries *sorted) {
    idxi_array_release(sorted->keys, sorted->count);
    free(sorted->starts);
}

size_t idxi_sorted_queries_find_first_key(const struct idxi_sorted_queries *sorted, uint64_t value) {
    size_t range = idxf_get_first_bits(value, sorted->range_bits);
    size_t low = sorted->starts[range], high = sorted->starts[range + 1];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sorted->keys[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
