/* join_spread.c: finds the pairs of a table that differ in its leading bits. All fingerprints are loaded into memory
 * and sorted by some of the bits after these, and those that agree in them are compared. If the memory does not hold
 * all, they are loaded in two halves, by the first of these bits, and each half is divided again if need be. */
#include "libidx/pairs/join.h"

#include <stdlib.h>
#include <string.h>

#include "libidx/fingerprints/sorting.h"

/* Returns how many sides are loaded: within one index, one serves as both. */
static size_t count_sides(const struct idxi_join *join) { return join->within ? 1 : 2; }

/* ---- Loading ---- */

/* Appends a loaded range to a side. Several threads may call it at once, since each reserves its place by raising
 * side->count first. If the range does not fit, sets join->is_full and copies nothing. */
static void append_range(struct idxi_join *join, struct idxi_join_side *side, const struct idxi_range *range) {
    size_t place = atomic_fetch_add(&side->count, range->count);
    if (place > join->side_capacity || range->count > join->side_capacity - place)
        join->is_full = true;
    else if (range->count > 0)
        memcpy(side->fingerprints + place, range->fingerprints, range->count * sizeof *range->fingerprints);
}

/* Appends the fingerprints of a leaf to a side, part by part. Stops once a part does not fit. */
static enum idx_status load_leaf(struct idxi_join_worker *worker, const struct idxi_join_leaf *leaf,
                                 struct idxi_join_side *side, struct idx_error *error) {
    struct idxi_join *join = worker->join;
    struct idxi_ranges ranges = idxi_join_get_table_ranges(join, side->index);
    struct idxi_range range = idxi_join_make_range(worker, IDXI_ARRAY_A, leaf->low, idxi_get_leaf_high(leaf));
    for (; !join->ended && !join->is_full; range.low = range.high + 1, range.high = idxi_get_leaf_high(leaf)) {
        IDXI_TRY(idxi_range_load(&ranges, &range, error));
        append_range(join, side, &range);
        if (range.high == idxi_get_leaf_high(leaf)) break;
    }
    return idxi_progress_add(&join->progress, 0, error); /* fails if cancelled */
}

/* An idxi_join_task: loads leaves that no other thread has taken, until all are loaded. */
static enum idx_status load_leaves(struct idxi_join_worker *worker, struct idx_error *error) {
    struct idxi_join *join = worker->join;
    size_t number;
    while (!join->ended && !join->is_full && (number = atomic_fetch_add(&join->next, 1)) < join->leaf_count) {
        for (size_t i = 0; i < count_sides(join); i++)
            IDXI_TRY(load_leaf(worker, &join->leaves[number], &join->sides[i], error));
    }
    return IDX_OK;
}

/* Loads into all sides the fingerprints whose bits of `mask` are `value`. Sets join->is_full if they don't fit. It
 * loads nothing if they can't fit: if an equal share of all fingerprints for each value of the mask is too much
 * already. */
static enum idx_status load_sides(struct idxi_join *join, uint64_t mask, uint64_t value, struct idx_error *error) {
    join->is_full = idxi_join_count_larger_index(join) >> idxf_count_bits(mask) > join->side_capacity;
    if (join->is_full) return IDX_OK;
    join->pass.mask = mask;
    join->pass.value = value;
    for (size_t i = 0; i < 2; i++) join->sides[i].count = 0;
    enum idx_status status = idxi_join_run_task(join, load_leaves, error);
    join->pass.mask = join->pass.value = 0;
    return status;
}

/* ---- Matching ---- */

/* Returns bucket number `bucket` of side number `side`, with a worker's arrays as memory to sort a copy of it. */
static struct idxi_match_side get_bucket(const struct idxi_join_worker *worker, size_t side, size_t bucket) {
    const struct idxi_buckets *buckets = &worker->join->sides[side].buckets;
    struct idxi_match_side bucket_side = idxi_join_get_array_side(
        worker, side == 0 ? IDXI_ARRAY_A : IDXI_ARRAY_B, buckets->starts[bucket + 1] - buckets->starts[bucket]);
    bucket_side.values = buckets->fingerprints + buckets->starts[bucket];
    return bucket_side;
}

/* An idxi_join_task: takes buckets that no other thread has taken, and finds the pairs within each, or between two
 * indexes, with the bucket of the same number on the other side. */
static enum idx_status match_buckets(struct idxi_join_worker *worker, struct idx_error *error) {
    struct idxi_join *join = worker->join;
    size_t bucket, buckets = (size_t)1 << join->spread_bits;
    while (!join->ended && (bucket = atomic_fetch_add(&join->next, 1)) < buckets) {
        struct idxi_match_side a = get_bucket(worker, 0, bucket), b = {0};
        if (!join->within) b = get_bucket(worker, 1, bucket);
        idxi_join_match_loaded(worker, 0, &a, join->within ? NULL : &b);
        IDXI_TRY(idxi_progress_add(&join->progress, a.count, error));
    }
    return IDX_OK;
}

/* Sorts the loaded fingerprints into buckets by the bits of `part_mask`, and finds the pairs that agree in these. */
static enum idx_status sort_and_match_sides(struct idxi_join *join, uint64_t part_mask, struct idx_error *error) {
    for (size_t i = 0; i < count_sides(join); i++) {
        struct idxi_join_side *side = &join->sides[i];
        struct idxi_sorting sorting = {.way = join->workers[0]->matching.balls.way,
                                       .threads = join->options.threads,
                                       .progress = &join->progress,
                                       .counts = join->sort_counts,
                                       .from = side->fingerprints,
                                       .count = side->count,
                                       .mask = part_mask,
                                       .to = side->buckets};
        IDXI_TRY(idxi_sort_into_buckets(&sorting, error));
    }
    return idxi_join_run_task(join, match_buckets, error);
}

