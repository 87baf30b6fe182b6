/* text.h: what the files of the extension module _text share. */
#ifndef IDX_PYTHON_TEXT_H
#define IDX_PYTHON_TEXT_H

#include <idx_text.h>

#include "libidx/python/module.h"

/* ---- Documents that come in (text.c) ---- */

enum { BODY, TITLE, DESCRIPTION, FIELDS };

struct documents {
    struct strings fields[FIELDS];
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

/* Returns what a Table holds, or NULL with an exception set for any other object. */
const struct idx_text_table *table_of(PyObject *object);

bool table_init(PyObject *module);

/* ---- Fingerprinters (fingerprinter.c) ---- */

/* This is the module's function `train`. */
PyObject *fingerprinter_train(PyObject *module, PyObject *arguments);

bool fingerprinter_init(PyObject *module);

/* ---- Resemblance (resemblance.c) ---- */

/* These are hashes in an array that grows. */
struct hashes {
    uint64_t *items;
    size_t count, capacity;
};

/* Sets the hashes to the shingles of a text. No GIL needed. */
enum idx_status hashes_make(struct hashes *hashes, const char *text, size_t length,
                            const struct idx_text_shingle_options *options, struct idx_error *error);

/* Sets options for shingles of `width` words or characters, as `unit` says. */
bool shingle_options_take(struct idx_text_shingle_options *options, long long width, const char *unit);

/* Reads a resemblance in units of 1/IDX_DECIMAL_WEIGHT_ONE. Returns 0 with an exception set if it is none. */
int64_t threshold_of(double resemblance);

/* These are the module's functions `shingles`, `sets`, `words` and `resemblance`. */
PyObject *resemblance_shingles(PyObject *module, PyObject *arguments);
PyObject *resemblance_sets(PyObject *module, PyObject *arguments);
PyObject *resemblance_words(PyObject *module, PyObject *given);
PyObject *resemblance_of(PyObject *module, PyObject *arguments);

/* ---- Sets of many texts (sets.c) ---- */

bool sets_init(PyObject *module);

#endif
