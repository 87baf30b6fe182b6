/* resembling.c: indexes that have the sets of texts: look-ups by resemblance, adding what resembles nothing, and
 * visiting all sets. */
#include "libidx/python/resembling.h"

#include <stdlib.h>
#include <string.h>

#include "libidx/python/writer.h"

/* ---- Sets that come in ---- */

void sets_release(struct sets *sets) {
    array_release(&sets->hashes);
    array_release(&sets->counts);
    items_release(&sets->items);
    free(sets->list);
}

/* Makes the list: each set is as many of the next hashes as its count says. Checks their number and order. */
static bool list_sets(struct sets *sets) {
    size_t count = sets->counts.count, begin = 0;
    sets->list = calloc(count + 1, sizeof *sets->list);
    if (sets->list == NULL) return refuse_memory();
    for (size_t i = 0; i < count; i++) {
        const uint64_t *hashes = sets->hashes.count == 0 ? NULL : sets->hashes.items + begin;
        if (sets->counts.items[i] > sets->hashes.count - begin)
            return refuse(PyExc_ValueError, "counts: they are above the hashes");
        sets->list[i] = (struct idx_set){hashes, (size_t)sets->counts.items[i]};
        for (size_t j = 1; j < sets->list[i].count; j++)
            if (hashes[j - 1] >= hashes[j])
                return refuse(PyExc_ValueError, "a set whose hashes do not ascend: give what libidx.shingles returns");
        begin += sets->list[i].count;
    }
    return true;
}

bool sets_take(PyObject *hashes, PyObject *counts, struct sets *sets) {
    *sets = (struct sets){.list = NULL};
    bool taken =
        array_take(hashes, "hashes", &sets->hashes) && array_take(counts, "counts", &sets->counts) && list_sets(sets);
    if (!taken) sets_release(sets);
    return taken;
}

bool sets_take_texts(PyObject *arguments, enum idx_id_type id_type, bool may_lack_ids, struct sets *sets) {
    PyObject *hashes, *counts, *ids;
    if (!PyArg_ParseTuple(arguments, "OOO", &hashes, &counts, &ids) || !sets_take(hashes, counts, sets)) return false;
    if (items_take_named(ids, sets->counts.count, id_type, may_lack_ids, &sets->items)) return true;
    sets_release(sets);
    return false;
}

/* ---- Answers ---- */

/* Makes a block of RESULT_RESEMBLING without queries, for an index of this ID type. */
static struct block *make_block(enum idx_id_type id_type) {
    struct block *block = block_new(RESEMBLING_KINDS);
    struct column *columns = block == NULL ? NULL : block->columns;
    bool made = block != NULL && column_make(&columns[RESEMBLING_OFFSETS], 1) &&
                column_make(&columns[RESEMBLING_RESEMBLANCES], 0);
    if (id_type == IDX_ID_TEXT)
        made = made && column_make(&columns[RESEMBLING_ID_OFFSETS], 1) && column_make(&columns[RESEMBLING_ID_BYTES], 0);
    else
        made = made && column_make(&columns[RESEMBLING_NUMBERS], 0);
    if (made) {
        *(int64_t *)columns[RESEMBLING_OFFSETS].items = 0;
        if (id_type == IDX_ID_TEXT) *(int64_t *)columns[RESEMBLING_ID_OFFSETS].items = 0;
        return block;
    }
    block_release(block);
    PyErr_NoMemory();
    return NULL;
}

/* Appends the ID of a document to the columns that the block has. No GIL needed; returns false if memory runs out. */
static bool append_id(struct column *columns, const struct idx_resembling_lists *lists,
                      const struct idx_resembling_document *document) {
    struct column *numbers = &columns[RESEMBLING_NUMBERS], *bytes = &columns[RESEMBLING_ID_BYTES];
    struct column *offsets = &columns[RESEMBLING_ID_OFFSETS];
    if (numbers->items != NULL) {
        if (!column_reserve(numbers, 1)) return false;
        ((uint64_t *)numbers->items)[numbers->count++] = document->number;
        return true;
    }
    if (!column_reserve(offsets, 1) || !column_reserve(bytes, document->id_length)) return false;
    if (document->id_length > 0)
        memcpy((uint8_t *)bytes->items + bytes->count, lists->ids + document->id, document->id_length);
    bytes->count += document->id_length;
    ((int64_t *)offsets->items)[offsets->count++] = (int64_t)bytes->count;
    return true;
}

