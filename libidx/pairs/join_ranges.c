/* join_ranges.c: divides a table into ranges, and finds the pairs within each. */
#include "libidx/pairs/join.h"

/* A range is halved until it has no more than about so many fingerprints. */
#define RANGE_FINGERPRINTS 16384

struct idxi_ranges idxi_join_get_table_ranges(const struct idxi_join *join, const struct idx_index *index) {
    return (struct idxi_ranges){.index = index, .table = join->table->table, .counts = NULL};
}

size_t idxi_join_get_range_limit(const struct idxi_join *join) {
    return join->capacity < RANGE_FINGERPRINTS ? join->capacity : RANGE_FINGERPRINTS;
}

/* Sets *is_leaf to whether a range is not halved any more: it is small enough, or its fingerprints agree in the whole
 * prefix. In a table with a radius, the size does not matter: all leaves agree in join->leading_bits bits. */
static enum idx_status check_leaf(const struct idxi_join *join, const struct idxi_join_leaf *range, bool *is_leaf,
                                  struct idx_error *error) {
    struct idxi_ranges a = idxi_join_get_table_ranges(join, join->a), b = idxi_join_get_table_ranges(join, join->b);
    uint64_t a_count, b_count = 0, limit = idxi_join_get_range_limit(join);
    *is_leaf = range->same_bits == (join->table->radius > 0 ? join->leading_bits : idxf_count_bits(join->prefix));
    if (*is_leaf || join->table->radius > 0) return IDX_OK;
    IDXI_TRY(idxi_range_estimate(&a, range->low, idxi_get_leaf_high(range), &a_count, error));
    if (!join->within) IDXI_TRY(idxi_range_estimate(&b, range->low, idxi_get_leaf_high(range), &b_count, error));
    *is_leaf = a_count <= limit && b_count <= limit;
    return IDX_OK;
}

enum idx_status idxi_join_add_leaves(struct idxi_join *join, struct idxi_join_leaf leaf, struct idx_error *error) {
    bool is_leaf;
    IDXI_TRY(check_leaf(join, &leaf, &is_leaf, error));
    if (is_leaf) {
        IDXI_GROW(join->leaves, join->leaf_capacity, join->leaf_count + 1, error);
        join->leaves[join->leaf_count++] = leaf;
        return IDX_OK;
    }
    leaf.same_bits++;
    IDXI_TRY(idxi_join_add_leaves(join, leaf, error));
    leaf.low |= UINT64_C(1) << (64 - leaf.same_bits);
    return idxi_join_add_leaves(join, leaf, error);
}

struct idxi_range idxi_join_make_range(const struct idxi_join_worker *worker, size_t array, uint64_t low,
                                       uint64_t high) {
    const struct idxi_join *join = worker->join;
    return (struct idxi_range){.low = low,
                               .high = high,
                               .mask = join->pass.mask,
                               .value = join->pass.value,
                               .fingerprints = worker->arrays[array],
                               .room = worker->arrays[IDXI_ARRAY_SEGMENTS],
                               .capacity = join->capacity};
}

struct idxi_match_side idxi_join_get_array_side(const struct idxi_join_worker *worker, size_t array, size_t count) {
    return (struct idxi_match_side){
        .values = worker->arrays[array], .spare = worker->arrays[array + 1], .count = count};
}

/* Pairs that an earlier table or an earlier pass has found are left out. Groups that the arrays have no room to sort
 * are searched by balls, which take memory of their own. */
void idxi_join_match_loaded(struct idxi_join_worker *worker, unsigned same_bits, const struct idxi_match_side *a,
                            const struct idxi_match_side *b) {
    const struct idxi_join *join = worker->join;
    const struct idxi_join_pass *pass = &join->pass;
    struct idxi_balls *balls = &worker->matching.balls;
    balls->comparison.before_count = 0;
    for (size_t i = 0; i < join->earlier_count; i++)
        idxi_balls_add_searched(balls, (struct idxi_ball){join->earlier_masks[i], 0});
    for (unsigned i = 0; i < pass->number; i++)
        idxi_balls_add_searched(balls, (struct idxi_ball){pass->found_masks[i], 0});
    if (a->count > join->capacity || (b != NULL && b->count > join->capacity))
        idxi_balls_search_alone(balls, a->values, a->count, b == NULL ? NULL : b->values, b == NULL ? 0 : b->count);
    else
        idxi_match_sides(&worker->matching, a, b, pass->error_mask & ~idxi_top_bits(same_bits), pass->max_errors,
                         pass->number == 0);
}

/* Finds the pairs between `a`, a loaded part of a leaf, and all that index b has from `low` to `high`. If the array
 * does not hold all of it, idxi_range_load lowers b_range.high, and the rest follows part by part. */
static enum idx_status match_with_range_of_b(struct idxi_join_worker *worker, const struct idxi_join_leaf *leaf,
                                             const struct idxi_match_side *a, uint64_t low, uint64_t high,
                                             struct idx_error *error) {
    struct idxi_ranges ranges = idxi_join_get_table_ranges(worker->join, worker->join->b);
    struct idxi_range b_range = idxi_join_make_range(worker, IDXI_ARRAY_B, low, high);
    for (; !worker->join->ended; b_range.low = b_range.high + 1, b_range.high = high) {
        IDXI_TRY(idxi_range_load(&ranges, &b_range, error));
        struct idxi_match_side b = idxi_join_get_array_side(worker, IDXI_ARRAY_B, b_range.count);
        idxi_join_match_loaded(worker, leaf->same_bits, a, &b);
        IDXI_TRY(idxi_progress_add(&worker->join->progress, 0, error)); /* fails if cancelled */
        if (b_range.high == high) break;
    }
    return IDX_OK;
}

enum idx_status idxi_join_match_leaf(struct idxi_join_worker *worker, const struct idxi_join_leaf *leaf,
                                     struct idx_error *error) {
    struct idxi_join *join = worker->join;
    uint64_t high = idxi_get_leaf_high(leaf); /* range.high is lower while a part of the leaf is loaded */
    struct idxi_ranges ranges = idxi_join_get_table_ranges(join, join->a);
    struct idxi_range range = idxi_join_make_range(worker, IDXI_ARRAY_A, leaf->low, high);
    if (join->pass.number == 0) ranges.counts = worker->loaded_counts; /* later passes load only some fingerprints */
    for (; !join->ended; range.low = range.high + 1, range.high = high) {
        IDXI_TRY(idxi_range_load(&ranges, &range, error));
        struct idxi_match_side a = idxi_join_get_array_side(worker, IDXI_ARRAY_A, range.count);
        if (join->within) idxi_join_match_loaded(worker, leaf->same_bits, &a, NULL);
        /* Within one index, a part of a leaf is matched with the later parts of this leaf, which side b loads. */
        if (range.count > 0 && (!join->within || range.high < high))
            IDXI_TRY(match_with_range_of_b(worker, leaf, &a, join->within ? range.high + 1 : leaf->low, high, error));
        IDXI_TRY(idxi_progress_add(&join->progress, range.count, error));
        if (range.high == high) break;
    }
    return IDX_OK;
}

enum idx_status idxi_join_match_all_leaves(struct idxi_join_worker *worker, struct idx_error *error) {
    struct idxi_join *join = worker->join;
    size_t number;
    while (!join->ended && (number = atomic_fetch_add(&join->next, 1)) < join->leaf_count)
        IDXI_TRY(idxi_join_match_leaf(worker, &join->leaves[number], error));
    return IDX_OK;
}
