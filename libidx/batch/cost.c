/* cost.c: the formulas of cost.h, with the times of fingerprints/times.h. */
#include "libidx/batch/cost.h"

#include "format/processor.h"
#include "libidx/base/base.h"
#include "libidx/batch/sorted_queries.h"
#include "libidx/batch/streaming.h"
#include "libidx/fingerprints/balls.h"
#include "libidx/lookup/search.h"

#include <idx_planning.h>

/* ---- Batches ---- */

/* Returns the nanoseconds of a probe that finds nothing. In memory, they depend on the bytes of all tables together
 * that are probed at the distance, since these compete for the caches. */
static double get_probe_time(const struct idx_index *index, unsigned distance) {
    uint64_t bytes = 0;
    if (index->options.residence == IDX_RESIDENCE_DISK) return IDXI_DISK_PROBE_TIME;
    for (size_t i = 0; i < index->manifest->segment_count; i++)
        for (size_t j = 0; j < index->probings[distance].count; j++)
            bytes += index->segments[i]->tables[index->probings[distance].tables[j].table].layout.file_size;
    return bytes > IDXI_FAR_TABLES ? IDXI_FAR_PROBE_TIME : IDXI_PROBE_TIME;
}

double idxi_estimate_probing_time(const struct idx_index *index, size_t query_count, unsigned distance) {
    const bool by_tables = distance <= index->manifest->k;
    double probe_time = by_tables ? get_probe_time(index, distance) : 0, time = 0; /* beyond k, no table is probed */
    for (size_t i = 0; i < index->manifest->segment_count; i++) {
        const struct idxi_segment *segment = index->segments[i];
        if (segment->unpacked != NULL) {
            time += idxi_unpacked_get_nanoseconds(segment->unpacked, distance);
            continue;
        }
        for (size_t j = 0; by_tables && j < index->probings[distance].count; j++) {
            const struct idxi_probed_table *probed = &index->probings[distance].tables[j];
            const struct idxi_table *table = &segment->tables[probed->table];
            time += idxi_count_probes(table, probed->radius) *
                    (probe_time + idxi_estimate_probed_fingerprints(table) * IDXI_PROBED_TIME);
        }
    }
    return (double)query_count * time;
}

double idxi_estimate_sweeping_time(const struct idx_index *index, size_t query_count, unsigned distance) {
    double time = 0;
    /* For each table, the cheaper of what a sweep can do with a range is assumed for all of its ranges. */
    for (size_t segment_number = 0; segment_number < index->manifest->segment_count; segment_number++) {
        for (size_t order = 0; order < index->probings[distance].count; order++) {
            struct idxi_sorted_queries sorted = idxi_sorted_queries_plan(index, segment_number, order, distance);
            double patterns = (double)query_count * idxi_count_probes(sorted.table, sorted.radius);
            double probing_time = patterns * idxi_get_ordered_probe_time(sorted.table);
            double reading_time = idxi_get_decode_time(sorted.table, sorted.table->header.blocks) +
                                  patterns * idxi_get_search_time(sorted.table);
            time += (double)query_count * IDXI_SORT_QUERY_TIME + fmin(probing_time, reading_time);
        }
    }
    return time;
}

/* Returns the nanoseconds of searching `count` fingerprints of `bits` bits as arrays, `chunk` of them at a
 * time, each time with all queries. `chunk` is 0 only if there are no fingerprints: then it returns 0. */
static double get_chunks_time(size_t query_count, unsigned bits, unsigned distance, uint64_t count, uint64_t chunk) {
    if (chunk == 0) return 0;
    double time = idxi_get_cut_time(idxi_get_widest_compare_way(), distance, bits, (double)query_count, (double)chunk);
    return time * (double)count / (double)chunk;
}

/* Returns the largest width of balls, in bits, at which a bucket still has about IDXI_MIN_BUCKET_QUERIES queries. */
static unsigned choose_ball_width(size_t query_count, unsigned bits, unsigned distance) {
    unsigned width = 0, max_width = bits / (distance + 1);
    while (width < max_width && query_count >> (width + 1) >= IDXI_MIN_BUCKET_QUERIES) width++;
    return width;
}

