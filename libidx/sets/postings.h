/* postings.h: an inverted index of sets in memory: which sets have a hash among the first members of their order. */
#ifndef IDX_LIBIDX_POSTINGS_H
#define IDX_LIBIDX_POSTINGS_H

#include "libidx/sets/signatures.h"
#include "libidx/sets/slots.h"

/* A similarity of two sets, as a fraction. With A and B members, of which s are shared, it is s / (A + B - s); so a
 * similarity of S / T is reached with s * (S + T) >= S * (A + B). */
struct idxi_fraction {
    uint64_t shared, total;
};

/* Every similarity reaches the first of these fractions, and none the second one. */
#define IDXI_ANY ((struct idxi_fraction){0, 1})
#define IDXI_NONE ((struct idxi_fraction){1, 0})

/* Returns whether two sets of `a` and `b` members that share `shared` of them reach the similarity `least`. A set has
 * up to IDX_MAX_SET_MEMBERS, so that nothing overflows. */
static inline bool idxi_reaches_similarity(struct idxi_fraction least, uint64_t shared, uint64_t a, uint64_t b) {
    return shared * (least.total + least.shared) >= least.shared * (a + b);
}

/* Returns the fewest shared members with which two sets of `a` and `b` members reach the similarity `least`. */
static inline uint64_t idxi_min_to_reach(struct idxi_fraction least, uint64_t a, uint64_t b) {
    uint64_t sum = least.total + least.shared;
    return (least.shared * (a + b) + sum - 1) / sum;
}

/* Returns the fewest shared members with which two sets of `a` and `b` members exceed the similarity `least`. */
static inline uint64_t idxi_min_to_exceed(struct idxi_fraction least, uint64_t a, uint64_t b) {
    return least.shared * (a + b) / (least.total + least.shared) + 1;
}

/* What a set of the index must have in common with another set. It must either contain that one, which takes
 * min_to_contain shared members, or reach the similarity `similar`. Besides, it must reach the similarity of the best
 * set that was found before, or exceed it. */
struct idxi_least {
    uint64_t min_to_contain; /* UINT64_MAX: it is not enough that the other set is contained in this one */
    struct idxi_fraction similar, best;
    uint32_t tie_end; /* a set before this place is preferred to the best one, so that an equal similarity is enough */
};

/* Returns the fewest members that a set of the index, at `place` or after it, must share with the other set. The two
 * have `a` and `b` members. */
static inline uint64_t idxi_min_shared(const struct idxi_least *least, uint32_t place, uint64_t a, uint64_t b) {
    uint64_t needed = idxi_min_to_reach(least->similar, a, b);
    if (needed > least->min_to_contain) needed = least->min_to_contain;
    uint64_t better =
        place < least->tie_end ? idxi_min_to_reach(least->best, a, b) : idxi_min_to_exceed(least->best, a, b);
    return needed < better ? better : needed;
}

/* Returns whether `shared` members are enough for a set of the index that is at `place` or after it. The two sets have
 * `a` and `b` members. */
static inline bool idxi_shares_enough(const struct idxi_least *least, uint32_t place, uint64_t shared, uint64_t a,
                                      uint64_t b) {
    return (shared >= least->min_to_contain || idxi_reaches_similarity(least->similar, shared, a, b)) &&
           shared * (least->best.total + least->best.shared) >=
               least->best.shared * (a + b) + (place >= least->tie_end);
}

/* A set, as it is indexed and compared. Members that no other set has are counted, but not listed. */
struct idxi_query {
    uint32_t rank;   /* its place in the order of preference */
    uint32_t size;   /* members in all */
    uint32_t shared; /* members that other sets may have; members of this set alone come before them in the order */
    uint32_t prefix; /* how many shared members belong to the prefix, the first ones in the order. A similar set has
                        at least one of them in its own prefix; a set that contains this one has at least one of
                        them. 0: no other set can be similar or contain this one */
    uint32_t listed; /* how many shared members the index lists: the prefix, and after it, in no order, others where
                        sets may be contained in this one */
    uint64_t min_to_contain; /* a set with so many of all members contains this one; UINT64_MAX: that is not asked */
    const uint32_t *tags;    /* hashes of the listed members */
    const uint32_t *members; /* the low 32 bits of all `shared` members, in any order */
};

/* A set that is indexed, as the array `sets` of struct idxi_postings holds it. */
struct idxi_indexed_set {
    uint32_t rank, size, shared;
    uint32_t members[]; /* `shared` of them, as in struct idxi_query */
};

/* The lists of a part of all tags, which one thread at a time may change. */
struct idxi_posting_shard {
    struct idxi_slots slots; /* by tag: where the newest chunk of the list of its sets is, or the number of their groups
                                (GROUPED). Hashes with the same tag share a list */
    uint64_t *chunks;        /* of all lists; the first place stays empty, so that 0 means that there is no chunk */
    size_t chunks_used, chunks_capacity;
    struct idxi_posting_groups *groups;
    size_t group_count, group_capacity;
};

