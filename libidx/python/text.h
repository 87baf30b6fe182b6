/* text.h: what the files of the extension module _text share. */
#ifndef IDX_PYTHON_TEXT_H
#define IDX_PYTHON_TEXT_H

#include <idx_text.h>

#include "libidx/python/module.h"

/* ---- Documents that come in (text.c) ---- */

enum { BODY, TITLE, DESCRIPTION, FIELDS };

/* The texts of each field of many documents. */
struct documents {
    struct strings fields[FIELDS];
    bool has_field[FIELDS]; /* whether there are texts of this field */
};

/* Reads the texts of each field: columns[BODY] has the texts of all documents, and each other column as many, or is
 * None. Returns false with an exception set if parse_strings refuses a column, or with ValueError if the numbers
 * differ; if it succeeds, the caller releases the documents. */
bool parse_documents(PyObject *columns[FIELDS], struct documents *documents);

/* Releases the texts of all fields. */
void documents_release(struct documents *documents);

/* Writes the fields that document `number` has to the beginning of `fields`. Returns how many these are. They are valid
 * until documents_release. */
size_t documents_get_fields(const struct documents *documents, size_t number, struct idx_text_field fields[FIELDS]);

/* ---- Tables of document frequencies (text_table.c) ---- */

/* Makes a Table that owns `table`. If that fails, closes `table`, and returns NULL with an exception set. */
PyObject *table_new(struct idx_text_table *table);

/* Returns the table that a Table owns, valid as long as that. Returns NULL with TypeError set for any other object. */
const struct idx_text_table *get_table(PyObject *object);

/* Makes the type Table, and adds it to the module libidx._text. It is called once, while that module is made, and
 * before any Table is. The type is never freed. Returns false with an exception set on failure. */
bool add_table_type(PyObject *module);

/* ---- Fingerprinters (fingerprinter.c) ---- */

/* This is the module's function `train`. */
PyObject *fingerprinter_train(PyObject *module, PyObject *arguments);

/* Makes the type Fingerprinter, and adds it to the module; otherwise as add_table_type. */
bool add_fingerprinter_type(PyObject *module);

/* ---- Parts (parts.c) ---- */

/* These are the module's functions `divide` and `unquote`. */
PyObject *parts_divide(PyObject *module, PyObject *arguments);
PyObject *parts_unquote(PyObject *module, PyObject *part);

/* ---- Resemblance (resemblance.c) ---- */

/* Hashes in an array that grows. It starts as {0}; the caller frees `items`. */
struct hashes {
    uint64_t *items;
    size_t count, capacity;
};

/* Replaces the hashes by those of the shingles of a text, as idx_text_shingles lists them. Called without the GIL. If
 * it fails, call->error says why, and the hashes are unspecified. Errors: IDX_OUT_OF_MEMORY, and those of
 * idx_text_shingles. */
enum idx_status make_shingle_hashes(struct hashes *hashes, const char *text, size_t length,
                                    const struct idx_text_shingle_options *options, struct call *call);

/* Sets options for shingles of `width` words or characters: `unit` is "words" or "characters". Returns false with
 * InvalidArgumentError set if the width is out of range, or the unit is another one. */
bool parse_shingle_options(struct idx_text_shingle_options *options, long long width, const char *unit);

/* Returns a resemblance, above 0 and up to 1, in units of 1/IDX_THRESHOLD_ONE, rounded. Returns 0 with
 * InvalidArgumentError set if it is out of this range, or rounded to 0. */
int64_t convert_to_threshold(double resemblance);

/* These are the module's functions `shingles`, `sets`, `words` and `resemblance`. */
PyObject *resemblance_shingles(PyObject *module, PyObject *arguments);
PyObject *resemblance_sets(PyObject *module, PyObject *arguments);
PyObject *resemblance_words(PyObject *module, PyObject *texts_arg);
PyObject *resemblance_compute(PyObject *module, PyObject *arguments);

/* ---- Sets of many texts (sets.c) ---- */

/* Makes the type Sets, and adds it to the module; otherwise as add_table_type. */
bool add_sets_type(PyObject *module);

#endif
