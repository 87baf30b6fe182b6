/* arrays.c: 64-bit integers that come in, from whatever holds them. */
#include "libidx/python/module.h"

#include <stdlib.h>
#include <string.h>

#include "libidx/python/arrow.h"

void array_release(struct array *array) {
    if (array->view.obj != NULL) PyBuffer_Release(&array->view);
    Py_XDECREF(array->keeps);
    free(array->owned);
    *array = (struct array){.items = NULL};
}

/* ---- Masks ---- */

/* There are masked arrays only where numpy.ma was imported, so this does not import it. `masked` is 1, 0, or -1 where
 * an exception is set. */
bool check_unmasked(PyObject *object, const char *what) {
    PyObject *name = PyUnicode_FromString("numpy.ma");
    PyObject *module = name == NULL ? NULL : PyImport_GetModule(name);
    PyObject *kind = module == NULL ? NULL : PyObject_GetAttrString(module, "MaskedArray");
    int masked = kind != NULL ? PyObject_IsInstance(object, kind) : PyErr_Occurred() != NULL ? -1 : 0;
    Py_XDECREF(kind);
    Py_XDECREF(module);
    Py_XDECREF(name);
    if (masked > 0)
        PyErr_Format(PyExc_TypeError,
                     "%s: a masked array, whose mask would be lost: give x.compressed() or x.filled(value)", what);
    return masked == 0;
}

/* ---- Numbers ---- */

enum { ALONE = -1 };

/* Returns what messages call a number: the argument `what`, and which item of it unless `at` is ALONE. */
static PyObject *place_of(const char *what, Py_ssize_t at) {
    return at == ALONE ? PyUnicode_FromFormat("%s:", what) : PyUnicode_FromFormat("%s: item %zd", what, at);
}

static bool refuse_float(const char *what, Py_ssize_t at) {
    PyObject *place = place_of(what, at);
    if (place == NULL) return false;
    PyErr_Format(PyExc_TypeError, "%U%s a float holds only 53 bits; give int", place, at == ALONE ? "" : ":");
    Py_DECREF(place);
    return false;
}

/* Returns what to do instead of giving texts as `what`. */
static const char *text_advice(const char *what) {
    return strcmp(what, "ids") == 0 ? "give all IDs as int, or make an index of text IDs by id_type=\"text\""
                                    : "make fingerprints of texts by Fingerprinter, of hex digits by int(x, 16)";
}

static bool refuse_object(PyObject *object, const char *what, Py_ssize_t at) {
    bool text = (PyUnicode_Check(object) || PyBytes_Check(object)) && at != ALONE;
    PyObject *place = place_of(what, at);
    if (place == NULL) return false;
    PyErr_Format(PyExc_TypeError, at == ALONE ? "%U %R; expected an integer: %s" : "%U is %R; expected an integer: %s",
                 place, (PyObject *)Py_TYPE(object), text ? text_advice(what) : "give an int");
    Py_DECREF(place);
    return false;
}

/* Returns the letter of a buffer's format, as of the module struct, or 0 if its items are no native 64-bit integers. */
static char integer_letter(const Py_buffer *view) {
    const char *format = view->format == NULL ? "B" : view->format;
    if (*format == '@' || *format == '=' || *format == '<') format++;
    bool integers = strlen(format) == 1 && strchr("QqLlNn", *format) != NULL;
    return integers && view->itemsize == 8 ? *format : '\0';
}

/* Returns whether an object with the buffer protocol is a single number, such as a NumPy scalar. */
static bool is_scalar(PyObject *object) {
    Py_buffer view;
    if (PyObject_GetBuffer(object, &view, PyBUF_FULL_RO) < 0) {
        PyErr_Clear();
        return false;
    }
    bool scalar = view.ndim == 0;
    PyBuffer_Release(&view);
    return scalar;
}

bool is_number(PyObject *object) {
    if (PyLong_Check(object)) return true;
    return PyObject_CheckBuffer(object) ? is_scalar(object) : PyIndex_Check(object) || PyFloat_Check(object);
}

