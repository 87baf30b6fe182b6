/* join.c: all pairs of an index, or of two. A table is cut into ranges by its leading bits, as many as the caches hold.
 * Pairs that have these bits in common are found in each range, as the table is decoded in order. With a radius there
 * may be errors in them: then the bits behind them that a look-up flips have fewer, so that fingerprints are spread in
 * memory by some of these instead. A pair that several tables find belongs to the first of them. Removed
 * fingerprints are told from the pairs that they would be in, and pending ones are looked up. */
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "format/processor.h"
#include "libidx/base/memory.h"
#include "libidx/base/parallel.h"
#include "libidx/base/recipe.h"
#include "libidx/lookup/range.h"
#include "libidx/lookup/search.h"
#include "libidx/pairs/matching.h"
#include "libidx/pairs/pending_pairs.h"
#include "libidx/pairs/spread.h"
#include "libidx/view/live.h"

/* Fingerprints of a range, about. */
#define RANGE_FINGERPRINTS 16384

/* Pairs that are handed over at a time. */
#define PAIRS 4096

/* Arrays of fingerprints that a thread has: those of either index, with room to sort them; and one to merge segments
 * from. */
#define ARRAYS 7
enum { ARRAY_A = 0, ARRAY_B = 3, ARRAY_SEGMENTS = 6 };

/* A range of permuted fingerprints: those whose first `same` bits are those of `low`. */
struct leaf {
    uint64_t low;
    unsigned same;
};

/* Which pairs of a table are looked for: those that are the same in some bits, and in none of matching.before. */
struct pass {
    unsigned number; /* 0: ranges in order; then a part behind the leading bits, for each error that may be */
    uint64_t before[IDX_MAX_RADIUS + 1];
    uint64_t mask, value; /* of one part that is gone through without being spread; or 0 */
    uint64_t narrow;      /* bits that differ in few places: */
    unsigned errors;
};

struct join {
    const struct idx_index *a, *b;
    bool within; /* pairs of `a` alone; then `b` is the same one */
    struct idx_join_options options;
    const struct idxi_probing *probing;
    idx_pairs_visitor visit;
    void *visit_context;
    struct worker **workers; /* of each thread */
    size_t capacity;         /* fingerprints that an array holds */
    struct idxi_progress progress;
    atomic_bool ended; /* by an error, or by the visitor */
    pthread_mutex_t handing_over;

    /* The table at hand. */
    size_t turn; /* in the probing */
    const struct idxi_probed *table;
    struct idxf_permutation permutation;
    uint64_t prefix;                  /* the bits of the mask, permuted */
    uint64_t earlier[IDX_MAX_TABLES]; /* the masks of the tables before it without radius, permuted */
    size_t earlier_count;
    unsigned leading; /* bits that all ranges have in common, where there is a radius */
    struct leaf *leaves;
    size_t leaf_count, leaf_room;
    struct pass pass;
    atomic_size_t next; /* leaf, or part */
    struct idxi_spread spread_a, spread_b;
    atomic_bool is_full; /* one of these */
};

/* What a thread has. */
struct worker {
    struct join *join;
    unsigned number;
    struct idxi_matching matching;
    uint64_t *arrays[ARRAYS];
    struct idx_pair pairs[PAIRS];
    size_t pair_count;
    uint64_t *counts;       /* fingerprints of `a` in the table, of each segment */
    enum idx_status status; /* of taking pairs, and: */
    struct idx_error error;
};

/* ---- Pairs ---- */

static void hand_over(struct worker *worker) {
    struct join *join = worker->join;
    pthread_mutex_lock(&join->handing_over);
    if (!join->ended && worker->pair_count > 0 && !join->visit(join->visit_context, worker->pairs, worker->pair_count))
        join->ended = true;
    pthread_mutex_unlock(&join->handing_over);
    worker->pair_count = 0;
}

