/* kept_sets.c: the type KeptSets: a file of the sets of documents, which are found by their IDs. */
#include "libidx/python/resembling.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static PyTypeObject *kept_type;

/* ---- Calls ---- */

struct kept_object *kept_enter(PyObject *given) {
    struct kept_object *object = (struct kept_object *)given;
    if (!PyObject_TypeCheck(given, kept_type)) {
        PyErr_Format(PyExc_TypeError, "expected KeptSets, not %R", (PyObject *)Py_TYPE(given));
        return NULL;
    }
    if (object->writes && !check_process(object->process, "file of sets")) return NULL;
    if (PyThread_acquire_lock(object->lock, NOWAIT_LOCK) == 0) {
        if (object->writes) {
            raise_status(IDX_INVALID_ARGUMENT, "another call is using this file of sets: one at a time");
            return NULL;
        }
        PyThreadState *thread = PyEval_SaveThread();
        PyThread_acquire_lock(object->lock, WAIT_LOCK);
        PyEval_RestoreThread(thread);
    }
    if (object->kept != NULL) return object;
    PyThread_release_lock(object->lock);
    raise_status(IDX_INVALID_ARGUMENT, "this file of sets is closed: open it again");
    return NULL;
}

void kept_leave(struct kept_object *object) { PyThread_release_lock(object->lock); }

/* ---- Opening and closing ---- */

/* Takes (path, shingles, writes). */
static PyObject *kept_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    struct idx_kept_sets_options options = IDX_KEPT_SETS_OPTIONS_INIT;
    struct idx_error error;
    PyObject *path, *bytes;
    const char *text;
    int writes;
    if (!PyArg_ParseTuple(arguments, "Osp", &path, &options.shingles, &writes) || !path_take(path, &bytes, &text))
        return NULL;
    options.writes = writes;
    struct kept_object *object = object_new(type);
    if (object != NULL) {
        struct idx_kept_sets *kept = NULL;
        object->writes = writes;
        object->process = (long)getpid();
        object->lock = PyThread_allocate_lock();
        PyThreadState *thread = PyEval_SaveThread();
        enum idx_status status = idx_kept_sets_open(&kept, text, &options, &error);
        PyEval_RestoreThread(thread);
        object->kept = kept;
        if (!check_call(status, &error, NULL)) {
            Py_CLEAR(object);
        } else if (object->lock == NULL) {
            PyErr_NoMemory();
            Py_CLEAR(object);
        }
    }
    Py_DECREF(bytes);
    return (PyObject *)object;
}

static void kept_free(PyObject *self) {
    struct kept_object *object = (struct kept_object *)self;
    idx_kept_sets_close(object->kept);
    if (object->lock != NULL) PyThread_free_lock(object->lock);
    object_free(self);
}

/* In a forked process, this does nothing to a file that is written: it belongs to the process that opened it. */
static PyObject *kept_close(PyObject *self, PyObject *unused) {
    struct kept_object *object = (struct kept_object *)self;
    if (object->kept == NULL || (object->writes && object->process != (long)getpid())) Py_RETURN_NONE;
    if (kept_enter(self) == NULL) return NULL;
    idx_kept_sets_close(object->kept);
    object->kept = NULL;
    kept_leave(object);
    Py_RETURN_NONE;
}

/* ---- Adding and finding ---- */

/* Checks all IDs before any is added, since a set that was added can't be taken back. */
static bool check_ids(const struct strings *ids) {
    for (size_t i = 0; i < ids->count; i++) {
        if (ids->lengths[i] <= IDX_MAX_ID_BYTES) continue;
        raise_status(IDX_INVALID_ARGUMENT, "an ID of %zu bytes is too long: the maximum is %d", ids->lengths[i],
                     IDX_MAX_ID_BYTES);
        return false;
    }
    return true;
}

