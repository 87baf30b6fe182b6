/* resembling.c: look-ups by resemblance in an index of sketches, and adding what resembles none of it. The sets of
 * documents come from a file of sets, or from a callable of Python, or both. */
#include "libidx/python/resembling.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libidx/python/items.h"
#include "libidx/python/writer.h"

/* Where the hashes of an empty set are, since NULL stands for a set that is not known. */
static const uint64_t no_hashes = 0;

/* ---- Sets that come in ---- */

/* Returns whether the hashes of a set ascend; else it sets ValueError. */
static bool check_ascending(const uint64_t *hashes, size_t count) {
    for (size_t i = 1; i < count; i++) {
        if (hashes[i - 1] < hashes[i]) continue;
        return refuse(PyExc_ValueError, "a set whose hashes do not ascend: give what libidx.shingles returns");
    }
    return true;
}

void sets_release(struct sets *sets) {
    array_release(&sets->hashes);
    array_release(&sets->counts);
    free(sets->list);
}

/* Makes the list: each set is as many of the next hashes as its count says. Checks their number and order. */
static bool list_sets(struct sets *sets) {
    size_t count = sets->counts.count, begin = 0;
    sets->list = calloc(count + 1, sizeof *sets->list);
    if (sets->list == NULL) return refuse_memory();
    for (size_t i = 0; i < count; i++) {
        if (sets->counts.items[i] > sets->hashes.count - begin)
            return refuse(PyExc_ValueError, "counts: they are above the hashes");
        sets->list[i] = (struct idx_set){sets->hashes.count == 0 ? &no_hashes : sets->hashes.items + begin,
                                         (size_t)sets->counts.items[i]};
        if (!check_ascending(sets->list[i].hashes, sets->list[i].count)) return false;
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

/* ---- The sets of documents ---- */

enum { DIGITS = 21 }; /* of UINT64_MAX, and a NUL byte */

/* Where a call finds the sets of documents. */
struct source {
    PyObject *file, *find;    /* KeptSets, and a callable from an ID to a set, or None for each; borrowed */
    struct kept_object *kept; /* the file, entered, or NULL */
    struct array set;         /* what the callable returned last */
    PyThreadState *thread;    /* for check_signals, like `last` */
    int64_t last;
    bool failed; /* an exception is set */
};

/* Enters the file, if there is one. The caller calls source_leave even if this fails. */
static bool source_enter(struct source *source) {
    if (source->file == Py_None) return true;
    source->kept = kept_enter(source->file);
    return source->kept != NULL;
}

static void source_leave(struct source *source) {
    if (source->kept != NULL) kept_leave(source->kept);
    array_release(&source->set);
}

static PyObject *make_id(const struct idx_document *document) {
    if (document->id == NULL) return PyLong_FromUnsignedLongLong(document->number);
    return PyUnicode_DecodeUTF8(document->id, (Py_ssize_t)document->id_length, "surrogateescape");
}

/* Calls the callable for a document's ID, with the GIL held. Sets *set to what it returns, unless that is None. */
static bool call_find(struct source *source, const struct idx_document *document, struct idx_set *set) {
    PyObject *id = make_id(document);
    PyObject *found = id == NULL ? NULL : PyObject_CallFunctionObjArgs(source->find, id, NULL);
    Py_XDECREF(id);
    array_release(&source->set);
    bool ok = found != NULL && (found == Py_None || (array_take(found, "a set", &source->set) &&
                                                     check_ascending(source->set.items, source->set.count)));
    if (ok && found != Py_None)
        *set = (struct idx_set){source->set.count == 0 ? &no_hashes : source->set.items, source->set.count};
    Py_XDECREF(found);
    return ok;
}

/* The idx_set_source: asks the file, which has integer IDs as decimal text, then the callable, if the file has no set
 * of the document. Called without the GIL. Returns IDX_CANCELLED, and sets `failed`, if the callable or a signal's
 * handler raised. */
static enum idx_status find_set(void *context, const struct idx_document *document, struct idx_set *set,
                                struct idx_error *error) {
    struct source *source = context;
    if (source->kept != NULL) {
        char digits[DIGITS];
        struct idx_document named = *document;
        if (named.id == NULL) {
            named.id = digits;
            named.id_length = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, document->number);
        }
        enum idx_status status = idx_kept_sets_find(source->kept->kept, &named, set, error);
        if (status != IDX_OK) return status;
    }
    if (set->hashes == NULL && source->find != Py_None) {
        PyEval_RestoreThread(source->thread);
        source->failed = !call_find(source, document, set);
        source->thread = PyEval_SaveThread();
    }
    source->failed = source->failed || !check_signals(&source->thread, &source->last);
    if (source->failed) *error = (struct idx_error){.status = IDX_CANCELLED, .sentence = "cancelled"};
    return source->failed ? IDX_CANCELLED : IDX_OK;
}

/* ---- Answers ---- */

/* Makes the columns for `documents`, and if `has_text`, `bytes` of text IDs. Returns false if memory runs out. */
static bool make_columns(struct block *block, size_t documents, size_t bytes, bool has_text, bool has_errors) {
    struct column *columns = block->columns;
    if (!column_make(&columns[RESEMBLING_RESEMBLANCES], documents)) return false;
    if (has_errors && !column_make(&columns[RESEMBLING_ERRORS], documents)) return false;
    if (!has_text) return column_make(&columns[RESEMBLING_NUMBERS], documents);
    return column_make(&columns[RESEMBLING_ID_OFFSETS], documents + 1) &&
           column_make(&columns[RESEMBLING_ID_BYTES], bytes);
}

/* Fills row number `at`. If sketches were compared, `sketch` is how many values they have at most. If sets were, it is
 * 0: then there is no column of errors. */
static void fill_row(struct block *block, size_t at, const struct idx_resembling_lists *lists, unsigned sketch) {
    const struct idx_resembling_document *found = &lists->documents[at];
    const struct column *columns = block->columns;
    double share = (double)found->shared / (double)found->total;
    ((double *)columns[RESEMBLING_RESEMBLANCES].items)[at] = share;
    /* Two sketches that together have fewer values than one may have are the whole sets. */
    if (sketch > 0)
        ((double *)columns[RESEMBLING_ERRORS].items)[at] =
            found->total < sketch ? 0 : sqrt(share * (1 - share) / (double)found->total);
    int64_t *offsets = columns[RESEMBLING_ID_OFFSETS].items;
    if (offsets == NULL) {
        ((uint64_t *)columns[RESEMBLING_NUMBERS].items)[at] = found->number;
        return;
    }
    if (found->id_length > 0)
        memcpy((uint8_t *)columns[RESEMBLING_ID_BYTES].items + offsets[at], lists->ids + found->id, found->id_length);
    offsets[at + 1] = offsets[at] + (int64_t)found->id_length;
}

/* Makes Resembling of the lists for `count` sets, which it frees. `sketch` is as fill_row takes it. */
static PyObject *make_resembling(struct idx_resembling_lists *lists, size_t count, enum idx_id_type id_type,
                                 unsigned sketch) {
    size_t documents = (size_t)lists->offsets[count], bytes = 0;
    bool has_text = id_type == IDX_ID_TEXT;
    struct block *block = block_new(RESEMBLING_KINDS);
    for (size_t i = 0; i < documents && has_text; i++) bytes += lists->documents[i].id_length;
    if (block == NULL || !make_columns(block, documents, bytes, has_text, sketch > 0)) {
        idx_resembling_free(lists);
        block_release(block);
        return PyErr_NoMemory();
    }
    block->columns[RESEMBLING_OFFSETS].items = lists->offsets;
    block->columns[RESEMBLING_OFFSETS].count = count + 1;
    lists->offsets = NULL;
    if (has_text) *(int64_t *)block->columns[RESEMBLING_ID_OFFSETS].items = 0;
    for (size_t i = 0; i < documents; i++) fill_row(block, i, lists, sketch);
    idx_resembling_free(lists);
    return result_new(RESULT_RESEMBLING, block);
}

/* ---- Looking up ---- */

/* Reads (threshold, sketch, threads, agree, limit, max_candidates, file, find), where -1 is no limit. Without a file
 * and a callable, look-ups estimate. */
static bool options_take(PyObject *given, struct idx_resembling_options *options, struct source *source) {
    long long threshold, limit, most;
    *options = (struct idx_resembling_options)IDX_RESEMBLING_OPTIONS_INIT;
    *source = (struct source){.kept = NULL};
    if (!PyArg_ParseTuple(given, "LIIILLOO", &threshold, &options->sketch, &options->threads, &options->least_values,
                          &limit, &most, &source->file, &source->find) ||
        !check_range("limit", limit, -1, PY_SSIZE_T_MAX) || !check_range("max_candidates", most, -1, PY_SSIZE_T_MAX))
        return false;
    options->threshold = threshold;
    options->limit = (uint64_t)limit;
    options->max_candidates = (uint64_t)most;
    bool exact = source->file != Py_None || source->find != Py_None;
    options->source = exact ? find_set : NULL;
    options->context = source;
    return true;
}

/* Returns whether a call that asked a source succeeded. If not, an exception is set. */
static bool check_found(enum idx_status status, const struct idx_error *error, const struct source *source) {
    return !source->failed && check_call(status, error, NULL);
}

/* Looks up sets, with a source that was entered. Returns what index_resembling does. */
static PyObject *look_up(struct view *view, const struct sets *sets, const struct idx_resembling_options *options,
                         struct source *source) {
    struct idx_resembling_lists lists;
    struct idx_error error;
    size_t count = sets->counts.count;
    source->thread = PyEval_SaveThread();
    enum idx_status status = idx_resembling_make(view->index, sets->list, count, options, &lists, &error);
    PyEval_RestoreThread(source->thread);
    if (!check_found(status, &error, source)) return NULL;
    unsigned long long unread = lists.unread, unknown = lists.unknown;
    PyObject *found = make_resembling(&lists, count, view->id_type, options->source == NULL ? options->sketch : 0);
    return found == NULL ? NULL : Py_BuildValue("(NKK)", found, unread, unknown);
}

/* Takes (hashes, counts, options). Returns (Resembling, how many were not looked at, how many sets are not known). */
PyObject *index_resembling(PyObject *self, PyObject *arguments) {
    struct idx_resembling_options options;
    struct source source;
    struct sets sets;
    PyObject *hashes, *counts, *given, *answer = NULL;
    if (!PyArg_ParseTuple(arguments, "OOO", &hashes, &counts, &given) || !options_take(given, &options, &source))
        return NULL;
    struct view *view = view_hold(self);
    if (view == NULL) return NULL;
    if (sets_take(hashes, counts, &sets)) {
        if (source_enter(&source)) answer = look_up(view, &sets, &options, &source);
        source_leave(&source);
        sets_release(&sets);
    }
    view_release(view);
    return answer;
}

/* ---- Adding what resembles none ---- */

/* Returns what writer_add_unlike does, of the lists, which it frees. A set was added if its list is empty, since
 * nothing resembles it, unless it is empty itself. */
static PyObject *make_answer(struct idx_resembling_lists *lists, const struct sets *sets, enum idx_id_type id_type) {
    size_t count = sets->counts.count;
    struct block *added = block_make("?", count);
    unsigned long long unread = lists->unread, unknown = lists->unknown;
    if (added == NULL) {
        idx_resembling_free(lists);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        ((uint8_t *)added->columns[0].items)[i] = lists->offsets[i] == lists->offsets[i + 1] && sets->list[i].count > 0;
    PyObject *found = make_resembling(lists, count, id_type, 0);
    if (found != NULL) return Py_BuildValue("(NNKK)", result_array(added), found, unread, unknown);
    block_release(added);
    return NULL;
}

/* Gives items with integer IDs their decimal text as well, by which files of sets know them. The caller frees *digits.
 */
static bool name_items(const struct items *items, struct idx_item *list, char **digits) {
    *digits = NULL;
    if (items->id_type == IDX_ID_TEXT) return true;
    *digits = malloc((items->count + 1) * DIGITS);
    if (*digits == NULL) return refuse_memory();
    for (size_t i = 0; i < items->count; i++) {
        char *at = *digits + i * DIGITS;
        list[i].id = at;
        list[i].id_length = (size_t)snprintf(at, DIGITS, "%" PRIu64, list[i].number);
    }
    return true;
}

/* Adds items by a writer and with a source that were both entered. Returns what writer_add_unlike does. */
static PyObject *add_items(struct writer_object *object, const struct idx_item *list, const struct sets *sets,
                           const struct idx_resembling_options *options, struct source *source) {
    struct idx_resembling_lists lists;
    struct idx_error error;
    struct idx_kept_sets *kept = source->kept == NULL ? NULL : source->kept->kept;
    source->thread = PyEval_SaveThread();
    enum idx_status status =
        idx_writer_add_unlike(object->writer, kept, list, sets->list, sets->counts.count, options, &lists, &error);
    PyEval_RestoreThread(source->thread);
    return check_found(status, &error, source) ? make_answer(&lists, sets, object->id_type) : NULL;
}

/* Adds sets with as many IDs. Returns what writer_add_unlike does. */
static PyObject *add_sets(struct writer_object *object, const struct sets *sets, PyObject *ids,
                          const struct idx_resembling_options *options, struct source *source) {
    PyObject *answer = NULL;
    struct items items;
    char *digits = NULL;
    if (!items_take_ids(ids, object->id_type, &items)) return NULL;
    if (items.count != sets->counts.count) {
        PyErr_Format(PyExc_ValueError, "%zu texts and %zu ids: give as many", sets->counts.count, items.count);
        items_release(&items);
        return NULL;
    }
    struct idx_item *list = items_make_list(&items);
    if (list != NULL && name_items(&items, list, &digits) && writer_enter(object)) {
        if (source_enter(source)) answer = add_items(object, list, sets, options, source);
        source_leave(source);
        object->busy = false;
    }
    free(digits);
    items_release(&items);
    return answer;
}

/* Takes (hashes, counts, ids, options). Returns (added bool[n], Resembling, documents not read, sets not known). */
PyObject *writer_add_unlike(PyObject *self, PyObject *arguments) {
    struct idx_resembling_options options;
    struct source source;
    struct sets sets;
    PyObject *hashes, *counts, *ids, *given;
    if (!PyArg_ParseTuple(arguments, "OOOO", &hashes, &counts, &ids, &given) ||
        !options_take(given, &options, &source) || !sets_take(hashes, counts, &sets))
        return NULL;
    PyObject *answer = add_sets((struct writer_object *)self, &sets, ids, &options, &source);
    sets_release(&sets);
    return answer;
}

/* ---- Functions of the module ---- */

/* Takes (threshold). Returns how many values of a sketch are enough for it. */
PyObject *core_sketch_values(PyObject *module, PyObject *given) {
    long long threshold = PyLong_AsLongLong(given);
    if ((threshold == -1 && PyErr_Occurred()) || !check_range("threshold", threshold, 1, IDX_DECIMAL_WEIGHT_ONE))
        return NULL;
    return PyLong_FromUnsignedLong(idx_sketch_values(threshold));
}