/* Whether both were not removed from segments; false, and the worker's status, where that can't be told. */
static bool are_live(struct worker *worker, uint64_t x, uint64_t y) {
    const struct join *join = worker->join;
    bool live = false;
    if (!join->a->removes && !join->b->removes) return true;
    worker->status = idxi_is_live(join->a, x, &live, &worker->error);
    if (worker->status == IDX_OK && live) worker->status = idxi_is_live(join->b, y, &live, &worker->error);
    if (worker->status != IDX_OK) worker->join->ended = true;
    return worker->status == IDX_OK && live;
}

static void put_pair(struct worker *worker, uint64_t x, uint64_t y) {
    const struct join *join = worker->join;
    bool exchange = join->within && x > y;
    worker->pairs[worker->pair_count++] =
        (struct idx_pair){exchange ? y : x, exchange ? x : y, (unsigned)__builtin_popcountll(x ^ y)};
    if (worker->pair_count == PAIRS) hand_over(worker);
}

static void take_pair(void *context, uint64_t a, uint64_t b) {
    struct worker *worker = context;
    const struct join *join = worker->join;
    uint64_t x = idxf_unpermute(&join->permutation, a), y = idxf_unpermute(&join->permutation, b);
    if (worker->status != IDX_OK || !idxi_owns(join->probing, join->turn, x ^ y) || !are_live(worker, x, y)) return;
    put_pair(worker, x, y);
}

static bool goes_on(void *context) {
    struct join *join = ((struct worker *)context)->join;
    return !join->ended && idxi_progress_add(&join->progress, 0, NULL) == IDX_OK;
}

/* ---- Ranges ---- */

static uint64_t get_top(unsigned bits) { return ~idxf_low_bits(64 - bits); }
static uint64_t get_high(const struct leaf *leaf) { return leaf->low | ~get_top(leaf->same); }

static struct idxi_ranges get_ranges(const struct join *join, const struct idx_index *index) {
    return (struct idxi_ranges){index, join->table->table, NULL};
}

static enum idx_status add_leaf(struct join *join, struct leaf leaf, struct idx_error *error) {
    if (join->leaf_count == join->leaf_room) {
        size_t room = join->leaf_room * 2 + 64;
        struct leaf *leaves = realloc(join->leaves, room * sizeof *leaves);
        if (leaves == NULL) return idxi_fail_memory(error);
        join->leaves = leaves;
        join->leaf_room = room;
    }
    join->leaves[join->leaf_count++] = leaf;
    return IDX_OK;
}

static size_t get_range_fingerprints(const struct join *join) {
    return join->capacity < RANGE_FINGERPRINTS ? join->capacity : RANGE_FINGERPRINTS;
}

/* Whether a range is not to be halved: it is small enough, or has the whole prefix in common. With a radius all have
 * the same leading bits. */
static enum idx_status is_leaf(const struct join *join, const struct leaf *leaf, bool *is, struct idx_error *error) {
    struct idxi_ranges a = get_ranges(join, join->a), b = get_ranges(join, join->b);
    uint64_t count, other = 0, most = get_range_fingerprints(join);
    *is = leaf->same == (join->table->radius > 0 ? join->leading : idxf_count_bits(join->prefix));
    if (*is || join->table->radius > 0) return IDX_OK;
    IDXI_TRY(idxi_range_estimate(&a, leaf->low, get_high(leaf), &count, error));
    if (!join->within) IDXI_TRY(idxi_range_estimate(&b, leaf->low, get_high(leaf), &other, error));
    *is = count <= most && other <= most;
    return IDX_OK;
}

static enum idx_status add_leaves(struct join *join, struct leaf leaf, struct idx_error *error) {
    bool is;
    IDXI_TRY(is_leaf(join, &leaf, &is, error));
    if (is) return add_leaf(join, leaf, error);
    leaf.same++;
    IDXI_TRY(add_leaves(join, leaf, error));
    leaf.low |= UINT64_C(1) << (64 - leaf.same);
    return add_leaves(join, leaf, error);
}

static struct idxi_range get_range(const struct worker *worker, size_t array, uint64_t low, uint64_t high) {
    const struct join *join = worker->join;
    return (struct idxi_range){.low = low,
                               .high = high,
                               .mask = join->pass.mask,
                               .value = join->pass.value,
                               .fingerprints = worker->arrays[array],
                               .room = worker->arrays[ARRAY_SEGMENTS],
                               .capacity = join->capacity};
}

