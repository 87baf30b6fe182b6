/* results.h: the columns of results, which the classes of libidx/_results.py take in this order. */
#ifndef IDX_PYTHON_RESULTS_H
#define IDX_PYTHON_RESULTS_H

#include "libidx/python/module.h"

/* The columns of Matches, and their kinds; likewise below. */
enum { MATCHES_OFFSETS, MATCHES_FINGERPRINTS, MATCHES_DISTANCES };
#define MATCHES_KINDS "qQB"
enum { PAIRS_A, PAIRS_B, PAIRS_DISTANCES };
#define PAIRS_KINDS "QQB"

/* The columns of IDs, after the others of a result that has IDs. These are numbers, or text, or none. */
enum { ID_NUMBERS, ID_OFFSETS, ID_BYTES };
#define ID_KINDS "QqB"

/* Gives memory to the columns that IDs of this type need; the others stay None for Python:
 *
 * - IDX_ID_TEXT: ID_OFFSETS, with a first offset 0, and ID_BYTES
 * - IDX_ID_U64: ID_NUMBERS
 * - IDX_ID_NONE: none
 *
 * `first_id_column` is the number of the first of these three columns, ID_KINDS, among all. If memory runs out, sets
 * columns->failed. No GIL needed. */
void allocate_id_columns(struct columns *columns, size_t first_id_column, enum idx_id_type id_type);

/* Appends the ID of a document to the columns that allocate_id_columns has given memory: `number` if IDs are integers,
 * the `length` bytes at `id` if they are texts, or nothing if there are no IDs. If memory runs out, sets
 * columns->failed. No GIL needed. */
void append_id(struct columns *columns, size_t first_id_column, uint64_t number, const char *id, size_t length);

/* This is the idx_batch_visitor that appends the `count` matches of a query to the columns of Matches, and the offsets
 * of this query and of those before it that had no matches. Queries must ascend; a last call with the number of all
 * queries, without matches, adds the offsets up to the end. `context` is the struct columns. No GIL needed. Returns
 * false if memory runs out. */
bool append_query_matches(void *context, size_t query, const struct idx_match *matches, size_t count);

/* Returns a list of `count` texts, each a str decoded from UTF-8, or bytes. Text i is the bytes from offsets[i] to
 * before offsets[i + 1]. `errors` is "bytes" for bytes, or says what a str has in place of invalid bytes, as for
 * bytes.decode: "strict", for example. Returns NULL with an exception set on failure. */
PyObject *texts_to_list(const int64_t *offsets, Py_ssize_t count, const char *bytes, const char *errors);

/* These are functions of the module _core, by which results in Python make lists, rows and Arrow streams of columns. */
PyObject *core_texts(PyObject *module, PyObject *arguments);
PyObject *core_lists(PyObject *module, PyObject *arguments);
PyObject *core_rows(PyObject *module, PyObject *offsets_arg);
PyObject *core_arrow_stream(PyObject *module, PyObject *arguments);

#endif
