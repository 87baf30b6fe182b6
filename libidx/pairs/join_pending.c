/* join_pending.c: finds the pairs of fingerprints that are pending and in no segment, so that no table has them: looks
 * up each of them in the other index or in its own. */
#include <stdlib.h>

#include "libidx/lookup/search.h"
#include "libidx/pairs/join.h"
#include "libidx/view/live.h"

/* How many queries are looked up between two checks whether the join has ended. */
#define CHUNK ((size_t)1024)

/* Fingerprints in ascending order. */
struct fingerprints {
    uint64_t *values;
    size_t count;
};

/* The look-ups of the pending fingerprints of one index in the other one, or within one index in itself. */
struct pending_lookup {
    struct idxi_join *join;
    const struct fingerprints *queries;
    const struct fingerprints *queries_of_a; /* the queries of `a`, which are looked up first */
    bool is_reversed;                        /* the queries are those of `b`, looked up in `a` */
    struct idxi_search search;
};

/* The comparison of bsearch: by value. */
static int compare_values(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Returns whether a list has a fingerprint. */
static bool contains_fingerprint(const struct fingerprints *fingerprints, uint64_t fingerprint) {
    return bsearch(&fingerprint, fingerprints->values, fingerprints->count, sizeof fingerprint, compare_values) != NULL;
}

/* Returns whether to skip a match, because it is the query itself, or because another query finds the same pair. A pair
 * of two queries belongs to the smaller one, or between two indexes to that of `a`. */
static bool belongs_to_other_query(const struct pending_lookup *lookup, uint64_t query, uint64_t match) {
    if (lookup->join->within) return match == query || (match < query && contains_fingerprint(lookup->queries, match));
    return lookup->is_reversed && contains_fingerprint(lookup->queries_of_a, match);
}

/* An idxi_match_visitor: adds the pair of query `number` and its match, unless another query finds it. Returns false if
 * the join has ended or was cancelled. */
static bool visit_match(void *context, size_t number, const struct idx_match *match) {
    struct pending_lookup *lookup = context;
    struct idxi_join_worker *worker = lookup->join->workers[0];
    uint64_t query = lookup->queries->values[number], found = match->fingerprint;
    if (belongs_to_other_query(lookup, query, found)) return true;
    idxi_join_add_pair(worker, lookup->is_reversed ? found : query, lookup->is_reversed ? query : found,
                       match->distance);
    return idxi_join_is_going_on(worker);
}

/* Looks up lookup->queries in an index, until the join ends or is cancelled. Visits the pairs that they find. */
static enum idx_status look_up_queries(struct pending_lookup *lookup, const struct idx_index *index,
                                       struct idx_error *error) {
    bool goes_on = true;
    for (size_t begin = 0; begin < lookup->queries->count && goes_on; begin += CHUNK) {
        size_t remaining = lookup->queries->count - begin, end = begin + (remaining < CHUNK ? remaining : CHUNK);
        idxi_search_init(&lookup->search, index, lookup->join->options.distance, lookup->queries->values, visit_match,
                         lookup, error);
        IDXI_TRY(idxi_search_queries(&lookup->search, begin, end));
        goes_on = idxi_join_is_going_on(lookup->join->workers[0]);
    }
    return IDX_OK;
}

/* Looks up the pending fingerprints `a` of index a in index b, and between two indexes also `b` in index a. */
static enum idx_status find_pairs_of_pending(struct idxi_join *join, const struct fingerprints *a,
                                             const struct fingerprints *b, struct idx_error *error) {
    struct pending_lookup *lookup = calloc(1, sizeof *lookup);
    if (lookup == NULL) return idxi_fail_memory(error);
    *lookup = (struct pending_lookup){.join = join, .queries = a, .queries_of_a = a};
    enum idx_status status = look_up_queries(lookup, join->b, error);
    if (status == IDX_OK && !join->within) {
        lookup->queries = b;
        lookup->is_reversed = true;
        status = look_up_queries(lookup, join->a, error);
    }
    free(lookup);
    return status;
}

enum idx_status idxi_join_match_pending(struct idxi_join *join, struct idx_error *error) {
    struct fingerprints a, b = {NULL, 0};
    IDXI_TRY(idxi_list_pending_fingerprints(join->a, &a.values, &a.count, error));
    enum idx_status status =
        join->within ? IDX_OK : idxi_list_pending_fingerprints(join->b, &b.values, &b.count, error);
    if (status == IDX_OK) status = find_pairs_of_pending(join, &a, &b, error);
    free(a.values);
    free(b.values);
    if (status != IDX_OK) return status;
    idxi_join_hand_over_pairs(join->workers[0]);
    return idxi_progress_add(&join->progress, 0, error); /* fails if cancelled */
}
