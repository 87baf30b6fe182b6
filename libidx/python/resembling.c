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

/* Makes sets->list: set i has the next counts[i] hashes. Returns false with an exception set if there are fewer hashes
 * than that, if the hashes of a set do not ascend, or if memory runs out. The caller then calls sets_release. */
static bool make_set_list(struct sets *sets) {
    size_t count = sets->counts.count, begin = 0;
    sets->list = calloc(count + 1, sizeof *sets->list);
    if (sets->list == NULL) return refuse_memory();
    for (size_t i = 0; i < count; i++) {
        const uint64_t *hashes = sets->hashes.count == 0 ? NULL : sets->hashes.items + begin; /* items may be NULL */
        if (sets->counts.items[i] > sets->hashes.count - begin)
            return refuse(PyExc_ValueError, "counts: they are above the hashes");
        sets->list[i] = (struct idx_set){.hashes = hashes, .count = (size_t)sets->counts.items[i]};
        for (size_t j = 1; j < sets->list[i].count; j++)
            if (hashes[j - 1] >= hashes[j])
                return refuse(PyExc_ValueError, "a set whose hashes do not ascend: give what libidx.shingles returns");
        begin += sets->list[i].count;
    }
    return true;
}

bool parse_sets(PyObject *hashes, PyObject *counts, struct sets *sets) {
    *sets = (struct sets){.list = NULL};
    bool ok = parse_array(hashes, "hashes", &sets->hashes) && parse_array(counts, "counts", &sets->counts) &&
              make_set_list(sets);
    if (!ok) sets_release(sets);
    return ok;
}

bool parse_sets_with_ids(PyObject *arguments, enum idx_id_type id_type, bool may_lack_ids, struct sets *sets) {
    PyObject *hashes, *counts, *ids;
    if (!PyArg_ParseTuple(arguments, "OOO", &hashes, &counts, &ids) || !parse_sets(hashes, counts, sets)) return false;
    if (parse_items_of_texts(ids, sets->counts.count, id_type, may_lack_ids, &sets->items)) return true;
    sets_release(sets);
    return false;
}

/* ---- Answers ---- */

/* The numbers of the columns of Resembling. IDS is the first one of IDs. */
enum { OFFSETS, RESEMBLANCES, IDS };

/* Gives memory to the columns of IDs, as allocate_id_columns does; to ID_NUMBERS also for an index without IDs. No GIL
 * needed. */
static void allocate_resembling_id_columns(struct columns *columns, size_t first_id_column, enum idx_id_type id_type) {
    allocate_id_columns(columns, first_id_column, id_type == IDX_ID_TEXT ? IDX_ID_TEXT : IDX_ID_U64);
}

/* Begins the columns of Resembling for an index of this ID type, without rows, and appends the first offset, 0. If
 * memory runs out, sets columns->failed. No GIL needed. */
static void begin_resembling_columns(struct columns *columns, enum idx_id_type id_type) {
    columns_begin(columns, "qd" ID_KINDS);
    int64_t *offset = columns_add(columns, OFFSETS, 1);
    if (offset != NULL) *offset = 0;
    columns_add(columns, RESEMBLANCES, 0);
    allocate_resembling_id_columns(columns, IDS, id_type);
}

/* Appends the lists of `count` queries to the columns of Resembling: their resemblances, IDs, and where each list ends.
 * Returns false if memory runs out; columns->failed is set then. No GIL needed. */
static bool append_resembling_lists(struct columns *columns, const struct idx_resembling_lists *lists, size_t count) {
    int64_t old_count = (int64_t)columns->list[RESEMBLANCES].count, found_count = lists->offsets[count];
    int64_t *offsets = columns_add(columns, OFFSETS, count);
    double *resemblances = columns_add(columns, RESEMBLANCES, (size_t)found_count);
    if (columns->failed) return false;
    for (size_t i = 0; i < count; i++) offsets[i] = old_count + lists->offsets[i + 1];
    for (int64_t i = 0; i < found_count && !columns->failed; i++) {
        const struct idx_resembling_document *document = &lists->documents[i];
        resemblances[i] = (double)document->shared / (double)document->total;
        append_id(columns, IDS, document->number, lists->ids + document->id, document->id_length);
    }
    return !columns->failed;
}

/* ---- Looking up ---- */

/* Sets the options from the tuple (threshold, threads, limit, max_candidates), where -1 is no limit, as UINT64_MAX is
 * in the options. Returns false with an exception set if it is another tuple, or a limit is out of range. */
