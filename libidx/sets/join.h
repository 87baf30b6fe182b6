/* join.h: compares all sets of a store with each other, block by block: by several threads, the sets of a block are
 * compared with those indexed before it, and then with each other; one thread decides about those that are similar to
 * another one of the block. If the indexed sets don't fit into memory, the sets after them are compared with these, and
 * then indexed in a further round. */
#ifndef IDX_LIBIDX_SET_JOIN_H
#define IDX_LIBIDX_SET_JOIN_H

#include "libidx/sets/waiting.h"

/* Called for the set of a rank with `count` similar ones of lower ranks, by several threads at a time and in no order.
 * Each pair of similar sets comes in one call only. An error ends the join. */
typedef enum idx_status (*idxi_similar_visitor)(void *context, uint32_t rank, const struct idxi_similar *similar,
                                                size_t count, struct idx_error *error);

struct idxi_set_join {
    /* These are set by the caller. */
    struct idxi_set_store
        *store; /* its sets move to its file if the memory does not hold them beside the indexed ones */
    const struct idxi_counters *counters;
    struct idxi_fraction threshold; /* IDXI_NONE: similarity does not count */
    struct idxi_fraction contained; /* a set also joins one with this share of its members; IDXI_NONE: none does */
    uint64_t contained_size;        /* but a set of fewer members joins none for that reason */
    const uint32_t *order;          /* the number of the set of each rank; NULL: ranks are numbers */
    const uint32_t *firsts;    /* the lowest rank of a set that equals the set of each rank; NULL: as in the store */
    uint32_t known;            /* so many sets, of the first ranks, are kept, whatever they are similar to */
    struct idx_kept_set *kept; /* the result, by number; NULL: all similar sets are visited instead */
    idxi_similar_visitor visit;
    void *context;
    unsigned threads;
    uint64_t memory; /* bytes for the indexed sets */
    struct idxi_progress *progress;

    struct idx_sets_summary summary; /* set by the call */

    /* These are private. */
    struct idxi_marks marks;             /* used if sets may be contained in others */
    struct idxi_postings indexed, block; /* sets from before the block, and those of the block */
    struct idxi_prober *probers;         /* one for each thread */
    struct idxi_set_task *tasks;
    struct idxi_query *queries, *joinable; /* of the block: all sets, and those that others of the block may join */
    struct idxi_set_in_block *in_block;    /* for each query */
    struct idxi_waiting waiting;           /* the sets that the first round did not index */
    struct idxi_query_arena *part_buffers; /* one for each thread: the numbers of a part of the waiting sets */
    uint32_t begin, end;                   /* the ranks of the block, or once the index is full, of all after it */
    bool is_full;                          /* no more sets are indexed in this round */
};

/* Decides which sets to keep, and writes the result to join->kept; or if that is NULL, calls join->visit with all
 * similar sets. Sets join->summary, also after an error. Errors: IDX_OUT_OF_MEMORY, IDX_LIMIT, IDX_CANCELLED, those of
 * files, and those of `visit`. */
enum idx_status idxi_set_join_run(struct idxi_set_join *join, struct idx_error *error);

#endif
