/* columns.c: columns that go out: as buffers for NumPy, which neither copies nor outlives them. */
#include "libidx/python/module.h"

#include <stdlib.h>
#include <string.h>

/* Returns how many bytes an item of a kind has. */
static size_t get_item_bytes(char kind) { return kind == 'B' || kind == '?' ? 1 : 8; }

void columns_begin(struct columns *columns, const char *kinds) {
    memset(columns, 0, sizeof *columns);
    for (size_t i = 0; kinds[i] != '\0'; i++) columns->list[i].kind = kinds[i];
}

/* Makes the capacity of a column enough for `new_count` items. Returns false if memory runs out. A column has one byte
 * more than its items, since for 0 bytes realloc may return NULL. Below SIZE_MAX / 32 items, no sum or product here
 * overflows. */
static bool reserve_items(struct column *column, size_t new_count) {
    if (column->items != NULL && column->capacity - column->count >= new_count) return true;
    if (new_count > SIZE_MAX / 32 - column->count) return false;
    size_t needed_capacity = column->count + new_count, grown_capacity = column->capacity + column->capacity / 2;
    size_t capacity = grown_capacity > needed_capacity ? grown_capacity : needed_capacity;
    void *items = realloc(column->items, capacity * get_item_bytes(column->kind) + 1);
    if (items == NULL) return false;
    column->items = items;
    column->capacity = capacity;
    return true;
}

void *columns_add(struct columns *columns, size_t column_number, size_t new_count) {
    struct column *column = &columns->list[column_number];
    if (!reserve_items(column, new_count)) {
        columns->failed = true;
        return NULL;
    }
    void *items = (char *)column->items + column->count * get_item_bytes(column->kind);
    column->count += new_count;
    return items;
}

bool columns_begin_sized(struct columns *columns, const char *kinds, size_t count) {
    columns_begin(columns, kinds);
    for (size_t i = 0; kinds[i] != '\0'; i++) columns_add(columns, i, count);
    if (columns->failed) columns_end(columns, true);
    return !columns->failed;
}

void columns_adopt(struct columns *columns, size_t column_number, void *items, size_t count) {
    columns->list[column_number].items = items;
    columns->list[column_number].count = columns->list[column_number].capacity = count;
}

/* ---- Buffers ---- */

struct column_object {
    PyObject_HEAD void *items; /* of malloc */
    Py_ssize_t shape, stride;
    char format[2];
    bool readonly;
};

static PyTypeObject *column_type;
static PyObject *numpy_asarray, *results; /* NULL until they are needed; `results` is the module libidx._results */

/* This is the bf_getbuffer of a column object: exports its memory without a copy. Returns -1 with BufferError set if a
 * writable buffer of a read-only column is asked for. */
static int get_buffer(PyObject *self, Py_buffer *view, int flags) {
    struct column_object *object = (struct column_object *)self;
    if (object->readonly && (flags & PyBUF_WRITABLE) != 0) {
        *view = (Py_buffer){.obj = NULL};
        PyErr_SetString(PyExc_BufferError, "a column of a result is read-only: copy it");
        return -1;
    }
    *view = (Py_buffer){.buf = object->items,
                        .obj = Py_NewRef(self),
                        .len = object->shape * object->stride,
                        .itemsize = object->stride,
                        .readonly = object->readonly,
                        .ndim = 1,
                        .format = flags & PyBUF_FORMAT ? object->format : NULL,
                        .shape = flags & PyBUF_ND ? &object->shape : NULL,
                        .strides = flags & PyBUF_STRIDES ? &object->stride : NULL};
    return 0;
}

/* This is the tp_dealloc of a column object: frees its memory. */
static void free_column(PyObject *self) {
    free(((struct column_object *)self)->items);
    object_free(self);
}

/* Returns the letter of a buffer's format for a kind: l and L for q and Q where `long` has 64 bits, or else the kind.
 * NumPy's types int64 and uint64 are those of `long` there; q and Q would be other types of the same size. */
static char get_format_letter(char kind) {
    if (sizeof(long) < 8 || (kind != 'q' && kind != 'Q')) return kind;
    return kind == 'q' ? 'l' : 'L';
}

/* Makes an object whose buffer is a column. It owns the memory of the column then, cut to its items, and column->items
 * is NULL. Returns NULL with an exception set if memory runs out; then the column keeps its memory. */
