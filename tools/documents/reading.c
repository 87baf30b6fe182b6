/* reading.c: reads inputs in threads. One thread cuts the inputs into documents and fills batches with them; workers
 * make something of a batch at a time (worker.c); the caller's thread takes the batches in order. Batches are in a ring
 * whose bytes are bounded, but which always has room for one batch, however large its document is. */
#include "tools/documents/reading.h"

#include "tools/documents/worker.h"
#include "tools/formats/manual.h"
#include "tools/formats/memory.h"
#include "tools/shared/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* At most so many batches are in the ring for each worker: enough that none waits for the others, and few enough that
 * what was made of them is still in the processor's cache when it is consumed. */
enum { BATCHES_OF_WORKER = 16, RING_BATCHES = BATCHES_OF_WORKER * IDX_MAX_THREADS };

/* The thread of a worker. */
struct thread {
    struct reading *reading;
    struct worker worker;
    pthread_t handle;
};

struct reading {
    struct reading_rules rules;
    char *own_recipe;                         /* That of the rules, if it was completed; or NULL. */
    struct idx_text_table *table;             /* Read from a file, or made by the one worker; or NULL. */
    unsigned opened_workers, started_workers; /* How many were opened, and how many have a thread. */
    bool has_cutter;                          /* The thread that cuts was started. */
    pthread_t cutter;

    /* These are used by the thread that cuts alone while it runs. */
    struct documents documents;
    struct document_batch *new_batch; /* It is not in the ring yet; NULL: there is none. */

    pthread_mutex_t large_mutex; /* Held while a document that may take more than a worker's share is fingerprinted. */
    pthread_mutex_t mutex;       /* Protects what follows, up to what the caller's thread uses. */
    pthread_cond_t has_room, has_batch, is_next_done; /* The cutter, workers and the caller's thread wait for these. */
    struct document_batch *ring[RING_BATCHES];
    /* How many batches were put into the ring so far, claimed by workers, returned to the caller, and freed. */
    size_t submitted, claimed, returned, freed;
    size_t ring_bytes;                    /* Bytes of the batches in the ring. */
    bool all_submitted, all_cut, stopped; /* No batch will follow; all inputs were read; threads are to end at once. */
    int stop_pipe[2];                     /* Its first end can be read once the threads are to end. */

    /* These are used by the caller's thread alone. */
    struct document_batch *batch;   /* The one that it got last, or NULL. */
    size_t next_document;           /* The index of its next document. */
    bool has_returned_all, is_over; /* There are no more documents; a bad record ended the work. */
    struct output output;
    struct progress progress;
    struct bad_counts bad;
    /* Of documents: how many there are, their bytes, and how many have no features, and few of them. */
    uint64_t document_count, document_bytes, empty_count, few_count;
    uint64_t lines; /* How many were printed. */

    struct thread threads[]; /* As many as the rules say. */
};

/* From this many bytes on, a batch is full. */
enum { FULL_BATCH_BYTES = 1 << 18 };

/* The most bytes of all batches, unless one alone is larger: MAX_RING_BYTES, or memory_bytes / RING_MEMORY_DIVISOR if
 * that is less. */
#define MAX_RING_BYTES ((size_t)64 << 20)
enum { RING_MEMORY_DIVISOR = 4 };

/* ---- Batches ---- */

/* Frees a batch with its documents. NULL is accepted. */
static void free_batch(struct document_batch *batch) {
    if (batch == NULL) return;
    for (size_t i = 0; i < batch->count; i++) raw_document_free(&batch->results[i].raw);
    free(batch->output.bytes);
    free(batch);
}

/* Returns whether the ring has room for a batch. An empty ring has, however large the batch is. The mutex is held. */
static bool ring_has_room(const struct reading *reading, const struct document_batch *batch) {
    size_t held_batches = reading->submitted - reading->freed;
    uint64_t max_bytes = reading->rules.memory_bytes / RING_MEMORY_DIVISOR;
    if (max_bytes > MAX_RING_BYTES) max_bytes = MAX_RING_BYTES;
    return held_batches == 0 || (held_batches < BATCHES_OF_WORKER * reading->rules.threads &&
                                 reading->ring_bytes + batch->memory_bytes <= max_bytes);
}

