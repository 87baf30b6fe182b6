/* cost.h: what the ways to compare many with many are expected to take, so that the fastest is taken. All that they are
 * expected by is here, and in balls.c for arrays: nanoseconds on one core of a typical server. bench/pairs
 * prints what was expected beside what was measured. */
#ifndef IDX_LIBIDX_LOOKUP_COST_H
#define IDX_LIBIDX_LOOKUP_COST_H

#include "libidx/view/index.h"

/* ---- What things take ---- */

/* A probe for one query after the other, the next ones asked for ahead, of a table in memory, and of one that caches
 * hold; and where queries are in the table's order, so that its next line is mostly in a cache. */
#define IDXI_PROBE_TIME 90.0
#define IDXI_CACHED_PROBE_TIME 65.0
#define IDXI_ORDERED_PROBE_TIME 67.0

/* A probe of a table on disk, a read at random with others under way beside it; and a byte that is read together with
 * those beside it. */
#define IDXI_DISK_PROBE_TIME 20000.0
#define IDXI_DISK_BYTE_TIME 1.0

/* A byte of blocks, decoded and checked; and a fingerprint. */
#define IDXI_DECODE_BYTE_TIME 0.8
#define IDXI_DECODE_TIME 2.0

/* A fingerprint that is put into an array in memory that was not used before. Of so few, that are searched again and
 * again, this takes nothing. */
#define IDXI_ARRAY_TIME 12.0
#define IDXI_CACHED_ARRAYS 131072.0

/* A query: permuted and sorted for a table; looked for, flipped, in a range that was decoded; sorted among those past
 * which fingerprints stream; found again there for its matches, about one; and put into a bucket of each ball. */
#define IDXI_SORT_QUERY_TIME 30.0
#define IDXI_SEARCH_TIME 8.5
#define IDXI_DISTINCT_TIME 40.0
#define IDXI_FIND_TIME 50.0
#define IDXI_INSERT_TIME 12.0

/* A fingerprint that streams past a ball's queries, about IDXI_MEMBERS or more of which share its bits; if some of
 * these seem near, or are too many to be compared at once; and if all queries are too many for the caches, so that
 * fingerprints are sorted before. */
#define IDXI_MEMBERS 8
#define IDXI_MEET_TIME 1.3
#define IDXI_SEEMING_TIME 10.0
#define IDXI_CACHED_QUERIES 131072
#define IDXI_PARTITION_TIME 3.0

/* Tables of so many bytes are mostly in caches. */
#define IDXI_CACHED_TABLES ((uint64_t)32 << 20)

/* A probe for one of many queries in the table's order; and decoding so many blocks, one after the other. */
static inline double idxi_ordered_probe_time(const struct idxi_table *table) {
    return table->on_disk ? IDXI_DISK_PROBE_TIME : IDXI_ORDERED_PROBE_TIME;
}
static inline double idxi_decode_time(const struct idxi_table *table, uint64_t blocks) {
    double byte = IDXI_DECODE_BYTE_TIME + (table->on_disk ? IDXI_DISK_BYTE_TIME : 0);
    return (double)blocks * table->header.block_size * byte;
}

/* ---- What the ways take ---- */

/* Probing for each query. */
double idxi_cost_of_probing(const struct idx_index *index, size_t queries, unsigned distance);

/* Sweeping along the tables (sweep.h). */
double idxi_cost_of_sweeping(const struct idx_index *index, size_t queries, unsigned distance);

/* Fingerprints that stream past queries in memory (streaming.h). */
struct idxi_streaming_cost {
    unsigned width;     /* bits of the balls in which they meet queries; 0: they are searched as arrays */
    double nanoseconds; /* of all fingerprints */
};

/* So many fingerprints; UINT64_MAX: any number. Where queries need more than `memory` bytes for their buckets, arrays
 * are chosen. */
struct idxi_streaming_cost idxi_cost_of_passing(size_t queries, unsigned bits, unsigned distance, uint64_t fingerprints,
                                                uint64_t memory);

/* Streaming all fingerprints of an index; and how many these are. */
uint64_t idxi_count_streamed(const struct idx_index *index);
double idxi_cost_of_streaming(const struct idx_index *index, size_t queries, unsigned distance, uint64_t memory);

/* Searching so many fingerprints in memory, those of `a` with those of `b`, or, where `b` is 0, with each other. */
double idxi_cost_of_arrays(unsigned distance, unsigned bits, uint64_t a, uint64_t b);

/* Going through the tables of index `a` for its pairs, or, where `b` is not NULL, through those of both. */
double idxi_cost_of_tables(const struct idx_index *a, const struct idx_index *b, unsigned distance);

#endif