/* Returns the nanoseconds of comparing one fingerprint with the queries in its bucket of each ball. First the folds of
 * the bucket are compared. Whole queries are compared only if a fold is near by chance, or if the bucket is large. The
 * sizes of buckets have a Poisson distribution with the mean `members`, which the error function approximates. */
static double get_balls_time(size_t query_count, unsigned bits, unsigned distance, unsigned width) {
    unsigned fold_bits = bits < 32 ? bits : 32;
    double members = (double)query_count / exp2(width), compared_folds = fmax(members, IDXI_FOLD_PADDING);
    double near_folds = compared_folds * idxi_count_patterns(fold_bits, distance) / exp2(fold_bits); /* mean */
    double large_chance = 0.5 + 0.5 * erf((members - IDXI_FOLD_PADDING) / sqrt(2 * members));
    double full_chance = fmin(large_chance + 1 - exp(-near_folds), 1); /* of comparing the whole bucket */
    double time = IDXI_FOLD_TIME + full_chance * (IDXI_BUCKET_TIME + members * IDXI_AVX512_TIME / IDXI_AVX512_LANES);
    if (query_count > IDXI_CACHED_QUERIES) time += IDXI_PARTITION_TIME;
    return (distance + 1) * time;
}

struct idxi_streaming_cost idxi_choose_streaming_way(size_t query_count, unsigned bits, unsigned distance,
                                                     uint64_t fingerprint_count, uint64_t memory) {
    unsigned width = choose_ball_width(query_count, bits, distance);
    uint64_t chunk = idxi_choose_collected_count(query_count, memory);
    double preparing_time = (double)query_count * (IDXI_DISTINCT_TIME + IDXI_FIND_TIME); /* the queries, either way */
    if (chunk > fingerprint_count) chunk = fingerprint_count;
    double balls_time = (double)fingerprint_count * get_balls_time(query_count, bits, distance, width) +
                        (double)query_count * IDXI_INSERT_TIME * (distance + 1);
    double arrays_time = get_chunks_time(query_count, bits, distance, fingerprint_count, chunk);
    if (width > 0 && balls_time < arrays_time && idxi_count_bucket_bytes(query_count, distance, width) <= memory)
        return (struct idxi_streaming_cost){width, balls_time + preparing_time};
    return (struct idxi_streaming_cost){0, arrays_time + preparing_time};
}

uint64_t idxi_count_fingerprints(const struct idx_index *index) {
    uint64_t count = 0;
    for (size_t i = 0; i < index->open_segments; i++) count += index->segments[i]->entry.fingerprints;
    return count;
}

double idxi_estimate_streaming_time(const struct idx_index *index, size_t query_count, unsigned distance,
                                    uint64_t memory) {
    uint64_t count = idxi_count_fingerprints(index);
    double time = (double)count * IDXI_DECODE_TIME;
    for (size_t i = 0; i < index->manifest->segment_count; i++) {
        const struct idxi_table *table = &index->segments[i]->tables[0];
        if (table->on_disk) time += (double)table->layout.file_size * IDXI_DISK_BYTE_TIME;
    }
    return time + idxi_choose_streaming_way(query_count, index->manifest->bits, distance, count, memory).nanoseconds;
}

/* ---- Pairs ---- */

/* Returns the nanoseconds of finding the pairs between arrays of `a_count` and `b_count` fingerprints of `bits` bits,
 * or if `b_count` is 0, within one, with the instructions of `way`. Filling the arrays is included. */
static double get_pairs_time(const struct idxi_compare_way *way, unsigned distance, unsigned bits, double a_count,
                             double b_count) {
    return (a_count + b_count) * IDXI_ARRAY_TIME + idxi_get_cut_time(way, distance, bits, a_count, b_count);
}

double idxi_estimate_arrays_time(unsigned distance, unsigned bits, uint64_t a_count, uint64_t b_count) {
    return get_pairs_time(idxi_get_widest_compare_way(), distance, bits, (double)a_count, (double)b_count);
}

