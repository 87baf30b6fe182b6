/* join_balls.c: finds the pairs of a join in memory, by buckets (balls.h), where they may differ in so many bits that
 * going through the tables is slower. */
#include "libidx/pairs/join.h"

#include <stdlib.h>

#include "libidx/base/memory.h"
#include "libidx/base/parallel.h"
#include "libidx/pairs/balls.h"

/* From this distance on buckets are faster than tables, on 1e5 to 1e7 uniform fingerprints (bench/RESULTS.md). */
#define FEWEST_ERRORS 6

/* A side in memory. */
struct side {
    uint64_t *fingerprints;
    size_t count, room;
    struct idxi_buckets buckets;
};

struct idxi_join_balls {
    struct side a, b;
    struct idxi_balls *searches; /* one per thread */
    struct idxi_cut cut;
    struct idxi_sorted sorted;
    size_t ball, steps;
};

/* Fingerprints that are read at a time. */
static size_t get_chunk(const struct idx_index *index) {
    return IDXI_MIN_RANGE_CAPACITY(index->open_segments) + (1 << 16);
}

static size_t get_room(const struct idx_index *index) {
    return (size_t)idxi_join_fingerprints(index) + get_chunk(index);
}

/* What a side takes, where buckets have half a fingerprint at least. */
static uint64_t get_side_bytes(const struct idx_index *index) {
    return (uint64_t)get_room(index) * (2 * sizeof(uint64_t) + 4 * sizeof(uint32_t));
}

static uint64_t get_bytes(const struct idxi_join *join) {
    return get_side_bytes(join->a) + (join->within ? 0 : get_side_bytes(join->b));
}

bool idxi_join_prefers_balls(const struct idxi_join *join) {
    return join->options.distance >= FEWEST_ERRORS && idxi_join_most(join) < UINT32_MAX &&
           get_bytes(join) <= idxi_memory_of_arrays(join->options.memory_bytes, join->options.threads);
}

static enum idx_status fail_count(const struct idx_index *index, size_t table, struct idx_error *error) {
    return idxi_fail_fault(error, IDXF_FAULT_COUNT, index->segments[0]->tables[table].path, 0);
}

/* Reads the fingerprints of a side. */
static enum idx_status load(struct idxi_join *join, const struct idx_index *index, struct side *side, uint64_t *counts,
                            struct idx_error *error) {
    struct idxi_ranges ranges = {index, join->table->table, counts};
    side->room = get_room(index);
    side->fingerprints = idxi_array_reserve(side->room);
    side->buckets.fingerprints = idxi_array_reserve(side->room);
    if (side->fingerprints == NULL || side->buckets.fingerprints == NULL) return idxi_fail_memory(error);
    struct idxi_range range = {.room = side->buckets.fingerprints, .capacity = get_chunk(index)};
    do {
        if (side->count + range.capacity > side->room) return fail_count(index, ranges.table, error);
        range.high = UINT64_MAX;
        range.fingerprints = side->fingerprints + side->count;
        IDXI_TRY(idxi_range_load(&ranges, &range, error));
        side->count += range.count;
        IDXI_TRY(idxi_progress_add(&join->progress, 0, error));
        range.low = range.high + 1;
    } while (range.high < UINT64_MAX);
    for (size_t i = 0; i < side->count; i++)
        side->fingerprints[i] = idxf_unpermute(&join->permutation, side->fingerprints[i]);
    return IDX_OK;
}

static void find(void *context, uint64_t x, uint64_t y) { idxi_join_put_live_pair(context, x, y); }

static enum idx_status make_searches(struct idxi_join *join, struct idx_error *error) {
    struct idxi_join_balls *balls = join->balls;
    unsigned threads = join->options.threads;
    uint64_t memory = idxi_memory_of_arrays(join->options.memory_bytes, threads);
    balls->searches = calloc(threads, sizeof *balls->searches);
    if (balls->searches == NULL) return idxi_fail_memory(error);
    for (unsigned i = 0; i < threads; i++) {
        idxi_balls_init(&balls->searches[i], join->options.distance);
        balls->searches[i].found = find;
        balls->searches[i].goes_on = idxi_join_goes_on;
        balls->searches[i].context = join->workers[i];
        balls->searches[i].memory = (memory - get_bytes(join)) / threads;
    }
    return IDX_OK;
}

