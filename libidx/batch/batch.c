/* batch.c: idx_batch, which chooses the method for a batch of queries. Probing, and streaming the fingerprints of the
 * index past the queries, are here; sweeping is in sweep.c. */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "libidx/base/base.h"
#include "libidx/batch/cost.h"
#include "libidx/batch/streaming.h"
#include "libidx/batch/sweep.h"
#include "libidx/lookup/search.h"

struct batch {
    const struct idx_index *index;
    const uint64_t *queries;
    size_t count;
    struct idx_batch_options options;
    struct idxi_results results;
    struct idxi_progress progress;
    struct idxi_streaming streaming;
    atomic_size_t next; /* the first query, or the part of the index, that no thread has taken yet */
    atomic_bool failed; /* some thread failed, so the others may end */
    bool only_pending;  /* only pending fingerprints are searched, since the sweep found the other matches */
};

/* ---- Probing ---- */

/* How many queries a thread takes at a time. */
#define CHUNK ((size_t)1024)

/* What one thread needs for probing. */
struct prober {
    struct idxi_search search;
    struct idxi_match_buffer buffer;
    struct idx_error *error;
};

/* An idxi_match_visitor: adds a match to prober->buffer. Returns false after an error, which prober->error has then. */
static bool add_match(void *context, size_t query, const struct idx_match *match) {
    struct prober *prober = context;
    return idxi_add_match(&prober->buffer, query, match->fingerprint, prober->error) == IDX_OK;
}

/* Probes for chunks of queries until none is left or some thread failed, and adds the matches to the results. Queries
 * that are only searched among the pending fingerprints add nothing to the progress: the sweep has counted them. */
static enum idx_status probe_chunks(struct batch *batch, struct prober *prober, struct idx_error *error) {
    size_t begin;
    while (!batch->failed && (begin = atomic_fetch_add(&batch->next, CHUNK)) < batch->count) {
        size_t end = batch->count - begin < CHUNK ? batch->count : begin + CHUNK;
        idxi_search_init(&prober->search, batch->index, batch->options.distance, batch->queries, add_match, prober,
                         error);
        enum idx_status status = batch->only_pending ? idxi_search_pending(&prober->search, begin, end)
                                                     : idxi_search_queries(&prober->search, begin, end);
        IDXI_TRY(status);
        if (prober->search.stopped) return error->status;
        IDXI_TRY(idxi_progress_add(&batch->progress, batch->only_pending ? 0 : end - begin, error));
    }
    return idxi_results_add_buffer(&prober->buffer, error);
}

/* An idxi_plain_task: probes in one thread. After an error, the other threads end as well. */
static enum idx_status probe_on_one_thread(void *context, size_t number, struct idx_error *error) {
    struct batch *batch = context;
    struct prober *prober = calloc(1, sizeof *prober);
    (void)number;
    if (prober == NULL) return idxi_fail_memory(error);
    prober->buffer.results = &batch->results;
    prober->error = error;
    enum idx_status status = probe_chunks(batch, prober, error);
    if (status != IDX_OK) batch->failed = true;
    free(prober);
    return status;
}

/* Runs a prober on each thread, for the queries from number batch->next on. */
static enum idx_status probe_on_all_threads(struct batch *batch, struct idx_error *error) {
    return idxi_run_parallel(batch->options.threads, batch->options.threads, probe_on_one_thread, batch,
                             &batch->progress, error);
}

/* Finds the matches of all queries by probing. */
static enum idx_status find_matches_by_probing(struct batch *batch, struct idx_error *error) {
    IDXI_TRY(idxi_progress_begin(&batch->progress, IDX_PHASE_COMPARING, batch->count, error));
    return probe_on_all_threads(batch, error);
}

/* ---- Sweeping ---- */

/* Finds the matches of all queries: sweeps along the tables, and then searches the pending fingerprints. The progress
 * counts each query once for each table that is not empty. */
static enum idx_status find_matches_by_sweeping(struct batch *batch, struct idx_error *error) {
    const struct idx_index *index = batch->index;
    const struct idxi_probing *probing = &index->probings[batch->options.distance];
    uint64_t swept_tables = 0;
    for (size_t i = 0; i < index->manifest->segment_count; i++) {
        for (size_t j = 0; j < probing->count; j++) {
            if (index->segments[i]->tables[probing->tables[j].table].header.blocks > 0) swept_tables++;
        }
    }
    IDXI_TRY(idxi_progress_begin(&batch->progress, IDX_PHASE_COMPARING, batch->count * swept_tables, error));
    IDXI_TRY(idxi_sweep_tables(index, batch->queries, batch->count, &batch->options, &batch->results, &batch->progress,
                               error));
    batch->only_pending = true;
    return probe_on_all_threads(batch, error);
}

/* ---- Streaming ---- */

/* How many parts of an index the threads share. */
#define PARTS 1024

/* A thread that streams, and the status of its last comparison. */
struct streamer {
    struct batch *batch;
    size_t number; /* of the thread */
    enum idx_status status;
    struct idx_error *error;
};

/* An idx_fingerprints_visitor: compares fingerprints with the queries, at once or later. Sets streamer->status, and
 * returns false if that is an error. */
static bool compare_fingerprints(void *context, const uint64_t *fingerprints, size_t count) {
    struct streamer *streamer = context;
    streamer->status =
        idxi_streaming_compare(&streamer->batch->streaming, streamer->number, fingerprints, count, streamer->error);
    return streamer->status == IDX_OK;
}

