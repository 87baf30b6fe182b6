/* arrays.c: 64-bit integers that come in, from whatever holds them. What C does not take at once goes to _numbers.py.
 */
#include "libidx/python/module.h"

#include <stdlib.h>
#include <string.h>

void array_release(struct array *array) {
    if (array->view.obj != NULL) PyBuffer_Release(&array->view);
    chunks_release(&array->chunks);
    free(array->owned_copy);
    *array = (struct array){.items = NULL};
}

/* Calls a function of libidx._numbers as (object, what); `what` is for messages, as for parse_array. Returns its
 * result, for the caller to release, or NULL with the exception set that it raised. */
static PyObject *call_numbers(const char *function, PyObject *object, const char *what) {
    return call_python("libidx._numbers", function, "(Os)", object, what);
}

/* There are masked arrays only where numpy.ma was imported, so this does not import it. */
bool check_unmasked(PyObject *object, const char *what) {
    PyObject *name = PyUnicode_FromString("numpy.ma");
    PyObject *module = name == NULL ? NULL : PyImport_GetModule(name);
    PyObject *kind = module == NULL ? NULL : PyObject_GetAttrString(module, "MaskedArray");
    if (kind != NULL && PyObject_IsInstance(object, kind) > 0) Py_XDECREF(call_numbers("refuse_masked", object, what));
    Py_XDECREF(kind);
    Py_XDECREF(module);
    Py_XDECREF(name);
    return !PyErr_Occurred();
}

/* ---- Numbers ---- */

/* Returns whether the items of a buffer are 64-bit integers in the byte order of the machine; `view` has its format. */
static bool has_integers(const Py_buffer *view) {
    const char *format = view->format == NULL ? "B" : view->format; /* NULL stands for unsigned bytes */
    if (*format == '@' || *format == '=' || *format == '<') format++;
    return strlen(format) == 1 && strchr("QqLlNn", *format) != NULL && view->itemsize == 8;
}

bool is_number(PyObject *object) {
    Py_buffer view;
    if (PyLong_Check(object)) return true;
    if (!PyObject_CheckBuffer(object)) return PyIndex_Check(object) || PyFloat_Check(object);
    if (PyObject_GetBuffer(object, &view, PyBUF_FULL_RO) < 0) {
        PyErr_Clear();
        return false;
    }
    bool is_scalar = view.ndim == 0; /* such as a scalar of NumPy */
    PyBuffer_Release(&view);
    return is_scalar;
}

/* Sets *number to the 64-bit integer that is the only item of a buffer without dimensions, such as a scalar of NumPy.
 * Returns false, without an exception, if the object is anything else. */
static bool read_scalar(PyObject *object, uint64_t *number) {
    Py_buffer view;
    if (!PyObject_CheckBuffer(object) || PyObject_GetBuffer(object, &view, PyBUF_FULL_RO) < 0) {
        PyErr_Clear();
        return false;
    }
    bool is_integer = view.ndim == 0 && has_integers(&view);
    if (is_integer) memcpy(number, view.buf, sizeof *number);
    PyBuffer_Release(&view);
    return is_integer;
}

bool parse_number(PyObject *object, const char *what, uint64_t *number) {
    if (!PyLong_Check(object)) {
        if (!check_unmasked(object, what)) return false;
        if (read_scalar(object, number)) return true;
    }
    /* The first attempt is the object as an int. If that fails or is out of range, the second one is what Python code
     * makes of the object. UINT64_MAX means failure only if an exception is set. */
    PyObject *candidate = PyNumber_Index(object);
    for (int attempt = 0; attempt < 2; attempt++) {
        *number = candidate == NULL ? UINT64_MAX : PyLong_AsUnsignedLongLong(candidate);
        Py_XDECREF(candidate);
        if (*number != UINT64_MAX || !PyErr_Occurred()) return true;
        if (attempt > 0) break;
        PyErr_Clear();
        candidate = call_numbers("take_number", object, what); /* which accepts more, or says what is wrong */
    }
    return false;
}

