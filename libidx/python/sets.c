/* sets.c: the type Sets: sets of texts' shingles, which of these to keep, and all pairs that resemble each other. */
#include "libidx/python/text.h"

#include <stdlib.h>

struct sets_object {
    PyObject_HEAD struct idx_sets *sets;
    struct idx_text_shingle_options options;
    struct hashes shingles; /* of the text that is being added */
    struct watch watch;
    PyObject *progress;          /* which `watch` refers to */
    size_t count;                /* texts so far */
    size_t compared;             /* of these, those that have shingles */
    struct idx_needles *needles; /* what is looked for in texts; NULL: nothing yet */
    struct idx_needle_finder *finder;
    bool busy; /* a call is under way without the GIL */
};

/* Takes (width, unit, memory, threads, tmpdir, progress). */
static PyObject *sets_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    struct idx_text_shingle_options shingle_options;
    struct idx_sets_options options = IDX_SETS_OPTIONS_INIT;
    struct idx_error error;
    PyObject *folder, *progress, *bytes;
    struct natural memory = {"memory", UINT64_MAX, 0};
    long long width;
    const char *unit;
    int threads;
    if (!PyArg_ParseTuple(arguments, "LsO&iOO", &width, &unit, natural_take, &memory, &threads, &folder, &progress) ||
        !shingle_options_take(&shingle_options, width, unit) || !check_range("threads", threads, 1, IDX_MAX_THREADS) ||
        !folder_take(folder, &bytes, &options.temporary_folder))
        return NULL;
    shingle_options.in_text_order = true;
    struct sets_object *object = object_new(type);
    if (object == NULL) {
        Py_XDECREF(bytes);
        return NULL;
    }
    object->options = shingle_options;
    object->progress = Py_NewRef(progress);
    object->watch = (struct watch){progress, false};
    options.memory_bytes = memory.value;
    options.threads = (unsigned)threads;
    options.progress = watch_visit;
    options.context = &object->watch;
    bool opened = check_call(idx_sets_open(&object->sets, &options, &error), &error, NULL);
    Py_XDECREF(bytes);
    if (opened) return (PyObject *)object;
    Py_DECREF(object);
    return NULL;
}

static void sets_free(PyObject *self) {
    struct sets_object *object = (struct sets_object *)self;
    idx_needle_finder_close(object->finder);
    idx_needles_close(object->needles);
    idx_sets_close(object->sets);
    free(object->shingles.items);
    Py_XDECREF(object->progress);
    object_free(self);
}

/* Returns whether no other call is under way; else it raises. */
static bool check_idle(const struct sets_object *object) {
    return !object->busy ||
           raise_status(IDX_INVALID_ARGUMENT, "another thread is using these sets: one at a time") != NULL;
}

/* ---- Adding ---- */

/* Adds the shingles of texts, or none for those that are left out, unless `left_out` is NULL. Without the GIL. *status
 * is IDX_OK before. Returns false where a signal's handler raised. */
static bool add_each(struct sets_object *object, const struct strings *texts, const struct array *left_out,
                     enum idx_status *status, struct idx_error *error, PyThreadState **thread) {
    struct hashes *shingles = &object->shingles;
    int64_t last = 0;
    bool ok = true;
    for (size_t i = 0; i < texts->count && ok && *status == IDX_OK; i++) {
        const size_t length = left_out != NULL && left_out->items[i] != 0 ? 0 : texts->lengths[i];
        *status = hashes_make(shingles, texts->items[i], length, &object->options, error);
        if (*status == IDX_OK) *status = idx_sets_add(object->sets, shingles->items, shingles->count, error);
        object->count += *status == IDX_OK;
        object->compared += *status == IDX_OK && shingles->count > 0;
        ok = check_signals(thread, &last);
    }
    return ok;
}

/* Adds the shingles of texts. Returns how many texts there are. */
static PyObject *add_texts(struct sets_object *object, const struct strings *texts, const struct array *left_out) {
    struct idx_error error;
    enum idx_status status = IDX_OK;
    if (left_out != NULL && left_out->count != texts->count)
        return PyErr_Format(PyExc_ValueError, "%zu texts and %zu marks: give as many", texts->count, left_out->count);
    if (!check_idle(object)) return NULL;
    object->busy = true;
    PyThreadState *thread = PyEval_SaveThread();
    bool ok = add_each(object, texts, left_out, &status, &error, &thread);
    PyEval_RestoreThread(thread);
    object->busy = false;
    return ok && check_call(status, &error, NULL) ? PyLong_FromSize_t(texts->count) : NULL;
}

