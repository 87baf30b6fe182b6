/* distinct_queries.c: sorts the queries, and drops those that repeat. */
#include "libidx/batch/distinct_queries.h"

#include <stdlib.h>
#include <string.h>

#include "libidx/base/base.h"
#include "libidx/streams/sort.h"

/* Keeps one of each run of equal values among `count` sorted ones in distinct->values, and sets distinct->firsts to
 * where each run begins in distinct->numbers. */
static void keep_distinct_values(struct idxi_distinct_queries *distinct, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && distinct->values[i] == distinct->values[distinct->count - 1]) continue;
        distinct->values[distinct->count] = distinct->values[i];
        distinct->firsts[distinct->count++] = (uint32_t)i;
    }
    distinct->firsts[distinct->count] = (uint32_t)count;
}

enum idx_status idxi_distinct_queries_make(struct idxi_distinct_queries *distinct, const uint64_t *queries,
                                           size_t count, struct idx_error *error) {
    *distinct = (struct idxi_distinct_queries){0};
    if (count >= UINT32_MAX) return idxi_fail(error, IDX_LIMIT, NULL, "%zu queries: the maximum is 2^32 - 2", count);
    uint64_t *spare = malloc((count + 1) * sizeof *spare), *spare_numbers = malloc((count + 1) * sizeof *spare);
    distinct->values = malloc((count + 1) * sizeof *distinct->values);
    distinct->numbers = malloc((count + 1) * sizeof *distinct->numbers);
    distinct->firsts = malloc((count + 1) * sizeof *distinct->firsts);
    bool has_memory = spare != NULL && spare_numbers != NULL && distinct->values != NULL && distinct->numbers != NULL &&
                      distinct->firsts != NULL;
    if (has_memory) {
        if (count > 0) memcpy(distinct->values, queries, count * sizeof *queries);
        for (size_t i = 0; i < count; i++) distinct->numbers[i] = i;
        idxi_sort_pairs(distinct->values, distinct->numbers, count, false, spare, spare_numbers);
        keep_distinct_values(distinct, count);
    }
    free(spare);
    free(spare_numbers);
    return has_memory ? IDX_OK : idxi_fail_memory(error);
}

void idxi_distinct_queries_free(struct idxi_distinct_queries *distinct) {
    free(distinct->values);
    free(distinct->numbers);
    free(distinct->firsts);
}
