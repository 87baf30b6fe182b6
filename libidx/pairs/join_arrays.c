/* join_arrays.c: finds the pairs of a join in memory (array_pairs.h), if going through the tables is slower or they do
 * not cover the distance. If memory is short, each side is read in parts, and each part is searched with each part of
 * the other side. */
#include "libidx/pairs/join.h"

#include <string.h>

#include "libidx/batch/cost.h"
#include "libidx/fingerprints/array_pairs.h"

/* One side of the join, of which one part at a time is in memory: `count` fingerprints. */
struct side {
    struct idxi_progress *progress;
    const struct idx_index *index;
    uint64_t *fingerprints;
    atomic_size_t count;
    size_t capacity;     /* fingerprints */
    uint32_t part_count; /* how many parts the side is read in */
    uint32_t part;       /* the number of the one in memory */
    uint32_t step_count; /* how many steps a part is read in, by several threads */
    atomic_bool is_full; /* there are more fingerprints than the counts in the files say */
};

/* A search of all parts of one side with all parts of the other one. */
struct part_search {
    struct idxi_join *join;
    struct side a, b;
    uint64_t memory;                        /* bytes for the fingerprints of both sides, and for searching them */
    uint64_t total_searches, searches_done; /* a search is of one part within itself, or of two parts */
};

/* Returns the number of fingerprints, or a little more: each pending record counts as one. */
static uint64_t count_with_pending(const struct idx_index *index) {
    return idxi_count_fingerprints(index) + idxi_pending_count_records(&index->pending);
}

/* Returns how many bytes the arrays of both sides, and searching them, may take. */
static uint64_t get_array_bytes(const struct idxi_join *join) {
    return idxi_memory_of_arrays(join->options.memory_bytes, join->options.threads);
}

/* What a fingerprint takes: its place in an array, and what searching needs beside it. */
#define FINGERPRINT_BYTES (sizeof(uint64_t) + IDXI_ARRAY_PAIRS_BYTES)

/* Returns how many fingerprints a part may have at most, if `memory` bytes are for two parts and searching them. If all
 * of both sides fit, only the limit of array pairs counts, UINT32_MAX - 1. */
static uint64_t choose_part_limit(const struct idxi_join *join, uint64_t memory) {
    uint64_t limit = memory / 2 / FINGERPRINT_BYTES;
    uint64_t all_count = count_with_pending(join->a) + (join->within ? 0 : count_with_pending(join->b));
    if (all_count * FINGERPRINT_BYTES <= memory) limit = UINT32_MAX - 1;
    if (limit < IDXI_JOIN_PAIRS) limit = IDXI_JOIN_PAIRS;
    return limit < UINT32_MAX ? limit : UINT32_MAX - 1;
}

/* Returns in how many parts a side of `fingerprints` fingerprints is read, if a part may have `part_limit` of them. */
static uint32_t count_parts(uint64_t fingerprints, uint64_t part_limit) {
    uint64_t parts = fingerprints > part_limit ? (fingerprints - 1) / part_limit + 1 : 1;
    return parts < UINT32_MAX ? (uint32_t)parts : UINT32_MAX;
}

/* Returns the nanoseconds that all searches are expected to take, without reading. Between two indexes, each part of
 * one is searched with each part of the other; within one, each part with itself, and each two parts with each other.
 */
static double estimate_search_time(const struct idxi_join *join) {
    uint64_t all_a = count_with_pending(join->a), all_b = count_with_pending(join->b);
    uint64_t part_limit = choose_part_limit(join, get_array_bytes(join));
    double a_parts = count_parts(all_a, part_limit), b_parts = count_parts(all_b, part_limit);
    uint64_t a_part = (uint64_t)((double)all_a / a_parts), b_part = (uint64_t)((double)all_b / b_parts);
    unsigned distance = join->options.distance, bits = join->a->manifest->bits;
    if (!join->within) return a_parts * b_parts * idxi_estimate_arrays_time(distance, bits, a_part, b_part);
    double time = a_parts * idxi_estimate_arrays_time(distance, bits, a_part, 0);
    if (a_parts > 1) time += a_parts * (a_parts - 1) / 2 * idxi_estimate_arrays_time(distance, bits, a_part, a_part);
    return time;
}

bool idxi_join_prefers_memory(const struct idxi_join *join) {
    if (join->probing == NULL) return true;
    return estimate_search_time(join) <
           idxi_estimate_tables_time(join->a, join->within ? NULL : join->b, join->options.distance);
}

/* ---- Reading ---- */

/* An idx_fingerprints_visitor that several threads call at once: appends fingerprints to the part of a side. If they
 * don't fit, sets side->is_full and returns false. Each call reserves its place by raising side->count first, so the
 * count exceeds the capacity then. */
static bool append_fingerprints(void *context, const uint64_t *fingerprints, size_t count) {
    struct side *side = context;
    size_t place = atomic_fetch_add(&side->count, count);
    if (place > side->capacity || count > side->capacity - place) side->is_full = true;
    if (side->is_full) return false;
    memcpy(side->fingerprints + place, fingerprints, count * sizeof *fingerprints);
    return true;
}

/* An idxi_plain_task: reads step `number` of the current part. Fails if there are more fingerprints than the segments'
 * headers say. */
