/* parts.c: the functions divide and unquote: the parts of texts, which are str or bytes. */
#include <stdlib.h>
#include <string.h>

#include "libidx/python/text.h"

/* Returns the bytes of a text, a str or bytes, for the caller to release, or NULL with an exception set. A str is
 * encoded in UTF-8, and its surrogates are kept, since they end no part. */
static PyObject *encode_text(PyObject *text) {
    if (PyBytes_Check(text)) return Py_NewRef(text);
    if (PyUnicode_Check(text)) return PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass");
    return PyErr_Format(PyExc_TypeError, "expected str or bytes, not %R", (PyObject *)Py_TYPE(text));
}

/* Makes a text of `length` bytes, for the caller to release: bytes if `model` is bytes, or else a str, by the reverse
 * of encode_text. Returns NULL with an exception set on failure. */
static PyObject *make_text_like(PyObject *model, const char *bytes, size_t length) {
    return PyBytes_Check(model) ? PyBytes_FromStringAndSize(bytes, (Py_ssize_t)length)
                                : PyUnicode_DecodeUTF8(bytes, (Py_ssize_t)length, "surrogatepass");
}

/* Takes (text, "paragraph" or "line"[, escaped]), where `escaped` says whether the text is escaped as in JSON. Returns
 * a list of the parts of the text, each a str or bytes as the text is. */
PyObject *parts_divide(PyObject *module, PyObject *arguments) {
    PyObject *text;
    const char *part_name;
    int escaped = 0;
    if (!PyArg_ParseTuple(arguments, "Os|p", &text, &part_name, &escaped)) return NULL;
    PyObject *bytes = encode_text(text);
    if (bytes == NULL) return NULL;
    PyObject *list = PyList_New(0);
    const char *rest = PyBytes_AsString(bytes);
    size_t left_length = (size_t)PyBytes_Size(bytes), length;
    const enum idx_text_part part = strcmp(part_name, "line") == 0 ? IDX_TEXT_LINE : IDX_TEXT_PARAGRAPH;
    for (; left_length > 0 && list != NULL; rest += length, left_length -= length) {
        length = idx_text_find_part(rest, left_length, part, escaped);
        PyObject *item = make_text_like(text, rest, length);
        if (item == NULL || PyList_Append(list, item) < 0) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    Py_DECREF(bytes);
    return list;
}

/* Takes (part), a str or bytes. Returns what is compared of it: the part without the marks of quotation, such as `> `,
 * that its lines begin with. */
PyObject *parts_unquote(PyObject *module, PyObject *part) {
    PyObject *bytes = encode_text(part), *answer = NULL;
    if (bytes == NULL) return NULL;
    size_t length = (size_t)PyBytes_Size(bytes);
    char *unquoted = malloc(length + 1); /* unquoting never makes a part longer */
    if (memchr(PyBytes_AsString(bytes), '>', length) == NULL)
        answer = Py_NewRef(part);
    else if (unquoted != NULL)
        answer = make_text_like(part, unquoted, idx_text_unquote(PyBytes_AsString(bytes), length, unquoted));
    else
        PyErr_NoMemory();
    free(unquoted);
    Py_DECREF(bytes);
    return answer;
}
