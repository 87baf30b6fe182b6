/* streaming.c: compares fingerprints that stream past queries, some at a time. */
#include "libidx/batch/streaming.h"

#include <stdlib.h>
#include <string.h>

#include "libidx/batch/cost.h"
#include "libidx/fingerprints/array_pairs.h"
#include "libidx/fingerprints/sorting.h"

/* How many pairs of a query and a fingerprint are gathered before their queries' places are looked up together. */
#define PAIRS_TOGETHER 256

/* How many fingerprints are collected for a search of arrays: COLLECTED_PER_QUERY for each query, but not fewer than
 * LEAST_COLLECTED, and not more than MOST_COLLECTED. */
#define LEAST_COLLECTED ((size_t)1 << 16)
#define MOST_COLLECTED ((size_t)1 << 24)
#define COLLECTED_PER_QUERY 8

/* How many fingerprints meet the queries of one ball before the next: FEW_MET, which the first cache holds; or if the
 * queries' folds take more than CACHED_BYTES, up to MANY_MET, sorted by up to MAX_PARTITION_BITS bits into parts, so
 * that the folds of one part, about PARTITION_BYTES, stay in a cache. */
#define FEW_MET ((size_t)1 << 11)
#define MANY_MET ((size_t)1 << 19)
#define CACHED_BYTES ((uint64_t)512 << 10)
#define PARTITION_BYTES ((uint64_t)128 << 10)
#define MAX_PARTITION_BITS 10
/* Bytes of each fingerprint that is sorted so: in its array, and in the sorted one. */
#define SORT_BYTES 16

struct idxi_passing {
    struct idxi_streaming *streaming;
    struct idxi_balls balls;
    uint64_t *fingerprints;  /* collected and not yet searched */
    uint64_t *sorted;        /* room for as many, if they are sorted */
    size_t count, limit;     /* how many fingerprints are collected, and may be */
    unsigned partition_bits; /* how many bits of a ball they are sorted by */
    uint32_t counts[(1 << MAX_PARTITION_BITS) + 1];
    struct idx_pair pairs[PAIRS_TOGETHER]; /* `a` is the query */
    size_t pair_count;
    struct idxi_finds finds;
    enum idx_status status; /* the status of adding matches, with its error */
    struct idx_error *error;
};

enum idx_status idxi_copy_batch_options(struct idx_batch_options *options, const struct idx_batch_options *given,
                                        struct idx_error *error) {
    *options = (struct idx_batch_options)IDX_BATCH_OPTIONS_INIT;
    IDXI_TRY(idxi_copy_options(options, given, error));
    IDXI_TRY(idxi_check_threads(options->threads, error));
    if ((unsigned)options->method > IDX_BATCH_STREAM)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "there is no batch method %u", (unsigned)options->method);
    return idxi_memory_choose_limit(&options->memory_bytes, error);
}

size_t idxi_choose_collected_count(size_t queries, uint64_t memory) {
    size_t count = queries < MOST_COLLECTED / COLLECTED_PER_QUERY ? queries * COLLECTED_PER_QUERY : MOST_COLLECTED;
    uint64_t held = memory / 2 / (sizeof(uint64_t) + IDXI_ARRAY_PAIRS_BYTES);
    if (count < LEAST_COLLECTED) count = LEAST_COLLECTED;
    if (count > held) count = (size_t)held;
    return count > 0 ? count : 1;
}

uint64_t idxi_count_bucket_bytes(size_t queries, unsigned distance, unsigned width) {
    return (distance + 1) * (idxi_get_buckets_bytes(queries, width) + (uint64_t)queries * sizeof(uint32_t));
}

/* ---- Matches ---- */

/* How many pairs ahead of its use the place of a query is prefetched. */
#define AHEAD 16

/* An idx_pairs_visitor: adds each pair of a query and a fingerprint to the matches of all queries of that value.
 * Returns false after an error, which sets passing->status. */
static bool add_pairs(void *context, const struct idx_pair *pairs, size_t count) {
    struct idxi_passing *passing = context;
    const struct idxi_streaming *streaming = passing->streaming;
    const struct idxi_distinct_queries *queries = &streaming->queries;
    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD < count) idxi_value_slots_prefetch(&streaming->slots, pairs[i + AHEAD].a);
        size_t place = idxi_value_slots_find(&streaming->slots, pairs[i].a);
        for (size_t j = queries->firsts[place]; j < queries->firsts[place + 1] && passing->status == IDX_OK; j++)
            passing->status = idxi_finds_add(&passing->finds, queries->numbers[j], pairs[i].b, passing->error);
    }
    return passing->status == IDX_OK;
}

/* Adds the gathered pairs to the matches, and forgets them. An error sets passing->status. */
static void add_gathered_pairs(struct idxi_passing *passing) {
    add_pairs(passing, passing->pairs, passing->pair_count);
    passing->pair_count = 0;
}

/* The visitor of comparisons: adds a pair to passing->pairs, since looking up the queries of many pairs together is
 * faster. */
