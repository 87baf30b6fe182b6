/* functions.c: the functions that merge, compact and verify indexes, plan them, and list their masks. */
#include "libidx/python/core.h"

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <idx_planning.h>

/* ---- Merging and compacting ---- */

/* Returns the paths of a sequence, as an array for the caller to free. *keeps is a list of the bytes that they point
 * to, which the caller releases afterwards. Returns NULL with an exception. */
static const char **take_paths(PyObject *paths, PyObject **keeps, Py_ssize_t *count) {
    PyObject *list = PySequence_List(paths);
    if (list == NULL) return NULL;
    *keeps = list;
    *count = PyList_Size(list);
    const char **texts = calloc((size_t)*count + 1, sizeof *texts);
    if (texts == NULL) PyErr_NoMemory();
    bool ok = texts != NULL;
    for (Py_ssize_t i = 0; i < *count && ok; i++) {
        PyObject *bytes;
        ok = path_take(PyList_GetItem(list, i), &bytes, &texts[i]) && PyList_SetItem(list, i, bytes) == 0;
    }
    if (ok) return texts;
    free(texts);
    Py_DECREF(list);
    return NULL;
}

/* Takes (path, inputs, threads, replace, memory, progress). Returns a summary. */
PyObject *core_merge(PyObject *module, PyObject *arguments) {
    struct idx_merge_options options = IDX_MERGE_OPTIONS_INIT;
    struct watch watch = {Py_None, false};
    struct idx_build_summary summary;
    struct idx_error error;
    PyObject *path, *inputs, *path_bytes, *input_bytes;
    const char *path_text;
    struct natural memory = {"memory", UINT64_MAX, 0};
    Py_ssize_t count;
    int replace;
    if (!PyArg_ParseTuple(arguments, "OOIpO&O", &path, &inputs, &options.threads, &replace, natural_take, &memory,
                          &watch.progress) ||
        !path_take(path, &path_bytes, &path_text))
        return NULL;
    const char **texts = take_paths(inputs, &input_bytes, &count);
    if (texts == NULL) {
        Py_DECREF(path_bytes);
        return NULL;
    }
    options.replace = replace;
    options.memory_bytes = memory.value;
    options.progress = watch_visit;
    options.context = &watch;
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status = idx_merge(path_text, texts, (size_t)count, &options, &summary, &error);
    PyEval_RestoreThread(thread);
    free(texts);
    Py_DECREF(input_bytes);
    Py_DECREF(path_bytes);
    return check_call(status, &error, &watch) ? summary_new(&summary) : NULL;
}

/* Takes (path, all, max_segments, growth, threads, memory, tmpdir, progress). Returns CompactSummary's items. */
PyObject *core_compact(PyObject *module, PyObject *arguments) {
    struct idx_compact_options options = IDX_COMPACT_OPTIONS_INIT;
    struct watch watch = {Py_None, false};
    struct idx_compact_summary made;
    struct idx_error error;
    PyObject *path, *folder, *path_bytes, *folder_bytes = NULL;
    const char *path_text;
    struct natural memory = {"memory", UINT64_MAX, 0};
    int all;
    if (!PyArg_ParseTuple(arguments, "OpIIIO&OO", &path, &all, &options.max_segments, &options.growth, &options.threads,
                          natural_take, &memory, &folder, &watch.progress) ||
        !path_take(path, &path_bytes, &path_text))
        return NULL;
    if (!folder_take(folder, &folder_bytes, &options.temporary_folder)) {
        Py_DECREF(path_bytes);
        return NULL;
    }
    options.all = all;
    options.memory_bytes = memory.value;
    options.progress = watch_visit;
    options.context = &watch;
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status = idx_compact(path_text, &options, &made, &error);
    PyEval_RestoreThread(thread);
    Py_DECREF(path_bytes);
    Py_XDECREF(folder_bytes);
    if (!check_call(status, &error, &watch)) return NULL;
    return Py_BuildValue("(NnnKKKKn)", PyBool_FromLong(made.changed), (Py_ssize_t)made.segments,
                         (Py_ssize_t)made.merged, (unsigned long long)made.records, (unsigned long long)made.documents,
                         (unsigned long long)made.fingerprints, (unsigned long long)made.removals,
                         (Py_ssize_t)made.leftovers);
}

/* ---- Verifying ---- */

struct verification {
    PyObject *files; /* a list of (file, status, sentence or None) */
    bool failed;     /* an exception is set */
};

