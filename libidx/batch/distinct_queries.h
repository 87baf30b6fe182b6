/* distinct_queries.h: the queries of a batch, each value once, with the numbers of all queries that have it. */
#ifndef IDX_LIBIDX_DISTINCT_QUERIES_H
#define IDX_LIBIDX_DISTINCT_QUERIES_H

#include <idx.h>

struct idxi_distinct_queries {
    uint64_t *values;  /* ascending */
    size_t count;      /* how many distinct values there are */
    uint64_t *numbers; /* the numbers of all queries, those of one value together */
    uint32_t *firsts;  /* where in `numbers` those of each value begin; the last entry is the end */
};

/* Copies `count` queries to *distinct: sorts them, keeps each value once, and lists the numbers, 0 to count - 1, of the
 * queries that have it. Call idxi_distinct_queries_free even if this fails. Errors: IDX_LIMIT (2^32 - 1 queries or
 * more), IDX_OUT_OF_MEMORY. */
enum idx_status idxi_distinct_queries_make(struct idxi_distinct_queries *distinct, const uint64_t *queries,
                                           size_t count, struct idx_error *error);

/* Frees the arrays. */
void idxi_distinct_queries_free(struct idxi_distinct_queries *distinct);

#endif
