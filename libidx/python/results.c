/* results.c: see results.h. Rows leave as a stream of Arrow's, too: columns of plain numbers are shared, not copied. */
#include "libidx/python/results.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libidx/python/arrow.h"

struct result_object {
    PyObject_HEAD enum result result;
    struct block *block;
    PyObject *views[MAX_COLUMNS];
};

/* How a column of rows is made of columns of the block. */
enum making {
    PLAIN,
    EXPANDED, /* a query's number for each of its rows, of offsets */
    BITS,     /* of truth values */
    TEXTS,    /* of offsets, the bytes in the column behind */
};

struct row_column {
    const char *name, *format;
    enum making making;
    size_t column;
};

static const struct {
    const char *name;
    struct row_column rows[6];
} layouts[RESULT_COUNT] = {
    [RESULT_MATCHES] = {"libidx.Matches",
                        {{"query", "l", EXPANDED, MATCHES_OFFSETS},
                         {"fingerprint", "L", PLAIN, MATCHES_FINGERPRINTS},
                         {"distance", "C", PLAIN, MATCHES_DISTANCES}}},
    [RESULT_DOCUMENTS] = {"libidx.Documents",
                          {{"query", "l", EXPANDED, DOCUMENTS_OFFSETS},
                           {"id", "L", PLAIN, DOCUMENTS_NUMBERS},
                           {"id", "U", TEXTS, DOCUMENTS_ID_OFFSETS}}},
    [RESULT_PAIRS] = {"libidx.Pairs",
                      {{"a", "L", PLAIN, PAIRS_A},
                       {"b", "L", PLAIN, PAIRS_B},
                       {"distance", "C", PLAIN, PAIRS_DISTANCES}}},
    [RESULT_CLUSTERS] = {"libidx.Clusters",
                         {{"cluster", "l", PLAIN, CLUSTERS_CLUSTERS},
                          {"fingerprint", "L", PLAIN, CLUSTERS_FINGERPRINTS},
                          {"distance", "C", PLAIN, CLUSTERS_DISTANCES},
                          {"is_representative", "b", BITS, CLUSTERS_REPRESENTATIVE},
                          {"id", "L", PLAIN, CLUSTERS_NUMBERS},
                          {"id", "U", TEXTS, CLUSTERS_ID_OFFSETS}}},
};

static PyTypeObject *types[RESULT_COUNT];

PyObject *result_new(enum result result, struct block *block) {
    struct result_object *object = PyObject_New(struct result_object, types[result]);
    if (object == NULL) {
        block_release(block);
        return NULL;
    }
    object->result = result;
    object->block = block;
    memset(object->views, 0, sizeof object->views);
    return (PyObject *)object;
}

PyObject *result_array(struct block *block) {
    PyObject *view = column_view(block, 0);
    block_release(block);
    return view;
}

