/* range.c: loads ranges of fingerprints of one table, over all segments. */
#include "libidx/view/range.h"

#include <stdlib.h>
#include <string.h>

#include "libidx/streams/kway_merge.h"

/* The table of one segment that is being decoded into an array. */
struct decoding {
    const struct idxi_table *table;
    uint64_t *fingerprints;
    size_t capacity, count;
    uint64_t low, high; /* `high` is lowered where there is no more room */
    uint64_t mask, value;
    struct idxi_array_stream array; /* of what was decoded, to be merged */
};

/* Keeps the fingerprints whose bits of `mask` are `value`, and returns how many. */
static size_t keep_those_with_value(uint64_t *fingerprints, size_t count, uint64_t mask, uint64_t value) {
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        fingerprints[left] = fingerprints[i];
        left += (fingerprints[i] & mask) == value;
    }
    return left;
}

/* Keeps those of the next `count` fingerprints, which were just decoded behind those before, that are in the range. */
static void keep_those_in_range(struct decoding *decoding, size_t count) {
    uint64_t *fresh = decoding->fingerprints + decoding->count;
    size_t begin = 0, end = count;
    while (begin < end && fresh[begin] < decoding->low) begin++;
    while (end > begin && fresh[end - 1] > decoding->high) end--;
    if (begin > 0) memmove(fresh, fresh + begin, (end - begin) * sizeof *fresh);
    count = end - begin;
    if (decoding->mask != 0) count = keep_those_with_value(fresh, count, decoding->mask, decoding->value);
    decoding->count += count;
}

/* Decodes the fingerprints from `low` to `high`. Where these have no room, `high` becomes the last one decoded. */
static enum idx_status decode(struct decoding *decoding, struct idx_error *error) {
    const struct idxi_table *table = decoding->table;
    struct idxf_start start = {0, 0};
    size_t count;
    decoding->count = 0;
    if (table->header.blocks == 0) return IDX_OK;
    if (decoding->low > 0) IDXI_TRY(idxi_table_find_block(table, decoding->low, &start, error));
    struct idxi_blocks blocks;
    idxi_blocks_begin(&blocks, table, &start);
    size_t room = idxf_decoded_room(table->decoder);
    while (decoding->capacity - decoding->count >= room) {
        uint64_t *fresh = decoding->fingerprints + decoding->count;
        IDXI_TRY(idxi_blocks_read(&blocks, table->header.blocks, fresh, &count, error));
        if (count == 0) return IDX_OK;
        uint64_t last = fresh[count - 1];
        keep_those_in_range(decoding, count);
        if (last >= decoding->high) return IDX_OK;
        if (decoding->capacity - decoding->count < room) decoding->high = last;
    }
    return IDX_OK;
}

static const struct idxi_table *get_table(const struct idxi_ranges *ranges, size_t segment) {
    return &ranges->index->segments[segment]->tables[ranges->table];
}

/* Adds how many of the decoded fingerprints of each segment are not above `high`, if the caller wants that. */
static void add_counts(const struct idxi_ranges *ranges, const struct decoding *decodings, uint64_t high) {
    if (ranges->counts == NULL) return;
    for (size_t i = 0; i < ranges->index->open_segments; i++) {
        size_t count = decodings[i].count;
        while (count > 0 && decodings[i].fingerprints[count - 1] > high) count--;
        ranges->counts[i] += count;
    }
}

/* Merges what was decoded of all segments, up to range->high, into the range. */
static enum idx_status merge_decoded(struct idxi_range *range, struct decoding *decodings, size_t segments,
                                     struct idxi_stream **inputs, struct idx_error *error) {
    struct idxi_kway_merge *merge;
    for (size_t i = 0; i < segments; i++) {
        idxi_array_stream_init(&decodings[i].array, decodings[i].fingerprints, NULL, decodings[i].count);
        inputs[i] = &decodings[i].array.stream;
    }
    IDXI_TRY(idxi_kway_merge_open(&merge, inputs, segments, false, error));
    struct idxi_stream *merged = idxi_kway_merge_stream(merge);
    enum idx_status status = merged->read(merged, range->fingerprints, NULL, range->capacity, &range->count, error);
    idxi_kway_merge_close(merge);
    while (range->count > 0 && range->fingerprints[range->count - 1] > range->high) range->count--;
    return status;
}

/* Loads a range of each segment, and merges as much of them as all have room for. `inputs` are for the merge. */
static enum idx_status load_segments(const struct idxi_ranges *ranges, struct idxi_range *range,
                                     struct decoding *decodings, struct idxi_stream **inputs, struct idx_error *error) {
    size_t segments = ranges->index->open_segments, each = range->capacity / segments;
    uint64_t *room = segments == 1 ? range->fingerprints : range->room, high = range->high;
    for (size_t i = 0; i < segments; i++) {
        decodings[i] = (struct decoding){.table = get_table(ranges, i),
                                         .fingerprints = room + i * each,
                                         .capacity = each,
                                         .low = range->low,
                                         .high = high,
                                         .mask = range->mask,
                                         .value = range->value};
        IDXI_TRY(decode(&decodings[i], error));
        if (decodings[i].high < range->high) range->high = decodings[i].high;
    }
    add_counts(ranges, decodings, range->high);
    range->count = decodings[0].count;
    return segments == 1 ? IDX_OK : merge_decoded(range, decodings, segments, inputs, error);
}

enum idx_status idxi_range_load(const struct idxi_ranges *ranges, struct idxi_range *range, struct idx_error *error) {
    size_t segments = ranges->index->open_segments;
    range->count = 0;
    if (segments == 0) return IDX_OK;
    struct decoding *decodings = calloc(segments, sizeof *decodings);
    struct idxi_stream **inputs = calloc(segments, sizeof(struct idxi_stream *));
    enum idx_status status = decodings == NULL || inputs == NULL
                                 ? idxi_fail_memory(error)
                                 : load_segments(ranges, range, decodings, inputs, error);
    free(decodings);
    free(inputs);
    return status;
}

enum idx_status idxi_range_estimate(const struct idxi_ranges *ranges, uint64_t low, uint64_t high, uint64_t *count,
                                    struct idx_error *error) {
    *count = 0;
    for (size_t i = 0; i < ranges->index->open_segments; i++) {
        const struct idxi_table *table = get_table(ranges, i);
        struct idxf_start first, last;
        if (table->header.blocks == 0) continue;
        IDXI_TRY(idxi_table_find_block(table, low, &first, error));
        IDXI_TRY(idxi_table_find_block(table, high, &last, error));
        uint64_t blocks = last.block > first.block ? last.block - first.block : 0;
        *count += (uint64_t)((double)blocks * (double)table->header.fingerprints / (double)table->header.blocks);
    }
    return IDX_OK;
}
