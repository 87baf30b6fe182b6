/* unpacked.h: the fingerprints of a segment as plain tables in memory: cut into parts (unpacked_layout.h), for
 * each part all fingerprints are in buckets by its value. A query's buckets are those whose values differ from its own
 * in at most as many bits as the part's radius. Immutable once made: any number of threads may search it. */
#ifndef IDX_LIBIDX_UNPACKED_H
#define IDX_LIBIDX_UNPACKED_H

#include "libidx/base/base.h"
#include "libidx/segment/table_reader.h"

struct idxi_unpacked;

/* How a table is to be unpacked. */
struct idxi_unpacking_options {
    unsigned distance;              /* the largest one that will be searched for */
    uint64_t memory_bytes;          /* the most memory that it may take, also while it is made */
    unsigned threads;               /* at least 1 */
    struct idxi_progress *progress; /* of the phase IDX_PHASE_TABLES */
};

/* Copies all fingerprints of a table, which is not used any more after it. The caller frees *result by
 * idxi_unpacked_free; it is NULL for an empty table, and after an error. Errors: those of table streams, IDX_LIMIT
 * (2^32 - 1 fingerprints or more), IDX_OUT_OF_MEMORY (also if `memory_bytes` does not suffice), IDX_CANCELLED. */
enum idx_status idxi_unpacked_make(struct idxi_unpacked **result, const struct idxi_table *table,
                                   const struct idxi_unpacking_options *options, struct idx_error *error);

/* Frees all memory. Accepts NULL. */
void idxi_unpacked_free(struct idxi_unpacked *unpacked);

/* Returns how many bytes of memory an unpacked table takes in all. It must not be NULL. */
uint64_t idxi_unpacked_count_bytes(const struct idxi_unpacked *unpacked);

/* Returns about how many nanoseconds a query takes if many are searched for together. `distance` is at most that of
 * idxi_unpacked_make. */
double idxi_unpacked_get_nanoseconds(const struct idxi_unpacked *unpacked, unsigned distance);

/* Called once for each fingerprint within the distance of queries[query]. Returns false to stop the search. */
typedef bool (*idxi_near_visitor)(void *context, size_t query, uint64_t fingerprint);

/* An implementation: portable, or with instructions that only some processors have. */
struct idxi_bucket_way;

#define IDXI_MAX_BUCKET_WAYS 4
/* Sets `ways` to the implementations that this processor can run, the fastest last. Returns how many, at least 1. */
size_t idxi_list_bucket_ways(const struct idxi_bucket_way *ways[IDXI_MAX_BUCKET_WAYS]);

/* For each query from queries[begin] to before queries[end], calls `visit` with each fingerprint within `distance`, in
 * no order, until it returns false. `distance` is at most that of idxi_unpacked_make. `way` is the implementation, NULL
 * for the fastest. `context` is passed to `visit`. */
void idxi_unpacked_search(const struct idxi_unpacked *unpacked, const struct idxi_bucket_way *way, unsigned distance,
                          const uint64_t *queries, size_t begin, size_t end, idxi_near_visitor visit, void *context);

#endif
