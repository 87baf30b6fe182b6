/* documents.c: the fingerprints of a part of an index, the documents of fingerprints, and the fingerprints of IDs. */
#include <limits.h>
#include <string.h>

#include "libidx/python/core.h"
#include "libidx/python/items.h"

/* ---- Parts ---- */

struct part_collector {
    struct columns columns; /* one, of fingerprints */
    struct call call;
};

/* This is the idx_fingerprints_visitor of index_part: appends fingerprints to the column of a struct part_collector,
 * `context`. Called without the GIL. Returns false if memory runs out, or if a signal's handler raised. */
static bool append_fingerprints(void *context, const uint64_t *fingerprints, size_t count) {
    struct part_collector *collector = context;
    uint64_t *new_items = columns_add(&collector->columns, 0, count);
    if (new_items == NULL) return false;
    memcpy(new_items, fingerprints, count * sizeof *fingerprints);
    return call_check_signals(&collector->call);
}

/* Takes (part, parts): the number of a part of the index, from 0, and how many parts it is divided into. Returns the
 * fingerprints of this part, uint64[n]. */
PyObject *index_part(PyObject *self, PyObject *arguments) {
    struct part_collector collector;
    struct call *call = &collector.call;
    long long part, part_count;
    if (!PyArg_ParseTuple(arguments, "LL", &part, &part_count) || !check_range("parts", part_count, 1, UINT32_MAX) ||
        !check_range("part", part, 0, part_count - 1))
        return NULL;
    struct view *view = view_hold(self);
    if (view == NULL) return NULL;
    bool ok = columns_begin_sized(&collector.columns, "Q", 0) && call_begin_quiet(call) &&
              call_end(call, idx_visit_part(view->index, (uint32_t)part, (uint32_t)part_count, append_fingerprints,
                                            &collector, &call->error));
    view_release(view);
    return columns_end_as_array(&collector.columns, ok);
}

/* ---- Documents ---- */

/* Makes Documents of the lists of `count` fingerprints, and moves the memory of the lists to it: they are empty then.
 * Returns NULL with an exception set on failure, and has freed the memory. */
static PyObject *move_lists_to_documents(struct idx_document_lists *lists, size_t count) {
    struct columns columns;
    size_t document_count = (size_t)lists->offsets[count];
    size_t byte_count = lists->id_offsets == NULL ? 0 : (size_t)lists->id_offsets[document_count];
    /* In the order of the columns of Documents: the last three are those of IDs, NULL if the index has other IDs. */
    void *items[] = {lists->offsets, lists->counts, lists->numbers, lists->id_offsets, lists->ids};
    size_t counts[] = {count + 1, count, document_count, document_count + 1, byte_count};
    columns_begin(&columns, "qq" ID_KINDS);
    for (size_t i = 0; i < 5; i++) columns_adopt(&columns, i, items[i], counts[i]);
    *lists = (struct idx_document_lists){.offsets = NULL};
    return columns_end_result(&columns, true, "Documents");
}

/* Returns a list of the IDs of the documents of one fingerprint, the only one in the lists. An ID is an int; or a str
 * or bytes, by `errors` as for texts_to_list; or None if the index has no IDs. Returns NULL with an exception set on
 * failure. */
static PyObject *make_id_list(const struct idx_document_lists *lists, const char *errors) {
    Py_ssize_t count = (Py_ssize_t)lists->offsets[1];
    if (lists->id_offsets != NULL) return texts_to_list(lists->id_offsets, count, lists->ids, errors);
    PyObject *list = PyList_New(count);
    for (Py_ssize_t i = 0; i < count && list != NULL; i++) {
        PyObject *id = lists->numbers == NULL ? Py_NewRef(Py_None) : PyLong_FromUnsignedLongLong(lists->numbers[i]);
        if (id == NULL || PyList_SetItem(list, i, id) < 0) Py_CLEAR(list);
    }
    return list;
}

/* Takes (fingerprints, limit, max_bytes, call[, errors]). `limit` is the most documents that are listed for each
 * fingerprint, `max_bytes` the most memory of all lists; -1 is no limit. Returns Documents. With `errors`, as for
 * texts_to_list, takes one fingerprint, and returns a list of the IDs of its documents. */
