/* pending_pairs.c: looks up each fingerprint that is pending and in no segment, in the other index or in its own. */
#include "libidx/pairs/pending_pairs.h"

#include <stdlib.h>

#include "libidx/base/base.h"
#include "libidx/lookup/search.h"
#include "libidx/view/live.h"

/* How many queries are looked up before it is checked again whether the visitor stopped. */
#define CHUNK ((size_t)1024)

/* Fingerprints in ascending order. */
struct fingerprints {
    uint64_t *at;
    size_t count;
};

struct finding {
    const struct idxi_pending_pairs *pairs;
    const struct fingerprints *queries;
    const struct fingerprints *of_a; /* the queries of `a`, which are looked up first */
    bool reverse;                    /* the queries are those of `b`, looked up in `a` */
    bool stopped;
    struct idxi_search search;
};

static bool contains(const struct fingerprints *fingerprints, uint64_t fingerprint) {
    size_t low = 0, high = fingerprints->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (fingerprints->at[middle] == fingerprint) return true;
        if (fingerprints->at[middle] < fingerprint)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

/* Returns whether to skip a match because another query finds the same pair, or it is the query itself. A pair of two
 * queries counts for the smaller one, or between two indexes for that of `a`. */
static bool is_of_other_query(const struct finding *finding, uint64_t query, uint64_t match) {
    if (finding->pairs->within) return match == query || (match < query && contains(finding->queries, match));
    return finding->reverse && contains(finding->of_a, match);
}

/* The idxi_match_visitor: visits the pair of a query and its match, unless another query finds it. Returns whether to
 * go on. */
static bool take_match(void *context, size_t number, const struct idx_match *match) {
    struct finding *finding = context;
    uint64_t query = finding->queries->at[number], other = match->fingerprint;
    if (is_of_other_query(finding, query, other)) return true;
    const struct idxi_pending_pairs *pairs = finding->pairs;
    finding->stopped =
        !pairs->visit(pairs->context, finding->reverse ? other : query, finding->reverse ? query : other);
    return !finding->stopped;
}

static enum idx_status look_up_queries(struct finding *finding, const struct idx_index *index,
                                       struct idx_error *error) {
    for (size_t begin = 0; begin < finding->queries->count && !finding->stopped; begin += CHUNK) {
        size_t left = finding->queries->count - begin, end = begin + (left < CHUNK ? left : CHUNK);
        idxi_search_init(&finding->search, index, finding->pairs->distance, finding->queries->at, take_match, finding,
                         error);
        IDXI_TRY(idxi_search_queries(&finding->search, begin, end));
    }
    return IDX_OK;
}

/* Looks up what is only pending in `a` in index b, and between two indexes also the reverse. */
static enum idx_status find_pairs(const struct idxi_pending_pairs *pairs, const struct fingerprints *a,
                                  const struct fingerprints *b, struct idx_error *error) {
    struct finding *finding = calloc(1, sizeof *finding);
    if (finding == NULL) return idxi_fail_memory(error);
    *finding = (struct finding){.pairs = pairs, .queries = a, .of_a = a};
    enum idx_status status = look_up_queries(finding, pairs->b, error);
    if (status == IDX_OK && !pairs->within) {
        finding->queries = b;
        finding->reverse = true;
        status = look_up_queries(finding, pairs->a, error);
    }
    free(finding);
    return status;
}

/* Lists the fingerprints of an index that no segment holds. The caller frees them. */
static enum idx_status list_only_pending(const struct idx_index *index, struct fingerprints *alone,
                                         struct idx_error *error) {
    *alone = (struct fingerprints){NULL, 0};
    return idxi_has_pending(index) ? idxi_list_pending(index, true, &alone->at, &alone->count, error) : IDX_OK;
}

enum idx_status idxi_pending_pairs_find(const struct idxi_pending_pairs *pairs, struct idx_error *error) {
    struct fingerprints a, b = {NULL, 0};
    IDXI_TRY(list_only_pending(pairs->a, &a, error));
    enum idx_status status = pairs->within ? IDX_OK : list_only_pending(pairs->b, &b, error);
    if (status == IDX_OK) status = find_pairs(pairs, &a, &b, error);
    free(a.at);
    free(b.at);
    return status;
}