static void gather_pair(void *context, uint64_t fingerprint, uint64_t query, unsigned distance) {
    struct idxi_passing *passing = context;
    passing->pairs[passing->pair_count++] = (struct idx_pair){query, fingerprint, distance};
    if (passing->pair_count == PAIRS_TOGETHER) add_gathered_pairs(passing);
}

/* ---- Searching ---- */

/* Finds the matches of some fingerprints by searching them with all queries as arrays. Reports the progress. */
static enum idx_status search_arrays(struct idxi_passing *passing, const uint64_t *fingerprints, size_t count,
                                     struct idx_error *error) {
    struct idxi_streaming *streaming = passing->streaming;
    uint64_t collected = passing->limit * sizeof(uint64_t); /* bytes */
    struct idxi_array_pairs pairs = {.distance = streaming->distance,
                                     .threads = streaming->array_threads,
                                     .memory = streaming->memory > collected ? streaming->memory - collected : 0,
                                     .visit = add_pairs,
                                     .visit_context = passing,
                                     .progress = streaming->progress,
                                     .work = count};
    return idxi_find_array_pairs(&pairs, streaming->queries.values, streaming->queries.count, fingerprints, count,
                                 error);
}

/* Compares fingerprints, ball by ball, with the queries that share their bits of it. Sets passing->status on errors. */
static void meet_queries(struct idxi_passing *passing, const uint64_t *fingerprints, size_t count) {
    const struct idxi_streaming *streaming = passing->streaming;
    struct idxi_balls *balls = &passing->balls;
    for (size_t i = 0; i < streaming->cut.count && passing->status == IDX_OK; i++) {
        const struct idxi_folded_buckets *buckets = &streaming->buckets[i];
        const uint64_t *from = fingerprints;
        if (passing->partition_bits > 0) {
            uint64_t mask = idxi_keep_highest_bits(buckets->mask, passing->partition_bits);
            idxi_sort_by_mask(balls->way, fingerprints, count, mask, passing->sorted, passing->counts);
            from = passing->sorted;
        }
        balls->comparison.before_count = i;
        balls->way->meet(&balls->comparison, from, count, buckets);
    }
    add_gathered_pairs(passing);
}

/* Finds the matches of some fingerprints, in the faster way, and adds the fingerprints to the progress. */
static enum idx_status search_fingerprints(struct idxi_passing *passing, const uint64_t *fingerprints, size_t count,
                                           struct idx_error *error) {
    struct idxi_streaming *streaming = passing->streaming;
    passing->error = error;
    if (count == 0) return IDX_OK;
    if (streaming->queries.count > 0 && streaming->cut.count == 0) {
        IDXI_TRY(search_arrays(passing, fingerprints, count, error));
        return passing->status;
    }
    if (streaming->queries.count > 0) meet_queries(passing, fingerprints, count);
    return passing->status == IDX_OK ? idxi_progress_add(streaming->progress, count, error) : passing->status;
}

/* ---- Opening ---- */

/* An idxi_task: sorts the queries into the buckets of ball `number`, which idxi_streaming_close frees in any case. */
static enum idx_status fill_buckets(void *context, size_t number, struct idx_error *error) {
    struct idxi_streaming *streaming = context;
    struct idxi_folded_buckets *folded = &streaming->buckets[number];
    const struct idxi_distinct_queries *queries = &streaming->queries;
    folded->mask = streaming->cut.balls[number].mask;
    folded->buckets.fingerprints = malloc((queries->count + 1) * sizeof(uint64_t));
    folded->buckets.starts = malloc((((size_t)1 << streaming->cut.width) + 2) * sizeof(uint32_t));
    folded->folds = calloc(queries->count + IDXI_FOLD_PADDING, sizeof *folded->folds);
    if (folded->buckets.fingerprints == NULL || folded->buckets.starts == NULL || folded->folds == NULL)
        return idxi_fail_memory(error);
    struct idxi_sorting sorting = {.way = idxi_compare_widest(),
                                   .from = queries->values,
                                   .count = queries->count,
                                   .mask = folded->mask,
                                   .to = folded->buckets};
    IDXI_TRY(idxi_sort_into_buckets(&sorting, error));
    for (size_t i = 0; i < queries->count; i++) folded->folds[i] = idxi_fold(folded->buckets.fingerprints[i]);
    return IDX_OK;
}

/* Returns how many bits to sort fingerprints by if all queries' folds take `bytes` bytes; 0: they are not sorted. */
static unsigned count_partition_bits(uint64_t bytes, unsigned width) {
    unsigned bits = 0;
    if (bytes <= CACHED_BYTES) return 0;
    while (bits < MAX_PARTITION_BITS && bits < width && bytes >> bits > PARTITION_BYTES) bits++;
    return bits;
}

