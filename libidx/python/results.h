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

/* Gives memory to those of the columns ID_KINDS that IDs of this type need. The first of the three has number `first`
 * among all columns. If memory runs out, it sets columns->failed. No GIL needed. */
void ids_begin(struct columns *columns, size_t first, enum idx_id_type id_type);

/* Appends the ID of a document to the columns of IDs that ids_begin has begun: `number` if IDs are integers, the
 * `length` bytes at `id` if they are texts, or nothing if there are no IDs. If memory runs out, it sets
 * columns->failed. No GIL needed. */
void ids_add(struct columns *columns, size_t first, uint64_t number, const char *id, size_t length);

/* This is the idx_batch_visitor that appends the matches of a query to the columns of Matches, and the offsets of this
 * query and of those before it that had no matches. Queries must ascend; a last call for query n, without matches, adds
 * the offsets up to the end. `context` is the struct columns. No GIL needed. Returns false if memory runs out. */
bool append_query_matches(void *context, size_t query, const struct idx_match *matches, size_t count);

/* Returns a list of `count` texts: text i is the bytes from offsets[i] to before offsets[i + 1]. They are str, decoded
 * from UTF-8 with `errors` as bytes.decode has it, or bytes if `errors` is "bytes". */
PyObject *texts_to_list(const int64_t *offsets, Py_ssize_t count, const char *bytes, const char *errors);

/* These are functions of the module _core, by which results in Python make lists, rows and Arrow streams of columns. */
PyObject *core_texts(PyObject *module, PyObject *arguments);
PyObject *core_lists(PyObject *module, PyObject *arguments);
PyObject *core_rows(PyObject *module, PyObject *offsets_arg);
PyObject *core_arrow_stream(PyObject *module, PyObject *arguments);

#endif
