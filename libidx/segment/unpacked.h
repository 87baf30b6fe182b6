/* unpacked.h: the fingerprints of a segment as plain tables in memory: cut into parts (unpacked_layout.h), for
 * each part all fingerprints are in buckets by its value. A query's buckets are those whose values differ from its own
 * in at most as many bits as the part's radius. Immutable once made: any number of threads may search it. */
#ifndef IDX_LIBIDX_UNPACKED_H
#define IDX_LIBIDX_UNPACKED_H

#include "libidx/base/base.h"
#include "libidx/segment/table_reader.h"

struct idxi_unpacked;

struct idxi_unpacking {
    unsigned distance;
    uint64_t memory_bytes; /* the most that it may take, also while it is made */
    unsigned threads;
    struct idxi_progress *progress;
};

/* Unpacks a table, which stays the caller's. Sets *result to NULL where it is empty. The caller frees *result by
 * idxi_unpacked_free. Errors: those of table streams, IDX_OUT_OF_MEMORY (more than `memory_bytes`, too), IDX_LIMIT
 * (2^32 - 1 fingerprints or more), IDX_CANCELLED. */
enum idx_status idxi_unpacked_make(struct idxi_unpacked **result, const struct idxi_table *table,
                                   const struct idxi_unpacking *unpacking, struct idx_error *error);

/* Frees all memory. Accepts NULL. */
void idxi_unpacked_free(struct idxi_unpacked *unpacked);

/* Returns how many bytes of memory the struct, its arrays and its patterns take. */
uint64_t idxi_unpacked_count_bytes(const struct idxi_unpacked *unpacked);

/* Returns about how many nanoseconds a query with this distance takes, if many are searched for together. */
double idxi_unpacked_get_time(const struct idxi_unpacked *unpacked, unsigned distance);

/* Called once for each fingerprint that is near to query number `query`. Returns whether to go on. */
typedef bool (*idxi_near_visitor)(void *context, size_t query, uint64_t fingerprint);

/* An implementation: portable, or with instructions that only some processors have. */
struct idxi_bucket_way;

#define IDXI_MAX_BUCKET_WAYS 4
/* Lists the implementations that this processor can run, the fastest last. Returns their number, at least 1. */
size_t idxi_list_bucket_ways(const struct idxi_bucket_way *ways[IDXI_MAX_BUCKET_WAYS]);

/* Visits all fingerprints within `distance`, at most that of idxi_unpacked_make, of the queries from number `begin` to
 * before `end`, until the visitor returns false. `way` is the implementation, NULL for the fastest. */
void idxi_unpacked_search(const struct idxi_unpacked *unpacked, const struct idxi_bucket_way *way, unsigned distance,
                          const uint64_t *queries, size_t begin, size_t end, idxi_near_visitor visit, void *context);

#endif
