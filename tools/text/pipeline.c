/* pipeline.c: from inputs to lines of fingerprints. The main thread cuts the inputs into documents and fills batches
 * with them; workers fingerprint a batch at a time; one more thread prints the batches in order. Batches stand in a
 * ring, whose documents' bytes are bounded: there is always room for one batch, however large its document. */
#include "tools/text/pipeline.h"

#include "tools/shared/output.h"
#include "tools/shared/progress.h"
#include "tools/text/text.h"

#include <idx.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BATCH_DOCUMENTS = 64,
    BATCH_BYTES = 1 << 18,
    RING_BATCHES = 128,
};

/* In all batches together, unless one alone is larger. */
#define RING_BYTES ((size_t)64 << 20)

/* SimHash of fewer features tells little: where one of n equal ones is another, about 64 acos(1 - 1/n) / pi of 64 bits
 * change, which is more than 10 here. The share of such documents is told where it is 1 % or more of many. */
enum { FEW_FEATURES = 8, DOCUMENTS_WORTH_A_WARNING = 100 };

/* What became of a document. */
struct result {
    struct raw_document raw; /* its bytes are freed once they are fingerprinted */
    size_t bytes;            /* that it had */
    uint64_t features;
    bool few;
    size_t lines_end; /* where the batch's lines end with its own */
};

struct batch {
    size_t count, bytes;
    struct result results[BATCH_DOCUMENTS];
    struct output lines;
    bool done;
};

struct worker {
    struct pipeline *pipeline;
    struct text text;
    pthread_t thread;
};

struct pipeline {
    const struct pipeline_rules *rules;
    struct idx_text_table *table; /* that is read, or that the one worker makes; or NULL */
    struct batch *filling;        /* by the main thread alone */

    pthread_mutex_t mutex; /* for what follows, up to the printer's */
    pthread_cond_t changed;
    struct batch *ring[RING_BATCHES];
    size_t printed, taken, submitted; /* how many batches were */
    size_t bytes;                     /* of the batches in the ring */
    bool ended, stopped;

    /* The printer's alone. */
    struct output output;
    struct progress progress;
    struct bad_counts bad;
    uint64_t documents, document_bytes, empty, few;
};

/* ---- Batches ---- */

static void batch_free(struct batch *batch) {
    if (batch == NULL) return;
    for (size_t i = 0; i < batch->count; i++) raw_document_free(&batch->results[i].raw);
    free(batch->lines.bytes);
    free(batch);
}

/* Where a batch fits in the ring. */
static bool fits(const struct pipeline *pipeline, const struct batch *batch) {
    size_t held = pipeline->submitted - pipeline->printed;
    return held == 0 || (held < RING_BATCHES && pipeline->bytes + batch->bytes <= RING_BYTES);
}

static bool submit(struct pipeline *pipeline) {
    struct batch *batch = pipeline->filling;
    if (batch == NULL) return true;
    pthread_mutex_lock(&pipeline->mutex);
    while (!pipeline->stopped && !fits(pipeline, batch)) pthread_cond_wait(&pipeline->changed, &pipeline->mutex);
    bool on = !pipeline->stopped;
    if (on) {
        pipeline->ring[pipeline->submitted++ % RING_BATCHES] = batch;
        pipeline->bytes += batch->bytes;
        pipeline->filling = NULL;
    }
    pthread_cond_broadcast(&pipeline->changed);
    pthread_mutex_unlock(&pipeline->mutex);
    return on;
}

static void submit_before_wait(void *context) { submit(context); }

/* A document_taker. */
static bool add(void *context, struct raw_document *raw) {
    struct pipeline *pipeline = context;
    if (pipeline->filling == NULL) pipeline->filling = calloc(1, sizeof *pipeline->filling);
    struct batch *batch = pipeline->filling;
    if (batch == NULL) {
        complain("out of memory");
        raw_document_free(raw);
        return false;
    }
    if (batch->count == 0) batch->lines = (struct output)OUTPUT_KEPT;
    batch->results[batch->count++] = (struct result){.raw = *raw, .bytes = raw->bytes.length};
    batch->bytes += raw->bytes.capacity;
    return (batch->count < BATCH_DOCUMENTS && batch->bytes < BATCH_BYTES) || submit(pipeline);
}

