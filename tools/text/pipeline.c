/* pipeline.c: makes lines of fingerprints of inputs. The main thread cuts the inputs into documents and fills batches
 * with them; workers fingerprint a batch at a time (worker.c); one more thread, the printer, prints the batches in
 * order. Batches are in a ring whose bytes are bounded, but which always has room for one batch, however large its
 * document is. */
#include "tools/text/pipeline.h"

#include "tools/shared/progress.h"
#include "tools/text/manual.h"
#include "tools/text/memory.h"
#include "tools/text/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Batches in the ring for each worker, at most: enough that none waits for the others, and few enough that what was
 * made of them is still in the processor's cache when it is printed. */
enum { BATCHES_OF_WORKER = 16, RING_BATCHES = BATCHES_OF_WORKER * IDX_MAX_THREADS };

struct pipeline {
    const struct pipeline_rules *rules;
    struct idx_text_table *table;   /* Read from a file, or made by the one worker; or NULL. */
    struct document_batch *filling; /* Used by the main thread alone. */

    pthread_mutex_t large; /* Held while a document that may take more than a worker's share is fingerprinted. */
    pthread_mutex_t mutex; /* Protects what follows, up to what the printer uses. */
    pthread_cond_t has_room, has_batch, is_next_done; /* The main thread, workers and the printer wait for these. */
    struct document_batch *ring[RING_BATCHES];
    size_t printed, taken, submitted; /* Batches so far that were printed, that workers took, and that were put in. */
    size_t bytes;                     /* Bytes of the batches in the ring. */
    bool ended, stopped;              /* No batch will be put in; all threads are to end at once. */
    int stop_pipe[2];                 /* Its first end can be read once the printer has ended early. */

    /* These are used by the printer alone while it runs. */
    struct output output;
    struct progress progress;
    struct bad_counts bad;
    uint64_t documents, document_bytes, empty, few; /* Of documents: all, their bytes, those without features, few. */
    uint64_t lines;                                 /* Lines that were printed. */
};

/* From this many bytes on, a batch is full. */
enum { BATCH_BYTES = 1 << 18 };

/* The most bytes of all batches, unless one alone is larger: RING_BYTES, but at most this part of the memory. */
#define RING_BYTES ((size_t)64 << 20)
enum { RING_SHARE = 4 };

struct thread {
    struct pipeline *pipeline;
    struct worker worker;
    pthread_t thread;
};

/* ---- Batches ---- */

static void batch_free(struct document_batch *batch) {
    if (batch == NULL) return;
    for (size_t i = 0; i < batch->count; i++) raw_document_free(&batch->results[i].raw);
    free(batch->made.bytes);
    free(batch);
}

/* Returns whether the ring has room for a batch. An empty ring has, however large the batch is. */
static bool has_room(const struct pipeline *pipeline, const struct document_batch *batch) {
    size_t held = pipeline->submitted - pipeline->printed;
    uint64_t share = pipeline->rules->memory_bytes / RING_SHARE, most = share < RING_BYTES ? share : RING_BYTES;
    return held == 0 || (held < BATCHES_OF_WORKER * pipeline->rules->threads && pipeline->bytes + batch->bytes <= most);
}

/* Puts the batch that is being filled into the ring once there is room; or returns false, without a complaint. */
static bool submit_batch(struct pipeline *pipeline) {
    struct document_batch *batch = pipeline->filling;
    if (batch == NULL) return true;
    pthread_mutex_lock(&pipeline->mutex);
    while (!pipeline->stopped && !has_room(pipeline, batch)) pthread_cond_wait(&pipeline->has_room, &pipeline->mutex);
    bool ok = !pipeline->stopped;
    if (ok) {
        pipeline->ring[pipeline->submitted++ % RING_BATCHES] = batch;
        pipeline->bytes += batch->bytes;
        pipeline->filling = NULL;
        pthread_cond_signal(&pipeline->has_batch);
    }
    pthread_mutex_unlock(&pipeline->mutex);
    return ok;
}

/* Puts what was read into the ring before reading waits for more. A source calls this. */
static void submit_before_wait(void *context) { submit_batch(context); }

