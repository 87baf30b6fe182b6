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

/* Makes the columns of IDs of a type, of which the first has number `first` among all columns. No GIL needed. */
void ids_begin(struct columns *columns, size_t first, enum idx_id_type id_type);

/* Appends the ID of a document, `number` or `id`, to those columns of IDs that ids_begin has made. If memory runs out,
 * it sets columns->failed. No GIL needed. */
void ids_add(struct columns *columns, size_t first, uint64_t number, const char *id, size_t length);

/* The idx_batch_visitor that appends the matches of a query to the columns of Matches, and the offsets of the queries
 * up to it. Queries must ascend. Returns false if memory runs out. */
bool gather_matches(void *columns, size_t query, const struct idx_match *matches, size_t count);

/* Returns a list of `count` texts: text i is the bytes from offsets[i] to before offsets[i + 1]. They are str, decoded
 * as `errors` says, or bytes if that is "bytes". */
PyObject *texts_to_list(const int64_t *offsets, Py_ssize_t count, const char *bytes, const char *errors);

/* These are functions of the module _core, by which results in Python make lists, rows and Arrow streams of columns. */
PyObject *core_texts(PyObject *module, PyObject *arguments);
PyObject *core_lists(PyObject *module, PyObject *arguments);
PyObject *core_rows(PyObject *module, PyObject *given);
PyObject *core_arrow_stream(PyObject *module, PyObject *arguments);

#endif
