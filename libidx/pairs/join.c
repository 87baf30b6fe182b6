/* join.c: finds all pairs within an index, or between two. A table is divided into ranges by its leading bits, so that
 * a range fits the caches. Pairs that agree in these bits are found within each range, as the table is decoded in
 * order. A table with a radius may also have pairs that differ in the leading bits; these differ in fewer of the prefix
 * bits after them, so the fingerprints are sorted in memory by some of those bits instead (join_spread.c). A pair that
 * several tables find belongs to the first of them. Pairs of removed fingerprints are dropped, and pending fingerprints
 * are looked up (join_pending.c). If searching in memory is expected to be faster, as for large distances, tables are
 * not used (join_arrays.c). */
#include "libidx/pairs/join.h"

#include <limits.h>
#include <stdlib.h>

#include "libidx/batch/cost.h"

/* ---- Counts ---- */

uint64_t idxi_join_count_larger_index(const struct idxi_join *join) {
    uint64_t a = idxi_count_fingerprints(join->a), b = idxi_count_fingerprints(join->b);
    return a > b ? a : b;
}

unsigned idxi_join_choose_range_bits(const struct idxi_join *join) {
    uint64_t ranges = idxi_join_count_larger_index(join) / idxi_join_get_range_limit(join);
    return ranges == 0 ? 0 : 64 - (unsigned)__builtin_clzll(ranges);
}

/* ---- Tables ---- */

/* Fails with IDX_BAD_CONTENT if the threads have not loaded as many fingerprints of a segment's table as its header
 * says, unless the join ended before all were loaded. Else resets the counts of all workers to 0, for the next table.
 */
static enum idx_status check_and_reset_counts(const struct idxi_join *join, struct idx_error *error) {
    for (size_t i = 0; i < join->a->open_segments; i++) {
        const struct idxi_table *table = &join->a->segments[i]->tables[join->table->table];
        uint64_t count = 0;
        for (unsigned j = 0; j < join->options.threads; j++) {
            count += join->workers[j]->loaded_counts[i];
            join->workers[j]->loaded_counts[i] = 0;
        }
        if (count != table->header.fingerprints && !join->ended)
            return idxi_fail_fault(error, IDXF_FAULT_COUNT, table->path, 0);
    }
    return IDX_OK;
}

/* Returns the status of the first worker that failed to check whether a pair is live, and sets *error to its error; or
 * IDX_OK if none did. */
static enum idx_status get_first_worker_error(const struct idxi_join *join, struct idx_error *error) {
    for (unsigned i = 0; i < join->options.threads; i++) {
        const struct idxi_join_worker *worker = join->workers[i];
        if (worker->status == IDX_OK) continue;
        if (error != NULL) *error = worker->error;
        return worker->status;
    }
    return IDX_OK;
}

/* Makes table number `order` of the probing the current one of the join. Its ranges are cut by so few leading bits that
 * at least `radius` bits of the prefix follow them, since each pass across ranges takes a part of these. */
static void set_current_table(struct idxi_join *join, size_t order) {
    join->order = order;
    join->table = &join->probing->tables[order];
    unsigned prefix = idxf_count_bits(join->table->mask), radius = join->table->radius;
    idxf_permutation_init(&join->permutation, join->table->mask, join->a->manifest->bits);
    join->prefix = idxi_top_bits(prefix);
    join->leading_bits = idxi_join_choose_range_bits(join);
    if (join->leading_bits + radius > prefix) join->leading_bits = prefix > radius ? prefix - radius : 0;
    join->earlier_count = 0;
    for (size_t i = 0; i < order; i++) {
        const struct idxi_probed_table *table = &join->probing->tables[i];
        if (table->radius == 0)
            join->earlier_masks[join->earlier_count++] = idxf_permute(&join->permutation, table->mask);
    }
    join->leaf_count = 0;
    join->pass = (struct idxi_join_pass){.error_mask = join->prefix, .max_errors = radius};
}

/* Finds the pairs of one table: those within ranges, and if it has a radius, those across them. */
static enum idx_status match_one_table(struct idxi_join *join, size_t order, struct idx_error *error) {
    set_current_table(join, order);
    IDXI_TRY(idxi_join_add_leaves(join, (struct idxi_join_leaf){0, 0}, error));
    IDXI_TRY(idxi_join_run_task(join, idxi_join_match_all_leaves, error));
    IDXI_TRY(check_and_reset_counts(join, error));
    if (join->table->radius == 0 || join->leading_bits == 0 || join->ended) return get_first_worker_error(join, error);
    IDXI_TRY(idxi_join_match_across_ranges(join, error));
    return get_first_worker_error(join, error);
}

/* Returns how many steps the progress has: one for each fingerprint of index a, in each pass over each table. */
static uint64_t count_progress_steps(const struct idxi_join *join) {
    uint64_t passes = 0;
    for (size_t i = 0; i < join->probing->count; i++)
        passes += 1 + (idxi_join_choose_range_bits(join) > 0 ? join->probing->tables[i].radius : 0);
    return idxi_count_fingerprints(join->a) * passes;
}

/* Finds the pairs that the tables can find, until the visitor ends the join. A pair that several tables could find is
 * left to the first of them. */