PyObject *index_documents(PyObject *self, PyObject *arguments) {
    struct idx_document_lists_options options = IDX_DOCUMENT_LISTS_OPTIONS_INIT;
    struct idx_document_lists lists;
    struct array array = {.items = NULL};
    struct call call;
    PyObject *fingerprints, *answer = NULL;
    const char *errors = NULL;
    long long limit, max_bytes;
    uint64_t single_fingerprint;
    if (!PyArg_ParseTuple(arguments, "OLLO&|s", &fingerprints, &limit, &max_bytes, parse_call, &call, &errors))
        return NULL;
    options.max_documents = (uint64_t)limit;
    options.max_bytes = (uint64_t)max_bytes;
    options.threads = call.threads;
    options.progress = visit_progress;
    options.context = &call;
    bool ok = check_range("limit", limit, -1, LLONG_MAX) && check_range("max_bytes", max_bytes, -1, LLONG_MAX) &&
              (errors == NULL ? parse_array(fingerprints, "fingerprints", &array)
                              : parse_number(fingerprints, "fingerprints", &single_fingerprint));
    struct view *view = ok ? view_hold(self) : NULL;
    if (view != NULL) {
        const uint64_t *items = errors == NULL ? array.items : &single_fingerprint;
        const size_t count = errors == NULL ? array.count : 1;
        call_begin(&call);
        enum idx_status status = idx_list_documents(view->index, items, count, &options, &lists, &call.error);
        /* call_end also fails if progress raised during a call that succeeded, so the lists are closed by the status.
         */
        if (call_end(&call, status))
            answer = errors == NULL ? move_lists_to_documents(&lists, count) : make_id_list(&lists, errors);
        if (status == IDX_OK) idx_document_lists_close(&lists);
    }
    array_release(&array);
    view_release(view);
    call_release(&call);
    return answer;
}

/* ---- Fingerprints of IDs ---- */

/* The capacity of the first call of idx_find_id, which suffices for most IDs. */
enum { FIRST_CAPACITY = 8 };

/* Appends the fingerprints of the documents that have the ID of an item to the second column. Called without the GIL.
 * Errors: IDX_OUT_OF_MEMORY, and those of idx_find_id. */
static enum idx_status append_found_by_id(struct view *view, const struct idx_item *item, struct columns *columns,
                                          struct call *call) {
    /* idx_find_id sets `count` to the number of all, so that the second call has the capacity for them. */
    size_t count = FIRST_CAPACITY, capacity;
    do {
        capacity = count;
        uint64_t *found = columns_add(columns, 1, capacity);
        if (found == NULL) return call_fail_memory(call);
        columns->list[1].count -= capacity; /* until it is known how many there are */
        enum idx_status status = idx_find_id(view->index, item, found, capacity, &count, &call->error);
        if (status != IDX_OK) return status;
    } while (count > capacity);
    columns->list[1].count += count;
    return IDX_OK;
}

/* Finds the fingerprints of the documents with the IDs of `count` items. Appends them to the second column, and sets
 * the count + 1 offsets of the first one: item i has those from offsets[i] to before offsets[i + 1]. If a signal's
 * handler raised, it ends early with IDX_OK, and call_end fails. Called without the GIL. */
static enum idx_status append_found_by_ids(struct view *view, const struct idx_item *items, size_t count,
                                           struct columns *columns, struct call *call) {
    int64_t *offsets = columns->list[0].items;
    enum idx_status status = IDX_OK;
    for (size_t i = 0; i < count && status == IDX_OK; i++) {
        offsets[i] = (int64_t)columns->list[1].count;
        status = append_found_by_id(view, &items[i], columns, call);
        if (i % 64 == 0 && !call_check_signals(call)) break; /* not each time, since this reads the clock */
    }
    offsets[count] = (int64_t)columns->list[1].count;
    return status;
}

/* Takes (ids), of the index's ID type. Returns (offsets int64[n + 1], fingerprints uint64[m]): ID i has those from
 * offsets[i] to before offsets[i + 1]. */
PyObject *index_find(PyObject *self, PyObject *ids_arg) {
    PyObject *answer = NULL;
    struct columns columns;
    struct items ids;
    struct call call;
    struct view *view = view_hold(self);
    if (view == NULL) return NULL;
    if (parse_items_of_ids(ids_arg, view->id_type, &ids)) {
        const struct idx_item *items = items_make_list(&ids);
        columns_begin(&columns, "qQ");
        columns_add(&columns, 1, 0); /* so that it is an empty array, and not None */
        /* Where columns_add fails, `ok` stays true, and columns_end raises MemoryError. */
        bool ok = items != NULL && (columns_add(&columns, 0, ids.count + 1) == NULL ||
                                    (call_begin_quiet(&call) &&
                                     call_end(&call, append_found_by_ids(view, items, ids.count, &columns, &call))));
        answer = columns_end(&columns, ok);
        items_release(&ids);
    }
    view_release(view);
    return answer;
}
