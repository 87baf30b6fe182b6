/* join_spread.c: finds the pairs of a table that differ in its leading bits, by spreading the fingerprints in memory by
 * some of the bits after them. */
#include "libidx/pairs/join.h"

#include "libidx/base/base.h"

static enum idx_status spread_leaf(struct idxi_join_worker *worker, const struct idx_index *index,
                                   const struct idxi_join_leaf *leaf, struct idxi_spread *spread,
                                   struct idx_error *error) {
    struct idxi_join *join = worker->join;
    struct idxi_ranges ranges = idxi_join_ranges(join, index);
    struct idxi_range range = idxi_join_range(worker, IDXI_ARRAY_A, leaf->low, idxi_leaf_high(leaf));
    for (; !join->ended && !join->is_full; range.low = range.high + 1, range.high = idxi_leaf_high(leaf)) {
        IDXI_TRY(idxi_range_load(&ranges, &range, error));
        if (!idxi_spread_add(spread, worker->number, range.fingerprints, range.count)) join->is_full = true;
        if (range.high == idxi_leaf_high(leaf)) break;
    }
    return idxi_progress_add(&join->progress, 0, error);
}

static enum idx_status spread_leaves(struct idxi_join_worker *worker, struct idx_error *error) {
    struct idxi_join *join = worker->join;
    size_t number;
    while (!join->ended && !join->is_full && (number = atomic_fetch_add(&join->next, 1)) < join->leaf_count) {
        IDXI_TRY(spread_leaf(worker, join->a, &join->leaves[number], &join->spread_a, error));
        if (join->within) continue;
        IDXI_TRY(spread_leaf(worker, join->b, &join->leaves[number], &join->spread_b, error));
    }
    return IDX_OK;
}

/* Whether the arrays hold each bucket that was spread. */
static bool do_buckets_fit(const struct idxi_join *join) {
    for (uint64_t bucket = 0; bucket < join->spread_a.buckets; bucket++) {
        if (idxi_spread_count(&join->spread_a, bucket) > join->capacity) return false;
        if (!join->within && idxi_spread_count(&join->spread_b, bucket) > join->capacity) return false;
    }
    return true;
}

static enum idx_status match_buckets(struct idxi_join_worker *worker, struct idx_error *error) {
    struct idxi_join *join = worker->join;
    size_t bucket;
    while (!join->ended && (bucket = atomic_fetch_add(&join->next, 1)) < join->spread_a.buckets) {
        size_t count = idxi_spread_count(&join->spread_a, bucket), other = 0;
        idxi_spread_copy(&join->spread_a, bucket, worker->arrays[IDXI_ARRAY_A]);
        if (!join->within) other = idxi_spread_count(&join->spread_b, bucket);
        if (!join->within) idxi_spread_copy(&join->spread_b, bucket, worker->arrays[IDXI_ARRAY_B]);
        idxi_join_match_arrays(worker, 0, count, join->within ? NULL : &other);
        IDXI_TRY(idxi_progress_add(&join->progress, count, error));
    }
    return IDX_OK;
}

/* The fingerprints that can be spread of one index. */
static size_t get_spread_capacity(const struct idxi_join *join, uint64_t buckets) {
    unsigned threads = join->options.threads;
    uint64_t all = idxi_join_most(join) + buckets * threads * IDXI_SPREAD_CHUNK;
    uint64_t room = idxi_memory_of_arrays(join->options.memory_bytes, threads) / (2 * sizeof(uint64_t));
    if (!join->within) room /= 2;
    return (size_t)(room < all ? room : all);
}

/* Spreads buckets `first` to first + *buckets - 1 and matches them. Where there are too many for the memory, *buckets
 * is halved; a single one that is too large is gone through without being spread. */
static enum idx_status match_some_buckets(struct idxi_join *join, unsigned shift, unsigned width, uint64_t first,
                                          uint64_t *buckets, struct idx_error *error) {
    for (;; *buckets = (*buckets + 1) / 2) {
        idxi_spread_begin(&join->spread_a, shift, width, first, *buckets);
        if (!join->within) idxi_spread_begin(&join->spread_b, shift, width, first, *buckets);
        join->is_full = false;
        IDXI_TRY(idxi_join_work(join, spread_leaves, error));
        if (join->ended) return IDX_OK;
        if (!join->is_full && do_buckets_fit(join)) return idxi_join_work(join, match_buckets, error);
        if (*buckets == 1) break;
    }
    struct idxi_join_leaf all = {0, 0};
    join->pass.mask = idxf_low_bits(width) << shift;
    join->pass.value = first << shift;
    enum idx_status status = idxi_join_match_leaf(join->workers[0], &all, error);
    idxi_join_hand_over(join->workers[0]);
    join->pass.mask = join->pass.value = 0;
    return status;
}

static enum idx_status match_all_buckets(struct idxi_join *join, unsigned shift, unsigned width,
                                         struct idx_error *error) {
    uint64_t all = UINT64_C(1) << width, buckets = all;
    for (uint64_t first = 0; first < all && !join->ended; first += buckets) {
        if (buckets > all - first) buckets = all - first;
        IDXI_TRY(match_some_buckets(join, shift, width, first, &buckets, error));
    }
    return IDX_OK;
}

/* Makes room to spread any table, once. */
static enum idx_status reserve_spreads(struct idxi_join *join, struct idx_error *error) {
    uint64_t buckets = UINT64_C(1) << idxi_join_range_bits(join);
    size_t capacity = get_spread_capacity(join, buckets);
    unsigned threads = join->options.threads;
    if (join->spread_a.fingerprints != NULL) return IDX_OK;
    bool enough = idxi_spread_reserve(&join->spread_a, capacity, buckets, threads) &&
                  (join->within || idxi_spread_reserve(&join->spread_b, capacity, buckets, threads));
    return enough ? IDX_OK : idxi_fail_memory(error);
}

/* Pairs with an error in the leading bits at least: then one of as many parts of the others as there may be errors has
 * none. */
enum idx_status idxi_join_match_apart(struct idxi_join *join, struct idx_error *error) {
    unsigned radius = join->table->radius, prefix = idxf_count_bits(join->prefix), ranges = idxi_join_range_bits(join);
    unsigned width = (prefix - join->leading) / radius, shift = 64 - join->leading;
    if (width > ranges) width = ranges;
    IDXI_TRY(reserve_spreads(join, error));
    join->pass.before[0] = idxi_top_bits(join->leading);
    join->pass.narrow &= ~idxi_top_bits(join->leading);
    for (join->pass.number = 1; join->pass.number <= radius && !join->ended; join->pass.number++) {
        shift -= width;
        uint64_t part = idxf_low_bits(width) << shift;
        join->pass.narrow &= ~part;
        join->pass.errors = radius - join->pass.number;
        IDXI_TRY(match_all_buckets(join, shift, width, error));
        join->pass.before[join->pass.number] = part;
    }
    return IDX_OK;
}
