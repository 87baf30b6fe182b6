/* results.c: sorts matches. The sorter's entries are (query number) · 2^8 + distance, with the fingerprint as value, so
 * that its order is the one in which matches are visited. */
#include "libidx/batch/results.h"

#include <unistd.h>

#include "libidx/base/base.h"
#include "libidx/view/index.h"

#define DISTANCE_BITS 8

enum idx_status idxi_results_open(struct idxi_results *results, const struct idx_index *index, const uint64_t *queries,
                                  enum idxi_results_order order, const struct idx_batch_options *options,
                                  struct idx_error *error) {
    const char *path = options->temporary_folder;
    *results = (struct idxi_results){.queries = queries, .order = order};
    pthread_mutex_init(&results->mutex, NULL);
    idxi_progress_init(&results->silent_progress, NULL, NULL);
    IDXI_TRY(idxi_open_temporary_folder(&results->folder, &path, index == NULL ? -1 : index->folder,
                                        index == NULL ? NULL : index->path, error));
    struct idxi_sorter_options sorting = {.with_values = true,
                                          .threads = options->threads,
                                          .memory = options->memory_bytes / 4,
                                          .folder = results->folder,
                                          .path = path,
                                          .progress = &results->silent_progress};
    return idxi_sorter_open(&results->sorter, &sorting, error);
}

/* Returns the distance of a fingerprint to query number `query`. */
static unsigned get_distance(const struct idxi_results *results, size_t query, uint64_t fingerprint) {
    return (unsigned)__builtin_popcountll(results->queries[query] ^ fingerprint);
}

/* Adds buffered matches to the sorter; the caller has locked the mutex. If the sorter's memory can't hold them, its
 * entries are written to a file first. */
static enum idx_status add_buffer_to_sorter(struct idxi_results *results, const struct idxi_match_buffer *buffer,
                                            struct idx_error *error) {
    if (idxi_sorter_get_free_entries(&results->sorter) < buffer->count)
        IDXI_TRY(idxi_sorter_spill(&results->sorter, error));
    for (size_t i = 0; i < buffer->count; i++) {
        size_t query = buffer->queries[i];
        uint64_t fingerprint = buffer->fingerprints[i];
        unsigned distance = results->order == IDXI_BY_DISTANCE ? get_distance(results, query, fingerprint) : 0;
        idxi_sorter_add(&results->sorter, (uint64_t)query << DISTANCE_BITS | distance, fingerprint);
    }
    return IDX_OK;
}

enum idx_status idxi_results_add_buffer(struct idxi_match_buffer *buffer, struct idx_error *error) {
    struct idxi_results *results = buffer->results;
    pthread_mutex_lock(&results->mutex);
    enum idx_status status = add_buffer_to_sorter(results, buffer, error);
    pthread_mutex_unlock(&results->mutex);
    buffer->count = 0;
    return status;
}

/* Visits up to IDXI_STREAM_ENTRIES sorted entries, those of each query in one call. Returns false if the visitor wants
 * no more. */
static bool visit_entries(const struct idxi_results *results, const uint64_t *keys, const uint64_t *fingerprints,
                          size_t count, idx_batch_visitor visit, void *context) {
    struct idx_match matches[IDXI_STREAM_ENTRIES];
    for (size_t begin = 0, end; begin < count; begin = end) {
        size_t query = (size_t)(keys[begin] >> DISTANCE_BITS);
        for (end = begin; end < count && keys[end] >> DISTANCE_BITS == query; end++)
            matches[end - begin] =
                (struct idx_match){fingerprints[end], get_distance(results, query, fingerprints[end])};
        if (!visit(context, query, matches, end - begin)) return false;
    }
    return true;
}

enum idx_status idxi_results_visit(struct idxi_results *results, struct idxi_progress *progress,
                                   idx_batch_visitor visit, void *context, struct idx_error *error) {
    uint64_t keys[IDXI_STREAM_ENTRIES], fingerprints[IDXI_STREAM_ENTRIES];
    struct idxi_stream *stream;
    size_t count;
    IDXI_TRY(idxi_progress_add(progress, 0, error)); /* adds nothing: fails if the caller has cancelled */
    IDXI_TRY(idxi_sorter_open_stream(&results->sorter, &stream, error));
    do {
        IDXI_TRY(idxi_progress_add(progress, 0, error));
        IDXI_TRY(stream->read(stream, keys, fingerprints, IDXI_STREAM_ENTRIES, &count, error));
    } while (count > 0 && visit_entries(results, keys, fingerprints, count, visit, context));
    return IDX_OK;
}

void idxi_results_close(struct idxi_results *results) {
    idxi_sorter_close(&results->sorter);
    if (results->folder >= 0) close(results->folder);
    pthread_mutex_destroy(&results->mutex);
}
