/* lookup.c: the calls that look up fingerprints. With one thread, they allocate and lock nothing. */
#include "libidx/base/base.h"
#include "libidx/log/pending_find.h"
#include "libidx/lookup/nearest.h"
#include "libidx/lookup/search.h"

/* ---- One query ---- */

/* The caller's visitor of idx_visit_matches. */
struct visitor {
    idx_match_visitor visit;
    void *context;
};

/* The idxi_match_visitor of a single query: calls the caller's visitor, which gets no number of a query. */
static bool visit_without_query(void *context, size_t query, const struct idx_match *match) {
    const struct visitor *visitor = context;
    (void)query;
    return visitor->visit(visitor->context, match);
}

enum idx_status idx_visit_matches(const struct idx_index *index, uint64_t fingerprint, unsigned distance,
                                  idx_match_visitor visit, void *context, struct idx_error *error) {
    struct visitor visitor = {visit, context};
    struct idxi_search search;
    IDXI_TRY(idxi_check_distance(index, distance, error));
    IDXI_TRY(idxi_check_queries(index, &fingerprint, 1, error));
    idxi_search_init(&search, index, distance, &fingerprint, visit_without_query, &visitor, error);
    return idxi_search_queries(&search, 0, 1);
}

/* The idx_match_visitor of idx_exists: notes that there is a match, and stops. */
static bool note_match_and_stop(void *context, const struct idx_match *match) {
    (void)match;
    *(bool *)context = true;
    return false;
}

enum idx_status idx_exists(const struct idx_index *index, uint64_t fingerprint, unsigned distance, bool *exists,
                           struct idx_error *error) {
    bool found = false;
    IDXI_TRY(idx_visit_matches(index, fingerprint, distance, note_match_and_stop, &found, error));
    *exists = found;
    return IDX_OK;
}

/* ---- Many queries ---- */

/* Queries to be answered, by one thread or several. */
struct batch {
    const struct idx_index *index;
    const uint64_t *queries;
    size_t count;
    unsigned distance;
    struct idxi_nearest nearest;
};

/* How many queries a thread answers at a time: a task has so many, but for the last one. */
#define QUERIES_PER_TASK 256

/* Finds the nearest matches of the queries of a task, and sorts those of each query. Checks the queries, but not
 * the distance. This is an idxi_plain_task. Errors: IDX_INVALID_ARGUMENT; as idxi_search_queries. */
static enum idx_status look_up_queries_of_task(void *context, size_t task, struct idx_error *error) {
    struct batch *batch = context;
    struct idxi_search search;
    size_t begin = task * QUERIES_PER_TASK;
    size_t end = batch->count - begin < QUERIES_PER_TASK ? batch->count : begin + QUERIES_PER_TASK;
    idxi_search_init(&search, batch->index, batch->distance, batch->queries, idxi_nearest_add, &batch->nearest, error);
    IDXI_TRY(idxi_check_queries(batch->index, batch->queries + begin, end - begin, error));
    for (size_t query = begin; query < end; query++) batch->nearest.counts[query] = 0;
    IDXI_TRY(idxi_search_queries(&search, begin, end));
    for (size_t query = begin; query < end; query++) idxi_nearest_sort(&batch->nearest, query);
    return IDX_OK;
}

enum idx_status idx_lookup_many(const struct idx_index *index, const uint64_t *fingerprints, size_t count,
                                const struct idx_lookup_options *options, struct idx_match *matches, size_t capacity,
                                size_t *match_counts, struct idx_error *error) {
    struct idx_lookup_options settings = IDX_LOOKUP_OPTIONS_INIT;
    size_t task_count = count / QUERIES_PER_TASK + (count % QUERIES_PER_TASK > 0);
    IDXI_TRY(idxi_copy_options(&settings, options, error));
    if (settings.distance == UINT_MAX) settings.distance = index->manifest->k;
    struct idxi_nearest nearest = {.matches = matches, .capacity = capacity, .counts = match_counts};
    struct batch batch = {
        .index = index, .queries = fingerprints, .count = count, .distance = settings.distance, .nearest = nearest};
    IDXI_TRY(idxi_check_threads(settings.threads, error));
    IDXI_TRY(idxi_check_distance(index, settings.distance, error));
    if (settings.threads > 1)
        return idxi_run_parallel(task_count, settings.threads, look_up_queries_of_task, &batch, NULL, error);
    for (size_t i = 0; i < task_count; i++) IDXI_TRY(look_up_queries_of_task(&batch, i, error));
    return IDX_OK;
}

enum idx_status idx_lookup(const struct idx_index *index, uint64_t fingerprint, unsigned distance,
                           struct idx_match *matches, size_t capacity, size_t *match_count, struct idx_error *error) {
    size_t count;
    struct idxi_nearest nearest = {.matches = matches, .capacity = capacity, .counts = &count};
    struct batch batch = {
        .index = index, .queries = &fingerprint, .count = 1, .distance = distance, .nearest = nearest};
    IDXI_TRY(idxi_check_distance(index, distance, error));
    IDXI_TRY(look_up_queries_of_task(&batch, 0, error));
    *match_count = count;
    return IDX_OK;
}