/* Adds all sets but the empty ones, and syncs the file. Called without the GIL. */
static enum idx_status add_sets(struct idx_kept_sets *kept, const struct sets *sets, const struct strings *ids,
                                struct idx_error *error) {
    enum idx_status status = IDX_OK;
    for (size_t i = 0; i < ids->count && status == IDX_OK; i++) {
        const struct idx_item item = {.id = ids->items[i], .id_length = ids->lengths[i]};
        if (sets->list[i].count > 0) status = idx_kept_sets_add(kept, &item, &sets->list[i], error);
    }
    return status == IDX_OK ? idx_kept_sets_sync(kept, error) : status;
}

static bool enter_and_add(struct kept_object *object, const struct sets *sets, const struct strings *ids) {
    struct idx_error error;
    if (kept_enter((PyObject *)object) == NULL) return false;
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status = add_sets(object->kept, sets, ids, &error);
    PyEval_RestoreThread(thread);
    kept_leave(object);
    return check_call(status, &error, NULL);
}

/* Takes (hashes, counts, ids as texts). */
static PyObject *kept_add(PyObject *self, PyObject *arguments) {
    PyObject *hashes, *counts, *given;
    struct strings ids;
    struct sets sets;
    bool ok = false;
    if (!PyArg_ParseTuple(arguments, "OOO", &hashes, &counts, &given) || !strings_take(given, "ids", &ids)) return NULL;
    if (sets_take(hashes, counts, &sets)) {
        if (sets.counts.count == ids.count)
            ok = check_ids(&ids) && enter_and_add((struct kept_object *)self, &sets, &ids);
        else
            PyErr_Format(PyExc_ValueError, "%zu texts and %zu ids: give as many", sets.counts.count, ids.count);
        sets_release(&sets);
    }
    strings_release(&ids);
    return ok ? Py_NewRef(Py_None) : NULL;
}

/* Returns the hashes of a set, uint64[n]. */
static PyObject *copy_set(const struct idx_set *set) {
    struct block *block = block_make("Q", set->count);
    if (block != NULL) memcpy(block->columns[0].items, set->hashes, set->count * sizeof *set->hashes);
    return result_array(block);
}

/* Takes (id as a text). Returns the set of that document, uint64[n], or None if the file has none. */
static PyObject *kept_find(PyObject *self, PyObject *id) {
    PyObject *answer = NULL;
    struct idx_set set = {NULL, 0};
    struct idx_error error;
    struct strings ids;
    if (!strings_take_new(PyTuple_Pack(1, id), "id", &ids)) return NULL;
    struct kept_object *object = kept_enter(self);
    if (object != NULL) {
        const struct idx_document document = {.id = ids.items[0], .id_length = ids.lengths[0]};
        if (check_call(idx_kept_sets_find(object->kept, &document, &set, &error), &error, NULL))
            answer = set.hashes == NULL ? Py_NewRef(Py_None) : copy_set(&set);
        kept_leave(object);
    }
    strings_release(&ids);
    return answer;
}

/* ---- The type ---- */

static PyObject *get_closed(PyObject *self, void *closure) {
    return PyBool_FromLong(((struct kept_object *)self)->kept == NULL);
}

static PyMethodDef methods[] = {
    {"close", kept_close, METH_NOARGS, "close($self)\n--\n\nClose the file. May be called again."},
    {"_add", kept_add, METH_VARARGS, NULL},
    {"_find", kept_find, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"closed", get_closed, NULL, "Whether it was closed.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

bool kept_init(PyObject *module) {
    static PyType_Slot slots[] = {
        {Py_tp_new, kept_new},
        {Py_tp_dealloc, kept_free},
        {Py_tp_methods, methods},
        {Py_tp_getset, properties},
        {Py_tp_doc, "An open file of sets; libidx.KeptSets is the whole of it."},
        {0, NULL},
    };
    kept_type = type_make(module, "libidx._core.KeptSets", sizeof(struct kept_object), Py_TPFLAGS_BASETYPE, slots);
    return kept_type != NULL;
}