/* Appends the lists of `count` queries to a block. No GIL needed; returns false if memory runs out. */
static bool append_lists(struct block *block, const struct idx_resembling_lists *lists, size_t count) {
    struct column *offsets = &block->columns[RESEMBLING_OFFSETS];
    struct column *shares = &block->columns[RESEMBLING_RESEMBLANCES];
    int64_t before = (int64_t)shares->count;
    if (!column_reserve(offsets, count) || !column_reserve(shares, (size_t)lists->offsets[count])) return false;
    for (size_t i = 0; i < count; i++) ((int64_t *)offsets->items)[offsets->count++] = before + lists->offsets[i + 1];
    for (int64_t i = 0; i < lists->offsets[count]; i++) {
        const struct idx_resembling_document *found = &lists->documents[i];
        ((double *)shares->items)[shares->count++] = (double)found->shared / (double)found->total;
        if (!append_id(block->columns, lists, found)) return false;
    }
    return true;
}

/* ---- Looking up ---- */

/* Reads (threshold, threads, limit, max_candidates), where -1 is no limit. */
static bool options_take(PyObject *given, struct idx_resembling_options *options) {
    long long threshold, limit, most;
    *options = (struct idx_resembling_options)IDX_RESEMBLING_OPTIONS_INIT;
    if (!PyArg_ParseTuple(given, "LILL", &threshold, &options->threads, &limit, &most) ||
        !check_range("limit", limit, -1, PY_SSIZE_T_MAX) || !check_range("max_candidates", most, -1, PY_SSIZE_T_MAX))
        return false;
    options->threshold = threshold;
    options->limit = (uint64_t)limit;
    options->max_candidates = (uint64_t)most;
    return true;
}

/* So many sets are looked up by one call of the library, between two looks at signals. */
enum { SETS_AT_ONCE = 4096 };

/* Looks up sets. Returns what index_resembling does. The GIL is released meanwhile. */
static PyObject *look_up(struct view *view, const struct sets *sets, const struct idx_resembling_options *options) {
    struct block *block = make_block(view->id_type);
    struct idx_error error;
    enum idx_status status = IDX_OK;
    unsigned long long unread = 0;
    int64_t last = 0;
    bool interrupted = false;
    if (block == NULL) return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    for (size_t at = 0; at < sets->counts.count && status == IDX_OK && !interrupted; at += SETS_AT_ONCE) {
        size_t count = sets->counts.count - at < SETS_AT_ONCE ? sets->counts.count - at : SETS_AT_ONCE;
        struct idx_resembling_lists lists;
        status = idx_list_resembling(view->index, sets->list + at, count, options, &lists, &error);
        if (status != IDX_OK) break;
        if (!append_lists(block, &lists, count)) status = fail_memory(&error);
        unread += lists.unread;
        idx_resembling_lists_close(&lists);
        interrupted = !check_signals(&thread, &last);
    }
    block_trim(block);
    PyEval_RestoreThread(thread);
    if (!interrupted && check_call(status, &error, NULL))
        return Py_BuildValue("(NK)", result_new(RESULT_RESEMBLING, block), unread);
    block_release(block);
    return NULL;
}

/* Takes (hashes, counts, options). Returns (Resembling, how many documents were not looked at). */
PyObject *index_resembling(PyObject *self, PyObject *arguments) {
    struct idx_resembling_options options;
    struct sets sets;
    PyObject *hashes, *counts, *given, *answer = NULL;
    if (!PyArg_ParseTuple(arguments, "OOO", &hashes, &counts, &given) || !options_take(given, &options)) return NULL;
    struct view *view = view_hold(self);
    if (view == NULL) return NULL;
    if (sets_take(hashes, counts, &sets)) {
        answer = look_up(view, &sets, &options);
        sets_release(&sets);
    }
    view_release(view);
    return answer;
}

/* ---- Adding what resembles nothing ---- */

/* Returns what writer_add_unlike does, of the lists. A set was added if its list is empty, since nothing resembles it,
 * unless it is empty itself. */
