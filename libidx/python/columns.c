/* columns.c: columns that go out: as buffers for NumPy, which neither copies nor outlives them. */
#include "libidx/python/module.h"

#include <stdlib.h>

struct block *block_new(const char *kinds) {
    struct block *block = calloc(1, sizeof *block);
    if (block == NULL) return NULL;
    block->holders = 1;
    for (; block->count < MAX_COLUMNS && kinds[block->count] != '\0'; block->count++)
        block->columns[block->count].kind = kinds[block->count];
    return block;
}

void block_hold(struct block *block) { __atomic_add_fetch(&block->holders, 1, __ATOMIC_RELAXED); }

void block_release(struct block *block) {
    if (block == NULL || __atomic_sub_fetch(&block->holders, 1, __ATOMIC_ACQ_REL) > 0) return;
    for (size_t i = 0; i < block->count; i++) free(block->columns[i].items);
    free(block);
}

static size_t item_bytes(char kind) { return kind == 'B' || kind == '?' ? 1 : 8; }

/* A column has one byte more than its items, since for 0 bytes realloc may return NULL. Below SIZE_MAX / 32 items, sums
 * and products here do not overflow. */
bool column_reserve(struct column *column, size_t more) {
    if (column->items != NULL && column->capacity - column->count >= more) return true;
    if (more > SIZE_MAX / 32 - column->count) return false;
    size_t least = column->count + more, grown = column->capacity + column->capacity / 2;
    size_t capacity = grown > least ? grown : least;
    void *items = realloc(column->items, capacity * item_bytes(column->kind) + 1);
    if (items == NULL) return false;
    column->items = items;
    column->capacity = capacity;
    return true;
}

bool column_make(struct column *column, size_t count) {
    if (!column_reserve(column, count)) return false;
    column->count = count;
    return true;
}

struct block *block_make(const char *kinds, size_t count) {
    struct block *block = block_new(kinds);
    bool ok = block != NULL;
    for (size_t i = 0; ok && i < block->count; i++) ok = column_make(&block->columns[i], count);
    if (ok) return block;
    block_release(block);
    PyErr_NoMemory();
    return NULL;
}

void block_trim(struct block *block) {
    for (size_t i = 0; i < block->count; i++) {
        struct column *column = &block->columns[i];
        if (column->items == NULL) continue;
        void *trimmed = realloc(column->items, column->count * item_bytes(column->kind) + 1);
        if (trimmed == NULL) continue;
        column->items = trimmed;
        column->capacity = column->count;
    }
}

/* ---- Buffers ---- */

struct column_object {
    PyObject_HEAD struct block *block;
    size_t column;
    Py_ssize_t shape, stride;
    char format[2];
};

static PyTypeObject *column_type;
static PyObject *numpy_asarray; /* NULL until it is needed */

/* This is the bf_getbuffer of a column. */
static int get_buffer(PyObject *self, Py_buffer *view, int flags) {
    struct column_object *object = (struct column_object *)self;
    const struct column *column = &object->block->columns[object->column];
    if (object->block->readonly && (flags & PyBUF_WRITABLE) != 0) {
        *view = (Py_buffer){.obj = NULL};
        PyErr_SetString(PyExc_BufferError, "a column of a result is read-only: copy it");
        return -1;
    }
    *view = (Py_buffer){.buf = column->items,
                        .obj = Py_NewRef(self),
                        .len = object->shape * object->stride,
                        .itemsize = object->stride,
                        .readonly = object->block->readonly,
                        .ndim = 1,
                        .format = flags & PyBUF_FORMAT ? object->format : NULL,
                        .shape = flags & PyBUF_ND ? &object->shape : NULL,
                        .strides = flags & PyBUF_STRIDES ? &object->stride : NULL};
    return 0;
}

/* This is the tp_dealloc of a column. */
static void free_column(PyObject *self) {
    block_release(((struct column_object *)self)->block);
    object_free(self);
}

/* Returns the letter of a buffer's format for a kind. Where `long` has 64 bits, int64 and uint64 are the NumPy types of
 * `long`, l and L; those of q and Q are other types of the same size. */
static char format_letter(char kind) {
    if (sizeof(long) < 8 || (kind != 'q' && kind != 'Q')) return kind;
    return kind == 'q' ? 'l' : 'L';
}

/* Makes an object whose buffer is one column, and which keeps a reference to the block. */
static PyObject *make_column_object(struct block *block, size_t column) {
    struct column_object *object = PyObject_New(struct column_object, column_type);
    if (object == NULL) return NULL;
    block_hold(block);
    object->block = block;
    object->column = column;
    object->shape = (Py_ssize_t)block->columns[column].count;
    object->stride = (Py_ssize_t)item_bytes(block->columns[column].kind);
    object->format[0] = format_letter(block->columns[column].kind);
    object->format[1] = '\0';
    return (PyObject *)object;
}

PyObject *column_view(struct block *block, size_t column) {
    if (block->columns[column].items == NULL) Py_RETURN_NONE;
    if (numpy_asarray == NULL) {
        PyObject *numpy = PyImport_ImportModule("numpy");
        if (numpy == NULL) return NULL;
        numpy_asarray = PyObject_GetAttrString(numpy, "asarray");
        Py_DECREF(numpy);
        if (numpy_asarray == NULL) return NULL;
    }
    PyObject *object = make_column_object(block, column);
    if (object == NULL) return NULL;
    PyObject *view = PyObject_CallFunctionObjArgs(numpy_asarray, object, NULL);
    Py_DECREF(object);
    return view;
}

PyObject *block_views(struct block *block) {
    PyObject *views = PyTuple_New((Py_ssize_t)block->count);
    for (size_t i = 0; i < block->count && views != NULL; i++) {
        PyObject *view = column_view(block, i);
        if (view == NULL || PyTuple_SetItem(views, (Py_ssize_t)i, view) < 0) Py_CLEAR(views);
    }
    return views;
}

bool columns_init(void) {
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
