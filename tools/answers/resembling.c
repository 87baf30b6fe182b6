/* resembling.c: reads texts, and prints the documents of an index of sketches that resemble them. */
#include "tools/answers/resembling.h"

#include "tools/shared/folder.h"
#include "tools/shared/json.h"
#include "tools/shared/scratch.h"
#include "tools/text/resembling.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- The sets of documents ---- */

/* A frame is written for so many hashes. */
enum { FRAME_HASHES = 1 << 20 };

bool set_keeping_add(void *context, const struct raw_document *raw, const struct made *made) {
    struct set_keeping *keeping = context;
    const struct idx_item item = {.id = made->id.bytes, .id_length = made->id.length};
    const struct idx_set set = {made->shingles, made->shingle_count};
    struct idx_error error;
    if (raw->bad.kind != BAD_NONE || made->shingle_count == 0) return true;
    keeping->hashes += made->shingle_count;
    bool kept = succeeded(idx_kept_sets_add(keeping->kept, &item, &set, &error), &error);
    if (!kept || keeping->hashes < FRAME_HASHES) return kept;
    keeping->hashes = 0;
    return succeeded(idx_kept_sets_sync(keeping->kept, &error), &error);
}

bool set_file_is_at(const char *path) {
    static const char magic[] = "idx sets";
    char first[sizeof magic - 1];
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) return false;
    FILE *file = fopen(path, "rbe");
    size_t count = file != NULL ? fread(first, 1, sizeof first, file) : 0;
    if (file != NULL) fclose(file);
    return count > 0 && memcmp(first, magic, count) == 0;
}

/* Reads the texts of the file `place` once, and puts their sets into a temporary file, which is source->read, and whose
 * name is removed at once. */
static bool read_texts_as_sets(struct set_source *source, const char *place, struct idx_kept_sets_options *options,
                               const struct pipeline_rules *rules) {
    const struct strings path = {(char **)(uintptr_t)&place, 1};
    struct pipeline_rules reading = *rules;
    struct scratch scratch = {0};
    struct set_keeping keeping = {NULL, 0};
    struct idx_error error;
    if (!scratch_open(&scratch, scratch_parent(NULL), "$TMPDIR")) return false;
    char *sets = scratch_path(&scratch, "sets");
    options->writes = true;
    bool ok = (sets != NULL || complain("out of memory")) && open_kept_sets(&keeping.kept, sets, options);
    source->read = keeping.kept;
    scratch_remove(&scratch);
    free(sets);
    reading.recipe = text_default_recipe;
    reading.expected_recipe = NULL;
    reading.bits = IDX_MAX_BITS;
    reading.visit = set_keeping_add;
    reading.makes = MAKES_SHINGLES;
    reading.shingling = source->shingling;
    reading.context = &keeping;
    return ok && pipeline_run(&reading, &path) == PIPELINE_WELL &&
           succeeded(idx_kept_sets_sync(keeping.kept, &error), &error);
}

bool set_source_open(struct set_source *source, const char *place, const struct idx_index *index,
                     const struct pipeline_rules *rules) {
    struct idx_kept_sets_options options = IDX_KEPT_SETS_OPTIONS_INIT;
    struct idx_properties properties;
    idx_get_properties(index, &properties);
    source->shingling = (struct shingling){source->sketch.width, source->sketch.by_characters, false};
    source->list = (struct output)OUTPUT_KEPT;
    if (place == NULL) return true;
    options.shingles = source->sketch.shingles;
    options.index = index;
    if (folder_is_at(place)) {
        source->folder = place;
        if (properties.id_type != IDX_ID_TEXT)
            return complain("%s: texts in a folder are found by text IDs, which the index has not", place);
        return text_reader_open(&source->reader, NULL, NULL, IDX_MAX_BITS, &rules->extract);
    }
    if (rules != NULL && !set_file_is_at(place)) return read_texts_as_sets(source, place, &options, rules);
    return open_kept_sets(&source->kept, place, &options);
}

