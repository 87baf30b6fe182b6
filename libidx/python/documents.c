/* documents.c: the fingerprints of a part of an index, the documents of fingerprints, and the fingerprints of IDs. */
#include <limits.h>
#include <string.h>

#include "libidx/python/core.h"
#include "libidx/python/items.h"

/* ---- Parts ---- */

struct part_gathering {
    struct column *column;
    bool failed;           /* out of memory */
    bool interrupted;      /* a signal's handler raised */
    PyThreadState *thread; /* for check_signals, like `last` */
    int64_t last;
};

/* The idx_fingerprints_visitor of index_part: appends fingerprints to the column. Returns false, and sets `failed` or
 * `interrupted`, to end the visit. */
static bool take_fingerprints(void *context, const uint64_t *fingerprints, size_t count) {
    struct part_gathering *gathering = context;
    gathering->failed = !column_reserve(gathering->column, count);
    if (gathering->failed) return false;
    memcpy((uint64_t *)gathering->column->items + gathering->column->count, fingerprints, count * sizeof *fingerprints);
    gathering->column->count += count;
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
    struct block *block = view == NULL ? NULL : block_make("Q", 0);
    if (block == NULL) {
        view_release(view);
        return NULL;
    }
    struct part_gathering gathering = {.column = block->columns};
    gathering.thread = PyEval_SaveThread();
    enum idx_status status =
        idx_visit_part(view->index, (uint32_t)number, (uint32_t)parts, take_fingerprints, &gathering, &error);
    block_trim(block);
    PyEval_RestoreThread(gathering.thread);
    view_release(view);
    if (!gathering.interrupted && check_call(status, &error, NULL) && !gathering.failed) return result_array(block);
    block_release(block);
    return PyErr_Occurred() ? NULL : PyErr_NoMemory();
}

/* ---- Documents ---- */

/* Makes Documents of the lists for `count` fingerprints, whose memory it takes over. */
static PyObject *make_documents(struct idx_document_lists *lists, size_t count) {
    struct block *block = block_new(DOCUMENTS_KINDS);
    if (block == NULL) {
        idx_document_lists_close(lists);
        return PyErr_NoMemory();
    }
    size_t listed = (size_t)lists->offsets[count];
    void *items[] = {lists->offsets, lists->counts, lists->numbers, lists->id_offsets, lists->ids};
    size_t bytes = lists->id_offsets == NULL ? 0 : (size_t)lists->id_offsets[listed];
    size_t counts[] = {count + 1, count, listed, listed + 1, bytes};
    for (size_t i = 0; i < 5; i++) {
        block->columns[i].items = items[i];
        block->columns[i].count = counts[i];
    }
    return result_new(RESULT_DOCUMENTS, block);
}

/* Returns the Documents of fingerprints. The context of the options is a struct watch. Releases the GIL meanwhile. */
static PyObject *list_documents(struct view *view, PyObject *fingerprints,
                                const struct idx_document_lists_options *options) {
    struct idx_document_lists lists;
    struct idx_error error;
    struct array array;
    if (!array_take(fingerprints, "fingerprints", &array)) return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status = idx_list_documents(view->index, array.items, array.count, options, &lists, &error);
    PyEval_RestoreThread(thread);
    size_t count = array.count;
    array_release(&array);
    if (check_call(status, &error, options->context)) return make_documents(&lists, count);
    if (status == IDX_OK) idx_document_lists_close(&lists); /* the watch raised */
    return NULL;
}

/* Takes (fingerprints, limit, max_bytes, threads, progress), where -1 is no limit. Returns Documents. */
PyObject *index_documents(PyObject *self, PyObject *arguments) {
    struct idx_document_lists_options options = IDX_DOCUMENT_LISTS_OPTIONS_INIT;
    struct watch watch = {Py_None, false};
    PyObject *fingerprints;
    long long limit, max_bytes;
    int threads;
    if (!PyArg_ParseTuple(arguments, "OLLiO", &fingerprints, &limit, &max_bytes, &threads, &watch.progress) ||
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
    PyObject *answer = list_documents(view, fingerprints, &options);
    view_release(view);
    return answer;
}

/* ---- Fingerprints of IDs ---- */

/* Most IDs have no more fingerprints than so many, which are found by one call. */
enum { EXPECTED = 8 };

/* Appends the fingerprints of an item's ID to a column. Without the GIL. */
static enum idx_status find_one(struct view *view, const struct idx_item *item, struct column *column,
                                struct idx_error *error) {
    size_t count = EXPECTED, capacity;
    do {
        capacity = count;
        if (!column_reserve(column, capacity)) return fail_memory(error);
        uint64_t *at = (uint64_t *)column->items + column->count;
        enum idx_status status = idx_find_id(view->index, item, at, capacity, &count, error);
        if (status != IDX_OK) return status;
    } while (count > capacity);
    column->count += count;
    return IDX_OK;
}

/* Finds the fingerprints of IDs, which are in `ids` of the index's type. Returns (offsets int64[n + 1], uint64[m]). */
static PyObject *find_all(struct view *view, const struct items *ids) {
    const uint64_t *numbers = ids->numbers.items;
    struct block *block = block_new("qQ");
    struct idx_error error;
    enum idx_status status = IDX_OK;
    int64_t last = 0;
    bool interrupted = false;
    if (block == NULL || !column_make(&block->columns[0], ids->count + 1) || !column_make(&block->columns[1], 0)) {
        block_release(block);
        return PyErr_NoMemory();
    }
    int64_t *offsets = block->columns[0].items;
    PyThreadState *thread = PyEval_SaveThread();
    for (size_t i = 0; i < ids->count && status == IDX_OK && !interrupted; i++) {
        offsets[i] = (int64_t)block->columns[1].count;
        struct idx_item item = {0};
        if (ids->id_type == IDX_ID_TEXT) {
            item.id = ids->texts.items[i];
            item.id_length = ids->texts.lengths[i];
        } else {
            item.number = numbers[i];
        }
        status = find_one(view, &item, &block->columns[1], &error);
        interrupted = i % 64 == 0 && !check_signals(&thread, &last); /* which reads the clock */
    }
    offsets[ids->count] = (int64_t)block->columns[1].count;
    PyEval_RestoreThread(thread);
    PyObject *answer = !interrupted && check_call(status, &error, NULL) ? block_views(block) : NULL;
    block_release(block);
    return answer;
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
