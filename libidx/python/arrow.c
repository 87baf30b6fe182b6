/* arrow.c: columns that come by Arrow's interfaces. */
#include "libidx/python/module.h"

#include "libidx/python/arrow.h"

/* Arrow's null_count is -1 where nobody has counted them, so the bits of validity decide then. */
static bool has_nulls(const struct ArrowArray *array) {
    const uint8_t *valid = array->n_buffers > 0 ? array->buffers[0] : NULL;
    if (valid == NULL || array->null_count == 0) return false;
    for (int64_t i = array->offset; i < array->offset + array->length; i++) {
        if ((valid[i / 8] >> (i % 8) & 1) == 0) return true;
    }
    return false;
}

static bool check_not_dictionary(const char *what, const struct ArrowSchema *schema) {
    if (schema->dictionary == NULL) return true;
    return refuse(PyExc_TypeError, "%s: a dictionary-encoded column; cast it to its values' type first", what);
}

/* Refuses an array with nulls. A wrong type is refused first, by the visitor, which gets an empty array for that. */
static bool check_no_nulls(const char *what, const struct ArrowSchema *schema, const struct ArrowArray *array,
                           arrow_visitor visit, void *context) {
    struct ArrowArray empty = {.n_buffers = array->n_buffers, .buffers = array->buffers};
    if (!has_nulls(array)) return true;
    return visit(context, schema->format, &empty) &&
           refuse(PyExc_ValueError, "%s: the column has nulls; drop or fill them first", what);
}

static bool visit_array(const char *what, const struct ArrowSchema *schema, struct ArrowArray *array,
                        arrow_visitor visit, void *context) {
    if (!check_not_dictionary(what, schema)) return false;
    if (array->length < 0 || array->offset < 0)
        return refuse(PyExc_ValueError, "%s: an Arrow array of negative length", what);
    return check_no_nulls(what, schema, array, visit, context) && visit(context, schema->format, array);
}

/* Visits the pair of capsules that __arrow_c_array__ gave. */
static bool visit_pair(PyObject *pair, const char *what, arrow_visitor visit, void *context) {
    PyObject *schema_capsule, *array_capsule;
    if (!PyTuple_Check(pair) || PyTuple_Size(pair) != 2)
        return refuse(PyExc_TypeError, "%s: __arrow_c_array__ gave no pair of capsules", what);
    schema_capsule = PyTuple_GetItem(pair, 0);
    array_capsule = PyTuple_GetItem(pair, 1);
    const struct ArrowSchema *schema = PyCapsule_GetPointer(schema_capsule, "arrow_schema");
    struct ArrowArray *array = schema == NULL ? NULL : PyCapsule_GetPointer(array_capsule, "arrow_array");
    return array != NULL && visit_array(what, schema, array, visit, context);
}

static bool fail_stream(const char *what, struct ArrowArrayStream *stream) {
    const char *reason = stream->get_last_error(stream);
    return refuse(PyExc_ValueError, "%s: the Arrow stream failed: %s", what,
                  reason == NULL ? "no reason given" : reason);
}

/* Visits all arrays of a stream, and releases those that the visitor does not keep. */
static bool visit_chunks(struct ArrowArrayStream *stream, const char *what, const struct ArrowSchema *schema,
                         arrow_visitor visit, void *context) {
    for (;;) {
        struct ArrowArray array = {.release = NULL};
        if (stream->get_next(stream, &array) != 0) return fail_stream(what, stream);
        if (array.release == NULL) return true;
        bool ok = visit_array(what, schema, &array, visit, context);
        if (array.release != NULL) array.release(&array);
        if (!ok) return false;
    }
}

/* Releases the stream, so that another reading of it is refused, and does not just find no rows. */
static bool visit_stream(PyObject *capsule, const char *what, arrow_visitor visit, void *context) {
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    struct ArrowSchema schema = {.release = NULL};
    if (stream == NULL) return false;
    if (stream->release == NULL)
        return refuse(PyExc_ValueError, "%s: an Arrow stream that was read before: give an array or a list", what);
    bool ok = stream->get_schema(stream, &schema) == 0 ? visit_chunks(stream, what, &schema, visit, context)
                                                       : fail_stream(what, stream);
    if (schema.release != NULL) schema.release(&schema);
    stream->release(stream);
    return ok;
}

/* Calls a method without arguments. Returns NULL without an exception where there is no such method, or where it needs
 * a package that is not there, and NULL with an exception where it fails otherwise. */
static PyObject *call_if_there(PyObject *object, const char *name) {
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

bool arrow_visit(PyObject *object, const char *what, arrow_visitor visit, void *context, PyObject **keeps,
                 bool *found) {
    bool ok = true;
    *keeps = call_if_there(object, "__arrow_c_array__");
    if (*keeps != NULL) ok = visit_pair(*keeps, what, visit, context);
    PyObject *stream = *keeps != NULL || PyErr_Occurred() ? NULL : call_if_there(object, "__arrow_c_stream__");
    if (stream != NULL) ok = visit_stream(stream, what, visit, context);
    *found = *keeps != NULL || stream != NULL;
    Py_XDECREF(stream);
    return ok && !PyErr_Occurred();
}
