/* passing_arrays.c: see passing_arrays.h. */
#include "libidx/batch/passing_arrays.h"

#include <string.h>

#include "libidx/base/base.h"
#include "libidx/fingerprints/array_pairs.h"

/* Fingerprints that are collected, and as many for each query. */
#define LEAST ((size_t)1 << 16)
#define MOST ((size_t)1 << 24)
#define PER_QUERY 8

size_t idxi_passing_arrays_most(size_t queries, uint64_t memory) {
    size_t most = queries < MOST / PER_QUERY ? queries * PER_QUERY : MOST;
    uint64_t room = memory / 2 / (sizeof(uint64_t) + IDXI_ARRAY_PAIRS_BYTES);
    if (most < LEAST) most = LEAST;
    if (most > room) most = (size_t)room;
    return most > 0 ? most : 1;
}

enum idx_status idxi_passing_arrays_open(struct idxi_passing_arrays *passing, const uint64_t *queries, size_t count,
                                         unsigned bits, unsigned distance, unsigned threads, uint64_t memory,
                                         struct idxi_results *results, struct idxi_progress *progress,
                                         struct idx_error *error) {
    memset(passing, 0, sizeof *passing);
    passing->bits = bits;
    passing->distance = distance;
    passing->threads = threads;
    passing->progress = progress;
    passing->finds.results = results;
    passing->most = idxi_passing_arrays_most(count, memory);
    uint64_t collected = passing->most * sizeof(uint64_t);
    passing->memory = memory > collected ? memory - collected : 0;
    passing->fingerprints = idxi_array_reserve(passing->most);
    if (passing->fingerprints == NULL) return idxi_fail_memory(error);
    IDXI_TRY(idxi_distinct_queries_make(&passing->queries, queries, count, error));
    bool enough = idxi_value_slots_make(&passing->slots, passing->queries.values, passing->queries.count);
    return enough ? IDX_OK : idxi_fail_memory(error);
}

static bool take_pairs(void *context, const struct idx_pair *pairs, size_t count) {
    struct idxi_passing_arrays *passing = context;
    const struct idxi_distinct_queries *queries = &passing->queries;
    for (size_t i = 0; i < count; i++) {
        size_t at = idxi_value_slots_find(&passing->slots, pairs[i].a);
        for (size_t j = queries->firsts[at]; j < queries->firsts[at + 1] && passing->status == IDX_OK; j++)
            passing->status = idxi_results_find(&passing->finds, queries->numbers[j], pairs[i].b, passing->error);
    }
    return passing->status == IDX_OK;
}

static enum idx_status search(struct idxi_passing_arrays *passing, const uint64_t *fingerprints, size_t count,
                              struct idx_error *error) {
    struct idxi_array_pairs pairs = {.distance = passing->distance,
                                     .threads = passing->threads,
                                     .memory = passing->memory,
                                     .visit = take_pairs,
                                     .visit_context = passing,
                                     .progress = passing->progress,
                                     .work = count};
    passing->error = error;
    if (count == 0) return IDX_OK;
    if (passing->queries.count == 0) return idxi_progress_add(passing->progress, count, error);
    IDXI_TRY(
        idxi_array_pairs_find(&pairs, passing->queries.values, passing->queries.count, fingerprints, count, error));
    return passing->status;
}

enum idx_status idxi_passing_arrays_add(struct idxi_passing_arrays *passing, const uint64_t *fingerprints, size_t count,
                                        struct idx_error *error) {
    IDXI_TRY(idxi_check_fingerprints(fingerprints, count, passing->bits, error));
    while (count > 0) {
        size_t some = passing->most - passing->count < count ? passing->most - passing->count : count;
        if (some == passing->most) {
            IDXI_TRY(search(passing, fingerprints, some, error));
        } else {
            memcpy(passing->fingerprints + passing->count, fingerprints, some * sizeof *fingerprints);
            passing->count += some;
            if (passing->count == passing->most) IDXI_TRY(idxi_passing_arrays_end(passing, error));
        }
        fingerprints += some;
        count -= some;
    }
    return IDX_OK;
}

enum idx_status idxi_passing_arrays_end(struct idxi_passing_arrays *passing, struct idx_error *error) {
    size_t count = passing->count;
    passing->count = 0;
    IDXI_TRY(search(passing, passing->fingerprints, count, error));
    return idxi_results_put(&passing->finds, error);
}

void idxi_passing_arrays_close(struct idxi_passing_arrays *passing) {
    idxi_distinct_queries_free(&passing->queries);
    idxi_value_slots_free(&passing->slots);
    idxi_array_release(passing->fingerprints, passing->most);
}