/* Puts the batch that is being filled, if there is one, into the ring once that has room. Returns false, without a
 * complaint, if the threads are to end instead. */
static bool submit_batch(struct reading *reading) {
    struct document_batch *batch = reading->new_batch;
    if (batch == NULL) return true;
    pthread_mutex_lock(&reading->mutex);
    while (!reading->stopped && !ring_has_room(reading, batch)) pthread_cond_wait(&reading->has_room, &reading->mutex);
    bool submitted = !reading->stopped;
    if (submitted) {
        reading->ring[reading->submitted++ % RING_BATCHES] = batch;
        reading->ring_bytes += batch->memory_bytes;
        reading->new_batch = NULL;
        pthread_cond_signal(&reading->has_batch);
    }
    pthread_mutex_unlock(&reading->mutex);
    return submitted;
}

/* Puts the documents that were read into the ring before reading waits for more input, so that they need not wait. A
 * source calls this. */
static void submit_before_wait(void *context) { submit_batch(context); }

/* Moves a document to the batch that is being filled, or frees it if memory ran out. Submits the batch if it is full.
 * Returns false if the threads are to end, or after a complaint if memory ran out. */
static bool add_to_batch(struct reading *reading, struct raw_document *raw) {
    if (reading->new_batch == NULL) reading->new_batch = calloc(1, sizeof *reading->new_batch);
    struct document_batch *batch = reading->new_batch;
    if (batch == NULL) {
        complain("out of memory");
        raw_document_free(raw);
        return false;
    }
    if (batch->count == 0) batch->output = (struct output)OUTPUT_BUFFER;
    batch->results[batch->count++] = (struct document_result){.raw = *raw, .byte_count = raw->bytes.length};
    batch->memory_bytes += raw->bytes.capacity;
    return (batch->count < BATCH_DOCUMENTS && batch->memory_bytes < FULL_BATCH_BYTES) || submit_batch(reading);
}

/* Cuts the inputs into documents, and submits them in batches. This is the cutter's thread; `context` is the struct
 * reading. */
static void *run_cutter(void *context) {
    struct reading *reading = context;
    struct raw_document raw;
    bool ok = true;
    while (ok && documents_next(&reading->documents, &raw)) ok = add_to_batch(reading, &raw);
    ok = ok && !reading->documents.stopped && submit_batch(reading);
    pthread_mutex_lock(&reading->mutex);
    reading->all_submitted = true;
    reading->all_cut = ok;
    pthread_cond_broadcast(&reading->has_batch);
    pthread_cond_signal(&reading->is_next_done);
    pthread_mutex_unlock(&reading->mutex);
    return NULL;
}

/* Makes what the rules ask for of one batch after the other, until no more will come, the threads are to end, or memory
 * runs out. This is a worker's thread; `context` is its struct thread. */
static void *run_worker(void *context) {
    struct thread *thread = context;
    struct reading *reading = thread->reading;
    pthread_mutex_lock(&reading->mutex);
    for (bool ok = true; ok;) {
        while (!reading->stopped && !reading->all_submitted && reading->claimed == reading->submitted)
            pthread_cond_wait(&reading->has_batch, &reading->mutex);
        if (reading->stopped || reading->claimed == reading->submitted) break;
        struct document_batch *batch = reading->ring[reading->claimed++ % RING_BATCHES];
        pthread_mutex_unlock(&reading->mutex);
        ok = worker_process_batch(&thread->worker, batch);
        pthread_mutex_lock(&reading->mutex);
        batch->done = true;
        if (batch == reading->ring[reading->returned % RING_BATCHES]) pthread_cond_signal(&reading->is_next_done);
    }
    pthread_mutex_unlock(&reading->mutex);
    return NULL;
}

