/* arrow.c: columns that come by Arrow's interfaces. */
#include "libidx/python/module.h"

#include <stdlib.h>
#include <string.h>

/* Returns whether any item is null. Buffer 0 is NULL, or has a bit for each item: 0 for a null. Arrow's null_count may
 * be -1 for not counted, so the bits decide unless it is 0. */
static bool has_nulls(const struct ArrowArray *array) {
    const uint8_t *valid = array->n_buffers > 0 ? array->buffers[0] : NULL;
    if (valid == NULL || array->null_count == 0) return false;
    for (int64_t i = array->offset; i < array->offset + array->length; i++) {
        if ((valid[i / 8] >> (i % 8) & 1) == 0) return true;
    }
    return false;
}

void chunks_release(struct chunks *chunks) {
    for (size_t i = 0; i < chunks->count; i++) chunks->arrays[i].release(&chunks->arrays[i]);
    free(chunks->arrays);
    *chunks = (struct chunks){.arrays = NULL};
}

/* Checks that a column is not dictionary-encoded, and its format by `check`, and copies the format to the chunks.
 * Returns false with an exception set if it is refused. */
static bool check_and_copy_format(const char *what, const struct ArrowSchema *schema, format_check check,
                                  struct chunks *chunks) {
    if (schema->dictionary != NULL)
        return refuse(PyExc_TypeError, "%s: a dictionary-encoded column; cast it to its values' type first", what);
    if (!check(what, schema->format)) return false;
    strncpy(chunks->format, schema->format, sizeof chunks->format - 1);
    return true;
}

/* Moves an array to the chunks, and checks it. Its `release` is NULL afterwards, as Arrow demands of a moved array,
 * even if the check fails; only if memory runs out, it stays with the caller. Returns false with an exception set for
 * lack of memory, a negative length, or nulls. */
static bool move_and_check_array(const char *what, struct ArrowArray *array, struct chunks *chunks) {
    struct ArrowArray *arrays = realloc(chunks->arrays, (chunks->count + 1) * sizeof *arrays);
    if (arrays == NULL) return refuse_memory();
    chunks->arrays = arrays;
    arrays[chunks->count++] = *array;
    array->release = NULL;
    array = &arrays[chunks->count - 1];
    if (array->length < 0 || array->offset < 0)
        return refuse(PyExc_ValueError, "%s: an Arrow array of negative length", what);
    return !has_nulls(array) || refuse(PyExc_ValueError, "%s: the column has nulls; drop or fill them first", what);
}

/* Raises ValueError, and returns false, for an exported structure whose `release` is NULL: Arrow sets it so once a
 * consumer has moved or released it. */
static bool refuse_used_export(const char *what) {
    return refuse(PyExc_ValueError, "%s: an Arrow stream that was read before: give an array or a list", what);
}

/* Moves the array from the pair of capsules that __arrow_c_array__ returned to the chunks. Returns false with an
 * exception set on failure. */
static bool import_array_pair(PyObject *pair, const char *what, format_check check, struct chunks *chunks) {
    if (!PyTuple_Check(pair) || PyTuple_Size(pair) != 2)
        return refuse(PyExc_TypeError, "%s: __arrow_c_array__ gave no pair of capsules", what);
    const struct ArrowSchema *schema = PyCapsule_GetPointer(PyTuple_GetItem(pair, 0), "arrow_schema");
    struct ArrowArray *array = schema == NULL ? NULL : PyCapsule_GetPointer(PyTuple_GetItem(pair, 1), "arrow_array");
    if (array == NULL) return false;
    if (schema->release == NULL || array->release == NULL) return refuse_used_export(what);
    return check_and_copy_format(what, schema, check, chunks) && move_and_check_array(what, array, chunks);
}

/* Raises ValueError with the reason that a stream states for its last error. Returns false. */
static bool refuse_failed_stream(const char *what, struct ArrowArrayStream *stream) {
    const char *reason = stream->get_last_error(stream);
    return refuse(PyExc_ValueError, "%s: the Arrow stream failed: %s", what,
                  reason == NULL ? "no reason given" : reason);
}

/* Moves all arrays of a stream to the chunks. The end is an array without `release`. Returns false with an exception
 * set on failure. */
static bool move_and_check_arrays(struct ArrowArrayStream *stream, const char *what, struct chunks *chunks) {
    for (;;) {
        struct ArrowArray array = {.release = NULL};
        if (stream->get_next(stream, &array) != 0) return refuse_failed_stream(what, stream);
        if (array.release == NULL) return true;
        bool ok = move_and_check_array(what, &array, chunks);
        if (array.release != NULL) array.release(&array); /* memory ran out, so it was not moved */
        if (!ok) return false;
    }
}

/* Moves all arrays of the stream in the capsule that __arrow_c_stream__ returned to the chunks. Releases the stream, so
 * that a second reading of it is refused, and does not just find no rows. Returns false with an exception set on
 * failure. */
static bool import_stream(PyObject *capsule, const char *what, format_check check, struct chunks *chunks) {
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    struct ArrowSchema schema = {.release = NULL};
    if (stream == NULL) return false;
    if (stream->release == NULL) return refuse_used_export(what);
    bool ok = stream->get_schema(stream, &schema) == 0
                  ? check_and_copy_format(what, &schema, check, chunks) && move_and_check_arrays(stream, what, chunks)
                  : refuse_failed_stream(what, stream);
    if (schema.release != NULL) schema.release(&schema);
    stream->release(stream);
    return ok;
}

/* Calls a method without arguments, and returns its result for the caller to release. Returns NULL without an exception
 * if there is no such method or the package that it needs is missing, and NULL with an exception set if it fails
 * otherwise. */
static PyObject *call_method_if_available(PyObject *object, const char *name) {
    PyObject *method = PyObject_GetAttrString(object, name);
    if (method == NULL) {
        if (PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
        return NULL;
    }
    PyObject *answer = PyObject_CallNoArgs(method);
    Py_DECREF(method);
    if (answer == NULL && PyErr_ExceptionMatches(PyExc_ImportError)) PyErr_Clear(); /* pandas without pyarrow */
    return answer;
}

bool import_chunks(PyObject *object, const char *what, format_check check, struct chunks *chunks, bool *has_arrow) {
    bool ok = true;
    PyObject *pair = call_method_if_available(object, "__arrow_c_array__");
    if (pair != NULL) ok = import_array_pair(pair, what, check, chunks);
    PyObject *stream = pair != NULL || PyErr_Occurred() ? NULL : call_method_if_available(object, "__arrow_c_stream__");
    if (stream != NULL) ok = import_stream(stream, what, check, chunks);
    *has_arrow = pair != NULL || stream != NULL;
    Py_XDECREF(pair);
    Py_XDECREF(stream);
    return ok && !PyErr_Occurred();
}
