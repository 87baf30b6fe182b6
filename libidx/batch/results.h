/* results.h: the matches of a batch of queries. Threads add them in any order, and the caller visits them sorted, each
 * once. They are in memory, or in temporary files if that is too small. */
#ifndef IDX_LIBIDX_RESULTS_H
#define IDX_LIBIDX_RESULTS_H

#include "libidx/streams/sorter.h"

/* The order in which the matches of a query are visited: by fingerprint alone, or by distance first. */
enum idxi_results_order { IDXI_BY_FINGERPRINT, IDXI_BY_DISTANCE };

struct idxi_results {
    const uint64_t *queries;
    enum idxi_results_order order;
    pthread_mutex_t mutex;
    struct idxi_sorter sorter;
    struct idxi_progress silent_progress; /* the progress of sorting, which is not reported */
    int folder;
};

/* Matches that one thread has found and not yet added to the results. */
#define IDXI_BUFFERED_MATCHES 512
struct idxi_match_buffer {
    struct idxi_results *results;
    size_t count;
    uint64_t queries[IDXI_BUFFERED_MATCHES], fingerprints[IDXI_BUFFERED_MATCHES];
};

/* Makes empty results. The array `queries` must stay until they are closed. About a quarter of the options' memory is
 * used. Temporary files go to the folder of `index` if the options name none; `index` may be NULL. Call
 * idxi_results_close even if this fails. Errors: IDX_NOT_FOUND, IDX_NO_ACCESS, IDX_IO_ERROR (the folder),
 * IDX_OUT_OF_MEMORY. */
enum idx_status idxi_results_open(struct idxi_results *results, const struct idx_index *index, const uint64_t *queries,
                                  enum idxi_results_order order, const struct idx_batch_options *options,
                                  struct idx_error *error);

/* Adds the buffered matches to buffer->results, and empties the buffer, even if this fails. Several threads may call it
 * at once, each for a buffer of its own. Errors: IDX_OUT_OF_MEMORY, and those of writing temporary files. */
enum idx_status idxi_results_add_buffer(struct idxi_match_buffer *buffer, struct idx_error *error);

/* Adds a match of query number `query` to the buffer of a thread. Once the buffer is full, adds all of it to the
 * results. Errors: those of idxi_results_add_buffer. */
static inline enum idx_status idxi_add_match(struct idxi_match_buffer *buffer, size_t query, uint64_t fingerprint,
                                             struct idx_error *error) {
    buffer->queries[buffer->count] = query;
    buffer->fingerprints[buffer->count++] = fingerprint;
    return buffer->count == IDXI_BUFFERED_MATCHES ? idxi_results_add_buffer(buffer, error) : IDX_OK;
}

/* Visits all matches until the visitor returns false: in the order of queries, and those of one query in the order of
 * the results. A query with many matches comes in several calls of `visit`. `progress` only says whether the caller has
 * cancelled. Nothing can be added afterwards. Errors: IDX_CANCELLED, IDX_OUT_OF_MEMORY, and those of temporary files.
 */
enum idx_status idxi_results_visit(struct idxi_results *results, struct idxi_progress *progress,
                                   idx_batch_visitor visit, void *context, struct idx_error *error);

/* Frees the results, and closes their temporary files. */
void idxi_results_close(struct idxi_results *results);

#endif
