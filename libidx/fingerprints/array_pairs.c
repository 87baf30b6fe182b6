/* array_pairs.c: see array_pairs.h; and idx_array_pairs and idx_array_join. */
#include "libidx/fingerprints/array_pairs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "format/processor.h"
#include "libidx/base/base.h"
#include "libidx/streams/sort.h"

/* Pairs that are handed over at a time. */
#define PAIRS 4096

/* Arrays of so many fingerprints are not cut, however little memory there is. */
#define UNCUT ((size_t)1 << 14)

/* Where buckets don't pay, a thread compares so many fingerprints with so many others at a time. */
#define COMPARED ((size_t)1 << 10)
#define CACHED ((size_t)1 << 14)

struct search;

/* What a thread has. */
struct worker {
    struct search *search;
    struct idxi_balls balls;
    struct idx_pair pairs[PAIRS];
    size_t pair_count;
};

struct side {
    const uint64_t *fingerprints;
    size_t count;
    struct idxi_buckets buckets;
};

struct search {
    struct idxi_array_pairs *pairs;
    struct worker **workers;
    pthread_mutex_t handing_over;
    atomic_bool ended;   /* by the visitor, or by an error */
    double all, done;    /* comparisons, were all compared with all: of the whole, and of the parts that are done */
    struct side a, b;    /* the parts that are searched; within `a` where b.fingerprints is NULL */
    uint64_t memory;     /* bytes for each thread's own search */
    uint32_t *counts;    /* of each thread, while a side is sorted */
    struct side *sorted; /* that one */
    uint64_t mask;       /* and by these bits */
    struct idxi_cut cut;
    struct idxi_sorted balls;
    size_t ball, steps;
    atomic_size_t next;
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

static void put(void *context, uint64_t a, uint64_t b) {
    struct worker *worker = context;
    bool exchange = worker->search->pairs->within && a > b;
    worker->pairs[worker->pair_count++] = (struct idx_pair){exchange ? b : a, exchange ? a : b, idxf_count_bits(a ^ b)};
    if (worker->pair_count == PAIRS) hand_over(worker);
}

static bool goes_on(void *context) {
    struct search *search = ((struct worker *)context)->search;
    return !search->ended && idxi_progress_add(search->pairs->progress, 0, NULL) == IDX_OK;
}

/* ---- Threads ---- */

typedef enum idx_status (*worker_task)(struct worker *worker, size_t number, struct idx_error *error);

struct shared_task {
    struct search *search;
    worker_task task;
};

static enum idx_status run_task(void *context, size_t number, struct idx_error *error) {
    const struct shared_task *shared = context;
    struct worker *worker = shared->search->workers[number];
    enum idx_status status = shared->task(worker, number, error);
    if (status != IDX_OK) shared->search->ended = true;
    hand_over(worker);
    return status;
}

/* Runs a task on each thread. */
static enum idx_status work(struct search *search, worker_task task, struct idx_error *error) {
    struct shared_task shared = {search, task};
    unsigned threads = search->pairs->threads;
    search->next = 0;
    return idxi_parallel(threads, threads, run_task, &shared, search->pairs->progress, error);
}

/* Adds the share of the parts' work that one more of `count` things makes. */
static enum idx_status note_progress(const struct search *search, double number, double count,
                                     struct idx_error *error) {
    double a = (double)search->a.count, b = (double)search->b.count;
    double whole = search->b.fingerprints == NULL ? a * (a - 1) / 2 : a * b, unit = (double)search->pairs->work;
    if (search->all > 0) unit /= search->all;
    uint64_t before = (uint64_t)((search->done + whole * number / count) * unit);
    uint64_t after = (uint64_t)((search->done + whole * (number + 1) / count) * unit);
    return idxi_progress_add(search->pairs->progress, after - before, error);
}

/* ---- Sorting ---- */

/* The part of the sorted side that a thread takes. */
static size_t get_begin(const struct search *search, size_t thread) {
    return search->sorted->count * thread / search->pairs->threads;
}

static uint32_t *get_counts(const struct search *search, size_t thread) {
    return search->counts + (thread << search->cut.width);
}

static enum idx_status count_some(struct worker *worker, size_t thread, struct idx_error *error) {
    const struct search *search = worker->search;
    size_t begin = get_begin(search, thread), end = get_begin(search, thread + 1);
    memset(get_counts(search, thread), 0, sizeof(uint32_t) << search->cut.width);
    worker->balls.way->count(search->sorted->fingerprints + begin, end - begin, search->mask,
                             get_counts(search, thread));
    return idxi_progress_add(search->pairs->progress, 0, error);
}

static enum idx_status place_some(struct worker *worker, size_t thread, struct idx_error *error) {
    const struct search *search = worker->search;
    size_t begin = get_begin(search, thread), end = get_begin(search, thread + 1);
    worker->balls.way->place(search->sorted->fingerprints + begin, end - begin, search->mask,
                             search->sorted->buckets.fingerprints, get_counts(search, thread));
    return idxi_progress_add(search->pairs->progress, 0, error);
}

/* Makes the counts of each thread the places of its first fingerprints. */
static void sum_counts(const struct search *search) {
    uint32_t *starts = search->sorted->buckets.starts, at = 0;
    size_t values = (size_t)1 << search->cut.width;
    for (size_t value = 0; value < values; value++) {
        starts[value] = at;
        for (size_t thread = 0; thread < search->pairs->threads; thread++) {
            uint32_t *place = get_counts(search, thread) + value, count = *place;
            *place = at;
            at += count;
        }
    }
    starts[values] = at;
}

static enum idx_status sort_side(struct search *search, struct side *side, struct idx_error *error) {
    if (search->counts == NULL) {
        idxi_buckets_fill(search->workers[0]->balls.way, &side->buckets, side->fingerprints, side->count, search->mask);
        return idxi_progress_add(search->pairs->progress, 0, error);
    }
    search->sorted = side;
    IDXI_TRY(work(search, count_some, error));
    sum_counts(search);
    return work(search, place_some, error);
}

/* ---- Balls ---- */

static enum idx_status search_steps(struct worker *worker, size_t thread, struct idx_error *error) {
    struct search *search = worker->search;
    double count = (double)search->steps * (double)search->cut.count;
    size_t step;
    (void)thread;
    while (!search->ended && (step = atomic_fetch_add(&search->next, 1)) < search->steps) {
        idxi_sorted_search(&worker->balls, &search->balls, step);
        IDXI_TRY(note_progress(search, (double)(search->ball * search->steps + step), count, error));
    }
    return IDX_OK;
}

static enum idx_status search_ball(struct search *search, struct idx_error *error) {
    struct idxi_ball ball = search->cut.balls[search->ball];
    bool within = search->b.fingerprints == NULL;
    search->mask = ball.mask;
    IDXI_TRY(sort_side(search, &search->a, error));
    if (!within) IDXI_TRY(sort_side(search, &search->b, error));
    search->balls = (struct idxi_sorted){search->a.buckets, within ? search->a.buckets : search->b.buckets, within,
                                         search->cut.width, ball.radius};
    search->steps = idxi_sorted_steps(&search->balls);
    IDXI_TRY(work(search, search_steps, error));
    for (unsigned i = 0; i < search->pairs->threads; i++) {
        struct idxi_balls *balls = &search->workers[i]->balls;
        balls->before[balls->before_count++] = ball;
    }
    return IDX_OK;
}

static enum idx_status search_balls(struct search *search, struct idx_error *error) {
    enum idx_status status = IDX_OK;
    for (search->ball = 0; search->ball < search->cut.count && !search->ended && status == IDX_OK; search->ball++)
        status = search_ball(search, error);
    for (unsigned i = 0; i < search->pairs->threads; i++) search->workers[i]->balls.before_count = 0;
    return status;
}

/* Compares with all of `b`, as many at a time as stay in the caches. */
static void compare_between(struct worker *worker, const uint64_t *a, size_t a_count, const uint64_t *b,
                            size_t b_count) {
    for (size_t i = 0; i < b_count && goes_on(worker); i += CACHED) {
        size_t some = b_count - i < CACHED ? b_count - i : CACHED;
        worker->balls.way->between(&worker->balls.comparison, a, a_count, b + i, some);
    }
}

/* Compares some of `a` with all of the other side. */
static enum idx_status compare_some(struct worker *worker, size_t thread, struct idx_error *error) {
    struct search *search = worker->search;
    const struct side *a = &search->a, *b = &search->b;
    size_t begin;
    (void)thread;
    while (!search->ended && (begin = atomic_fetch_add(&search->next, COMPARED)) < a->count) {
        size_t count = a->count - begin < COMPARED ? a->count - begin : COMPARED;
        const uint64_t *from = a->fingerprints + begin;
        if (b->fingerprints == NULL) {
            worker->balls.way->within(&worker->balls.comparison, from, count);
            compare_between(worker, from, count, from + count, a->count - begin - count);
        } else {
            compare_between(worker, from, count, b->fingerprints, b->count);
        }
        IDXI_TRY(note_progress(search, (double)(begin / COMPARED), (double)((a->count - 1) / COMPARED + 1), error));
    }
    return IDX_OK;
}

/* ---- Parts ---- */

static bool make_buckets(struct side *side, unsigned width) {
    side->buckets.fingerprints = idxi_array_reserve(side->count);
    side->buckets.starts = malloc((((size_t)1 << width) + 2) * sizeof(uint32_t));
    if (side->buckets.fingerprints != NULL) idxi_array_expect(side->buckets.fingerprints, side->count);
    return side->buckets.fingerprints != NULL && side->buckets.starts != NULL;
}

static void free_buckets(struct side *side) {
    idxi_array_release(side->buckets.fingerprints, side->count);
    free(side->buckets.starts);
}

/* Sorts and searches, with `memory` bytes besides what the sides' buckets take. */
static enum idx_status search_sorted(struct search *search, uint64_t memory, struct idx_error *error) {
    unsigned threads = search->pairs->threads;
    size_t bytes = (threads * sizeof(uint32_t)) << search->cut.width;
    bool within = search->b.fingerprints == NULL, enough;
    search->counts = threads > 1 && bytes < memory / 2 ? malloc(bytes) : NULL;
    if (search->counts != NULL) memory -= bytes;
    for (unsigned i = 0; i < threads; i++) search->workers[i]->balls.memory = memory / threads;
    enough = make_buckets(&search->a, search->cut.width) && (within || make_buckets(&search->b, search->cut.width));
    enum idx_status status = enough ? search_balls(search, error) : idxi_fail_memory(error);
    free(search->counts);
    free_buckets(&search->a);
    if (!within) free_buckets(&search->b);
    return status;
}

static enum idx_status search_part(struct search *search, const uint64_t *a, size_t a_count, const uint64_t *b,
                                   size_t b_count, struct idx_error *error);

/* Halves the larger side. */
static enum idx_status search_halves(struct search *search, const uint64_t *a, size_t a_count, const uint64_t *b,
                                     size_t b_count, struct idx_error *error) {
    size_t half = (a_count >= b_count ? a_count : b_count) / 2;
    if (b != NULL && a_count < b_count) {
        IDXI_TRY(search_part(search, a, a_count, b, half, error));
        return search_part(search, a, a_count, b + half, b_count - half, error);
    }
    IDXI_TRY(search_part(search, a, half, b, b_count, error));
    if (b == NULL) IDXI_TRY(search_part(search, a, half, a + half, a_count - half, error));
    return search_part(search, a + half, a_count - half, b, b_count, error);
}

static enum idx_status search_part(struct search *search, const uint64_t *a, size_t a_count, const uint64_t *b,
                                   size_t b_count, struct idx_error *error) {
    uint64_t memory = search->pairs->memory;
    if (search->ended || a_count == 0 || (b != NULL && b_count == 0)) return IDX_OK;
    idxi_cut_choose(&search->cut, search->workers[0]->balls.way, search->pairs->distance, a, a_count, b, b_count);
    uint64_t bytes = idxi_buckets_bytes(a_count, search->cut.width);
    if (b != NULL) bytes += idxi_buckets_bytes(b_count, search->cut.width);
    bool fits = bytes <= memory;
    if (search->cut.count > 0 && !fits && (a_count > UNCUT || b_count > UNCUT))
        return search_halves(search, a, a_count, b, b_count, error);
    search->a = (struct side){.fingerprints = a, .count = a_count};
    search->b = (struct side){.fingerprints = b, .count = b_count};
    IDXI_TRY(search->cut.count > 0 && fits ? search_sorted(search, memory - bytes, error)
                                           : work(search, compare_some, error));
    search->done += b == NULL ? (double)a_count * ((double)a_count - 1) / 2 : (double)a_count * (double)b_count;
    return IDX_OK;
}

/* ---- All ---- */

static enum idx_status make_workers(struct search *search, struct idx_error *error) {
    search->workers = calloc(search->pairs->threads, sizeof(struct worker *));
    if (search->workers == NULL) return idxi_fail_memory(error);
    for (unsigned i = 0; i < search->pairs->threads; i++) {
        struct worker *worker = search->workers[i] = malloc(sizeof *worker);
        if (worker == NULL) return idxi_fail_memory(error);
        worker->search = search;
        worker->pair_count = 0;
        idxi_balls_init(&worker->balls, search->pairs->distance);
        worker->balls.found = put;
        worker->balls.goes_on = goes_on;
        worker->balls.context = worker;
    }
    return IDX_OK;
}

static void free_workers(struct search *search) {
    for (unsigned i = 0; i < search->pairs->threads && search->workers != NULL; i++) free(search->workers[i]);
    free(search->workers);
}

enum idx_status idxi_array_pairs_find(struct idxi_array_pairs *pairs, const uint64_t *a, size_t a_count,
                                      const uint64_t *b, size_t b_count, struct idx_error *error) {
    struct search search = {.pairs = pairs, .handing_over = PTHREAD_MUTEX_INITIALIZER};
    search.all = b == NULL ? (double)a_count * ((double)a_count - 1) / 2 : (double)a_count * (double)b_count;
    pairs->ended = false;
    enum idx_status status = make_workers(&search, error);
    if (status == IDX_OK) status = search_part(&search, a, a_count, b, b_count, error);
    free_workers(&search);
    pthread_mutex_destroy(&search.handing_over);
    return status;
}

/* ---- Arrays of the caller ---- */

/* A copy of an array, in which each fingerprint occurs once. */
struct distinct {
    uint64_t *fingerprints;
    size_t count, room;
};

static void free_distinct(struct distinct *distinct) { idxi_array_release(distinct->fingerprints, distinct->room); }

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

/* Searches, `b` NULL: within `a`. */
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

/* Searches arrays of the caller, `within`: `a` alone. */
static enum idx_status run(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count, bool within,
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
    return run(fingerprints, count, NULL, 0, true, options, visit, visit_context, error);
}

enum idx_status idx_array_join(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count,
                               const struct idx_join_options *options, idx_pairs_visitor visit, void *visit_context,
                               struct idx_error *error) {
    return run(a, a_count, b, b_count, false, options, visit, visit_context, error);
}
