/* arguments.c: arguments that come in: natural numbers, paths, and those that most calls have. */
#include "libidx/python/module.h"

int parse_natural(PyObject *object, void *natural_out) {
    struct natural *natural = natural_out;
    PyObject *number = PyNumber_Index(object);
    if (number == NULL) return 0;
    natural->value = PyLong_AsUnsignedLongLong(number);
    bool in_range = PyErr_Occurred() == NULL && natural->value <= natural->max;
    PyErr_Clear(); /* the OverflowError of a number that is negative or above 2^64 - 1 */
    if (!in_range) raise_status(IDX_INVALID_ARGUMENT, "%s = %S: give 0 to %llu", natural->name, number, natural->max);
    Py_DECREF(number);
    return in_range;
}

int parse_path(PyObject *object, void *path_out) {
    struct path *path = path_out;
    if (PyUnicode_FSConverter(object, &path->bytes) == 0) return 0; /* if `object` is NULL, it releases the bytes */
    path->text = object == NULL ? NULL : PyBytes_AsString(path->bytes);
    return Py_CLEANUP_SUPPORTED;
}

void call_release(struct call *call) {
    Py_CLEAR(call->folder.bytes);
    Py_CLEAR(call->progress);
}

/* Replaces call->progress, a borrowed reference to the caller's argument, by one that the call owns: to the callable
 * that the argument stands for, or NULL for no progress. Returns false with an exception set, and call->progress NULL,
 * if the argument stands for neither. */
static bool convert_progress(struct call *call) {
    PyObject *callable = call_python("libidx._progress", "callback", "(O)", call->progress);
    if (callable == Py_None) Py_CLEAR(callable);
    call->progress = callable;
    return !PyErr_Occurred();
}

int parse_call(PyObject *tuple, void *call_out) {
    struct call *call = call_out;
    PyObject *folder;
    struct natural memory = {"memory", UINT64_MAX, 0};
    int threads;
    if (tuple == NULL) {
        call_release(call);
        return 0;
    }
    if (!PyTuple_Check(tuple)) return refuse(PyExc_TypeError, "expected (threads, memory, tmpdir, progress)");
    *call = (struct call){.folder = {NULL, NULL}};
    if (!PyArg_ParseTuple(tuple, "iO&OO", &threads, parse_natural, &memory, &folder, &call->progress) ||
        !check_range("threads", threads, 1, IDX_MAX_THREADS) || !convert_progress(call))
        return 0;
    call->threads = (unsigned)threads;
    call->memory = memory.value;
    if (folder == Py_None || parse_path(folder, &call->folder)) return Py_CLEANUP_SUPPORTED;
    call_release(call);
    return 0;
}
