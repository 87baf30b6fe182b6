/* batch.c: batches: the matches of many queries at once. */
#include "libidx/python/core.h"

#include <string.h>

/* Finds the method with this name; the names are in the order of enum idx_batch_method. */
static bool read_method(const char *name, enum idx_batch_method *method) {
    static const char *const names[] = {"auto", "probe", "sweep", "stream"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) != 0) continue;
        *method = (enum idx_batch_method)i;
        return true;
    }
    return refuse(PyExc_ValueError, "method: '%s', which is none of 'auto', 'probe', 'sweep' and 'stream'", name);
}

/* Takes (queries, k, method, call). Returns Matches. */
PyObject *index_batch(PyObject *self, PyObject *arguments) {
    struct idx_batch_options options = IDX_BATCH_OPTIONS_INIT;
    struct columns columns;
    struct array array;
    struct call call;
    PyObject *queries, *k, *answer = NULL;
    const char *method;
    if (!PyArg_ParseTuple(arguments, "OOsO&", &queries, &k, &method, call_take, &call)) return NULL;
    SET_OPTIONS(options, call);
    options.temporary_folder = call.folder.text;
    struct view *view = read_method(method, &options.method) ? view_hold(self) : NULL;
    if (view != NULL && any_distance_take(k, view, &options.distance) && array_take(queries, "queries", &array)) {
        columns_begin(&columns, MATCHES_KINDS);
        call_begin(&call);
        enum idx_status status =
            idx_batch(view->index, array.items, array.count, &options, gather_matches, &columns, &call.error);
        if (status == IDX_OK && !columns.failed) gather_matches(&columns, array.count, NULL, 0);
        answer = columns_end_result(&columns, call_end(&call, status), "Matches");
        array_release(&array);
    }
    view_release(view);
    call_release(&call);
    return answer;
}
