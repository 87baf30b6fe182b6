/* printer.c: prints the lines of a pipeline's batches in order, and says at the end what was left out. */
#include "tools/text/batches.h"

#include "tools/shared/command.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The share of documents with few features is reported where it is 1 % or more of so many. */
enum { DOCUMENTS_WORTH_A_WARNING = 100 };

static void count(struct pipeline *pipeline, const struct document_result *result) {
    if (result->raw.bad.kind == BAD_NONE && result->raw.format == FORMAT_AUTO) return; /* no document */
    pipeline->documents++;
    pipeline->document_bytes += result->bytes;
    if (result->raw.bad.kind != BAD_NONE) {
        bad_count(&pipeline->bad, &result->raw.bad, result->raw.place != NULL ? result->raw.place : "input");
        return;
    }
    pipeline->empty += result->features == 0;
    pipeline->few += result->few;
}

static bool give(const struct pipeline_rules *rules, const struct document_batch *batch, size_t count) {
    size_t begin = 0;
    bool on = true;
    for (size_t i = 0; i < count && on; i++) {
        const struct document_result *result = &batch->results[i];
        const char *made = batch->lines.bytes == NULL ? "" : batch->lines.bytes + begin;
        on = rules->visit(rules->context, &result->raw, made, result->lines_end - begin);
        begin = result->lines_end;
    }
    return on;
}

static void print_lines(struct pipeline *pipeline, const char *lines, size_t length) {
    const char *at = lines, *end = lines + length;
    for (; length > 0 && (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++) pipeline->lines++;
    output_bytes(&pipeline->output, lines, length);
}

/* False where there is no going on. */
static bool print_batch(struct pipeline *pipeline, const struct document_batch *batch) {
    struct output *output = &pipeline->output;
    size_t i = 0;
    bool bad = false, on = true;
    for (; i < batch->count && !bad; i++) {
        count(pipeline, &batch->results[i]);
        bad = pipeline->bad.of[BAD_MEMORY] > 0 || (pipeline->rules->strict && bad_total(&pipeline->bad) > 0);
    }
    if (i > 0 && pipeline->rules->visit != NULL)
        on = give(pipeline->rules, batch, i);
    else if (i > 0)
        print_lines(pipeline, batch->lines.bytes, batch->results[i - 1].lines_end);
    uint64_t input_bytes = i > 0 ? batch->results[i - 1].raw.input_bytes : 0;
    bool counts = pipeline->rules->features != NULL && pipeline->rules->features->next_file != NULL;
    progress_say_documents(&pipeline->progress, pipeline->documents, pipeline->document_bytes,
                           counts ? pipeline->documents : input_bytes);
    return on && !bad && output->error == 0;
}

/* The next batch, once it is done; NULL at the end. What is printed is flushed before waiting. */
static struct document_batch *next_batch(struct pipeline *pipeline) {
    struct document_batch *batch = NULL;
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

void *printer_run(void *context) {
    struct pipeline *pipeline = context;
    struct document_batch *batch;
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

/* ---- Totals ---- */

static void say_few(const struct pipeline *pipeline, uint64_t good) {
    bool are_taken = pipeline->rules->visit != NULL;
    uint64_t few = pipeline->few, least = pipeline->rules->min_features;
    double percent = good > 0 ? 100.0 / (double)good : 0;
    if (least > 0) {
        char what[48] = "no features";
        if (least > 1) snprintf(what, sizeof what, "fewer than %" PRIu64 " features", least);
        if (few > 0)
            complain("%s%" PRIu64 " of %" PRIu64 " documents (%.1f %%) %s %s%s", are_taken ? "" : "left out ", few,
                     good, (double)few * percent, are_taken ? "have" : "with", what,
                     are_taken ? ", so they are not compared" : "");
        return;
    }
    const char *advice = are_taken ? "excludes them from the comparison" : "leaves them out";
    if (pipeline->empty > 0)
        complain("%" PRIu64 " of %" PRIu64
                 " documents (%.1f %%) have no features, so their fingerprint is 0; --min-features 1 "
                 "%s",
                 pipeline->empty, good, (double)pipeline->empty * percent, advice);
    if (few > pipeline->empty && good >= DOCUMENTS_WORTH_A_WARNING && few * 100 >= good)
        complain(
            "%" PRIu64 " of %" PRIu64
            " documents (%.1f %%) have fewer than %d features, so their fingerprints say little; --min-features %d %s",
            few, good, (double)few * percent, FEW_FEATURES, FEW_FEATURES, advice);
}

void printer_say_totals(const struct pipeline *pipeline, const struct documents *documents) {
    uint64_t bad = bad_total(&pipeline->bad);
    if (documents->binary > 0 && isatty(STDERR_FILENO))
        complain("left out %" PRIu64 " files that are not text", documents->binary);
    if (pipeline->rules->globs.count > 0 && documents->files == 0 && !documents->failed)
        complain("no file was read; --include and --exclude are matched against the path below the folder");
    bad_say_total(&pipeline->bad);
    say_few(pipeline, pipeline->documents - bad - pipeline->bad.of[BAD_FILE]);
}

void printer_print_total(struct pipeline *pipeline, bool failed) {
    uint64_t left_out = bad_total(&pipeline->bad) + pipeline->bad.of[BAD_FILE];
    if (pipeline->rules->min_features > 0) left_out += pipeline->few;
    output_format(&pipeline->output, "#total\t%" PRIu64 "\t%" PRIu64 "\t%d\n", pipeline->lines, left_out,
                  failed ? ENDS_BADLY : ENDS_WELL);
}