/* Starts the threads, and shows progress from now on. Returns false, after a complaint, if a thread can't be started;
 * then nothing will be read, since only the cutter, which is the last one, makes batches. */
static bool start_threads(struct reading *reading) {
    const struct reading_rules *rules = &reading->rules;
    progress_start(&reading->progress, rules->progress);
    reading->progress.reading = rules->again != NULL || rules->makes == MAKES_SHINGLES;
    if (rules->again != NULL)
        reading->progress.input = second_reading_count_wanted(rules->again);
    else if (reading->progress.shown)
        reading->progress.input = documents_count_bytes(reading->documents.paths, &rules->globs);
    struct thread *thread = reading->threads;
    for (; reading->started_workers < rules->threads; reading->started_workers++, thread++)
        if (pthread_create(&thread->handle, NULL, run_worker, thread) != 0) break;
    reading->has_cutter =
        reading->started_workers == rules->threads && pthread_create(&reading->cutter, NULL, run_cutter, reading) == 0;
    reading->is_over = !reading->has_cutter;
    return reading->has_cutter || complain("can't start %u threads; give --threads a smaller number", rules->threads);
}

/* ---- Taking documents ---- */

/* What to do as long as no worker is done with the next batch. */
enum patience { RETURN_AT_ONCE, WAIT_FOR_BATCH };

/* Documents with few features are reported if they are 1 % or more of at least this many documents. */
enum { DOCUMENTS_WORTH_A_WARNING = 100 };

/* Counts a document, unless it is a WARC record without one. If it is bad or cut short, also counts it as such, and
 * perhaps reports it, as bad_count_record does. */
static void count_and_report_document(struct reading *reading, const struct document_result *result) {
    const char *place = result->raw.place != NULL ? result->raw.place : "input";
    if (result->raw.bad.kind == BAD_NONE && result->raw.format == FORMAT_AUTO) return;
    reading->document_count++;
    reading->document_bytes += result->byte_count;
    if (result->raw.bad.kind != BAD_NONE) {
        bad_count_record(&reading->bad, &result->raw.bad, place);
        return;
    }
    if (result->raw.cut && reading->rules.again == NULL) bad_count_cut_document(&reading->bad, place);
    reading->empty_count += result->feature_count == 0;
    reading->few_count += result->has_few;
}

/* Frees the batches whose documents the caller's thread has all got, so that the ring has room for others. */
static void free_finished_batches(struct reading *reading) {
    const bool has_unfinished = reading->batch != NULL && reading->next_document < reading->batch->count;
    while (reading->freed < reading->returned - has_unfinished) {
        struct document_batch *batch = reading->ring[reading->freed % RING_BATCHES];
        pthread_mutex_lock(&reading->mutex);
        reading->freed++;
        reading->ring_bytes -= batch->memory_bytes;
        pthread_cond_signal(&reading->has_room);
        pthread_mutex_unlock(&reading->mutex);
        free_batch(batch);
    }
    if (!has_unfinished) reading->batch = NULL;
}

/* Sets reading->batch to the next batch, in the order of the inputs, once a worker is done with it. Returns false at
 * the end, or with RETURN_AT_ONCE if the batch is not done yet. */
static bool advance_to_next_batch(struct reading *reading, enum patience patience) {
    bool is_done, is_end;
    pthread_mutex_lock(&reading->mutex);
    for (;;) {
        const bool has_batch = reading->returned < reading->submitted;
        is_done = has_batch && reading->ring[reading->returned % RING_BATCHES]->done;
        is_end = !has_batch && reading->all_submitted;
        if (is_done || is_end || patience == RETURN_AT_ONCE) break;
        pthread_cond_wait(&reading->is_next_done, &reading->mutex);
    }
    reading->has_returned_all = is_end;
    if (is_done) {
        reading->batch = reading->ring[reading->returned++ % RING_BATCHES];
        reading->next_document = 0;
    }
    pthread_mutex_unlock(&reading->mutex);
    return is_done;
}

