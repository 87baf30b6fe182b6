/* sets.c: the type Sets: sets of texts' shingles, which of these to keep, and all pairs that resemble each other. */
#include "libidx/python/text.h"

#include <stdlib.h>

struct sets_object {
    struct handle handle; /* of a struct idx_sets */
    struct idx_text_shingle_options options;
    struct hashes shingles;      /* of the text that is being added */
    size_t text_count;           /* how many texts were added */
    size_t compared_count;       /* how many of them have shingles */
    struct idx_needles *needles; /* what is looked for in texts; NULL: nothing yet */
    struct idx_needle_finder *finder;
};

/* Closes sets, as struct handle_kind has it: first the finder, which uses the needles, then these, then all else. */
static void close_sets(PyObject *self, void *sets) {
    struct sets_object *object = (struct sets_object *)self;
    idx_needle_finder_close(object->finder);
    idx_needles_close(object->needles);
    idx_sets_close(sets);
    free(object->shingles.items);
}

/* Takes (width, unit, call). Returns Sets without texts, whose shingles will have `width` words or characters, as
 * `unit` says. */
static PyObject *sets_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    static const struct handle_kind kind = {"Sets", "is closed", close_sets};
    struct idx_sets_options options = IDX_SETS_OPTIONS_INIT;
    struct idx_sets *sets = NULL;
    struct call opening;
    long long width;
    const char *unit;
    if (!PyArg_ParseTuple(arguments, "LsO&", &width, &unit, parse_call, &opening)) return NULL;
    struct sets_object *object = handle_new(type, &kind, &opening);
    if (object == NULL) return NULL;
    bool ok = parse_shingle_options(&object->options, width, unit);
    if (ok) {
        struct call *call = &object->handle.call;
        object->options.in_text_order = true;
        SET_OPTIONS(options, *call);
        options.temporary_folder = call->folder.text;
        ok = call_begin(call) && call_end(call, idx_sets_open(&sets, &options, &call->error));
    }
    return handle_set_opened(object, sets, ok);
}

/* ---- Adding ---- */

/* Adds the set of the `count` hashes from hashes[begin] on, which may repeat; `hashes` may be NULL for an empty set.
 * Called without the GIL, as all functions here that return a status. */
static enum idx_status add_set(struct sets_object *object, const uint64_t *hashes, size_t begin, size_t count) {
    static const uint64_t no_hashes = 0; /* idx_sets_add needs a pointer even for an empty set */
    enum idx_status status = idx_sets_add(object->handle.opened, count == 0 ? &no_hashes : hashes + begin, count,
                                          &object->handle.call.error);
    if (status != IDX_OK) return status;
    object->text_count++;
    if (count > 0) object->compared_count++;
    return IDX_OK;
}

/* Adds the set of shingles of each text. marks->items may be NULL; otherwise the set of text i is empty if
 * marks->items[i] is not 0. If a signal's handler raised, it ends early with IDX_OK, and call_end fails. */
static enum idx_status add_texts(struct sets_object *object, const struct strings *texts, const struct array *marks) {
    struct hashes *shingles = &object->shingles;
    struct call *call = &object->handle.call;
    enum idx_status status = IDX_OK;
    for (size_t i = 0; i < texts->count && status == IDX_OK && call_check_signals(call); i++) {
        const size_t length = marks->items != NULL && marks->items[i] != 0 ? 0 : texts->lengths[i];
        status = make_shingle_hashes(shingles, texts->items[i], length, &object->options, call);
        if (status == IDX_OK) status = add_set(object, shingles->items, 0, shingles->count);
    }
    return status;
}

/* Takes (texts, marks uint64[n] or None), and adds the texts. Texts whose marks are not 0 count as empty. Returns the
 * number of these n texts. */
static PyObject *sets_add(PyObject *self, PyObject *arguments) {
    PyObject *list, *marks_arg;
    struct array marks = {.items = NULL};
    struct strings texts;
    if (!PyArg_ParseTuple(arguments, "OO", &list, &marks_arg) || !parse_strings(list, "texts", &texts)) return NULL;
    bool ok = marks_arg == Py_None || parse_array(marks_arg, "marks", &marks);
    if (ok && marks_arg != Py_None && marks.count != texts.count)
        ok = refuse(PyExc_ValueError, "%zu texts and %zu marks: give as many", texts.count, marks.count);
    const size_t count = texts.count;
    ok = ok && handle_begin(self) && handle_end(self, add_texts((struct sets_object *)self, &texts, &marks));
    array_release(&marks);
    strings_release(&texts);
    return ok ? PyLong_FromSize_t(count) : NULL;
}

