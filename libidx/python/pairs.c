/* pairs.c: pairs of one index, and joins of two. */
#include "libidx/python/core.h"

/* The idx_pairs_visitor that appends pairs to the columns of Pairs. Returns false if memory runs out. */
static bool append_pairs(void *context, const struct idx_pair *pairs, size_t count) {
    struct columns *columns = context;
    uint64_t *a = columns_add(columns, PAIRS_A, count), *b = columns_add(columns, PAIRS_B, count);
    uint8_t *distances = columns_add(columns, PAIRS_DISTANCES, count);
    if (columns->failed) return false;
    for (size_t i = 0; i < count; i++) {
        a[i] = pairs[i].a;
        b[i] = pairs[i].b;
        distances[i] = (uint8_t)pairs[i].distance;
    }
    return true;
}

/* Takes (other or None, k, call). Returns the Pairs of the index, or of it and another one. */
PyObject *index_pairs(PyObject *self, PyObject *arguments) {
    struct idx_join_options options = IDX_JOIN_OPTIONS_INIT;
    struct columns columns;
    struct call call;
    PyObject *given, *k, *answer = NULL;
    if (!PyArg_ParseTuple(arguments, "OOO&", &given, &k, call_take, &call)) return NULL;
    SET_OPTIONS(options, call);
    struct view *view = view_hold(self), *other = view == NULL || given == Py_None ? NULL : view_hold(given);
    if (view != NULL && (given == Py_None || other != NULL) && any_distance_take(k, view, &options.distance) &&
        columns_make(&columns, PAIRS_KINDS, 0)) {
        call_begin(&call);
        enum idx_status status =
            other == NULL ? idx_pairs(view->index, &options, append_pairs, &columns, &call.error)
                          : idx_join(view->index, other->index, &options, append_pairs, &columns, &call.error);
        answer = columns_end_result(&columns, call_end(&call, status), "Pairs");
    }
    view_release(other);
    view_release(view);
    call_release(&call);
    return answer;
}