/* ---- Matching ---- */

static struct idxi_matched get_matched(const struct worker *worker, size_t array, size_t count) {
    return (struct idxi_matched){worker->arrays[array], worker->arrays[array + 1], worker->arrays[array + 2], count};
}

/* Matches what the arrays hold, whose first `same` bits are the same: those of `a` among themselves, or with the
 * others.
 */
static void match_arrays(struct worker *worker, unsigned same, size_t count, const size_t *other_count) {
    const struct pass *pass = &worker->join->pass;
    struct idxi_matched a = get_matched(worker, ARRAY_A, count), b = {0};
    if (other_count != NULL) b = get_matched(worker, ARRAY_B, *other_count);
    const struct join *join = worker->join;
    memcpy(worker->matching.before, join->earlier, join->earlier_count * sizeof *join->earlier);
    memcpy(worker->matching.before + join->earlier_count, pass->before, sizeof pass->before);
    worker->matching.before_count = join->earlier_count + pass->number;
    idxi_match(&worker->matching, &a, other_count == NULL ? NULL : &b, pass->narrow & ~get_top(same), pass->errors,
               pass->number == 0);
}

/* Matches what is at hand of a leaf with all that `b` has from `low` to `high`, some at a time where it is much. */
static enum idx_status match_with(struct worker *worker, const struct leaf *leaf, size_t count, uint64_t low,
                                  uint64_t high, struct idx_error *error) {
    struct idxi_ranges ranges = get_ranges(worker->join, worker->join->b);
    struct idxi_range other = get_range(worker, ARRAY_B, low, high);
    for (; !worker->join->ended; other.low = other.high + 1, other.high = high) {
        IDXI_TRY(idxi_range_load(&ranges, &other, error));
        match_arrays(worker, leaf->same, count, &other.count);
        IDXI_TRY(idxi_progress_add(&worker->join->progress, 0, error));
        if (other.high == high) break;
    }
    return IDX_OK;
}

/* Matches a leaf in itself, or with the other index, some at a time where it is much. */
static enum idx_status match_leaf(struct worker *worker, const struct leaf *leaf, struct idx_error *error) {
    struct join *join = worker->join;
    uint64_t high = get_high(leaf);
    struct idxi_ranges ranges = get_ranges(join, join->a);
    struct idxi_range range = get_range(worker, ARRAY_A, leaf->low, high);
    if (join->pass.number == 0) ranges.counts = worker->counts;
    for (; !join->ended; range.low = range.high + 1, range.high = high) {
        IDXI_TRY(idxi_range_load(&ranges, &range, error));
        if (join->within) match_arrays(worker, leaf->same, range.count, NULL);
        if (range.count > 0 && (!join->within || range.high < high))
            IDXI_TRY(match_with(worker, leaf, range.count, join->within ? range.high + 1 : leaf->low, high, error));
        IDXI_TRY(idxi_progress_add(&join->progress, range.count, error));
        if (range.high == high) break;
    }
    return IDX_OK;
}

static enum idx_status match_leaves(struct worker *worker, struct idx_error *error) {
    struct join *join = worker->join;
    size_t number;
    while (!join->ended && (number = atomic_fetch_add(&join->next, 1)) < join->leaf_count)
        IDXI_TRY(match_leaf(worker, &join->leaves[number], error));
    return IDX_OK;
}

/* ---- Parts ---- */

static enum idx_status spread_leaf(struct worker *worker, const struct idx_index *index, const struct leaf *leaf,
                                   struct idxi_spread *spread, struct idx_error *error) {
    struct join *join = worker->join;
    struct idxi_ranges ranges = get_ranges(join, index);
    struct idxi_range range = get_range(worker, ARRAY_A, leaf->low, get_high(leaf));
    for (; !join->ended && !join->is_full; range.low = range.high + 1, range.high = get_high(leaf)) {
        IDXI_TRY(idxi_range_load(&ranges, &range, error));
        if (!idxi_spread_add(spread, worker->number, range.fingerprints, range.count)) join->is_full = true;
        if (range.high == get_high(leaf)) break;
    }
    return idxi_progress_add(&join->progress, 0, error);
}

