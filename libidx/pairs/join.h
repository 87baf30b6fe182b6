/* join.h: what the files of a join share: join.c reads the tables, join_ranges.c finds the pairs within ranges of a
 * table, join_spread.c finds those across ranges, join_pending.c those of what is pending, and join_workers.c runs the
 * threads. */
#ifndef IDX_LIBIDX_JOIN_H
#define IDX_LIBIDX_JOIN_H

#include <pthread.h>
#include <stdatomic.h>

#include "format/processor.h"
#include "libidx/base/base.h"
#include "libidx/pairs/matching.h"
#include "libidx/view/range.h"

/* How many pairs a visitor gets at a time, at most. */
#define IDXI_JOIN_PAIRS 4096

/* Each thread's arrays of fingerprints: one for index a and one for index b, each followed by one to sort it, and one
 * that segments are merged from. Large groups are searched in as much memory as IDXI_JOIN_MORE_ARRAYS more arrays. */
enum { IDXI_ARRAY_A = 0, IDXI_ARRAY_B = 2, IDXI_ARRAY_SEGMENTS = 4, IDXI_JOIN_ARRAYS };
#define IDXI_JOIN_MORE_ARRAYS 3

/* A range of permuted fingerprints: those whose first `same_bits` bits are those of `low`. */
struct idxi_join_leaf {
    uint64_t low;
    unsigned same_bits;
};

/* Which pairs of a table a pass looks for: those that agree in some bits, and differ in each mask of `found_masks`,
 * since an earlier pass has found the pairs that agree in one of these. */
struct idxi_join_pass {
    unsigned number; /* 0: pairs within ranges, in table order. From 1 to the radius: pairs that agree in this part of
                        the bits after the leading ones, which are cut into as many parts */
    uint64_t found_masks[IDX_MAX_RADIUS + 1]; /* `number` masks */
    uint64_t mask, value;                     /* only fingerprints whose bits of `mask` are `value` are loaded */
    uint64_t error_mask;                      /* a pair differs in at most `max_errors` of these bits */
    unsigned max_errors;
};

/* The fingerprints of an index that are the same in some bits: as they were loaded, and in buckets by other bits. */
struct idxi_join_side {
    const struct idx_index *index;
    uint64_t *fingerprints;
    struct idxi_buckets buckets;
    atomic_size_t count;
};

struct idxi_join_worker;

struct idxi_join {
    const struct idx_index *a, *b;
    bool within; /* pairs of `a` alone; then `b` is `a` */
    struct idx_join_options options;
    const struct idxi_probing *probing; /* NULL if the tables can't find the pairs */
    idx_pairs_visitor visit;
    void *visit_context;
    struct idxi_join_worker **workers; /* one for each thread */
    size_t capacity;                   /* fingerprints that an array holds */
    struct idxi_progress progress;
    atomic_bool ended; /* set by an error, or by the visitor */
    pthread_mutex_t visit_mutex;

    /* The current table. */
    size_t order; /* its number in the probing */
    const struct idxi_probed_table *table;
    struct idxf_permutation permutation;
    uint64_t prefix;                        /* the bits of the mask, permuted */
    uint64_t earlier_masks[IDX_MAX_TABLES]; /* permuted masks of the tables before it that have radius 0 */
    size_t earlier_count;
    unsigned leading_bits; /* how many leading bits cut the table into ranges, if it has a radius */
    struct idxi_join_leaf *leaves;
    size_t leaf_count, leaf_capacity;
    struct idxi_join_pass pass;
    atomic_size_t next;             /* number of the next leaf or bucket that a thread takes */
    struct idxi_join_side sides[2]; /* loaded by join_spread.c; the second one only between two indexes */
    uint32_t *sort_counts;          /* for sorting the sides on several threads; else NULL */
    size_t side_capacity;           /* fingerprints that a side can hold; 0: there are no sides yet */
    unsigned spread_bits;           /* how many bits the sides are sorted by */
    atomic_bool is_full;            /* whether a side had no room for all */
};

struct idxi_join_worker {
    struct idxi_join *join;
    struct idxi_matching matching;
    uint64_t *arrays[IDXI_JOIN_ARRAYS];
    struct idx_pair pairs[IDXI_JOIN_PAIRS];
    size_t pair_count;
    uint64_t *loaded_counts; /* for each segment of `a`: the fingerprints that were loaded of it, to be checked */
    enum idx_status status;  /* of the check whether pairs are live; `error` belongs to it */
    struct idx_error error;
};

/* Returns a mask of the first `bits` bits, 0 to 64. */
static inline uint64_t idxi_top_bits(unsigned bits) { return ~idxf_low_bits(64 - bits); }

/* Returns the highest permuted fingerprint that a leaf may have. */
static inline uint64_t idxi_get_leaf_high(const struct idxi_join_leaf *leaf) {
    return leaf->low | ~idxi_top_bits(leaf->same_bits);
}

/* ---- Counts: join.c ---- */

/* Returns how many fingerprints the larger of the two indexes has. One that several segments have counts in each. */
uint64_t idxi_join_count_larger_index(const struct idxi_join *join);

/* Returns how many leading bits cut the fingerprints into ranges of at most idxi_join_get_range_limit fingerprints, if
 * all are spread evenly. */
unsigned idxi_join_choose_range_bits(const struct idxi_join *join);

/* ---- Threads: join_workers.c ---- */

