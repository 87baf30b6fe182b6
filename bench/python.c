/* python.c: what bench/python.py compares the Python package with: the same calls from C, as a library that the script
 * loads into its process. Each returns the nanoseconds that its calls took, or 0 where one failed. */
#include "bench/bench.h"

#include <string.h>

/* So many matches of a single query are stored, and of each query of a batch. */
#define CAPACITY 32
#define BATCH_CAPACITY 4

struct idx_index *open_index(const char *path) {
    struct idx_index *index;
    return idx_open(&index, path, NULL, NULL) == IDX_OK ? index : NULL;
}

uint64_t look_up_each(const struct idx_index *index, const uint64_t *queries, size_t count, unsigned k) {
    struct idx_match matches[CAPACITY];
    size_t found;
    double begin = now();
    for (size_t i = 0; i < count; i++) {
        if (idx_lookup(index, queries[i], k, matches, CAPACITY, &found, NULL) != IDX_OK) return 0;
    }
    return (uint64_t)(1e9 * (now() - begin));
}

uint64_t exists_each(const struct idx_index *index, const uint64_t *queries, size_t count, unsigned k) {
    bool exists;
    double begin = now();
    for (size_t i = 0; i < count; i++) {
        if (idx_exists(index, queries[i], k, &exists, NULL) != IDX_OK) return 0;
    }
    return (uint64_t)(1e9 * (now() - begin));
}

uint64_t look_up_batches(const struct idx_index *index, const uint64_t *queries, size_t count, size_t batch, unsigned k,
                         unsigned threads) {
    struct idx_match *matches = malloc(batch * BATCH_CAPACITY * sizeof *matches);
    size_t *counts = calloc(batch, sizeof *counts);
    struct idx_lookup_options options = IDX_LOOKUP_OPTIONS_INIT;
    options.distance = k;
    options.threads = threads;
    if (matches != NULL) memset(matches, 1, batch * BATCH_CAPACITY * sizeof *matches); /* takes the memory */
    double begin = now();
    enum idx_status status = matches == NULL || counts == NULL ? IDX_OUT_OF_MEMORY : IDX_OK;
    for (size_t i = 0; i + batch <= count && status == IDX_OK; i += batch)
        status = idx_lookup_many(index, queries + i, batch, &options, matches, BATCH_CAPACITY, counts, NULL);
    uint64_t took = status == IDX_OK ? (uint64_t)(1e9 * (now() - begin)) : 0;
    free(matches);
    free(counts);
    return took;
}

uint64_t documents_many(const struct idx_index *index, const uint64_t *fingerprints, size_t count, unsigned threads) {
    struct idx_document_lists_options options = IDX_DOCUMENT_LISTS_OPTIONS_INIT;
    struct idx_document_lists lists;
    options.threads = threads;
    double begin = now();
    if (idx_list_documents(index, fingerprints, count, &options, &lists, NULL) != IDX_OK) return 0;
    idx_document_lists_close(&lists);
    return (uint64_t)(1e9 * (now() - begin));
}
