/* text.h: what the files of the extension module _text share. */
#ifndef IDX_PYTHON_TEXT_H
#define IDX_PYTHON_TEXT_H

#include <idx_text.h>

#include "libidx/python/module.h"

/* ---- Documents that come in (text.c) ---- */

enum { BODY, TITLE, DESCRIPTION, FIELDS };

struct documents {
    struct texts fields[FIELDS];
    bool given[FIELDS];
};

/* Takes the texts of each field; None for a field that there is not. */
bool documents_take(PyObject *columns[FIELDS], struct documents *documents);
void documents_release(struct documents *documents);

/* Sets the fields of one document. Returns how many there are. */
size_t documents_fields(const struct documents *documents, size_t at, struct idx_text_field fields[FIELDS]);

/* ---- Tables of document frequencies (text_table.c) ---- */

/* Makes a Table, which owns `table`, also where this fails. */
PyObject *table_new(struct idx_text_table *table);

/* What a Table holds; NULL with an exception set for any other object. */
const struct idx_text_table *table_of(PyObject *object);

bool table_init(PyObject *module);

/* ---- Fingerprinters (fingerprinter.c) ---- */

/* The module's function `train`. */
PyObject *fingerprinter_train(PyObject *module, PyObject *arguments);

bool fingerprinter_init(PyObject *module);

/* ---- Resemblance (resemblance.c) ---- */

/* The module's functions `shingles`, `resemblance` and `distance`. */
PyObject *resemblance_shingles(PyObject *module, PyObject *arguments);
PyObject *resemblance_of(PyObject *module, PyObject *arguments);
PyObject *resemblance_distance(PyObject *module, PyObject *arguments);

bool resemblance_init(PyObject *module);

#endif
