/* batch.c: idx_batch: chooses the method for a batch of queries, and implements two of the methods: probing, and
 * streaming the fingerprints of the index past the queries. */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "libidx/base/check.h"
#include "libidx/base/memory.h"
#include "libidx/base/parallel.h"
#include "libidx/batch/batch.h"
#include "libidx/batch/cost.h"
#include "libidx/batch/passing.h"
#include "libidx/batch/passing_arrays.h"
#include "libidx/batch/sweep.h"
#include "libidx/lookup/search.h"

struct batch {
    const struct idx_index *index;
    const uint64_t *queries;
    size_t count;
    struct idx_batch_options options;
    struct idxi_results results;
    struct idxi_progress progress;
    struct idxi_query_tables *tables;
    uint64_t part_size; /* fingerprints, about */
    atomic_size_t next;
    atomic_bool failed;
    bool pending_alone; /* what is probed for */
};

/* ---- Options ---- */

enum idx_status idxi_batch_options(struct idx_batch_options *options, const struct idx_batch_options *given,
                                   struct idx_error *error) {
    *options = (struct idx_batch_options)IDX_BATCH_OPTIONS_INIT;
    idxi_copy_options(options, given);
    IDXI_TRY(idxi_check_threads(options->threads, error));
    if ((unsigned)options->method > IDX_BATCH_STREAM)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "there is no batch method %u", (unsigned)options->method);
    return idxi_memory_settle(&options->memory_bytes, error);
}

/* ---- Probing ---- */

/* Queries that a thread takes at a time. */
#define CHUNK ((size_t)1024)

struct prober {
    struct idxi_search search;
    struct idxi_finds finds;
    struct idx_error *error;
};

static bool note_match(void *context, size_t query, const struct idx_match *match) {
    struct prober *prober = context;
    return idxi_results_find(&prober->finds, query, match->fingerprint, prober->error) == IDX_OK;
}

static enum idx_status probe_some(struct batch *batch, struct prober *prober, struct idx_error *error) {
    size_t begin;
    while (!batch->failed && (begin = atomic_fetch_add(&batch->next, CHUNK)) < batch->count) {
        size_t end = batch->count - begin < CHUNK ? batch->count : begin + CHUNK;
        idxi_search_init(&prober->search, batch->index, batch->options.distance, batch->queries, note_match, prober,
                         error);
        IDXI_TRY(batch->pending_alone ? idxi_search_pending(&prober->search, begin, end)
                                      : idxi_search_queries(&prober->search, begin, end));
        if (prober->search.stopped) return error->status;
        IDXI_TRY(idxi_progress_add(&batch->progress, batch->pending_alone ? 0 : end - begin, error));
    }
    return idxi_results_put(&prober->finds, error);
}

static enum idx_status probe(void *context, size_t number, struct idx_error *error) {
    struct batch *batch = context;
    struct prober *prober = calloc(1, sizeof *prober);
    (void)number;
    if (prober == NULL) return idxi_fail_memory(error);
    prober->finds.results = &batch->results;
    prober->error = error;
    enum idx_status status = probe_some(batch, prober, error);
    if (status != IDX_OK) batch->failed = true;
    free(prober);
    return status;
}

static enum idx_status run_probers(struct batch *batch, struct idx_error *error) {
    return idxi_parallel(batch->options.threads, batch->options.threads, probe, batch, &batch->progress, error);
}

static enum idx_status probe_all(struct batch *batch, struct idx_error *error) {
    IDXI_TRY(idxi_progress_begin(&batch->progress, IDX_PHASE_COMPARING, batch->count, error));
    return run_probers(batch, error);
}

/* ---- Sweeping ---- */

static enum idx_status sweep_all(struct batch *batch, struct idx_error *error) {
    const struct idx_batch_options *options = &batch->options;
    struct idxi_sweep_options sweep = {options->distance, options->threads, options->memory_bytes / 2,
                                       &batch->progress};
    uint64_t turns = 0;
    for (size_t i = 0; i < batch->index->manifest->segment_count; i++) {
        for (size_t j = 0; j < batch->index->probings[options->distance].count; j++)
            turns += batch->index->segments[i]
                         ->tables[batch->index->probings[options->distance].tables[j].table]
                         .header.blocks > 0;
    }
    IDXI_TRY(idxi_progress_begin(&batch->progress, IDX_PHASE_COMPARING, batch->count * turns, error));
    IDXI_TRY(idxi_sweep(batch->index, batch->queries, batch->count, &sweep, &batch->results, error));
    batch->pending_alone = true;
    return idxi_has_pending(batch->index) ? run_probers(batch, error) : IDX_OK;
}

