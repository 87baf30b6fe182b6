/* join.c: all pairs of an index, or of two. Each table that a look-up would probe is cut into ranges of permuted
 * fingerprints that the caches hold. Pairs within a range are found in it; the others, where a few of its leading bits
 * differ, in it and the range with these bits flipped. A pair that several tables find belongs to the first of them. */
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "libidx/matching.h"
#include "libidx/memory.h"
#include "libidx/parallel.h"
#include "libidx/range.h"
#include "libidx/recipe.h"
#include "libidx/search.h"

/* Fingerprints of a range, about. */
#define RANGE_FINGERPRINTS 65536

/* Pairs that are handed over at a time. */
#define PAIRS 4096

/* Arrays of fingerprints that a thread has. */
#define ARRAYS 7

/* The fingerprints of table `turn` of the probing whose first `same` bits are those of `low`. */
struct leaf {
    uint64_t low;
    uint32_t turn;
    unsigned same;
};

struct join {
    const struct idx_index *a, *b;
    bool within; /* pairs of `a` alone; then `b` is the same one */
    struct idx_join_options options;
    const struct idxi_probing *probing;
    idx_pairs_visitor visit;
    void *visit_context;
    struct leaf *leaves;
    size_t leaf_count, leaf_room;
    size_t capacity;          /* fingerprints that an array holds */
    size_t leaf_fingerprints; /* about, at most */
    struct idxi_progress progress;
    atomic_size_t next;
    atomic_bool ended; /* by an error, or by the visitor */
    pthread_mutex_t handing_over;
    pthread_mutex_t counting;
    uint64_t *counts; /* fingerprints of `a`, of each table and segment */
};

