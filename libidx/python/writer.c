/* writer.c: the type Writer. */
#include "libidx/python/writer.h"

#include "libidx/python/resembling.h"

/* ---- Opening and closing ---- */

/* Reports the exception that progress raised during a compaction, and that no call of `wait` has raised, by
 * sys.unraisablehook, and sets object->progress_exception to NULL. This may happen while an object is freed, so an
 * exception that is set already stays set. */
static void report_unseen_exception(struct writer_object *object) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_SetObject((PyObject *)Py_TYPE(object->progress_exception), object->progress_exception);
    PyErr_WriteUnraisable(object->handle.call.progress);
    Py_CLEAR(object->progress_exception);
    PyErr_Restore(type, value, traceback);
}

/* Closes a writer, as struct handle_kind has it, and then reports what progress raised, since `wait` can't be called
 * any more. Called without the GIL, which it acquires to report. */
static void close_writer(PyObject *self, void *writer) {
    struct writer_object *object = (struct writer_object *)self;
    idx_writer_close(writer);
    PyGILState_STATE state = PyGILState_Ensure();
    if (object->progress_exception != NULL) report_unseen_exception(object);
    PyGILState_Release(state);
}

/* Takes (path, compact_records, compact_segments, call), members of struct idx_writer_options, and opens a writer.
 * compact_records = -1 stands for IDX_COMPACT_BY_SIZE. Of the call, the memory and the folder are not used. */
static PyObject *writer_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    static const struct handle_kind kind = {"writer", "is closed: open another one", close_writer};
    struct idx_writer_options options = IDX_WRITER_OPTIONS_INIT;
    struct idx_properties properties;
    struct idx_writer *writer = NULL;
    struct path path = {NULL, NULL};
    struct call opening;
    long long records;
    if (!PyArg_ParseTuple(arguments, "O&LIO&", parse_path, &path, &records, &options.compact_segments, parse_call,
                          &opening))
        return NULL;
    struct writer_object *object = handle_new(type, &kind, &opening);
    bool ok = object != NULL && check_range("compact_records", records, -1, UINT32_MAX);
    if (ok) {
        struct call *call = &object->handle.call;
        options.threads = call->threads;
        options.compact_records = records < 0 ? IDX_COMPACT_BY_SIZE : (uint64_t)records;
        options.progress = writer_visit_progress;
        options.context = object;
        ok = call_begin(call) && call_end(call, idx_writer_open(&writer, path.text, &options, &call->error));
    }
    Py_DECREF(path.bytes);
    if (ok) {
        idx_get_properties(idx_writer_view(writer), &properties);
        object->id_type = properties.id_type;
    }
    return object == NULL ? NULL : handle_set_opened(object, writer, ok);
}

/* ---- Adding ---- */

/* Takes (fingerprints, ids), and adds these documents. */
static PyObject *writer_add(PyObject *self, PyObject *arguments) {
    struct writer_object *object = (struct writer_object *)self;
    PyObject *fingerprints, *ids;
    struct items items;
    if (!PyArg_ParseTuple(arguments, "OO", &fingerprints, &ids) ||
        !parse_items(fingerprints, ids, object->id_type, false, &items))
        return NULL;
    struct idx_item *list = items_make_list(&items);
    bool ok = list != NULL && handle_begin(object) &&
              handle_end(object, idx_writer_add(object->handle.opened, list, items.count, &object->handle.call.error));
    items_release(&items);
    return ok ? Py_NewRef(Py_None) : NULL;
}

/* Takes (hashes, counts, ids), the sets of texts (resembling.h), and adds these texts. */
static PyObject *writer_add_texts(PyObject *self, PyObject *arguments) {
    struct writer_object *object = (struct writer_object *)self;
    struct sets sets;
    if (!parse_sets_with_ids(arguments, object->id_type, false, &sets)) return NULL;
    struct idx_item *items = items_make_list(&sets.items);
    bool ok = items != NULL && handle_begin(object) &&
              handle_end(object, idx_writer_add_texts(object->handle.opened, items, sets.list, sets.counts.count,
                                                      &object->handle.call.error));
    sets_release(&sets);
    return ok ? Py_NewRef(Py_None) : NULL;
}

/* ---- Removing ---- */

/* Removes the documents that the items name: by fingerprint and ID, or by either alone, as `key` says. Releases the
 * items in any case. Returns (how many documents were removed, how many items named none), or NULL with an exception
 * set. */