/* Takes (texts, marks uint64[n] or None). Texts whose marks are not 0 count as empty. Returns the number of texts. */
static PyObject *sets_add(PyObject *self, PyObject *arguments) {
    PyObject *texts, *marks, *answer = NULL;
    struct array left_out;
    struct strings given;
    if (!PyArg_ParseTuple(arguments, "OO", &texts, &marks) || !strings_take(texts, "texts", &given)) return NULL;
    bool marked = marks != Py_None && array_take(marks, "marks", &left_out);
    if (!PyErr_Occurred()) answer = add_texts((struct sets_object *)self, &given, marked ? &left_out : NULL);
    if (marked) array_release(&left_out);
    strings_release(&given);
    return answer;
}

/* Adds sets, each of as many of the next hashes as its count says, which is checked already. Without the GIL. */
static enum idx_status add_hashes(struct sets_object *object, const struct array *hashes, const struct array *counts,
                                  struct idx_error *error) {
    enum idx_status status = IDX_OK;
    size_t begin = 0;
    for (size_t i = 0; i < counts->count && status == IDX_OK; i++) {
        static const uint64_t no_hashes = 0; /* an empty set also has a place */
        const size_t count = (size_t)counts->items[i];
        status = idx_sets_add(object->sets, count == 0 ? &no_hashes : hashes->items + begin, count, error);
        object->count += status == IDX_OK;
        object->compared += status == IDX_OK && count > 0;
        begin += count;
    }
    return status;
}

/* Checks that there are as many hashes as the counts say, and adds the sets. Returns how many there are. */
static PyObject *add_sets(struct sets_object *object, const struct array *hashes, const struct array *counts) {
    struct idx_error error;
    size_t left = hashes->count;
    for (size_t i = 0; i < counts->count; i++) {
        if (counts->items[i] > left) return PyErr_Format(PyExc_ValueError, "counts: they are above the hashes");
        left -= (size_t)counts->items[i];
    }
    if (!check_idle(object)) return NULL;
    object->busy = true;
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status = add_hashes(object, hashes, counts, &error);
    PyEval_RestoreThread(thread);
    object->busy = false;
    return check_call(status, &error, NULL) ? PyLong_FromSize_t(counts->count) : NULL;
}

/* Takes (hashes, counts): each set is as many of the next hashes as its count says. Returns how many sets there are. */
static PyObject *sets_add_sets(PyObject *self, PyObject *arguments) {
    PyObject *given, *sizes, *answer = NULL;
    struct array hashes, counts;
    if (!PyArg_ParseTuple(arguments, "OO", &given, &sizes) || !array_take(given, "hashes", &hashes)) return NULL;
    if (array_take(sizes, "counts", &counts)) {
        answer = add_sets((struct sets_object *)self, &hashes, &counts);
        array_release(&counts);
    }
    array_release(&hashes);
    return answer;
}

/* ---- Keeping ---- */

/* Fills the columns of the result, without the GIL: which text each one joins, how much it resembles that one, and if
 * contained texts are looked for, the share of its own shingles that are in that one. */
static enum idx_status keep_into(struct sets_object *object, const struct idx_keep_options *options,
                                 struct columns *columns, struct idx_error *error) {
    uint64_t *kept = columns->list[0].items;
    double *resemblances = columns->list[1].items, *shares = columns->list[2].items;
    struct idx_kept_set *found = malloc(object->count * sizeof *found + 1);
    if (found == NULL) return fail_memory(error);
    enum idx_status status = idx_sets_keep(object->sets, options, found, NULL, error);
    for (size_t i = 0; i < object->count && status == IDX_OK; i++) {
        const bool is_kept = found[i].kept == i;
        kept[i] = found[i].kept;
        resemblances[i] = is_kept ? 1 : (double)found[i].shared / (double)found[i].total;
        if (shares == NULL) continue;
        /* total = size + the size of the kept one - shared, and of a kept one, `total` is its size */
        const uint32_t size = found[i].total + found[i].shared - found[found[i].kept].total;
        shares[i] = is_kept ? 1 : (double)found[i].shared / (double)size;
    }
    free(found);
    return status;
}

/* Finds which sets to keep. Returns the columns that sets_keep does. */
static PyObject *keep_sets(struct sets_object *object, const struct idx_keep_options *options) {
    struct columns columns;
    struct idx_error error;
    if (!columns_make(&columns, options->contained > 0 ? "Qdd" : "Qd", object->count)) return NULL;
    object->busy = true;
    object->watch.failed = false;
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status = keep_into(object, options, &columns, &error);
    PyEval_RestoreThread(thread);
    object->busy = false;
    return columns_end(&columns, check_call(status, &error, &object->watch));
}

/* Sets *threshold and *share to the thresholds of resemblance and of containment, in units of 1/IDX_THRESHOLD_ONE.
 * One of them may be 0, which is none. */