static void free_result(PyObject *self) {
    struct result_object *object = (struct result_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    for (size_t i = 0; i < MAX_COLUMNS; i++) Py_XDECREF(object->views[i]);
    block_release(object->block);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyObject *get_column(PyObject *self, void *closure) {
    struct result_object *object = (struct result_object *)self;
    size_t column = (size_t)closure;
    if (object->views[column] == NULL) object->views[column] = column_view(object->block, column);
    return Py_XNewRef(object->views[column]);
}

/* Of queries, or of rows. */
static Py_ssize_t get_length(PyObject *self) {
    const struct result_object *object = (const struct result_object *)self;
    bool of_queries = object->result == RESULT_MATCHES || object->result == RESULT_DOCUMENTS;
    return (Py_ssize_t)(object->block->columns[0].count - of_queries);
}

/* ---- IDs as Python's objects ---- */

struct ids {
    const struct column *numbers, *offsets, *bytes;
    bool as_bytes;
    const char *errors;
};

static PyObject *make_id(const struct ids *ids, size_t at) {
    if (ids->numbers->items != NULL) return PyLong_FromUnsignedLongLong(((const uint64_t *)ids->numbers->items)[at]);
    if (ids->offsets->items == NULL) Py_RETURN_NONE;
    const int64_t *offset = (const int64_t *)ids->offsets->items + at;
    const char *bytes = (const char *)ids->bytes->items + offset[0];
    Py_ssize_t length = (Py_ssize_t)(offset[1] - offset[0]);
    return ids->as_bytes ? PyBytes_FromStringAndSize(bytes, length) : PyUnicode_DecodeUTF8(bytes, length, ids->errors);
}

static PyObject *make_list(const struct ids *ids, size_t begin, size_t end) {
    PyObject *list = PyList_New((Py_ssize_t)(end - begin));
    for (size_t i = begin; i < end && list != NULL; i++) {
        PyObject *id = make_id(ids, i);
        if (id == NULL || PyList_SetItem(list, (Py_ssize_t)(i - begin), id) < 0) Py_CLEAR(list);
    }
    return list;
}

static PyObject *make_lists(const struct ids *ids, const struct column *offsets) {
    const int64_t *offset = offsets->items;
    PyObject *lists = PyList_New((Py_ssize_t)offsets->count - 1);
    for (size_t i = 0; i + 1 < offsets->count && lists != NULL; i++) {
        PyObject *list = make_list(ids, (size_t)offset[i], (size_t)offset[i + 1]);
        if (list == NULL || PyList_SetItem(lists, (Py_ssize_t)i, list) < 0) Py_CLEAR(lists);
    }
    return lists;
}

static PyObject *to_list(PyObject *self, PyObject *arguments, PyObject *keywords) {
    static char *names[] = {"type", "errors", NULL};
    const struct result_object *object = (const struct result_object *)self;
    const struct column *columns = object->block->columns;
    bool documents = object->result == RESULT_DOCUMENTS;
    size_t first = documents ? DOCUMENTS_NUMBERS : CLUSTERS_NUMBERS;
    struct ids ids = {columns + first, columns + first + 1, columns + first + 2, false, "strict"};
    PyObject *type = (PyObject *)&PyUnicode_Type;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|O$s", names, &type, &ids.errors)) return NULL;
    ids.as_bytes = type == (PyObject *)&PyBytes_Type;
    if (!ids.as_bytes && type != (PyObject *)&PyUnicode_Type) {
        PyErr_Format(PyExc_TypeError, "type: %R where str or bytes is wanted", type);
        return NULL;
    }
    return documents ? make_lists(&ids, columns) : make_list(&ids, 0, columns[0].count);
}

/* ---- Arrow ---- */

/* What a stream, its schema or an array holds. */
struct export {
    enum result result;
    struct block *block;
    bool binary; /* texts are not all UTF-8 */
    bool given;
};

static bool is_there(const struct export *export, const struct row_column *row) {
    return row->name != NULL && export->block->columns[row->column].items != NULL;
}

static size_t count_rows(const struct export *export) {
    const struct column *columns = export->block->columns;
    if (export->result == RESULT_MATCHES || export->result == RESULT_DOCUMENTS)
        return (size_t)((const int64_t *)columns[0].items)[columns[0].count - 1];
    return columns[0].count;
}

static void release_schema(struct ArrowSchema *schema) {
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (schema->children[i]->release != NULL) schema->children[i]->release(schema->children[i]);
        free(schema->children[i]);
    }
    free(schema->children);
    schema->release = NULL;
}

/* Fills a schema of nothing but a format; children are added. */
static int make_schema(const struct export *export, struct ArrowSchema *schema) {
    const struct row_column *rows = layouts[export->result].rows;
    *schema = (struct ArrowSchema){.format = "+s", .name = "", .release = release_schema};
    schema->children = calloc(6, sizeof *schema->children);
    for (size_t i = 0; i < 6 && schema->children != NULL; i++) {
        if (!is_there(export, &rows[i])) continue;
        struct ArrowSchema *child = malloc(sizeof *child);
        if (child == NULL) break;
        const char *format = export->binary && rows[i].making == TEXTS ? "Z" : rows[i].format;
        *child = (struct ArrowSchema){.format = format, .name = rows[i].name, .release = release_schema};
        schema->children[schema->n_children++] = child;
    }
    return schema->children == NULL ? ENOMEM : 0;
}

/* A column of rows: its buffers, of which those that were made for it are its own. */
struct rows_column {
    struct block *block;
    const void *buffers[3];
    void *made;
};

static void release_column(struct ArrowArray *array) {
    struct rows_column *column = array->private_data;
    block_release(column->block);
    free(column->made);
    free(column);
    array->release = NULL;
}

static void release_array(struct ArrowArray *array) {
    for (int64_t i = 0; i < array->n_children; i++) {
        if (array->children[i]->release != NULL) array->children[i]->release(array->children[i]);
        free(array->children[i]);
    }
    free(array->children);
    free(array->buffers);
    array->release = NULL;
}

static void *expand(const struct column *offsets, size_t rows) {
    const int64_t *offset = offsets->items;
    int64_t *queries = malloc(rows * sizeof *queries + 1);
    for (size_t i = 0; i + 1 < offsets->count && queries != NULL; i++) {
        for (int64_t row = offset[i]; row < offset[i + 1]; row++) queries[row] = (int64_t)i;
    }
    return queries;
}

static void *pack(const struct column *truths) {
    const uint8_t *truth = truths->items;
    uint8_t *bits = calloc(truths->count / 8 + 1, 1);
    for (size_t i = 0; i < truths->count && bits != NULL; i++) bits[i / 8] |= (uint8_t)((truth[i] != 0) << (i % 8));
    return bits;
}

static int fill_column(const struct export *export, const struct row_column *row, size_t rows,
                       struct ArrowArray *array) {
    const struct column *source = &export->block->columns[row->column];
    struct rows_column *column = calloc(1, sizeof *column);
    if (column == NULL) return ENOMEM;
    if (row->making == EXPANDED) column->made = expand(source, rows);
    if (row->making == BITS) column->made = pack(source);
    bool made = row->making == EXPANDED || row->making == BITS;
    if (made && column->made == NULL) {
        free(column);
        return ENOMEM;
    }
    column->buffers[1] = made ? column->made : source->items;
    if (row->making == TEXTS) column->buffers[2] = source[1].items;
    block_hold(export->block);
    column->block = export->block;
    *array = (struct ArrowArray){.length = (int64_t)rows,
                                 .n_buffers = row->making == TEXTS ? 3 : 2,
                                 .buffers = column->buffers,
                                 .release = release_column,
                                 .private_data = column};
    return 0;
}

static int make_array(const struct export *export, struct ArrowArray *array) {
    const struct row_column *rows = layouts[export->result].rows;
    size_t count = count_rows(export);
    *array = (struct ArrowArray){.length = (int64_t)count, .n_buffers = 1, .release = release_array};
    array->buffers = calloc(1, sizeof *array->buffers);
    array->children = calloc(6, sizeof *array->children);
    int status = array->buffers == NULL || array->children == NULL ? ENOMEM : 0;
    for (size_t i = 0; i < 6 && status == 0; i++) {
        if (!is_there(export, &rows[i])) continue;
        struct ArrowArray *child = malloc(sizeof *child);
        status = child == NULL ? ENOMEM : fill_column(export, &rows[i], count, child);
        if (status == 0) array->children[array->n_children++] = child;
        if (status != 0) free(child);
    }
    if (status != 0) release_array(array);
    return status;
}

static int stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *schema) {
    return make_schema(stream->private_data, schema);
}

