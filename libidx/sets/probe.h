/* probe.h: how one set is compared with those of an inverted index: its prefix by the order of rarity, its candidates,
 * and how many members it shares with each. A set that is contained in another shares a member of its own prefix with
 * the other one, but that member need not be in the prefix of the other. So where sets are looked for that contain
 * others, the index lists all members that are in the prefix of any set. */
#ifndef IDX_LIBIDX_SET_PROBE_H
#define IDX_LIBIDX_SET_PROBE_H

#include "libidx/sets/marks.h"
#include "libidx/sets/postings.h"

/* A set that is similar to the one that is compared. */
struct idxi_similar {
    uint32_t rank;          /* its place in the order of preference */
    uint32_t shared, total; /* members that both have, and that either has */
};

/* The tags and members of queries. Zeroed, it has room for none. */
struct idxi_query_arena {
    uint32_t *numbers;
    size_t used, capacity;
};

/* What a thread needs to compare sets: settings of the caller, and what the calls below make. */
struct idxi_prober {
    const struct idxi_set_store *store;
    const struct idxi_counters *counters;
    const uint32_t *order;          /* the number of the set of each rank; NULL: ranks are numbers */
    struct idxi_fraction threshold; /* IDXI_NONE: similarity does not count */
    struct idxi_fraction contained; /* sets with this share of the members are also wanted; IDXI_NONE: they are not */
    uint64_t contained_size;        /* but not for a set of fewer members */
    const struct idxi_marks *marks; /* members that are listed beside the prefix; NULL: none are */
    bool wants_all;                 /* all similar sets are wanted, and not only the most similar one */

    struct idxi_set_reader reader, candidate_reader; /* of the sets to compare, and of their candidates */
    struct idxi_preparation *preparations;           /* of the sets that are prepared together */
    size_t preparation_capacity;
    uint32_t *requests; /* the numbers of the counters to read */
    size_t request_count, request_capacity;
    uint8_t *counts; /* the values of these counters */
    size_t count_capacity;
    uint64_t *keys, *spare_keys; /* of the members of a set that others may have: first those of its prefix, in order */
    size_t key_capacity, spare_capacity;
    struct idxi_members members; /* those of the set that is compared */
    struct idxi_candidates candidates;
    struct idxi_query_arena *arena; /* of the queries that are prepared; the caller's */
    struct idxi_similar *found;
    size_t found_count, found_capacity;
    uint64_t compared; /* how many candidates were compared so far */
};

/* Returns the number of the set of a rank. `order` has the numbers by rank; NULL: ranks are numbers. */
static inline uint32_t idxi_rank_to_number(const uint32_t *order, uint32_t rank) {
    return order == NULL ? rank : order[rank];
}

/* Empties an arena, makes room in it for the queries of sets with `members` members in all, and lets
 * idxi_prober_prepare use it. Earlier queries in it become invalid. The arena stays the caller's, who frees its
 * numbers. Errors: IDX_OUT_OF_MEMORY. */
enum idx_status idxi_prober_use_arena(struct idxi_prober *prober, struct idxi_query_arena *arena, uint64_t members,
                                      struct idx_error *error);

/* Prepares `count` sets: sets each query, of which the caller has set the rank, and finds its prefix. The prefix is
 * empty if no other set can be similar. idxi_prober_use_arena must have made room for all members; the tags and members
 * of the queries are in its arena. Errors: IDX_OUT_OF_MEMORY, those of files. */
enum idx_status idxi_prober_prepare(struct idxi_prober *prober, struct idxi_query *const *queries, size_t count,
                                    struct idx_error *error);

/* Sets query->min_to_contain, from query->size, to how many of its members another set must have to contain it;
 * UINT64_MAX if that does not count. */
void idxi_prober_set_min_to_contain(const struct idxi_prober *prober, struct idxi_query *query);

/* Which sets are compared with one. */
struct idxi_scope {
    const struct idxi_postings *postings;
    uint32_t end;                    /* only sets before this place of the index */
    const struct idx_kept_set *kept; /* results by number: only sets whose `kept` is their own rank; NULL: all sets */
    bool any_suffices;               /* stop at the first similar set, whichever it is */
};

/* Compares the prepared set of a query with those of a scope. *best is the most similar set so far; its `total` is 0 if
 * there is none. Replaces it if it finds a more similar one, or an equally similar one of a lower rank. With
 * prober->wants_all, appends all similar sets to prober->found instead; *best must be empty then. Errors:
 * IDX_OUT_OF_MEMORY, those of files. */
enum idx_status idxi_prober_compare(struct idxi_prober *prober, const struct idxi_scope *scope,
                                    const struct idxi_query *query, struct idxi_similar *best, struct idx_error *error);

/* Frees what the prober has allocated, but not the arena. */
void idxi_prober_close(struct idxi_prober *prober);

#endif
