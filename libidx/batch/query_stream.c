/* query_stream.c: idx_stream, which streams fingerprints from any source past queries in memory. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "libidx/base/base.h"
#include "libidx/batch/streaming.h"

struct idx_stream {
    struct idx_batch_options options;
    uint64_t *queries;
    struct idxi_streaming streaming;
    struct idxi_results results;
    bool results_open;
    struct idxi_progress progress;
    const uint64_t *fingerprints; /* those of the present idx_stream_add */
    size_t count;                 /* of fingerprints */
    atomic_size_t next;           /* the first of these that no thread has taken yet */
};

/* Checks what idxi_copy_batch_options does not: the number of bits, the distance, that the method is streaming, and
 * that no query has more than `bits` bits. Errors: IDX_INVALID_ARGUMENT. */
static enum idx_status check_arguments(struct idx_stream *stream, const uint64_t *queries, size_t count, unsigned bits,
                                       struct idx_error *error) {
    const struct idx_batch_options *options = &stream->options;
    if (bits < 1 || bits > IDX_MAX_BITS)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "%u bits: the number must be 1 to %d", bits, IDX_MAX_BITS);
    IDXI_TRY(idxi_check_distance_limit(options->distance, IDX_INVALID_ARGUMENT, error));
    if (options->method != IDX_BATCH_AUTO && options->method != IDX_BATCH_STREAM)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "a stream supports no other method");
    return idxi_check_fingerprints(queries, count, bits, error);
}

/* Copies the options and the queries to a zeroed stream, and opens its results. The caller calls idx_stream_close, also
 * after an error. */
static enum idx_status open_stream(struct idx_stream *stream, const uint64_t *queries, size_t count, unsigned bits,
                                   const struct idx_batch_options *caller_options, struct idx_error *error) {
    struct idx_batch_options *options = &stream->options;
    IDXI_TRY(idxi_copy_batch_options(options, caller_options, error));
    if (options->distance == UINT_MAX) options->distance = IDX_DEFAULT_K;
    IDXI_TRY(check_arguments(stream, queries, count, bits, error));
    stream->queries = malloc((count + 1) * sizeof *queries);
    if (stream->queries == NULL) return idxi_fail_memory(error);
    if (count > 0) memcpy(stream->queries, queries, count * sizeof *queries);
    stream->results_open = true; /* even if opening fails, results are closed */
    IDXI_TRY(idxi_results_open(&stream->results, NULL, stream->queries, IDXI_BY_FINGERPRINT, options, error));
    IDXI_TRY(idxi_streaming_open(&stream->streaming, queries, count, bits, UINT64_MAX, options, &stream->results,
                                 &stream->progress, error));
    idxi_progress_init(&stream->progress, options->progress, options->context);
    return idxi_progress_begin(&stream->progress, IDX_PHASE_COMPARING, 0, error);
}

enum idx_status idx_stream_open(struct idx_stream **result, const uint64_t *queries, size_t count, unsigned bits,
                                const struct idx_batch_options *options, struct idx_error *error) {
    struct idx_stream *stream = calloc(1, sizeof *stream);
    if (stream == NULL) return idxi_fail_memory(error);
    enum idx_status status = open_stream(stream, queries, count, bits, options, error);
    if (status == IDX_OK)
        *result = stream;
    else
        idx_stream_close(stream);
    return status;
}

/* How many fingerprints a step has at most. A thread checks for cancellation between two steps. */
#define MAX_STEP ((size_t)1 << 16)

/* About how many steps each thread takes, so that all threads end at about the same time. */
#define STEPS_PER_THREAD 4

/* An idxi_plain_task: compares steps of the fingerprints with the queries, as thread `number`, until none is left. */
static enum idx_status compare_steps(void *context, size_t number, struct idx_error *error) {
    struct idx_stream *stream = context;
    size_t step_size = stream->count / stream->streaming.threads / STEPS_PER_THREAD + 1, begin;
    if (step_size > MAX_STEP) step_size = MAX_STEP;
    while ((begin = atomic_fetch_add(&stream->next, step_size)) < stream->count) {
        size_t count = stream->count - begin < step_size ? stream->count - begin : step_size;
        IDXI_TRY(idxi_streaming_compare(&stream->streaming, number, stream->fingerprints + begin, count, error));
    }
    return IDX_OK;
}

enum idx_status idx_stream_add(struct idx_stream *stream, const uint64_t *fingerprints, size_t count,
                               struct idx_error *error) {
    unsigned threads = stream->streaming.threads;
    stream->progress.caller = pthread_self(); /* each call may come from another thread */
    stream->fingerprints = fingerprints;
    stream->count = count;
    stream->next = 0;
    return idxi_run_parallel(threads, threads, compare_steps, stream, &stream->progress, error);
}

enum idx_status idx_stream_finish(struct idx_stream *stream, idx_batch_visitor visit, void *visit_context,
                                  struct idx_error *error) {
    stream->progress.caller = pthread_self();
    IDXI_TRY(idxi_streaming_end(&stream->streaming, error));
    return idxi_results_visit(&stream->results, &stream->progress, visit, visit_context, error);
}

void idx_stream_close(struct idx_stream *stream) {
    if (stream == NULL) return;
    idxi_streaming_close(&stream->streaming);
    if (stream->results_open) idxi_results_close(&stream->results);
    free(stream->queries);
    free(stream);
}
