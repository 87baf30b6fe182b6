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
 * MIN_COLLECTED, and not more than MAX_COLLECTED. */
#define MIN_COLLECTED ((size_t)1 << 16)
#define MAX_COLLECTED ((size_t)1 << 24)
#define COLLECTED_PER_QUERY 8

/* How many fingerprints are compared with the queries of one ball before the next ball: SMALL_CHUNK, which the first
 * cache holds. If the queries' folds take more than CACHED_BYTES, it is up to LARGE_CHUNK, sorted into parts by up to
 * MAX_PARTITION_BITS bits, so that the folds of one part, about PARTITION_BYTES, stay in a cache. */
#define SMALL_CHUNK ((size_t)1 << 11)
#define LARGE_CHUNK ((size_t)1 << 19)
#define CACHED_BYTES ((uint64_t)512 << 10)
#define PARTITION_BYTES ((uint64_t)128 << 10)
#define MAX_PARTITION_BITS 10
/* Bytes of each fingerprint that is sorted into parts: in its array, and in the sorted one. */
#define SORT_BYTES 16

struct idxi_streaming_worker {
    struct idxi_streaming *streaming;
    struct idxi_balls balls;
    uint64_t *fingerprints;  /* collected and not yet searched */
    uint64_t *sorted;        /* as many, if they are sorted */
    size_t count, capacity;  /* how many fingerprints are collected, and may be */
    unsigned partition_bits; /* how many bits of a ball they are sorted by; 0: they are not sorted */
    uint32_t counts[(1 << MAX_PARTITION_BITS) + 1];
    struct idx_pair pairs[PAIRS_TOGETHER]; /* `a` is the query */
    size_t pair_count;
    struct idxi_match_buffer buffer;
    enum idx_status status; /* the status of adding matches, with its error */
    struct idx_error *error;
};

enum idx_status idxi_copy_batch_options(struct idx_batch_options *options,
                                        const struct idx_batch_options *caller_options, struct idx_error *error) {
    *options = (struct idx_batch_options)IDX_BATCH_OPTIONS_INIT;
    IDXI_TRY(idxi_copy_options(options, caller_options, error));
    IDXI_TRY(idxi_check_threads(options->threads, error));
    if ((unsigned)options->method > IDX_BATCH_STREAM)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "there is no batch method %u", (unsigned)options->method);
    return idxi_memory_choose_limit(&options->memory_bytes, error);
}

size_t idxi_choose_collected_count(size_t query_count, uint64_t memory) {
    size_t count =
        query_count < MAX_COLLECTED / COLLECTED_PER_QUERY ? query_count * COLLECTED_PER_QUERY : MAX_COLLECTED;
    uint64_t fitting_count = memory / 2 / (sizeof(uint64_t) + IDXI_ARRAY_PAIRS_BYTES);
    if (count < MIN_COLLECTED) count = MIN_COLLECTED;
    if (count > fitting_count) count = (size_t)fitting_count;
    return count > 0 ? count : 1;
}

uint64_t idxi_count_bucket_bytes(size_t query_count, unsigned distance, unsigned width) {
    return (distance + 1) * (idxi_get_buckets_bytes(query_count, width) + (uint64_t)query_count * sizeof(uint32_t));
}

/* ---- Matches ---- */

/* How many pairs ahead of its use the place of a query is prefetched. */
#define AHEAD 16

/* An idx_pairs_visitor: adds each pair of a query and a fingerprint to the matches of all queries of that value.
 * Returns false after an error, which sets worker->status. */
static bool add_pairs(void *context, const struct idx_pair *pairs, size_t count) {
    struct idxi_streaming_worker *worker = context;
    const struct idxi_streaming *streaming = worker->streaming;
    const struct idxi_distinct_queries *queries = &streaming->queries;
    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD < count) idxi_value_slots_prefetch(&streaming->slots, pairs[i + AHEAD].a);
        size_t place = idxi_value_slots_find(&streaming->slots, pairs[i].a);
        for (size_t j = queries->firsts[place]; j < queries->firsts[place + 1] && worker->status == IDX_OK; j++)
            worker->status = idxi_add_match(&worker->buffer, queries->numbers[j], pairs[i].b, worker->error);
    }
    return worker->status == IDX_OK;
}

/* Adds the gathered pairs to the matches, and forgets them. An error sets worker->status. */
static void add_gathered_pairs(struct idxi_streaming_worker *worker) {
    add_pairs(worker, worker->pairs, worker->pair_count);
    worker->pair_count = 0;
}

/* This is idxi_comparison.visit: adds a pair to worker->pairs, since looking up the queries of many pairs together is
 * faster. */
