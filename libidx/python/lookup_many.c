/* lookup_many.c: look-ups of an array of queries, on threads: the columns of their matches, or how many there are. */
#include "libidx/python/lookup.h"

/* Copies the matches of all queries to columns. */
static void copy_matches(const struct idx_match_lists *lists, size_t count, struct columns *columns) {
    uint64_t *fingerprints = columns_add(columns, MATCHES_FINGERPRINTS, count);
    uint8_t *distances = columns_add(columns, MATCHES_DISTANCES, count);
    if (columns->failed) return;
    for (size_t i = 0; i < count; i++) {
        fingerprints[i] = lists->matches[i].fingerprint;
        distances[i] = (uint8_t)lists->matches[i].distance;
    }
}

void fill_columns(struct columns *columns, struct idx_match_lists *lists, size_t count, enum answer answer) {
    static const char *const kinds[] = {MATCHES_KINDS, "q", "?"};
    columns_begin(columns, kinds[answer]);
    if (answer == ANSWER_MATCHES) {
        copy_matches(lists, (size_t)lists->offsets[count], columns);
        columns_adopt(columns, MATCHES_OFFSETS, lists->offsets, count + 1);
        lists->offsets = NULL;
    } else if (answer == ANSWER_COUNTS) {
        columns_adopt(columns, 0, lists->counts, count);
        lists->counts = NULL;
    } else {
        uint8_t *truths = columns_add(columns, 0, count);
        for (size_t i = 0; i < count && truths != NULL; i++) truths[i] = lists->counts[i] > 0;
    }
    idx_match_lists_close(lists);
}

PyObject *look_up_array(const struct view *view, PyObject *queries, unsigned distance, size_t limit, unsigned threads,
                        enum answer answer) {
    struct idx_match_lists_options options = IDX_MATCH_LISTS_OPTIONS_INIT;
    struct idx_match_lists lists;
    struct call call;
    struct columns columns = {.failed = false};
    struct array array;
    if (!array_take(queries, "queries", &array)) return NULL;
    options.distance = distance;
    options.threads = threads;
    options.max_matches = answer == ANSWER_MATCHES ? limit : 0;
    options.progress = call_visit;
    options.context = &call;
    call_begin_plain(&call);
    enum idx_status status = idx_list_matches(view->index, array.items, array.count, &options, &lists, &call.error);
    if (status == IDX_OK) fill_columns(&columns, &lists, array.count, answer);
    bool ok = call_end(&call, status);
    array_release(&array);
    return answer == ANSWER_MATCHES ? columns_end_result(&columns, ok, "Matches") : columns_end_first(&columns, ok);
}