/* Makes streaming->passings[thread]. After an error, idxi_streaming_close frees what was made. */
static enum idx_status open_passing(struct idxi_streaming *streaming, unsigned thread, struct idx_error *error) {
    struct idxi_passing *passing = streaming->passings[thread] = calloc(1, sizeof *passing);
    if (passing == NULL) return idxi_fail_memory(error);
    size_t queries = streaming->queries.count, room = (size_t)(streaming->memory / streaming->threads / 2 / SORT_BYTES);
    passing->streaming = streaming;
    passing->finds.results = streaming->results;
    idxi_balls_init(&passing->balls, streaming->distance);
    passing->balls.comparison.visit = gather_pair;
    passing->balls.comparison.context = passing;
    memcpy(passing->balls.before, streaming->cut.balls, sizeof streaming->cut.balls);
    passing->limit = idxi_choose_collected_count(queries, streaming->memory);
    if (streaming->cut.count > 0) {
        passing->partition_bits = count_partition_bits(queries * sizeof(uint32_t), streaming->cut.width);
        passing->limit = passing->partition_bits == 0 || room < FEW_MET ? FEW_MET : room < MANY_MET ? room : MANY_MET;
    }
    if (passing->partition_bits > 0) passing->sorted = idxi_array_reserve(passing->limit);
    passing->fingerprints = idxi_array_reserve(passing->limit);
    bool has_memory = passing->fingerprints != NULL && (passing->partition_bits == 0 || passing->sorted != NULL);
    return has_memory ? IDX_OK : idxi_fail_memory(error);
}

enum idx_status idxi_streaming_open(struct idxi_streaming *streaming, const uint64_t *queries, size_t count,
                                    unsigned bits, uint64_t fingerprints, const struct idx_batch_options *options,
                                    struct idxi_results *results, struct idxi_progress *progress,
                                    struct idx_error *error) {
    uint64_t memory = options->memory_bytes / 2;
    unsigned width = idxi_choose_passing(count, bits, options->distance, fingerprints, memory).width;
    *streaming = (struct idxi_streaming){.bits = bits,
                                         .distance = options->distance,
                                         .threads = options->threads,
                                         .array_threads = options->threads,
                                         .memory = memory,
                                         .results = results,
                                         .progress = progress};
    IDXI_TRY(idxi_distinct_queries_make(&streaming->queries, queries, count, error));
    if (!idxi_value_slots_make(&streaming->slots, streaming->queries.values, streaming->queries.count))
        return idxi_fail_memory(error);
    if (width > 0)
        idxi_cut_evenly(&streaming->cut, width, options->distance, streaming->queries.values, streaming->queries.count);
    if (streaming->cut.count == 0) streaming->threads = 1;
    streaming->memory -= streaming->cut.count == 0 ? 0 : idxi_count_bucket_bytes(count, options->distance, width);
    IDXI_TRY(idxi_run_parallel(streaming->cut.count, options->threads, fill_buckets, streaming, NULL, error));
    for (unsigned i = 0; i < streaming->threads; i++) IDXI_TRY(open_passing(streaming, i, error));
    return IDX_OK;
}

/* ---- Passing ---- */

/* Searches the fingerprints that a thread has collected, and forgets them. */
static enum idx_status search_collected(struct idxi_passing *passing, struct idx_error *error) {
    size_t count = passing->count;
    passing->count = 0;
    return search_fingerprints(passing, passing->fingerprints, count, error);
}

enum idx_status idxi_streaming_pass(struct idxi_streaming *streaming, size_t thread, const uint64_t *fingerprints,
                                    size_t count, struct idx_error *error) {
    struct idxi_passing *passing = streaming->passings[thread];
    IDXI_TRY(idxi_check_fingerprints(fingerprints, count, streaming->bits, error));
    while (count > 0) {
        size_t passed = passing->limit - passing->count < count ? passing->limit - passing->count : count;
        if (passed == passing->limit) {
            IDXI_TRY(search_fingerprints(passing, fingerprints, passed, error));
        } else {
            memcpy(passing->fingerprints + passing->count, fingerprints, passed * sizeof *fingerprints);
            passing->count += passed;
            if (passing->count == passing->limit) IDXI_TRY(search_collected(passing, error));
        }
        fingerprints += passed;
        count -= passed;
    }
    return IDX_OK;
}

/* Searches what a thread has collected, and adds its matches to the results. This is an idxi_task. */
static enum idx_status end_passing(void *context, size_t thread, struct idx_error *error) {
    struct idxi_streaming *streaming = context;
    IDXI_TRY(search_collected(streaming->passings[thread], error));
    return idxi_results_add_finds(&streaming->passings[thread]->finds, error);
}

enum idx_status idxi_streaming_end(struct idxi_streaming *streaming, struct idx_error *error) {
    return idxi_run_parallel(streaming->threads, streaming->threads, end_passing, streaming, streaming->progress,
                             error);
}

void idxi_streaming_close(struct idxi_streaming *streaming) {
    for (unsigned i = 0; i < streaming->threads && streaming->passings[i] != NULL; i++) {
        idxi_array_release(streaming->passings[i]->fingerprints, streaming->passings[i]->limit);
        idxi_array_release(streaming->passings[i]->sorted, streaming->passings[i]->limit);
        free(streaming->passings[i]);
    }
    for (size_t i = 0; i < streaming->cut.count; i++) {
        free(streaming->buckets[i].buckets.fingerprints);
        free(streaming->buckets[i].buckets.starts);
        free(streaming->buckets[i].folds);
    }
    idxi_distinct_queries_free(&streaming->queries);
    idxi_value_slots_free(&streaming->slots);
}
