/* errors.c: from statuses to exceptions, and the way back to Python while a call is under way. */
#include "libidx/python/module.h"

#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static PyObject *make_error; /* libidx._errors.make */

bool errors_init(void) {
    PyObject *module = PyImport_ImportModule("libidx._errors");
    if (module == NULL) return false;
    make_error = PyObject_GetAttrString(module, "make");
    Py_DECREF(module);
    return make_error != NULL;
}

/* Raises an exception that was made, and releases it, unless making it failed. Returns NULL. */
static PyObject *raise_made(PyObject *made) {
    if (made != NULL) PyErr_SetObject((PyObject *)Py_TYPE(made), made);
    Py_XDECREF(made);
    return NULL;
}

PyObject *raise_error(const struct idx_error *error) {
    PyObject *file = PyUnicode_DecodeFSDefault(error->file);
    PyObject *sentence = PyUnicode_DecodeUTF8(error->sentence, (Py_ssize_t)strlen(error->sentence), "surrogateescape");
    PyObject *made = NULL;
    if (file != NULL && sentence != NULL)
        made = PyObject_CallFunction(make_error, "iiOKO", (int)error->status, error->system_errno, file,
                                     (unsigned long long)error->offset, sentence);
    Py_XDECREF(file);
    Py_XDECREF(sentence);
    return raise_made(made);
}

PyObject *raise_status(enum idx_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    PyObject *sentence = PyUnicode_FromFormatV(format, arguments);
    va_end(arguments);
    if (sentence == NULL) return NULL;
    PyObject *made = PyObject_CallFunction(make_error, "iisKO", (int)status, 0, "", 0ULL, sentence);
    Py_DECREF(sentence);
    return raise_made(made);
}

bool refuse(PyObject *type, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    PyErr_FormatV(type, format, arguments);
    va_end(arguments);
    return false;
}

bool refuse_memory(void) {
    PyErr_NoMemory();
    return false;
}

bool check_range(const char *name, long long value, long long least, long long most) {
    if (value >= least && value <= most) return true;
    raise_status(IDX_INVALID_ARGUMENT, "%s = %lld: give %lld to %lld", name, value, least, most);
    return false;
}

int natural_take(PyObject *object, void *natural) {
    struct natural *taken = natural;
    PyObject *number = PyNumber_Index(object);
    if (number == NULL) return 0;
    taken->value = PyLong_AsUnsignedLongLong(number);
    bool in_range = PyErr_Occurred() == NULL && taken->value <= taken->most;
    PyErr_Clear();
    if (!in_range) raise_status(IDX_INVALID_ARGUMENT, "%s = %S: give 0 to %llu", taken->name, number, taken->most);
    Py_DECREF(number);
    return in_range;
}

/* ---- While a call is under way ---- */

static const char *const phase_names[IDX_PHASE_COUNT] = {
    [IDX_PHASE_ADDING] = "adding",         [IDX_PHASE_SORTING] = "sorting",
    [IDX_PHASE_MERGING] = "merging",       [IDX_PHASE_TABLES] = "tables",
    [IDX_PHASE_PUBLISHING] = "publishing", [IDX_PHASE_COMPARING] = "comparing",
    [IDX_PHASE_CLUSTERING] = "clustering", [IDX_PHASE_DOCUMENTS] = "documents",
    [IDX_PHASE_COUNTING] = "counting",     [IDX_PHASE_SETS] = "sets",
    [IDX_PHASE_TASKS] = "tasks",
};

bool call_progress(PyObject *callable, const struct idx_progress *progress, bool *go_on) {
    const char *phase = progress->phase < IDX_PHASE_COUNT ? phase_names[progress->phase] : "";
    PyObject *answer = PyObject_CallFunction(callable, "sKK", phase, (unsigned long long)progress->done,
                                             (unsigned long long)progress->total);
    *go_on = answer != NULL && answer != Py_False;
    Py_XDECREF(answer);
    return answer != NULL;
}

bool watch_visit(void *context, const struct idx_progress *progress) {
    struct watch *watch = context;
    bool go_on = true;
    if (watch->failed) return false;
    PyGILState_STATE state = PyGILState_Ensure();
    watch->failed = PyErr_CheckSignals() < 0;
    if (!watch->failed && watch->progress != Py_None) watch->failed = !call_progress(watch->progress, progress, &go_on);
    PyGILState_Release(state);
    return go_on && !watch->failed;
}

enum idx_status fail_memory(struct idx_error *error) {
    *error = (struct idx_error){.status = IDX_OUT_OF_MEMORY, .sentence = "out of memory"};
    return error->status;
}

bool check_call(enum idx_status status, const struct idx_error *error, const struct watch *watch) {
    if (watch != NULL && watch->failed) return false;
    if (status != IDX_OK) raise_error(error);
    return status == IDX_OK;
}

bool check_signals(PyThreadState **thread, int64_t *last) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    int64_t tenths = (int64_t)time.tv_sec * 10 + time.tv_nsec / 100000000;
    if (*last == 0) *last = tenths;
    if (tenths == *last) return true;
    *last = tenths;
    PyEval_RestoreThread(*thread);
    bool ok = PyErr_CheckSignals() == 0;
    *thread = PyEval_SaveThread();
    return ok;
}

bool check_process(long owner, const char *what) {
    if (owner == (long)getpid()) return true;
    raise_status(IDX_INVALID_ARGUMENT, "this %s was opened before the process forked: open one here", what);
    return false;
}