static PyObject *make_answer(const struct idx_resembling_lists *lists, const struct sets *sets,
                             enum idx_id_type id_type) {
    size_t count = sets->counts.count;
    struct block *added = block_make("?", count), *block = added == NULL ? NULL : make_block(id_type);
    if (block != NULL && append_lists(block, lists, count)) {
        for (size_t i = 0; i < count; i++)
            ((uint8_t *)added->columns[0].items)[i] =
                lists->offsets[i] == lists->offsets[i + 1] && sets->list[i].count > 0;
        return Py_BuildValue("(NNK)", result_array(added), result_new(RESULT_RESEMBLING, block),
                             (unsigned long long)lists->unread);
    }
    block_release(block);
    block_release(added);
    return PyErr_Occurred() ? NULL : PyErr_NoMemory();
}

/* Adds texts by a writer that was entered. Returns what writer_add_unlike does. */
static PyObject *add_unlike(struct writer_object *object, struct sets *sets, const struct idx_item *items,
                            const struct idx_resembling_options *options) {
    struct idx_resembling_lists lists;
    struct idx_error error;
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status =
        idx_writer_add_unlike(object->writer, items, sets->list, sets->counts.count, options, &lists, &error);
    PyEval_RestoreThread(thread);
    if (!check_call(status, &error, NULL)) return NULL;
    PyObject *answer = make_answer(&lists, sets, object->id_type);
    idx_resembling_lists_close(&lists);
    return answer;
}

/* Takes ((hashes, counts, ids), options). Returns (added bool[n], Resembling, how many documents were not looked at).
 */
PyObject *writer_add_unlike(PyObject *self, PyObject *arguments) {
    struct writer_object *object = (struct writer_object *)self;
    struct idx_resembling_options options;
    struct sets sets;
    PyObject *texts, *given, *answer = NULL;
    if (!PyArg_ParseTuple(arguments, "O!O", &PyTuple_Type, &texts, &given) || !options_take(given, &options) ||
        !sets_take_texts(texts, object->id_type, false, &sets))
        return NULL;
    struct idx_item *items = items_make_list(&sets.items);
    if (items != NULL && writer_enter(object)) {
        answer = add_unlike(object, &sets, items, &options);
        object->busy = false;
    }
    sets_release(&sets);
    return answer;
}

/* ---- All sets ---- */

/* Sets of an index that are given to a callable once they have so many hashes. */
enum { HASHES_AT_ONCE = 1 << 20 };

/* Columns of gathered sets: their hashes, how many each has, and their IDs. */
enum { GATHERED_HASHES, GATHERED_COUNTS, GATHERED_NUMBERS, GATHERED_ID_OFFSETS, GATHERED_ID_BYTES };

struct set_gathering {
    PyObject *visitor; /* a callable (hashes, counts, ids) */
    struct block *block;
    PyThreadState *thread;
    bool has_text;       /* IDs are texts */
    bool failed, raised; /* out of memory; an exception is set */
};

/* Makes an empty block for the next sets. Without the GIL. Returns false if memory runs out, which it notes. */
static bool begin_gathering(struct set_gathering *gathering) {
    gathering->block = block_new("QqQqB");
    gathering->failed = gathering->block == NULL;
    for (size_t i = 0; !gathering->failed && i <= GATHERED_ID_BYTES; i++)
        gathering->failed = !column_reserve(&gathering->block->columns[i], 1);
    return !gathering->failed;
}

/* Makes the IDs of the gathered texts: uint64[n], or a list of str. */
static PyObject *make_ids(struct block *block, bool has_text) {
    const struct column *columns = block->columns;
    const struct column *ends = &columns[GATHERED_ID_OFFSETS];
    if (!has_text) return column_view(block, GATHERED_NUMBERS);
    PyObject *list = PyList_New((Py_ssize_t)ends->count);
    const char *bytes = columns[GATHERED_ID_BYTES].items;
    int64_t begin = 0;
    for (size_t i = 0; list != NULL && i < ends->count; i++) {
        int64_t end = ((const int64_t *)ends->items)[i];
        PyObject *id = PyUnicode_DecodeUTF8(bytes + begin, (Py_ssize_t)(end - begin), "surrogateescape");
        if (id == NULL || PyList_SetItem(list, (Py_ssize_t)i, id) < 0) Py_CLEAR(list);
        begin = end;
    }
    return list;
}

