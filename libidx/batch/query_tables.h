/* query_tables.h: queries in memory, in hash tables. The bits are cut into B parts; the keys of a table are the bits of
 * all parts but as many as there may be errors. A fingerprint near to a query therefore has the same key as the query
 * in at least one table. */
#ifndef IDX_LIBIDX_QUERY_TABLES_H
#define IDX_LIBIDX_QUERY_TABLES_H

#include <idx.h>

#include "format/bytes.h"
#include "format/permute.h"
#include "format/processor.h"
#include "libidx/batch/distinct_queries.h"

#define IDXI_MAX_QUERY_TABLES 64
#define IDXI_MAX_QUERY_PARTS 20

/* Folded queries that can be read beyond the last one. */
#define IDXI_QUERY_PADDING 32

struct idxi_query_table {
    uint64_t mask;
    unsigned move_count;
    struct idxf_move moves[IDXI_MAX_QUERY_PARTS]; /* of its bits alone */
    unsigned key_bits;                            /* the first of its permuted bits */
    unsigned bucket_bits;                         /* the first of these: a bucket fits the caches */
    uint32_t *starts;                             /* of the queries of a key; one more */
    uint32_t *folds, *queries;                    /* queries as folded, and as numbers of distinct ones */
    uint64_t *values;                             /* and as they are */
};

struct idxi_query_tables {
    unsigned bits, distance;
    struct idxi_distinct_queries queries;
    struct idxi_query_table tables[IDXI_MAX_QUERY_TABLES];
    size_t table_count;
};

/* The expected cost on uniform fingerprints. */
struct idxi_passing_cost {
    double nanoseconds; /* per fingerprint, on one thread */
    uint64_t bytes;     /* of the tables, */
    unsigned tables;    /* and how many there are */
};

struct idxi_passing_cost idxi_passing_cost(size_t queries, unsigned bits, unsigned distance);

/* Makes the tables of queries of `bits` bits, for a distance of up to IDX_MAX_K, on up to `threads` threads. The
 * queries can go then. The caller frees *tables. Errors: IDX_LIMIT (2^32 - 1 queries or more), IDX_OUT_OF_MEMORY (also:
 * more than `memory` bytes). */
enum idx_status idxi_query_tables_make(struct idxi_query_tables **tables, const uint64_t *queries, size_t count,
                                       unsigned bits, unsigned distance, uint64_t memory, unsigned threads,
                                       struct idx_error *error);

/* Accepts NULL. */
void idxi_query_tables_free(struct idxi_query_tables *tables);

/* Both halves in one: where fingerprints differ in few bits, so do these. */
static inline uint32_t idxi_fold(uint64_t fingerprint) { return (uint32_t)(fingerprint ^ fingerprint >> 32); }

/* The bits of a table's mask, left-aligned; other bits may follow them. */
IDXF_INLINE uint64_t idxi_permute_key(const struct idxf_move *moves, unsigned count, uint64_t fingerprint) {
    uint64_t permuted = 0;
    if (count == 1) return idxf_rotate_left(fingerprint, moves[0].rotate);
    for (unsigned i = 0; i < count; i++) permuted |= idxf_rotate_left(fingerprint & moves[i].bits, moves[i].rotate);
    return permuted;
}

/* The key of a fingerprint in a table. */
IDXF_INLINE size_t idxi_query_key(const struct idxi_query_table *table, uint64_t fingerprint) {
    return idxf_first_bits(idxi_permute_key(table->moves, table->move_count, fingerprint), table->key_bits);
}

#endif