/* Takes an int of Python. Sets ValueError if it is out of range. */
static bool take_int(PyObject *object, const char *what, Py_ssize_t at, uint64_t *number) {
    *number = PyLong_AsUnsignedLongLong(object);
    if (*number != UINT64_MAX || !PyErr_Occurred()) return true;
    if (!PyErr_ExceptionMatches(PyExc_OverflowError)) return false;
    PyErr_Clear();
    PyObject *place = place_of(what, at);
    if (place == NULL) return false;
    PyErr_Format(PyExc_ValueError,
                 "%U%s %S is not from 0 to 2**64 - 1; of signed 64-bit integers take the same bits: n & (2**64 - 1)",
                 place, at == ALONE ? "" : ":", object);
    Py_DECREF(place);
    return false;
}

/* Takes a number from a buffer without dimensions. Returns false, perhaps without an exception, if there is none. */
static bool take_scalar(PyObject *object, uint64_t *number) {
    Py_buffer view;
    if (PyObject_GetBuffer(object, &view, PyBUF_FULL_RO) < 0) return false;
    bool taken = view.ndim == 0 && integer_letter(&view) != '\0';
    if (taken) memcpy(number, view.buf, sizeof *number);
    PyBuffer_Release(&view);
    return taken;
}

/* Takes an int, a NumPy scalar, or what has __index__. `what` and `at` are for messages, as place_of has them. */
static bool take_number(PyObject *object, const char *what, Py_ssize_t at, uint64_t *number) {
    if (PyLong_Check(object)) return take_int(object, what, at, number);
    if (PyFloat_Check(object)) return refuse_float(what, at);
    if (PyObject_CheckBuffer(object)) {
        if (!check_unmasked(object, what)) return false;
        if (take_scalar(object, number)) return true;
        PyErr_Clear();
    }
    PyObject *index = PyNumber_Index(object);
    if (index == NULL && !PyErr_ExceptionMatches(PyExc_TypeError)) return false;
    if (index == NULL) {
        PyErr_Clear();
        return refuse_object(object, what, at);
    }
    bool taken = take_int(index, what, at, number);
    Py_DECREF(index);
    return taken;
}

bool number_take(PyObject *object, const char *what, uint64_t *number) {
    return take_number(object, what, ALONE, number);
}

/* ---- Buffers ---- */

static bool refuse_texts(const char *what) {
    return refuse(PyExc_TypeError, "%s: texts; expected integers: %s", what, text_advice(what));
}

/* Returns how to make 64-bit integers of items that are none. The last letter of a format is their type. */
static const char *buffer_advice(const Py_buffer *view, const char *format) {
    const char type = format[strlen(format) - 1];
    if (strchr("efdg", type) != NULL) return "floats hold only 53 bits; make the numbers uint64 where they come from";
    if (type == 'O') return "objects; convert them by numpy.array(x, numpy.uint64)";
    if (*format == '>' || *format == '!') return "big-endian; convert them by x.astype(numpy.uint64)";
    if (view->itemsize == 1) return "bytes; give numbers of 8 bytes by numpy.frombuffer(x, numpy.uint64)";
    return "convert them by x.astype(numpy.uint64)";
}

static bool refuse_buffer(const Py_buffer *view, const char *what) {
    const char *format = view->format == NULL ? "B" : view->format;
    if (strchr("ws", format[strlen(format) - 1]) != NULL) return refuse_texts(what); /* of NumPy, str or bytes */
    return refuse(PyExc_TypeError, "%s: items of format '%s', %zd bytes each; expected uint64 or int64: %s", what,
                  format, view->itemsize, buffer_advice(view, format));
}

/* Replaces the items of array->view by a copy, aligned and one after the other. */
static bool copy_items(struct array *array) {
    array->owned = malloc((size_t)array->view.len + 1);
    if (array->owned == NULL) return refuse_memory();
    array->items = array->owned;
    return PyBuffer_ToContiguous(array->owned, &array->view, array->view.len, 'C') == 0;
}

/* Takes the items of a buffer, which are only copied if they are not aligned, or not one after the other. */
static bool take_buffer(PyObject *object, const char *what, struct array *array) {
    if (PyObject_GetBuffer(object, &array->view, PyBUF_FULL_RO) < 0) {
        array->view.obj = NULL;
        PyErr_Clear(); /* NumPy has no buffers of dates */
        return refuse(PyExc_TypeError, "%s: the buffer can't be read; give an array of uint64", what);
    }
    if (integer_letter(&array->view) == '\0') return refuse_buffer(&array->view, what);
    if (array->view.ndim != 1)
        return refuse(PyExc_TypeError, "%s: an array of %d dimensions; give one of a single dimension", what,
                      array->view.ndim);
    array->count = (size_t)array->view.len / sizeof *array->items;
    array->items = array->view.buf;
    bool aligned = (uintptr_t)array->view.buf % sizeof *array->items == 0;
    return (aligned && PyBuffer_IsContiguous(&array->view, 'C')) || copy_items(array);
}