static enum idx_status spread_leaves(struct worker *worker, struct idx_error *error) {
    struct join *join = worker->join;
    size_t number;
    while (!join->ended && !join->is_full && (number = atomic_fetch_add(&join->next, 1)) < join->leaf_count) {
        IDXI_TRY(spread_leaf(worker, join->a, &join->leaves[number], &join->spread_a, error));
        if (join->within) continue;
        IDXI_TRY(spread_leaf(worker, join->b, &join->leaves[number], &join->spread_b, error));
    }
    return IDX_OK;
}

/* Whether the arrays hold each part that was spread. */
static bool do_parts_fit(const struct join *join) {
    for (uint64_t part = 0; part < join->spread_a.parts; part++) {
        if (idxi_spread_count(&join->spread_a, part) > join->capacity) return false;
        if (!join->within && idxi_spread_count(&join->spread_b, part) > join->capacity) return false;
    }
    return true;
}

static enum idx_status match_parts(struct worker *worker, struct idx_error *error) {
    struct join *join = worker->join;
    size_t part;
    while (!join->ended && (part = atomic_fetch_add(&join->next, 1)) < join->spread_a.parts) {
        size_t count = idxi_spread_count(&join->spread_a, part), other = 0;
        idxi_spread_copy(&join->spread_a, part, worker->arrays[ARRAY_A]);
        if (!join->within) other = idxi_spread_count(&join->spread_b, part);
        if (!join->within) idxi_spread_copy(&join->spread_b, part, worker->arrays[ARRAY_B]);
        match_arrays(worker, 0, count, join->within ? NULL : &other);
        IDXI_TRY(idxi_progress_add(&join->progress, count, error));
    }
    return IDX_OK;
}

/* ---- Threads ---- */

typedef enum idx_status (*worker_part)(struct worker *worker, struct idx_error *error);

struct shift {
    struct join *join;
    worker_part work;
};

/* Each task is that of one worker, which takes leaves or parts until there are no more. */
static enum idx_status run_worker(void *context, size_t number, struct idx_error *error) {
    const struct shift *shift = context;
    struct worker *worker = shift->join->workers[number];
    enum idx_status status = shift->work(worker, error);
    if (status != IDX_OK) shift->join->ended = true;
    hand_over(worker);
    return status;
}

static enum idx_status work_together(struct join *join, worker_part work, struct idx_error *error) {
    struct shift shift = {join, work};
    join->next = 0;
    return idxi_parallel(join->options.threads, join->options.threads, run_worker, &shift, &join->progress, error);
}

static enum idx_status make_worker(struct join *join, unsigned number, struct idx_error *error) {
    struct worker *worker = calloc(1, sizeof *worker);
    join->workers[number] = worker;
    if (worker == NULL) return idxi_fail_memory(error);
    worker->join = join;
    worker->number = number;
    idxi_matching_init(&worker->matching, join->options.distance);
    worker->matching.found = take_pair;
    worker->matching.goes_on = goes_on;
    worker->matching.context = worker;
    worker->counts = calloc(join->a->open_segments + 1, sizeof *worker->counts);
    if (worker->counts == NULL) return idxi_fail_memory(error);
    for (size_t i = 0; i < ARRAYS; i++) {
        worker->arrays[i] = idxi_array_reserve(join->capacity);
        if (worker->arrays[i] == NULL) return idxi_fail_memory(error);
    }
    return IDX_OK;
}

static enum idx_status make_workers(struct join *join, struct idx_error *error) {
    join->workers = calloc(join->options.threads, sizeof(struct worker *));
    if (join->workers == NULL) return idxi_fail_memory(error);
    for (unsigned i = 0; i < join->options.threads; i++) IDXI_TRY(make_worker(join, i, error));
    return IDX_OK;
}