/* Finds the pairs of fingerprints whose bits of the mask `part_mask` are `value` by reading the whole table, as one
 * leaf, on one thread. This is for values that so many fingerprints share that they don't fit the memory. */
static enum idx_status match_value_by_streaming(struct idxi_join *join, uint64_t part_mask, uint64_t value,
                                                struct idx_error *error) {
    struct idxi_join_leaf whole = {0, 0};
    join->pass.mask = part_mask;
    join->pass.value = value;
    enum idx_status status = idxi_join_match_leaf(join->workers[0], &whole, error);
    idxi_join_hand_over_pairs(join->workers[0]);
    join->pass.mask = join->pass.value = 0;
    return status;
}

/* Finds the pairs that agree in all bits of `part_mask`, among fingerprints whose bits of `mask` are `value`. `mask`
 * has the first bits of `part_mask`: none at first, and one more in each recursion, until the fingerprints fit the
 * memory. */
static enum idx_status match_pairs_of_part(struct idxi_join *join, uint64_t part_mask, uint64_t mask, uint64_t value,
                                           struct idx_error *error) {
    IDXI_TRY(load_sides(join, mask, value, error));
    if (join->ended) return IDX_OK;
    if (!join->is_full) return sort_and_match_sides(join, part_mask, error);
    if (mask == part_mask) return match_value_by_streaming(join, part_mask, value, error);
    uint64_t next_bit = UINT64_C(1) << (63 - __builtin_clzll(part_mask & ~mask));
    IDXI_TRY(match_pairs_of_part(join, part_mask, mask | next_bit, value, error));
    return match_pairs_of_part(join, part_mask, mask | next_bit, value | next_bit, error);
}

/* ---- All ---- */

/* A side has fewer than 2^32 fingerprints, since they are sorted with numbers of 32 bits. */
#define MAX_SIDE_CAPACITY (UINT32_MAX - 2)

/* Allocates the sides, large enough to load and sort any table. They are made once for the whole join: later calls do
 * nothing. idxi_join_free_sides frees them, also after an error. */
static enum idx_status make_sides(struct idxi_join *join, struct idx_error *error) {
    unsigned threads = join->options.threads;
    uint64_t bytes = 2 * sizeof(uint64_t) * count_sides(join), needed = idxi_join_count_larger_index(join);
    uint64_t fitting = idxi_memory_of_arrays(join->options.memory_bytes, threads) / 2 / bytes;
    size_t bucket_count = (size_t)1 << idxi_join_choose_range_bits(join);
    if (join->side_capacity > 0) return IDX_OK;
    if (fitting > MAX_SIDE_CAPACITY) fitting = MAX_SIDE_CAPACITY;
    join->side_capacity = (size_t)(fitting < needed ? fitting : needed) + 1;
    join->sort_counts = threads > 1 ? malloc(threads * bucket_count * sizeof *join->sort_counts) : NULL;
    bool has_memory = threads == 1 || join->sort_counts != NULL, all_fit = fitting >= needed;
    for (size_t i = 0; i < count_sides(join); i++) {
        struct idxi_join_side *side = &join->sides[i];
        side->index = i == 0 ? join->a : join->b;
        side->fingerprints = idxi_array_reserve(join->side_capacity);
        side->buckets.fingerprints = idxi_array_reserve(join->side_capacity);
        if (all_fit && side->fingerprints != NULL) idxi_array_populate(side->fingerprints, join->side_capacity);
        if (all_fit && side->buckets.fingerprints != NULL)
            idxi_array_populate(side->buckets.fingerprints, join->side_capacity);
        side->buckets.starts = malloc((bucket_count + 2) * sizeof *side->buckets.starts);
        has_memory = has_memory && side->fingerprints != NULL && side->buckets.fingerprints != NULL &&
                     side->buckets.starts != NULL;
    }
    return has_memory ? IDX_OK : idxi_fail_memory(error);
}

void idxi_join_free_sides(struct idxi_join *join) {
    for (size_t i = 0; i < 2; i++) {
        idxi_array_release(join->sides[i].fingerprints, join->side_capacity);
        idxi_array_release(join->sides[i].buckets.fingerprints, join->side_capacity);
        free(join->sides[i].buckets.starts);
    }
    free(join->sort_counts);
}

/* A pair differs in at most `radius` bits of the prefix, and here in at least one of the leading bits. The bits after
 * the leading ones are cut into `radius` parts, so the pair agrees in at least one part, and each pass finds the pairs
 * that agree in one. Pass n may leave out pairs that agree in an earlier part. The others differ in the leading bits
 * and in each of n - 1 parts, so at most radius - n errors are left for the rest. */
enum idx_status idxi_join_match_across_ranges(struct idxi_join *join, struct idx_error *error) {
    unsigned radius = join->table->radius, prefix = idxf_count_bits(join->prefix);
    unsigned shift = 64 - join->leading_bits, width = (prefix - join->leading_bits) / radius;
    width = (unsigned)idxi_min(width, idxi_join_choose_range_bits(join));
    join->spread_bits = width;
    IDXI_TRY(make_sides(join, error));
    join->pass.found_masks[0] = idxi_top_bits(join->leading_bits);
    join->pass.error_mask &= ~idxi_top_bits(join->leading_bits);
    for (join->pass.number = 1; join->pass.number <= radius && !join->ended; join->pass.number++) {
        shift -= width;
        uint64_t part_mask = idxf_low_bits(width) << shift;
        join->pass.error_mask &= ~part_mask;
        join->pass.max_errors = radius - join->pass.number;
        IDXI_TRY(match_pairs_of_part(join, part_mask, 0, 0, error));
        join->pass.found_masks[join->pass.number] = part_mask;
    }
    return IDX_OK;
}
