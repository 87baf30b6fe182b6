/* lookup_many.c: look-ups of an array of queries: the columns of their matches, or how many there are, and batches. */
#include "libidx/python/lookup.h"

#include <string.h>

/* Appends the fingerprints and distances of all `count` matches in the lists to the columns of Matches. If memory runs
 * out, it sets columns->failed. */
static void append_listed_matches(const struct idx_match_lists *lists, size_t count, struct columns *columns) {
    uint64_t *fingerprints = columns_add(columns, MATCHES_FINGERPRINTS, count);
    uint8_t *distances = columns_add(columns, MATCHES_DISTANCES, count);
    if (columns->failed) return;
    for (size_t i = 0; i < count; i++) {
        fingerprints[i] = lists->matches[i].fingerprint;
        distances[i] = (uint8_t)lists->matches[i].distance;
    }
}

void move_lists_to_columns(struct columns *columns, struct idx_match_lists *lists, size_t count, enum answer answer) {
    static const char *const kinds[] = {[ANSWER_MATCHES] = MATCHES_KINDS, [ANSWER_COUNTS] = "q", [ANSWER_TRUTHS] = "?"};
    columns_begin(columns, kinds[answer]);
    if (answer == ANSWER_MATCHES) {
        append_listed_matches(lists, (size_t)lists->offsets[count], columns);
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
    if (!parse_array(queries, "queries", &array)) return NULL;
    options.distance = distance;
    options.threads = threads;
    options.max_matches = answer == ANSWER_MATCHES ? limit : 0; /* 0: the lists have counts alone */
    options.progress = visit_progress;
    options.context = &call;
    call_begin_quiet(&call);
    enum idx_status status = idx_list_matches(view->index, array.items, array.count, &options, &lists, &call.error);
    if (status == IDX_OK) move_lists_to_columns(&columns, &lists, array.count, answer);
    bool ok = call_end(&call, status);
    array_release(&array);
    return answer == ANSWER_MATCHES ? columns_end_result(&columns, ok, "Matches") : columns_end_as_array(&columns, ok);
}

/* ---- Batches ---- */

/* Sets *method to the method with this name; the names are in the order of enum idx_batch_method. Raises ValueError for
 * any other name. */
static bool read_method(const char *name, enum idx_batch_method *method) {
    static const char *const names[] = {"auto", "probe", "sweep", "stream"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) != 0) continue;
        *method = (enum idx_batch_method)i;
        return true;
    }
    return refuse(PyExc_ValueError, "method: '%s', which is none of 'auto', 'probe', 'sweep' and 'stream'", name);
}

/* Takes (queries, k, method, call), and looks up all queries as a batch. Returns Matches. */
PyObject *index_batch(PyObject *self, PyObject *arguments) {
    struct idx_batch_options options = IDX_BATCH_OPTIONS_INIT;
    struct columns columns;
    struct array array;
    struct call call;
    PyObject *queries, *k, *answer = NULL;
    const char *method;
    if (!PyArg_ParseTuple(arguments, "OOsO&", &queries, &k, &method, parse_call, &call)) return NULL;
    SET_OPTIONS(options, call);
    options.temporary_folder = call.folder.text;
    struct view *view = read_method(method, &options.method) ? view_hold(self) : NULL;
    if (view != NULL && parse_any_distance(k, view, &options.distance) && parse_array(queries, "queries", &array)) {
        columns_begin(&columns, MATCHES_KINDS);
        call_begin(&call);
        enum idx_status status =
            idx_batch(view->index, array.items, array.count, &options, append_query_matches, &columns, &call.error);
        /* Queries without matches were not visited: this adds the offsets of the last ones, and the end. */
        if (status == IDX_OK && !columns.failed) append_query_matches(&columns, array.count, NULL, 0);
        answer = columns_end_result(&columns, call_end(&call, status), "Matches");
        array_release(&array);
    }
    view_release(view);
    call_release(&call);
    return answer;
}
