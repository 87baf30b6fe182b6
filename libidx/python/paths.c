/* paths.c: paths that come in. */
#include "libidx/python/module.h"

bool path_take(PyObject *path, PyObject **bytes, const char **text) {
    *bytes = NULL;
    *text = NULL;
    if (!PyUnicode_FSConverter(path, bytes)) return false;
    *text = PyBytes_AsString(*bytes);
    return true;
}

bool folder_take(PyObject *path, PyObject **bytes, const char **text) {
    *bytes = NULL;
    *text = NULL;
    return path == Py_None || path_take(path, bytes, text);
}