/* Passes a file to the visitor of the rules, if there is one. This is a file_visitor. */
static bool visit_file(void *context, const struct opened_file *file) {
    const struct pipeline_rules *rules = ((struct pipeline *)context)->rules;
    return rules->visit_file == NULL || rules->visit_file(rules->context, file);
}

/* Adds a document to the batch that is being filled, unless only others are wanted. This is a document_visitor. */
static bool add_document(void *context, struct raw_document *raw) {
    struct pipeline *pipeline = context;
    const struct pipeline_rules *rules = pipeline->rules;
    if (rules->again != NULL && !rules->again->is_wanted(rules->context, raw)) {
        raw_document_free(raw);
        return true;
    }
    if (pipeline->filling == NULL) pipeline->filling = calloc(1, sizeof *pipeline->filling);
    struct document_batch *batch = pipeline->filling;
    if (batch == NULL) {
        complain("out of memory");
        raw_document_free(raw);
        return false;
    }
    if (batch->count == 0) batch->made = (struct output)OUTPUT_KEPT;
    batch->results[batch->count++] = (struct document_result){.raw = *raw, .bytes = raw->bytes.length};
    batch->bytes += raw->bytes.capacity;
    return (batch->count < BATCH_DOCUMENTS && batch->bytes < BATCH_BYTES) || submit_batch(pipeline);
}

/* ---- Threads of workers ---- */

/* Fingerprints batches until there are no more, or until the pipeline is stopped or memory runs out. */
static void *run_worker(void *context) {
    struct thread *thread = context;
    struct pipeline *pipeline = thread->pipeline;
    pthread_mutex_lock(&pipeline->mutex);
    for (bool ok = true; ok;) {
        while (!pipeline->stopped && !pipeline->ended && pipeline->taken == pipeline->submitted)
            pthread_cond_wait(&pipeline->has_batch, &pipeline->mutex);
        if (pipeline->stopped || pipeline->taken == pipeline->submitted) break;
        struct document_batch *batch = pipeline->ring[pipeline->taken++ % RING_BATCHES];
        pthread_mutex_unlock(&pipeline->mutex);
        ok = worker_process(&thread->worker, batch);
        pthread_mutex_lock(&pipeline->mutex);
        batch->done = true;
        if (batch == pipeline->ring[pipeline->printed % RING_BATCHES]) pthread_cond_signal(&pipeline->is_next_done);
    }
    pthread_mutex_unlock(&pipeline->mutex);
    return NULL;
}

/* ---- Printing ---- */

/* Documents with few features are reported if they are 1 % or more of at least this many documents. */
enum { DOCUMENTS_WORTH_A_WARNING = 100 };

/* Counts a document, and reports it if it is bad. */
static void count_document(struct pipeline *pipeline, const struct document_result *result) {
    const char *place = result->raw.place != NULL ? result->raw.place : "input";
    if (result->raw.bad.kind == BAD_NONE && result->raw.format == FORMAT_AUTO)
        return; /* A record without a document. */
    pipeline->documents++;
    pipeline->document_bytes += result->bytes;
    if (result->raw.bad.kind != BAD_NONE) {
        bad_count(&pipeline->bad, &result->raw.bad, place);
        return;
    }
    if (result->raw.cut && pipeline->rules->again == NULL) bad_count_cut(&pipeline->bad, place);
    pipeline->empty += result->features == 0;
    pipeline->few += result->few;
}

/* Visits the first `count` documents of a batch. */
static bool visit_results(struct pipeline *pipeline, struct document_batch *batch, size_t count) {
    const struct pipeline_rules *rules = pipeline->rules;
    bool ok = true;
    for (size_t i = 0; i < count && ok; i++) {
        struct document_result *result = &batch->results[i];
        ok = rules->visit(rules->context, &result->raw, batch_find_made(batch, result));
    }
    return ok;
}