/* Returns the nanoseconds of comparing a fingerprint with its group of `group_size` fingerprints, which may differ in
 * `bits` bits. A small group is compared with it as a whole. A large one is sorted again, by each of distance + 1 parts
 * of the bits. */
static double get_group_time(double group_size, unsigned distance, double bits) {
    double width = fmin(bits / (distance + 1), log2(group_size) - 1);
    if (group_size <= IDXI_MAX_COMPARED_GROUP || width < 1) return IDXI_GROUP_TIME + group_size / 2 * IDXI_COMPARE_TIME;
    return (distance + 1) * (IDXI_TABLE_SORT_TIME + get_group_time(group_size / exp2(width), distance, bits - width));
}

/* Returns the nanoseconds that one fingerprint takes to find its pairs in a range of `range_size` fingerprints. The
 * pairs are within `distance`, and differ in up to `errors` of the next `bits` bits. `ascending`: the range is sorted
 * by these bits, so that the first part needs no sorting. */
static double get_range_time(double range_size, double bits, unsigned errors, bool ascending, unsigned distance) {
    unsigned parts = errors + 1;
    double width = bits / parts;
    if (!ascending || errors > 0) width = fmin(width, log2(range_size) - 1);
    return (ascending ? errors : parts) * IDXI_TABLE_SORT_TIME +
           parts * get_group_time(range_size / exp2(fmax(width, 0)), distance, 64 - bits);
}

/* Returns the nanoseconds that one fingerprint takes in a table of `count` fingerprints with a prefix of `prefix` bits:
 * to decode it, and to search its range, which is cut by the leading bits. A table with a radius needs a further pass
 * for each bit of it (pairs/join_spread.c). */
static double get_table_time(double count, unsigned prefix, unsigned radius, unsigned distance) {
    double leading = fmin(fmax(ceil(log2(count / IDXI_RANGE_FINGERPRINTS)), 0), prefix > radius ? prefix - radius : 0);
    double time = IDXI_DECODE_TIME + get_range_time(count / exp2(leading), prefix - leading, radius, true, distance);
    double width = radius == 0 ? 0 : floor((prefix - leading) / radius);
    if (leading == 0) return time;
    for (unsigned pass = 1; pass <= radius; pass++) {
        double rest_bits = prefix - leading - pass * width;
        time += IDXI_DECODE_TIME + IDXI_SPREAD_TIME +
                get_range_time(count / exp2(width), rest_bits, radius - pass, false, distance);
    }
    return time;
}

double idxi_estimate_tables_time(const struct idx_index *a, const struct idx_index *b, unsigned distance) {
    double time = 0, count = (double)idxi_count_fingerprints(a);
    if (b != NULL) count += (double)idxi_count_fingerprints(b);
    for (size_t i = 0; i < a->probings[distance].count && count > 0; i++) {
        const struct idxi_probed_table *probed = &a->probings[distance].tables[i];
        time += count * get_table_time(count, idxf_count_bits(probed->mask), probed->radius, distance);
    }
    return time;
}

/* ---- Plans ---- */

/* Assumes AVX-512, and the faster of arrays and tables; but arrays can't have UINT32_MAX fingerprints or more. */
double idx_pairs_seconds(uint64_t count, unsigned bits, unsigned distance, const struct idx_scheme *scheme) {
    static const struct idxi_compare_way typical = {.vector_time = IDXI_AVX512_TIME, .lanes = IDXI_AVX512_LANES};
    double arrays = get_pairs_time(&typical, distance, bits, (double)count, 0), tables = 0;
    if (scheme == NULL) arrays += (double)count * IDXI_MAKE_DISTINCT_TIME;
    for (size_t i = 0; scheme != NULL && i < scheme->table_count; i++)
        tables += (double)count * get_table_time((double)count, idxf_count_bits(scheme->tables[i].mask),
                                                 scheme->tables[i].radius, distance);
    bool by_tables = scheme != NULL && (tables < arrays || count >= UINT32_MAX);
    return (by_tables ? tables : arrays) / 1e9;
}
