/* builder.c: the type Builder. */
#include "libidx/python/core.h"

#include <limits.h>

#include "libidx/python/resembling.h"

struct builder_object {
    struct handle handle; /* of a struct idx_builder */
    enum idx_id_type id_type;
    uint64_t added_count; /* the ID of the next document if integer IDs are not given: how many came before */
};

PyObject *make_summary_tuple(const struct idx_build_summary *summary) {
    return Py_BuildValue("(KKKKsnKnNKKK)", (unsigned long long)summary->documents,
                         (unsigned long long)summary->fingerprints, (unsigned long long)summary->table_bytes,
                         (unsigned long long)summary->documents_bytes, summary->scheme, (Py_ssize_t)summary->tables,
                         (unsigned long long)summary->temporary_bytes, (Py_ssize_t)summary->leftovers,
                         PyBool_FromLong(summary->mixed_icu), (unsigned long long)summary->by_id_bytes,
                         (unsigned long long)summary->texts, (unsigned long long)summary->sets_bytes);
}

/* ---- Opening ---- */

/* Closes a builder, as struct handle_kind has it, which discards an unpublished build. */
static void close_builder(PyObject *self, void *builder) { idx_builder_close(builder); }

/* Takes (path, bits, k, scheme, block_size, id_type, recipe or None, replace, max_bytes, by_id, sketch, threshold,
 * call), and begins to build an index. These are the members of struct idx_build_options, with these differences:
 *
 * - id_type: the number of an enum idx_id_type
 * - max_bytes: max_bytes_per_fingerprint
 * - call: threads, memory, temporary folder and progress (parse_call) */
static PyObject *builder_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    static const struct handle_kind kind = {"builder", "has ended: make another one", close_builder};
    struct idx_build_options options = IDX_BUILD_OPTIONS_INIT;
    struct idx_builder *builder = NULL;
    struct path path = {NULL, NULL};
    struct call opening;
    int id_type, replace, by_id;
    long long threshold;
    struct natural max_bytes = {"max_bytes_per_fingerprint", UINT_MAX, 0};
    if (!PyArg_ParseTuple(arguments, "O&IIsIizpO&pILO&", parse_path, &path, &options.bits, &options.k, &options.scheme,
                          &options.block_size, &id_type, &options.recipe, &replace, parse_natural, &max_bytes, &by_id,
                          &options.sketch, &threshold, parse_call, &opening))
        return NULL;
    struct builder_object *object = handle_new(type, &kind, &opening);
    bool ok = object != NULL && check_range("id_type", id_type, 0, 2);
    if (ok) {
        struct call *call = &object->handle.call;
        SET_OPTIONS(options, *call);
        options.temporary_folder = call->folder.text;
        options.id_type = object->id_type = (enum idx_id_type)id_type;
        options.max_bytes_per_fingerprint = (unsigned)max_bytes.value;
        options.replace = replace;
        options.by_id = by_id;
        options.threshold = threshold;
        ok = call_begin(call) && call_end(call, idx_builder_open(&builder, path.text, &options, &call->error));
    }
    Py_DECREF(path.bytes);
    return object == NULL ? NULL : handle_set_opened(object, builder, ok);
}

/* ---- Adding ---- */

/* Adds items, up to the first one that fails. If the index has integer IDs and the items have none, their IDs are the
 * next numbers from object->added_count on. Called without the GIL. Errors: those of idx_builder_add. */
static enum idx_status add_items(struct builder_object *object, const struct items *items) {
    enum idx_status status = IDX_OK;
    for (size_t i = 0; i < items->count && status == IDX_OK; i++) {
        struct idx_item item = {.fingerprint = items->fingerprints.items[i]};
        if (object->id_type == IDX_ID_TEXT) {
            item.id = items->texts.items[i];
            item.id_length = items->texts.lengths[i];
        } else {
            item.number = items->numbers.items == NULL ? object->added_count : items->numbers.items[i];
            object->added_count++;
        }
        status = idx_builder_add(object->handle.opened, &item, &object->handle.call.error);
    }
    return status;
}

/* Takes (fingerprints, ids), and adds these documents. */
static PyObject *builder_add(PyObject *self, PyObject *arguments) {
    struct builder_object *object = (struct builder_object *)self;
    PyObject *fingerprints, *ids;
    struct items items;
    if (!PyArg_ParseTuple(arguments, "OO", &fingerprints, &ids) ||
        !parse_items(fingerprints, ids, object->id_type, true, &items))
        return NULL;
    bool ok = handle_begin(object) && handle_end(object, add_items(object, &items));
    items_release(&items);
    return ok ? Py_NewRef(Py_None) : NULL;
}

/* Adds the texts of `sets`, up to the first one that fails; items[i] has the ID of text i. If integer IDs were not
 * given, sets the numbers of the items to the next ones from object->added_count on. Called without the GIL. Errors:
 * those of idx_builder_add_text. */
static enum idx_status add_texts(struct builder_object *object, const struct sets *sets, struct idx_item *items) {
    enum idx_status status = IDX_OK;
    bool must_number = object->id_type == IDX_ID_U64 && sets->items.numbers.items == NULL;
    for (size_t i = 0; i < sets->counts.count && status == IDX_OK; i++) {
        if (must_number) items[i].number = object->added_count;
        status = idx_builder_add_text(object->handle.opened, &items[i], &sets->list[i], &object->handle.call.error);
        object->added_count++;
    }
    return status;
}

/* Takes (hashes, counts, ids), the sets of texts (resembling.h), and adds these texts. */
static PyObject *builder_add_texts(PyObject *self, PyObject *arguments) {
    struct builder_object *object = (struct builder_object *)self;
    struct sets sets;
    if (!parse_sets_with_ids(arguments, object->id_type, true, &sets)) return NULL;
    struct idx_item *items = items_make_list(&sets.items);
    bool ok = items != NULL && handle_begin(object) && handle_end(object, add_texts(object, &sets, items));
    sets_release(&sets);
    return ok ? Py_NewRef(Py_None) : NULL;
}

/* Publishes the index, and closes the builder, even if that fails. Returns the tuple of make_summary_tuple. */
static PyObject *builder_finish(PyObject *self, PyObject *unused) {
    struct handle *handle = (struct handle *)self;
    struct idx_build_summary summary;
    if (!handle_begin(handle)) return NULL;
    bool ok = handle_end(handle, idx_builder_finish(handle->opened, &summary, &handle->call.error));
    handle_close_opened(handle);
    return ok ? make_summary_tuple(&summary) : NULL;
}

static PyMethodDef builder_methods[] = {
    {"_add", builder_add, METH_VARARGS, NULL},
    {"_add_texts", builder_add_texts, METH_VARARGS, NULL},
    {"_finish", builder_finish, METH_NOARGS, NULL},
    {"_discard", handle_close, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

bool add_builder_type(PyObject *module) {
    static PyType_Slot slots[] = {
        {Py_tp_new, builder_new},
        {Py_tp_dealloc, handle_free},
        {Py_tp_methods, builder_methods},
        {Py_tp_getset, handle_properties},
        {Py_tp_doc, "A build under way; libidx.Builder is the whole of it."},
        {0, NULL},
    };
    return add_type(module, "libidx._core.Builder", sizeof(struct builder_object), Py_TPFLAGS_BASETYPE, slots) != NULL;
}