static bool take_thresholds(double resemblance, double contained, int64_t *threshold, int64_t *share) {
    const bool takes_share = contained != 0, takes_threshold = resemblance != 0 || !takes_share;
    *share = takes_share ? threshold_of(contained) : 0;
    if (takes_share && *share == 0) return false;
    *threshold = takes_threshold ? threshold_of(resemblance) : 0;
    return !takes_threshold || *threshold != 0;
}

/* Takes (resemblance or 0, known, preferences or None, copies[, contained, members]). Returns the row of the text that
 * each joins, uint64[n], how much it resembles that one, float64[n], and with `contained` the share of its own shingles
 * in that one, float64[n]. Texts of fewer than `members` shingles are not contained in others. */
static PyObject *sets_keep(PyObject *self, PyObject *arguments) {
    struct sets_object *object = (struct sets_object *)self;
    struct idx_keep_options options = IDX_KEEP_OPTIONS_INIT;
    PyObject *preferences, *answer = NULL;
    struct array given;
    struct natural known = {"known", UINT64_MAX, 0}, members = {"members", UINT64_MAX, 0};
    double resemblance, contained = 0;
    int copies;
    if (!PyArg_ParseTuple(arguments, "dO&Op|dO&", &resemblance, natural_take, &known, &preferences, &copies, &contained,
                          natural_take, &members))
        return NULL;
    if (!take_thresholds(resemblance, contained, &options.threshold, &options.contained)) return NULL;
    options.known = known.value;
    options.contained_size = members.value;
    bool ordered = preferences != Py_None && array_take(preferences, "preferences", &given);
    if (!PyErr_Occurred() && check_idle(object)) {
        options.preferences = ordered ? (const int64_t *)given.items : NULL;
        options.prefer_copies = copies;
        if (ordered && given.count != object->count)
            PyErr_Format(PyExc_ValueError, "%zu texts and %zu preferences: give as many", object->count, given.count);
        else
            answer = keep_sets(object, &options);
    }
    if (ordered) array_release(&given);
    return answer;
}

/* Returns how many of the texts have shingles. */
static PyObject *sets_compared(PyObject *self, PyObject *unused) {
    return PyLong_FromSize_t(((struct sets_object *)self)->compared);
}

/* Takes (most): ignores the shingles that more than so many texts have. Returns how many different ones these are. */
static PyObject *sets_ignore_common(PyObject *self, PyObject *given) {
    struct sets_object *object = (struct sets_object *)self;
    struct idx_error error;
    uint64_t most, ignored;
    if (!number_take(given, "most", &most) || !check_idle(object)) return NULL;
    object->busy = true;
    object->watch.failed = false;
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status = idx_sets_ignore_common(object->sets, most, &ignored, &error);
    PyEval_RestoreThread(thread);
    object->busy = false;
    return check_call(status, &error, &object->watch) ? PyLong_FromUnsignedLongLong(ignored) : NULL;
}

/* ---- What contains a text ---- */

/* Takes (contained, members): looks from now on for those of the texts so far of which another one has the share
 * `contained` of the shingles. Returns how many have fewer than `members` shingles, which are not looked for. */
static PyObject *sets_seek(PyObject *self, PyObject *arguments) {
    struct sets_object *object = (struct sets_object *)self;
    struct idx_needles_options options = IDX_NEEDLES_OPTIONS_INIT;
    struct natural members = {"members", UINT64_MAX, 0};
    struct idx_error error;
    uint64_t left_out;
    double contained;
    if (!PyArg_ParseTuple(arguments, "dO&", &contained, natural_take, &members) || !check_idle(object)) return NULL;
    options.contained = threshold_of(contained);
    options.contained_size = members.value;
    if (options.contained == 0) return NULL;
    if (object->needles != NULL) return raise_status(IDX_INVALID_ARGUMENT, "these sets are looked for already");
    object->busy = true;
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status = idx_needles_open(&object->needles, object->sets, &options, &left_out, &error);
    if (status == IDX_OK) status = idx_needle_finder_open(&object->finder, object->needles, &error);
    PyEval_RestoreThread(thread);
    object->busy = false;
    return check_call(status, &error, NULL) ? PyLong_FromUnsignedLongLong(left_out) : NULL;
}

/* Sets what a text contains, without the GIL: the number of the text that is looked for, or -1, the share of its
 * shingles, and how much both resemble each other; 1 and 1 where it contains none. */
static enum idx_status find_in(struct sets_object *object, const char *text, size_t length, int64_t *number,
                               double *share, double *resemblance, struct idx_error *error) {
    struct idx_text_shingle_options each_once = object->options;
    struct hashes *shingles = &object->shingles;
    const struct idx_needle_match *matches;
    size_t count;
    *number = -1;
    *share = *resemblance = 1;
    enum idx_status status = hashes_make(shingles, text, length, &object->options, error);
    if (status == IDX_OK)
        status = idx_needles_find(object->finder, shingles->items, shingles->count, &matches, &count, error);
    if (status != IDX_OK || count == 0) return status;
    *number = (int64_t)matches->needle;
    *share = (double)matches->shared / (double)matches->size;
    each_once.in_text_order = false;
    status = hashes_make(shingles, text, length, &each_once, error);
    *resemblance = (double)matches->shared / (double)(shingles->count + matches->size - matches->shared);
    return status;
}

