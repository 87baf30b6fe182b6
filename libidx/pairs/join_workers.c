/* join_workers.c: the threads of a join, and how they hand over pairs. */
#include "libidx/pairs/join.h"

#include <stdlib.h>

#include "libidx/view/live.h"

void idxi_join_hand_over_pairs(struct idxi_join_worker *worker) {
    struct idxi_join *join = worker->join;
    pthread_mutex_lock(&join->visit_mutex);
    if (!join->ended && worker->pair_count > 0 && !join->visit(join->visit_context, worker->pairs, worker->pair_count))
        join->ended = true;
    pthread_mutex_unlock(&join->visit_mutex);
    worker->pair_count = 0;
}

/* Returns whether `x` is live in index a, and `y` in b. If that can't be read, sets worker->status and worker->error,
 * ends the join, and returns false. */
static bool are_live(struct idxi_join_worker *worker, uint64_t x, uint64_t y) {
    const struct idxi_join *join = worker->join;
    bool live = false;
    if (!join->a->removes && !join->b->removes) return true;
    worker->status = idxi_is_fingerprint_live(join->a, x, &live, &worker->error);
    if (worker->status == IDX_OK && live) worker->status = idxi_is_fingerprint_live(join->b, y, &live, &worker->error);
    if (worker->status != IDX_OK) worker->join->ended = true;
    return worker->status == IDX_OK && live;
}

void idxi_join_add_pair(struct idxi_join_worker *worker, uint64_t x, uint64_t y, unsigned distance) {
    bool swaps = worker->join->within && x > y;
    worker->pairs[worker->pair_count++] = (struct idx_pair){swaps ? y : x, swaps ? x : y, distance};
    if (worker->pair_count == IDXI_JOIN_PAIRS) idxi_join_hand_over_pairs(worker);
}

/* This is idxi_comparison.visit of a worker: adds a near pair of permuted fingerprints, unless an earlier table finds
 * it, or one of them was removed. After an error, which worker->status has then, it adds nothing. */
static void visit_permuted_pair(void *context, uint64_t a, uint64_t b, unsigned distance) {
    struct idxi_join_worker *worker = context;
    const struct idxi_join *join = worker->join;
    uint64_t x = idxf_unpermute(&join->permutation, a), y = idxf_unpermute(&join->permutation, b);
    if (!idxi_owns_match(join->probing, join->order, x ^ y) || worker->status != IDX_OK) return;
    if (are_live(worker, x, y)) idxi_join_add_pair(worker, x, y, distance);
}

bool idxi_join_is_going_on(void *context) {
    struct idxi_join *join = ((struct idxi_join_worker *)context)->join;
    return !join->ended && idxi_progress_add(&join->progress, 0, NULL) == IDX_OK;
}

/* ---- Threads ---- */

/* A task that all workers run. */
struct shared_task {
    struct idxi_join *join;
    idxi_join_task task;
};

/* Runs the task as worker `number`, which takes ranges or buckets until none is left. An error ends the join. */
static enum idx_status run_worker(void *context, size_t number, struct idx_error *error) {
    const struct shared_task *shared = context;
    struct idxi_join_worker *worker = shared->join->workers[number];
    enum idx_status status = shared->task(worker, error);
    if (status != IDX_OK) shared->join->ended = true;
    idxi_join_hand_over_pairs(worker);
    return status;
}

enum idx_status idxi_join_run_task(struct idxi_join *join, idxi_join_task task, struct idx_error *error) {
    struct shared_task shared = {join, task};
    join->next = 0;
    return idxi_run_parallel(join->options.threads, join->options.threads, run_worker, &shared, &join->progress, error);
}

/* Makes worker `number` with its arrays. After an error, what was made is freed by idxi_join_free_workers. */
static enum idx_status make_worker(struct idxi_join *join, unsigned number, struct idx_error *error) {
    struct idxi_join_worker *worker = calloc(1, sizeof *worker);
    join->workers[number] = worker;
    if (worker == NULL) return idxi_fail_memory(error);
    worker->join = join;
    struct idxi_balls *balls = &worker->matching.balls;
    idxi_balls_init(balls, join->options.distance);
    balls->comparison.visit = visit_permuted_pair;
    balls->goes_on = idxi_join_is_going_on;
    balls->comparison.context = worker;
    balls->memory = IDXI_JOIN_MORE_ARRAYS * sizeof(uint64_t) * join->capacity;
    worker->loaded_counts = calloc(join->a->open_segments + 1, sizeof *worker->loaded_counts);
    if (worker->loaded_counts == NULL) return idxi_fail_memory(error);
    for (size_t i = 0; i < IDXI_JOIN_ARRAYS; i++) {
        worker->arrays[i] = idxi_array_reserve(join->capacity);
        if (worker->arrays[i] == NULL) return idxi_fail_memory(error);
    }
    return IDX_OK;
}

enum idx_status idxi_join_make_workers(struct idxi_join *join, struct idx_error *error) {
    join->workers = calloc(join->options.threads, sizeof(struct idxi_join_worker *));
    if (join->workers == NULL) return idxi_fail_memory(error);
    for (unsigned i = 0; i < join->options.threads; i++) IDXI_TRY(make_worker(join, i, error));
    return IDX_OK;
}

void idxi_join_free_workers(struct idxi_join *join) {
    for (unsigned i = 0; i < join->options.threads && join->workers != NULL && join->workers[i] != NULL; i++) {
        for (size_t j = 0; j < IDXI_JOIN_ARRAYS; j++) idxi_array_release(join->workers[i]->arrays[j], join->capacity);
        free(join->workers[i]->loaded_counts);
        free(join->workers[i]);
    }
    free(join->workers);
}