/* Shows how much was read: `input_bytes` of the inputs, or if documents are read once more, their number. */
static void show_progress(struct reading *reading, uint64_t input_bytes) {
    progress_show_documents_so_far(&reading->progress, reading->document_count, reading->document_bytes,
                                   reading->rules.again != NULL ? reading->document_count : input_bytes);
}

/* Returns the next document of the current batch, which must have one, and counts it. Sets is_over if it ends the work.
 * With the last one of the batch, shows progress. */
static struct document_result *consume_next_document(struct reading *reading) {
    struct document_result *result = &reading->batch->results[reading->next_document++];
    count_and_report_document(reading, result);
    reading->is_over = reading->bad.of[BAD_MEMORY] > 0 || (reading->rules.strict && bad_sum_records(&reading->bad) > 0);
    if (reading->next_document == reading->batch->count) show_progress(reading, result->raw.input_bytes);
    return result;
}

/* Returns the next document, and starts the threads before the first one. Returns NULL at the end, after a complaint,
 * or with RETURN_AT_ONCE if none is ready. */
static const struct made *get_next_document(struct reading *reading, enum patience patience) {
    if (reading->is_over || (!reading->has_cutter && !start_threads(reading))) return NULL;
    while (reading->batch == NULL || reading->next_document == reading->batch->count) {
        if (!advance_to_next_batch(reading, patience)) return NULL;
    }
    return batch_find_made(reading->batch, consume_next_document(reading));
}

const struct made *reading_next(struct reading *reading) {
    free_finished_batches(reading);
    return get_next_document(reading, WAIT_FOR_BATCH);
}

const struct made *reading_next_ready(struct reading *reading) { return get_next_document(reading, RETURN_AT_ONCE); }

/* ---- Totals ---- */

/* Warns of the documents that have few features or none, or that can't be compared. The messages state their share of
 * `good_count`, the number of documents that are not bad. */
static void warn_of_few_features(const struct reading *reading, uint64_t good_count) {
    const struct reading_rules *rules = &reading->rules;
    const uint64_t few = reading->few_count, empty = reading->empty_count, min_features = rules->min_features;
    const double percent = good_count > 0 ? 100.0 / (double)good_count : 0;
    if (rules->makes == MAKES_SHINGLES || rules->makes == MAKES_BODY) {
        if (few > 0)
            complain("%" PRIu64 " of %" PRIu64 " documents (%.1f %%) have no %s, so they are not compared", few,
                     good_count, (double)few * percent,
                     rules->shingling.unit == IDX_TEXT_CHARACTERS ? "characters" : "words");
    } else if (min_features > 0) {
        char shortage[48] = "no features";
        if (min_features > 1) snprintf(shortage, sizeof shortage, "fewer than %" PRIu64 " features", min_features);
        if (few > 0)
            complain("left out %" PRIu64 " of %" PRIu64 " documents (%.1f %%) with %s", few, good_count,
                     (double)few * percent, shortage);
    } else {
        if (empty > 0 && makes_sketches(rules))
            complain("%" PRIu64 " of %" PRIu64 " documents (%.1f %%) have no words, so they have no fingerprints",
                     empty, good_count, (double)empty * percent);
        else if (empty > 0)
            complain("%" PRIu64 " of %" PRIu64 " documents (%.1f %%) have no features, so their fingerprint is 0; "
                     "--min-features 1 leaves them out",
                     empty, good_count, (double)empty * percent);
        if (few > empty && good_count >= DOCUMENTS_WORTH_A_WARNING && few * 100 >= good_count)
            complain("%" PRIu64 " of %" PRIu64
                     " documents (%.1f %%) have fewer than %d features, so their fingerprints "
                     "say little; --min-features %d leaves them out",
                     few, good_count, (double)few * percent, FEW_FEATURES, FEW_FEATURES);
    }
}

