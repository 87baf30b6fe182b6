/* pairs.c: pairs of one index, and joins of two. */
#include "libidx/python/core.h"

/* The idx_pairs_visitor that appends pairs to the columns of RESULT_PAIRS. Returns false if memory runs out. */
static bool append_pairs(void *context, const struct idx_pair *pairs, size_t count) {
    struct gathering *gathering = context;
    struct column *columns = gathering->block->columns;
    size_t at = columns[PAIRS_A].count;
    for (size_t i = PAIRS_A; i <= PAIRS_DISTANCES; i++) {
        gathering->failed = !column_reserve(&columns[i], count);
        if (gathering->failed) return false;
    }
    for (size_t i = 0; i < count; i++) {
        ((uint64_t *)columns[PAIRS_A].items)[at + i] = pairs[i].a;
        ((uint64_t *)columns[PAIRS_B].items)[at + i] = pairs[i].b;
        ((uint8_t *)columns[PAIRS_DISTANCES].items)[at + i] = (uint8_t)pairs[i].distance;
    }
    for (size_t i = PAIRS_A; i <= PAIRS_DISTANCES; i++) columns[i].count = at + count;
    return true;
}

/* Returns the Pairs of one index if `other` is NULL, else of two. The context of the options is a struct watch. The
 * GIL is released meanwhile. */
static PyObject *run_pairs(struct view *view, struct view *other, const struct idx_join_options *options) {
    struct gathering gathering = {.block = block_make(PAIRS_KINDS, 0)};
    struct idx_error error;
    if (gathering.block == NULL) return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status = other == NULL
                                 ? idx_pairs(view->index, options, append_pairs, &gathering, &error)
                                 : idx_join(view->index, other->index, options, append_pairs, &gathering, &error);
    block_trim(gathering.block);
    PyEval_RestoreThread(thread);
    return result_end(RESULT_PAIRS, gathering.block, status, &error, options->context, gathering.failed);
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
