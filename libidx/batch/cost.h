/* cost.h: what the ways to compare many with many are expected to take, so that the fastest is taken. bench/pairs
 * prints what was expected beside what was measured. */
#ifndef IDX_LIBIDX_BATCH_COST_H
#define IDX_LIBIDX_BATCH_COST_H

#include "libidx/fingerprints/times.h"
#include "libidx/view/index.h"

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

/* The fingerprints that the segments of an index have. */
uint64_t idxi_count_fingerprints(const struct idx_index *index);

/* Streaming all fingerprints of an index. */
double idxi_cost_of_streaming(const struct idx_index *index, size_t queries, unsigned distance, uint64_t memory);

/* Searching so many fingerprints in memory, those of `a` with those of `b`, or, where `b` is 0, with each other. */
double idxi_cost_of_arrays(unsigned distance, unsigned bits, uint64_t a, uint64_t b);

/* Going through the tables of index `a` for its pairs, or, where `b` is not NULL, through those of both. */
double idxi_cost_of_tables(const struct idx_index *a, const struct idx_index *b, unsigned distance);

#endif