/* What a thread has. */
struct worker {
    struct join *join;
    struct idxi_matching matching;
    const struct leaf *leaf;
    struct idxf_permutation permutation;
    uint64_t *arrays[ARRAYS];
    struct idx_pair pairs[PAIRS];
    size_t pair_count;
    uint64_t *counts; /* of each segment of `a`, in the leaf */
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

static void take_pair(void *context, uint64_t a, uint64_t b) {
    struct worker *worker = context;
    uint64_t x = idxf_unpermute(&worker->permutation, a), y = idxf_unpermute(&worker->permutation, b);
    if (!idxi_owns(worker->join->probing, worker->leaf->turn, x ^ y)) return;
    bool exchange = worker->join->within && x > y;
    worker->pairs[worker->pair_count++] =
        (struct idx_pair){exchange ? y : x, exchange ? x : y, (unsigned)__builtin_popcountll(x ^ y)};
    if (worker->pair_count == PAIRS) hand_over(worker);
}

static bool goes_on(void *context) {
    struct join *join = ((struct worker *)context)->join;
    return !join->ended && idxi_progress_add(&join->progress, 0, NULL) == IDX_OK;
}

/* ---- Leaves ---- */

static struct idxi_ranges get_ranges(const struct join *join, const struct idx_index *index, uint32_t turn) {
    return (struct idxi_ranges){index, join->probing->tables[turn].table, NULL};
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

static uint64_t get_high(const struct leaf *leaf) { return leaf->low | idxf_low_bits(64 - leaf->same); }

/* Adds the leaves of a range, which is halved until they are small enough, or have the whole prefix in common. */
static enum idx_status add_leaves(struct join *join, struct leaf leaf, unsigned prefix, struct idx_error *error) {
    struct idxi_ranges a = get_ranges(join, join->a, leaf.turn), b = get_ranges(join, join->b, leaf.turn);
    uint64_t count, other = 0;
    IDXI_TRY(idxi_range_estimate(&a, leaf.low, get_high(&leaf), &count, error));
    if (!join->within) IDXI_TRY(idxi_range_estimate(&b, leaf.low, get_high(&leaf), &other, error));
    if (leaf.same == prefix || (count <= join->leaf_fingerprints && other <= join->leaf_fingerprints))
        return add_leaf(join, leaf, error);
    leaf.same++;
    IDXI_TRY(add_leaves(join, leaf, prefix, error));
    leaf.low |= UINT64_C(1) << (64 - leaf.same);
    return add_leaves(join, leaf, prefix, error);
}

/* ---- Ranges ---- */

static struct idxi_range get_range(struct worker *worker, size_t array, uint64_t low, uint64_t high) {
    return (struct idxi_range){.low = low,
                               .high = high,
                               .fingerprints = worker->arrays[array],
                               .room = worker->arrays[ARRAYS - 1],
                               .capacity = worker->join->capacity};
}

static struct idxi_matched get_matched(struct worker *worker, size_t array, size_t count) {
    return (struct idxi_matched){worker->arrays[array], worker->arrays[array + 1], worker->arrays[array + 2], count};
}

/* Matches a range of `a` with all of `b` from `low` to `high`, a part at a time where it is large. */
static enum idx_status match_with(struct worker *worker, const struct idxi_range *range, uint64_t low, uint64_t high,
                                  struct idx_error *error) {
    struct idxi_ranges ranges = get_ranges(worker->join, worker->join->b, worker->leaf->turn);
    struct idxi_range other = get_range(worker, 3, low, high);
    for (; !worker->join->ended; other.low = other.high + 1, other.high = high) {
        IDXI_TRY(idxi_range_load(&ranges, &other, error));
        struct idxi_matched a = get_matched(worker, 0, range->count), b = get_matched(worker, 3, other.count);
        idxi_match(&worker->matching, &a, &b, worker->leaf->same);
        IDXI_TRY(idxi_progress_add(&worker->join->progress, 0, error));
        if (other.high == high) break;
    }
    return IDX_OK;
}

/* Matches a range of a leaf with those where up to `radius` of the bits that the leaf has in common are flipped, from
 * bit `bit` on downwards. Each two ranges of one index meet once: where the first bit flipped is 0. */
static enum idx_status match_flipped(struct worker *worker, const struct idxi_range *range, uint64_t flipped,
                                     unsigned bit, unsigned radius, struct idx_error *error) {
    const struct leaf *leaf = worker->leaf;
    bool half = worker->join->within && flipped == 0;
    for (; radius > 0 && bit < leaf->same; bit++) {
        uint64_t one = UINT64_C(1) << (63 - bit), all = flipped | one;
        if (half && (leaf->low & one) != 0) continue;
        IDXI_TRY(match_with(worker, range, leaf->low ^ all, get_high(leaf) ^ all, error));
        IDXI_TRY(match_flipped(worker, range, all, bit + 1, radius - 1, error));
    }
    return IDX_OK;
}

/* Pairs whose leading bits are the same: within the range and with the rest of the leaf, or with the other index. */
static enum idx_status match_same(struct worker *worker, const struct idxi_range *range, struct idx_error *error) {
    uint64_t high = get_high(worker->leaf);
    struct idxi_matched a = get_matched(worker, 0, range->count);
    if (!worker->join->within) return match_with(worker, range, worker->leaf->low, high, error);
    idxi_match(&worker->matching, &a, NULL, worker->leaf->same);
    return range->high < high ? match_with(worker, range, range->high + 1, high, error) : IDX_OK;
}

static enum idx_status match_leaf(struct worker *worker, struct idx_error *error) {
    struct join *join = worker->join;
    const struct leaf *leaf = worker->leaf;
    struct idxi_ranges ranges = get_ranges(join, join->a, leaf->turn);
    struct idxi_range range = get_range(worker, 0, leaf->low, get_high(leaf));
    ranges.counts = worker->counts;
    for (; !join->ended; range.low = range.high + 1, range.high = get_high(leaf)) {
        IDXI_TRY(idxi_range_load(&ranges, &range, error));
        if (range.count > 0) {
            IDXI_TRY(match_same(worker, &range, error));
            IDXI_TRY(match_flipped(worker, &range, 0, 0, worker->matching.radius, error));
        }
        IDXI_TRY(idxi_progress_add(&join->progress, range.count, error));
        if (range.high == get_high(leaf)) break;
    }
    return IDX_OK;
}

/* ---- Threads ---- */

static void add_counts(struct worker *worker) {
    struct join *join = worker->join;
    size_t segments = join->a->open_segments;
    pthread_mutex_lock(&join->counting);
    for (size_t i = 0; i < segments; i++) join->counts[worker->leaf->turn * segments + i] += worker->counts[i];
    pthread_mutex_unlock(&join->counting);
    memset(worker->counts, 0, segments * sizeof *worker->counts);
}

static void begin_leaf(struct worker *worker, const struct leaf *leaf) {
    const struct idxi_probed *table = &worker->join->probing->tables[leaf->turn];
    unsigned bits = worker->join->a->manifest->bits, prefix = (unsigned)__builtin_popcountll(table->mask);
    worker->leaf = leaf;
    idxf_permutation_init(&worker->permutation, table->mask, bits);
    worker->matching.prefix = ~idxf_low_bits(64 - prefix);
    worker->matching.radius = table->radius;
}

static enum idx_status take_leaves(struct worker *worker, struct idx_error *error) {
    struct join *join = worker->join;
    size_t number;
    while (!join->ended && (number = atomic_fetch_add(&join->next, 1)) < join->leaf_count) {
        begin_leaf(worker, &join->leaves[number]);
        IDXI_TRY(match_leaf(worker, error));
        add_counts(worker);
    }
    hand_over(worker);
    return IDX_OK;
}

static enum idx_status make_arrays(struct worker *worker, struct idx_error *error) {
    for (size_t i = 0; i < ARRAYS; i++) {
        worker->arrays[i] = idxi_array_reserve(worker->join->capacity);
        if (worker->arrays[i] == NULL) return idxi_fail_memory(error);
    }
    worker->counts = calloc(worker->join->a->open_segments + 1, sizeof *worker->counts);
    return worker->counts == NULL ? idxi_fail_memory(error) : IDX_OK;
}

/* Each task is a thread's, which takes leaves until there are no more. */
static enum idx_status work(void *context, size_t number, struct idx_error *error) {
    struct join *join = context;
    struct worker *worker = calloc(1, sizeof *worker);
    (void)number;
    if (worker == NULL) return idxi_fail_memory(error);
    worker->join = join;
    idxi_matching_init(&worker->matching, join->options.distance);
    worker->matching.found = take_pair;
    worker->matching.goes_on = goes_on;
    worker->matching.context = worker;
    enum idx_status status = make_arrays(worker, error);
    if (status == IDX_OK) status = take_leaves(worker, error);
    if (status != IDX_OK) join->ended = true;
    for (size_t i = 0; i < ARRAYS; i++) idxi_array_release(worker->arrays[i], join->capacity);
    free(worker->counts);
    free(worker);
    return status;
}

/* ---- The whole ---- */

/* Each table must have given as many fingerprints as it says. */
static enum idx_status check_counts(const struct join *join, struct idx_error *error) {
    size_t segments = join->a->open_segments;
    for (size_t i = 0; i < join->probing->count * segments; i++) {
        const struct idxi_segment *segment = &join->a->segments[i % segments];
        const struct idxi_table *table = &segment->tables[join->probing->tables[i / segments].table];
        if (join->counts[i] != table->header.fingerprints)
            return idxi_fail_fault(error, IDXF_FAULT_COUNT, table->path, 0);
    }
    return IDX_OK;
}

static uint64_t count_fingerprints(const struct idx_index *index) {
    uint64_t count = 0;
    for (size_t i = 0; i < index->open_segments; i++) count += index->segments[i].entry->fingerprints;
    return count;
}

/* How many fingerprints an array holds: all of them, or as many as the memory has room for. */
static size_t get_capacity(const struct join *join) {
    uint64_t count = count_fingerprints(join->a), other = count_fingerprints(join->b);
    uint64_t room = idxi_memory_of_arrays(join->options.memory_bytes, join->options.threads) /
                    (sizeof(uint64_t) * ARRAYS * join->options.threads);
    size_t a_least = IDXI_MIN_RANGE_CAPACITY(join->a->open_segments),
           b_least = IDXI_MIN_RANGE_CAPACITY(join->b->open_segments), least = a_least > b_least ? a_least : b_least;
    uint64_t most = (count > other ? count : other) + least;
    if (room > UINT32_MAX) room = UINT32_MAX;
    if (room > most) room = most;
    return room > least ? (size_t)room : least;
}

static enum idx_status match_all(struct join *join, struct idx_error *error) {
    size_t segments = join->a->open_segments;
    join->counts = calloc(join->probing->count * segments + 1, sizeof *join->counts);
    if (join->counts == NULL) return idxi_fail_memory(error);
    join->capacity = get_capacity(join);
    join->leaf_fingerprints = join->capacity < RANGE_FINGERPRINTS ? join->capacity : RANGE_FINGERPRINTS;
    for (uint32_t i = 0; i < join->probing->count; i++) {
        unsigned prefix = (unsigned)__builtin_popcountll(join->probing->tables[i].mask);
        IDXI_TRY(add_leaves(join, (struct leaf){0, i, 0}, prefix, error));
    }
    idxi_progress_init(&join->progress, join->options.progress, join->options.context);
    IDXI_TRY(idxi_progress_begin(&join->progress, IDX_PHASE_COMPARING,
                                 count_fingerprints(join->a) * join->probing->count, error));
    IDXI_TRY(idxi_parallel(join->options.threads, join->options.threads, work, join, &join->progress, error));
    IDXI_TRY(idxi_progress_add(&join->progress, 0, error));
    return join->ended ? IDX_OK : check_counts(join, error);
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
                        .handing_over = PTHREAD_MUTEX_INITIALIZER,
                        .counting = PTHREAD_MUTEX_INITIALIZER};
    if (options != NULL)
        memcpy(&join.options, options, options->size < sizeof *options ? options->size : sizeof *options);
    IDXI_TRY(check_options(&join, error));
    join.probing = &a->probings[join.options.distance];
    enum idx_status status = match_all(&join, error);
    free(join.leaves);
    free(join.counts);
    pthread_mutex_destroy(&join.handing_over);
    pthread_mutex_destroy(&join.counting);
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
