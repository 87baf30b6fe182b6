/* strings.c: texts and IDs that come in, from Python's objects or Arrow's columns. */
#include "libidx/python/module.h"

#include <stdlib.h>
#include <string.h>

void strings_release(struct strings *strings) {
    chunks_release(&strings->chunks);
    free(strings->items);
    free(strings->lengths);
    Py_XDECREF(strings->keeper);
    *strings = (struct strings){.items = NULL};
}

/* Makes the capacity enough for `new_count` items after those that there are, and not larger, since most calls append
 * all items of a column or list at once. Returns false with MemoryError set if memory runs out; the items so far
 * stay. */
static bool reserve_strings(struct strings *strings, size_t new_count) {
    size_t capacity = strings->count + new_count;
    if (capacity <= strings->capacity) return true;
    const char **items = realloc(strings->items, capacity * sizeof *items);
    if (items == NULL) return refuse_memory();
    strings->items = items;
    size_t *lengths = realloc(strings->lengths, capacity * sizeof *lengths);
    if (lengths == NULL) return refuse_memory();
    strings->lengths = lengths;
    strings->capacity = capacity;
    return true;
}

/* Appends an item of `length` bytes, for which reserve_strings has been called. The bytes are not copied:
 * strings->keeper or strings->chunks must own them. */
static void append_string(struct strings *strings, const char *bytes, size_t length) {
    strings->items[strings->count] = bytes;
    strings->lengths[strings->count++] = length;
}

/* ---- Arrow ---- */

/* Appends the items of an array that has their bytes in buffer 2, and in buffer 1 where each begins, and one more
 * offset for the end of the last one. The offsets have 64 bits if `is_long`, or else 32 bits. */
static void append_offset_strings(struct strings *strings, const struct ArrowArray *array, bool is_long) {
    const int64_t *longs = (const int64_t *)array->buffers[1] + array->offset;
    const int32_t *shorts = (const int32_t *)array->buffers[1] + array->offset;
    const char *bytes = array->buffers[2];
    for (int64_t i = 0; i < array->length; i++) {
        const int64_t begin = is_long ? longs[i] : shorts[i], end = is_long ? longs[i + 1] : shorts[i + 1];
        append_string(strings, bytes == NULL ? "" : bytes + begin, (size_t)(end - begin)); /* NULL: all are empty */
    }
}

/* Appends the items of an array that has a view of 16 bytes for each, in buffer 1. A view is a length and a text of up
 * to 12 bytes; or for a longer text its length, its first 4 bytes, the number of the buffer that has it, counted from
 * buffer 2, and its offset there. The length, the number and the offset have 4 bytes each. */
static void append_viewed_strings(struct strings *strings, const struct ArrowArray *array) {
    const uint8_t *next_view = (const uint8_t *)array->buffers[1] + 16 * array->offset;
    for (int64_t i = 0; i < array->length; i++, next_view += 16) {
        int32_t view[4];
        memcpy(view, next_view, sizeof view);
        bool is_inline = view[0] <= 12;
        const char *bytes =
            is_inline ? (const char *)next_view + 4 : (const char *)array->buffers[2 + view[2]] + view[3];
        append_string(strings, bytes, (size_t)view[0]);
    }
}

/* This is the format_check of strings: accepts Arrow's formats of strings and binaries, whose bytes are taken as they
 * are. */
static bool check_format(const char *what, const char *format) {
    static const char *const formats[] = {"u", "z", "U", "Z", "vu", "vz"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(format, formats[i]) == 0) return true;
    }
    return refuse(PyExc_TypeError, "%s: an Arrow column of format '%s'; expected strings or binaries", what, format);
}

/* Appends the items of all chunks, by the layout that the first letter of their format says. Returns false with
 * MemoryError set if memory runs out. */
static bool append_strings_of_chunks(struct strings *strings) {
    const struct chunks *chunks = &strings->chunks;
    const char letter = *chunks->format;
    for (size_t i = 0; i < chunks->count; i++) {
        if (!reserve_strings(strings, (size_t)chunks->arrays[i].length)) return false;
        if (chunks->arrays[i].length == 0) continue;
        if (letter == 'v')
            append_viewed_strings(strings, &chunks->arrays[i]);
        else
            append_offset_strings(strings, &chunks->arrays[i], letter == 'U' || letter == 'Z');
    }
    return true;
}

/* ---- Python ---- */

/* Appends the bytes of the str *row in UTF-8, which the str itself owns. A str with surrogates, which stand for other
 * bytes by surrogateescape, has no UTF-8: then sets *row to a new bytes object that owns those bytes. The caller must
 * keep *row, new or not. Returns false with an exception set if the str can't be encoded. */
static bool append_str(struct strings *strings, PyObject **row) {
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
    append_string(strings, bytes, (size_t)length);
    return true;
}

/* Appends row `i` of a tuple, which owns its bytes: if append_str makes a new object for them, that replaces the str in
 * the tuple. Returns false with an exception set if the row is neither str nor bytes, or can't be encoded. */
static bool append_row_of_tuple(struct strings *strings, const char *what, PyObject *rows, Py_ssize_t i) {
    PyObject *row = PyTuple_GetItem(rows, i);
    if (PyBytes_Check(row)) {
        append_string(strings, PyBytes_AsString(row), (size_t)PyBytes_Size(row));
        return true;
    }
    if (!PyUnicode_Check(row))
        return refuse(PyExc_TypeError, "%s: item %zd is %R; expected str or bytes", what, i, (PyObject *)Py_TYPE(row));
    PyObject *encoded = row;
    if (!append_str(strings, &encoded)) return false;
    return encoded == row || PyTuple_SetItem(rows, i, encoded) == 0; /* which releases the str */
}

/* Appends the items of a sequence other than a single str or bytes. The rows are copied to a tuple, strings->keeper,
 * since another thread could change the sequence. Returns false with an exception set on failure. */
static bool append_strings_of_sequence(PyObject *object, const char *what, struct strings *strings) {
    if (PyUnicode_Check(object) || PyBytes_Check(object))
        return refuse(PyExc_TypeError, "%s: one %s; expected a list of them", what,
                      PyUnicode_Check(object) ? "str" : "bytes");
    PyObject *list = PySequence_List(object);
    if (list == NULL) return false;
    strings->keeper = PyList_AsTuple(list);
    Py_DECREF(list);
    if (strings->keeper == NULL) return false;
    Py_ssize_t count = PyTuple_Size(strings->keeper);
    if (!reserve_strings(strings, (size_t)count)) return false;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!append_row_of_tuple(strings, what, strings->keeper, i)) return false;
    }
    return true;
}

bool parse_strings_and_release(PyObject *tuple, const char *what, struct strings *strings) {
    bool ok = tuple != NULL && parse_strings(tuple, what, strings);
    Py_XDECREF(tuple); /* strings->keeper has the objects */
    return ok;
}

bool parse_strings(PyObject *object, const char *what, struct strings *strings) {
    bool has_arrow = false;
    *strings = (struct strings){.items = NULL};
    bool ok = PyList_Check(object) || PyTuple_Check(object) ||
              (check_unmasked(object, what) && import_chunks(object, what, check_format, &strings->chunks, &has_arrow));
    if (ok) ok = has_arrow ? append_strings_of_chunks(strings) : append_strings_of_sequence(object, what, strings);
    if (!ok) strings_release(strings);
    return ok;
}