/* ---- Arrow ---- */

/* The context of take_chunk. */
struct taking {
    struct array *array;
    const char *what;
};

static bool append_copy(struct array *array, const uint64_t *items, size_t count) {
    if (count == 0) return true;
    uint64_t *grown = realloc(array->owned, (array->count + count) * sizeof *grown);
    if (grown == NULL) return refuse_memory();
    memcpy(grown + array->count, items, count * sizeof *items);
    array->items = array->owned = grown;
    array->count += count;
    return true;
}

/* Returns whether a format is of strings or binaries: u, U, vu and so on, but not ttu or tDu, which are times. */
static bool is_of_texts(const char *format) {
    return strlen(format) > 0 && strchr("uUzZ", format[strlen(format) - 1]) != NULL && format[0] != 't';
}

/* This is the arrow_visitor that takes an array without a copy if array->keeps holds it, or copies the next chunk of a
 * stream. */
static bool take_chunk(void *context, const char *format, struct ArrowArray *chunk) {
    struct taking *taking = context;
    if (is_of_texts(format)) return refuse_texts(taking->what);
    if (strcmp(format, "L") != 0 && strcmp(format, "l") != 0)
        return refuse(PyExc_TypeError, "%s: an Arrow column of format '%s'; expected uint64 or int64", taking->what,
                      format);
    if (chunk->length == 0) return true;
    const uint64_t *items = (const uint64_t *)chunk->buffers[1] + chunk->offset;
    if (taking->array->keeps == NULL || (uintptr_t)items % sizeof *items != 0)
        return append_copy(taking->array, items, (size_t)chunk->length);
    taking->array->items = items;
    taking->array->count = (size_t)chunk->length;
    return true;
}

/* ---- Lists ---- */

static bool take_list(PyObject *object, const char *what, struct array *array) {
    array->keeps = PySequence_Tuple(object); /* a copy, from which no other thread can remove anything */
    if (array->keeps == NULL) return false;
    array->count = (size_t)PyTuple_Size(array->keeps);
    array->owned = malloc(array->count * sizeof *array->owned + 1);
    array->items = array->owned;
    if (array->owned == NULL) return refuse_memory();
    for (size_t i = 0; i < array->count; i++) {
        if (!take_number(PyTuple_GetItem(array->keeps, (Py_ssize_t)i), what, (Py_ssize_t)i, &array->owned[i]))
            return false;
    }
    return true;
}

/* ---- The whole ---- */

/* Takes what an object that is no buffer itself makes an array of by __array__. */
static bool take_by_method(PyObject *object, const char *what, struct array *array) {
    PyObject *made = PyObject_CallMethod(object, "__array__", NULL);
    if (made == NULL) return false;
    bool taken = take_buffer(made, what, array);
    Py_DECREF(made); /* the view holds it */
    return taken;
}

/* Takes whatever array_take does. If that fails, `array` may hold something. */
static bool take_any(PyObject *object, const char *what, struct array *array) {
    struct taking taking = {array, what};
    bool found;
    if (PyObject_CheckBuffer(object)) return check_unmasked(object, what) && take_buffer(object, what, array);
    if (PyList_Check(object) || PyTuple_Check(object)) return take_list(object, what, array);
    if (!arrow_visit(object, what, take_chunk, &taking, &array->keeps, &found)) return false;
    if (found) return true;
    if (PyObject_HasAttrString(object, "__array__")) return take_by_method(object, what, array);
    return refuse(PyExc_TypeError,
                  "%s: expected an array of uint64 (NumPy, Arrow, or anything with a buffer) or a list of int, not %R",
                  what, (PyObject *)Py_TYPE(object));
}

bool array_take(PyObject *object, const char *what, struct array *array) {
    *array = (struct array){.items = NULL};
    if (take_any(object, what, array)) return true;
    array_release(array);
    return false;
}