/* All rows at once, then none. */
static int stream_next(struct ArrowArrayStream *stream, struct ArrowArray *array) {
    struct export *export = stream->private_data;
    if (export->given) {
        array->release = NULL;
        return 0;
    }
    export->given = true;
    return make_array(export, array);
}

static const char *stream_error(struct ArrowArrayStream *stream) {
    (void)stream;
    return "out of memory";
}

static void stream_release(struct ArrowArrayStream *stream) {
    struct export *export = stream->private_data;
    block_release(export->block);
    free(export);
    stream->release = NULL;
}

static void free_stream(PyObject *capsule) {
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (stream->release != NULL) stream->release(stream);
    free(stream);
}

/* Whether all IDs are UTF-8, each by itself, as Arrow's strings are. */
static bool are_utf8(const struct column *offsets, const struct column *bytes) {
    const int64_t *offset = offsets->items;
    for (size_t i = 0; i + 1 < offsets->count && offset != NULL; i++) {
        PyObject *text = PyUnicode_DecodeUTF8((const char *)bytes->items + offset[i],
                                              (Py_ssize_t)(offset[i + 1] - offset[i]), "strict");
        if (text == NULL) {
            PyErr_Clear();
            return false;
        }
        Py_DECREF(text);
    }
    return true;
}

