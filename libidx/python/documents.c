/* documents.c: the fingerprints of a part of an index, the documents of fingerprints, and the fingerprints of IDs. */
#include <limits.h>
#include <string.h>

#include "libidx/python/core.h"
#include "libidx/python/items.h"

/* ---- Parts ---- */

struct part_gathering {
    struct columns columns;
    bool interrupted;      /* a signal's handler raised */
    PyThreadState *thread; /* for check_signals, like `last` */
    int64_t last;
};

/* The idx_fingerprints_visitor of index_part: appends fingerprints to the column. Returns false if memory runs out, or
 * where a signal's handler raised. */
static bool take_fingerprints(void *context, const uint64_t *fingerprints, size_t count) {
    struct part_gathering *gathering = context;
    uint64_t *room = columns_add(&gathering->columns, 0, count);
    if (room == NULL) return false;
    memcpy(room, fingerprints, count * sizeof *fingerprints);
    gathering->interrupted = !check_signals(&gathering->thread, &gathering->last);
    return !gathering->interrupted;
}

/* Takes (part, parts): which part of the index, from 0, of how many. Returns its fingerprints, uint64[n]. */
PyObject *index_part(PyObject *self, PyObject *arguments) {
    struct idx_error error;
    long long number, parts;
    if (!PyArg_ParseTuple(arguments, "LL", &number, &parts) || !check_range("parts", parts, 1, UINT32_MAX) ||
        !check_range("part", number, 0, parts - 1))
        return NULL;
    struct view *view = view_hold(self);
    if (view == NULL) return NULL;
    struct part_gathering gathering = {.interrupted = false};
    columns_begin(&gathering.columns, "Q");
    columns_add(&gathering.columns, 0, 0);
    gathering.thread = PyEval_SaveThread();
    enum idx_status status =
        idx_visit_part(view->index, (uint32_t)number, (uint32_t)parts, take_fingerprints, &gathering, &error);
    PyEval_RestoreThread(gathering.thread);
    view_release(view);
    return columns_end_first(&gathering.columns, !gathering.interrupted && check_call(status, &error, NULL));
}

/* ---- Documents ---- */

/* Makes Documents of the lists for `count` fingerprints, whose memory it takes over. */
static PyObject *make_documents(struct idx_document_lists *lists, size_t count) {
    struct columns columns;
    size_t listed = (size_t)lists->offsets[count];
    size_t bytes = lists->id_offsets == NULL ? 0 : (size_t)lists->id_offsets[listed];
    void *items[] = {lists->offsets, lists->counts, lists->numbers, lists->id_offsets, lists->ids};
    size_t counts[] = {count + 1, count, listed, listed + 1, bytes};
    columns_begin(&columns, "qq" ID_KINDS);
    for (size_t i = 0; i < 5; i++) columns_adopt(&columns, i, items[i], counts[i]);
    return columns_end_result(&columns, true, "Documents");
}

/* Returns a list of the IDs that the lists have for one fingerprint: of int, or of str, or bytes as `errors` says. */
static PyObject *list_ids(const struct idx_document_lists *lists, const char *errors) {
    Py_ssize_t count = (Py_ssize_t)lists->offsets[1];
    if (lists->id_offsets != NULL) return texts_to_list(lists->id_offsets, count, lists->ids, errors);
    PyObject *list = PyList_New(count);
    for (Py_ssize_t i = 0; i < count && list != NULL; i++) {
        PyObject *id = lists->numbers == NULL ? Py_NewRef(Py_None) : PyLong_FromUnsignedLongLong(lists->numbers[i]);
        if (id == NULL || PyList_SetItem(list, i, id) < 0) Py_CLEAR(list);
    }
    return list;
}

/* Returns the Documents of fingerprints, or if `errors` is not NULL a list of those of one. The context of the options
 * is a struct watch. Releases the GIL. */
static PyObject *list_documents(struct view *view, const uint64_t *fingerprints, size_t count,
                                const struct idx_document_lists_options *options, const char *errors) {
    struct idx_document_lists lists;
    struct idx_error error;
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status = idx_list_documents(view->index, fingerprints, count, options, &lists, &error);
    PyEval_RestoreThread(thread);
    bool ok = check_call(status, &error, options->context);
    if (ok && errors == NULL) return make_documents(&lists, count);
    PyObject *list = ok ? list_ids(&lists, errors) : NULL;
    if (status == IDX_OK) idx_document_lists_close(&lists); /* also where the watch raised */
    return list;
}