static void print_lines(struct pipeline *pipeline, const char *lines, size_t length) {
    const char *at = lines, *end = lines + length;
    for (; length > 0 && (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++) pipeline->lines++;
    output_bytes(&pipeline->output, lines, length);
}

/* Prints or visits what was made of a batch, up to a record that ends the work. Returns false if the work ends. */
static bool print_batch(struct pipeline *pipeline, struct document_batch *batch) {
    struct output *output = &pipeline->output;
    size_t count = 0;
    bool ends_here = false, ok = true;
    for (; count < batch->count && !ends_here; count++) {
        count_document(pipeline, &batch->results[count]);
        ends_here = pipeline->bad.of[BAD_MEMORY] > 0 || (pipeline->rules->strict && bad_total(&pipeline->bad) > 0);
    }
    if (count > 0 && pipeline->rules->visit != NULL)
        ok = visit_results(pipeline, batch, count);
    else if (count > 0)
        print_lines(pipeline, batch->made.bytes, batch->results[count - 1].end);
    uint64_t input_bytes = count > 0 ? batch->results[count - 1].raw.input_bytes : 0;
    progress_say_documents(&pipeline->progress, pipeline->documents, pipeline->document_bytes,
                           pipeline->rules->again != NULL ? pipeline->documents : input_bytes);
    return ok && !ends_here && output->error == 0;
}

/* Returns the next batch once it is done, or NULL at the end. Before waiting, flushes the output, and calls
 * before_wait, whose failure stops the pipeline. */
static struct document_batch *next_batch(struct pipeline *pipeline) {
    struct document_batch *batch = NULL;
    bool has_called = pipeline->rules->before_wait == NULL;
    pthread_mutex_lock(&pipeline->mutex);
    for (;;) {
        bool any = pipeline->printed < pipeline->submitted;
        batch = any ? pipeline->ring[pipeline->printed % RING_BATCHES] : NULL;
        if ((any && batch->done) || (!any && pipeline->ended)) break;
        if (pipeline->output.length > 0 || !has_called) {
            pthread_mutex_unlock(&pipeline->mutex);
            output_flush(&pipeline->output);
            bool ok = has_called || pipeline->rules->before_wait(pipeline->rules->context);
            has_called = true;
            pthread_mutex_lock(&pipeline->mutex);
            if (ok) continue;
            pipeline->stopped = true;
            batch = NULL;
            break;
        } else {
            pthread_cond_wait(&pipeline->is_next_done, &pipeline->mutex);
        }
    }
    pthread_mutex_unlock(&pipeline->mutex);
    return batch;
}

/* Prints the batches in their order, and frees them. This is the printer. */
static void *run_printer(void *context) {
    struct pipeline *pipeline = context;
    struct document_batch *batch;
    bool ok = true;
    while (ok && (batch = next_batch(pipeline)) != NULL) {
        ok = print_batch(pipeline, batch);
        pthread_mutex_lock(&pipeline->mutex);
        pipeline->printed++;
        pipeline->bytes -= batch->bytes;
        if (!ok) pipeline->stopped = true;
        pthread_cond_signal(&pipeline->has_room);
        pthread_mutex_unlock(&pipeline->mutex);
        batch_free(batch);
    }
    /* If the pipeline is stopped, reading must not go on to wait for room, or for input, which may never come. */
    pthread_mutex_lock(&pipeline->mutex);
    if (pipeline->stopped) {
        pthread_cond_signal(&pipeline->has_room);
        (void)!write(pipeline->stop_pipe[1], "", 1);
    }
    pthread_mutex_unlock(&pipeline->mutex);
    return NULL;
}

/* ---- Totals ---- */

/* Warns of documents with few features or none, or of those that a visitor could not compare, of `good` in all. */
static void say_few(const struct pipeline *pipeline, uint64_t good) {
    const struct pipeline_rules *rules = pipeline->rules;
    const uint64_t few = pipeline->few, empty = pipeline->empty, least = rules->min_features;
    const double percent = good > 0 ? 100.0 / (double)good : 0;
    if (rules->visit != NULL && rules->makes != MAKES_FINGERPRINTS) {
        if (few > 0)
            complain("%" PRIu64 " of %" PRIu64 " documents (%.1f %%) have no %s, so they are not compared", few, good,
                     (double)few * percent, rules->shingling.of_characters ? "characters" : "words");
    } else if (least > 0) {
        char what[48] = "no features";
        if (least > 1) snprintf(what, sizeof what, "fewer than %" PRIu64 " features", least);
        if (few > 0)
            complain("left out %" PRIu64 " of %" PRIu64 " documents (%.1f %%) with %s", few, good,
                     (double)few * percent, what);
    } else {
        if (empty > 0 && makes_sketches(rules))
            complain("%" PRIu64 " of %" PRIu64 " documents (%.1f %%) have no words, so they have no fingerprints",
                     empty, good, (double)empty * percent);
        else if (empty > 0)
            complain("%" PRIu64 " of %" PRIu64 " documents (%.1f %%) have no features, so their fingerprint is 0; "
                     "--min-features 1 leaves them out",
                     empty, good, (double)empty * percent);
        if (few > empty && good >= DOCUMENTS_WORTH_A_WARNING && few * 100 >= good)
            complain("%" PRIu64 " of %" PRIu64
                     " documents (%.1f %%) have fewer than %d features, so their fingerprints "
                     "say little; --min-features %d leaves them out",
                     few, good, (double)few * percent, FEW_FEATURES, FEW_FEATURES);
    }
}

/* Says what was left out, once all threads have ended. Returns false if all records are bad. */
static bool say_totals(const struct pipeline *pipeline, const struct documents *documents) {
    const struct pipeline_rules *rules = pipeline->rules;
    uint64_t good = pipeline->documents - bad_total(&pipeline->bad) - pipeline->bad.of[BAD_FILE];
    documents_say_left_out(documents);
    if (rules->extract.json.id != NULL && documents->read_files > 0 && !documents->has_json)
        complain("no input is JSON Lines, so --id-field has no effect");
    if (rules->globs.count > 0 && documents->opened_files == 0 && !documents->failed)
        complain("no file was read; --include and --exclude are matched against the path below the folder");
    const char *what = rules->bad_heading != NULL ? rules->bad_heading : "left out bad records";
    bool any_good = rules->strict || bad_say_total(&pipeline->bad, what, good);
    say_few(pipeline, good);
    return any_good;
}

/* Prints the line #total (struct totals in tools/input/tsv.h). */
static void print_total(struct pipeline *pipeline, bool failed) {
    uint64_t left_out = bad_total(&pipeline->bad) + pipeline->bad.of[BAD_FILE];
    if (pipeline->rules->min_features > 0) left_out += pipeline->few;
    output_format(&pipeline->output, "#total\t%" PRIu64 "\t%" PRIu64 "\t%d\n", pipeline->lines, left_out,
                  failed ? ENDS_BADLY : ENDS_WELL);
}

/* ---- The whole ---- */

/* Opens the workers, and the table that is made. Also after a failure, the caller closes *opened workers. */
static bool open_workers(struct pipeline *pipeline, struct thread *threads, unsigned *opened) {
    const struct pipeline_rules *rules = pipeline->rules;
    struct idx_error error;
    for (*opened = 0; *opened < rules->threads; ++*opened) {
        threads[*opened] = (struct thread){
            .pipeline = pipeline, .worker = {.rules = rules, .table = pipeline->table, .large = &pipeline->large}};
        if (!worker_open(&threads[*opened].worker, &error)) return complain("%s", error.sentence);
    }
    if (rules->train == NULL) return true;
    bool ok = text_table_create(&pipeline->table, &threads[0].worker.reader);
    threads[0].worker.table = pipeline->table;
    return ok;
}

/* Makes the workers and the printer end: at once if `stop`, or else once the ring is empty. */
static void tell_threads_to_end(struct pipeline *pipeline, bool stop) {
    pthread_mutex_lock(&pipeline->mutex);
    pipeline->ended = true;
    if (stop) pipeline->stopped = true;
    pthread_cond_broadcast(&pipeline->has_batch);
    pthread_cond_signal(&pipeline->is_next_done);
    pthread_mutex_unlock(&pipeline->mutex);
}

/* Reads all documents of the paths, or of the files that are read once more. Returns false if a visitor stopped. */
static bool read_all(struct pipeline *pipeline, struct documents *documents, const struct strings *paths) {
    const struct pipeline_rules *rules = pipeline->rules;
    struct opened_file file;
    uint64_t number;
    bool ok = true;
    if (rules->again == NULL) return documents_read(documents, paths);
    while (ok && rules->again->next_file(rules->context, &file, &number))
        ok = documents_read_again(documents, &file, number);
    return ok;
}

/* Runs the threads until all documents are read. Returns whether everything was read, and printed or visited. */
static bool run_threads(struct pipeline *pipeline, struct thread *threads, struct documents *documents,
                        const struct strings *paths) {
    pthread_t printer;
    unsigned started = 0;
    while (started < pipeline->rules->threads &&
           pthread_create(&threads[started].thread, NULL, run_worker, &threads[started]) == 0)
        started++;
    bool all_started = started == pipeline->rules->threads, ok = false;
    if (all_started) all_started = pthread_create(&printer, NULL, run_printer, pipeline) == 0;
    if (all_started) ok = read_all(pipeline, documents, paths) && submit_batch(pipeline);
    tell_threads_to_end(pipeline, !all_started);
    if (all_started) pthread_join(printer, NULL);
    for (unsigned i = 0; i < started; i++) pthread_join(threads[i].thread, NULL);
    if (!all_started) complain("can't start %u threads; give --threads a smaller number", pipeline->rules->threads);
    return ok && !pipeline->stopped; /* A visitor may have failed after all was read. */
}

/* Returns whether the recipe of the texts matches the expected one, or one of them is NULL. */
static bool match_expected_recipe(const char *expected, const char *recipe) {
    bool warned = false;
    if (expected == NULL || recipe == NULL || recipes_match(expected, recipe, strlen(recipe), &warned)) return true;
    if (manual_refusal(recipe) == NULL && manual_refusal(expected) != NULL)
        return complain(
            "there are manual pages among the texts, but the recipe of the index, '%s', %s; they can't be compared, so "
            "make the index anew, or read manual pages as they are with --format plain",
            expected, manual_refusal(expected));
    return complain(
        "texts are to be fingerprinted by the recipe '%s', but the index has fingerprints of '%s', so they can't be "
        "compared; omit --recipe, and the recipe of the index is used",
        recipe, expected);
}

/* Reads all inputs with the open workers, prints the lines #recipe and #total around those of the documents,
 * says what was left out, and writes the table that was made. */
static enum pipeline_status run_with_workers(struct pipeline *pipeline, struct thread *threads,
                                             const struct strings *paths) {
    const struct pipeline_rules *rules = pipeline->rules;
    struct documents documents = {
        .format = rules->format,
        .most = rules->extract.max_text,
        .visit = add_document,
        .visit_file = visit_file,
        .visits_others = rules->visits_others,
        .context = pipeline,
        .globs = &rules->globs,
        .json = &rules->extract.json,
        .source = {.before_wait = submit_before_wait, .context = pipeline, .stop_descriptor = &pipeline->stop_pipe[0]}};
    const char *recipe =
        rules->format == FORMAT_FEATURES ? rules->recipe : text_reader_recipe(&threads[0].worker.reader);
    if (!match_expected_recipe(rules->expected_recipe, recipe)) return PIPELINE_FAILED;
    if (rules->begin != NULL && !rules->begin(rules->context, recipe)) return PIPELINE_FAILED;
    bool is_stated = recipe != NULL && rules->train == NULL && rules->visit == NULL;
    if (is_stated) output_format(&pipeline->output, "#recipe\t%s\n", recipe);
    progress_start(&pipeline->progress, rules->progress);
    pipeline->progress.reading = rules->again != NULL || rules->makes == MAKES_SHINGLES;
    if (rules->again != NULL)
        pipeline->progress.input = rules->again->documents;
    else if (pipeline->progress.shown)
        pipeline->progress.input = documents_count_bytes(paths, &rules->globs);
    bool ok = run_threads(pipeline, threads, &documents, paths);
    progress_end_documents(&pipeline->progress, pipeline->documents, pipeline->document_bytes);
    documents_free(&documents);
    bool any_good = rules->again != NULL || say_totals(pipeline, &documents);
    bool stopped = pipeline->bad.of[BAD_MEMORY] > 0 || (rules->strict && bad_total(&pipeline->bad) > 0);
    bool partly = !any_good || documents.failed || pipeline->bad.of[BAD_FILE] > 0;
    if (is_stated) print_total(pipeline, !ok || stopped || partly);
    if (!output_close(&pipeline->output) || !ok || stopped) return PIPELINE_FAILED;
    if (partly) return PIPELINE_PARTLY;
    return rules->train == NULL || text_table_write(pipeline->table, rules->train) ? PIPELINE_WELL : PIPELINE_FAILED;
}

/* Returns whether manual pages may be read, which the recipe has to say before the first fingerprint is made. */
static bool has_manuals(const struct pipeline_rules *rules, const struct strings *paths) {
    if (rules->format == FORMAT_FEATURES) return false;
    if (rules->format == FORMAT_MAN || rules->again != NULL) return true;
    return rules->format == FORMAT_AUTO && documents_have_manual(paths, &rules->globs);
}

/* Opens the table and the workers, and runs them. Frees everything at the end, also batches that were not printed. */
static enum pipeline_status run_by_rules(const struct pipeline_rules *rules, const struct strings *paths) {
    struct pipeline pipeline = {.rules = rules, .output = OUTPUT_STANDARD, .stop_pipe = {-1, -1}};
    struct thread *threads = calloc(rules->threads, sizeof *threads);
    unsigned opened = 0;
    enum pipeline_status status = PIPELINE_FAILED;
    if (threads == NULL) {
        complain("out of memory for %u threads", rules->threads);
        return status;
    }
    pthread_mutex_init(&pipeline.large, NULL);
    pthread_mutex_init(&pipeline.mutex, NULL);
    pthread_cond_init(&pipeline.has_room, NULL);
    pthread_cond_init(&pipeline.has_batch, NULL);
    pthread_cond_init(&pipeline.is_next_done, NULL);
    memory_watch();
    html_start();
    bool ok = pipe2(pipeline.stop_pipe, O_CLOEXEC) == 0 || complain("can't make a pipe: %s", strerror(errno));
    ok = ok && (rules->table == NULL || text_table_read(&pipeline.table, rules->table));
    if (ok && open_workers(&pipeline, threads, &opened)) status = run_with_workers(&pipeline, threads, paths);
    for (unsigned i = 0; i < opened; i++) worker_close(&threads[i].worker);
    for (size_t i = 0; i < 2 && pipeline.stop_pipe[i] >= 0; i++) close(pipeline.stop_pipe[i]);
    text_table_free(pipeline.table);
    while (pipeline.printed < pipeline.submitted) batch_free(pipeline.ring[pipeline.printed++ % RING_BATCHES]);
    batch_free(pipeline.filling);
    pthread_cond_destroy(&pipeline.has_room);
    pthread_cond_destroy(&pipeline.has_batch);
    pthread_cond_destroy(&pipeline.is_next_done);
    pthread_mutex_destroy(&pipeline.mutex);
    pthread_mutex_destroy(&pipeline.large);
    free(threads);
    return status;
}

void pipeline_visit_formats(const struct pipeline_rules *rules, const struct strings *paths, format_visitor visit,
                            void *context) {
    struct documents documents = {
        .format = rules->format, .context = context, .globs = &rules->globs, .json = &rules->extract.json};
    documents_visit_formats(&documents, paths, visit);
    documents_free(&documents);
}

enum pipeline_status pipeline_run(const struct pipeline_rules *rules, const struct strings *paths) {
    struct pipeline_rules with_manuals = *rules;
    char *recipe;
    const char *given = rules->recipe != NULL ? rules->recipe : text_default_recipe;
    /* Of a recipe with an older part the new one is appended, and counts, so that an index with the older one is
     * refused as a whole. A user who gave that part gets each page as a bad record. */
    bool settled = rules->expected_recipe != NULL ? manual_refusal(given) == NULL : recipe_read(given).manuals != 0;
    if (!has_manuals(rules, paths) || settled) return run_by_rules(rules, paths);
    if (asprintf(&recipe, "%s" MANUAL_PART, given) < 0) {
        complain("out of memory");
        return PIPELINE_FAILED;
    }
    with_manuals.recipe = recipe;
    enum pipeline_status status = run_by_rules(&with_manuals, paths);
    free(recipe);
    return status;
}
