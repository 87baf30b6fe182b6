/* functions.c: the functions that merge, compact and verify indexes, plan them, and list their masks. */
#include "libidx/python/core.h"

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <idx_planning.h>

/* ---- Merging and compacting ---- */

/* Paths, as the file system takes them. */
struct paths {
    PyObject *list;     /* of bytes objects, which own the characters */
    const char **texts; /* of malloc */
    size_t count;
};

/* Frees the array, and releases the bytes of the paths. */
static void paths_release(struct paths *paths) {
    free(paths->texts);
    Py_DECREF(paths->list);
}

/* This is a converter of PyArg_ParseTuple, as parse_path is: reads a sequence of paths into a struct paths, which the
 * caller releases. If `object` is NULL, it releases the paths: PyArg_ParseTuple calls it so if a later argument is
 * wrong. */
static int parse_paths(PyObject *object, void *paths_out) {
    struct paths *paths = paths_out;
    if (object == NULL) {
        paths_release(paths);
        return 0;
    }
    paths->list = PySequence_List(object);
    if (paths->list == NULL) return 0;
    paths->count = (size_t)PyList_Size(paths->list);
    paths->texts = calloc(paths->count + 1, sizeof *paths->texts);
    bool ok = paths->texts != NULL || refuse_memory();
    for (size_t i = 0; i < paths->count && ok; i++) {
        struct path path; /* Its bytes take the place of the path in the list, which so owns them. */
        ok = parse_path(PyList_GetItem(paths->list, (Py_ssize_t)i), &path) &&
             PyList_SetItem(paths->list, (Py_ssize_t)i, path.bytes) == 0;
        if (ok) paths->texts[i] = path.text;
    }
    if (ok) return Py_CLEANUP_SUPPORTED;
    paths_release(paths);
    return 0;
}

/* Takes (path, inputs, replace, call), and merges the indexes at the paths `inputs`, a sequence, into one at `path`.
 * `replace` says whether it may replace an index there. Returns the tuple of make_summary_tuple. */
PyObject *core_merge(PyObject *module, PyObject *arguments) {
    struct idx_merge_options options = IDX_MERGE_OPTIONS_INIT;
    struct idx_build_summary summary;
    struct path path;
    struct paths inputs;
    struct call call;
    int replace;
    if (!PyArg_ParseTuple(arguments, "O&O&pO&", parse_path, &path, parse_paths, &inputs, &replace, parse_call, &call))
        return NULL;
    SET_OPTIONS(options, call);
    options.replace = replace;
    bool ok = call_begin(&call) &&
              call_end(&call, idx_merge(path.text, inputs.texts, inputs.count, &options, &summary, &call.error));
    call_release(&call);
    paths_release(&inputs);
    Py_DECREF(path.bytes);
    return ok ? make_summary_tuple(&summary) : NULL;
}

/* Takes (path, all, max_segments, growth, call), members of struct idx_compact_options, and compacts the index. Returns
 * the items of libidx.CompactSummary, a tuple. */
PyObject *core_compact(PyObject *module, PyObject *arguments) {
    struct idx_compact_options options = IDX_COMPACT_OPTIONS_INIT;
    struct idx_compact_summary summary;
    struct path path;
    struct call call;
    int all;
    if (!PyArg_ParseTuple(arguments, "O&pIIO&", parse_path, &path, &all, &options.max_segments, &options.growth,
                          parse_call, &call))
        return NULL;
    SET_OPTIONS(options, call);
    options.temporary_folder = call.folder.text;
    options.all = all;
    bool ok = call_begin(&call) && call_end(&call, idx_compact(path.text, &options, &summary, &call.error));
    call_release(&call);
    Py_DECREF(path.bytes);
    if (!ok) return NULL;
    return Py_BuildValue("(NnnKKKKn)", PyBool_FromLong(summary.changed), (Py_ssize_t)summary.segments,
                         (Py_ssize_t)summary.merged, (unsigned long long)summary.records,
                         (unsigned long long)summary.documents, (unsigned long long)summary.fingerprints,
                         (unsigned long long)summary.removals, (Py_ssize_t)summary.leftovers);
}

/* ---- Verifying ---- */

struct verification {
    PyObject *findings; /* a list of (file, status, sentence or None) */
    struct call call;
};

/* This is the idx_verify_visitor of core_verify: appends what was found of a file to the list. Called without the GIL,
 * which it acquires. If it fails, sets call.failed and an exception, and does nothing for further files. */
