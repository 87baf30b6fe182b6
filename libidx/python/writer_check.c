/* writer_check.c: the method check_and_add of Writer. */
#include <stdlib.h>

#include "libidx/python/items.h"
#include "libidx/python/lookup.h"
#include "libidx/python/writer.h"

/* Makes the answer, (added bool[n], Matches), of the lists, which it frees. */
static PyObject *make_answer(struct idx_match_lists *lists, size_t count) {
    struct block *added = block_new("?"), *near = NULL;
    size_t room = 0;
    bool ok = added != NULL && column_reserve(&added->columns[0], &room, count);
    for (size_t i = 0; i < count && ok; i++) ((uint8_t *)added->columns[0].items)[i] = lists->counts[i] == 0;
    if (ok) {
        added->columns[0].count = count;
        near = lists_take(lists, count, ANSWER_MATCHES);
    }
    idx_match_lists_free(lists);
    if (near == NULL) {
        block_release(added);
        return raise_status(IDX_OUT_OF_MEMORY, "out of memory");
    }
    PyObject *matches = result_new(RESULT_MATCHES, near), *array = result_array(added);
    if (matches != NULL && array != NULL) return Py_BuildValue("(NN)", array, matches);
    Py_XDECREF(matches);
    Py_XDECREF(array);
    return NULL;
}

static PyObject *check_and_add(struct writer_object *object, const struct idx_item *list, size_t count,
                               const struct idx_match_lists_options *options) {
    struct idx_match_lists lists;
    struct idx_error error;
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status = idx_writer_check_and_add(object->writer, list, count, options, &lists, &error);
    PyEval_RestoreThread(thread);
    return check_call(status, &error, NULL) ? make_answer(&lists, count) : NULL;
}

/* (fingerprints, ids, k or -1, limit or -1) */
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
    struct idx_item *list = items_list(&items);
    if (list != NULL && writer_enter(object)) {
        answer = check_and_add(object, list, items.count, &options);
        object->busy = false;
    }
    free(list);
    items_release(&items);
    return answer;
}