static PyObject *make_column_object(struct column *column, bool readonly) {
    struct column_object *object = PyObject_New(struct column_object, column_type);
    if (object == NULL) return NULL;
    size_t stride = get_item_bytes(column->kind);
    void *trimmed = column->capacity > column->count ? realloc(column->items, column->count * stride + 1) : NULL;
    object->items = trimmed != NULL ? trimmed : column->items;
    column->items = NULL;
    object->shape = (Py_ssize_t)column->count;
    object->stride = (Py_ssize_t)stride;
    object->format[0] = get_format_letter(column->kind);
    object->format[1] = '\0';
    object->readonly = readonly;
    return (PyObject *)object;
}

/* Imports a module, and sets *object to its attribute `name`, or to the module if `name` is NULL. Does nothing if
 * *object is not NULL. Returns false with an exception set if that fails. */
static bool import_once(PyObject **object, const char *module, const char *name) {
    if (*object != NULL) return true;
    PyObject *imported = PyImport_ImportModule(module);
    *object = imported == NULL || name == NULL ? Py_XNewRef(imported) : PyObject_GetAttrString(imported, name);
    Py_XDECREF(imported);
    return *object != NULL;
}

/* Returns an object that owns the memory of a column from then on: a NumPy array; or if `readonly`, a column object, so
 * that NumPy is imported only once somebody asks for an array. Returns None for a column without memory, and NULL with
 * an exception set on failure. */
static PyObject *convert_column_to_object(struct column *column, bool readonly) {
    if (column->items == NULL) Py_RETURN_NONE;
    PyObject *object =
        readonly || import_once(&numpy_asarray, "numpy", "asarray") ? make_column_object(column, readonly) : NULL;
    if (object == NULL || readonly) return object;
    PyObject *array = PyObject_CallFunctionObjArgs(numpy_asarray, object, NULL);
    Py_DECREF(object);
    return array;
}

/* Returns a tuple of what convert_column_to_object makes of each column, or NULL with an exception set. `ok` is false
 * if the call that filled the columns has failed, which has set one. Frees the memory that no object owns then. */
static PyObject *convert_columns_to_tuple(struct columns *columns, bool ok, bool readonly) {
    size_t count = 0;
    while (count < MAX_COLUMNS && columns->list[count].kind != 0) count++;
    PyObject *tuple = ok && !columns->failed ? PyTuple_New((Py_ssize_t)count) : NULL;
    for (size_t i = 0; i < count && tuple != NULL; i++) {
        PyObject *column = convert_column_to_object(&columns->list[i], readonly);
        if (column == NULL || PyTuple_SetItem(tuple, (Py_ssize_t)i, column) < 0) Py_CLEAR(tuple);
    }
    for (size_t i = 0; i < count; i++) {
        free(columns->list[i].items);
        columns->list[i].items = NULL;
    }
    if (ok && columns->failed) PyErr_NoMemory();
    return tuple;
}

PyObject *columns_end(struct columns *columns, bool ok) { return convert_columns_to_tuple(columns, ok, false); }

PyObject *columns_end_as_array(struct columns *columns, bool ok) {
    PyObject *arrays = convert_columns_to_tuple(columns, ok, false);
    PyObject *array = arrays == NULL ? NULL : Py_NewRef(PyTuple_GetItem(arrays, 0));
    Py_XDECREF(arrays);
    return array;
}

PyObject *columns_end_result(struct columns *columns, bool ok, const char *name) {
    PyObject *tuple = convert_columns_to_tuple(columns, ok, true), *class = NULL, *result = NULL;
    if (tuple != NULL && import_once(&results, "libidx._results", NULL)) class = PyObject_GetAttrString(results, name);
    if (class != NULL) result = PyObject_CallFunctionObjArgs(class, tuple, NULL);
    Py_XDECREF(class);
    Py_XDECREF(tuple);
    return result;
}

bool make_column_type(void) {
    static PyType_Slot slots[] = {
        {Py_tp_doc, "Memory of libidx, which its buffer gives without a copy."},
        {Py_bf_getbuffer, get_buffer},
        {Py_tp_dealloc, free_column},
        {0, NULL},
    };
    static PyType_Spec spec = {"libidx._core.Column", sizeof(struct column_object), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
    column_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return column_type != NULL;
}