/* Finds a document's set in a file, where integer IDs are decimal text. Leaves *set if `kept` is NULL or lacks it. */
static enum idx_status find_by_id(struct idx_kept_sets *kept, const struct idx_document *document, struct idx_set *set,
                                  struct idx_error *error) {
    char digits[24];
    struct idx_document named = *document;
    if (kept == NULL) return IDX_OK;
    if (document->id == NULL) {
        named.id = digits;
        named.id_length = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, document->number);
    }
    return idx_kept_sets_find(kept, &named, set, error);
}

enum idx_status set_source_find(void *context, const struct idx_document *document, struct idx_set *set,
                                struct idx_error *error) {
    struct set_source *source = context;
    enum idx_status status = find_by_id(source->kept, document, set, error);
    if (status == IDX_OK && set->hashes == NULL) status = find_by_id(source->read, document, set, error);
    if (status != IDX_OK || set->hashes != NULL || source->folder == NULL) return status;
    source->list.length = 0;
    enum file_set found = resembling_list_shingles(&source->reader, source->folder, &source->shingling,
                                                   (struct span){document->id, document->id_length}, &source->list);
    if (found == FILE_SET_NO_MEMORY) {
        *error = (struct idx_error){.status = IDX_OUT_OF_MEMORY, .sentence = "out of memory for a text"};
        return IDX_OUT_OF_MEMORY;
    }
    if (found == FILE_SET_FOUND && source->list.bytes != NULL)
        *set = (struct idx_set){(const uint64_t *)(const void *)source->list.bytes,
                                source->list.length / sizeof(uint64_t)};
    return IDX_OK;
}

void set_source_close(struct set_source *source) {
    idx_kept_sets_close(source->kept);
    idx_kept_sets_close(source->read);
    if (source->folder != NULL) text_reader_close(&source->reader);
    free(source->list.bytes);
}

/* ---- Texts that are answered together ---- */

bool set_batch_add(struct set_batch *batch, const struct made *made) {
    output_bytes(&batch->ids, made->id.bytes, made->id.length);
    output_bytes(&batch->hashes, made->shingles, made->shingle_count * sizeof *made->shingles);
    batch->id_ends[batch->count] = batch->ids.length;
    batch->set_ends[batch->count++] = batch->hashes.length / sizeof *made->shingles;
    return batch->ids.error == 0 && batch->hashes.error == 0;
}

bool set_batch_is_full(const struct set_batch *batch) {
    return batch->count == RESEMBLING_TEXTS || batch->hashes.length >= RESEMBLING_BYTES;
}

void set_batch_make_items(struct set_batch *batch) {
    const uint64_t *hashes = (const uint64_t *)(const void *)batch->hashes.bytes;
    size_t id = 0, hash = 0;
    for (size_t i = 0; i < batch->count; i++) {
        batch->items[i] = (struct idx_item){.id = batch->ids.bytes == NULL ? "" : batch->ids.bytes + id,
                                            .id_length = batch->id_ends[i] - id};
        batch->sets[i] = (struct idx_set){hashes == NULL ? NULL : hashes + hash, batch->set_ends[i] - hash};
        id = batch->id_ends[i];
        hash = batch->set_ends[i];
    }
}

void set_batch_empty(struct set_batch *batch) { batch->count = batch->ids.length = batch->hashes.length = 0; }

void set_batch_free(struct set_batch *batch) {
    free(batch->ids.bytes);
    free(batch->hashes.bytes);
}

/* ---- Answers ---- */

void put_resemblance_of(struct output *output, const struct idx_resembling_document *found) {
    output_format(output, "%.4f", resemblance_round((double)found->shared / (double)found->total));
}