static void free_workers(struct join *join) {
    for (unsigned i = 0; i < join->options.threads && join->workers != NULL && join->workers[i] != NULL; i++) {
        for (size_t j = 0; j < ARRAYS; j++) idxi_array_release(join->workers[i]->arrays[j], join->capacity);
        free(join->workers[i]->counts);
        free(join->workers[i]);
    }
    free(join->workers);
}

/* ---- Tables ---- */

static uint64_t count_fingerprints(const struct idx_index *index) {
    uint64_t count = 0;
    for (size_t i = 0; i < index->open_segments; i++) count += index->segments[i]->entry.fingerprints;
    return count;
}

static uint64_t count_most(const struct join *join) {
    uint64_t a = count_fingerprints(join->a), b = count_fingerprints(join->b);
    return a > b ? a : b;
}

/* The leading bits that cut the fingerprints into ranges, were they spread evenly. */
static unsigned count_range_bits(const struct join *join) {
    uint64_t ranges = count_most(join) / get_range_fingerprints(join);
    return ranges == 0 ? 0 : 64 - (unsigned)__builtin_clzll(ranges);
}

/* The fingerprints that can be spread of one index. */
static size_t get_spread_capacity(const struct join *join, uint64_t parts) {
    unsigned threads = join->options.threads;
    uint64_t all = count_most(join) + parts * threads * IDXI_SPREAD_CHUNK;
    uint64_t room = idxi_memory_of_arrays(join->options.memory_bytes, threads) / (2 * sizeof(uint64_t));
    if (!join->within) room /= 2;
    return (size_t)(room < all ? room : all);
}

/* Spreads parts `first` to first + *parts - 1 and matches them. Where there are too many for the memory, *parts is
 * halved; a single one that is too large is gone through without being spread. */
static enum idx_status match_some_parts(struct join *join, unsigned shift, unsigned width, uint64_t first,
                                        uint64_t *parts, struct idx_error *error) {
    for (;; *parts = (*parts + 1) / 2) {
        idxi_spread_begin(&join->spread_a, shift, width, first, *parts);
        if (!join->within) idxi_spread_begin(&join->spread_b, shift, width, first, *parts);
        join->is_full = false;
        IDXI_TRY(work_together(join, spread_leaves, error));
        if (join->ended) return IDX_OK;
        if (!join->is_full && do_parts_fit(join)) return work_together(join, match_parts, error);
        if (*parts == 1) break;
    }
    struct leaf all = {0, 0};
    join->pass.mask = idxf_low_bits(width) << shift;
    join->pass.value = first << shift;
    enum idx_status status = match_leaf(join->workers[0], &all, error);
    hand_over(join->workers[0]);
    join->pass.mask = join->pass.value = 0;
    return status;
}

static enum idx_status match_all_parts(struct join *join, unsigned shift, unsigned width, struct idx_error *error) {
    uint64_t all = UINT64_C(1) << width, parts = all;
    for (uint64_t first = 0; first < all && !join->ended; first += parts) {
        if (parts > all - first) parts = all - first;
        IDXI_TRY(match_some_parts(join, shift, width, first, &parts, error));
    }
    return IDX_OK;
}

/* Makes room to spread any table, once. */
static enum idx_status reserve_spreads(struct join *join, struct idx_error *error) {
    uint64_t parts = UINT64_C(1) << count_range_bits(join);
    size_t capacity = get_spread_capacity(join, parts);
    unsigned threads = join->options.threads;
    if (join->spread_a.fingerprints != NULL) return IDX_OK;
    bool enough = idxi_spread_reserve(&join->spread_a, capacity, parts, threads) &&
                  (join->within || idxi_spread_reserve(&join->spread_b, capacity, parts, threads));
    return enough ? IDX_OK : idxi_fail_memory(error);
}

/* Pairs with an error in the leading bits at least: then one of as many parts of the others as there may be errors has
 * none. */