/* ---- Streaming ---- */

/* Parts of an index that threads take, and fingerprints that pass at a time. */
#define PARTS 1024
#define PASSING ((size_t)4096)

struct streamer {
    struct idxi_passing *passing;
    size_t count;
    uint64_t fingerprints[PASSING];
    enum idx_status status;
    struct idx_error *error;
};

static enum idx_status pass(struct streamer *streamer) {
    size_t count = streamer->count;
    streamer->count = 0;
    return idxi_passing_add(streamer->passing, streamer->fingerprints, count, streamer->error);
}

static bool collect(void *context, const uint64_t *fingerprints, size_t count) {
    struct streamer *streamer = context;
    for (size_t i = 0; i < count; i++) {
        streamer->fingerprints[streamer->count++] = fingerprints[i];
        if (streamer->count == PASSING) streamer->status = pass(streamer);
        if (streamer->status != IDX_OK) return false;
    }
    return true;
}

static enum idx_status stream_parts(struct batch *batch, struct streamer *streamer) {
    size_t part;
    struct idx_error *error = streamer->error;
    while (!batch->failed && (part = atomic_fetch_add(&batch->next, 1)) < PARTS) {
        IDXI_TRY(idx_visit_part(batch->index, (uint32_t)part, PARTS, collect, streamer, error));
        if (streamer->status == IDX_OK) streamer->status = pass(streamer);
        if (streamer->status != IDX_OK) return streamer->status;
        IDXI_TRY(idxi_progress_add(&batch->progress, batch->part_size, error));
    }
    return idxi_passing_end(streamer->passing, error);
}

static enum idx_status stream(void *context, size_t number, struct idx_error *error) {
    struct batch *batch = context;
    struct streamer *streamer = calloc(1, sizeof *streamer);
    enum idx_status status = streamer == NULL ? idxi_fail_memory(error) : IDX_OK;
    uint64_t memory = batch->options.memory_bytes / 4 / batch->options.threads;
    (void)number;
    if (status == IDX_OK) status = idxi_passing_open(&streamer->passing, batch->tables, &batch->results, memory, error);
    if (status == IDX_OK) {
        streamer->error = error;
        status = stream_parts(batch, streamer);
        idxi_passing_close(streamer->passing);
    }
    if (status != IDX_OK) batch->failed = true;
    free(streamer);
    return status;
}

/* Queries [begin, end). */
static enum idx_status stream_some(struct batch *batch, size_t begin, size_t end, struct idx_error *error) {
    const struct idx_batch_options *options = &batch->options;
    IDXI_TRY(idxi_query_tables_make(&batch->tables, batch->queries + begin, end - begin, begin,
                                    batch->index->manifest->bits, options->distance, UINT64_MAX, options->threads,
                                    error));
    batch->next = 0;
    enum idx_status status = idxi_parallel(options->threads, options->threads, stream, batch, &batch->progress, error);
    idxi_query_tables_free(batch->tables);
    return status;
}

/* Queries whose tables memory holds, or a few, stream at a time. */
static size_t choose_streamed(const struct batch *batch) {
    const struct idx_batch_options *options = &batch->options;
    size_t count = batch->count < UINT32_MAX ? batch->count : UINT32_MAX - 1;
    while (count > PASSING &&
           idxi_passing_cost(count, batch->index->manifest->bits, options->distance).bytes > options->memory_bytes / 2)
        count = count / 2 + 1;
    return count;
}

static enum idx_status stream_past_tables(struct batch *batch, struct idx_error *error) {
    uint64_t all = idxi_count_streamed(batch->index);
    size_t count = choose_streamed(batch), turns = count == 0 ? 0 : (batch->count - 1) / count + 1;
    IDXI_TRY(idxi_progress_begin(&batch->progress, IDX_PHASE_COMPARING, all * turns, error));
    batch->part_size = all / PARTS;
    for (size_t begin = 0; begin < batch->count; begin += count)
        IDXI_TRY(stream_some(batch, begin, batch->count - begin < count ? batch->count : begin + count, error));
    return IDX_OK;
}

struct array_streamer {
    struct idxi_passing_arrays passing;
    enum idx_status status;
    struct idx_error *error;
};

