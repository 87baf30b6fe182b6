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

/* Returns the Pairs of one index if `other` is NULL, else of two. The context of the options is a struct watch. The
 * call releases the GIL. */
static PyObject *run_pairs(struct view *view, struct view *other, const struct idx_join_options *options) {
    struct columns columns;
    struct idx_error error;
    if (!columns_make(&columns, PAIRS_KINDS, 0)) return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status = other == NULL
                                 ? idx_pairs(view->index, options, append_pairs, &columns, &error)
                                 : idx_join(view->index, other->index, options, append_pairs, &columns, &error);
    PyEval_RestoreThread(thread);
    return columns_end_result(&columns, check_call(status, &error, options->context), "Pairs");
}

/* Answers index_pairs if `other_index` is NULL, else index_join. */
static PyObject *pairs_or_join(PyObject *self, PyObject *other_index, PyObject *k, int threads,
                               unsigned long long memory, PyObject *progress) {
    struct idx_join_options options = IDX_JOIN_OPTIONS_INIT;
    struct watch watch = {progress, false};
    PyObject *answer = NULL;
    if (!check_range("threads", threads, 1, IDX_MAX_THREADS)) return NULL;
    struct view *view = view_hold(self);
    struct view *other = view == NULL || other_index == NULL ? NULL : view_hold(other_index);
    options.threads = (unsigned)threads;
    options.memory_bytes = memory;
    options.progress = watch_visit;
    options.context = &watch;
    if (view != NULL && (other_index == NULL || other != NULL) && any_distance_take(k, view, &options.distance))
        answer = run_pairs(view, other, &options);
    view_release(other);
    view_release(view);
    return answer;
}

/* Takes (k, threads, memory, progress). Returns Pairs. */
PyObject *index_pairs(PyObject *self, PyObject *arguments) {
    PyObject *k, *progress;
    struct natural memory = {"memory", UINT64_MAX, 0};
    int threads;
    if (!PyArg_ParseTuple(arguments, "OiO&O", &k, &threads, natural_take, &memory, &progress)) return NULL;
    return pairs_or_join(self, NULL, k, threads, memory.value, progress);
}

/* Takes (other, k, threads, memory, progress). Returns Pairs. */
PyObject *index_join(PyObject *self, PyObject *arguments) {
    PyObject *other, *k, *progress;
    struct natural memory = {"memory", UINT64_MAX, 0};
    int threads;
    if (!PyArg_ParseTuple(arguments, "OOiO&O", &other, &k, &threads, natural_take, &memory, &progress)) return NULL;
    return pairs_or_join(self, other, k, threads, memory.value, progress);
}
