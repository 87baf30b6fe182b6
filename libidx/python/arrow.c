/* arrow.c: columns that come by Arrow's interfaces. */
#include "libidx/python/module.h"

#include <stdlib.h>
#include <string.h>

/* Returns whether an item is null. Arrow's null_count is -1 where nobody has counted them, so the bits of validity
 * decide then. */
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

/* Checks the format of a column, and copies it to the chunks. */
static bool copy_format(const char *what, const struct ArrowSchema *schema, format_check check, struct chunks *chunks) {
    if (schema->dictionary != NULL)
        return refuse(PyExc_TypeError, "%s: a dictionary-encoded column; cast it to its values' type first", what);
    if (!check(what, schema->format)) return false;
    strncpy(chunks->format, schema->format, sizeof chunks->format - 1);
    return true;
}

/* Appends an array to the chunks, and checks it. The array is moved: its `release` is NULL afterwards, as Arrow
 * demands, unless memory ran out. */
static bool append_array(const char *what, struct ArrowArray *array, struct chunks *chunks) {
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

/* Raises ValueError for a structure without `release`, which Arrow sets to NULL once somebody has moved or released
 * it. */
static bool refuse_used_stream(const char *what) {
    return refuse(PyExc_ValueError, "%s: an Arrow stream that was read before: give an array or a list", what);
}

/* Takes the pair of capsules that __arrow_c_array__ gave. */
static bool take_array_pair(PyObject *pair, const char *what, format_check check, struct chunks *chunks) {
    if (!PyTuple_Check(pair) || PyTuple_Size(pair) != 2)
        return refuse(PyExc_TypeError, "%s: __arrow_c_array__ gave no pair of capsules", what);
    const struct ArrowSchema *schema = PyCapsule_GetPointer(PyTuple_GetItem(pair, 0), "arrow_schema");
    struct ArrowArray *array = schema == NULL ? NULL : PyCapsule_GetPointer(PyTuple_GetItem(pair, 1), "arrow_array");
    if (array == NULL) return false;
    if (schema->release == NULL || array->release == NULL) return refuse_used_stream(what);
    return copy_format(what, schema, check, chunks) && append_array(what, array, chunks);
}

/* Raises ValueError with the reason that a stream gives for its last error. */
static bool fail_stream(const char *what, struct ArrowArrayStream *stream) {
    const char *reason = stream->get_last_error(stream);
    return refuse(PyExc_ValueError, "%s: the Arrow stream failed: %s", what,
                  reason == NULL ? "no reason given" : reason);
}

/* Appends all arrays of a stream, whose end is an array without `release`. */
static bool append_arrays_of_stream(struct ArrowArrayStream *stream, const char *what, struct chunks *chunks) {
    for (;;) {
        struct ArrowArray array = {.release = NULL};
        if (stream->get_next(stream, &array) != 0) return fail_stream(what, stream);
        if (array.release == NULL) return true;
        bool ok = append_array(what, &array, chunks);
        if (array.release != NULL) array.release(&array);
        if (!ok) return false;
    }
}

/* Takes the stream that __arrow_c_stream__ gave. Releases it, so that a second reading is refused, and does not just
 * find no rows. */
static bool take_stream(PyObject *capsule, const char *what, format_check check, struct chunks *chunks) {
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    struct ArrowSchema schema = {.release = NULL};
    if (stream == NULL) return false;
    if (stream->release == NULL) return refuse_used_stream(what);
    bool ok = stream->get_schema(stream, &schema) == 0
                  ? copy_format(what, &schema, check, chunks) && append_arrays_of_stream(stream, what, chunks)
                  : fail_stream(what, stream);
    if (schema.release != NULL) schema.release(&schema);
    stream->release(stream);
    return ok;
}

/* Calls a method without arguments. Returns NULL without an exception where there is no such method, or where it needs
 * a package that is not there, and NULL with an exception where it fails otherwise. */
static PyObject *call_if_available(PyObject *object, const char *name) {
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

bool chunks_take(PyObject *object, const char *what, format_check check, struct chunks *chunks, bool *found) {
    bool ok = true;
    PyObject *pair = call_if_available(object, "__arrow_c_array__");
    if (pair != NULL) ok = take_array_pair(pair, what, check, chunks);
    PyObject *stream = pair != NULL || PyErr_Occurred() ? NULL : call_if_available(object, "__arrow_c_stream__");
    if (stream != NULL) ok = take_stream(stream, what, check, chunks);
    *found = pair != NULL || stream != NULL;
    Py_XDECREF(pair);
    Py_XDECREF(stream);
    return ok && !PyErr_Occurred();
}
