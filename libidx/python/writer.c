/* writer.c: the type Writer. */
#include "libidx/python/writer.h"

#include <unistd.h>

#include "libidx/python/resembling.h"

bool writer_enter(struct writer_object *object) {
    return call_begin(&object->busy, object->process, object->writer != NULL, "writer", "is closed: open another one");
}

/* Takes (path, threads, compact_records, compact_segments, progress). compact_records is -1 for IDX_COMPACT_BY_SIZE. */
static PyObject *writer_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    struct idx_writer_options options = IDX_WRITER_OPTIONS_INIT;
    struct idx_properties properties;
    struct idx_error error;
    PyObject *path, *progress, *bytes;
    const char *text;
    long long records;
    if (!PyArg_ParseTuple(arguments, "OILIO", &path, &options.threads, &records, &options.compact_segments,
                          &progress) ||
        !check_range("compact_records", records, -1, UINT32_MAX) || !path_take(path, &bytes, &text))
        return NULL;
    options.compact_records = records < 0 ? IDX_COMPACT_BY_SIZE : (uint64_t)records;
    struct writer_object *object = object_new(type);
    if (object != NULL) {
        struct idx_writer *writer = NULL;
        options.progress = writer_visit;
        options.context = object;
        object->progress = Py_NewRef(progress);
        PyThreadState *thread = PyEval_SaveThread();
        enum idx_status status = idx_writer_open(&writer, text, &options, &error);
        PyEval_RestoreThread(thread);
        if (status == IDX_OK) {
            idx_get_properties(idx_writer_view(writer), &properties);
            object->writer = writer;
            object->id_type = properties.id_type;
            object->process = (long)getpid();
        } else {
            raise_error(&error);
            Py_CLEAR(object);
        }
    }
    Py_DECREF(bytes);
    return (PyObject *)object;
}

/* Reports what progress raised while nobody waited, by sys.unraisablehook, since there is nobody to catch it. Where an
 * object is freed, an exception may be set already, which stays set. */
static void report_raised(struct writer_object *object) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_SetObject((PyObject *)Py_TYPE(object->raised), object->raised);
    PyErr_WriteUnraisable(object->progress);
    Py_CLEAR(object->raised);
    PyErr_Restore(type, value, traceback);
}

/* Closes the writer. A forked process only forgets it: its thread and its lock belong to the process that opened it. */
static void close_writer(struct writer_object *object) {
    struct idx_writer *writer = object->writer;
    object->writer = NULL;
    if (writer == NULL || object->process != (long)getpid()) return;
    PyThreadState *thread = PyEval_SaveThread();
    idx_writer_close(writer);
    PyEval_RestoreThread(thread);
    if (object->raised != NULL) report_raised(object);
}

static void writer_free(PyObject *self) {
    close_writer((struct writer_object *)self);
    Py_XDECREF(((struct writer_object *)self)->progress);
    Py_XDECREF(((struct writer_object *)self)->raised);
    object_free(self);
}

static PyObject *writer_close(PyObject *self, PyObject *unused) {
    struct writer_object *object = (struct writer_object *)self;
    if (object->writer != NULL && object->process == (long)getpid()) {
        if (!writer_enter(object)) return NULL;
        object->busy = false;
    }
    close_writer(object);
    Py_RETURN_NONE;
}

/* ---- Adding ---- */

/* Takes (fingerprints, ids). */
static PyObject *writer_add(PyObject *self, PyObject *arguments) {
    struct writer_object *object = (struct writer_object *)self;
    PyObject *fingerprints, *ids;
    struct items items;
    struct idx_error error;
    if (!PyArg_ParseTuple(arguments, "OO", &fingerprints, &ids) ||
        !items_take(fingerprints, ids, object->id_type, false, &items))
        return NULL;
    struct idx_item *list = items_make_list(&items);
    if (list == NULL || !writer_enter(object)) {
        items_release(&items);
        return NULL;
    }
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status = idx_writer_add(object->writer, list, items.count, &error);
    PyEval_RestoreThread(thread);
    object->busy = false;
    items_release(&items);
    if (!check_call(status, &error, NULL)) return NULL;
    Py_RETURN_NONE;
}

/* Takes (hashes, counts, ids): texts by their sets. */
static PyObject *writer_add_texts(PyObject *self, PyObject *arguments) {
    struct writer_object *object = (struct writer_object *)self;
    struct sets sets;
    struct idx_error error;
    if (!sets_take_texts(arguments, object->id_type, false, &sets)) return NULL;
    struct idx_item *items = items_make_list(&sets.items);
    if (items == NULL || !writer_enter(object)) {
        sets_release(&sets);
        return NULL;
    }
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status = idx_writer_add_texts(object->writer, items, sets.list, sets.counts.count, &error);
    PyEval_RestoreThread(thread);
    object->busy = false;
    sets_release(&sets);
    if (!check_call(status, &error, NULL)) return NULL;
    Py_RETURN_NONE;
}

/* ---- Removing ---- */