static PyObject *remove_and_release_items(struct writer_object *object, struct items *items, enum idx_removal_key key) {
    struct idx_removal removal;
    struct idx_item *list = items_make_list(items);
    bool ok = list != NULL && handle_begin(object) &&
              handle_end(object, idx_writer_remove(object->handle.opened, key, list, items->count, &removal,
                                                   &object->handle.call.error));
    items_release(items);
    if (!ok) return NULL;
    return Py_BuildValue("(KK)", (unsigned long long)removal.documents, (unsigned long long)removal.missing);
}

/* Takes (fingerprints, ids), and removes these documents. Returns (documents, missing). */
static PyObject *writer_remove(PyObject *self, PyObject *arguments) {
    struct writer_object *object = (struct writer_object *)self;
    PyObject *fingerprints, *ids;
    struct items items;
    if (!PyArg_ParseTuple(arguments, "OO", &fingerprints, &ids) ||
        !parse_items(fingerprints, ids, object->id_type, false, &items))
        return NULL;
    return remove_and_release_items(object, &items, IDX_REMOVE_DOCUMENTS);
}

/* Takes (ids), and removes all documents with these IDs. Returns (documents, missing). */
static PyObject *writer_remove_ids(PyObject *self, PyObject *ids) {
    struct writer_object *object = (struct writer_object *)self;
    struct items items;
    if (!parse_items_of_ids(ids, object->id_type, &items)) return NULL;
    return remove_and_release_items(object, &items, IDX_REMOVE_IDS);
}

/* Takes (fingerprints), and removes all documents that have one of them. Returns (documents, missing). */
static PyObject *writer_remove_fingerprints(PyObject *self, PyObject *fingerprints) {
    struct items items;
    if (!parse_items(fingerprints, Py_None, IDX_ID_NONE, false, &items)) return NULL;
    return remove_and_release_items((struct writer_object *)self, &items, IDX_REMOVE_FINGERPRINTS);
}

/* ---- The type ---- */

/* Returns (recipe, sketch, resemblance) of the index: how many values a sketch has, 0 for none, and the resemblance, 0
 * to 1, that the index was built for. Raises if another call is under way. */
static PyObject *writer_about(PyObject *self, PyObject *unused) {
    struct idx_properties properties;
    struct handle *handle = (struct handle *)self;
    if (!handle_begin(handle)) return NULL;
    idx_get_properties(idx_writer_view(handle->opened), &properties);
    handle_end(handle, IDX_OK);
    return Py_BuildValue("(sid)", properties.recipe, (int)properties.sketch,
                         (double)properties.threshold / (double)IDX_THRESHOLD_ONE);
}

static PyMethodDef methods[] = {
    {"close", handle_close, METH_NOARGS,
     "close($self)\n--\n\nClose the writer. Cancels a running compaction without effect. May be called again. In a\n"
     "forked process it does nothing to the index, nor to the writer of the process that opened it."},
    {"wait", writer_wait, METH_NOARGS,
     "wait($self)\n--\n\nWait for the running compaction, if any. Raises the error of the last one, if it failed, or\n"
     "what progress raised. Ctrl-C cancels the compaction. A compaction that fails or is cancelled loses nothing."},
    {"_about", writer_about, METH_NOARGS, NULL},
    {"_add", writer_add, METH_VARARGS, NULL},
    {"_add_texts", writer_add_texts, METH_VARARGS, NULL},
    {"_check_and_add", writer_check_and_add, METH_VARARGS, NULL},
    {"_add_unlike", writer_add_unlike, METH_VARARGS, NULL},
    {"_remove", writer_remove, METH_VARARGS, NULL},
    {"_remove_fingerprints", writer_remove_fingerprints, METH_O, NULL},
    {"_remove_ids", writer_remove_ids, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

bool add_writer_type(PyObject *module) {
    static PyType_Slot slots[] = {
        {Py_tp_new, writer_new},
        {Py_tp_dealloc, handle_free},
        {Py_tp_methods, methods},
        {Py_tp_getset, handle_properties},
        {Py_tp_doc, "An open writer; libidx.Writer is the whole of it."},
        {0, NULL},
    };
    return add_type(module, "libidx._core.Writer", sizeof(struct writer_object), Py_TPFLAGS_BASETYPE, slots) != NULL;
}
