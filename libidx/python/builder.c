/* builder.c: the type Builder. */
#include "libidx/python/core.h"

#include <limits.h>
#include <unistd.h>

#include "libidx/python/resembling.h"

struct builder_object {
    PyObject_HEAD struct idx_builder *builder; /* NULL: ended */
    struct watch watch;
    PyObject *progress; /* which `watch` borrows */
    enum idx_id_type id_type;
    uint64_t added; /* documents so far, also the number of the next one if it comes without an ID */
    long process;   /* that opened it */
    bool busy;      /* a call is under way */
};

PyObject *summary_new(const struct idx_build_summary *made) {
    return Py_BuildValue("(KKKKsnKnNKKK)", (unsigned long long)made->documents, (unsigned long long)made->fingerprints,
                         (unsigned long long)made->table_bytes, (unsigned long long)made->documents_bytes, made->scheme,
                         (Py_ssize_t)made->tables, (unsigned long long)made->temporary_bytes,
                         (Py_ssize_t)made->leftovers, PyBool_FromLong(made->mixed_icu),
                         (unsigned long long)made->by_id_bytes, (unsigned long long)made->texts,
                         (unsigned long long)made->sets_bytes);
}

/* Begins a call, unless another one is under way. At its end the caller sets object->busy to false. */
static bool enter(struct builder_object *object) {
    if (!call_begin(&object->busy, object->process, object->builder != NULL, "builder", "has ended: make another one"))
        return false;
    object->watch.failed = false;
    return true;
}

/* ---- Opening ---- */

/* Takes (path, bits, k, scheme, block_size, id_type, recipe, threads, replace, max_bytes, memory, tmpdir, by_id,
 * sketch, threshold, progress). `sketch` is 0 for an index without sets of texts. */
static PyObject *builder_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    struct idx_build_options options = IDX_BUILD_OPTIONS_INIT;
    struct idx_builder *builder = NULL;
    struct idx_error error;
    PyObject *path, *folder, *progress, *path_bytes, *folder_bytes = NULL;
    const char *path_text;
    int id_type, replace, by_id;
    long long threshold;
    struct natural memory = {"memory", UINT64_MAX, 0};
    struct natural max_bytes = {"max_bytes_per_fingerprint", UINT_MAX, 0};
    if (!PyArg_ParseTuple(arguments, "OIIsIizIpO&O&OpILO", &path, &options.bits, &options.k, &options.scheme,
                          &options.block_size, &id_type, &options.recipe, &options.threads, &replace, natural_take,
                          &max_bytes, natural_take, &memory, &folder, &by_id, &options.sketch, &threshold, &progress) ||
        !check_range("id_type", id_type, 0, 2) || !path_take(path, &path_bytes, &path_text))
        return NULL;
    if (!folder_take(folder, &folder_bytes, &options.temporary_folder)) {
        Py_DECREF(path_bytes);
        return NULL;
    }
    struct builder_object *object = object_new(type);
    if (object != NULL) {
        object->progress = Py_NewRef(progress);
        object->watch = (struct watch){progress, false};
        object->id_type = (enum idx_id_type)id_type;
        object->process = (long)getpid();
        options.id_type = object->id_type;
        options.memory_bytes = memory.value;
        options.max_bytes_per_fingerprint = (unsigned)max_bytes.value;
        options.replace = replace;
        options.by_id = by_id;
        options.threshold = threshold;
        options.progress = watch_visit;
        options.context = &object->watch;
        PyThreadState *thread = PyEval_SaveThread();
        enum idx_status status = idx_builder_open(&builder, path_text, &options, &error);
        PyEval_RestoreThread(thread);
        object->builder = status == IDX_OK ? builder : NULL;
        if (!check_call(status, &error, &object->watch)) Py_CLEAR(object);
    }
    Py_DECREF(path_bytes);
    Py_XDECREF(folder_bytes);
    return (PyObject *)object;
}

/* Closes the builder, discarding an unpublished build. A forked process only forgets it: the files are its parent's. */
static void close_builder(struct builder_object *object) {
    struct idx_builder *builder = object->builder;
    object->builder = NULL;
    if (builder == NULL || object->process != (long)getpid()) return;
    PyThreadState *thread = PyEval_SaveThread();
    idx_builder_close(builder);
    PyEval_RestoreThread(thread);
}

static void builder_free(PyObject *self) {
    close_builder((struct builder_object *)self);
    Py_XDECREF(((struct builder_object *)self)->progress);
    object_free(self);
}

/* ---- Adding ---- */

