/* array_pairs.c: see array_pairs.h; also idx_array_pairs and idx_array_join, which search arrays of the caller. */
#include "libidx/fingerprints/array_pairs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "format/processor.h"
#include "libidx/base/base.h"
#include "libidx/streams/sort.h"

/* How many pairs a visitor gets at a time, at most. */
#define PAIRS 4096

struct search {
    struct idxi_array_pairs *pairs;
    struct idxi_balls **team; /* one for each thread, the first member of its worker */
    pthread_mutex_t handing_over;
    atomic_bool ended; /* set when the visitor ends the search */
};

/* The state of one thread. */
struct worker {
    struct idxi_balls balls;
    struct search *search;
    struct idx_pair pairs[PAIRS];
    size_t pair_count;
};

/* ---- Pairs ---- */

static void hand_over(struct worker *worker) {
    struct search *search = worker->search;
    struct idxi_array_pairs *pairs = search->pairs;
    pthread_mutex_lock(&search->handing_over);
    if (!search->ended && worker->pair_count > 0 &&
        !pairs->visit(pairs->visit_context, worker->pairs, worker->pair_count))
        search->ended = pairs->ended = true;
    pthread_mutex_unlock(&search->handing_over);
    worker->pair_count = 0;
}

static void put_pair(void *context, uint64_t a, uint64_t b, unsigned distance) {
    struct worker *worker = context;
    bool exchange = worker->search->pairs->within && a > b;
    worker->pairs[worker->pair_count++] = (struct idx_pair){exchange ? b : a, exchange ? a : b, distance};
    if (worker->pair_count == PAIRS) hand_over(worker);
}

static bool goes_on(void *context) {
    struct search *search = ((struct worker *)context)->search;
    return !search->ended && idxi_progress_add(search->pairs->progress, 0, NULL) == IDX_OK;
}

/* ---- Threads ---- */

/* Makes a worker for each thread. After an error, the caller frees what was made. */
static enum idx_status make_team(struct search *search, struct idx_error *error) {
    search->team = calloc(search->pairs->threads, sizeof(struct idxi_balls *));
    if (search->team == NULL) return idxi_fail_memory(error);
    for (unsigned i = 0; i < search->pairs->threads; i++) {
        struct worker *worker = malloc(sizeof *worker);
        if (worker == NULL) return idxi_fail_memory(error);
        search->team[i] = &worker->balls;
        worker->search = search;
        worker->pair_count = 0;
        idxi_balls_init(&worker->balls, search->pairs->distance);
        worker->balls.comparison.visit = put_pair;
        worker->balls.goes_on = goes_on;
        worker->balls.comparison.context = worker;
    }
    return IDX_OK;
}

enum idx_status idxi_array_pairs_find(struct idxi_array_pairs *pairs, const uint64_t *a, size_t a_count,
                                      const uint64_t *b, size_t b_count, struct idx_error *error) {
    struct search search = {.pairs = pairs, .handing_over = PTHREAD_MUTEX_INITIALIZER};
    pairs->ended = false;
    enum idx_status status = make_team(&search, error);
    if (status == IDX_OK)
        status = idxi_balls_search(search.team, pairs->threads, pairs->memory, pairs->progress, pairs->work, a, a_count,
                                   b, b_count, error);
    for (unsigned i = 0; i < pairs->threads && search.team != NULL; i++) {
        struct worker *worker = (struct worker *)search.team[i];
        if (status == IDX_OK) hand_over(worker);
        free(worker);
    }
    free(search.team);
    pthread_mutex_destroy(&search.handing_over);
    return status;
}

/* ---- Arrays of the caller ---- */

/* A sorted copy of an array, in which each fingerprint occurs once. */
struct distinct {
    uint64_t *fingerprints;
    size_t count, room;
};

static void free_distinct(struct distinct *distinct) { idxi_array_release(distinct->fingerprints, distinct->room); }