/* Adds sets: set i has the next counts[i] hashes, for which check_hashes_suffice has found enough. */
static enum idx_status add_sets(struct sets_object *object, const struct array *hashes, const struct array *counts) {
    enum idx_status status = IDX_OK;
    size_t begin = 0;
    for (size_t i = 0; i < counts->count && status == IDX_OK; i++) {
        status = add_set(object, hashes->items, begin, (size_t)counts->items[i]);
        begin += (size_t)counts->items[i];
    }
    return status;
}

/* Returns whether there are at least as many hashes as the sum of the counts; otherwise raises ValueError. */
static bool check_hashes_suffice(const struct array *hashes, const struct array *counts) {
    size_t left_count = hashes->count;
    for (size_t i = 0; i < counts->count; i++) {
        if (counts->items[i] > left_count) return refuse(PyExc_ValueError, "counts: they are above the hashes");
        left_count -= (size_t)counts->items[i];
    }
    return true;
}

/* Takes (hashes, counts), and adds sets: set i has the next counts[i] hashes. Returns how many sets it added. */
static PyObject *sets_add_sets(PyObject *self, PyObject *arguments) {
    PyObject *hashes_arg, *counts_arg;
    struct array hashes, counts = {.items = NULL};
    if (!PyArg_ParseTuple(arguments, "OO", &hashes_arg, &counts_arg) || !parse_array(hashes_arg, "hashes", &hashes))
        return NULL;
    bool ok = parse_array(counts_arg, "counts", &counts) && check_hashes_suffice(&hashes, &counts) &&
              handle_begin(self) && handle_end(self, add_sets((struct sets_object *)self, &hashes, &counts));
    const size_t count = counts.count;
    array_release(&counts);
    array_release(&hashes);
    return ok ? PyLong_FromSize_t(count) : NULL;
}

/* ---- Keeping ---- */

/* Decides which texts to keep, and sets the columns of sets_keep for each text: which text it joins, how much it
 * resembles that one, and if there is a third column, the share of its own shingles that are in that one. Errors:
 * IDX_OUT_OF_MEMORY, and those of idx_sets_keep. */
static enum idx_status keep_and_set_columns(struct sets_object *object, const struct idx_keep_options *options,
                                            struct columns *columns) {
    struct call *call = &object->handle.call;
    uint64_t *kept_numbers = columns->list[0].items;
    double *resemblances = columns->list[1].items, *shares = columns->list[2].items;
    struct idx_kept_set *results = malloc(object->text_count * sizeof *results + 1);
    if (results == NULL) return call_fail_memory(call);
    enum idx_status status = idx_sets_keep(object->handle.opened, options, results, NULL, &call->error);
    for (size_t i = 0; i < object->text_count && status == IDX_OK; i++) {
        const bool is_kept = results[i].kept == i;
        kept_numbers[i] = results[i].kept;
        resemblances[i] = is_kept ? 1 : (double)results[i].shared / (double)results[i].total;
        if (shares == NULL) continue;
        /* Both sets together have `total` hashes, so size = total + shared - (the size of the kept set), and the
         * `total` of a kept set is its size. */
        const uint32_t size = results[i].total + results[i].shared - results[results[i].kept].total;
        shares[i] = is_kept ? 1 : (double)results[i].shared / (double)size;
    }
    free(results);
    return status;
}

/* Converts thresholds, from 0 to 1, to units of 1/IDX_THRESHOLD_ONE: of resemblance, and of the share of a text's
 * shingles that the other one contains. One of them may be 0, for none; if both are, this fails as for a wrong
 * resemblance. Returns false with InvalidArgumentError set if a threshold is out of range. */
static bool convert_thresholds(double resemblance, double contained, int64_t *min_resemblance, int64_t *min_contained) {
    const bool by_containment = contained != 0, by_resemblance = resemblance != 0 || !by_containment;
    *min_contained = by_containment ? convert_to_threshold(contained) : 0;
    if (by_containment && *min_contained == 0) return false;
    *min_resemblance = by_resemblance ? convert_to_threshold(resemblance) : 0;
    return !by_resemblance || *min_resemblance != 0;
}

/* Takes (resemblance or 0, known, preferences or None, copies[, contained, members]): the last five are options of
 * idx_sets_keep. Returns for each text the number of the text that it joins, uint64[n], how much it resembles that one,
 * float64[n], and with `contained` the share of its own shingles in that one, float64[n]. Texts of fewer than `members`
 * shingles are not contained in others. */