/* ---- Workers ---- */

static void print_id(struct output *lines, const struct text_result *result) {
    output_byte(lines, '\t');
    output_bytes(lines, result->id.bytes, result->id.length);
    output_byte(lines, '\n');
}

static void print_lines(struct output *lines, unsigned bits, const struct text_result *result) {
    for (size_t i = 0; i < result->count; i++) {
        output_fingerprint(lines, NOTATION_HEX, bits, result->fingerprints[i]);
        print_id(lines, result);
    }
}

/* Makes the document's lines, or counts it. */
static void take_document(struct worker *worker, struct result *result, struct output *lines) {
    const struct pipeline_rules *rules = worker->pipeline->rules;
    struct raw_document *raw = &result->raw;
    struct text_result made;
    if (raw->bad.kind != BAD_NONE) return;
    if (rules->train != NULL) {
        text_table_add(worker->pipeline->table, &worker->text, raw, &raw->bad);
        result->features = UINT64_MAX; /* none is told of */
        return;
    }
    if (!text_fingerprint(&worker->text, raw, &made, &raw->bad)) return;
    result->features = made.features;
    uint64_t least = made.signature.bytes == NULL ? FEW_FEATURES : 0;
    result->few = made.features < (rules->min_features > 0 ? rules->min_features : least);
    if (made.features >= rules->min_features)
        print_lines(lines, rules->bits, &made);
    else if (rules->take != NULL)
        print_id(lines, &made);
}

static void fingerprint_batch(struct worker *worker, struct batch *batch) {
    for (size_t i = 0; i < batch->count; i++) {
        struct result *result = &batch->results[i];
        struct raw_document *raw = &result->raw;
        take_document(worker, result, &batch->lines);
        result->lines_end = batch->lines.length;
        free(raw->bytes.bytes);
        raw->bytes = (struct output)OUTPUT_KEPT;
    }
}

static void *work(void *context) {
    struct worker *worker = context;
    struct pipeline *pipeline = worker->pipeline;
    pthread_mutex_lock(&pipeline->mutex);
    for (;;) {
        while (!pipeline->stopped && !pipeline->ended && pipeline->taken == pipeline->submitted)
            pthread_cond_wait(&pipeline->changed, &pipeline->mutex);
        if (pipeline->stopped || pipeline->taken == pipeline->submitted) break;
        struct batch *batch = pipeline->ring[pipeline->taken++ % RING_BATCHES];
        pthread_mutex_unlock(&pipeline->mutex);
        fingerprint_batch(worker, batch);
        pthread_mutex_lock(&pipeline->mutex);
        batch->done = true;
        pthread_cond_broadcast(&pipeline->changed);
    }
    pthread_mutex_unlock(&pipeline->mutex);
    return NULL;
}

/* ---- The printer ---- */

static void count(struct pipeline *pipeline, const struct result *result) {
    pipeline->documents++;
    pipeline->document_bytes += result->bytes;
    if (result->raw.bad.kind != BAD_NONE) {
        bad_count(&pipeline->bad, &result->raw.bad, result->raw.place != NULL ? result->raw.place : "input");
        return;
    }
    pipeline->empty += result->features == 0;
    pipeline->few += result->few;
}

static bool give_lines(const struct pipeline_rules *rules, const char *lines, size_t length) {
    const char *at = lines, *end = lines + length, *newline;
    bool on = true;
    for (; on && at < end && (newline = memchr(at, '\n', (size_t)(end - at))) != NULL; at = newline + 1)
        on = rules->take(rules->context, at, (size_t)(newline - at));
    return on;
}

