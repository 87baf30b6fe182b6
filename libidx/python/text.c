/* text.c: the extension module libidx._text, over libidxtext: from texts to fingerprints. It is left out of packages
 * that are built without ICU. */
#include "libidx/python/text.h"

/* ---- Documents that come in ---- */

void documents_release(struct documents *documents) {
    for (size_t i = 0; i < FIELDS; i++) strings_release(&documents->fields[i]);
}

bool parse_documents(PyObject *columns[FIELDS], struct documents *documents) {
    static const char *const names[] = {"texts", "titles", "descriptions"};
    *documents = (struct documents){.has_field = {true, columns[TITLE] != Py_None, columns[DESCRIPTION] != Py_None}};
    bool ok = true;
    for (size_t i = 0; i < FIELDS && ok; i++) {
        if (!documents->has_field[i]) continue;
        ok = parse_strings(columns[i], names[i], &documents->fields[i]);
        if (ok && documents->fields[i].count != documents->fields[BODY].count) {
            PyErr_Format(PyExc_ValueError, "%zu texts and %zu %s: give as many", documents->fields[BODY].count,
                         documents->fields[i].count, names[i]);
            ok = false;
        }
    }
    if (!ok) documents_release(documents);
    return ok;
}

size_t documents_get_fields(const struct documents *documents, size_t number, struct idx_text_field fields[FIELDS]) {
    static const char *const names[] = {"body", "title", "description"};
    size_t count = 0;
    for (size_t i = 0; i < FIELDS; i++) {
        const struct strings *texts = &documents->fields[i];
        if (documents->has_field[i])
            fields[count++] = (struct idx_text_field){names[i], texts->items[number], texts->lengths[number]};
    }
    return count;
}

/* ---- The module ---- */

static PyMethodDef functions[] = {
    {"train", fingerprinter_train, METH_VARARGS, NULL},
    {"shingles", resemblance_shingles, METH_VARARGS, NULL},
    {"sets", resemblance_sets, METH_VARARGS, NULL},
    {"words", resemblance_words, METH_O, NULL},
    {"resemblance", resemblance_compute, METH_VARARGS, NULL},
    {"divide", parts_divide, METH_VARARGS, NULL},
    {"unquote", parts_unquote, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "libidx._text", "libidx's fingerprints of texts.", -1, functions, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__text(void);

/* Makes the module libidx._text. Python calls this when it imports the module. Returns NULL with an exception set on
 * failure. */
PyMODINIT_FUNC PyInit__text(void) {
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL) return NULL;
    if (import_make_error() && make_column_type() && add_table_type(module) && add_fingerprinter_type(module) &&
        add_sets_type(module) && PyModule_AddStringConstant(module, "DEFAULT_RECIPE", IDX_TEXT_DEFAULT_RECIPE) == 0 &&
        PyModule_AddStringConstant(module, "ICU_VERSION", idx_text_icu_version()) == 0)
        return module;
    Py_DECREF(module);
    return NULL;
}