/* Adds items up to the first that fails. Where the index has integer IDs and the items none, numbers these on from
 * object->added. Without the GIL. */
static enum idx_status add_items(struct builder_object *object, const struct items *items, struct idx_error *error) {
    enum idx_status status = IDX_OK;
    for (size_t i = 0; i < items->count && status == IDX_OK; i++) {
        struct idx_item item = {.fingerprint = items->fingerprints.items[i]};
        if (object->id_type == IDX_ID_TEXT) {
            item.id = items->texts.items[i];
            item.id_length = items->texts.lengths[i];
        } else {
            item.number = items->numbers.items == NULL ? object->added : items->numbers.items[i];
            object->added++;
        }
        status = idx_builder_add(object->builder, &item, error);
    }
    return status;
}

/* Takes (fingerprints, ids). */
static PyObject *builder_add(PyObject *self, PyObject *arguments) {
    struct builder_object *object = (struct builder_object *)self;
    PyObject *fingerprints, *ids;
    struct items items;
    struct idx_error error;
    if (!PyArg_ParseTuple(arguments, "OO", &fingerprints, &ids) ||
        !items_take(fingerprints, ids, object->id_type, true, &items))
        return NULL;
    if (!enter(object)) {
        items_release(&items);
        return NULL;
    }
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status = add_items(object, &items, &error);
    PyEval_RestoreThread(thread);
    object->busy = false;
    items_release(&items);
    if (!check_call(status, &error, &object->watch)) return NULL;
    Py_RETURN_NONE;
}

/* Adds texts up to the first that fails, numbered as by add_items. Without the GIL. */
static enum idx_status add_texts(struct builder_object *object, const struct sets *sets, struct idx_item *items,
                                 struct idx_error *error) {
    enum idx_status status = IDX_OK;
    bool numbers = object->id_type == IDX_ID_U64 && sets->items.numbers.items == NULL;
    for (size_t i = 0; i < sets->counts.count && status == IDX_OK; i++) {
        if (numbers) items[i].number = object->added;
        status = idx_builder_add_text(object->builder, &items[i], &sets->list[i], error);
        object->added++;
    }
    return status;
}

/* Takes (hashes, counts, ids): texts by their sets. */
static PyObject *builder_add_texts(PyObject *self, PyObject *arguments) {
    struct builder_object *object = (struct builder_object *)self;
    struct sets sets;
    struct idx_error error;
    if (!sets_take_texts(arguments, object->id_type, true, &sets)) return NULL;
    struct idx_item *items = items_make_list(&sets.items);
    if (items == NULL || !enter(object)) {
        sets_release(&sets);
        return NULL;
    }
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status = add_texts(object, &sets, items, &error);
    PyEval_RestoreThread(thread);
    object->busy = false;
    sets_release(&sets);
    if (!check_call(status, &error, &object->watch)) return NULL;
    Py_RETURN_NONE;
}

/* Publishes the index and closes the builder, also if that fails. Returns a summary. */
static PyObject *builder_finish(PyObject *self, PyObject *unused) {
    struct builder_object *object = (struct builder_object *)self;
    struct idx_build_summary summary;
    struct idx_error error;
    if (!enter(object)) return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status = idx_builder_finish(object->builder, &summary, &error);
    PyEval_RestoreThread(thread);
    object->busy = false;
    close_builder(object);
    return check_call(status, &error, &object->watch) ? summary_new(&summary) : NULL;
}

/* Closes the builder without publishing. On one that has ended it does nothing. */
static PyObject *builder_discard(PyObject *self, PyObject *unused) {
    struct builder_object *object = (struct builder_object *)self;
    if (object->builder != NULL) {
        if (!enter(object)) return NULL;
        object->busy = false;
        close_builder(object);
    }
    Py_RETURN_NONE;
}

static PyMethodDef builder_methods[] = {
    {"_add", builder_add, METH_VARARGS, NULL},
    {"_add_texts", builder_add_texts, METH_VARARGS, NULL},
    {"_finish", builder_finish, METH_NOARGS, NULL},
    {"_discard", builder_discard, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

bool builder_init(PyObject *module) {
    static PyType_Slot slots[] = {
        {Py_tp_new, builder_new},
        {Py_tp_dealloc, builder_free},
        {Py_tp_methods, builder_methods},
        {Py_tp_doc, "A build under way; libidx.Builder is the whole of it."},
        {0, NULL},
    };
    return type_make(module, "libidx._core.Builder", sizeof(struct builder_object), Py_TPFLAGS_BASETYPE, slots) != NULL;
}