static void append_finding(void *context, const char *file, enum idx_status status, const char *sentence) {
    struct verification *verification = context;
    if (verification->call.failed) return;
    PyGILState_STATE state = PyGILState_Ensure();
    /* The sentence names the file, whose path may not be UTF-8. */
    PyObject *text = status == IDX_OK ? Py_NewRef(Py_None)
                                      : PyUnicode_DecodeUTF8(sentence, (Py_ssize_t)strlen(sentence), "surrogateescape");
    PyObject *finding = Py_BuildValue("(NiN)", PyUnicode_DecodeFSDefault(file), (int)status, text);
    verification->call.failed = finding == NULL || PyList_Append(verification->findings, finding) < 0;
    Py_XDECREF(finding);
    PyGILState_Release(state);
}

/* Returns whether a status of idx_verify means that it could examine the index: it found nothing wrong, or damage (300
 * to 399). */
static bool has_examined(enum idx_status status) { return status == IDX_OK || (status >= 300 && status < 400); }

/* Takes (path), and verifies the index. Returns a list of (file, status, sentence or None). */
PyObject *core_verify(PyObject *module, PyObject *arguments) {
    struct verification verification;
    struct path path;
    if (!PyArg_ParseTuple(arguments, "O&", parse_path, &path)) return NULL;
    verification.findings = PyList_New(0);
    if (verification.findings != NULL) {
        call_begin_quiet(&verification.call);
        enum idx_status status = idx_verify(path.text, append_finding, &verification, &verification.call.error);
        if (!call_end(&verification.call, has_examined(status) ? IDX_OK : status)) Py_CLEAR(verification.findings);
    }
    Py_DECREF(path.bytes);
    return verification.findings;
}

/* ---- Planning ---- */

/* Returns a list of tuples, one for each of `count` plans, with the items of libidx.Plan, or NULL with an exception
 * set. */
