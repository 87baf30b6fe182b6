/* results.h: the types of results: matches, documents, pairs, clusters and what resembles, each a block of columns. */
#ifndef IDX_PYTHON_RESULTS_H
#define IDX_PYTHON_RESULTS_H

#include "libidx/python/module.h"

/* The columns of each, in this order, and their kinds. Where there are IDs, they are numbers, or text, or none. */
enum { MATCHES_OFFSETS, MATCHES_FINGERPRINTS, MATCHES_DISTANCES };
#define MATCHES_KINDS "qQB"
enum { DOCUMENTS_OFFSETS, DOCUMENTS_COUNTS, DOCUMENTS_NUMBERS, DOCUMENTS_ID_OFFSETS, DOCUMENTS_ID_BYTES };
#define DOCUMENTS_KINDS "qqQqB"
enum { PAIRS_A, PAIRS_B, PAIRS_DISTANCES };
#define PAIRS_KINDS "QQB"
enum {
    CLUSTERS_CLUSTERS,
    CLUSTERS_FINGERPRINTS,
    CLUSTERS_DISTANCES,
    CLUSTERS_REPRESENTATIVE,
    CLUSTERS_NUMBERS,
    CLUSTERS_ID_OFFSETS,
    CLUSTERS_ID_BYTES
};
#define CLUSTERS_KINDS "qQB?QqB"
enum { RESEMBLING_OFFSETS, RESEMBLING_RESEMBLANCES, RESEMBLING_NUMBERS, RESEMBLING_ID_OFFSETS, RESEMBLING_ID_BYTES };
#define RESEMBLING_KINDS "qdQqB"

enum result { RESULT_MATCHES, RESULT_DOCUMENTS, RESULT_PAIRS, RESULT_CLUSTERS, RESULT_RESEMBLING, RESULT_COUNT };

/* Returns the first of the three columns of IDs, which are numbers, offsets and bytes; 0 if there are no IDs. */
size_t result_first_id_column(enum result result);

/* Returns whether a result has rows for each of many queries. Then its first column has the offsets of these. */
bool result_is_by_query(enum result result);

/* Returns how many rows a result has. The last offset of results by query is that number. */
size_t result_count_rows(enum result result, const struct block *block);

/* Makes a result of a block, and takes over the caller's reference to the block, also where it fails. */
PyObject *result_new(enum result result, struct block *block);

/* Makes an array of a block's first column, and takes over the reference to the block. Returns NULL for block NULL. */
PyObject *result_array(struct block *block);

/* Makes the result of a call that has ended, or raises: the error of the call, what its watch raised, or MemoryError.
 * Takes over the caller's reference to the block. */
PyObject *result_end(enum result result, struct block *block, enum idx_status status, const struct idx_error *error,
                     const struct watch *watch, bool out_of_memory);

/* Makes a capsule with an Arrow stream of a result's rows (arrow_export.c). */
PyObject *arrow_export(enum result result, struct block *block);

/* Rows of a result, while a call of the library visits them one after the other. */
struct gathering {
    struct block *block; /* with the columns of that result */
    bool failed;         /* out of memory */
};

/* The idx_batch_visitor that appends the matches of a query to the columns of RESULT_MATCHES, and the offsets of the
 * queries up to it. Queries must ascend. Returns false if memory runs out. */
bool gather_matches(void *context, size_t query, const struct idx_match *matches, size_t count);

/* Completes the offsets for `count` queries, and trims the columns. Does nothing if gathering->failed, which it sets.
 */
void gather_finish(struct gathering *gathering, size_t count);

bool results_init(PyObject *module);

#endif
