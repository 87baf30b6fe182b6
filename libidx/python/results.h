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
enum {
    RESEMBLING_OFFSETS,
    RESEMBLING_RESEMBLANCES,
    RESEMBLING_ERRORS, /* of estimates */
    RESEMBLING_NUMBERS,
    RESEMBLING_ID_OFFSETS,
    RESEMBLING_ID_BYTES
};
#define RESEMBLING_KINDS "qddQqB"

enum result { RESULT_MATCHES, RESULT_DOCUMENTS, RESULT_PAIRS, RESULT_CLUSTERS, RESULT_RESEMBLING, RESULT_COUNT };

/* The first of the three columns of a result's IDs: numbers, offsets and bytes. 0: it has none. */
size_t result_ids(enum result result);

/* Whether a result has rows for each of many queries, which its first column, of offsets, says. */
bool result_by_query(enum result result);

/* Makes a result of a block, whose reference it takes, also where it fails. */
PyObject *result_new(enum result result, struct block *block);

/* Makes an array of the first column of a block, and takes over the caller's reference to the block. Returns NULL if
 * the block is NULL. */
PyObject *result_array(struct block *block);

/* Makes the result of a call that has ended, or raises: its error, what its watch raised, or MemoryError. Takes the
 * reference to the block. */
PyObject *result_end(enum result result, struct block *block, enum idx_status status, const struct idx_error *error,
                     const struct watch *watch, bool out_of_memory);

/* Makes a capsule with an Arrow stream of a result's rows (arrow_export.c). */
PyObject *arrow_export(enum result result, struct block *block);

/* Appends matches of a query to the columns of a block of RESULT_MATCHES. This is an idx_batch_visitor. */
struct gathering {
    struct block *block;
    bool failed; /* out of memory */
};
bool gather_matches(void *context, size_t query, const struct idx_match *matches, size_t count);
/* Completes the offsets of a result of `count` queries. */
bool gather_end(struct gathering *gathering, size_t count);

bool results_init(PyObject *module);

#endif