static PyObject *sets_keep(PyObject *self, PyObject *arguments) {
    struct sets_object *object = (struct sets_object *)self;
    struct idx_keep_options options = IDX_KEEP_OPTIONS_INIT;
    PyObject *preferences, *answer = NULL;
    struct array values = {.items = NULL};
    struct columns columns;
    struct natural known = {"known", UINT64_MAX, 0}, members = {"members", UINT64_MAX, 0};
    double resemblance, contained = 0;
    int copies;
    if (!PyArg_ParseTuple(arguments, "dO&Op|dO&", &resemblance, parse_natural, &known, &preferences, &copies,
                          &contained, parse_natural, &members))
        return NULL;
    if (!convert_thresholds(resemblance, contained, &options.threshold, &options.contained)) return NULL;
    options.known = known.value;
    options.contained_size = members.value;
    options.prefer_copies = copies;
    if (preferences != Py_None && !parse_array(preferences, "preferences", &values)) return NULL;
    if (preferences != Py_None && values.count != object->text_count) {
        PyErr_Format(PyExc_ValueError, "%zu texts and %zu preferences: give as many", object->text_count, values.count);
    } else if (columns_begin_sized(&columns, options.contained > 0 ? "Qdd" : "Qd", object->text_count)) {
        options.preferences = (const int64_t *)values.items;
        answer = columns_end(&columns, handle_begin(object) &&
                                           handle_end(object, keep_and_set_columns(object, &options, &columns)));
    }
    array_release(&values);
    return answer;
}

/* Returns how many of the texts have shingles. */
static PyObject *sets_compared(PyObject *self, PyObject *unused) {
    return PyLong_FromSize_t(((struct sets_object *)self)->compared_count);
}

/* Takes (most), and removes the shingles that more than `most` texts have from all texts. Returns how many different
 * shingles it removed. */
static PyObject *sets_ignore_common(PyObject *self, PyObject *most_arg) {
    struct handle *handle = (struct handle *)self;
    uint64_t max_texts, ignored_count;
    bool ok =
        parse_number(most_arg, "most", &max_texts) && handle_begin(handle) &&
        handle_end(handle, idx_sets_ignore_common(handle->opened, max_texts, &ignored_count, &handle->call.error));
    return ok ? PyLong_FromUnsignedLongLong(ignored_count) : NULL;
}

/* ---- What contains a text ---- */

/* Takes (contained, members). From then on, `find` looks for the texts that were added so far: a text contains one of
 * them if it has the share `contained` of its shingles, or more. Returns how many are not looked for, since they have
 * fewer than `members` shingles. May be called once. */
static PyObject *sets_seek(PyObject *self, PyObject *arguments) {
    struct sets_object *object = (struct sets_object *)self;
    struct idx_needles_options options = IDX_NEEDLES_OPTIONS_INIT;
    struct natural members = {"members", UINT64_MAX, 0};
    struct call *call = &object->handle.call;
    uint64_t omitted_count;
    double contained;
    if (!PyArg_ParseTuple(arguments, "dO&", &contained, parse_natural, &members)) return NULL;
    options.contained = convert_to_threshold(contained);
    options.contained_size = members.value;
    if (options.contained == 0) return NULL;
    if (object->needles != NULL) return raise_status(IDX_INVALID_ARGUMENT, "these sets are looked for already");
    if (!handle_begin(object)) return NULL;
    enum idx_status status =
        idx_needles_open(&object->needles, object->handle.opened, &options, &omitted_count, &call->error);
    if (status == IDX_OK) status = idx_needle_finder_open(&object->finder, object->needles, &call->error);
    return handle_end(object, status) ? PyLong_FromUnsignedLongLong(omitted_count) : NULL;
}

/* Finds among object->needles the text of whose shingles `text` has the largest share, if it contains any. Sets *number
 * to the number of that one, *share to the share, and *resemblance to how much the two resemble each other. If it
 * contains none, sets them to -1, 1 and 1. Errors: those of make_shingle_hashes and idx_needles_find. */
static enum idx_status find_contained(struct sets_object *object, const char *text, size_t length, int64_t *number,
                                      double *share, double *resemblance) {
    struct idx_text_shingle_options distinct_options = object->options;
    struct call *call = &object->handle.call;
    struct hashes *shingles = &object->shingles;
    const struct idx_needle_match *matches;
    size_t count;
    *number = -1;
    *share = *resemblance = 1;
    enum idx_status status = make_shingle_hashes(shingles, text, length, &object->options, call);
    if (status == IDX_OK)
        status = idx_needles_find(object->finder, shingles->items, shingles->count, &matches, &count, &call->error);
    if (status != IDX_OK || count == 0) return status;
    *number = (int64_t)matches->needle;
    *share = (double)matches->shared / (double)matches->size;
    /* The resemblance needs the number of different shingles, so these are made once more, without repetitions. */
    distinct_options.in_text_order = false;
    status = make_shingle_hashes(shingles, text, length, &distinct_options, call);
    *resemblance = (double)matches->shared / (double)(shingles->count + matches->size - matches->shared);
    return status;
}

