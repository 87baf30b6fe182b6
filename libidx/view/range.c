/* range.c: loads ranges of fingerprints of one table, over all segments. */
#include "libidx/view/range.h"

#include <stdlib.h>
#include <string.h>

#include "libidx/streams/kway_merge.h"

/* The job of decoding a range of one segment's table into an array. */
struct decode_job {
    const struct idxi_table *table;
    uint64_t *fingerprints;
    size_t capacity, count;
    uint64_t low, high;             /* the range; `high` is lowered if the array has no capacity for all of it */
    uint64_t mask, value;           /* only fingerprints whose bits of `mask` are `value` are kept */
    struct idxi_array_stream array; /* of what was decoded, to be merged */
};

/* Moves those of `count` fingerprints whose bits of `mask` are `value` to the front, in their order. Returns how many
 * these are. */
static size_t keep_with_masked_value(uint64_t *fingerprints, size_t count, uint64_t mask, uint64_t value) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        fingerprints[kept] = fingerprints[i];
        kept += (fingerprints[i] & mask) == value;
    }
    return kept;
}

/* Keeps those of `count` fingerprints that are in the range, and adds them to job->count. They were just decoded,
 * ascending, behind the first job->count fingerprints of the array. */
static void keep_fresh_in_range(struct decode_job *job, size_t count) {
    uint64_t *fresh = job->fingerprints + job->count;
    size_t begin = 0, end = count;
    while (begin < end && fresh[begin] < job->low) begin++;
    while (end > begin && fresh[end - 1] > job->high) end--;
    if (begin > 0) memmove(fresh, fresh + begin, (end - begin) * sizeof *fresh);
    count = end - begin;
    if (job->mask != 0) count = keep_with_masked_value(fresh, count, job->mask, job->value);
    job->count += count;
}

/* Decodes the fingerprints of the table from job->low to job->high into the array. Stops when the array has
 * no capacity for one more block: then sets job->high to the last fingerprint decoded. Errors: IDX_BAD_CHECKSUM,
 * IDX_BAD_CONTENT. */
static enum idx_status decode_range(struct decode_job *job, struct idx_error *error) {
    const struct idxi_table *table = job->table;
    struct idxf_start start = {0, 0};
    size_t count;
    job->count = 0;
    if (table->header.blocks == 0) return IDX_OK;
    if (job->low > 0) IDXI_TRY(idxi_table_find_block(table, job->low, &start, error));
    struct idxi_blocks blocks;
    idxi_blocks_begin(&blocks, table, &start);
    size_t block_capacity = idxf_get_decoded_capacity(table->decoder);
    while (job->capacity - job->count >= block_capacity) {
        uint64_t *fresh = job->fingerprints + job->count;
        IDXI_TRY(idxi_blocks_read(&blocks, table->header.blocks, fresh, &count, error));
        if (count == 0) return IDX_OK;
        uint64_t last_decoded = fresh[count - 1];
        keep_fresh_in_range(job, count);
        if (last_decoded >= job->high) return IDX_OK;
        if (job->capacity - job->count < block_capacity) job->high = last_decoded;
    }
    return IDX_OK;
}

/* Adds to ranges->counts[i], unless `counts` is NULL, how many of the fingerprints decoded from segment i are not above
 * `high`. */
static void add_to_counts(const struct idxi_ranges *ranges, const struct decode_job *jobs, uint64_t high) {
    if (ranges->counts == NULL) return;
    for (size_t i = 0; i < ranges->index->open_segments; i++) {
        size_t count = jobs[i].count;
        while (count > 0 && jobs[i].fingerprints[count - 1] > high) count--;
        ranges->counts[i] += count;
    }
}

