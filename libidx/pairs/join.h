/* join.h: what the files of a join share: join.c reads the tables, join_ranges.c finds the pairs within ranges of a
 * table, join_spread.c finds those across ranges, and join_workers.c runs the threads. */
#ifndef IDX_LIBIDX_JOIN_H
#define IDX_LIBIDX_JOIN_H

#include <pthread.h>
#include <stdatomic.h>

#include "format/processor.h"
#include "libidx/base/base.h"
#include "libidx/pairs/matching.h"
#include "libidx/view/range.h"

/* Pairs that are handed over at a time. */
#define IDXI_JOIN_PAIRS 4096

/* Arrays of fingerprints that a thread has: those of either index, with room to sort them; and one to merge segments
 * from. Large groups are searched in the memory of so many more. */
#define IDXI_JOIN_ARRAYS 5
#define IDXI_JOIN_MORE_ARRAYS 3
enum { IDXI_ARRAY_A = 0, IDXI_ARRAY_B = 2, IDXI_ARRAY_SEGMENTS = 4 };

/* A range of permuted fingerprints: those whose first `same` bits are those of `low`. */
struct idxi_join_leaf {
    uint64_t low;
    unsigned same;
};

/* Which pairs of a table are looked for: those that are the same in some bits, and in none of `before`. */
struct idxi_join_pass {
    unsigned number; /* 0: ranges in order; then the same in one part of the bits behind the leading ones, for each
                        error that may be */
    uint64_t before[IDX_MAX_RADIUS + 1];
    uint64_t mask, value; /* only fingerprints are loaded whose bits of `mask` are `value` */
    uint64_t narrow;      /* bits that differ in few places: */
    unsigned errors;
};

/* The fingerprints of an index that are the same in some bits, unsorted, and in buckets by other bits. */
struct idxi_join_side {
    const struct idx_index *index;
    uint64_t *fingerprints;
    struct idxi_buckets buckets;
    atomic_size_t count;
};

struct idxi_join_worker;

struct idxi_join {
    const struct idx_index *a, *b;
    bool within; /* pairs of `a` alone; then `b` is the same one */
    struct idx_join_options options;
    const struct idxi_probing *probing; /* NULL: the tables are of no use */
    idx_pairs_visitor visit;
    void *visit_context;
    struct idxi_join_worker **workers; /* of each thread */
    size_t capacity;                   /* fingerprints that an array holds */
    struct idxi_progress progress;
    atomic_bool ended; /* by an error, or by the visitor */
    pthread_mutex_t handing_over;

    /* The table that is gone through. */
    size_t order; /* in the probing */
    const struct idxi_probed *table;
    struct idxf_permutation permutation;
    uint64_t prefix;                  /* the bits of the mask, permuted */
    uint64_t earlier[IDX_MAX_TABLES]; /* the masks of the tables before it without radius, permuted */
    size_t earlier_count;
    unsigned leading; /* bits that all ranges have in common, where there is a radius */
    struct idxi_join_leaf *leaves;
    size_t leaf_count, leaf_room;
    struct idxi_join_pass pass;
    atomic_size_t next;             /* leaf, or bucket */
    struct idxi_join_side sides[2]; /* those that are spread; the second one where there are two indexes */
    uint32_t *counts;               /* for sorting them */
    size_t room;                    /* fingerprints that a side holds */
    unsigned spread_bits;           /* by which they are sorted */
    atomic_bool is_full;            /* one of these */
};

/* What a thread has. */
struct idxi_join_worker {
    struct idxi_join *join;
    unsigned number;
    struct idxi_matching matching;
    uint64_t *arrays[IDXI_JOIN_ARRAYS];
    struct idx_pair pairs[IDXI_JOIN_PAIRS];
    size_t pair_count;
    uint64_t *counts;       /* fingerprints of `a` in the table, of each segment */
    enum idx_status status; /* of taking pairs, and: */
    struct idx_error error;
};

/* The first `bits` bits. */
static inline uint64_t idxi_top_bits(unsigned bits) { return ~idxf_low_bits(64 - bits); }

/* The last value of a range. */
static inline uint64_t idxi_leaf_high(const struct idxi_join_leaf *leaf) {
    return leaf->low | ~idxi_top_bits(leaf->same);
}

/* ---- Counts: join.c ---- */

/* The fingerprints of the index that has more. */
uint64_t idxi_join_most(const struct idxi_join *join);

/* The leading bits that cut the fingerprints into ranges, were they spread evenly. */
unsigned idxi_join_range_bits(const struct idxi_join *join);

/* ---- Threads: join_workers.c ---- */

/* To be freed also after an error. */
enum idx_status idxi_join_make_workers(struct idxi_join *join, struct idx_error *error);
void idxi_join_free_workers(struct idxi_join *join);

/* Runs a task by all threads, which share join->next. */
typedef enum idx_status (*idxi_join_task)(struct idxi_join_worker *worker, struct idx_error *error);
enum idx_status idxi_join_work(struct idxi_join *join, idxi_join_task task, struct idx_error *error);

/* Calls the visitor with the pairs that a thread has. */
void idxi_join_hand_over(struct idxi_join_worker *worker);

/* Adds a pair to those that a thread has. */
void idxi_join_put_pair(struct idxi_join_worker *worker, uint64_t x, uint64_t y);

/* Whether the join, of the worker that is the context, was neither ended nor cancelled. */
bool idxi_join_goes_on(void *context);

/* ---- Ranges: join_ranges.c ---- */

/* Fingerprints that a range is to have at most, about. */
size_t idxi_join_range_fingerprints(const struct idxi_join *join);

/* What an index has of the table that is gone through. */
struct idxi_ranges idxi_join_ranges(const struct idxi_join *join, const struct idx_index *index);

/* A range to be loaded into an array. */
struct idxi_range idxi_join_range(const struct idxi_join_worker *worker, size_t array, uint64_t low, uint64_t high);

/* Adds the leaves that a range is halved into. */
enum idx_status idxi_join_add_leaves(struct idxi_join *join, struct idxi_join_leaf leaf, struct idx_error *error);

/* Matches fingerprints whose first `same` bits are the same, each with those of `b` or, where it is NULL, with each
 * other. */
void idxi_join_match_arrays(struct idxi_join_worker *worker, unsigned same, const struct idxi_matched *a,
                            const struct idxi_matched *b);

/* What is in a worker's array, with the room beside it. */
struct idxi_matched idxi_join_matched(const struct idxi_join_worker *worker, size_t array, size_t count);

/* Matches a leaf in itself, or with the other index, some at a time where it is much. */
enum idx_status idxi_join_match_leaf(struct idxi_join_worker *worker, const struct idxi_join_leaf *leaf,
                                     struct idx_error *error);

/* The same for all leaves: a task. */
enum idx_status idxi_join_match_leaves(struct idxi_join_worker *worker, struct idx_error *error);

/* ---- Spread: join_spread.c ---- */

/* Finds the pairs of the table that is gone through with an error in the leading bits at least. */
enum idx_status idxi_join_match_apart(struct idxi_join *join, struct idx_error *error);
void idxi_join_free_sides(struct idxi_join *join);

/* ---- Arrays in memory: join_arrays.c ---- */

/* Whether searching in memory is faster than tables, and the memory is enough; or tables are of no use. */
bool idxi_join_prefers_arrays(const struct idxi_join *join);

/* Finds all pairs in memory, pending fingerprints included. */
enum idx_status idxi_join_search_arrays(struct idxi_join *join, struct idx_error *error);

#endif