static enum idx_status match_apart(struct join *join, struct idx_error *error) {
    unsigned radius = join->table->radius, prefix = idxf_count_bits(join->prefix), ranges = count_range_bits(join);
    unsigned width = (prefix - join->leading) / radius, shift = 64 - join->leading;
    if (width > ranges) width = ranges;
    IDXI_TRY(reserve_spreads(join, error));
    join->pass.before[0] = get_top(join->leading);
    join->pass.narrow &= ~get_top(join->leading);
    for (join->pass.number = 1; join->pass.number <= radius && !join->ended; join->pass.number++) {
        shift -= width;
        uint64_t part = idxf_low_bits(width) << shift;
        join->pass.narrow &= ~part;
        join->pass.errors = radius - join->pass.number;
        IDXI_TRY(match_all_parts(join, shift, width, error));
        join->pass.before[join->pass.number] = part;
    }
    return IDX_OK;
}

/* Each segment must have given as many fingerprints as it says. */
static enum idx_status check_counts(const struct join *join, struct idx_error *error) {
    for (size_t i = 0; i < join->a->open_segments; i++) {
        const struct idxi_table *table = &join->a->segments[i]->tables[join->table->table];
        uint64_t count = 0;
        for (unsigned j = 0; j < join->options.threads; j++) {
            count += join->workers[j]->counts[i];
            join->workers[j]->counts[i] = 0;
        }
        if (count != table->header.fingerprints && !join->ended)
            return idxi_fail_fault(error, IDXF_FAULT_COUNT, table->path, 0);
    }
    return IDX_OK;
}

static enum idx_status check_workers(const struct join *join, struct idx_error *error) {
    for (unsigned i = 0; i < join->options.threads; i++) {
        const struct worker *worker = join->workers[i];
        if (worker->status == IDX_OK) continue;
        if (error != NULL) *error = worker->error;
        return worker->status;
    }
    return IDX_OK;
}

/* Sets the table at hand. */
static void begin_table(struct join *join, size_t turn) {
    join->turn = turn;
    join->table = &join->probing->tables[turn];
    unsigned prefix = idxf_count_bits(join->table->mask), radius = join->table->radius;
    idxf_permutation_init(&join->permutation, join->table->mask, join->a->manifest->bits);
    join->prefix = get_top(prefix);
    join->leading = count_range_bits(join);
    if (join->leading + radius > prefix) join->leading = prefix > radius ? prefix - radius : 0;
    join->earlier_count = 0;
    for (size_t i = 0; i < turn; i++) {
        const struct idxi_probed *table = &join->probing->tables[i];
        if (table->radius == 0) join->earlier[join->earlier_count++] = idxf_permute(&join->permutation, table->mask);
    }
    join->leaf_count = 0;
    join->pass = (struct pass){.narrow = join->prefix, .errors = radius};
}

static enum idx_status match_table(struct join *join, size_t turn, struct idx_error *error) {
    begin_table(join, turn);
    IDXI_TRY(add_leaves(join, (struct leaf){0, 0}, error));
    IDXI_TRY(work_together(join, match_leaves, error));
    IDXI_TRY(check_counts(join, error));
    if (join->table->radius == 0 || join->leading == 0 || join->ended) return check_workers(join, error);
    IDXI_TRY(match_apart(join, error));
    return check_workers(join, error);
}

/* ---- Pending fingerprints ---- */

static bool take_pending(void *context, uint64_t a, uint64_t b) {
    struct worker *worker = context;
    put_pair(worker, a, b);
    return goes_on(worker);
}

static enum idx_status match_pending(struct join *join, struct idx_error *error) {
    struct idxi_pending_pairs pairs = {join->a,      join->b,         join->within, join->options.distance,
                                       take_pending, join->workers[0]};
    IDXI_TRY(idxi_pending_pairs_find(&pairs, error));
    hand_over(join->workers[0]);
    return idxi_progress_add(&join->progress, 0, error);
}

/* ---- The whole ---- */

/* How many fingerprints an array holds: all of them, or as many as half of the memory has room for. */
static size_t get_capacity(const struct join *join) {
    unsigned threads = join->options.threads;
    uint64_t room =
        idxi_memory_of_arrays(join->options.memory_bytes, threads) / (2 * sizeof(uint64_t) * ARRAYS * threads);
    size_t segments = join->a->open_segments > join->b->open_segments ? join->a->open_segments : join->b->open_segments;
    uint64_t least = IDXI_MIN_RANGE_CAPACITY(segments), most = count_most(join) + least;
    if (room > UINT32_MAX) room = UINT32_MAX;
    if (room > most) room = most;
    return room > least ? (size_t)room : (size_t)least;
}