/* Sets the columns of sets_find for each text. If a signal's handler raised, it ends early with IDX_OK, and call_end
 * fails. */
static enum idx_status find_in_each(struct sets_object *object, const struct strings *texts, struct columns *columns) {
    int64_t *numbers = columns->list[0].items;
    double *shares = columns->list[1].items, *resemblances = columns->list[2].items;
    enum idx_status status = IDX_OK;
    for (size_t i = 0; i < texts->count && status == IDX_OK && call_check_signals(&object->handle.call); i++)
        status = find_contained(object, texts->items[i], texts->lengths[i], &numbers[i], &shares[i], &resemblances[i]);
    return status;
}

/* Takes (texts). Returns for each what find_contained sets: numbers int64[n], shares float64[n], and resemblances
 * float64[n]. */
static PyObject *sets_find(PyObject *self, PyObject *texts_arg) {
    struct sets_object *object = (struct sets_object *)self;
    struct columns columns;
    struct strings texts;
    if (object->finder == NULL) return raise_status(IDX_INVALID_ARGUMENT, "nothing is looked for yet");
    if (!parse_strings(texts_arg, "texts", &texts)) return NULL;
    PyObject *answer = NULL;
    if (columns_begin_sized(&columns, "qdd", texts.count))
        answer =
            columns_end(&columns, handle_begin(object) && handle_end(object, find_in_each(object, &texts, &columns)));
    strings_release(&texts);
    return answer;
}

/* ---- Pairs ---- */

/* This is the idx_set_pair_visitor that appends a pair to the columns of sets_pairs, which are `context`. Called
 * without the GIL. Returns false if memory runs out. */
static bool append_pair(void *context, const struct idx_set_pair *pair) {
    struct columns *columns = context;
    const bool has_shares = columns->list[3].kind != 0;
    const uint32_t smaller_size = pair->first_size < pair->second_size ? pair->first_size : pair->second_size;
    int64_t *first = columns_add(columns, 0, 1), *second = columns_add(columns, 1, 1);
    double *resemblance = columns_add(columns, 2, 1), *share = has_shares ? columns_add(columns, 3, 1) : NULL;
    if (columns->failed) return false;
    *first = (int64_t)pair->first;
    *second = (int64_t)pair->second;
    *resemblance = (double)pair->shared / (double)pair->total;
    if (share != NULL) *share = (double)pair->shared / (double)smaller_size;
    return true;
}

/* Takes (resemblance or 0[, contained, members]). Returns for each pair the numbers of its texts, two columns int64[m],
 * how much they resemble each other, float64[m], and with `contained` the share of the shingles of the smaller text
 * that are in the other one, float64[m]. Texts of fewer than `members` shingles are not contained in others. */
static PyObject *sets_pairs(PyObject *self, PyObject *arguments) {
    struct handle *handle = (struct handle *)self;
    struct idx_set_pair_options options = IDX_SET_PAIR_OPTIONS_INIT;
    struct columns columns;
    double resemblance, contained = 0;
    struct natural members = {"members", UINT64_MAX, 0};
    if (!PyArg_ParseTuple(arguments, "d|dO&", &resemblance, &contained, parse_natural, &members)) return NULL;
    options.contained_size = members.value;
    if (!convert_thresholds(resemblance, contained, &options.threshold, &options.contained) ||
        !columns_begin_sized(&columns, options.contained > 0 ? "qqdd" : "qqd", 0))
        return NULL;
    bool ok = handle_begin(handle) && handle_end(handle, idx_sets_visit_pairs(handle->opened, &options, append_pair,
                                                                              &columns, NULL, &handle->call.error));
    return columns_end(&columns, ok);
}

static PyMethodDef sets_methods[] = {
    {"add", sets_add, METH_VARARGS, "add($self, texts, marks, /)\n--\n\nAdd the shingles of texts; returns how many."},
    {"add_sets", sets_add_sets, METH_VARARGS, NULL},
    {"keep", sets_keep, METH_VARARGS, NULL},
    {"compared", sets_compared, METH_NOARGS, NULL},
    {"ignore_common", sets_ignore_common, METH_O, NULL},
    {"seek", sets_seek, METH_VARARGS, NULL},
    {"find", sets_find, METH_O, NULL},
    {"pairs", sets_pairs, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

bool add_sets_type(PyObject *module) {
    static PyType_Slot slots[] = {
        {Py_tp_new, sets_new},
        {Py_tp_dealloc, handle_free},
        {Py_tp_methods, sets_methods},
        {Py_tp_doc, "The shingles of texts, which libidx.dedup and libidx.text_pairs compare."},
        {0, NULL},
    };
    return add_type(module, "libidx._text.Sets", sizeof(struct sets_object), 0, slots) != NULL;
}