static enum idx_status load_step(void *context, size_t number, struct idx_error *error) {
    struct side *side = context;
    uint32_t step = side->part * side->step_count + (uint32_t)number;
    IDXI_TRY(idx_visit_part(side->index, step, side->part_count * side->step_count, append_fingerprints, side, error));
    if (side->is_full) return idxi_fail_fault(error, IDXF_FAULT_COUNT, side->index->segments[0]->tables[0].path, 0);
    return idxi_progress_add(side->progress, 0, error); /* fails if cancelled */
}

/* Reads part number `part` of a side on all threads: in 16 steps, so that threads end together, or in one step if 32
 * bits can't number the steps of all parts. */
static enum idx_status load_part(struct part_search *search, struct side *side, uint32_t part,
                                 struct idx_error *error) {
    side->step_count = UINT32_MAX / side->part_count < 16 ? 1 : 16;
    side->part = part;
    side->count = 0;
    if (side->part_count == 1) idxi_array_populate(side->fingerprints, side->capacity);
    return idxi_run_parallel(side->step_count, search->join->options.threads, load_step, side, side->progress, error);
}

/* ---- Searching ---- */

/* Searches the loaded part of side a within itself if `b` is NULL, else with the loaded part of `b`. All such searches
 * add equal shares to the progress. */
static enum idx_status search_loaded_parts(struct part_search *search, const struct side *b, struct idx_error *error) {
    struct idxi_join *join = search->join;
    double work_per_search = (double)idxi_count_fingerprints(join->a) / (double)search->total_searches;
    double searches_before = (double)search->searches_done++;
    uint64_t array_bytes = (search->a.count + (b == NULL ? 0 : b->count)) * sizeof(uint64_t);
    struct idxi_array_pairs pairs = {
        .distance = join->options.distance,
        .threads = join->options.threads,
        .memory = search->memory > array_bytes ? search->memory - array_bytes : 0,
        .visit = join->visit,
        .visit_context = join->visit_context,
        .progress = &join->progress,
        .within = join->within,
        .work = (uint64_t)(work_per_search * (searches_before + 1)) - (uint64_t)(work_per_search * searches_before),
    };
    IDXI_TRY(idxi_find_array_pairs(&pairs, search->a.fingerprints, search->a.count, b == NULL ? NULL : b->fingerprints,
                                   b == NULL ? 0 : b->count, error));
    join->ended = pairs.ended;
    return IDX_OK;
}

/* Searches part number `part` of side a, which is in memory, with each part of side b, which is read for that. Within
 * one index, where both sides have the same parts, searches the part within itself, and then only with later parts. */
static enum idx_status search_with_all_parts_of_b(struct part_search *search, uint32_t part, struct idx_error *error) {
    bool within = search->join->within;
    if (within) IDXI_TRY(search_loaded_parts(search, NULL, error));
    for (uint32_t i = within ? part + 1 : 0; i < search->b.part_count && !search->join->ended; i++) {
        IDXI_TRY(load_part(search, &search->b, i, error));
        IDXI_TRY(search_loaded_parts(search, &search->b, error));
    }
    return IDX_OK;
}

/* Loads the parts of side a one after the other, and searches each with all of side b, until the visitor ends the
 * join. */
static enum idx_status search_all_parts(struct part_search *search, struct idx_error *error) {
    uint64_t a_parts = search->a.part_count, b_parts = search->b.part_count;
    search->total_searches = search->join->within ? a_parts * (a_parts + 1) / 2 : a_parts * b_parts;
    for (uint32_t i = 0; i < a_parts && !search->join->ended; i++) {
        IDXI_TRY(load_part(search, &search->a, i, error));
        IDXI_TRY(search_with_all_parts_of_b(search, i, error));
    }
    return IDX_OK;
}

/* ---- All ---- */

/* Prepares a side to be read in parts of about `part_limit` fingerprints. Reserves an array for the whole side, since
 * parts vary in size with what blocks hold; only what is written takes memory. idxi_join_match_in_memory releases it.
 */
static enum idx_status open_side(struct idxi_join *join, struct side *side, const struct idx_index *index,
                                 uint64_t part_limit, struct idx_error *error) {
    uint64_t fingerprints = count_with_pending(index);
    side->progress = &join->progress;
    side->index = index;
    side->part_count = count_parts(fingerprints, part_limit);
    side->capacity = (size_t)fingerprints;
    side->fingerprints = idxi_array_reserve(side->capacity);
    return side->fingerprints != NULL ? IDX_OK : idxi_fail_memory(error);
}

enum idx_status idxi_join_match_in_memory(struct idxi_join *join, struct idx_error *error) {
    struct part_search search = {.join = join, .memory = get_array_bytes(join)};
    uint64_t part_limit = choose_part_limit(join, search.memory);
    IDXI_TRY(idxi_progress_begin(&join->progress, IDX_PHASE_COMPARING, idxi_count_fingerprints(join->a), error));
    enum idx_status status = open_side(join, &search.a, join->a, part_limit, error);
    if (status == IDX_OK) status = open_side(join, &search.b, join->b, part_limit, error);
    if (status == IDX_OK) status = search_all_parts(&search, error);
    idxi_array_release(search.a.fingerprints, search.a.capacity);
    idxi_array_release(search.b.fingerprints, search.b.capacity);
    return status;
}
