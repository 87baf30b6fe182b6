/* types.c: what all types of the extension modules share: types, their objects, and handles. */
#include "libidx/python/module.h"

#include <unistd.h>

PyTypeObject *add_type(PyObject *module, const char *name, size_t size, unsigned flags, PyType_Slot *slots) {
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

/* ---- Handles ---- */

void *handle_new(PyTypeObject *type, const struct handle_kind *kind, const struct call *call) {
    struct handle *handle = object_new(type);
    struct call moved_call = *call;
    if (handle == NULL) {
        call_release(&moved_call);
        return NULL;
    }
    handle->kind = kind;
    handle->call = moved_call;
    handle->process_id = (long)getpid();
    return handle;
}

PyObject *handle_set_opened(void *object, void *opened, bool ok) {
    struct handle *handle = object;
    handle->opened = opened;
    if (!ok) Py_CLEAR(handle);
    return (PyObject *)handle;
}

/* Returns true if a call may begin. Otherwise raises InvalidArgumentError: if another process opened the handle, if
 * another call is under way, or if it is closed. */
static bool check_usable(const struct handle *handle) {
    const char *name = handle->kind->name;
    if (handle->process_id != (long)getpid())
        raise_status(IDX_INVALID_ARGUMENT, "this %s was opened before the process forked: open one here", name);
    else if (handle->busy)
        raise_status(IDX_INVALID_ARGUMENT, "another thread is using this %s: one at a time", name);
    else if (handle->opened == NULL)
        raise_status(IDX_INVALID_ARGUMENT, "this %s %s", name, handle->kind->ended_phrase);
    else
        return true;
    return false;
}

bool handle_begin(void *object) {
    struct handle *handle = object;
    if (!check_usable(handle)) return false;
    handle->busy = true;
    return call_begin(&handle->call);
}

bool handle_end(void *object, enum idx_status status) {
    struct handle *handle = object;
    bool ok = call_end(&handle->call, status);
    handle->busy = false;
    return ok;
}

void handle_close_opened(void *object) {
    struct handle *handle = object;
    void *opened = handle->opened;
    handle->opened = NULL;
    if (opened == NULL || handle->process_id != (long)getpid()) return;
    PyThreadState *thread = PyEval_SaveThread();
    handle->kind->close(object, opened);
    PyEval_RestoreThread(thread);
}

PyObject *handle_close(PyObject *self, PyObject *unused) {
    struct handle *handle = (struct handle *)self;
    /* A closed handle may be closed again, and a forked process may close what it must not use. */
    if (handle->opened != NULL && handle->process_id == (long)getpid() && !check_usable(handle)) return NULL;
    handle_close_opened(handle);
    Py_RETURN_NONE;
}

/* Returns whether the handle is closed. This is a getter of handle_properties. */
static PyObject *get_closed(PyObject *self, void *closure) {
    return PyBool_FromLong(((struct handle *)self)->opened == NULL);
}

PyGetSetDef handle_properties[] = {
    {"closed", get_closed, NULL, "Whether it was closed.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

void handle_free(PyObject *self) {
    handle_close_opened(self);
    call_release(&((struct handle *)self)->call);
    object_free(self);
}
