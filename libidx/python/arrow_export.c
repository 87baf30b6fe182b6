/* arrow_export.c: exports columns as an Arrow stream of one array of rows, which shares their memory. */
#include "libidx/python/results.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libidx/python/arrow.h"

#define MAX_ROW_COLUMNS 8

/* A column of the rows. */
struct column_source {
    char *name;         /* of malloc */
    char format[2];     /* Arrow's letter, and a NUL byte */
    Py_buffer views[2]; /* of the items, and nothing; or for texts, of the offsets, and of the bytes */
};

/* The private data of the stream of rows, which is freed with the stream, or by core_arrow_stream if that fails. */
struct export {
    int64_t row_count;
    size_t source_count;
    struct column_source sources[MAX_ROW_COLUMNS];
    bool array_returned; /* The stream has returned its only array, which holds the views now. */
};

/* ---- The schema ---- */

/* This is the `release` of the schema of the rows, and of each of its children. The consumer calls it, or get_schema if
 * that fails. The consumer may have moved children away, whose `release` is NULL then. */
static void release_schema(struct ArrowSchema *schema) {
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (schema->children[i]->release != NULL) schema->children[i]->release(schema->children[i]);
        free(schema->children[i]);
    }
    free(schema->children);
    free(schema->private_data);
    schema->release = NULL;
}

/* Makes the schema of a column, for the parent's release_schema to free, or returns NULL if memory runs out. Its format
 * and name are copied to one block of memory, private_data, since the schema may outlive the stream. */
static struct ArrowSchema *make_column_schema(const struct column_source *source) {
    struct ArrowSchema *child = malloc(sizeof *child);
    char *format = malloc(sizeof source->format + strlen(source->name) + 1);
    if (child == NULL || format == NULL) {
        free(child);
        free(format);
        return NULL;
    }
    memcpy(format, source->format, sizeof source->format);
    char *name = strcpy(format + sizeof source->format, source->name);
    *child = (struct ArrowSchema){.format = format, .name = name, .release = release_schema, .private_data = format};
    return child;
}

/* This is the get_schema of the stream: sets *schema to Arrow's type struct (+s), with a child for each column. Returns
 * 0, or ENOMEM. */
static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *schema) {
    const struct export *export = stream->private_data;
    *schema = (struct ArrowSchema){.format = "+s", .name = "", .release = release_schema};
    schema->children = calloc(MAX_ROW_COLUMNS, sizeof *schema->children);
    bool ok = schema->children != NULL;
    for (size_t i = 0; i < export->source_count && ok; i++) {
        schema->children[i] = make_column_schema(&export->sources[i]);
        ok = schema->children[i] != NULL;
        if (ok) schema->n_children++;
    }
    if (!ok) release_schema(schema);
    return ok ? 0 : ENOMEM;
}

/* ---- The array ---- */

/* The private data of the array of a column. */
struct column_memory {
    Py_buffer views[2];
    const void *buffers[3];
};

/* Releases the two buffers `views`, on any thread, with or without the GIL. Once Python has ended, does nothing: the
 * memory stays until the process ends. */
static void release_views(Py_buffer *views) {
    if (!Py_IsInitialized()) return;
    PyGILState_STATE state = PyGILState_Ensure();
    for (size_t i = 0; i < 2; i++) PyBuffer_Release(&views[i]); /* which does nothing to one that was not taken */
    PyGILState_Release(state);
}

/* This is the `release` of the array of a column, which may outlive the stream. Called with or without the GIL. */
static void release_column_array(struct ArrowArray *array) {
    struct column_memory *column_memory = array->private_data;
    release_views(column_memory->views);
    free(column_memory);
    array->release = NULL;
}

/* This is the `release` of the array of the rows. The consumer may have moved children away, whose `release` is NULL
 * then. */
static void release_rows_array(struct ArrowArray *array) {
    for (int64_t i = 0; i < array->n_children; i++) {
        if (array->children[i]->release != NULL) array->children[i]->release(array->children[i]);
        free(array->children[i]);
    }
    free(array->children);
    free(array->buffers);
    array->release = NULL;
}

/* Makes the array of a column of `row_count` items, and moves the views of the source to it. Returns NULL if memory
 * runs out; then the source keeps its views. */