/* ---- Arrow ---- */

/* This is the format_check of numbers: accepts uint64 and int64. Formats that end with u, U, z or Z are strings or
 * binaries, for which another message is better; those that begin with t, such as ttu and tDu, are times. */
static bool check_integer_format(const char *what, const char *format) {
    if (strcmp(format, "L") == 0 || strcmp(format, "l") == 0) return true;
    if (*format != 't' && *format != '\0' && strchr("uUzZ", format[strlen(format) - 1]) != NULL) {
        Py_XDECREF(call_numbers("refuse_texts", Py_None, what));
        return false;
    }
    return refuse(PyExc_TypeError, "%s: an Arrow column of format '%s'; expected uint64 or int64", what, format);
}

/* Sets items and count of the array, which are 0, to the items of all its chunks, one after the other. Makes a copy,
 * array->owned_copy, unless there is a single chunk whose items are aligned. Returns false with MemoryError set if
 * memory runs out. */
static bool join_chunks(struct array *array) {
    const struct chunks *chunks = &array->chunks;
    for (size_t i = 0; i < chunks->count; i++) array->count += (size_t)chunks->arrays[i].length;
    if (array->count == 0) return true;
    const uint64_t *chunk_items = (const uint64_t *)chunks->arrays->buffers[1] + chunks->arrays->offset;
    if (chunks->count == 1 && (uintptr_t)chunk_items % sizeof *chunk_items == 0) {
        array->items = chunk_items;
        return true;
    }
    uint64_t *copy = malloc(array->count * sizeof *copy);
    if (copy == NULL) return refuse_memory();
    array->items = array->owned_copy = copy;
    for (size_t i = 0; i < chunks->count; i++) {
        const struct ArrowArray *chunk = &chunks->arrays[i];
        if (chunk->length == 0) continue;
        memcpy(copy, (const uint64_t *)chunk->buffers[1] + chunk->offset, (size_t)chunk->length * sizeof *copy);
        copy += chunk->length;
    }
    return true;
}

/* ---- The whole ---- */

/* Sets items and count of the array to those of an object's buffer, and holds the buffer in array->view. Returns false,
 * without an exception and with nothing held, if these are no contiguous, aligned 64-bit integers in one dimension. */
static bool hold_buffer(PyObject *object, struct array *array) {
    Py_buffer *view = &array->view;
    if (PyObject_GetBuffer(object, view, PyBUF_FULL_RO) < 0) {
        *view = (Py_buffer){.obj = NULL};
        PyErr_Clear();
        return false;
    }
    array->items = view->buf;
    array->count = (size_t)view->len / sizeof *array->items;
    bool is_aligned = array->count == 0 || (uintptr_t)view->buf % sizeof *array->items == 0;
    if (has_integers(view) && view->ndim == 1 && is_aligned && PyBuffer_IsContiguous(view, 'C')) return true;
    PyBuffer_Release(view); /* which also sets view->obj to NULL */
    return false;
}

/* Reads an array as parse_array does; the array is {0}. If it fails, the array may hold something, which the caller
 * releases. */
static bool read_into_array(PyObject *object, const char *what, struct array *array) {
    bool has_arrow = false;
    if (PyObject_CheckBuffer(object)) {
        if (!check_unmasked(object, what)) return false;
        if (hold_buffer(object, array)) return true;
    } else if (!PyList_Check(object) && !PyTuple_Check(object)) {
        if (!import_chunks(object, what, check_integer_format, &array->chunks, &has_arrow)) return false;
        if (has_arrow) return join_chunks(array);
    }
    PyObject *converted = call_numbers("take_numbers", object, what);
    bool ok = converted != NULL && (hold_buffer(converted, array) || refuse(PyExc_TypeError, "%s: no numbers", what));
    Py_XDECREF(converted); /* the view holds it */
    return ok;
}

bool parse_array(PyObject *object, const char *what, struct array *array) {
    *array = (struct array){.items = NULL};
    if (read_into_array(object, what, array)) return true;
    array_release(array);
    return false;
}
