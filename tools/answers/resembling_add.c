/* resembling_add.c: adds the texts that resemble none of an index of sketches, for `idx add --if-new --resemble`. */
#include "tools/answers/resembling.h"

#include "tools/input/index_making.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A writer, and the texts that were read and are not answered yet. */
struct adding {
    struct resembling_addition *addition;
    struct idx_writer *writer;
    struct idx_properties properties;
    struct idx_resembling_options options;
    struct set_source source;
    struct set_batch batch;
    struct output output;
    uint64_t unread, unknown;
    bool failed;
};

/* ---- Answers ---- */

/* Prints the answer to one text of the batch, with the documents that it resembles, and counts whether it was added or
 * left out. One without shingles is neither. */
static void put_answer(struct adding *adding, size_t text, const struct idx_resembling_lists *lists) {
    const struct idx_item *item = &adding->batch.items[text];
    struct output *output = &adding->output;
    bool is_empty = adding->batch.sets[text].count == 0, is_text = adding->properties.id_type == IDX_ID_TEXT;
    int64_t begin = lists->offsets[text], end = lists->offsets[text + 1];
    output_id(output, item->id, item->id_length);
    if (is_empty) {
        output_text(output, "\tempty");
    } else if (begin == end) {
        output_text(output, "\tadded");
        adding->addition->added++;
    } else {
        output_text(output, "\tnear");
        adding->addition->near++;
    }
    for (int64_t i = begin; i < end; i++) {
        const struct idx_resembling_document *found = &lists->documents[i];
        const struct idx_document document = {found->number, is_text ? lists->ids + found->id : NULL, found->id_length};
        output_byte(output, '\t');
        put_resemblance_of(output, found);
        output_byte(output, '\t');
        put_document_id(output, &document);
    }
    output_byte(output, '\n');
}

/* Sets the texts' numbers from their IDs, if the index has integer IDs, and cuts the leading zeros of these off: a set
 * is found by the digits of its number alone. Complains of the first ID that is no number, and keeps the texts before
 * it. */
static bool parse_integer_ids(struct adding *adding) {
    struct set_batch *batch = &adding->batch;
    if (adding->properties.id_type == IDX_ID_TEXT) return true;
    for (size_t i = 0; i < batch->count; i++) {
        struct idx_item *item = &batch->items[i];
        if (!making_set_id(item, adding->properties.id_type, item->id, item->id_length)) {
            batch->count = i;
            return false;
        }
        for (const char *id = item->id; item->id_length > 1 && *id == '0'; item->id_length--) item->id = ++id;
    }
    return true;
}

/* Adds and answers the texts of the batch, and empties it. Sets `failed` after a complaint, or if output fails. Returns
 * whether nothing has failed so far. */
static bool answer_batch(void *context) {
    struct adding *adding = context;
    struct idx_resembling_lists lists;
    struct idx_error error;
    if (adding->batch.count == 0 || adding->failed) return !adding->failed;
    set_batch_make_items(&adding->batch);
    bool parsed = parse_integer_ids(adding);
    adding->failed =
        !succeeded(idx_writer_add_unlike(adding->writer, adding->source.kept, adding->batch.items, adding->batch.sets,
                                         adding->batch.count, &adding->options, &lists, &error),
                   &error);
    if (adding->failed) return false;
    for (size_t i = 0; i < adding->batch.count; i++) put_answer(adding, i, &lists);
    adding->unread += lists.unread;
    adding->unknown += lists.unknown;
    idx_resembling_free(&lists);
    adding->failed = !output_flush(&adding->output) || !parsed;
    set_batch_empty(&adding->batch);
    return !adding->failed;
}

/* Adds a text to the batch, which is answered once full. Returns false also if a signal was noted. A made_visitor. */
static bool take_text(void *context, const struct raw_document *raw, const struct made *made) {
    struct adding *adding = context;
    if (adding->failed || interrupt_noted()) return false;
    if (raw->bad.kind != BAD_NONE) return true;
    if (!set_batch_add(&adding->batch, made)) {
        adding->failed = true;
        return complain("out of memory for the texts");
    }
    if (set_batch_is_full(&adding->batch)) answer_batch(adding);
    return !adding->failed;
}

/* ---- The whole ---- */

/* Opens the writer, which must be of an index of sketches, the file of sets, which grows, and the folder of texts. */
static bool open_adding(struct adding *adding) {
    const struct resembling_addition *addition = adding->addition;
    struct idx_kept_sets_options keeping = IDX_KEPT_SETS_OPTIONS_INIT;
    struct set_source *source = &adding->source;
    char reason[RESEMBLING_REASON];
    if (!writing_open_writer(&adding->writer, addition->path, addition->compact, addition->rules.threads)) return false;
    idx_get_properties(idx_writer_view(adding->writer), &adding->properties);
    if (!resembling_can_answer(&adding->properties, "--resemble", addition->path, true, &source->sketch, reason))
        return complain("%s", reason);
    resembling_warn_of_misses(addition->path, &source->sketch, addition->threshold);
    if (!set_source_open(source, addition->place, idx_writer_view(adding->writer), &addition->rules)) return false;
    if (source->kept != NULL)
        return complain("%s: give a file of sets by --keep-sets, and texts here", addition->place);
    keeping.shingles = source->sketch.shingles;
    keeping.writes = true;
    keeping.index = idx_writer_view(adding->writer);
    return open_kept_sets(&source->kept, addition->sets, &keeping);
}

/* Reads the inputs, and adds and answers their texts. */
static bool run_adding(struct adding *adding, const struct strings *paths) {
    struct resembling_addition *addition = adding->addition;
    struct pipeline_rules *rules = &addition->rules;
    char recipe[IDX_MAX_RECIPE_BYTES + 1]; /* The writer's view, which has it, changes. */
    adding->options = (struct idx_resembling_options)IDX_RESEMBLING_OPTIONS_INIT;
    adding->options.threshold = addition->threshold;
    adding->options.sketch = adding->source.sketch.values;
    adding->options.limit = addition->limit;
    adding->options.max_candidates = addition->max_candidates;
    adding->options.threads = rules->threads;
    adding->options.source = set_source_find;
    adding->options.context = &adding->source;
    snprintf(recipe, sizeof recipe, "%s", adding->properties.recipe);
    rules->recipe = rules->expected_recipe = recipe;
    rules->bits = IDX_MAX_BITS;
    rules->visit = take_text;
    rules->before_wait = answer_batch;
    rules->makes = MAKES_SHINGLES;
    rules->shingling = adding->source.shingling;
    rules->context = adding;
    bool ok = pipeline_run(rules, paths) == PIPELINE_WELL;
    answer_batch(adding);
    resembling_say_counts(adding->unread, adding->unknown);
    return ok && !adding->failed;
}

bool resembling_add(struct resembling_addition *addition, const struct strings *paths) {
    struct adding *adding = calloc(1, sizeof *adding);
    if (adding == NULL) return complain("out of memory");
    adding->addition = addition;
    adding->batch.ids = adding->batch.hashes = adding->source.list = (struct output)OUTPUT_KEPT;
    adding->output = (struct output)OUTPUT_STANDARD;
    bool ok = open_adding(adding) && run_adding(adding, paths);
    ok = output_close(&adding->output) && ok;
    if (adding->writer != NULL)
        complain("added %" PRIu64 " texts to %s, left out %" PRIu64 " that resemble others", addition->added,
                 addition->path, addition->near);
    set_source_close(&adding->source);
    writing_close_writer(adding->writer, addition->path);
    set_batch_free(&adding->batch);
    free(adding);
    return ok;
}
