/* array_pairs.c: see array_pairs.h; also idx_array_pairs, which searches an array of the caller. */
#include "libidx/fingerprints/array_pairs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "format/processor.h"
#include "libidx/fingerprints/sorting.h"
#include "libidx/streams/sort.h"

#define MAX_GATHERED 4096 /* pairs that a visitor gets at a time, at most */

/* The state that the threads of a search share. */
struct array_search {
    struct idxi_array_pairs *pairs;
    struct idxi_balls **team; /* one for each thread, the first member of its worker */
    pthread_mutex_t visit_mutex;
    atomic_bool ended; /* set when the visitor ends the search */
};

/* The state of one thread, and the pairs that it has not handed over yet. */
struct worker {
    struct idxi_balls balls; /* the first member, by which search->team points to the worker */
    struct array_search *search;
    struct idx_pair pairs[MAX_GATHERED];
    size_t pair_count;
};

/* ---- Pairs ---- */

/* Hands a thread's pairs to the visitor, unless that has ended the search, and forgets them. The visitor is called by
 * one thread at a time. */
static void hand_over_pairs(struct worker *worker) {
    struct array_search *search = worker->search;
    struct idxi_array_pairs *pairs = search->pairs;
    pthread_mutex_lock(&search->visit_mutex);
    if (!search->ended && worker->pair_count > 0 &&
        !pairs->visit(pairs->visit_context, worker->pairs, worker->pair_count))
        search->ended = pairs->ended = true;
    pthread_mutex_unlock(&search->visit_mutex);
    worker->pair_count = 0;
}

/* This is idxi_comparison.visit: adds a pair to those of the thread, and hands them over once they are MAX_GATHERED. */
static void gather_pair(void *context, uint64_t a, uint64_t b, unsigned distance) {
    struct worker *worker = context;
    bool swaps = worker->search->pairs->within && a > b;
    worker->pairs[worker->pair_count++] = (struct idx_pair){swaps ? b : a, swaps ? a : b, distance};
    if (worker->pair_count == MAX_GATHERED) hand_over_pairs(worker);
}

/* This is idxi_balls.goes_on: returns false if the visitor or the caller of the progress has ended the search. */
static bool is_going_on(void *context) {
    struct array_search *search = ((struct worker *)context)->search;
    return !search->ended && idxi_progress_add(search->pairs->progress, 0, NULL) == IDX_OK;
}

/* ---- Threads ---- */

/* Makes a worker for each thread, in search->team. The caller frees the workers and the team, also after an error.
 * Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status make_workers(struct array_search *search, struct idx_error *error) {
    search->team = calloc(search->pairs->threads, sizeof(struct idxi_balls *));
    if (search->team == NULL) return idxi_fail_memory(error);
    for (unsigned i = 0; i < search->pairs->threads; i++) {
        struct worker *worker = malloc(sizeof *worker);
        if (worker == NULL) return idxi_fail_memory(error);
        search->team[i] = &worker->balls;
        worker->search = search;
        worker->pair_count = 0;
        idxi_balls_init(&worker->balls, search->pairs->distance);
        worker->balls.comparison.visit = gather_pair;
        worker->balls.goes_on = is_going_on;
        worker->balls.comparison.context = worker;
    }
    return IDX_OK;
}

enum idx_status idxi_find_array_pairs(struct idxi_array_pairs *pairs, const uint64_t *a, size_t a_count,
                                      const uint64_t *b, size_t b_count, struct idx_error *error) {
    struct array_search search = {.pairs = pairs, .visit_mutex = PTHREAD_MUTEX_INITIALIZER};
    pairs->ended = false;
    enum idx_status status = make_workers(&search, error);
    if (status == IDX_OK)
        status = idxi_balls_search(search.team, pairs->threads, pairs->memory, pairs->progress, pairs->work, a, a_count,
                                   b, b_count, error);
    for (unsigned i = 0; i < pairs->threads && search.team != NULL; i++) {
        struct worker *worker = (struct worker *)search.team[i];
        if (status == IDX_OK) hand_over_pairs(worker);
        free(worker);
    }
    free(search.team);
    pthread_mutex_destroy(&search.visit_mutex);
    return status;
}

/* ---- Arrays of the caller ---- */

/* Copies are sorted into buckets by so many of the highest bits that vary, and then each bucket is sorted. */
#define BUCKET_BITS 11

/* A sorted copy of an array, in which each fingerprint occurs once. */
struct distinct_copy {
    uint64_t *fingerprints;
    size_t count, capacity;
};

/* What the threads that make a sorted copy share. */
struct copy_job {
    struct idxi_sorting sorting;
    uint64_t *spare;  /* as large as the array */
    uint32_t *counts; /* of distinct fingerprints, for each bucket */
};

/* An idxi_plain_task: sorts a bucket, moves its distinct fingerprints to its front, and sets job->counts[bucket] to how
 * many there are. */
static enum idx_status sort_bucket(void *context, size_t bucket, struct idx_error *error) {
    struct copy_job *job = context;
    size_t begin = job->sorting.to.starts[bucket], count = job->sorting.to.starts[bucket + 1] - begin;
    uint64_t *fingerprints = job->sorting.to.fingerprints + begin;
    uint32_t kept_count = 0;
    idxi_sort_pairs(fingerprints, NULL, count, false, job->spare + begin, NULL);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || fingerprints[i] != fingerprints[kept_count - 1]) fingerprints[kept_count++] = fingerprints[i];
    }
    job->counts[bucket] = kept_count;
    return idxi_progress_add(job->sorting.progress, 0, error); /* fails if cancelled */
}