/* False where there is no going on. */
static bool print_batch(struct pipeline *pipeline, const struct batch *batch) {
    struct output *output = &pipeline->output;
    size_t i = 0;
    bool bad = false, on = true;
    for (; i < batch->count && !bad; i++) {
        count(pipeline, &batch->results[i]);
        bad = pipeline->rules->strict && bad_total(&pipeline->bad) > 0;
    }
    if (i > 0 && pipeline->rules->take != NULL)
        on = give_lines(pipeline->rules, batch->lines.bytes, batch->results[i - 1].lines_end);
    else if (i > 0)
        output_bytes(output, batch->lines.bytes, batch->results[i - 1].lines_end);
    if (batch->lines.error != 0 && output->error == 0) output->error = batch->lines.error;
    progress_say_documents(&pipeline->progress, pipeline->documents, pipeline->document_bytes);
    return on && !bad && output->error == 0;
}

/* The next batch, once it is done; NULL at the end. What is printed is flushed before waiting. */
static struct batch *next_batch(struct pipeline *pipeline) {
    struct batch *batch = NULL;
    pthread_mutex_lock(&pipeline->mutex);
    for (;;) {
        bool any = pipeline->printed < pipeline->submitted;
        batch = any ? pipeline->ring[pipeline->printed % RING_BATCHES] : NULL;
        if ((any && batch->done) || (!any && pipeline->ended)) break;
        if (pipeline->output.length > 0) {
            pthread_mutex_unlock(&pipeline->mutex);
            output_flush(&pipeline->output);
            pthread_mutex_lock(&pipeline->mutex);
        } else {
            pthread_cond_wait(&pipeline->changed, &pipeline->mutex);
        }
    }
    pthread_mutex_unlock(&pipeline->mutex);
    return batch;
}

static void *print(void *context) {
    struct pipeline *pipeline = context;
    struct batch *batch;
    bool on = true;
    while (on && (batch = next_batch(pipeline)) != NULL) {
        on = print_batch(pipeline, batch);
        pthread_mutex_lock(&pipeline->mutex);
        pipeline->printed++;
        pipeline->bytes -= batch->bytes;
        pipeline->stopped = !on;
        pthread_cond_broadcast(&pipeline->changed);
        pthread_mutex_unlock(&pipeline->mutex);
        batch_free(batch);
    }
    return NULL;
}

/* ---- What is told at the end ---- */

static void say_few(const struct pipeline *pipeline, uint64_t good) {
    bool are_taken = pipeline->rules->take != NULL;
    uint64_t few = pipeline->few, least = pipeline->rules->min_features;
    double percent = good > 0 ? 100.0 / (double)good : 0;
    if (least > 0 && few > 0)
        complain("%s%" PRIu64 " of %" PRIu64 " documents (%.1f %%) %s fewer than %" PRIu64 " features%s",
                 are_taken ? "" : "left out ", few, good, (double)few * percent, are_taken ? "have" : "with", least,
                 are_taken ? ": too few to compare them" : "");
    if (least > 0) return;
    const char *advice = are_taken ? "tells them apart" : "leaves them out";
    if (pipeline->empty > 0)
        complain("%" PRIu64 " of %" PRIu64 " documents (%.1f %%) have no features, and fingerprint 0; --min-features 1 "
                 "%s",
                 pipeline->empty, good, (double)pipeline->empty * percent, advice);
    if (few > pipeline->empty && good >= DOCUMENTS_WORTH_A_WARNING && few * 100 >= good)
        complain("%" PRIu64 " of %" PRIu64 " documents (%.1f %%) have fewer than %d features, and fingerprints that "
                 "tell little; --min-features %d %s",
                 few, good, (double)few * percent, FEW_FEATURES, FEW_FEATURES, advice);
}

static void say_totals(const struct pipeline *pipeline, const struct documents *documents) {
    uint64_t bad = bad_total(&pipeline->bad);
    if (documents->binary > 0 && isatty(STDERR_FILENO))
        complain("left out %" PRIu64 " files that are not text", documents->binary);
    bad_say_total(&pipeline->bad);
    say_few(pipeline, pipeline->documents - bad - pipeline->bad.of[BAD_FILE]);
}

/* ---- All ---- */