/* Reports on standard error what was left out, once all threads have ended. Returns false if all records are bad. */
static bool report_totals(const struct reading *reading) {
    const struct reading_rules *rules = &reading->rules;
    const struct documents *documents = &reading->documents;
    uint64_t good_count = reading->document_count - bad_sum_records(&reading->bad) - reading->bad.of[BAD_FILE];
    documents_report_left_out(documents);
    if (rules->extract.json.id != NULL && documents->found.read_files > 0 && !documents->has_json)
        complain("no input is JSON Lines, so --id-field has no effect");
    if (rules->globs.count > 0 && documents->found.opened_files == 0 && !documents->failed)
        complain("no file was read; --include and --exclude are matched against the path below the folder");
    const char *heading = rules->bad_heading != NULL ? rules->bad_heading : "left out bad records";
    bool any_good = rules->strict || bad_report_totals(&reading->bad, heading, good_count);
    warn_of_few_features(reading, good_count);
    return any_good;
}

/* Ends the threads, and waits for that. If the caller's thread has not got all documents, they end at once: the cutter
 * must wait neither for room nor for input, which may never come, so a byte in the pipe ends its reading. */
static void end_threads(struct reading *reading) {
    pthread_mutex_lock(&reading->mutex);
    reading->stopped = !reading->has_returned_all;
    pthread_cond_broadcast(&reading->has_batch);
    pthread_cond_signal(&reading->has_room);
    if (reading->stopped) (void)!write(reading->stop_pipe[1], "", 1);
    pthread_mutex_unlock(&reading->mutex);
    if (reading->has_cutter) pthread_join(reading->cutter, NULL);
    for (unsigned i = 0; i < reading->started_workers; i++) pthread_join(reading->threads[i].handle, NULL);
}

/* ---- The whole ---- */

/* Opens the workers, and creates the table if one is to be made. Returns false after a complaint. */
static bool open_workers(struct reading *reading) {
    const struct reading_rules *rules = &reading->rules;
    struct idx_error error;
    for (; reading->opened_workers < rules->threads; reading->opened_workers++) {
        struct thread *thread = &reading->threads[reading->opened_workers];
        thread->reading = reading;
        thread->worker = (struct worker){.rules = rules, .table = reading->table, .large_mutex = &reading->large_mutex};
        if (!worker_open(&thread->worker, &error)) return complain("%s", error.sentence);
    }
    if (rules->train == NULL) return true;
    bool ok = text_table_create(&reading->table, &reading->threads[0].worker.reader);
    reading->threads[0].worker.table = reading->table;
    return ok;
}

/* Checks that `recipe`, that of the texts, matches `expected`, that of the index, unless one of them is NULL. Returns
 * false after a complaint. */
static bool check_expected_recipe(const char *expected, const char *recipe) {
    bool warned = false;
    if (expected == NULL || recipe == NULL || recipes_match(expected, recipe, strlen(recipe), &warned)) return true;
    if (manual_get_refusal(recipe) == NULL && manual_get_refusal(expected) != NULL)
        return complain(
            "there are manual pages among the texts, but the recipe of the index, '%s', %s; they can't be compared, so "
            "make the index anew, or read manual pages as they are with --format plain",
            expected, manual_get_refusal(expected));
    return complain(
        "texts are to be fingerprinted by the recipe '%s', but the index has fingerprints of '%s', so they can't be "
        "compared; omit --recipe, and the recipe of the index is used",
        recipe, expected);
}

/* Returns whether manual pages may be read, which the recipe has to say before the first fingerprint is made. */
static bool may_have_manuals(const struct reading_rules *rules, const struct strings *paths) {
    if (rules->format == FORMAT_FEATURES) return false;
    if (rules->format == FORMAT_MAN || rules->again != NULL) return true;
    return rules->format == FORMAT_AUTO && documents_have_manual_page(paths, &rules->globs);
}

/* Appends MANUAL_PART to the recipe if there are manual pages and the recipe lacks it. If the recipe is that of an
 * index and has an older part, the new one is appended as well, and counts, so that the index is refused as a whole. If
 * a user gave the older part, it stays, and each page is a bad record. Returns false after a complaint if memory ran
 * out. */