/* The idx_verify_visitor of core_verify: appends what was found of a file to the list. Takes the GIL for that. */
static void note_file(void *context, const char *file, enum idx_status status, const char *sentence) {
    struct verification *verification = context;
    if (verification->failed) return;
    PyGILState_STATE state = PyGILState_Ensure();
    /* The sentence names the file, whose path may not be UTF-8. */
    PyObject *said = status == IDX_OK ? Py_NewRef(Py_None)
                                      : PyUnicode_DecodeUTF8(sentence, (Py_ssize_t)strlen(sentence), "surrogateescape");
    PyObject *note = Py_BuildValue("(NiN)", PyUnicode_DecodeFSDefault(file), (int)status, said);
    verification->failed = note == NULL || PyList_Append(verification->files, note) < 0;
    Py_XDECREF(note);
    PyGILState_Release(state);
}

/* Returns whether idx_verify could open the index: it found nothing, or damage (a status of 300 to 399). */
static bool is_finding(enum idx_status status) { return status == IDX_OK || (status >= 300 && status < 400); }

/* Takes (path). Returns a list of (file, status, sentence or None). */
PyObject *core_verify(PyObject *module, PyObject *arguments) {
    struct verification verification = {NULL, false};
    struct idx_error error;
    PyObject *path, *bytes;
    const char *text;
    if (!PyArg_ParseTuple(arguments, "O", &path) || !path_take(path, &bytes, &text)) return NULL;
    verification.files = PyList_New(0);
    if (verification.files == NULL) {
        Py_DECREF(bytes);
        return NULL;
    }
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status = idx_verify(text, note_file, &verification, &error);
    PyEval_RestoreThread(thread);
    Py_DECREF(bytes);
    if (!verification.failed && is_finding(status)) return verification.files;
    Py_DECREF(verification.files);
    if (!verification.failed) raise_error(&error);
    return NULL;
}

/* ---- Planning ---- */

/* Returns a list of plans, each a tuple, as libidx.Plan takes it. */
static PyObject *list_plans(const struct idx_plan *plans, size_t count) {
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; i < count && list != NULL; i++) {
        const struct idx_plan *p = &plans[i];
        PyObject *plan =
            Py_BuildValue("(snIIddddddNdd)", p->scheme, (Py_ssize_t)p->tables, p->min_prefix, p->max_prefix, p->probes,
                          p->candidates, p->blocks, p->nanoseconds, p->table_bytes, p->resident_bytes,
                          PyBool_FromLong(p->chosen), p->single_nanoseconds, p->pages);
        if (plan == NULL || PyList_SetItem(list, (Py_ssize_t)i, plan) < 0) Py_CLEAR(list);
    }
    return list;
}

/* How many numbers a calibration has: all members after `size` are doubles, and a tuple has them in their order. */
enum { CALIBRATION_NUMBERS = (sizeof(struct idx_calibration) - sizeof(size_t)) / sizeof(double) };

/* Sets a calibration to the numbers of a tuple, as core_calibrate returns it. */
static bool read_calibration(PyObject *given, struct idx_calibration *calibration) {
    double numbers[CALIBRATION_NUMBERS];
    if (PyTuple_Size(given) != CALIBRATION_NUMBERS) {
        if (!PyErr_Occurred()) PyErr_Format(PyExc_ValueError, "a calibration has %d numbers", CALIBRATION_NUMBERS);
        return false;
    }
    for (Py_ssize_t i = 0; i < CALIBRATION_NUMBERS; i++) {
        numbers[i] = PyFloat_AsDouble(PyTuple_GetItem(given, i));
        if (numbers[i] == -1 && PyErr_Occurred()) return false;
    }
    memcpy((char *)calibration + offsetof(struct idx_calibration, table), numbers, sizeof numbers);
    return true;
}

/* Takes (folder or None). Returns the numbers of the calibration that was measured there, a tuple. */
PyObject *core_calibrate(PyObject *module, PyObject *arguments) {
    struct idx_calibration calibration = IDX_CALIBRATION_INIT;
    struct idx_error error;
    double numbers[CALIBRATION_NUMBERS];
    PyObject *folder, *path = NULL;
    const char *text = NULL;
    if (!PyArg_ParseTuple(arguments, "O", &folder)) return NULL;
    if (folder != Py_None && !path_take(folder, &path, &text)) return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status = idx_calibrate(&calibration, text, &error);
    PyEval_RestoreThread(thread);
    Py_XDECREF(path);
    if (!check_call(status, &error, NULL)) return NULL;
    memcpy(numbers, (char *)&calibration + offsetof(struct idx_calibration, table), sizeof numbers);
    PyObject *tuple = PyTuple_New(CALIBRATION_NUMBERS);
    for (Py_ssize_t i = 0; i < CALIBRATION_NUMBERS && tuple != NULL; i++) {
        PyObject *number = PyFloat_FromDouble(numbers[i]);
        if (number == NULL || PyTuple_SetItem(tuple, i, number) < 0) Py_CLEAR(tuple);
    }
    return tuple;
}