static struct ArrowArray *make_column_array(struct column_source *source, int64_t row_count) {
    struct ArrowArray *child = malloc(sizeof *child);
    struct column_memory *column_memory = malloc(sizeof *column_memory);
    if (child == NULL || column_memory == NULL) {
        free(child);
        free(column_memory);
        return NULL;
    }
    memcpy(column_memory->views, source->views, sizeof column_memory->views);
    memset(source->views, 0, sizeof source->views);
    *column_memory->buffers = NULL; /* Nothing is null. */
    for (size_t i = 0; i < 2; i++) column_memory->buffers[i + 1] = column_memory->views[i].buf;
    *child = (struct ArrowArray){.length = row_count,
                                 .n_buffers = column_memory->views[1].obj != NULL ? 3 : 2, /* 3 for texts */
                                 .buffers = column_memory->buffers,
                                 .release = release_column_array,
                                 .private_data = column_memory};
    return child;
}

/* This is the get_next of the stream. The first array has all rows; the next one, without `release`, is the end of the
 * stream. Returns 0, or ENOMEM. */
static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *array) {
    struct export *export = stream->private_data;
    *array = (struct ArrowArray){.length = export->row_count, .n_buffers = 1};
    if (export->array_returned) return 0;
    export->array_returned = true;
    array->release = release_rows_array;
    array->buffers = calloc(1, sizeof *array->buffers);
    array->children = calloc(MAX_ROW_COLUMNS, sizeof *array->children);
    bool ok = array->buffers != NULL && array->children != NULL;
    for (size_t i = 0; i < export->source_count && ok; i++) {
        array->children[i] = make_column_array(&export->sources[i], export->row_count);
        ok = array->children[i] != NULL;
        if (ok) array->n_children++;
    }
    if (!ok) release_rows_array(array);
    return ok ? 0 : ENOMEM;
}

/* ---- The stream ---- */

/* This is the get_last_error of the stream: only allocating memory can fail. */
static const char *get_last_error(struct ArrowArrayStream *stream) { return "out of memory"; }

/* Frees the private data of the stream, and releases the views that no array holds. */
static void free_export(struct export *export) {
    for (size_t i = 0; i < export->source_count; i++) {
        release_views(export->sources[i].views);
        free(export->sources[i].name);
    }
    free(export);
}

/* This is the `release` of the stream: frees its private data. The consumer calls it, or destroy_stream_capsule. */
static void release_stream(struct ArrowArrayStream *stream) {
    free_export(stream->private_data);
    stream->release = NULL;
}

/* This is the destructor of the capsule: releases the stream, unless a consumer has released it or moved it away, and
 * frees its structure. */
static void destroy_stream_capsule(PyObject *capsule) {
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (stream->release != NULL) stream->release(stream);
    free(stream);
}

/* Adds a column to an export of fewer than MAX_ROW_COLUMNS columns. `column` is a tuple (name, format, items), or for
 * texts (name, format, offsets, bytes), where `format` is Arrow's letter: U or Z for texts. The export holds the
 * buffers from then on. Returns false with an exception set on failure. */
static bool add_column_source(struct export *export, PyObject *column) {
    struct column_source *source = &export->sources[export->source_count];
    const char *name, *format;
    if (!PyArg_ParseTuple(column, "ssy*|y*", &name, &format, &source->views[0], &source->views[1])) return false;
    export->source_count++;
    source->format[0] = *format;
    source->name = strdup(name);
    return source->name != NULL || refuse_memory();
}

/* Takes (row_count, columns): how many rows there are, and a tuple of up to MAX_ROW_COLUMNS tuples as add_column_source
 * takes them, each of `row_count` items. Returns a capsule with the stream, as __arrow_c_stream__ does. */
PyObject *core_arrow_stream(PyObject *module, PyObject *arguments) {
    struct ArrowArrayStream *stream = malloc(sizeof *stream);
    struct export *export = calloc(1, sizeof *export);
    PyObject *columns, *capsule = NULL;
    Py_ssize_t row_count;
    bool ok = (stream != NULL && export != NULL) || refuse_memory();
    ok = ok && PyArg_ParseTuple(arguments, "nO!", &row_count, &PyTuple_Type, &columns);
    for (Py_ssize_t i = 0; ok && i < PyTuple_Size(columns) && i < MAX_ROW_COLUMNS; i++)
        ok = add_column_source(export, PyTuple_GetItem(columns, i));
    if (ok) {
        export->row_count = row_count;
        *stream = (struct ArrowArrayStream){.get_schema = get_schema, .get_next = get_next, .private_data = export};
        stream->get_last_error = get_last_error;
        stream->release = release_stream;
        capsule = PyCapsule_New(stream, "arrow_array_stream", destroy_stream_capsule);
    }
    if (capsule != NULL) return capsule;
    if (export != NULL) free_export(export);
    free(stream);
    return NULL;
}