void put_resembling_document(struct output *output, const struct idx_resembling_lists *lists,
                             const struct idx_resembling_document *found, enum idx_id_type id_type, unsigned estimates,
                             bool json) {
    const struct idx_document document = {found->number, id_type == IDX_ID_TEXT ? lists->ids + found->id : NULL,
                                          found->id_length};
    double share = (double)found->shared / (double)found->total;
    bool exact = found->total < estimates; /* Both sketches have all shingles. */
    output_text(output, json ? "\"resemblance\":" : "");
    put_resemblance_of(output, found);
    if (estimates > 0)
        output_format(output, json ? ",\"error\":%.4f" : "\t%.4f",
                      exact ? 0 : sqrt(share * (1 - share) / (double)found->total));
    output_text(output, json ? ",\"document\":" : "\t");
    if (json)
        put_json_id(output, &document);
    else
        put_document_id(output, &document);
}

/* An index that is asked, and the texts that were read and are not answered yet. */
struct answering {
    struct resembling_question *question;
    struct set_source source;
    struct set_batch batch;
    struct output output;
    uint64_t unread, unknown;
    bool found, failed;
};

/* Writes a line: the ID of a text, and behind it a document that resembles it, unless `found` is NULL. */
static void put_line(struct answering *answering, const struct idx_item *query,
                     const struct idx_resembling_lists *lists, const struct idx_resembling_document *found) {
    const struct resembling_question *question = answering->question;
    struct output *output = &answering->output;
    bool json = question->json;
    output_text(output, json ? "{\"query\":" : "");
    if (json)
        json_put_bytes(output, query->id, query->id_length);
    else
        output_id(output, query->id, query->id_length);
    if (found != NULL) {
        output_byte(output, json ? ',' : '\t');
        put_resembling_document(output, lists, found, question->properties.id_type,
                                question->place == NULL ? question->options.sketch : 0, json);
    }
    output_text(output, json ? "}\n" : "\n");
}

/* Writes the lines of the texts of the batch; with `exists`, one without a document for each text that has any. */
static void put_answers(struct answering *answering, const struct idx_resembling_lists *lists) {
    const struct set_batch *batch = &answering->batch;
    for (size_t i = 0; i < batch->count && answering->output.error == 0; i++) {
        int64_t begin = lists->offsets[i], end = lists->offsets[i + 1];
        if (begin == end) continue;
        answering->found = true;
        if (answering->question->exists)
            put_line(answering, &batch->items[i], lists, NULL);
        else
            for (int64_t at = begin; at < end; at++)
                put_line(answering, &batch->items[i], lists, &lists->documents[at]);
    }
}

/* Answers the texts of the batch, and empties it. Sets `failed` after a complaint, or if output fails. Returns whether
 * nothing has failed so far. */
static bool answer_batch(void *context) {
    struct answering *answering = context;
    struct resembling_question *question = answering->question;
    struct idx_resembling_lists lists;
    struct idx_error error;
    if (answering->batch.count == 0 || answering->failed) return !answering->failed;
    set_batch_make_items(&answering->batch);
    bool ok = succeeded(idx_resembling_make(question->index, answering->batch.sets, answering->batch.count,
                                            &question->options, &lists, &error),
                        &error);
    if (ok) {
        put_answers(answering, &lists);
        answering->unread += lists.unread;
        answering->unknown += lists.unknown;
        idx_resembling_free(&lists);
    }
    answering->failed = !output_flush(&answering->output) || !ok;
    set_batch_empty(&answering->batch);
    return !answering->failed;
}

/* Adds a text to the batch, which is answered once it is full. Bad records are left out. This is a made_visitor. */
static bool take_text(void *context, const struct raw_document *raw, const struct made *made) {
    struct answering *answering = context;
    if (raw->bad.kind != BAD_NONE) return !answering->failed;
    if (!set_batch_add(&answering->batch, made)) {
        answering->failed = true;
        return complain("out of memory for the texts");
    }
    if (set_batch_is_full(&answering->batch)) answer_batch(answering);
    return !answering->failed;
}

/* ---- The whole ---- */

/* From so many values on, an estimate of 0.8 has a standard error of 0.05: the root of 0.8 * 0.2 / values. */
enum { VALUES_OF_ESTIMATES = 64 };