static void gather_pair(void *context, uint64_t fingerprint, uint64_t query, unsigned distance) {
    struct idxi_streaming_worker *worker = context;
    worker->pairs[worker->pair_count++] = (struct idx_pair){query, fingerprint, distance};
    if (worker->pair_count == PAIRS_TOGETHER) add_gathered_pairs(worker);
}

/* ---- Searching ---- */

/* Finds the matches of some fingerprints by searching them with all queries as arrays. Adds the fingerprints to the
 * progress. An error of adding matches is in worker->status instead. */
static enum idx_status find_matches_in_arrays(struct idxi_streaming_worker *worker, const uint64_t *fingerprints,
                                              size_t count, struct idx_error *error) {
    struct idxi_streaming *streaming = worker->streaming;
    uint64_t array_bytes = worker->capacity * sizeof(uint64_t);
    struct idxi_array_pairs pairs = {.distance = streaming->distance,
                                     .threads = streaming->array_threads,
                                     .memory = streaming->memory > array_bytes ? streaming->memory - array_bytes : 0,
                                     .visit = add_pairs,
                                     .visit_context = worker,
                                     .progress = streaming->progress,
                                     .work = count};
    return idxi_find_array_pairs(&pairs, streaming->queries.values, streaming->queries.count, fingerprints, count,
                                 error);
}

/* Finds the matches of some fingerprints: compares them, for each ball in turn, with the queries that have the same
 * bits in it. Pairs that an earlier ball found are left out. An error sets worker->status. Adds nothing to the
 * progress. */
static void find_matches_in_balls(struct idxi_streaming_worker *worker, const uint64_t *fingerprints, size_t count) {
    const struct idxi_streaming *streaming = worker->streaming;
    struct idxi_balls *balls = &worker->balls;
    for (size_t i = 0; i < streaming->cut.count && worker->status == IDX_OK; i++) {
        const struct idxi_folded_buckets *buckets = &streaming->buckets[i];
        const uint64_t *to_compare = fingerprints;
        if (worker->partition_bits > 0) {
            uint64_t mask = idxi_keep_highest_bits(buckets->mask, worker->partition_bits);
            idxi_sort_by_mask(balls->way, fingerprints, count, mask, worker->sorted, worker->counts);
            to_compare = worker->sorted;
        }
        balls->comparison.before_count = i;
        balls->way->with_bucket(&balls->comparison, to_compare, count, buckets);
    }
    add_gathered_pairs(worker);
}

/* Finds the matches of some fingerprints, by arrays if there are no balls, and adds the fingerprints to the progress.
 */
static enum idx_status find_matches(struct idxi_streaming_worker *worker, const uint64_t *fingerprints, size_t count,
                                    struct idx_error *error) {
    struct idxi_streaming *streaming = worker->streaming;
    worker->error = error;
    if (count == 0) return IDX_OK;
    if (streaming->queries.count > 0 && streaming->cut.count == 0) {
        IDXI_TRY(find_matches_in_arrays(worker, fingerprints, count, error));
        return worker->status;
    }
    if (streaming->queries.count > 0) find_matches_in_balls(worker, fingerprints, count);
    return worker->status == IDX_OK ? idxi_progress_add(streaming->progress, count, error) : worker->status;
}

/* ---- Opening ---- */

/* An idxi_plain_task: sorts the queries into the buckets of ball `number`, which idxi_streaming_close frees in any
 * case. */
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
    struct idxi_sorting sorting = {.way = idxi_get_widest_compare_way(),
                                   .from = queries->values,
                                   .count = queries->count,
                                   .mask = folded->mask,
                                   .to = folded->buckets};
    IDXI_TRY(idxi_sort_into_buckets(&sorting, error));
    for (size_t i = 0; i < queries->count; i++) folded->folds[i] = idxi_fold(folded->buckets.fingerprints[i]);
    return IDX_OK;
}

/* Returns by how many of the `width` bits of a ball fingerprints are sorted if the folds of all queries take
 * `fold_bytes` bytes. 0: they are not sorted. */
static unsigned count_partition_bits(uint64_t fold_bytes, unsigned width) {
    unsigned bits = 0;
    if (fold_bytes <= CACHED_BYTES) return 0;
    while (bits < MAX_PARTITION_BITS && bits < width && fold_bytes >> bits > PARTITION_BYTES) bits++;
    return bits;
}