/* Takes (fingerprints, limit, max_bytes, threads, progress[, errors]), where -1 is no limit. Returns Documents; or with
 * `errors`, which is as for Index.documents, a list of the documents of one fingerprint. */
PyObject *index_documents(PyObject *self, PyObject *arguments) {
    struct idx_document_lists_options options = IDX_DOCUMENT_LISTS_OPTIONS_INIT;
    struct watch watch = {Py_None, false};
    struct array array = {.items = NULL};
    PyObject *fingerprints, *answer = NULL;
    const char *errors = NULL;
    long long limit, max_bytes;
    uint64_t one;
    int threads;
    if (!PyArg_ParseTuple(arguments, "OLLiO|s", &fingerprints, &limit, &max_bytes, &threads, &watch.progress,
                          &errors) ||
        !check_range("threads", threads, 1, IDX_MAX_THREADS) || !check_range("limit", limit, -1, LLONG_MAX) ||
        !check_range("max_bytes", max_bytes, -1, LLONG_MAX))
        return NULL;
    struct view *view = view_hold(self);
    if (view == NULL) return NULL;
    options.max_documents = (uint64_t)limit;
    options.max_bytes = (uint64_t)max_bytes;
    options.threads = (unsigned)threads;
    options.progress = watch_visit;
    options.context = &watch;
    if (errors == NULL && array_take(fingerprints, "fingerprints", &array))
        answer = list_documents(view, array.items, array.count, &options, NULL);
    else if (errors != NULL && number_take(fingerprints, "fingerprints", &one))
        answer = list_documents(view, &one, 1, &options, errors);
    array_release(&array);
    view_release(view);
    return answer;
}

/* ---- Fingerprints of IDs ---- */

/* Most IDs have no more fingerprints than so many, which are found by one call. */
enum { EXPECTED = 8 };

/* Appends the fingerprints of an item's ID to the second column. Without the GIL. */
static enum idx_status find_one(struct view *view, const struct idx_item *item, struct columns *columns,
                                struct idx_error *error) {
    size_t count = EXPECTED, capacity;
    do {
        capacity = count;
        uint64_t *at = columns_add(columns, 1, capacity);
        if (at == NULL) return fail_memory(error);
        columns->list[1].count -= capacity;
        enum idx_status status = idx_find_id(view->index, item, at, capacity, &count, error);
        if (status != IDX_OK) return status;
    } while (count > capacity);
    columns->list[1].count += count;
    return IDX_OK;
}

/* Finds the fingerprints of IDs, which are in `ids` of the index's type. Returns (offsets int64[n + 1], uint64[m]). */
static PyObject *find_all(struct view *view, struct items *ids) {
    const struct idx_item *items = items_make_list(ids);
    struct columns columns;
    struct idx_error error;
    enum idx_status status = IDX_OK;
    int64_t last = 0;
    bool interrupted = false;
    if (items == NULL) return NULL;
    columns_begin(&columns, "qQ");
    columns_add(&columns, 1, 0);
    int64_t *offsets = columns_add(&columns, 0, ids->count + 1);
    if (columns.failed) return columns_end(&columns, true);
    PyThreadState *thread = PyEval_SaveThread();
    for (size_t i = 0; i < ids->count && status == IDX_OK && !interrupted; i++) {
        offsets[i] = (int64_t)columns.list[1].count;
        status = find_one(view, &items[i], &columns, &error);
        interrupted = i % 64 == 0 && !check_signals(&thread, &last); /* which reads the clock */
    }
    offsets[ids->count] = (int64_t)columns.list[1].count;
    PyEval_RestoreThread(thread);
    return columns_end(&columns, !interrupted && check_call(status, &error, NULL));
}

/* Takes (ids). Returns what find_all does. */
PyObject *index_find(PyObject *self, PyObject *arguments) {
    PyObject *given, *answer = NULL;
    struct items ids;
    if (!PyArg_ParseTuple(arguments, "O", &given)) return NULL;
    struct view *view = view_hold(self);
    if (view == NULL) return NULL;
    if (items_take_ids(given, view->id_type, &ids)) {
        answer = find_all(view, &ids);
        items_release(&ids);
    }
    view_release(view);
    return answer;
}