static PyObject *arrow_stream(PyObject *self, PyObject *arguments, PyObject *keywords) {
    static char *names[] = {"requested_schema", NULL};
    const struct result_object *object = (const struct result_object *)self;
    PyObject *requested = Py_None; /* types are as they are: a consumer casts */
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|O", names, &requested)) return NULL;
    struct export *export = calloc(1, sizeof *export);
    struct ArrowArrayStream *stream = malloc(sizeof *stream);
    if (export == NULL || stream == NULL) {
        free(export);
        free(stream);
        return PyErr_NoMemory();
    }
    *export = (struct export){object->result, object->block, false, false};
    const struct column *columns = object->block->columns;
    if (object->result == RESULT_DOCUMENTS)
        export->binary = !are_utf8(columns + DOCUMENTS_ID_OFFSETS, columns + DOCUMENTS_ID_BYTES);
    if (object->result == RESULT_CLUSTERS)
        export->binary = !are_utf8(columns + CLUSTERS_ID_OFFSETS, columns + CLUSTERS_ID_BYTES);
    block_hold(export->block);
    *stream = (struct ArrowArrayStream){stream_schema, stream_next, stream_error, stream_release, export};
    PyObject *capsule = PyCapsule_New(stream, "arrow_array_stream", free_stream);
    if (capsule == NULL) {
        stream_release(stream);
        free(stream);
    }
    return capsule;
}

/* ---- Types ---- */

#define COLUMN(name, column, doc)                                                                                      \
    { name, get_column, NULL, doc, (void *)(size_t)(column) }

static PyGetSetDef matches_columns[] = {
    COLUMN("offsets", MATCHES_OFFSETS,
           "int64[n + 1]: the matches of query i are those from offsets[i] on, before offsets[i + 1]."),
    COLUMN("fingerprints", MATCHES_FINGERPRINTS, "uint64[m]: of each query by distance, then by value."),
    COLUMN("distances", MATCHES_DISTANCES, "uint8[m]: Hamming distance to the query, in bits."),
    {NULL, NULL, NULL, NULL, NULL},
};
static PyGetSetDef documents_columns[] = {
    COLUMN("offsets", DOCUMENTS_OFFSETS,
           "int64[n + 1]: the documents of fingerprint i are those from offsets[i] on, before offsets[i + 1]."),
    COLUMN("counts", DOCUMENTS_COUNTS, "int64[n]: how many documents each has, of which `limit` may be listed."),
    COLUMN("numbers", DOCUMENTS_NUMBERS, "uint64[m]: IDs that are integers; else None."),
    COLUMN("id_offsets", DOCUMENTS_ID_OFFSETS,
           "int64[m + 1]: ID j is id_bytes[id_offsets[j]:id_offsets[j + 1]]; None where IDs are no text."),
    COLUMN("id_bytes", DOCUMENTS_ID_BYTES, "uint8[...]: the bytes of all IDs; None where IDs are no text."),
    {NULL, NULL, NULL, NULL, NULL},
};
static PyGetSetDef pairs_columns[] = {
    COLUMN("a", PAIRS_A, "uint64[m]: the one fingerprint."),
    COLUMN("b", PAIRS_B, "uint64[m]: the other one; of pairs of one index the greater one."),
    COLUMN("distances", PAIRS_DISTANCES, "uint8[m]: in bits."),
    {NULL, NULL, NULL, NULL, NULL},
};
static PyGetSetDef clusters_columns[] = {
    COLUMN("clusters", CLUSTERS_CLUSTERS, "int64[m]: the cluster of each document, from 0, without gaps, ascending."),
    COLUMN("fingerprints", CLUSTERS_FINGERPRINTS, "uint64[m]: of each document."),
    COLUMN("distances", CLUSTERS_DISTANCES, "uint8[m]: to the fingerprint of the cluster's representative, in bits."),
    COLUMN("is_representative", CLUSTERS_REPRESENTATIVE, "bool[m]: one of each cluster is."),
    COLUMN("numbers", CLUSTERS_NUMBERS, "uint64[m]: IDs that are integers; else None."),
    COLUMN("id_offsets", CLUSTERS_ID_OFFSETS,
           "int64[m + 1]: ID j is id_bytes[id_offsets[j]:id_offsets[j + 1]]; None where IDs are no text."),
    COLUMN("id_bytes", CLUSTERS_ID_BYTES, "uint8[...]: the bytes of all IDs; None where IDs are no text."),
    {NULL, NULL, NULL, NULL, NULL},
};