static enum idx_status match_all_tables(struct idxi_join *join, struct idx_error *error) {
    IDXI_TRY(idxi_progress_begin(&join->progress, IDX_PHASE_COMPARING, count_progress_steps(join), error));
    for (size_t order = 0; order < join->probing->count && !join->ended; order++)
        IDXI_TRY(match_one_table(join, order, error));
    return IDX_OK;
}

/* ---- The whole ---- */

/* Returns how many fingerprints each of a thread's arrays holds: all of an index, or as many as fit if all arrays take
 * half of the memory; but never fewer than loading a range needs. */
static size_t choose_array_capacity(const struct idxi_join *join) {
    unsigned threads = join->options.threads;
    uint64_t capacity = idxi_memory_of_arrays(join->options.memory_bytes, threads) /
                        (2 * sizeof(uint64_t) * (IDXI_JOIN_ARRAYS + IDXI_JOIN_MORE_ARRAYS) * threads);
    size_t segments = join->a->open_segments > join->b->open_segments ? join->a->open_segments : join->b->open_segments;
    uint64_t minimum = IDXI_MIN_RANGE_CAPACITY(segments), maximum = idxi_join_count_larger_index(join) + minimum;
    if (capacity > UINT32_MAX) capacity = UINT32_MAX;
    if (capacity > maximum) capacity = maximum;
    return capacity > minimum ? (size_t)capacity : (size_t)minimum;
}

/* Finds the pairs table by table, and then those with pending fingerprints, which are in no table. */
static enum idx_status match_tables_and_pending(struct idxi_join *join, struct idx_error *error) {
    join->capacity = choose_array_capacity(join);
    IDXI_TRY(idxi_join_make_workers(join, error));
    IDXI_TRY(match_all_tables(join, error));
    return join->ended ? IDX_OK : idxi_join_match_pending(join, error);
}

/* Finds all pairs: in memory if the tables can't find them or are expected to take longer, else by the tables. */
static enum idx_status find_all_pairs(struct idxi_join *join, struct idx_error *error) {
    idxi_progress_init(&join->progress, join->options.progress, join->options.context);
    enum idx_status status =
        idxi_join_prefers_memory(join) ? idxi_join_match_in_memory(join, error) : match_tables_and_pending(join, error);
    IDXI_TRY(status);
    return idxi_progress_add(&join->progress, 0, error); /* fails if cancelled */
}

/* Replaces the default distance and memory in the options by the values that they mean, and checks all options. Errors:
 * IDX_BAD_DISTANCE, IDX_INVALID_ARGUMENT. */
static enum idx_status complete_options(struct idxi_join *join, struct idx_error *error) {
    struct idx_join_options *options = &join->options;
    if (options->distance == UINT_MAX) options->distance = join->a->manifest->k;
    IDXI_TRY(idxi_check_distance_limit(options->distance, IDX_BAD_DISTANCE, error));
    IDXI_TRY(idxi_check_threads(options->threads, error));
    return idxi_memory_choose_limit(&options->memory_bytes, error);
}

/* Returns whether two indexes have the same k, and the same tables in the same order. */
static bool have_same_tables(const struct idxf_manifest *a, const struct idxf_manifest *b) {
    if (a->k != b->k || a->table_count != b->table_count) return false;
    for (size_t i = 0; i < a->table_count; i++) {
        if (a->tables[i].mask != b->tables[i].mask || a->tables[i].radius != b->tables[i].radius) return false;
    }
    return true;
}

/* Finds all pairs between two indexes; or if `within` is true, within one, which is both `a` and `b`. Tables are used
 * only if both indexes have the same ones and these cover the distance. */
static enum idx_status join_indexes(const struct idx_index *a, const struct idx_index *b, bool within,
                                    const struct idx_join_options *options, idx_pairs_visitor visit,
                                    void *visit_context, struct idx_error *error) {
    struct idxi_join join = {.a = a,
                             .b = b,
                             .within = within,
                             .options = IDX_JOIN_OPTIONS_INIT,
                             .visit = visit,
                             .visit_context = visit_context,
                             .visit_mutex = PTHREAD_MUTEX_INITIALIZER};
    IDXI_TRY(idxi_copy_options(&join.options, options, error));
    IDXI_TRY(complete_options(&join, error));
    if (join.options.distance <= a->manifest->k && have_same_tables(a->manifest, b->manifest))
        join.probing = &a->probings[join.options.distance];
    enum idx_status status = find_all_pairs(&join, error);
    idxi_join_free_workers(&join);
    idxi_join_free_sides(&join);
    free(join.leaves);
    pthread_mutex_destroy(&join.visit_mutex);
    return status;
}

enum idx_status idx_pairs(const struct idx_index *index, const struct idx_join_options *options,
                          idx_pairs_visitor visit, void *visit_context, struct idx_error *error) {
    return join_indexes(index, index, true, options, visit, visit_context, error);
}

enum idx_status idx_join(const struct idx_index *a, const struct idx_index *b, const struct idx_join_options *options,
                         idx_pairs_visitor visit, void *visit_context, struct idx_error *error) {
    IDXI_TRY(idxi_check_comparable(b, a, "joined", error));
    return join_indexes(a, b, false, options, visit, visit_context, error);
}
