/* cost.h: how many nanoseconds the ways to compare many fingerprints with many are expected to take, so that the
 * fastest is chosen. bench/pairs prints these beside what was measured. */
#ifndef IDX_LIBIDX_BATCH_COST_H
#define IDX_LIBIDX_BATCH_COST_H

#include <math.h>

#include "libidx/fingerprints/times.h"
#include "libidx/view/index.h"

/* Returns how many fingerprints of a table are expected to have one prefix: a probe compares its query with all of
 * these. */
static inline double idxi_estimate_probed_fingerprints(const struct idxi_table *table) {
    return ldexp((double)table->header.fingerprints, -(int)table->prefix);
}

/* Returns the expected nanoseconds of one probe of the table, if successive probes come in the order of their prefixes.
 */
static inline double idxi_get_ordered_probe_time(const struct idxi_table *table) {
    if (table->on_disk) return IDXI_DISK_PROBE_TIME;
    return IDXI_ORDERED_PROBE_TIME + idxi_estimate_probed_fingerprints(table) * IDXI_ORDERED_PROBED_TIME;
}

/* Returns the expected nanoseconds of searching a decoded range of the table for one query, with one pattern of flipped
 * bits. */
static inline double idxi_get_search_time(const struct idxi_table *table) {
    return IDXI_SEARCH_TIME + idxi_estimate_probed_fingerprints(table) * IDXI_SEARCHED_TIME;
}

/* Returns the expected nanoseconds of decoding `block_count` successive blocks of a table, and of reading them if it is
 * on disk. */
static inline double idxi_get_decode_time(const struct idxi_table *table, uint64_t block_count) {
    double time_per_byte = IDXI_DECODE_BYTE_TIME + (table->on_disk ? IDXI_DISK_BYTE_TIME : 0);
    return (double)block_count * table->header.block_size * time_per_byte;
}

/* ---- Nanoseconds of each way ---- */

/* Returns the expected nanoseconds of probing for all of `query_count` queries, one after the other, on one thread.
 * Beyond k, only segments that are unpacked in memory count, since only these can be searched. */
double idxi_estimate_probing_time(const struct idx_index *index, size_t query_count, unsigned distance);

/* Returns the expected nanoseconds of sweeping `query_count` queries along the tables (sweep.h), on one thread.
 * `distance` is at most k. */
double idxi_estimate_sweeping_time(const struct idx_index *index, size_t query_count, unsigned distance);

/* The cost of streaming fingerprints past queries in memory (streaming.h). */
struct idxi_streaming_cost {
    unsigned width;     /* bits of each ball; 0: fingerprints and queries are searched as arrays */
    double nanoseconds; /* for all fingerprints together */
};

/* Chooses between balls and arrays to compare `fingerprint_count` fingerprints of `bits` bits with `query_count`
 * queries, and returns the faster way with its cost on one thread. `fingerprint_count` is UINT64_MAX if the number is
 * unknown. If the buckets of the queries would need more than `memory` bytes, it chooses arrays. */
struct idxi_streaming_cost idxi_choose_streaming_way(size_t query_count, unsigned bits, unsigned distance,
                                                     uint64_t fingerprint_count, uint64_t memory);

/* Returns the number of fingerprints in the segments of an index. One that several segments have counts in each. */
uint64_t idxi_count_fingerprints(const struct idx_index *index);

/* Returns the expected nanoseconds of streaming all fingerprints of an index past `query_count` queries, on one thread.
 * The stream may use `memory` bytes. */
double idxi_estimate_streaming_time(const struct idx_index *index, size_t query_count, unsigned distance,
                                    uint64_t memory);

/* Returns the expected nanoseconds of finding the pairs between two arrays of `a_count` and `b_count` fingerprints
 * of `bits` bits, or if `b_count` is 0, within one, on one thread with the widest instructions. */
double idxi_estimate_arrays_time(unsigned distance, unsigned bits, uint64_t a_count, uint64_t b_count);

/* Returns the expected nanoseconds of finding the pairs within index `a` by its tables, or if `b` is not NULL, between
 * both indexes, which then have the same tables. `distance` is at most k. */
double idxi_estimate_tables_time(const struct idx_index *a, const struct idx_index *b, unsigned distance);

#endif