/* Makes a worker for each thread, with arrays of join->capacity fingerprints. Call idxi_join_free_workers even if this
 * fails. Errors: IDX_OUT_OF_MEMORY. */
enum idx_status idxi_join_make_workers(struct idxi_join *join, struct idx_error *error);
/* Frees all workers, if there are any. */
void idxi_join_free_workers(struct idxi_join *join);

/* What each thread of a join does: takes leaves or buckets by counting up join->next, until none is left or the join
 * has ended. */
typedef enum idx_status (*idxi_join_task)(struct idxi_join_worker *worker, struct idx_error *error);
/* Sets join->next to 0, and runs a task once on each thread. Then hands over the pairs of all workers. An error of one
 * thread ends the join, and is returned. Errors: those of the task, and IDX_CANCELLED. */
enum idx_status idxi_join_run_task(struct idxi_join *join, idxi_join_task task, struct idx_error *error);

/* Calls the visitor with the pairs that a worker has gathered, unless the join has ended, and forgets them. Ends the
 * join if the visitor returns false. Several threads may call it at once, each for its own worker. */
void idxi_join_hand_over_pairs(struct idxi_join_worker *worker);

/* Adds the pair of fingerprint `x` of index a and `y` of b to those that a worker has gathered. Once there are
 * IDXI_JOIN_PAIRS, hands all over. Within one index, the smaller fingerprint comes first in the pair. */
void idxi_join_add_pair(struct idxi_join_worker *worker, uint64_t x, uint64_t y, unsigned distance);

/* This is idxi_balls.goes_on: returns whether the join was neither ended nor cancelled by the caller's progress.
 * `context` is one of its workers. */
bool idxi_join_is_going_on(void *context);

/* ---- Ranges: join_ranges.c ---- */

/* Returns about how many fingerprints a range has at most. */
size_t idxi_join_get_range_limit(const struct idxi_join *join);

/* Returns the current table of the join in all segments of an index. Its `counts` are NULL. The caller sets them to
 * have the loaded fingerprints counted. */
struct idxi_ranges idxi_join_get_table_ranges(const struct idxi_join *join, const struct idx_index *index);

/* Returns the range from `low` to `high` of the current pass, not loaded yet. Its fingerprints will go to the worker's
 * array number `array` (IDXI_ARRAY_A or IDXI_ARRAY_B). */
struct idxi_range idxi_join_make_range(const struct idxi_join_worker *worker, size_t array, uint64_t low,
                                       uint64_t high);

/* Halves a range until each part is small enough, and adds the parts to join->leaves. Errors: IDX_OUT_OF_MEMORY, those
 * of damaged files. */
enum idx_status idxi_join_add_leaves(struct idxi_join *join, struct idxi_join_leaf leaf, struct idx_error *error);

/* Finds the pairs between `a` and `b`, or within `a` if `b` is NULL. All their fingerprints agree in the first
 * `same_bits` bits. The pairs go to the worker (idxi_join_add_pair). */
void idxi_join_match_loaded(struct idxi_join_worker *worker, unsigned same_bits, const struct idxi_match_side *a,
                            const struct idxi_match_side *b);

/* Returns the first `count` fingerprints of a worker's array, with the array after it as scratch memory. */
struct idxi_match_side idxi_join_get_array_side(const struct idxi_join_worker *worker, size_t array, size_t count);

/* Finds the pairs of a leaf within the index or with the other one, part by part if it does not fit the arrays. Errors:
 * those of damaged files, IDX_OUT_OF_MEMORY, IDX_CANCELLED. */
enum idx_status idxi_join_match_leaf(struct idxi_join_worker *worker, const struct idxi_join_leaf *leaf,
                                     struct idx_error *error);

/* An idxi_join_task: calls idxi_join_match_leaf for the leaves that no other thread has taken. */
enum idx_status idxi_join_match_all_leaves(struct idxi_join_worker *worker, struct idx_error *error);

/* ---- Spread: join_spread.c ---- */

/* Finds the pairs of the current table, which has a radius, whose fingerprints differ in the leading bits. Errors:
 * IDX_OUT_OF_MEMORY, IDX_CANCELLED, those of damaged files. */
enum idx_status idxi_join_match_across_ranges(struct idxi_join *join, struct idx_error *error);

/* Frees the sides of a join, if idxi_join_match_across_ranges has made them. */
void idxi_join_free_sides(struct idxi_join *join);

/* ---- Pending: join_pending.c ---- */

/* Finds each pair of which at least one fingerprint is only pending, once, and hands it over by the first worker. Takes
 * the time of one look-up and 16 bytes per pending fingerprint. Errors: IDX_OUT_OF_MEMORY, IDX_CANCELLED, those of
 * damaged files. */
enum idx_status idxi_join_match_pending(struct idxi_join *join, struct idx_error *error);

/* ---- Arrays in memory: join_arrays.c ---- */

/* Returns whether to search in memory: because the tables can't find the pairs, or are expected to take longer. */
bool idxi_join_prefers_memory(const struct idxi_join *join);

/* Finds all pairs in memory, those of pending fingerprints too, and calls the visitor with them. Sets join->ended if
 * the visitor ends the search. Errors: IDX_OUT_OF_MEMORY, IDX_CANCELLED, those of damaged files. */
enum idx_status idxi_join_match_in_memory(struct idxi_join *join, struct idx_error *error);

#endif
