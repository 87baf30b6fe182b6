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

/* What a set of the index must have in common with another one: so many members that this one is contained in it, or a
 * similarity; and besides, the similarity of the best set that was found, or more than that. */
struct idxi_least {
    uint64_t contained; /* UINT64_MAX: it is not enough that the set is contained */
    struct idxi_fraction similar, best;
    uint32_t later; /* sets from this place on come after the best one in the order of preference, and must exceed it */
};

/* Returns how many members a set of the index, at `place` or after it, must share with the other set at least. The two
 * have `a` and `b` members. */
static inline uint64_t idxi_fewest_shared(const struct idxi_least *least, uint32_t place, uint64_t a, uint64_t b) {
    uint64_t needed = idxi_min_to_reach(least->similar, a, b);
    if (needed > least->contained) needed = least->contained;
    uint64_t better =
        place < least->later ? idxi_min_to_reach(least->best, a, b) : idxi_min_to_exceed(least->best, a, b);
    return needed < better ? better : needed;
}

/* Returns whether `shared` members are enough for a set of the index that is at `place` or after it. The two sets have
 * `a` and `b` members. */
static inline bool idxi_shares_enough(const struct idxi_least *least, uint32_t place, uint64_t shared, uint64_t a,
                                      uint64_t b) {
    return (shared >= least->contained || idxi_reaches_similarity(least->similar, shared, a, b)) &&
           shared * (least->best.total + least->best.shared) >= least->best.shared * (a + b) + (place >= least->later);
}

/* A set, as it is indexed and compared. Members that no other set has are counted, but not listed. */
struct idxi_query {
    uint32_t rank;        /* its place in the order of preference */
    uint32_t size;        /* members in all */
    uint32_t shared;      /* members that other sets may have; those that none has come before them in the order */
    uint32_t prefix;      /* of these, how many belong to the prefix: the first members, of which a similar set has
                             one at least in its own prefix, and a set that contains this one has one at least; 0: no
                             other set can be similar or contain this one */
    uint32_t listed;      /* of these, how many the index lists: the prefix, and after it, in no order, others where
                             sets may be contained in this one */
    uint64_t contained;   /* a set that has so many of all members contains this one; UINT64_MAX: that is not asked */
    const uint32_t *tags; /* hashes of the listed members */
    const uint32_t *members; /* the low 32 bits of all `shared` members, in any order */
};

/* A set that is indexed, as the array `sets` of struct idxi_postings holds it. */
struct idxi_indexed_set {
    uint32_t rank, size, shared;
    uint32_t members[]; /* `shared` of them, as in struct idxi_query */
};

/* The lists of a part of all tags, which one thread at a time may change. */
struct idxi_posting_shard {
    struct idxi_slots slots; /* by the tag of a hash, or of several, where the newest chunk of the sets is that have it
                                in their prefix, or their groups (GROUPED) */
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
    struct idxi_signed_sets *sizes; /* the signatures of all sets, by coded sizes; NULL: they have none */
    size_t signed_count;
};

/* Makes an empty index for up to `threads` threads, to be closed even after the only error, IDX_OUT_OF_MEMORY. */
enum idx_status idxi_postings_init(struct idxi_postings *postings, unsigned threads, struct idx_error *error);

/* Returns how many bytes the index takes: its sets, signatures and chunks, and the hash tables of its lists. */
uint64_t idxi_postings_bytes(const struct idxi_postings *postings);

/* Adds sets of which members are listed, on as many threads as the index was made for. Errors: IDX_OUT_OF_MEMORY;
 * IDX_LIMIT where no more sets can be indexed. After an error the index can only be closed. */
enum idx_status idxi_postings_add(struct idxi_postings *postings, const struct idxi_query *queries, size_t count,
                                  struct idx_error *error);

/* Gives all sets signatures, also those that are added later. This pays where sets are compared with many that share
 * frequent members, since these are looked through by signatures then, and not by lists. Errors: IDX_OUT_OF_MEMORY. */
enum idx_status idxi_postings_sign(struct idxi_postings *postings, struct idx_error *error);

/* Fetches into the processor's cache where the lists of the set's prefix begin. */
void idxi_postings_fetch(const struct idxi_postings *postings, const struct idxi_query *query);

/* A set that may be similar to one. */
struct idxi_candidate {
    uint32_t set;        /* where it is in the index; sets that are added later have greater places */
    uint32_t shared;     /* how many members of the prefix it seems to have, so far */
    uint32_t max_shared; /* it shares so many members at most */
};

/* How many postings were visited of the sets of one size. */
struct idxi_visits {
    uint64_t search; /* in this search; in another one there were none */
    uint64_t count;  /* UINT64_MAX: all sets of this size were looked through */
};

/* The candidates of a search, each set once. */
struct idxi_candidates {
    struct idxi_candidate *list;
    size_t count, capacity;
    size_t compared, next;      /* so many were compared; from so many on those that are new are compared */
    struct idxi_slots seen;     /* by sets, their places in the list plus 1 */
    struct idxi_visits *visits; /* by coded sizes, where sets are signed */
    uint64_t search;            /* the number of the search */
};

/* Called when there are some new candidates, after the first candidates->compared ones. May raise search->least, so
 * that fewer sets are listed from then on. */
typedef enum idx_status (*idxi_candidate_visitor)(void *context, struct idx_error *error);

/* How sets are looked for that may be similar to one. */
struct idxi_set_search {
    const struct idxi_postings *postings;
    const struct idxi_query *query;
    struct idxi_least least;
    struct idxi_candidates *candidates;
    idxi_candidate_visitor compare;
    void *context;
    uint32_t end;  /* sets from this place on are passed over */
    uint32_t rest; /* private: how many members the set of the query has from the one at hand on in its order */
};

/* Lists the sets that have a member of the prefix, and that may have `least` in common as far as sizes and positions
 * tell: if the first shared member has the positions p and q in the two orders, no more than the smaller one
 * of A - p and B - q members are shared (the positional filter; Xiao and others, WWW 2008), and after the n-th one no
 * more than n besides. Errors: IDX_OUT_OF_MEMORY, and those of `compare`. */
enum idx_status idxi_postings_find(struct idxi_set_search *search, struct idx_error *error);

/* Returns the place of the set that is added right after the set at `place`, of which the index holds `shared` members.
 * The first set of an empty index is at 0. Places are units of the array of sets, and not consecutive. */
uint32_t idxi_postings_place_after(uint32_t place, uint32_t shared);

/* Returns the set at a place of the index, such as that of a candidate. It is valid until sets are added. */
const struct idxi_indexed_set *idxi_postings_get_set(const struct idxi_postings *postings, uint32_t set);

/* Empties the index, and keeps memory for other sets. */
void idxi_postings_clear(struct idxi_postings *postings);

/* Frees the memory of the index. */
void idxi_postings_close(struct idxi_postings *postings);

/* Frees what searches have made. */
void idxi_candidates_free(struct idxi_candidates *candidates);

#endif