static bool open_workers(struct pipeline *pipeline, struct worker *workers, unsigned *opened) {
    const struct pipeline_rules *rules = pipeline->rules;
    const char *recipe = rules->format == FORMAT_FEATURES ? NULL : rules->recipe;
    for (*opened = 0; *opened < rules->threads; ++*opened) {
        struct worker *worker = &workers[*opened];
        worker->pipeline = pipeline;
        const struct idx_text_table *table = rules->train == NULL ? pipeline->table : NULL;
        if (!text_open(&worker->text, recipe, table, rules->bits, &rules->extract)) return false;
    }
    return rules->train == NULL || text_table_create(&pipeline->table, &workers[0].text);
}

static void end_threads(struct pipeline *pipeline, bool stop) {
    pthread_mutex_lock(&pipeline->mutex);
    pipeline->ended = true;
    if (stop) pipeline->stopped = true;
    pthread_cond_broadcast(&pipeline->changed);
    pthread_mutex_unlock(&pipeline->mutex);
}

/* Reads everything while the threads run. */
static bool run_threads(struct pipeline *pipeline, struct worker *workers, struct documents *documents,
                        const struct texts *paths) {
    pthread_t printer;
    unsigned started = 0;
    while (started < pipeline->rules->threads &&
           pthread_create(&workers[started].thread, NULL, work, &workers[started]) == 0)
        started++;
    bool all = started == pipeline->rules->threads, whole = false;
    if (all) all = pthread_create(&printer, NULL, print, pipeline) == 0;
    if (all) whole = documents_read(documents, paths) && submit(pipeline);
    end_threads(pipeline, !all);
    if (all) pthread_join(printer, NULL);
    for (unsigned i = 0; i < started; i++) pthread_join(workers[i].thread, NULL);
    if (!all) complain("%u threads can't be started; give --threads a smaller number", pipeline->rules->threads);
    return whole;
}

static enum pipeline_status run(struct pipeline *pipeline, struct worker *workers, const struct texts *paths) {
    const struct pipeline_rules *rules = pipeline->rules;
    struct documents documents = {.format = rules->format,
                                  .take = add,
                                  .context = pipeline,
                                  .source = {.before_wait = submit_before_wait, .context = pipeline}};
    const char *recipe = rules->format == FORMAT_FEATURES ? rules->recipe : text_recipe(&workers[0].text);
    if (recipe != NULL && rules->train == NULL && rules->take == NULL)
        output_format(&pipeline->output, "#recipe\t%s\n", recipe);
    progress_start(&pipeline->progress, rules->progress);
    bool whole = run_threads(pipeline, workers, &documents, paths);
    progress_end_documents(&pipeline->progress, pipeline->documents, pipeline->document_bytes);
    documents_free(&documents);
    say_totals(pipeline, &documents);
    bool stopped = rules->strict && bad_total(&pipeline->bad) > 0;
    if (!output_close(&pipeline->output) || !whole || stopped) return PIPELINE_FAILED;
    if (documents.failed || pipeline->bad.of[BAD_FILE] > 0) return PIPELINE_PARTLY;
    return rules->train == NULL || text_table_write(pipeline->table, rules->train) ? PIPELINE_WELL : PIPELINE_FAILED;
}

enum pipeline_status pipeline_run(const struct pipeline_rules *rules, const struct texts *paths) {
    struct pipeline pipeline = {.rules = rules, .output = OUTPUT_STANDARD};
    struct worker *workers = calloc(rules->threads, sizeof *workers);
    unsigned opened = 0;
    enum pipeline_status status = PIPELINE_FAILED;
    if (workers == NULL) {
        complain("out of memory for %u threads", rules->threads);
        return status;
    }
    pthread_mutex_init(&pipeline.mutex, NULL);
    pthread_cond_init(&pipeline.changed, NULL);
    html_start();
    bool read = rules->table == NULL || text_table_read(&pipeline.table, rules->table);
    if (read && open_workers(&pipeline, workers, &opened)) status = run(&pipeline, workers, paths);
    for (unsigned i = 0; i < opened; i++) text_close(&workers[i].text);
    text_table_free(pipeline.table);
    while (pipeline.printed < pipeline.submitted) batch_free(pipeline.ring[pipeline.printed++ % RING_BATCHES]);
    batch_free(pipeline.filling);
    pthread_cond_destroy(&pipeline.changed);
    pthread_mutex_destroy(&pipeline.mutex);
    free(workers);
    return status;
}