/* Sorts the array into buckets, then each bucket, and closes the gaps between the buckets' distinct fingerprints. */
static enum idx_status sort_distinct(struct copy_job *job, struct distinct_copy *distinct, struct idx_error *error) {
    const struct idxi_sorting *sorting = &job->sorting;
    size_t bucket_count = (size_t)1 << idxf_count_bits(sorting->mask);
    IDXI_TRY(idxi_sort_into_buckets(&job->sorting, error));
    IDXI_TRY(idxi_run_parallel(bucket_count, sorting->threads, sort_bucket, job, sorting->progress, error));
    for (size_t i = 0; i < bucket_count; i++) {
        memmove(distinct->fingerprints + distinct->count, distinct->fingerprints + sorting->to.starts[i],
                job->counts[i] * sizeof(uint64_t));
        distinct->count += job->counts[i];
    }
    return IDX_OK;
}

/* Sets *distinct, which is zeroed, to a copy of an array, sorted on several threads, without repetitions. The caller
 * releases distinct->fingerprints, even after an error. Errors: IDX_LIMIT (2^32 - 1 fingerprints or more),
 * IDX_OUT_OF_MEMORY, IDX_CANCELLED. */
static enum idx_status copy_distinct(struct distinct_copy *distinct, const uint64_t *fingerprints, size_t count,
                                     unsigned threads, struct idxi_progress *progress, struct idx_error *error) {
    if (count >= UINT32_MAX) /* starts of buckets have 32 bits */
        return idxi_fail(error, IDX_LIMIT, NULL, "%zu fingerprints: the maximum is 2^32 - 2", count);
    uint64_t mask = idxi_keep_highest_bits(idxi_find_varying_bits(fingerprints, count), BUCKET_BITS);
    unsigned width = idxf_count_bits(mask);
    distinct->capacity = count;
    distinct->fingerprints = idxi_array_reserve(count);
    struct copy_job job = {
        .sorting = {.way = idxi_get_widest_compare_way(),
                    .threads = threads,
                    .progress = progress,
                    .counts = threads > 1 ? malloc(threads * idxi_get_counts_bytes(width)) : NULL,
                    .from = fingerprints,
                    .count = count,
                    .mask = mask,
                    .to = {distinct->fingerprints, malloc((((size_t)1 << width) + 2) * sizeof(uint32_t))}},
        .spare = idxi_array_reserve(count),
        .counts = malloc(sizeof(uint32_t) << width)};
    bool has_memory = distinct->fingerprints != NULL && job.spare != NULL && job.counts != NULL &&
                      job.sorting.to.starts != NULL && (threads == 1 || job.sorting.counts != NULL);
    enum idx_status status = has_memory ? sort_distinct(&job, distinct, error) : idxi_fail_memory(error);
    free(job.counts);
    idxi_array_release(job.spare, count);
    free(job.sorting.to.starts);
    free(job.sorting.counts);
    return status;
}

/* Finds the pairs within a sorted copy, and visits them. The bytes of the copy count towards options->memory_bytes.
 * Errors: IDX_OUT_OF_MEMORY, IDX_CANCELLED. */
static enum idx_status search_distinct_copy(const struct distinct_copy *copy, const struct idx_join_options *options,
                                            struct idxi_progress *progress, idx_pairs_visitor visit,
                                            void *visit_context, struct idx_error *error) {
    uint64_t memory = idxi_memory_of_arrays(options->memory_bytes, options->threads);
    uint64_t copy_bytes = copy->count * sizeof(uint64_t);
    struct idxi_array_pairs pairs = {.distance = options->distance,
                                     .threads = options->threads,
                                     .memory = memory > copy_bytes ? memory - copy_bytes : 0,
                                     .visit = visit,
                                     .visit_context = visit_context,
                                     .progress = progress,
                                     .within = true,
                                     .work = copy->count};
    IDXI_TRY(idxi_progress_begin(progress, IDX_PHASE_COMPARING, pairs.work, error));
    IDXI_TRY(idxi_find_array_pairs(&pairs, copy->fingerprints, copy->count, NULL, 0, error));
    return idxi_progress_add(progress, 0, error); /* fails if cancelled */
}

enum idx_status idx_array_pairs(const uint64_t *fingerprints, size_t count, const struct idx_join_options *options,
                                idx_pairs_visitor visit, void *visit_context, struct idx_error *error) {
    struct idx_join_options own = IDX_JOIN_OPTIONS_INIT;
    struct distinct_copy copy = {0};
    struct idxi_progress progress;
    IDXI_TRY(idxi_copy_options(&own, options, error));
    if (own.distance == UINT_MAX) own.distance = IDX_DEFAULT_K;
    IDXI_TRY(idxi_check_distance_limit(own.distance, IDX_INVALID_ARGUMENT, error));
    IDXI_TRY(idxi_check_threads(own.threads, error));
    IDXI_TRY(idxi_memory_choose_limit(&own.memory_bytes, error));
    idxi_progress_init(&progress, own.progress, own.context);
    enum idx_status status = copy_distinct(&copy, fingerprints, count, own.threads, &progress, error);
    if (status == IDX_OK) status = search_distinct_copy(&copy, &own, &progress, visit, visit_context, error);
    idxi_array_release(copy.fingerprints, copy.capacity);
    return status;
}
