/* results.c: makes the objects that calls return from blocks of columns. */
#include "libidx/python/results.h"

#include <stdint.h>
#include <string.h>

struct result_object {
    PyObject_HEAD enum result result;
    struct block *block;
    PyObject *views[MAX_COLUMNS]; /* arrays of the columns, each made when it is first asked for */
};

static const struct kind {
    const char *name;
    const char *rows[2];   /* words for one row, and for several */
    const char *wholes[2]; /* words for one of what has the rows, and for several; NULL: nothing has */
    size_t ids;            /* as result_first_id_column returns it */
    bool by_query;
} kinds[RESULT_COUNT] = {
    [RESULT_MATCHES] = {"libidx.Matches", {"match", "matches"}, {"query", "queries"}, 0, true},
    [RESULT_DOCUMENTS] =
        {"libidx.Documents", {"document", "documents"}, {"fingerprint", "fingerprints"}, DOCUMENTS_NUMBERS, true},
    [RESULT_PAIRS] = {"libidx.Pairs", {"pair", "pairs"}, {NULL, NULL}, 0, false},
    [RESULT_CLUSTERS] =
        {"libidx.Clusters", {"document", "documents"}, {"cluster", "clusters"}, CLUSTERS_NUMBERS, false},
    [RESULT_RESEMBLING] = {"libidx.Resembling", {"document", "documents"}, {"text", "texts"}, RESEMBLING_NUMBERS, true},
};

static PyTypeObject *types[RESULT_COUNT];

size_t result_first_id_column(enum result result) { return kinds[result].ids; }

bool result_is_by_query(enum result result) { return kinds[result].by_query; }

size_t result_count_rows(enum result result, const struct block *block) {
    const struct column *first = block->columns;
    return result_is_by_query(result) ? (size_t)((const int64_t *)first->items)[first->count - 1] : first->count;
}

PyObject *result_new(enum result result, struct block *block) {
    struct result_object *object = PyObject_New(struct result_object, types[result]);
    if (object == NULL) {
        block_release(block);
        return NULL;
    }
    object->result = result;
    object->block = block;
    block->readonly = true;
    memset(object->views, 0, sizeof object->views);
    return (PyObject *)object;
}

PyObject *result_array(struct block *block) {
    PyObject *view = block == NULL ? NULL : column_view(block, 0);
    block_release(block);
    return view;
}

PyObject *result_end(enum result result, struct block *block, enum idx_status status, const struct idx_error *error,
                     const struct watch *watch, bool out_of_memory) {
    if (check_call(status, error, watch)) {
        if (!out_of_memory) return result_new(result, block);
        PyErr_NoMemory();
    }
    block_release(block);
    return NULL;
}

static void free_result(PyObject *self) {
    struct result_object *object = (struct result_object *)self;
    for (size_t i = 0; i < MAX_COLUMNS; i++) Py_XDECREF(object->views[i]);
    block_release(object->block);
    object_free(self);
}

/* Returns the array of the column whose number `closure` is. */
static PyObject *get_column(PyObject *self, void *closure) {
    struct result_object *object = (struct result_object *)self;
    size_t column = (size_t)closure;
    if (object->views[column] == NULL) object->views[column] = column_view(object->block, column);
    return Py_XNewRef(object->views[column]);
}

/* Returns how many queries a result by query has, one less than offsets, and how many rows another one has. */
static Py_ssize_t get_length(PyObject *self) {
    const struct result_object *object = (const struct result_object *)self;
    size_t count = object->block->columns[0].count;
    return (Py_ssize_t)(result_is_by_query(object->result) ? count - 1 : count);
}

/* ---- What they look like ---- */

/* Clusters are numbered from 0, ascending, without gaps. */
static size_t count_clusters(const struct column *clusters) {
    return clusters->count == 0 ? 0 : (size_t)((const int64_t *)clusters->items)[clusters->count - 1] + 1;
}

/* Returns the repr, such as <libidx.Matches: 2 matches of 1 query>. */
static PyObject *represent(PyObject *self) {
    const struct result_object *object = (const struct result_object *)self;
    const struct kind *kind = &kinds[object->result];
    size_t rows = result_count_rows(object->result, object->block);
    const char *rows_word = kind->rows[rows != 1];
    if (kind->wholes[0] == NULL) return PyUnicode_FromFormat("<%s: %zu %s>", kind->name, rows, rows_word);
    size_t wholes = kind->by_query ? (size_t)get_length(self) : count_clusters(object->block->columns);
    return PyUnicode_FromFormat("<%s: %zu %s %s %zu %s>", kind->name, rows, rows_word, kind->by_query ? "of" : "in",
                                wholes, kind->wholes[wholes != 1]);
}

/* ---- Gathering matches ---- */