/* Makes streaming->workers[thread], with its memory. After an error, idxi_streaming_close frees what was made. */
static enum idx_status create_worker(struct idxi_streaming *streaming, unsigned thread, struct idx_error *error) {
    struct idxi_streaming_worker *worker = calloc(1, sizeof *worker);
    streaming->workers[thread] = worker;
    if (worker == NULL) return idxi_fail_memory(error);
    size_t query_count = streaming->queries.count;
    uint64_t room = streaming->memory / streaming->threads / 2 / SORT_BYTES;
    worker->streaming = streaming;
    worker->buffer.results = streaming->results;
    idxi_balls_init(&worker->balls, streaming->distance);
    worker->balls.comparison.visit = gather_pair;
    worker->balls.comparison.context = worker;
    memcpy(worker->balls.before, streaming->cut.balls, sizeof streaming->cut.balls);
    worker->capacity = idxi_choose_collected_count(query_count, streaming->memory);
    if (streaming->cut.count > 0) {
        worker->partition_bits = count_partition_bits(query_count * sizeof(uint32_t), streaming->cut.width);
        if (room > LARGE_CHUNK) room = LARGE_CHUNK;
        worker->capacity = worker->partition_bits == 0 || room < SMALL_CHUNK ? SMALL_CHUNK : (size_t)room;
    }
    if (worker->partition_bits > 0) worker->sorted = idxi_array_reserve(worker->capacity);
    worker->fingerprints = idxi_array_reserve(worker->capacity);
    bool has_memory = worker->fingerprints != NULL && (worker->partition_bits == 0 || worker->sorted != NULL);
    return has_memory ? IDX_OK : idxi_fail_memory(error);
}

enum idx_status idxi_streaming_open(struct idxi_streaming *streaming, const uint64_t *queries, size_t count,
                                    unsigned bits, uint64_t fingerprint_count, const struct idx_batch_options *options,
                                    struct idxi_results *results, struct idxi_progress *progress,
                                    struct idx_error *error) {
    uint64_t memory = options->memory_bytes / 2;
    unsigned width = idxi_choose_streaming_way(count, bits, options->distance, fingerprint_count, memory).width;
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
    for (unsigned i = 0; i < streaming->threads; i++) IDXI_TRY(create_worker(streaming, i, error));
    return IDX_OK;
}

/* ---- Comparing ---- */

/* Finds the matches of the fingerprints that a thread has collected, and forgets these, even if this fails. */
static enum idx_status find_matches_of_collected(struct idxi_streaming_worker *worker, struct idx_error *error) {
    size_t count = worker->count;
    worker->count = 0;
    return find_matches(worker, worker->fingerprints, count, error);
}

enum idx_status idxi_streaming_compare(struct idxi_streaming *streaming, size_t thread, const uint64_t *fingerprints,
                                       size_t count, struct idx_error *error) {
    struct idxi_streaming_worker *worker = streaming->workers[thread];
    IDXI_TRY(idxi_check_fingerprints(fingerprints, count, streaming->bits, error));
    while (count > 0) {
        size_t taken = worker->capacity - worker->count < count ? worker->capacity - worker->count : count;
        if (taken == worker->capacity) { /* nothing is collected, and as many as fit are left: no need to copy them */
            IDXI_TRY(find_matches(worker, fingerprints, taken, error));
        } else {
            memcpy(worker->fingerprints + worker->count, fingerprints, taken * sizeof *fingerprints);
            worker->count += taken;
            if (worker->count == worker->capacity) IDXI_TRY(find_matches_of_collected(worker, error));
        }
        fingerprints += taken;
        count -= taken;
    }
    return IDX_OK;
}

/* An idxi_plain_task: finds the matches of what a thread has collected, and adds all its matches to the results. */
static enum idx_status finish_matches_of_thread(void *context, size_t thread, struct idx_error *error) {
    struct idxi_streaming *streaming = context;
    IDXI_TRY(find_matches_of_collected(streaming->workers[thread], error));
    return idxi_results_add_buffer(&streaming->workers[thread]->buffer, error);
}

enum idx_status idxi_streaming_end(struct idxi_streaming *streaming, struct idx_error *error) {
    return idxi_run_parallel(streaming->threads, streaming->threads, finish_matches_of_thread, streaming,
                             streaming->progress, error);
}

void idxi_streaming_close(struct idxi_streaming *streaming) {
    for (unsigned i = 0; i < streaming->threads && streaming->workers[i] != NULL; i++) {
        idxi_array_release(streaming->workers[i]->fingerprints, streaming->workers[i]->capacity);
        idxi_array_release(streaming->workers[i]->sorted, streaming->workers[i]->capacity);
        free(streaming->workers[i]);
    }
    for (size_t i = 0; i < streaming->cut.count; i++) {
        free(streaming->buckets[i].buckets.fingerprints);
        free(streaming->buckets[i].buckets.starts);
        free(streaming->buckets[i].folds);
    }
    idxi_distinct_queries_free(&streaming->queries);
    idxi_value_slots_free(&streaming->slots);
}