static bool parse_resembling_options(PyObject *tuple, struct idx_resembling_options *options) {
    long long threshold, limit, candidates;
    *options = (struct idx_resembling_options)IDX_RESEMBLING_OPTIONS_INIT;
    if (!PyArg_ParseTuple(tuple, "LILL", &threshold, &options->threads, &limit, &candidates) ||
        !check_range("limit", limit, -1, PY_SSIZE_T_MAX) ||
        !check_range("max_candidates", candidates, -1, PY_SSIZE_T_MAX))
        return false;
    options->threshold = threshold;
    options->limit = (uint64_t)limit;
    options->max_candidates = (uint64_t)candidates;
    return true;
}

/* How many sets are looked up by one call of the library; signals are handled between two calls. */
enum { SETS_AT_ONCE = 4096 };

/* Looks up sets, SETS_AT_ONCE at a time, and appends the documents that resemble them to the columns of Resembling.
 * Adds to *uncompared_count how many documents were not compared because of max_candidates. If a signal's handler
 * raised, it ends early with IDX_OK, and call_end fails. Called without the GIL. Errors: IDX_OUT_OF_MEMORY, and those
 * of idx_list_resembling. */
static enum idx_status look_up_and_append_sets(struct view *view, const struct sets *sets,
                                               const struct idx_resembling_options *options, struct columns *columns,
                                               unsigned long long *uncompared_count, struct call *call) {
    enum idx_status status = IDX_OK;
    for (size_t i = 0; i < sets->counts.count && status == IDX_OK && call_check_signals(call); i += SETS_AT_ONCE) {
        size_t count = sets->counts.count - i < SETS_AT_ONCE ? sets->counts.count - i : SETS_AT_ONCE;
        struct idx_resembling_lists lists;
        status = idx_list_resembling(view->index, sets->list + i, count, options, &lists, &call->error);
        if (status != IDX_OK) break;
        if (!append_resembling_lists(columns, &lists, count)) status = call_fail_memory(call);
        *uncompared_count += lists.unread;
        idx_resembling_lists_close(&lists);
    }
    return status;
}

/* Takes (hashes, counts, options): sets as for parse_sets, and a tuple as for parse_resembling_options. Looks up the
 * sets. Returns (Resembling, how many documents were not compared because of max_candidates). */
PyObject *index_resembling(PyObject *self, PyObject *arguments) {
    struct idx_resembling_options options;
    struct columns columns;
    struct sets sets;
    struct call call;
    unsigned long long uncompared_count = 0;
    PyObject *hashes, *counts, *tuple, *resembling = NULL;
    if (!PyArg_ParseTuple(arguments, "OOO", &hashes, &counts, &tuple) || !parse_resembling_options(tuple, &options))
        return NULL;
    struct view *view = view_hold(self);
    if (view == NULL) return NULL;
    if (parse_sets(hashes, counts, &sets)) {
        begin_resembling_columns(&columns, view->id_type);
        bool ok = call_begin_quiet(&call) &&
                  call_end(&call, look_up_and_append_sets(view, &sets, &options, &columns, &uncompared_count, &call));
        resembling = columns_end_result(&columns, ok, "Resembling");
        sets_release(&sets);
    }
    view_release(view);
    return resembling == NULL ? NULL : Py_BuildValue("(NK)", resembling, uncompared_count);
}

/* ---- Adding what resembles nothing ---- */

/* Returns the tuple of writer_add_unlike, or NULL with an exception set. `lists` has for each set what resembles it. A
 * set was added if its list is empty and it is not empty itself: an empty set is never added. The caller closes the
 * lists. */
static PyObject *make_added_and_resembling(const struct idx_resembling_lists *lists, const struct sets *sets,
                                           enum idx_id_type id_type) {
    size_t count = sets->counts.count;
    struct columns columns, truths;
    bool ok = columns_begin_sized(&truths, "?", count);
    begin_resembling_columns(&columns, id_type);
    append_resembling_lists(&columns, lists, count);
    for (size_t i = 0; i < count && ok; i++)
        ((uint8_t *)truths.list[0].items)[i] = lists->offsets[i] == lists->offsets[i + 1] && sets->list[i].count > 0;
    PyObject *added = columns_end_as_array(&truths, ok);
    PyObject *found = columns_end_result(&columns, ok, "Resembling");
    /* If one of them is NULL, Py_BuildValue releases the other, and returns NULL. */
    return Py_BuildValue("(NNK)", added, found, (unsigned long long)lists->unread);
}

/* Takes ((hashes, counts, ids), options), as for parse_sets_with_ids and parse_resembling_options, and adds those texts
 * that resemble no other. Returns (added bool[n], Resembling, how many documents were not compared because of
 * max_candidates). */