/* Merges what the jobs, one for each of `segment_count` segments, have decoded into range->fingerprints, each
 * fingerprint once, and sets range->count. Drops those above range->high, which some segments had no capacity for.
 * `inputs` is scratch memory for one pointer per segment. Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status merge_decoded_ranges(struct idxi_range *range, struct decode_job *jobs, size_t segment_count,
                                            struct idxi_stream **inputs, struct idx_error *error) {
    struct idxi_kway_merge *merge;
    for (size_t i = 0; i < segment_count; i++) {
        idxi_array_stream_init(&jobs[i].array, jobs[i].fingerprints, NULL, jobs[i].count);
        inputs[i] = &jobs[i].array.stream;
    }
    IDXI_TRY(idxi_kway_merge_open(&merge, inputs, segment_count, false, error));
    struct idxi_stream *merged = idxi_kway_merge_get_stream(merge);
    enum idx_status status = merged->read(merged, range->fingerprints, NULL, range->capacity, &range->count, error);
    idxi_kway_merge_close(merge);
    while (range->count > 0 && range->fingerprints[range->count - 1] > range->high) range->count--;
    return status;
}

/* Decodes the range from each segment, each into its share of the capacity, and merges the results. If a share is too
 * small, lowers range->high to what all segments could decode. `jobs` and `inputs` are scratch memory, with one element
 * per segment, of which there is at least one. Errors: as idxi_range_load. */
static enum idx_status load_segments(const struct idxi_ranges *ranges, struct idxi_range *range,
                                     struct decode_job *jobs, struct idxi_stream **inputs, struct idx_error *error) {
    size_t segment_count = ranges->index->open_segments, capacity_each = range->capacity / segment_count;
    /* A single segment needs no merge, so it is decoded to where the result belongs. */
    uint64_t *decoded = segment_count == 1 ? range->fingerprints : range->room, high = range->high;
    for (size_t i = 0; i < segment_count; i++) {
        jobs[i] = (struct decode_job){.table = &ranges->index->segments[i]->tables[ranges->table],
                                      .fingerprints = decoded + i * capacity_each,
                                      .capacity = capacity_each,
                                      .low = range->low,
                                      .high = high,
                                      .mask = range->mask,
                                      .value = range->value};
        IDXI_TRY(decode_range(&jobs[i], error));
        if (jobs[i].high < range->high) range->high = jobs[i].high;
    }
    add_to_counts(ranges, jobs, range->high);
    range->count = jobs[0].count;
    return segment_count == 1 ? IDX_OK : merge_decoded_ranges(range, jobs, segment_count, inputs, error);
}

enum idx_status idxi_range_load(const struct idxi_ranges *ranges, struct idxi_range *range, struct idx_error *error) {
    size_t segment_count = ranges->index->open_segments;
    range->count = 0;
    if (segment_count == 0) return IDX_OK;
    struct decode_job *jobs = calloc(segment_count, sizeof *jobs);
    struct idxi_stream **inputs = calloc(segment_count, sizeof(struct idxi_stream *));
    enum idx_status status =
        jobs == NULL || inputs == NULL ? idxi_fail_memory(error) : load_segments(ranges, range, jobs, inputs, error);
    free(jobs);
    free(inputs);
    return status;
}

enum idx_status idxi_range_estimate(const struct idxi_ranges *ranges, uint64_t low, uint64_t high, uint64_t *count,
                                    struct idx_error *error) {
    *count = 0;
    for (size_t i = 0; i < ranges->index->open_segments; i++) {
        const struct idxi_table *table = &ranges->index->segments[i]->tables[ranges->table];
        struct idxf_start low_start, high_start;
        if (table->header.blocks == 0) continue;
        IDXI_TRY(idxi_table_find_block(table, low, &low_start, error));
        IDXI_TRY(idxi_table_find_block(table, high, &high_start, error));
        uint64_t blocks = high_start.block > low_start.block ? high_start.block - low_start.block : 0;
        *count += (uint64_t)((double)blocks * (double)table->header.fingerprints / (double)table->header.blocks);
    }
    return IDX_OK;
}
