/* streaming.c: see streaming.h. */
#include "libidx/batch/streaming.h"

#include <string.h>

#include "libidx/base/base.h"
#include "libidx/batch/cost.h"

enum idx_status idxi_batch_options(struct idx_batch_options *options, const struct idx_batch_options *given,
                                   struct idx_error *error) {
    *options = (struct idx_batch_options)IDX_BATCH_OPTIONS_INIT;
    idxi_copy_options(options, given);
    IDXI_TRY(idxi_check_threads(options->threads, error));
    if ((unsigned)options->method > IDX_BATCH_STREAM)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "there is no batch method %u", (unsigned)options->method);
    return idxi_memory_settle(&options->memory_bytes, error);
}

enum idx_status idxi_streaming_open(struct idxi_streaming *streaming, const uint64_t *queries, size_t count,
                                    unsigned bits, uint64_t fingerprints, const struct idx_batch_options *options,
                                    struct idxi_results *results, struct idxi_progress *progress,
                                    struct idx_error *error) {
    uint64_t memory = options->memory_bytes / 2;
    memset(streaming, 0, sizeof *streaming);
    streaming->progress = progress;
    streaming->by_arrays = idxi_cost_of_passing(count, bits, options->distance, fingerprints, memory).by_arrays;
    streaming->threads = streaming->by_arrays ? 1 : options->threads;
    if (streaming->by_arrays)
        return idxi_passing_arrays_open(&streaming->arrays, queries, count, bits, options->distance, options->threads,
                                        memory, results, progress, error);
    IDXI_TRY(idxi_query_tables_make(&streaming->tables, queries, count, bits, options->distance, memory,
                                    options->threads, error));
    for (unsigned i = 0; i < options->threads; i++)
        IDXI_TRY(idxi_passing_open(&streaming->passings[i], streaming->tables, results, memory / 2 / options->threads,
                                   error));
    return IDX_OK;
}

enum idx_status idxi_streaming_add(struct idxi_streaming *streaming, size_t thread, const uint64_t *fingerprints,
                                   size_t count, struct idx_error *error) {
    if (streaming->by_arrays) return idxi_passing_arrays_add(&streaming->arrays, fingerprints, count, error);
    IDXI_TRY(idxi_passing_add(streaming->passings[thread], fingerprints, count, error));
    return idxi_progress_add(streaming->progress, count, error);
}

static enum idx_status end_passing(void *context, size_t thread, struct idx_error *error) {
    struct idxi_streaming *streaming = context;
    return idxi_passing_end(streaming->passings[thread], error);
}

enum idx_status idxi_streaming_end(struct idxi_streaming *streaming, struct idx_error *error) {
    if (streaming->by_arrays) return idxi_passing_arrays_end(&streaming->arrays, error);
    return idxi_parallel(streaming->threads, streaming->threads, end_passing, streaming, streaming->progress, error);
}

void idxi_streaming_close(struct idxi_streaming *streaming) {
    for (unsigned i = 0; i < IDX_MAX_THREADS; i++) idxi_passing_close(streaming->passings[i]);
    if (streaming->by_arrays) idxi_passing_arrays_close(&streaming->arrays);
    idxi_query_tables_free(streaming->tables);
}