static PyObject *make_plan_list(const struct idx_plan *plans, size_t count) {
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

/* How many numbers a calibration has. All members after `size` are doubles, and a tuple has them in the order of the
 * members, so that both are copied as arrays. */
enum { CALIBRATION_NUMBERS = (sizeof(struct idx_calibration) - sizeof(size_t)) / sizeof(double) };

/* Sets a calibration to the numbers of a tuple that core_calibrate returned. Returns false with an exception set if the
 * object is no such tuple. */
static bool parse_calibration(PyObject *numbers_arg, struct idx_calibration *calibration) {
    double numbers[CALIBRATION_NUMBERS];
    if (PyTuple_Size(numbers_arg) != CALIBRATION_NUMBERS) {
        if (!PyErr_Occurred()) PyErr_Format(PyExc_ValueError, "a calibration has %d numbers", CALIBRATION_NUMBERS);
        return false;
    }
    for (Py_ssize_t i = 0; i < CALIBRATION_NUMBERS; i++) {
        numbers[i] = PyFloat_AsDouble(PyTuple_GetItem(numbers_arg, i));
        if (numbers[i] == -1 && PyErr_Occurred()) return false;
    }
    memcpy((char *)calibration + offsetof(struct idx_calibration, table), numbers, sizeof numbers);
    return true;
}

/* Takes (folder or None), the folder of temporary files, and measures the machine. Returns the numbers of the
 * calibration, a tuple of floats. */
PyObject *core_calibrate(PyObject *module, PyObject *arguments) {
    struct idx_calibration calibration = IDX_CALIBRATION_INIT;
    double numbers[CALIBRATION_NUMBERS];
    struct path path = {NULL, NULL};
    struct call call;
    PyObject *folder;
    if (!PyArg_ParseTuple(arguments, "O", &folder) || (folder != Py_None && !parse_path(folder, &path))) return NULL;
    bool ok = call_begin_quiet(&call) && call_end(&call, idx_calibrate(&calibration, path.text, &call.error));
    Py_XDECREF(path.bytes);
    if (!ok) return NULL;
    memcpy(numbers, (char *)&calibration + offsetof(struct idx_calibration, table), sizeof numbers);
    PyObject *tuple = PyTuple_New(CALIBRATION_NUMBERS);
    for (Py_ssize_t i = 0; i < CALIBRATION_NUMBERS && tuple != NULL; i++) {
        PyObject *number = PyFloat_FromDouble(numbers[i]);
        if (number == NULL || PyTuple_SetItem(tuple, i, number) < 0) Py_CLEAR(tuple);
    }
    return tuple;
}

enum { MAX_PLANS = 64 };

/* Makes plans of all schemes worth considering, or of `scheme` alone if that is not NULL. Writes the first MAX_PLANS of
 * them to `plans`, and sets *plan_count to how many there are, which may be more. Called without the GIL. Errors: those
 * of idx_plan, or of idx_scheme_parse and idx_plan_scheme. */
static enum idx_status make_plans(const struct idx_plan_options *options, const char *scheme, struct idx_plan *plans,
                                  size_t *plan_count, struct idx_error *error) {
    struct idx_scheme parsed_scheme;
    if (scheme == NULL) return idx_plan(options, plans, MAX_PLANS, plan_count, error);
    *plan_count = 1;
    enum idx_status status = idx_scheme_parse(&parsed_scheme, scheme, options->bits, options->k, options->count, error);
    return status == IDX_OK ? idx_plan_scheme(options, &parsed_scheme, plans, error) : status;
}

/* Takes (count, bits, k, block_size, max_bytes, scheme or None, residence, calibration or None). Returns a list of
 * plans, as make_plan_list does: of all schemes worth considering, or of `scheme` alone.
 *
 * - count: the number of fingerprints
 * - block_size: in bytes
 * - max_bytes: the most bytes per fingerprint; 0: the default of the library
 * - residence: a name, as for parse_residence
 * - calibration: what core_calibrate returned */
PyObject *core_plan(PyObject *module, PyObject *arguments) {
    struct idx_plan_options options = IDX_PLAN_OPTIONS_INIT;
    struct idx_calibration calibration = IDX_CALIBRATION_INIT;
    struct call call;
    struct natural max_bytes = {"max_bytes_per_fingerprint", UINT_MAX, 0};
    PyObject *count_arg, *residence, *calibration_arg;
    const char *scheme;
    size_t plan_count = 0;
    if (!PyArg_ParseTuple(arguments, "OIIIO&zUO", &count_arg, &options.bits, &options.k, &options.block_size,
                          parse_natural, &max_bytes, &scheme, &residence, &calibration_arg))
        return NULL;
    options.max_bytes_per_fingerprint = (unsigned)max_bytes.value;
    if (!parse_number(count_arg, "count", &options.count) || !parse_residence(residence, &options.residence))
        return NULL;
    if (calibration_arg != Py_None && !parse_calibration(calibration_arg, &calibration)) return NULL;
    if (calibration_arg != Py_None) options.calibration = &calibration;
    struct idx_plan *plans = malloc(MAX_PLANS * sizeof *plans);
    if (plans == NULL) return PyErr_NoMemory();
    bool ok = call_begin_quiet(&call) && call_end(&call, make_plans(&options, scheme, plans, &plan_count, &call.error));
    PyObject *list = ok ? make_plan_list(plans, plan_count < MAX_PLANS ? plan_count : MAX_PLANS) : NULL;
    free(plans);
    return list;
}

/* Takes (count, bits, k), and plans look-ups in an unpacked index of `count` fingerprints. Returns (bytes, seconds to
 * open it, nanoseconds per look-up). */
PyObject *core_plan_unpacked(PyObject *module, PyObject *arguments) {
    struct idx_unpacked_plan plan;
    struct call call;
    PyObject *number;
    uint64_t count;
    unsigned bits, k;
    if (!PyArg_ParseTuple(arguments, "OII", &number, &bits, &k) || !parse_number(number, "count", &count)) return NULL;
    call_begin_quiet(&call);
    if (!call_end(&call, idx_plan_unpacked(count, bits, k, &plan, &call.error))) return NULL;
    return Py_BuildValue("(ddd)", plan.bytes, plan.opening_seconds, plan.nanoseconds);
}

/* Takes (scheme, bits, k). Returns [(mask, radius)], one for each table. */
PyObject *core_scheme(PyObject *module, PyObject *arguments) {
    struct idx_scheme scheme;
    struct call call;
    unsigned bits, k;
    const char *scheme_string;
    if (!PyArg_ParseTuple(arguments, "sII", &scheme_string, &bits, &k)) return NULL;
    call_begin_quiet(&call);
    if (!call_end(&call, idx_scheme_parse(&scheme, scheme_string, bits, k, 0, &call.error))) return NULL;
    PyObject *list = PyList_New((Py_ssize_t)scheme.table_count);
    for (size_t i = 0; i < scheme.table_count && list != NULL; i++) {
        PyObject *table = Py_BuildValue("(KI)", (unsigned long long)scheme.tables[i].mask, scheme.tables[i].radius);
        if (table == NULL || PyList_SetItem(list, (Py_ssize_t)i, table) < 0) Py_CLEAR(list);
    }
    return list;
}