/* Copies an array, sorts the copy, and drops repetitions. The caller calls free_distinct, even after an error. */
static enum idx_status make_distinct(struct distinct *distinct, const uint64_t *fingerprints, size_t count,
                                     struct idx_error *error) {
    if (count >= UINT32_MAX)
        return idxi_fail(error, IDX_LIMIT, NULL, "%zu fingerprints: the maximum is 2^32 - 2", count);
    distinct->room = count;
    distinct->fingerprints = idxi_array_reserve(count);
    uint64_t *spare = idxi_array_reserve(count);
    bool enough = distinct->fingerprints != NULL && spare != NULL;
    if (enough && count > 0) {
        memcpy(distinct->fingerprints, fingerprints, count * sizeof *fingerprints);
        idxi_sort_pairs(distinct->fingerprints, NULL, count, false, spare, NULL);
    }
    for (size_t i = 0; enough && i < count; i++) {
        uint64_t fingerprint = distinct->fingerprints[i];
        if (i > 0 && fingerprint == distinct->fingerprints[distinct->count - 1]) continue;
        distinct->fingerprints[distinct->count++] = fingerprint;
    }
    idxi_array_release(spare, count);
    return enough ? IDX_OK : idxi_fail_memory(error);
}

static enum idx_status check_options(struct idx_join_options *options, struct idx_error *error) {
    IDXI_TRY(idxi_check_any_distance(options->distance, IDX_INVALID_ARGUMENT, error));
    IDXI_TRY(idxi_check_threads(options->threads, error));
    return idxi_memory_settle(&options->memory_bytes, error);
}

/* Finds the pairs between `a` and `b`, or within `a` if `b` is NULL. */
static enum idx_status search_distinct(const struct distinct *a, const struct distinct *b,
                                       const struct idx_join_options *options, idx_pairs_visitor visit,
                                       void *visit_context, struct idx_error *error) {
    uint64_t memory = idxi_memory_of_arrays(options->memory_bytes, options->threads);
    uint64_t arrays = (a->count + (b == NULL ? 0 : b->count)) * sizeof(uint64_t);
    struct idxi_progress progress;
    struct idxi_array_pairs pairs = {.distance = options->distance,
                                     .threads = options->threads,
                                     .memory = memory > arrays ? memory - arrays : 0,
                                     .visit = visit,
                                     .visit_context = visit_context,
                                     .progress = &progress,
                                     .within = b == NULL,
                                     .work = a->count};
    idxi_progress_init(&progress, options->progress, options->context);
    IDXI_TRY(idxi_progress_begin(&progress, IDX_PHASE_COMPARING, pairs.work, error));
    IDXI_TRY(idxi_array_pairs_find(&pairs, a->fingerprints, a->count, b == NULL ? NULL : b->fingerprints,
                                   b == NULL ? 0 : b->count, error));
    return idxi_progress_add(&progress, 0, error);
}

/* Finds the pairs of arrays that the caller keeps, by copies of them. `within`: of `a` alone. */
static enum idx_status search_copies(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count, bool within,
                                     const struct idx_join_options *given, idx_pairs_visitor visit, void *visit_context,
                                     struct idx_error *error) {
    struct idx_join_options options = IDX_JOIN_OPTIONS_INIT;
    struct distinct x = {0}, y = {0};
    idxi_copy_options(&options, given);
    IDXI_TRY(check_options(&options, error));
    enum idx_status status = make_distinct(&x, a, a_count, error);
    if (status == IDX_OK) status = make_distinct(&y, b, b_count, error);
    if (status == IDX_OK) status = search_distinct(&x, within ? NULL : &y, &options, visit, visit_context, error);
    free_distinct(&x);
    free_distinct(&y);
    return status;
}

enum idx_status idx_array_pairs(const uint64_t *fingerprints, size_t count, const struct idx_join_options *options,
                                idx_pairs_visitor visit, void *visit_context, struct idx_error *error) {
    return search_copies(fingerprints, count, NULL, 0, true, options, visit, visit_context, error);
}

enum idx_status idx_array_join(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count,
                               const struct idx_join_options *options, idx_pairs_visitor visit, void *visit_context,
                               struct idx_error *error) {
    return search_copies(a, a_count, b, b_count, false, options, visit, visit_context, error);
}