enum { MOST_PLANS = 64 };

/* Makes plans of all schemes worth considering, or of `scheme` alone. *count may exceed the MOST_PLANS in `plans`. */
static enum idx_status make_plans(const struct idx_plan_options *options, const char *scheme, struct idx_plan *plans,
                                  size_t *count, struct idx_error *error) {
    struct idx_scheme parsed;
    if (scheme == NULL) return idx_plan(options, plans, MOST_PLANS, count, error);
    *count = 1;
    enum idx_status status = idx_scheme_parse(&parsed, scheme, options->bits, options->k, options->count, error);
    return status == IDX_OK ? idx_plan_scheme(options, &parsed, plans, error) : status;
}

/* Takes (count, bits, k, block_size, max_bytes, scheme or None, residence, calibration or None). Returns plans. */
PyObject *core_plan(PyObject *module, PyObject *arguments) {
    struct idx_plan_options options = IDX_PLAN_OPTIONS_INIT;
    struct idx_calibration calibration = IDX_CALIBRATION_INIT;
    struct idx_error error;
    struct natural max_bytes = {"max_bytes_per_fingerprint", UINT_MAX, 0};
    PyObject *documents, *residence, *numbers;
    const char *scheme;
    size_t count = 0;
    if (!PyArg_ParseTuple(arguments, "OIIIO&zUO", &documents, &options.bits, &options.k, &options.block_size,
                          natural_take, &max_bytes, &scheme, &residence, &numbers))
        return NULL;
    options.max_bytes_per_fingerprint = (unsigned)max_bytes.value;
    if (!number_take(documents, "count", &options.count) || !residence_take(residence, &options.residence)) return NULL;
    if (numbers != Py_None && !read_calibration(numbers, &calibration)) return NULL;
    if (numbers != Py_None) options.calibration = &calibration;
    struct idx_plan *plans = malloc(MOST_PLANS * sizeof *plans);
    if (plans == NULL) return PyErr_NoMemory();
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status = make_plans(&options, scheme, plans, &count, &error);
    PyEval_RestoreThread(thread);
    if (count > MOST_PLANS) count = MOST_PLANS;
    PyObject *list = check_call(status, &error, NULL) ? list_plans(plans, count) : NULL;
    free(plans);
    return list;
}

/* Takes (count, bits, k). Returns (bytes, opening_seconds, nanoseconds). */
PyObject *core_plan_unpacked(PyObject *module, PyObject *arguments) {
    struct idx_unpacked_plan plan;
    struct idx_error error;
    PyObject *given;
    uint64_t count;
    unsigned bits, k;
    if (!PyArg_ParseTuple(arguments, "OII", &given, &bits, &k) || !number_take(given, "count", &count)) return NULL;
    if (!check_call(idx_plan_unpacked(count, bits, k, &plan, &error), &error, NULL)) return NULL;
    return Py_BuildValue("(ddd)", plan.bytes, plan.opening_seconds, plan.nanoseconds);
}

/* Takes (scheme, bits, k). Returns [(mask, radius)], one for each table. */
PyObject *core_scheme(PyObject *module, PyObject *arguments) {
    struct idx_scheme scheme;
    struct idx_error error;
    unsigned bits, k;
    const char *text;
    if (!PyArg_ParseTuple(arguments, "sII", &text, &bits, &k)) return NULL;
    if (!check_call(idx_scheme_parse(&scheme, text, bits, k, 0, &error), &error, NULL)) return NULL;
    PyObject *list = PyList_New((Py_ssize_t)scheme.table_count);
    for (size_t i = 0; i < scheme.table_count && list != NULL; i++) {
        PyObject *table = Py_BuildValue("(KI)", (unsigned long long)scheme.tables[i].mask, scheme.tables[i].radius);
        if (table == NULL || PyList_SetItem(list, (Py_ssize_t)i, table) < 0) Py_CLEAR(list);
    }
    return list;
}