/* Returns (documents, missing) of a removal, or raises its error. */
static PyObject *end_removal(enum idx_status status, const struct idx_removal *removal, const struct idx_error *error) {
    if (!check_call(status, error, NULL)) return NULL;
    return Py_BuildValue("(KK)", (unsigned long long)removal->documents, (unsigned long long)removal->missing);
}

/* Removes what items name, and releases them. Returns (documents, missing). */
static PyObject *remove_items(struct writer_object *object, struct items *items, enum idx_removal_key key) {
    PyObject *answer = NULL;
    struct idx_removal removal;
    struct idx_error error;
    struct idx_item *list = items_make_list(items);
    if (list != NULL && writer_enter(object)) {
        PyThreadState *thread = PyEval_SaveThread();
        enum idx_status status = idx_writer_remove(object->writer, key, list, items->count, &removal, &error);
        PyEval_RestoreThread(thread);
        object->busy = false;
        answer = end_removal(status, &removal, &error);
    }
    items_release(items);
    return answer;
}

/* Takes (fingerprints, ids). Returns (documents, missing). */
static PyObject *writer_remove(PyObject *self, PyObject *arguments) {
    struct writer_object *object = (struct writer_object *)self;
    PyObject *fingerprints, *ids;
    struct items items;
    if (!PyArg_ParseTuple(arguments, "OO", &fingerprints, &ids) ||
        !items_take(fingerprints, ids, object->id_type, false, &items))
        return NULL;
    return remove_items(object, &items, IDX_REMOVE_DOCUMENTS);
}

/* Takes (ids). Returns (documents, missing). */
static PyObject *writer_remove_ids(PyObject *self, PyObject *arguments) {
    struct writer_object *object = (struct writer_object *)self;
    PyObject *ids;
    struct items items;
    if (!PyArg_ParseTuple(arguments, "O", &ids) || !items_take_ids(ids, object->id_type, &items)) return NULL;
    return remove_items(object, &items, IDX_REMOVE_IDS);
}

/* Takes (fingerprints). Returns (documents, missing). */
static PyObject *writer_remove_fingerprints(PyObject *self, PyObject *arguments) {
    struct writer_object *object = (struct writer_object *)self;
    PyObject *fingerprints;
    struct items items;
    if (!PyArg_ParseTuple(arguments, "O", &fingerprints) ||
        !items_take(fingerprints, Py_None, IDX_ID_NONE, false, &items))
        return NULL;
    return remove_items(object, &items, IDX_REMOVE_FINGERPRINTS);
}

/* ---- The type ---- */

static PyObject *get_closed(PyObject *self, void *closure) {
    return PyBool_FromLong(((struct writer_object *)self)->writer == NULL);
}

static PyMethodDef methods[] = {
    {"close", writer_close, METH_NOARGS,
     "close($self)\n--\n\nClose the writer. Cancels a running compaction without effect. May be called again. In a\n"
     "forked process it does nothing to the index, nor to the writer of the process that opened it."},
    {"wait", writer_wait, METH_NOARGS,
     "wait($self)\n--\n\nWait for the running compaction, if any. Raises the error of the last one, if it failed, or\n"
     "what progress raised. Ctrl-C cancels the compaction. A compaction that fails or is cancelled loses nothing."},
    {"_add", writer_add, METH_VARARGS, NULL},
    {"_add_texts", writer_add_texts, METH_VARARGS, NULL},
    {"_check_and_add", writer_check_and_add, METH_VARARGS, NULL},
    {"_add_unlike", writer_add_unlike, METH_VARARGS, NULL},
    {"_remove", writer_remove, METH_VARARGS, NULL},
    {"_remove_fingerprints", writer_remove_fingerprints, METH_VARARGS, NULL},
    {"_remove_ids", writer_remove_ids, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

/* Returns (recipe, sketch, resemblance) of the index. */
static PyObject *get_about(PyObject *self, void *closure) {
    struct idx_properties properties;
    struct writer_object *object = (struct writer_object *)self;
    if (!writer_enter(object)) return NULL;
    idx_get_properties(idx_writer_view(object->writer), &properties);
    PyObject *about = Py_BuildValue("(sid)", properties.recipe, (int)properties.sketch,
                                    (double)properties.threshold / (double)IDX_THRESHOLD_ONE);
    object->busy = false;
    return about;
}

static PyGetSetDef properties[] = {
    {"_about", get_about, NULL, NULL, NULL},
    {"closed", get_closed, NULL, "Whether it was closed.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

bool writer_init(PyObject *module) {
    static PyType_Slot slots[] = {
        {Py_tp_new, writer_new},
        {Py_tp_dealloc, writer_free},
        {Py_tp_methods, methods},
        {Py_tp_getset, properties},
        {Py_tp_doc, "An open writer; libidx.Writer is the whole of it."},
        {0, NULL},
    };
    return type_make(module, "libidx._core.Writer", sizeof(struct writer_object), Py_TPFLAGS_BASETYPE, slots) != NULL;
}