#define ARROW_METHOD                                                                                                   \
    {                                                                                                                  \
        "__arrow_c_stream__", (PyCFunction)(void (*)(void))arrow_stream, METH_VARARGS | METH_KEYWORDS,                 \
            "__arrow_c_stream__($self, requested_schema=None)\n--\n\n"                                                 \
            "All rows, for whatever reads Arrow: a capsule of a stream."                                               \
    }
static PyMethodDef plain_methods[] = {ARROW_METHOD, {NULL, NULL, 0, NULL}};
static PyMethodDef documents_methods[] = {ARROW_METHOD,
                                          {"tolist", (PyCFunction)(void (*)(void))to_list, METH_VARARGS | METH_KEYWORDS,
                                           "tolist($self, type=str, *, errors='strict')\n--\n\n"
                                           "The IDs of each fingerprint, a list for each: of int, or of str or bytes "
                                           "as `type` says. `errors` is what becomes\n"
                                           "of bytes that are no UTF-8: 'surrogateescape' keeps them."},
                                          {NULL, NULL, 0, NULL}};
static PyMethodDef clusters_methods[] = {
    ARROW_METHOD,
    {"tolist", (PyCFunction)(void (*)(void))to_list, METH_VARARGS | METH_KEYWORDS,
     "tolist($self, type=str, *, errors='strict')\n--\n\n"
     "The ID of each document: int, or str or bytes as `type` says; None where the index keeps none. `errors` is what\n"
     "becomes of bytes that are no UTF-8: 'surrogateescape' keeps them."},
    {NULL, NULL, 0, NULL}};

static const char *const docs[RESULT_COUNT] = {
    [RESULT_MATCHES] = "The matches of many queries, as columns. Arrow's rows are query, fingerprint, distance.\n\n"
                       "len() is the number of queries.",
    [RESULT_DOCUMENTS] = "The documents of many fingerprints, as columns. Arrow's rows are query, id.\n\n"
                         "len() is the number of fingerprints.",
    [RESULT_PAIRS] = "Pairs of fingerprints, as columns. Arrow's rows are a, b, distance.\n\nlen() is their number.",
    [RESULT_CLUSTERS] = "The documents of clusters, as columns. Arrow's rows are cluster, fingerprint, distance,\n"
                        "is_representative, id.\n\nlen() is the number of documents.",
};

bool results_init(PyObject *module) {
    static PyGetSetDef *const columns[RESULT_COUNT] = {matches_columns, documents_columns, pairs_columns,
                                                       clusters_columns};
    static PyMethodDef *const methods[RESULT_COUNT] = {plain_methods, documents_methods, plain_methods,
                                                       clusters_methods};
    for (size_t i = 0; i < RESULT_COUNT; i++) {
        PyType_Slot slots[] = {
            {Py_tp_doc, (void *)(uintptr_t)docs[i]},
            {Py_tp_dealloc, free_result},
            {Py_tp_getset, columns[i]},
            {Py_tp_methods, methods[i]},
            {Py_sq_length, get_length},
            {0, NULL},
        };
        PyType_Spec spec = {layouts[i].name, sizeof(struct result_object), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
        types[i] = (PyTypeObject *)PyType_FromSpec(&spec);
        if (types[i] == NULL || PyModule_AddType(module, types[i]) < 0) return false;
    }
    return true;
}