static bool complete_recipe(struct reading *reading, const struct strings *paths) {
    struct reading_rules *rules = &reading->rules;
    const char *base = rules->recipe != NULL ? rules->recipe : text_default_recipe;
    bool complete = rules->expected_recipe != NULL ? manual_get_refusal(base) == NULL : recipe_read(base).manuals != 0;
    if (complete || !may_have_manuals(rules, paths)) return true;
    if (asprintf(&reading->own_recipe, "%s" MANUAL_PART, base) < 0) {
        reading->own_recipe = NULL;
        return complain("out of memory");
    }
    rules->recipe = reading->own_recipe;
    return true;
}

/* Opens what the threads share, and the workers. Returns false after a complaint. The caller calls free_reading in
 * either case. */
static bool open_shared_and_workers(struct reading *reading, const struct strings *paths) {
    const struct reading_rules *rules = &reading->rules;
    reading->documents = (struct documents){
        .format = rules->format,
        .most = rules->extract.max_text,
        .takes_other_records = rules->takes_other_records,
        .globs = &rules->globs,
        .paths = paths,
        .journal = rules->journal,
        .again = rules->again,
        .json = &rules->extract.json,
        .source = {.before_wait = submit_before_wait, .context = reading, .stop_descriptor = &reading->stop_pipe[0]}};
    memory_watch();
    html_prepare_parser();
    return (pipe2(reading->stop_pipe, O_CLOEXEC) == 0 || complain("can't make a pipe: %s", strerror(errno))) &&
           (rules->table == NULL || text_table_read(&reading->table, rules->table)) && open_workers(reading) &&
           check_expected_recipe(rules->expected_recipe, reading_get_recipe(reading));
}

/* Frees a reading whose threads have ended or were not started, with the batches that nobody got. */
static void free_reading(struct reading *reading) {
    documents_free(&reading->documents);
    for (unsigned i = 0; i < reading->opened_workers; i++) worker_close(&reading->threads[i].worker);
    for (size_t i = 0; i < 2 && reading->stop_pipe[i] >= 0; i++) close(reading->stop_pipe[i]);
    text_table_free(reading->table);
    while (reading->freed < reading->submitted) free_batch(reading->ring[reading->freed++ % RING_BATCHES]);
    free_batch(reading->new_batch);
    pthread_cond_destroy(&reading->has_room);
    pthread_cond_destroy(&reading->has_batch);
    pthread_cond_destroy(&reading->is_next_done);
    pthread_mutex_destroy(&reading->mutex);
    pthread_mutex_destroy(&reading->large_mutex);
    free(reading->own_recipe);
    free(reading);
}

struct reading *reading_open(const struct reading_rules *rules, const struct strings *paths) {
    struct reading *reading = calloc(1, sizeof *reading + rules->threads * sizeof reading->threads[0]);
    if (reading == NULL) {
        complain("out of memory for %u threads", rules->threads);
        return NULL;
    }
    reading->rules = *rules;
    reading->output = (struct output)OUTPUT_STANDARD;
    reading->stop_pipe[0] = reading->stop_pipe[1] = -1;
    pthread_mutex_init(&reading->large_mutex, NULL);
    pthread_mutex_init(&reading->mutex, NULL);
    pthread_cond_init(&reading->has_room, NULL);
    pthread_cond_init(&reading->has_batch, NULL);
    pthread_cond_init(&reading->is_next_done, NULL);
    if (complete_recipe(reading, paths) && open_shared_and_workers(reading, paths)) return reading;
    free_reading(reading);
    return NULL;
}

const char *reading_get_recipe(const struct reading *reading) {
    return reading->rules.format == FORMAT_FEATURES ? reading->rules.recipe
                                                    : text_reader_get_recipe(&reading->threads[0].worker.reader);
}

