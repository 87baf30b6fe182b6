/* errors.c: from statuses to exceptions, and the way back to Python while a call is under way. */
#include "libidx/python/module.h"

#include <stdarg.h>
#include <string.h>
#include <time.h>

static PyObject *make_error; /* libidx._errors.make */

bool import_make_error(void) {
    PyObject *module = PyImport_ImportModule("libidx._errors");
    if (module == NULL) return false;
    make_error = PyObject_GetAttrString(module, "make");
    Py_DECREF(module);
    return make_error != NULL;
}

/* Raises an exception object, and releases it. Does nothing if it is NULL: then making it has failed, which has set
 * another exception. Returns NULL. */
static PyObject *raise_and_release(PyObject *exception) {
    if (exception != NULL) PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    Py_XDECREF(exception);
    return NULL;
}

PyObject *raise_error(const struct idx_error *error) {
    PyObject *file = PyUnicode_DecodeFSDefault(error->file);
    PyObject *sentence = PyUnicode_DecodeUTF8(error->sentence, (Py_ssize_t)strlen(error->sentence), "surrogateescape");
    PyObject *exception = NULL;
    if (file != NULL && sentence != NULL)
        exception = PyObject_CallFunction(make_error, "iiOKO", (int)error->status, error->system_errno, file,
                                          (unsigned long long)error->offset, sentence);
    Py_XDECREF(file);
    Py_XDECREF(sentence);
    return raise_and_release(exception);
}

PyObject *raise_status(enum idx_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    PyObject *sentence = PyUnicode_FromFormatV(format, arguments);
    va_end(arguments);
    if (sentence == NULL) return NULL;
    PyObject *exception = PyObject_CallFunction(make_error, "iisKO", (int)status, 0, "", 0ULL, sentence);
    Py_DECREF(sentence);
    return raise_and_release(exception);
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

bool check_range(const char *name, long long value, long long min, long long max) {
    if (value >= min && value <= max) return true;
    raise_status(IDX_INVALID_ARGUMENT, "%s = %lld: give %lld to %lld", name, value, min, max);
    return false;
}

PyObject *call_python(const char *module, const char *function, const char *format, ...) {
    va_list arguments;
    PyObject *imported = PyImport_ImportModule(module), *answer = NULL;
    PyObject *callable = imported == NULL ? NULL : PyObject_GetAttrString(imported, function);
    va_start(arguments, format);
    PyObject *arguments_tuple = callable == NULL ? NULL : Py_VaBuildValue(format, arguments);
    va_end(arguments);
    if (arguments_tuple != NULL) answer = PyObject_CallObject(callable, arguments_tuple);
    Py_XDECREF(arguments_tuple);
    Py_XDECREF(callable);
    Py_XDECREF(imported);
    return answer;
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

bool report_progress(PyObject *callable, const struct idx_progress *progress, bool *go_on) {
    const char *phase = progress->phase < IDX_PHASE_COUNT ? phase_names[progress->phase] : "";
    PyObject *answer = PyObject_CallFunction(callable, "sKK", phase, (unsigned long long)progress->done,
                                             (unsigned long long)progress->total);
    *go_on = answer != NULL && answer != Py_False;
    Py_XDECREF(answer);
    return answer != NULL;
}

bool visit_progress(void *context, const struct idx_progress *progress) {
    struct call *call = context;
    bool go_on = true;
    if (call->failed) return false;
    PyGILState_STATE state = PyGILState_Ensure();
    call->failed = PyErr_CheckSignals() < 0;
    if (!call->failed && call->progress != NULL) call->failed = !report_progress(call->progress, progress, &go_on);
    PyGILState_Release(state);
    return go_on && !call->failed;
}

bool call_begin(struct call *call) {
    call->failed = false;
    call->signals_checked_at = 0;
    call->thread = PyEval_SaveThread();
    return true;
}

bool call_begin_quiet(struct call *call) {
    call->progress = NULL;
    return call_begin(call);
}

bool call_end(struct call *call, enum idx_status status) {
    PyEval_RestoreThread(call->thread);
    if (!call->failed && status != IDX_OK) raise_error(&call->error);
    return !call->failed && status == IDX_OK;
}

bool call_check_signals(struct call *call) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    int64_t now_tenths = (int64_t)time.tv_sec * 10 + time.tv_nsec / 100000000; /* in tenths of a second */
    if (call->signals_checked_at == 0) call->signals_checked_at = now_tenths;
    if (now_tenths == call->signals_checked_at || call->failed) return !call->failed;
    call->signals_checked_at = now_tenths;
    PyEval_RestoreThread(call->thread);
    call->failed = PyErr_CheckSignals() < 0;
    call->thread = PyEval_SaveThread();
    return !call->failed;
}

enum idx_status call_fail_memory(struct call *call) {
    call->error = (struct idx_error){.status = IDX_OUT_OF_MEMORY, .sentence = "out of memory"};
    return IDX_OUT_OF_MEMORY;
}
