/* batch.c: batches: the matches of many queries at once. */
#include "libidx/python/core.h"

#include <string.h>

static bool read_method(const char *name, enum idx_batch_method *method) {
    static const char *const names[] = {"auto", "probe", "sweep", "stream"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) != 0) continue;
        *method = (enum idx_batch_method)i;
        return true;
    }
    return refuse(PyExc_ValueError, "method: '%s', which is none of 'auto', 'probe', 'sweep' and 'stream'", name);
}

/* Returns the Matches of a batch. The context of the options is a struct watch. The call releases the GIL. */
static PyObject *run_batch(struct view *view, PyObject *queries, struct idx_batch_options *options) {
    struct columns columns;
    struct idx_error error;
    struct array array;
    if (!array_take(queries, "queries", &array)) return NULL;
    columns_begin(&columns, MATCHES_KINDS);
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status =
        idx_batch(view->index, array.items, array.count, options, gather_matches, &columns, &error);
    if (status == IDX_OK && !columns.failed) gather_matches(&columns, array.count, NULL, 0);
    PyEval_RestoreThread(thread);
    array_release(&array);
    return columns_end_result(&columns, check_call(status, &error, options->context), "Matches");
}

/* Takes (queries, k, method, threads, memory, tmpdir, progress). Returns Matches. */
PyObject *index_batch(PyObject *self, PyObject *arguments) {
    struct idx_batch_options options = IDX_BATCH_OPTIONS_INIT;
    struct watch watch = {Py_None, false};
    PyObject *queries, *k, *folder, *bytes = NULL, *answer = NULL;
    const char *method;
    struct natural memory = {"memory", UINT64_MAX, 0};
    int threads;
    if (!PyArg_ParseTuple(arguments, "OOsiO&OO", &queries, &k, &method, &threads, natural_take, &memory, &folder,
                          &watch.progress) ||
        !check_range("threads", threads, 1, IDX_MAX_THREADS) || !read_method(method, &options.method))
        return NULL;
    struct view *view = view_hold(self);
    if (view == NULL) return NULL;
    options.threads = (unsigned)threads;
    options.memory_bytes = memory.value;
    options.progress = watch_visit;
    options.context = &watch;
    if (any_distance_take(k, view, &options.distance) && folder_take(folder, &bytes, &options.temporary_folder))
        answer = run_batch(view, queries, &options);
    Py_XDECREF(bytes);
    view_release(view);
    return answer;
}