/* Ends the threads, reports what was left out, and returns how well the inputs were read. Frees nothing. */
static enum reading_status end_reading(struct reading *reading) {
    const struct reading_rules *rules = &reading->rules;
    end_threads(reading);
    if (!reading->has_cutter) return READING_FAILED;
    progress_show_documents_in_all(&reading->progress, reading->document_count, reading->document_bytes);
    const bool any_good = rules->again != NULL || report_totals(reading);
    if (!reading->has_returned_all || !reading->all_cut) return READING_FAILED;
    const bool is_partial = !any_good || reading->documents.failed || reading->bad.of[BAD_FILE] > 0;
    return is_partial ? READING_PARTLY : READING_WELL;
}

enum reading_status reading_close(struct reading *reading) {
    if (reading == NULL) return READING_FAILED;
    enum reading_status status = end_reading(reading);
    free_reading(reading);
    return status;
}

/* ---- Printing ---- */

/* Prints the lines that were made of the rest of the current batch, up to a record that ends the work, and counts the
 * lines. Frees the batch, unless that record is in it. */
static void print_batch(struct reading *reading) {
    const struct document_result *result = NULL;
    while (reading->next_document < reading->batch->count && !reading->is_over) result = consume_next_document(reading);
    if (result == NULL) return;
    const char *line = reading->batch->output.bytes, *lines_end = line + result->end;
    /* Without bytes, the batch has no memory that could be searched. */
    for (; result->end > 0 && (line = memchr(line, '\n', (size_t)(lines_end - line))) != NULL; line++) reading->lines++;
    output_bytes(&reading->output, reading->batch->output.bytes, result->end);
    free_finished_batches(reading);
}

/* Starts the threads, and prints the lines of all documents. Flushes the output before it waits. Ends early after an
 * error of output, or at a record that ends the work. */
static void print_all_lines(struct reading *reading) {
    if (!start_threads(reading)) return;
    while (!reading->is_over && reading->output.error == 0) {
        if (!advance_to_next_batch(reading, RETURN_AT_ONCE)) {
            output_flush(&reading->output);
            if (reading->output.error != 0 || !advance_to_next_batch(reading, WAIT_FOR_BATCH)) return;
        }
        print_batch(reading);
    }
}

/* Prints the line #total (struct totals in tools/input/tsv.h), with how many lines were printed, how many documents
 * were left out, and an exit status that says whether the reading `failed`. */
static void print_total_line(struct reading *reading, bool failed) {
    uint64_t left_out = bad_sum_records(&reading->bad) + reading->bad.of[BAD_FILE];
    if (reading->rules.min_features > 0) left_out += reading->few_count;
    output_format(&reading->output, "#total\t%" PRIu64 "\t%" PRIu64 "\t%d\n", reading->lines, left_out,
                  failed ? ENDS_BADLY : ENDS_WELL);
}

enum reading_status reading_print(const struct reading_rules *rules, const struct strings *paths) {
    struct reading *reading = reading_open(rules, paths);
    if (reading == NULL) return READING_FAILED;
    const char *recipe = reading_get_recipe(reading);
    const bool is_recipe_printed = recipe != NULL && rules->train == NULL;
    if (is_recipe_printed) output_format(&reading->output, "#recipe\t%s\n", recipe);
    print_all_lines(reading);
    enum reading_status status = end_reading(reading);
    if (is_recipe_printed) print_total_line(reading, status != READING_WELL);
    if (!output_close(&reading->output)) status = READING_FAILED;
    if (status == READING_WELL && rules->train != NULL && !text_table_write(reading->table, rules->train))
        status = READING_FAILED;
    free_reading(reading);
    return status;
}

/* ---- Formats ---- */

void reading_visit_formats(const struct reading_rules *rules, const struct strings *paths, format_visitor visit,
                           void *context) {
    struct documents documents = {
        .format = rules->format, .globs = &rules->globs, .paths = paths, .json = &rules->extract.json};
    documents_visit_formats(&documents, visit, context);
    documents_free(&documents);
}
