/* writer_check.c: the method check_and_add of Writer. */
#include "libidx/python/items.h"
#include "libidx/python/lookup.h"
#include "libidx/python/writer.h"

/* Returns (added bool[n], Matches) of the match lists of `count` documents, or NULL with an exception set. A document
 * was added if its list is empty. Closes the lists in any case. */
static PyObject *make_added_and_matches(struct idx_match_lists *lists, size_t count) {
    struct columns columns, added_column;
    bool ok = columns_begin_sized(&added_column, "?", count);
    for (size_t i = 0; i < count && ok; i++) ((uint8_t *)added_column.list[0].items)[i] = lists->counts[i] == 0;
    move_lists_to_columns(&columns, lists, count, ANSWER_MATCHES);
    PyObject *added = columns_end_as_array(&added_column, ok);
    PyObject *matches = columns_end_result(&columns, ok, "Matches");
    /* If one of them is NULL, Py_BuildValue releases the other, and returns NULL. */
    return Py_BuildValue("(NN)", added, matches);
}

/* Takes (fingerprints, ids, k, limit), where -1 stands for the default of the last two. Adds those documents that have
 * no match within k bits. Returns (added bool[n], Matches). */
PyObject *writer_check_and_add(PyObject *self, PyObject *arguments) {
    struct idx_match_lists_options options = IDX_MATCH_LISTS_OPTIONS_INIT;
    struct writer_object *object = (struct writer_object *)self;
    PyObject *fingerprints, *ids;
    struct idx_match_lists lists;
    struct items items;
    long long limit;
    int k;
    if (!PyArg_ParseTuple(arguments, "OOiL", &fingerprints, &ids, &k, &limit) ||
        !check_range("limit", limit, -1, PY_SSIZE_T_MAX) ||
        !parse_items(fingerprints, ids, object->id_type, false, &items))
        return NULL;
    if (limit >= 0) options.max_matches = (uint64_t)limit;
    if (k >= 0) options.distance = (unsigned)k;
    struct idx_item *list = items_make_list(&items);
    bool ok = list != NULL && handle_begin(object) &&
              handle_end(object, idx_writer_check_and_add(object->handle.opened, list, items.count, &options, &lists,
                                                          &object->handle.call.error));
    PyObject *answer = ok ? make_added_and_matches(&lists, items.count) : NULL;
    items_release(&items);
    return answer;
}