/* The fingerprints that are gone through, for progress. */
static uint64_t count_work(const struct join *join) {
    uint64_t passes = 0;
    for (size_t i = 0; i < join->probing->count; i++)
        passes += 1 + (count_range_bits(join) > 0 ? join->probing->tables[i].radius : 0);
    return count_fingerprints(join->a) * passes;
}

static enum idx_status match_all(struct join *join, struct idx_error *error) {
    join->capacity = get_capacity(join);
    IDXI_TRY(make_workers(join, error));
    idxi_progress_init(&join->progress, join->options.progress, join->options.context);
    IDXI_TRY(idxi_progress_begin(&join->progress, IDX_PHASE_COMPARING, count_work(join), error));
    for (size_t turn = 0; turn < join->probing->count && !join->ended; turn++) IDXI_TRY(match_table(join, turn, error));
    if (!join->ended) IDXI_TRY(match_pending(join, error));
    return idxi_progress_add(&join->progress, 0, error);
}

static enum idx_status check_options(struct join *join, struct idx_error *error) {
    struct idx_join_options *options = &join->options;
    if (options->distance == UINT_MAX) options->distance = join->a->manifest->k;
    if (options->threads < 1 || options->threads > IDX_MAX_THREADS)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "%u threads: there can be 1 to %d", options->threads,
                         IDX_MAX_THREADS);
    IDXI_TRY(idxi_check_distance(join->a, options->distance, error));
    return idxi_memory_settle(&options->memory_bytes, error);
}

static enum idx_status run(const struct idx_index *a, const struct idx_index *b, bool within,
                           const struct idx_join_options *options, idx_pairs_visitor visit, void *visit_context,
                           struct idx_error *error) {
    struct join join = {.a = a,
                        .b = b,
                        .within = within,
                        .options = IDX_JOIN_OPTIONS_INIT,
                        .visit = visit,
                        .visit_context = visit_context,
                        .handing_over = PTHREAD_MUTEX_INITIALIZER};
    if (options != NULL)
        memcpy(&join.options, options, options->size < sizeof *options ? options->size : sizeof *options);
    IDXI_TRY(check_options(&join, error));
    join.probing = &a->probings[join.options.distance];
    enum idx_status status = match_all(&join, error);
    free_workers(&join);
    idxi_spread_release(&join.spread_a);
    idxi_spread_release(&join.spread_b);
    free(join.leaves);
    pthread_mutex_destroy(&join.handing_over);
    return status;
}

enum idx_status idx_pairs(const struct idx_index *index, const struct idx_join_options *options,
                          idx_pairs_visitor visit, void *visit_context, struct idx_error *error) {
    return run(index, index, true, options, visit, visit_context, error);
}

/* What a sentence says that two indexes differ in; NULL where they can be joined. */
static const char *find_difference(const struct idxf_manifest *a, const struct idxf_manifest *b) {
    if (a->bits != b->bits) return "bits";
    if (a->k != b->k) return "k";
    if (!idx_recipe_matches(a->recipe, b->recipe, NULL)) return "recipe";
    if (a->table_count != b->table_count) return "scheme";
    for (size_t i = 0; i < a->table_count; i++) {
        if (a->tables[i].mask != b->tables[i].mask || a->tables[i].radius != b->tables[i].radius) return "scheme";
    }
    return NULL;
}

enum idx_status idx_join(const struct idx_index *a, const struct idx_index *b, const struct idx_join_options *options,
                         idx_pairs_visitor visit, void *visit_context, struct idx_error *error) {
    const char *difference = find_difference(a->manifest, b->manifest);
    if (difference != NULL)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, b->path,
                         "can't be joined with %s, since they differ in their %s: build one of them anew", a->path,
                         difference);
    return run(a, b, false, options, visit, visit_context, error);
}