static bool pass_arrays(void *context, const uint64_t *fingerprints, size_t count) {
    struct array_streamer *streamer = context;
    streamer->status = idxi_passing_arrays_add(&streamer->passing, fingerprints, count, streamer->error);
    return streamer->status == IDX_OK;
}

static enum idx_status stream_past_arrays(struct batch *batch, struct idx_error *error) {
    const struct idx_batch_options *options = &batch->options;
    struct array_streamer streamer = {.status = IDX_OK, .error = error};
    IDXI_TRY(idxi_progress_begin(&batch->progress, IDX_PHASE_COMPARING, idxi_count_streamed(batch->index), error));
    enum idx_status status =
        idxi_passing_arrays_open(&streamer.passing, batch->queries, batch->count, options->distance, options->threads,
                                 options->memory_bytes / 2, &batch->results, &batch->progress, error);
    if (status == IDX_OK) status = idx_visit_part(batch->index, 0, 1, pass_arrays, &streamer, error);
    if (status == IDX_OK) status = streamer.status;
    if (status == IDX_OK) status = idxi_passing_arrays_end(&streamer.passing, error);
    idxi_passing_arrays_close(&streamer.passing);
    return status;
}

static enum idx_status stream_all(struct batch *batch, struct idx_error *error) {
    const struct idx_batch_options *options = &batch->options;
    struct idxi_streaming_cost cost =
        idxi_cost_of_passing(batch->count, batch->index->manifest->bits, options->distance,
                             idxi_count_streamed(batch->index), options->memory_bytes / 2);
    return cost.by_arrays ? stream_past_arrays(batch, error) : stream_past_tables(batch, error);
}

/* ---- All ways ---- */

static enum idx_batch_method choose_method(const struct batch *batch) {
    const struct idx_batch_options *options = &batch->options;
    if (options->distance > idxi_index_farthest(batch->index)) return IDX_BATCH_STREAM;
    bool by_tables = options->distance <= batch->index->manifest->k;
    double probing = idxi_cost_of_probing(batch->index, batch->count, options->distance);
    double sweeping = by_tables ? idxi_cost_of_sweeping(batch->index, batch->count, options->distance) : HUGE_VAL;
    double streaming = idxi_cost_of_streaming(batch->index, batch->count, options->distance, options->memory_bytes / 2);
    if (streaming < probing && streaming < sweeping) return IDX_BATCH_STREAM;
    return sweeping < probing ? IDX_BATCH_SWEEP : IDX_BATCH_PROBE;
}

/* Whether the method can be used. */
static enum idx_status check_distance(const struct batch *batch, struct idx_error *error) {
    const struct idx_batch_options *options = &batch->options;
    IDXI_TRY(idxi_check_any_distance(options->distance, IDX_BAD_DISTANCE, error));
    if (options->method == IDX_BATCH_AUTO || options->method == IDX_BATCH_STREAM) return IDX_OK;
    if (options->method == IDX_BATCH_SWEEP) return idxi_check_table_distance(batch->index, options->distance, error);
    return idxi_check_distance(batch->index, options->distance, error);
}

static enum idx_status find_all(struct batch *batch, struct idx_error *error) {
    switch (batch->options.method) {
        case IDX_BATCH_PROBE: return probe_all(batch, error);
        case IDX_BATCH_SWEEP: return sweep_all(batch, error);
        default: return stream_all(batch, error);
    }
}

enum idx_status idx_batch(const struct idx_index *index, const uint64_t *queries, size_t count,
                          const struct idx_batch_options *options, idx_batch_visitor visit, void *visit_context,
                          struct idx_error *error) {
    struct batch batch = {.index = index, .queries = queries, .count = count};
    IDXI_TRY(idxi_batch_options(&batch.options, options, error));
    if (batch.options.distance == UINT_MAX) batch.options.distance = index->manifest->k;
    IDXI_TRY(check_distance(&batch, error));
    IDXI_TRY(idxi_check_queries(index, queries, count, error));
    if (batch.options.method == IDX_BATCH_AUTO) batch.options.method = choose_method(&batch);
    idxi_progress_init(&batch.progress, batch.options.progress, batch.options.context);
    enum idx_status status = idxi_results_open(&batch.results, index, queries, true, &batch.options, error);
    if (status == IDX_OK) status = find_all(&batch, error);
    if (status == IDX_OK) status = idxi_results_give(&batch.results, &batch.progress, visit, visit_context, error);
    idxi_results_close(&batch.results);
    return status;
}
