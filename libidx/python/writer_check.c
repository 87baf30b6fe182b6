/* writer_check.c: the method check_and_add of Writer. */
#include "libidx/python/items.h"
#include "libidx/python/lookup.h"
#include "libidx/python/writer.h"

/* Returns (added bool[n], Matches) of the lists for `count` documents, which it frees. */
static PyObject *make_answer(struct idx_match_lists *lists, size_t count) {
    struct columns columns, truths;
    bool ok = columns_make(&truths, "?", count);
    for (size_t i = 0; i < count && ok; i++) ((uint8_t *)truths.list[0].items)[i] = lists->counts[i] == 0;
    fill_columns(&columns, lists, count, ANSWER_MATCHES);
    PyObject *added = columns_end_first(&truths, ok), *matches = columns_end_result(&columns, ok, "Matches");
    if (added != NULL && matches != NULL) return Py_BuildValue("(NN)", added, matches);
    Py_XDECREF(added);
    Py_XDECREF(matches);
    return NULL;
}

/* Adds those items that are near nothing, by a writer that was entered. Returns what make_answer does. */
static PyObject *check_and_add(struct writer_object *object, const struct idx_item *list, size_t count,
                               const struct idx_match_lists_options *options) {
    struct idx_match_lists lists;
    struct idx_error error;
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status = idx_writer_check_and_add(object->writer, list, count, options, &lists, &error);
    PyEval_RestoreThread(thread);
    return check_call(status, &error, NULL) ? make_answer(&lists, count) : NULL;
}

/* Takes (fingerprints, ids, k or -1, limit or -1), where -1 is the default. Returns what make_answer does. */
PyObject *writer_check_and_add(PyObject *self, PyObject *arguments) {
    struct idx_match_lists_options options = IDX_MATCH_LISTS_OPTIONS_INIT;
    struct writer_object *object = (struct writer_object *)self;
    PyObject *fingerprints, *ids, *answer = NULL;
    struct items items;
    long long limit;
    int k;
    if (!PyArg_ParseTuple(arguments, "OOiL", &fingerprints, &ids, &k, &limit) ||
        !check_range("limit", limit, -1, PY_SSIZE_T_MAX) ||
        !items_take(fingerprints, ids, object->id_type, false, &items))
        return NULL;
    if (limit >= 0) options.max_matches = (uint64_t)limit;
    if (k >= 0) options.distance = (unsigned)k;
    struct idx_item *list = items_make_list(&items);
    if (list != NULL && writer_enter(object)) {
        answer = check_and_add(object, list, items.count, &options);
        object->busy = false;
    }
    items_release(&items);
    return answer;
}