static enum idx_status reserve_starts(struct idxi_join_balls *balls, struct side *side, struct idx_error *error) {
    side->buckets.starts = malloc((((size_t)1 << balls->cut.width) + 2) * sizeof *side->buckets.starts);
    return side->buckets.starts != NULL ? IDX_OK : idxi_fail_memory(error);
}

/* What is done of the whole when so many steps of a ball are, in fingerprints. */
static uint64_t get_done(const struct idxi_join *join, size_t steps) {
    const struct idxi_join_balls *balls = join->balls;
    double share = ((double)balls->ball + (double)steps / (double)balls->steps) / (double)balls->cut.count;
    return (uint64_t)(share * (double)idxi_join_fingerprints(join->a));
}

static enum idx_status search(struct idxi_join_worker *worker, struct idx_error *error) {
    struct idxi_join *join = worker->join;
    struct idxi_join_balls *balls = join->balls;
    size_t step;
    while (!join->ended && (step = atomic_fetch_add(&join->next, 1)) < balls->steps) {
        idxi_sorted_search(&balls->searches[worker->number], &balls->sorted, step);
        IDXI_TRY(idxi_progress_add(&join->progress, get_done(join, step + 1) - get_done(join, step), error));
    }
    return IDX_OK;
}

static enum idx_status sort_side(void *context, size_t number, struct idx_error *error) {
    struct idxi_join *join = context;
    struct idxi_join_balls *balls = join->balls;
    struct side *side = number == 0 ? &balls->a : &balls->b;
    idxi_buckets_fill(balls->searches[0].way, &side->buckets, side->fingerprints, side->count,
                      balls->cut.balls[balls->ball].mask);
    return idxi_progress_add(&join->progress, 0, error);
}

static enum idx_status search_ball(struct idxi_join *join, struct idx_error *error) {
    struct idxi_join_balls *balls = join->balls;
    struct idxi_ball ball = balls->cut.balls[balls->ball];
    IDXI_TRY(idxi_parallel(join->within ? 1 : 2, join->options.threads, sort_side, join, &join->progress, error));
    balls->sorted = (struct idxi_sorted){balls->a.buckets, join->within ? balls->a.buckets : balls->b.buckets,
                                         join->within, balls->cut.width, ball.radius};
    balls->steps = idxi_sorted_steps(&balls->sorted);
    IDXI_TRY(idxi_join_work(join, search, error));
    for (unsigned i = 0; i < join->options.threads; i++)
        balls->searches[i].before[balls->searches[i].before_count++] = ball;
    return IDX_OK;
}

static enum idx_status search_all(struct idxi_join *join, struct idx_error *error) {
    struct idxi_join_balls *balls = join->balls;
    uint64_t *b = join->within ? NULL : balls->b.fingerprints;
    if (balls->a.count == 0 || (b != NULL && balls->b.count == 0)) return IDX_OK;
    idxi_cut_choose(&balls->cut, balls->searches[0].way, join->options.distance, balls->a.fingerprints, balls->a.count,
                    b, balls->b.count);
    if (balls->cut.count == 0) {
        idxi_balls_match(&balls->searches[0], balls->a.fingerprints, balls->a.count, b, balls->b.count);
        idxi_join_hand_over(join->workers[0]);
        return idxi_progress_add(&join->progress, idxi_join_fingerprints(join->a), error);
    }
    IDXI_TRY(reserve_starts(balls, &balls->a, error));
    if (b != NULL) IDXI_TRY(reserve_starts(balls, &balls->b, error));
    for (; balls->ball < balls->cut.count && !join->ended; balls->ball++) IDXI_TRY(search_ball(join, error));
    return IDX_OK;
}

static void free_side(struct side *side) {
    idxi_array_release(side->fingerprints, side->room);
    idxi_array_release(side->buckets.fingerprints, side->room);
    free(side->buckets.starts);
}

enum idx_status idxi_join_match_balls(struct idxi_join *join, struct idx_error *error) {
    struct idxi_join_balls balls = {0};
    join->balls = &balls;
    enum idx_status status = load(join, join->a, &balls.a, join->workers[0]->counts, error);
    if (status == IDX_OK && !join->within) status = load(join, join->b, &balls.b, NULL, error);
    if (status == IDX_OK) status = make_searches(join, error);
    if (status == IDX_OK) status = search_all(join, error);
    free_side(&balls.a);
    free_side(&balls.b);
    free(balls.searches);
    return status;
}