struct idxi_postings {
    uint32_t *sets; /* struct idxi_indexed_set, each from a multiple of SET_UNIT on */
    size_t sets_used, sets_capacity;
    struct idxi_posting_shard *shards;
    unsigned shard_count;
    struct idxi_signed_sets *signed_sets; /* the signatures of all sets, by coded sizes; NULL: they have none */
    size_t signed_count;
};

/* Makes an empty index, to which `threads` threads add, 1 or more. Call idxi_postings_close even if this fails. Errors:
 * IDX_OUT_OF_MEMORY. */
enum idx_status idxi_postings_init(struct idxi_postings *postings, unsigned threads, struct idx_error *error);

/* Returns how many bytes the index takes: its sets, signatures and chunks, and the hash tables of its lists. */
uint64_t idxi_postings_bytes(const struct idxi_postings *postings);

/* Adds the sets of `count` queries, each of which has listed members, on as many threads as the index was made for.
 * Copies what it needs of them. Errors: IDX_OUT_OF_MEMORY; IDX_LIMIT if no more sets can be indexed. After an error the
 * index can only be closed. */
enum idx_status idxi_postings_add(struct idxi_postings *postings, const struct idxi_query *queries, size_t count,
                                  struct idx_error *error);

/* Gives all sets signatures, also those that are added later. Then searches look through signatures instead of long
 * lists, which pays where sets share frequent members with many others. Does nothing if sets have signatures already.
 * Errors: IDX_OUT_OF_MEMORY. */
enum idx_status idxi_postings_make_signatures(struct idxi_postings *postings, struct idx_error *error);

/* Begins to load the slots of the lists of the query's prefix into the processor's cache. */
void idxi_postings_prefetch(const struct idxi_postings *postings, const struct idxi_query *query);

/* A set that may be similar to one. */
struct idxi_candidate {
    uint32_t place;      /* where it is in the index; sets that are added later have greater places */
    uint32_t shared;     /* how many members of the prefix it seems to have, so far */
    uint32_t max_shared; /* it shares so many members at most */
};

/* How many postings were visited of the sets of one size. */
struct idxi_visits {
    uint64_t search_id; /* of the search that `count` is of; in another one there were none */
    uint64_t count;     /* UINT64_MAX: all sets of this size were looked through */
};

/* The candidates of a search, each set once. */
struct idxi_candidates {
    struct idxi_candidate *list;
    size_t count, capacity;
    size_t compared;            /* how many were compared */
    size_t compare_at;          /* once the list has so many, the new ones are compared before another is added */
    struct idxi_slots seen;     /* by sets, their places in the list plus 1 */
    struct idxi_visits *visits; /* by coded sizes, where sets are signed */
    uint64_t search_id;         /* the number of the search */
};

/* Called to compare the new candidates, those after the first candidates->compared, which it raises to
 * candidates->count. It may also raise search->least, so that fewer sets become candidates from then on. */
typedef enum idx_status (*idxi_candidate_visitor)(void *context, struct idx_error *error);

/* A search for the sets that may be similar to one set, that of the query. */
struct idxi_set_search {
    const struct idxi_postings *postings;
    const struct idxi_query *query;
    struct idxi_least least;
    struct idxi_candidates *candidates;
    idxi_candidate_visitor compare;
    void *context;
    uint32_t end;  /* sets from this place on are passed over */
    uint32_t rest; /* private: how many members the set of the query has from the current one on in its order */
};

/* Lists in search->candidates, which it empties first, the sets that have a member of the prefix and may reach
 * search->least. Has them all compared by search->compare. The positional filter excludes others (Xiao and others, WWW
 * 2008): if the first shared member has the positions p and q in the orders of two sets with A and B members, they
 * share at most min(A - p, B - q); if n shared members came before, at most n more. Errors: IDX_OUT_OF_MEMORY, and
 * those of search->compare. */
enum idx_status idxi_postings_find(struct idxi_set_search *search, struct idx_error *error);

/* Returns the place of the set that is added right after the set at `place`, which has `shared` members in the index.
 * The first set of an empty index is at 0. Places are offsets in the array of sets, in units of SET_UNIT. */
uint32_t idxi_postings_place_after(uint32_t place, uint32_t shared);

/* Returns the set at a place of the index, such as that of a candidate. It is valid until sets are added. */
const struct idxi_indexed_set *idxi_postings_get_set(const struct idxi_postings *postings, uint32_t place);

/* Removes all sets from the index, and keeps its memory for others. */
void idxi_postings_clear(struct idxi_postings *postings);

/* Frees the memory of the index. */
void idxi_postings_close(struct idxi_postings *postings);

/* Frees the arrays that searches have allocated in *candidates. */
void idxi_candidates_free(struct idxi_candidates *candidates);

#endif