/* An idxi_plain_task: takes parts of the index and compares their fingerprints with the queries, as thread `number`,
 * until no part is left or some thread failed. */
static enum idx_status stream_parts(void *context, size_t number, struct idx_error *error) {
    struct batch *batch = context;
    struct streamer streamer = {.batch = batch, .number = number, .status = IDX_OK, .error = error};
    enum idx_status status = IDX_OK;
    size_t part;
    while (status == IDX_OK && !batch->failed && (part = atomic_fetch_add(&batch->next, 1)) < PARTS) {
        status = idx_visit_part(batch->index, (uint32_t)part, PARTS, compare_fingerprints, &streamer, error);
        if (status == IDX_OK) status = streamer.status;
    }
    if (status != IDX_OK) batch->failed = true;
    return status;
}

/* Finds the matches of all queries by streaming the whole index past them. */
static enum idx_status find_matches_by_streaming(struct batch *batch, struct idx_error *error) {
    uint64_t fingerprints = idxi_count_fingerprints(batch->index);
    struct idxi_streaming *streaming = &batch->streaming;
    IDXI_TRY(idxi_progress_begin(&batch->progress, IDX_PHASE_COMPARING, fingerprints, error));
    enum idx_status status =
        idxi_streaming_open(streaming, batch->queries, batch->count, batch->index->manifest->bits, fingerprints,
                            &batch->options, &batch->results, &batch->progress, error);
    if (status == IDX_OK)
        status =
            idxi_run_parallel(streaming->threads, streaming->threads, stream_parts, batch, &batch->progress, error);
    if (status == IDX_OK) status = idxi_streaming_end(streaming, error);
    idxi_streaming_close(streaming);
    return status;
}

/* ---- All ways ---- */

/* Returns the method that is expected to be the fastest. Beyond the distances that the index supports, this is always
 * streaming. Beyond k, sweeping can't find all matches, since it reads tables alone. */
static enum idx_batch_method choose_method(const struct batch *batch) {
    const struct idx_batch_options *options = &batch->options;
    if (options->distance > idxi_get_max_distance(batch->index)) return IDX_BATCH_STREAM;
    bool by_tables = options->distance <= batch->index->manifest->k;
    double probing_time = idxi_estimate_probing_time(batch->index, batch->count, options->distance);
    double sweeping_time =
        by_tables ? idxi_estimate_sweeping_time(batch->index, batch->count, options->distance) : HUGE_VAL;
    /* A stream numbers queries with 32 bits. */
    double streaming_time =
        batch->count >= UINT32_MAX
            ? HUGE_VAL
            : idxi_estimate_streaming_time(batch->index, batch->count, options->distance, options->memory_bytes / 2);
    if (streaming_time < probing_time && streaming_time < sweeping_time) return IDX_BATCH_STREAM;
    return sweeping_time < probing_time ? IDX_BATCH_SWEEP : IDX_BATCH_PROBE;
}

/* Checks that the method of the options can find all matches at their distance. IDX_BATCH_AUTO and streaming can at
 * every distance that libidx supports, sweeping up to k, and probing up to what the index supports. Errors:
 * IDX_BAD_DISTANCE. */
static enum idx_status check_distance(const struct batch *batch, struct idx_error *error) {
    const struct idx_batch_options *options = &batch->options;
    IDXI_TRY(idxi_check_distance_limit(options->distance, IDX_BAD_DISTANCE, error));
    if (options->method == IDX_BATCH_AUTO || options->method == IDX_BATCH_STREAM) return IDX_OK;
    if (options->method == IDX_BATCH_SWEEP) return idxi_check_table_distance(batch->index, options->distance, error);
    return idxi_check_distance(batch->index, options->distance, error);
}

/* Finds the matches of all queries, by the method of the options. */
static enum idx_status find_all_matches(struct batch *batch, struct idx_error *error) {
    switch (batch->options.method) {
        case IDX_BATCH_PROBE: return find_matches_by_probing(batch, error);
        case IDX_BATCH_SWEEP: return find_matches_by_sweeping(batch, error);
        default: return find_matches_by_streaming(batch, error);
    }
}

enum idx_status idx_batch(const struct idx_index *index, const uint64_t *queries, size_t count,
                          const struct idx_batch_options *options, idx_batch_visitor visit, void *visit_context,
                          struct idx_error *error) {
    struct batch batch = {.index = index, .queries = queries, .count = count};
    IDXI_TRY(idxi_copy_batch_options(&batch.options, options, error));
    if (batch.options.distance == UINT_MAX) batch.options.distance = index->manifest->k;
    IDXI_TRY(check_distance(&batch, error));
    IDXI_TRY(idxi_check_queries(index, queries, count, error));
    if (batch.options.method == IDX_BATCH_AUTO) batch.options.method = choose_method(&batch);
    idxi_progress_init(&batch.progress, batch.options.progress, batch.options.context);
    enum idx_status status = idxi_results_open(&batch.results, index, queries, IDXI_BY_DISTANCE, &batch.options, error);
    if (status == IDX_OK) status = find_all_matches(&batch, error);
    if (status == IDX_OK) status = idxi_results_visit(&batch.results, &batch.progress, visit, visit_context, error);
    idxi_results_close(&batch.results);
    return status;
}
