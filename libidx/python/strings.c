/* strings.c: texts and IDs that come in, from Python's objects or Arrow's columns. */
#include "libidx/python/module.h"

#include <stdlib.h>
#include <string.h>

void strings_release(struct strings *strings) {
    chunks_release(&strings->chunks);
    free(strings->items);
    free(strings->lengths);
    Py_XDECREF(strings->keeps);
    *strings = (struct strings){.items = NULL};
}

/* Makes room for `more` items, and no more than that, since most calls take all items of a column or list at once. If
 * it fails, the items so far stay. */
static bool make_room(struct strings *strings, size_t more) {
    size_t count = strings->count + more;
    if (count <= strings->capacity) return true;
    const char **items = realloc(strings->items, count * sizeof *items);
    if (items != NULL) strings->items = items;
    size_t *lengths = items == NULL ? NULL : realloc(strings->lengths, count * sizeof *lengths);
    if (lengths == NULL) return refuse_memory();
    strings->lengths = lengths;
    strings->capacity = count;
    return true;
}

/* Appends an item, for which there is room. */
static void put_item(struct strings *strings, const char *item, size_t length) {
    strings->items[strings->count] = item;
    strings->lengths[strings->count++] = length;
}

/* ---- Arrow ---- */

/* Appends the items of an array with offsets of 64 bits, or of 32. */
static void put_by_offsets(struct strings *strings, const struct ArrowArray *array, bool is_long) {
    const int64_t *longs = (const int64_t *)array->buffers[1] + array->offset;
    const int32_t *shorts = (const int32_t *)array->buffers[1] + array->offset;
    const char *bytes = array->buffers[2];
    for (int64_t i = 0; i < array->length; i++) {
        const int64_t begin = is_long ? longs[i] : shorts[i], end = is_long ? longs[i + 1] : shorts[i + 1];
        put_item(strings, bytes == NULL ? "" : bytes + begin, (size_t)(end - begin));
    }
}

/* Appends the items of an array of views of 16 bytes. The first 4 are the length; up to 12 bytes of text stand after
 * it, and for longer texts, the number of a buffer and an offset there, after the first 4 bytes of the text. */
static void put_views(struct strings *strings, const struct ArrowArray *array) {
    const uint8_t *views = (const uint8_t *)array->buffers[1] + 16 * array->offset;
    for (int64_t i = 0; i < array->length; i++, views += 16) {
        int32_t view[4];
        memcpy(view, views, sizeof view);
        if (view[0] <= 12) {
            put_item(strings, (const char *)views + 4, (size_t)view[0]);
        } else {
            put_item(strings, (const char *)array->buffers[2 + view[2]] + view[3], (size_t)view[0]);
        }
    }
}

/* This is the format_check of strings. */
static bool check_format(const char *what, const char *format) {
    static const char *const formats[] = {"u", "z", "U", "Z", "vu", "vz"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(format, formats[i]) == 0) return true;
    }
    return refuse(PyExc_TypeError, "%s: an Arrow column of format '%s'; expected strings or binaries", what, format);
}

/* Appends the items of all chunks. */
static bool put_chunks(struct strings *strings) {
    const struct chunks *chunks = &strings->chunks;
    const char letter = *chunks->format;
    for (size_t i = 0; i < chunks->count; i++) {
        if (!make_room(strings, (size_t)chunks->arrays[i].length)) return false;
        if (chunks->arrays[i].length == 0) continue;
        if (letter == 'v')
            put_views(strings, &chunks->arrays[i]);
        else
            put_by_offsets(strings, &chunks->arrays[i], letter == 'U' || letter == 'Z');
    }
    return true;
}

/* ---- Python ---- */

/* Appends the bytes of a str in UTF-8, which the str keeps. A str that cannot be encoded so, since it stands for other
 * bytes by surrogateescape, gets these bytes in a new object: then *row is set to that, and the caller must keep it. */
static bool put_str(struct strings *strings, PyObject **row) {
    Py_ssize_t length;
    const char *bytes = PyUnicode_AsUTF8AndSize(*row, &length);
    if (bytes == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) return false;
        PyErr_Clear();
        PyObject *encoded = PyUnicode_AsEncodedString(*row, "utf-8", "surrogateescape");
        if (encoded == NULL) return false;
        *row = encoded;
        bytes = PyBytes_AsString(encoded);
        length = PyBytes_Size(encoded);
    }
    put_item(strings, bytes, (size_t)length);
    return true;
}

/* Appends row number `at` of a tuple. A new object of put_str takes the place of the str in the tuple, which keeps it.
 */
static bool put_row(struct strings *strings, const char *what, PyObject *rows, Py_ssize_t at) {
    PyObject *row = PyTuple_GetItem(rows, at);
    if (PyBytes_Check(row)) {
        put_item(strings, PyBytes_AsString(row), (size_t)PyBytes_Size(row));
        return true;
    }
    if (!PyUnicode_Check(row))
        return refuse(PyExc_TypeError, "%s: item %zd is %R; expected str or bytes", what, at, (PyObject *)Py_TYPE(row));
    PyObject *encoded = row;
    if (!put_str(strings, &encoded)) return false;
    return encoded == row || PyTuple_SetItem(rows, at, encoded) == 0; /* which lets go of the str */
}

/* Takes the items of a sequence. A tuple of its own keeps them, since another thread could change the sequence. */
static bool take_rows(PyObject *object, const char *what, struct strings *strings) {
    if (PyUnicode_Check(object) || PyBytes_Check(object))
        return refuse(PyExc_TypeError, "%s: one %s; expected a list of them", what,
                      PyUnicode_Check(object) ? "str" : "bytes");
    PyObject *list = PySequence_List(object);
    if (list == NULL) return false;
    strings->keeps = PyList_AsTuple(list);
    Py_DECREF(list);
    if (strings->keeps == NULL) return false;
    Py_ssize_t count = PyTuple_Size(strings->keeps);
    if (!make_room(strings, (size_t)count)) return false;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!put_row(strings, what, strings->keeps, i)) return false;
    }
    return true;
}

bool strings_take_new(PyObject *tuple, const char *what, struct strings *strings) {
    bool taken = tuple != NULL && strings_take(tuple, what, strings);
    Py_XDECREF(tuple);
    return taken;
}

bool strings_take(PyObject *object, const char *what, struct strings *strings) {
    bool found = false;
    *strings = (struct strings){.items = NULL};
    bool ok = PyList_Check(object) || PyTuple_Check(object) ||
              (check_unmasked(object, what) && chunks_take(object, what, check_format, &strings->chunks, &found));
    if (ok) ok = found ? put_chunks(strings) : take_rows(object, what, strings);
    if (!ok) strings_release(strings);
    return ok;
}