bool gather_matches(void *context, size_t query, const struct idx_match *matches, size_t count) {
    struct gathering *gathering = context;
    struct column *columns = gathering->block->columns;
    struct column *offsets = &columns[MATCHES_OFFSETS], *fingerprints = &columns[MATCHES_FINGERPRINTS];
    struct column *distances = &columns[MATCHES_DISTANCES];
    size_t offset = fingerprints->count;
    gathering->failed = !column_reserve(offsets, query + 2 - offsets->count) || !column_reserve(fingerprints, count) ||
                        !column_reserve(distances, count);
    if (gathering->failed) return false;
    while (offsets->count <= query) ((int64_t *)offsets->items)[offsets->count++] = (int64_t)offset;
    for (size_t i = 0; i < count; i++) {
        ((uint64_t *)fingerprints->items)[offset + i] = matches[i].fingerprint;
        ((uint8_t *)distances->items)[offset + i] = (uint8_t)matches[i].distance;
    }
    fingerprints->count = offset + count;
    distances->count = offset + count;
    return true;
}

void gather_finish(struct gathering *gathering, size_t count) {
    if (gathering->failed) return;
    gather_matches(gathering, count, NULL, 0);
    block_trim(gathering->block);
}

/* ---- IDs as Python's objects ---- */

/* The columns of IDs, and how IDs of text become objects. */
struct ids {
    const struct column *numbers, *offsets, *bytes;
    bool as_bytes;      /* not as str */
    const char *errors; /* of decoding a str */
};

/* Returns ID number `at`, None if there are none. */
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

/* Returns a list of the IDs of each query. `offsets` are those of the queries. */
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
    size_t first = result_first_id_column(object->result);
    struct ids ids = {columns + first, columns + first + 1, columns + first + 2, false, "strict"};
    PyObject *type = (PyObject *)&PyUnicode_Type;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|O$s", names, &type, &ids.errors)) return NULL;
    ids.as_bytes = type == (PyObject *)&PyBytes_Type;
    if (!ids.as_bytes && type != (PyObject *)&PyUnicode_Type)
        return PyErr_Format(PyExc_TypeError, "type: expected str or bytes, not %R", type);
    return result_is_by_query(object->result) ? make_lists(&ids, columns) : make_list(&ids, 0, columns[0].count);
}

/* ---- Types ---- */

static PyObject *arrow_stream(PyObject *self, PyObject *arguments, PyObject *keywords) {
    static char *names[] = {"requested_schema", NULL};
    const struct result_object *object = (const struct result_object *)self;
    PyObject *requested = Py_None; /* types are as they are: a consumer casts */
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|O", names, &requested)) return NULL;
    return arrow_export(object->result, object->block);
}

#define COLUMN(name, column, doc)                                                                                      \
    { name, get_column, NULL, doc, (void *)(size_t)(column) }

#define ID_COLUMNS(first)                                                                                              \
    COLUMN("numbers", first, "uint64[m]: IDs that are integers; else None."),                                          \
        COLUMN("id_offsets", (first) + 1,                                                                              \
               "int64[m + 1]: ID j is id_bytes[id_offsets[j]:id_offsets[j + 1]]; None where IDs are no text."),        \
        COLUMN("id_bytes", (first) + 2, "uint8[...]: the bytes of all IDs; None where IDs are no text.")

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
    ID_COLUMNS(DOCUMENTS_NUMBERS),
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
    ID_COLUMNS(CLUSTERS_NUMBERS),
    {NULL, NULL, NULL, NULL, NULL},
};
static PyGetSetDef resembling_columns[] = {
    COLUMN("offsets", RESEMBLING_OFFSETS,
           "int64[n + 1]: the documents of text i are those from offsets[i] on, before offsets[i + 1]."),
    COLUMN("resemblances", RESEMBLING_RESEMBLANCES,
           "float64[m]: how much each resembles its text; of each text the greatest first, of equals by ID."),
    ID_COLUMNS(RESEMBLING_NUMBERS),
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
                                           "The IDs of each query, a list for each: of int, or of str or bytes "
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
    [RESULT_RESEMBLING] = "The documents that resemble each of many texts, as columns. Arrow's rows are query, id,\n"
                          "resemblance.\n\nlen() is the number of texts.",
};

bool results_init(PyObject *module) {
    static PyGetSetDef *const columns[RESULT_COUNT] = {matches_columns, documents_columns, pairs_columns,
                                                       clusters_columns, resembling_columns};
    static PyMethodDef *const methods[RESULT_COUNT] = {plain_methods, documents_methods, plain_methods,
                                                       clusters_methods, documents_methods};
    for (size_t i = 0; i < RESULT_COUNT; i++) {
        PyType_Slot slots[] = {
            {Py_tp_doc, (void *)(uintptr_t)docs[i]},
            {Py_tp_dealloc, free_result},
            {Py_tp_repr, represent},
            {Py_tp_getset, columns[i]},
            {Py_tp_methods, methods[i]},
            {Py_sq_length, get_length},
            {0, NULL},
        };
        types[i] =
            type_make(module, kinds[i].name, sizeof(struct result_object), Py_TPFLAGS_DISALLOW_INSTANTIATION, slots);
        if (types[i] == NULL) return false;
    }
    return true;
}
