/* results.c: fills the columns of results, and makes lists of them. */
#include "libidx/python/results.h"

#include <string.h>

bool append_query_matches(void *context, size_t query, const struct idx_match *matches, size_t count) {
    struct columns *columns = context;
    size_t offset_count = columns->list[MATCHES_OFFSETS].count; /* as many queries have their offset already */
    int64_t match_count = (int64_t)columns->list[MATCHES_FINGERPRINTS].count;
    int64_t *offsets = columns_add(columns, MATCHES_OFFSETS, query + 1 - offset_count);
    uint64_t *fingerprints = columns_add(columns, MATCHES_FINGERPRINTS, count);
    uint8_t *distances = columns_add(columns, MATCHES_DISTANCES, count);
    if (columns->failed) return false;
    for (; offset_count <= query; offset_count++) *offsets++ = match_count;
    for (size_t i = 0; i < count; i++) {
        fingerprints[i] = matches[i].fingerprint;
        distances[i] = (uint8_t)matches[i].distance;
    }
    return true;
}

/* ---- IDs ---- */

void allocate_id_columns(struct columns *columns, size_t first_id_column, enum idx_id_type id_type) {
    if (id_type == IDX_ID_U64) columns_add(columns, first_id_column + ID_NUMBERS, 0);
    if (id_type != IDX_ID_TEXT) return;
    int64_t *offset = columns_add(columns, first_id_column + ID_OFFSETS, 1);
    columns_add(columns, first_id_column + ID_BYTES, 0);
    if (offset != NULL) *offset = 0;
}

void append_id(struct columns *columns, size_t first_id_column, uint64_t number, const char *id, size_t length) {
    if (columns->list[first_id_column + ID_NUMBERS].items != NULL) {
        uint64_t *numbers = columns_add(columns, first_id_column + ID_NUMBERS, 1);
        if (numbers != NULL) *numbers = number;
    } else if (columns->list[first_id_column + ID_OFFSETS].items != NULL) {
        char *bytes = columns_add(columns, first_id_column + ID_BYTES, length);
        int64_t *offset = columns_add(columns, first_id_column + ID_OFFSETS, 1);
        if (columns->failed) return;
        if (length > 0) memcpy(bytes, id, length);
        *offset = (int64_t)columns->list[first_id_column + ID_BYTES].count;
    }
}

/* ---- Lists: they are made in C because they would take most of the time of results with many IDs ---- */

PyObject *texts_to_list(const int64_t *offsets, Py_ssize_t count, const char *bytes, const char *errors) {
    bool as_bytes = strcmp(errors, "bytes") == 0;
    PyObject *list = PyList_New(count);
    for (Py_ssize_t i = 0; i < count && list != NULL; i++) {
        Py_ssize_t length = (Py_ssize_t)(offsets[i + 1] - offsets[i]);
        PyObject *item = as_bytes ? PyBytes_FromStringAndSize(bytes + offsets[i], length)
                                  : PyUnicode_DecodeUTF8(bytes + offsets[i], length, errors);
        if (item == NULL || PyList_SetItem(list, i, item) < 0) Py_CLEAR(list);
    }
    return list;
}

/* Takes (offsets int64[n + 1], bytes, errors), and checks the offsets. Returns the list of texts_to_list. */
PyObject *core_texts(PyObject *module, PyObject *arguments) {
    Py_buffer offsets, bytes;
    const char *errors;
    if (!PyArg_ParseTuple(arguments, "y*y*s", &offsets, &bytes, &errors)) return NULL;
    const int64_t *offset_items = offsets.buf;
    Py_ssize_t count = offsets.len < 8 ? 0 : offsets.len / 8 - 1;
    bool is_valid = offsets.len >= 8 && offset_items[0] >= 0 && offset_items[count] <= bytes.len;
    for (Py_ssize_t i = 0; i < count; i++) is_valid = is_valid && offset_items[i] <= offset_items[i + 1];
    PyObject *list = is_valid ? texts_to_list(offset_items, count, bytes.buf, errors)
                              : PyErr_Format(PyExc_ValueError, "offsets: they do not ascend within the bytes");
    PyBuffer_Release(&offsets);
    PyBuffer_Release(&bytes);
    return list;
}

/* Takes (list, offsets int64[n + 1]). Returns the list of the slices list[offsets[i]:offsets[i + 1]]; offsets out of
 * range are cut to it, as Python does. */
PyObject *core_lists(PyObject *module, PyObject *arguments) {
    Py_buffer offsets;
    PyObject *items;
    if (!PyArg_ParseTuple(arguments, "O!y*", &PyList_Type, &items, &offsets)) return NULL;
    const int64_t *offset_items = offsets.buf;
    Py_ssize_t count = offsets.len / 8 - 1;
    PyObject *lists = PyList_New(count < 0 ? 0 : count);
    for (Py_ssize_t i = 0; i < count && lists != NULL; i++) {
        PyObject *list = PyList_GetSlice(items, (Py_ssize_t)offset_items[i], (Py_ssize_t)offset_items[i + 1]);
        if (list == NULL || PyList_SetItem(lists, i, list) < 0) Py_CLEAR(lists);
    }
    PyBuffer_Release(&offsets);
    return lists;
}

/* Takes (offsets int64[n + 1]), which ascend from 0: query i has the rows from offsets[i] to before offsets[i + 1].
 * Returns for each row the number of its query, int64[m]. For example, [0, 2, 3] gives [0, 0, 1]. */
PyObject *core_rows(PyObject *module, PyObject *offsets_arg) {
    struct columns columns;
    struct array offsets;
    if (!parse_array(offsets_arg, "offsets", &offsets)) return NULL;
    size_t row_count = offsets.count == 0 ? 0 : (size_t)offsets.items[offsets.count - 1];
    bool ok = columns_begin_sized(&columns, "q", row_count);
    int64_t *queries = columns.list[0].items;
    /* These are variables, and not members, so that they stay in registers while queries are stored. */
    const uint64_t *offset_items = offsets.items;
    const size_t offset_count = ok ? offsets.count : 0;
    for (size_t i = 1, row = 0; i < offset_count && offset_items[i] <= row_count; i++) {
        for (; row < offset_items[i]; row++) queries[row] = (int64_t)i - 1;
    }
    array_release(&offsets);
    return columns_end_as_array(&columns, ok);
}