/* Gives the gathered sets to the callable, and begins with none again. Without the GIL. Returns false if that
 * raises, or if memory runs out. */
static bool give_sets(struct set_gathering *gathering) {
    struct block *block = gathering->block;
    PyEval_RestoreThread(gathering->thread);
    PyObject *hashes = column_view(block, GATHERED_HASHES), *counts = column_view(block, GATHERED_COUNTS);
    PyObject *ids = hashes == NULL || counts == NULL ? NULL : make_ids(block, gathering->has_text);
    PyObject *answer = ids == NULL ? NULL : PyObject_CallFunctionObjArgs(gathering->visitor, hashes, counts, ids, NULL);
    gathering->raised = answer == NULL;
    Py_XDECREF(answer);
    Py_XDECREF(ids);
    Py_XDECREF(counts);
    Py_XDECREF(hashes);
    block_release(block);
    gathering->thread = PyEval_SaveThread();
    return begin_gathering(gathering) && !gathering->raised;
}

/* Makes room in all columns for a text. Returns false if memory runs out. */
static bool reserve_text(struct column *columns, const struct idx_document *document, const struct idx_set *set) {
    for (size_t i = GATHERED_COUNTS; i <= GATHERED_ID_OFFSETS; i++)
        if (!column_reserve(&columns[i], 1)) return false;
    return column_reserve(&columns[GATHERED_HASHES], set->count) &&
           column_reserve(&columns[GATHERED_ID_BYTES], document->id_length);
}

/* This is the idx_set_visitor that gathers sets. */
static bool gather_set(void *context, const struct idx_document *document, const struct idx_set *set) {
    struct set_gathering *gathering = context;
    struct column *columns = gathering->block->columns;
    struct column *hashes = &columns[GATHERED_HASHES], *bytes = &columns[GATHERED_ID_BYTES];
    gathering->failed = !reserve_text(columns, document, set);
    if (gathering->failed) return false;
    memcpy((uint64_t *)hashes->items + hashes->count, set->hashes, set->count * sizeof *set->hashes);
    hashes->count += set->count;
    ((int64_t *)columns[GATHERED_COUNTS].items)[columns[GATHERED_COUNTS].count++] = (int64_t)set->count;
    if (!gathering->has_text) {
        ((uint64_t *)columns[GATHERED_NUMBERS].items)[columns[GATHERED_NUMBERS].count++] = document->number;
    } else {
        if (document->id_length > 0) memcpy((uint8_t *)bytes->items + bytes->count, document->id, document->id_length);
        bytes->count += document->id_length;
        ((int64_t *)columns[GATHERED_ID_OFFSETS].items)[columns[GATHERED_ID_OFFSETS].count++] = (int64_t)bytes->count;
    }
    return hashes->count < HASHES_AT_ONCE || give_sets(gathering);
}

/* Takes (visitor), and calls it with (hashes, counts, ids) of all texts, many at a time. */
PyObject *index_visit_sets(PyObject *self, PyObject *visitor) {
    struct set_gathering gathering = {.visitor = visitor};
    struct idx_error error;
    struct view *view = view_hold(self);
    if (view == NULL) return NULL;
    gathering.has_text = view->id_type == IDX_ID_TEXT;
    gathering.thread = PyEval_SaveThread();
    enum idx_status status = IDX_OK;
    if (begin_gathering(&gathering)) status = idx_visit_sets(view->index, gather_set, &gathering, &error);
    if (status == IDX_OK && !gathering.failed && !gathering.raised) give_sets(&gathering);
    PyEval_RestoreThread(gathering.thread);
    block_release(gathering.block);
    view_release(view);
    if (gathering.raised || (!gathering.failed && !check_call(status, &error, NULL))) return NULL;
    if (gathering.failed) return PyErr_NoMemory();
    Py_RETURN_NONE;
}

/* ---- Functions of the module ---- */

/* Takes (threshold). Returns how many values of a sketch are enough for it. */
PyObject *core_sketch_values(PyObject *module, PyObject *given) {
    long long threshold = PyLong_AsLongLong(given);
    if ((threshold == -1 && PyErr_Occurred()) || !check_range("threshold", threshold, 1, IDX_THRESHOLD_ONE))
        return NULL;
    return PyLong_FromUnsignedLong(idx_sketch_values(threshold));
}