/* Takes (texts). Returns columns of what each contains, as find_in sets it: int64[n], float64[n], float64[n]. */
static PyObject *find_texts(struct sets_object *object, const struct strings *texts) {
    struct columns columns;
    enum idx_status status = IDX_OK;
    struct idx_error error;
    int64_t last = 0;
    bool ok = true;
    if (!columns_make(&columns, "qdd", texts->count)) return NULL;
    int64_t *numbers = columns.list[0].items;
    double *shares = columns.list[1].items, *resemblances = columns.list[2].items;
    object->busy = true;
    PyThreadState *thread = PyEval_SaveThread();
    for (size_t i = 0; i < texts->count && ok && status == IDX_OK; i++) {
        status = find_in(object, texts->items[i], texts->lengths[i], &numbers[i], &shares[i], &resemblances[i], &error);
        ok = check_signals(&thread, &last);
    }
    PyEval_RestoreThread(thread);
    object->busy = false;
    return columns_end(&columns, ok && check_call(status, &error, NULL));
}

static PyObject *sets_find(PyObject *self, PyObject *given) {
    struct sets_object *object = (struct sets_object *)self;
    PyObject *answer = NULL;
    struct strings texts;
    if (!strings_take(given, "texts", &texts)) return NULL;
    if (check_idle(object))
        answer = object->finder != NULL ? find_texts(object, &texts)
                                        : raise_status(IDX_INVALID_ARGUMENT, "nothing is looked for yet");
    strings_release(&texts);
    return answer;
}

/* ---- Pairs ---- */

/* The idx_set_pair_visitor that appends a pair to the columns; there is a fourth column if contained texts are looked
 * for. Without the GIL. Returns false if memory runs out. */
static bool add_pair(void *context, const struct idx_set_pair *pair) {
    struct columns *columns = context;
    const bool of_contained = columns->list[3].kind != 0;
    const uint32_t smaller = pair->first_size < pair->second_size ? pair->first_size : pair->second_size;
    int64_t *first = columns_add(columns, 0, 1), *second = columns_add(columns, 1, 1);
    double *resemblance = columns_add(columns, 2, 1), *share = of_contained ? columns_add(columns, 3, 1) : NULL;
    if (columns->failed) return false;
    *first = (int64_t)pair->first;
    *second = (int64_t)pair->second;
    *resemblance = (double)pair->shared / (double)pair->total;
    if (share != NULL) *share = (double)pair->shared / (double)smaller;
    return true;
}

/* Finds the pairs of sets. Returns the columns that sets_pairs does. */
static PyObject *list_pairs(struct sets_object *object, const struct idx_set_pair_options *options) {
    struct columns columns;
    struct idx_error error;
    if (!columns_make(&columns, options->contained > 0 ? "qqdd" : "qqd", 0)) return NULL;
    object->busy = true;
    object->watch.failed = false;
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status = idx_sets_visit_pairs(object->sets, options, add_pair, &columns, NULL, &error);
    PyEval_RestoreThread(thread);
    object->busy = false;
    return columns_end(&columns, check_call(status, &error, &object->watch));
}

/* Takes (resemblance or 0[, contained, members]). Returns two columns of rows, int64[m], how much the texts of these
 * resemble each other, float64[m], and with `contained` the share of the shingles of the smaller one that are in the
 * other one, float64[m]. Texts of fewer than `members` shingles are not contained in others. */
static PyObject *sets_pairs(PyObject *self, PyObject *arguments) {
    struct sets_object *object = (struct sets_object *)self;
    struct idx_set_pair_options options = IDX_SET_PAIR_OPTIONS_INIT;
    double resemblance, contained = 0;
    struct natural members = {"members", UINT64_MAX, 0};
    if (!PyArg_ParseTuple(arguments, "d|dO&", &resemblance, &contained, natural_take, &members)) return NULL;
    options.contained_size = members.value;
    return take_thresholds(resemblance, contained, &options.threshold, &options.contained) && check_idle(object)
               ? list_pairs(object, &options)
               : NULL;
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

bool sets_init(PyObject *module) {
    static PyType_Slot slots[] = {
        {Py_tp_new, sets_new},
        {Py_tp_dealloc, sets_free},
        {Py_tp_methods, sets_methods},
        {Py_tp_doc, "The shingles of texts, which libidx.dedup and libidx.text_pairs compare."},
        {0, NULL},
    };
    return type_make(module, "libidx._text.Sets", sizeof(struct sets_object), 0, slots) != NULL;
}