PyObject *writer_add_unlike(PyObject *self, PyObject *arguments) {
    struct writer_object *object = (struct writer_object *)self;
    struct idx_resembling_options options;
    struct idx_resembling_lists lists;
    struct sets sets;
    PyObject *texts, *tuple, *answer = NULL;
    if (!PyArg_ParseTuple(arguments, "O!O", &PyTuple_Type, &texts, &tuple) ||
        !parse_resembling_options(tuple, &options) || !parse_sets_with_ids(texts, object->id_type, false, &sets))
        return NULL;
    struct idx_item *items = items_make_list(&sets.items);
    if (items != NULL && handle_begin(object) &&
        handle_end(object, idx_writer_add_unlike(object->handle.opened, items, sets.list, sets.counts.count, &options,
                                                 &lists, &object->handle.call.error))) {
        answer = make_added_and_resembling(&lists, &sets, object->id_type);
        idx_resembling_lists_close(&lists);
    }
    sets_release(&sets);
    return answer;
}

/* ---- All sets ---- */

/* The visitor of index_visit_sets gets the collected sets once they have at least this many hashes. */
enum { HASHES_AT_ONCE = 1 << 20 };

/* Columns of collected sets: their hashes, and how many each has. Those of their IDs follow. */
enum { HASHES, COUNTS, SET_IDS };

struct set_collector {
    PyObject *visitor; /* a callable, which gets the columns as arguments */
    struct columns columns;
    struct call call;
    enum idx_id_type id_type;
};

/* Begins empty columns for the sets to come. If memory runs out, sets columns.failed. No GIL needed. */
static void begin_collected_columns(struct set_collector *collector) {
    columns_begin(&collector->columns, "Qq" ID_KINDS);
    columns_add(&collector->columns, HASHES, 0);
    columns_add(&collector->columns, COUNTS, 0);
    allocate_resembling_id_columns(&collector->columns, SET_IDS, collector->id_type);
}

/* Calls the visitor with the collected sets, and begins empty columns again. Called without the GIL, which it acquires.
 * Returns false, and sets call.failed, if the visitor raises or memory runs out. */
static bool pass_sets_to_visitor(struct set_collector *collector) {
    PyEval_RestoreThread(collector->call.thread);
    PyObject *arrays = columns_end(&collector->columns, true);
    PyObject *answer = arrays == NULL ? NULL : PyObject_CallObject(collector->visitor, arrays);
    collector->call.failed = answer == NULL;
    Py_XDECREF(answer);
    Py_XDECREF(arrays);
    collector->call.thread = PyEval_SaveThread();
    begin_collected_columns(collector);
    return !collector->call.failed;
}

/* This is the idx_set_visitor that collects sets in a struct set_collector, `context`, and passes them on once they
 * have HASHES_AT_ONCE hashes. Called without the GIL. Returns false if memory runs out or the visitor raises. */
static bool collect_set(void *context, const struct idx_document *document, const struct idx_set *set) {
    struct set_collector *collector = context;
    struct columns *columns = &collector->columns;
    uint64_t *hashes = columns_add(columns, HASHES, set->count);
    int64_t *count = columns_add(columns, COUNTS, 1);
    append_id(columns, SET_IDS, document->number, document->id, document->id_length);
    if (columns->failed) return false;
    if (set->count > 0) memcpy(hashes, set->hashes, set->count * sizeof *hashes);
    *count = (int64_t)set->count;
    return columns->list[HASHES].count < HASHES_AT_ONCE || pass_sets_to_visitor(collector);
}

/* Takes (visitor), and calls it with the sets of all texts, many at a time, as the arguments (hashes, counts, numbers,
 * ID offsets, ID bytes). Those that the ID type does not need are None. */
PyObject *index_visit_sets(PyObject *self, PyObject *visitor) {
    struct set_collector collector = {.visitor = visitor};
    struct call *call = &collector.call;
    struct view *view = view_hold(self);
    if (view == NULL) return NULL;
    collector.id_type = view->id_type;
    begin_collected_columns(&collector);
    call_begin_quiet(call);
    enum idx_status status = idx_visit_sets(view->index, collect_set, &collector, &call->error);
    if (status == IDX_OK && !collector.columns.failed && !call->failed) pass_sets_to_visitor(&collector);
    bool ok = call_end(call, status);
    view_release(view);
    /* The columns are empty, or of no use: they are ended to free their memory, and to raise MemoryError if it ran out.
     */
    PyObject *rest = columns_end(&collector.columns, ok);
    if (rest == NULL) return NULL;
    Py_DECREF(rest);
    Py_RETURN_NONE;
}

/* ---- Functions of the module ---- */

/* Takes (threshold), a resemblance in units of 1/IDX_THRESHOLD_ONE. Returns how many values of a sketch are enough to
 * find texts that resemble each other by it (idx_sketch_values). */
PyObject *core_sketch_values(PyObject *module, PyObject *threshold_arg) {
    long long threshold = PyLong_AsLongLong(threshold_arg);
    if ((threshold == -1 && PyErr_Occurred()) || !check_range("threshold", threshold, 1, IDX_THRESHOLD_ONE))
        return NULL;
    return PyLong_FromUnsignedLong(idx_sketch_values(threshold));
}
