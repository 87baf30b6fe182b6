/* arguments.c: arguments that come in: natural numbers, paths, and those that most calls have. */
#include "libidx/python/module.h"

int natural_take(PyObject *object, void *natural) {
    struct natural *taken = natural;
    PyObject *number = PyNumber_Index(object);
    if (number == NULL) return 0;
    taken->value = PyLong_AsUnsignedLongLong(number);
    bool in_range = PyErr_Occurred() == NULL && taken->value <= taken->max;
    PyErr_Clear();
    if (!in_range) raise_status(IDX_INVALID_ARGUMENT, "%s = %S: give 0 to %llu", taken->name, number, taken->max);
    Py_DECREF(number);
    return in_range;
}

int path_take(PyObject *object, void *path) {
    struct path *taken = path;
    if (PyUnicode_FSConverter(object, &taken->bytes) == 0) return 0; /* without an object, it releases the bytes */
    taken->text = object == NULL ? NULL : PyBytes_AsString(taken->bytes);
    return Py_CLEANUP_SUPPORTED;
}

void call_release(struct call *call) {
    Py_CLEAR(call->folder.bytes);
    Py_CLEAR(call->progress);
}

/* Replaces call->progress, which is the caller's argument, by the callable that it stands for, or NULL for none.
 * Returns false with an exception set if it stands for nothing. */
static bool convert_progress(struct call *call) {
    PyObject *callable = call_python("libidx._progress", "callback", "(O)", call->progress);
    if (callable == Py_None) Py_CLEAR(callable);
    call->progress = callable;
    return !PyErr_Occurred();
}

int call_take(PyObject *object, void *call) {
    struct call *taken = call;
    PyObject *folder;
    struct natural memory = {"memory", UINT64_MAX, 0};
    int threads;
    if (object == NULL) {
        call_release(taken);
        return 0;
    }
    if (!PyTuple_Check(object)) return refuse(PyExc_TypeError, "expected (threads, memory, tmpdir, progress)");
    *taken = (struct call){.folder = {NULL, NULL}};
    if (!PyArg_ParseTuple(object, "iO&OO", &threads, natural_take, &memory, &folder, &taken->progress) ||
        !check_range("threads", threads, 1, IDX_MAX_THREADS) || !convert_progress(taken))
        return 0;
    taken->threads = (unsigned)threads;
    taken->memory = memory.value;
    if (folder == Py_None || path_take(folder, &taken->folder)) return Py_CLEANUP_SUPPORTED;
    call_release(taken);
    return 0;
}