bool resembling_can_answer(const struct idx_properties *properties, const char *option, const char *index,
                           bool has_sets, struct sketch *sketch, char reason[RESEMBLING_REASON]) {
    *reason = '\0';
    if (!recipe_read_sketch(properties->recipe, sketch))
        snprintf(reason, RESEMBLING_REASON,
                 "%s needs an index of sketches, and %s has the recipe '%s'; make one by idx fingerprint --resemble",
                 option, index, properties->recipe);
    else if (!has_sets && sketch->values < VALUES_OF_ESTIMATES)
        snprintf(reason, RESEMBLING_REASON,
                 "%s has sketches of %u values, by which a resemblance of 0.8 is estimated with an error of %.2f: "
                 "give the texts with --documents, or make an index by minhash:%d",
                 index, sketch->values, sqrt(0.16 / sketch->values), VALUES_OF_ESTIMATES);
    else if (!has_sets && !properties->by_id)
        snprintf(reason, RESEMBLING_REASON,
                 "without texts, %s needs the sketch of each document, which an index has that was built with --by-id; "
                 "build %s so, or give the texts with --documents",
                 option, index);
    return *reason == '\0';
}

double resembling_miss_probability(const struct sketch *sketch, int64_t threshold) {
    return pow(1 - (double)threshold / (double)IDX_DECIMAL_WEIGHT_ONE, sketch->values);
}

void resembling_warn_of_misses(const char *path, const struct sketch *sketch, int64_t threshold) {
    if (idx_sketch_values(threshold) > sketch->values)
        complain(
            "%s has sketches of %u values: of documents that resemble a text by just that much, up to one in %.0f is "
            "missed",
            path, sketch->values, floor(1 / resembling_miss_probability(sketch, threshold)));
}

void resembling_say_counts(uint64_t unread, uint64_t unknown) {
    if (unread > 0)
        complain("%" PRIu64
                 " documents were not looked at, since more have a value of their text than --max-candidates "
                 "allows",
                 unread);
    if (unknown > 0)
        complain("%" PRIu64 " %s no text in --documents, and so %s as not resembling the text that was looked up",
                 unknown, unknown == 1 ? "candidate has" : "candidates have", unknown == 1 ? "counts" : "count");
}

/* Checks that the index can answer by resemblance, and opens the sets of its documents. */
static bool open_answering(struct answering *answering) {
    struct resembling_question *question = answering->question;
    struct idx_resembling_options *options = &question->options;
    struct sketch *sketch = &answering->source.sketch;
    char reason[RESEMBLING_REASON];
    bool has_sets = question->place != NULL;
    if (!resembling_can_answer(&question->properties, "--resemble", question->path, has_sets, sketch, reason))
        return complain("%s", reason);
    resembling_warn_of_misses(question->path, sketch, options->threshold);
    options->sketch = sketch->values;
    options->source = has_sets ? set_source_find : NULL;
    options->context = &answering->source;
    return set_source_open(&answering->source, question->place, question->index, &question->rules);
}

bool resembling_answer(struct resembling_question *question, const struct strings *paths, bool *found) {
    struct answering *answering = calloc(1, sizeof *answering);
    if (answering == NULL) return complain("out of memory");
    answering->question = question;
    answering->batch.ids = answering->batch.hashes = answering->source.list = (struct output)OUTPUT_KEPT;
    answering->output = (struct output)OUTPUT_STANDARD;
    bool ok = open_answering(answering);
    if (ok) {
        struct pipeline_rules *rules = &question->rules;
        rules->recipe = rules->expected_recipe = question->properties.recipe;
        rules->bits = IDX_MAX_BITS;
        rules->visit = take_text;
        rules->before_wait = answer_batch;
        rules->makes = MAKES_SHINGLES;
        rules->shingling = answering->source.shingling;
        rules->context = answering;
        ok = pipeline_run(rules, paths) == PIPELINE_WELL;
        answer_batch(answering);
        resembling_say_counts(answering->unread, answering->unknown);
    }
    *found = answering->found;
    ok = output_close(&answering->output) && ok && !answering->failed;
    set_source_close(&answering->source);
    set_batch_free(&answering->batch);
    free(answering);
    return ok;
}
