/* types.c: what all types of the extension modules share: types, their objects, and calls by one thread at a time. */
#include "libidx/python/module.h"

PyTypeObject *type_make(PyObject *module, const char *name, size_t size, unsigned flags, PyType_Slot *slots) {
    PyType_Spec spec = {name, (int)size, 0, Py_TPFLAGS_DEFAULT | flags, slots};
    PyTypeObject *type = (PyTypeObject *)PyType_FromSpec(&spec);
    return type != NULL && PyModule_AddType(module, type) == 0 ? type : NULL;
}

void *object_new(PyTypeObject *type) { return ((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0); }

void object_free(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

bool call_begin(bool *busy, long process, bool is_open, const char *what, const char *ended) {
    if (!check_process(process, what)) return false;
    if (*busy) {
        raise_status(IDX_INVALID_ARGUMENT, "another thread is using this %s: one at a time", what);
    } else if (!is_open) {
        raise_status(IDX_INVALID_ARGUMENT, "this %s %s", what, ended);
    } else {
        *busy = true;
        return true;
    }
    return false;
}
