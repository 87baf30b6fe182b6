/* add.c: `idx add`: adds documents or texts to an index, either all or only those that have no near-duplicate in it. */
#include "tools/documents/text_options.h"
#include "tools/input/index_making.h"
#include "tools/resemblance/texts.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

struct add {
    struct update update;
    int format, notation; /* A notation of -1 is not given. */
    bool if_new, has_first_id;
    struct text_options texts;
    int64_t threshold;                             /* That of --resemble; 0: not given. */
    unsigned distance;                             /* UINT_MAX: not given. */
    uint64_t limit, max_documents, max_candidates; /* UINT64_MAX: not given. */
    uint64_t first_id;                             /* 0 unless `has_first_id`. */
    uint64_t added_count, near_count;              /* How many documents of all batches were added and left out. */

    /* These are used with --if-new alone. */
    const struct idx_index *view;      /* That of the writer after the batch. */
    struct idx_documents *cursor;      /* Of the view, opened at the batch's first match; NULL before. */
    struct idx_match_lists near_lists; /* What each document of the batch was near to. */
    struct output output;
    struct idx_error error; /* Of the library, if a function that adds or writes fails. */
};

/* ---- Arguments ---- */

/* Sets the format of the input, which is lines or arrays, and the notation of fingerprints. Complains and returns false
 * if the inputs have different formats, or if an option is not for theirs. --fingerprints is checked here, not by the
 * table of options: with --if-new, it is also for the answers, whatever the input. */
static bool choose_format(struct add *add) {
    if (add->format > INPUT_NPY)
        return complain_of_usage("%s has fingerprints, and --format is for texts", add->update.path);
    add->update.input.format = (enum input_format)add->format;
    add->update.input.rules.notation = add->notation < 0 ? NOTATION_HEX : (enum notation)add->notation;
    if (!input_resolve_format(&add->update.input.paths, &add->update.input.format)) return false;
    const char *format = input_format_names[add->update.input.format];
    if (add->update.input.format != INPUT_TSV && add->notation >= 0 && !add->if_new)
        return complain_of_usage("--fingerprints is for tsv, not for %s", format);
    return arguments_fit_input(format);
}

/* Reads the command line. Returns false after --help, or after a mistake, of which it complains; then *status is the
 * status of the process. */
static bool read_add_arguments(int argc, char **argv, struct add *add, int *status) {
    struct text_options *texts = &add->texts;
    struct strings operands;
    const struct option_rule rules[] = {
#include "options/add.h" /* the rules made of add.txt; they set *add and *texts */
    };
    const struct grammar grammar = GRAMMAR(add, rules, "INDEX", 1, SIZE_MAX);
    if (!arguments_read(&grammar, argc, argv, &operands, status)) return false;
    add->update.path = operands.values[0];
    add->update.input.paths = (struct strings){operands.values + 1, operands.count - 1};
    return true;
}

/* ---- Answers ---- */

/* Writes a fingerprint in the notation of --fingerprints. */
static void write_fingerprint(struct rows *rows, const struct add *add, uint64_t fingerprint) {
    const struct update *update = &add->update;
    row_write_fingerprint(rows, NULL, update->input.rules.notation, update->properties.bits, fingerprint);
}

/* Writes the ID of a document of the batch or, in an index without IDs, its fingerprint. */
static void write_document_name(struct rows *rows, const struct add *add, const struct idx_item *item) {
    const enum idx_id_type id_type = add->update.properties.id_type;
    const struct idx_document document = {item->number, id_type == IDX_ID_TEXT ? item->id : NULL, item->id_length};
    if (id_type == IDX_ID_NONE)
        write_fingerprint(rows, add, item->fingerprint);
    else
        row_write_document_id(rows, NULL, &document);
}

/* Writes the fingerprint of a match and its distance. */
static void write_match_columns(struct rows *rows, const struct add *add, const struct idx_match *match) {
    write_fingerprint(rows, add, match->fingerprint);
    row_write_number(rows, NULL, match->distance);
}

/* Writes a match once for each of its documents, up to max_documents: its columns, and then the document. Sets `error`
 * and returns false if the library fails. */
static bool write_match_with_documents(struct rows *rows, struct add *add, const struct idx_match *match) {
    struct idx_document document;
    bool found;
    if (add->cursor == NULL && idx_documents_open(&add->cursor, add->view, &add->error) != IDX_OK) return false;
    if (idx_documents_find(add->cursor, match->fingerprint, NULL, &add->error) != IDX_OK) return false;
    for (uint64_t i = 0; i < add->max_documents && add->output.error == 0; i++) {
        if (idx_documents_next(add->cursor, &document, &found, &add->error) != IDX_OK) return false;
        if (!found) break;
        write_match_columns(rows, add, match);
        row_write_document_id(rows, NULL, &document);
    }
    return true;
}

/* Writes a match once for each of its documents or, if the index keeps none, once with an empty column for them. Sets
 * `error` and returns false if the library fails. */
static bool write_match(struct rows *rows, struct add *add, const struct idx_match *match) {
    if (add->update.properties.id_type != IDX_ID_NONE) return write_match_with_documents(rows, add, match);
    write_match_columns(rows, add, match);
    row_write_word(rows, NULL, "");
    return true;
}

/* Writes the row of document `number` of the batch, from 0: its name, whether it was added, and what it is near to.
 * Sets `error` and returns false if the library fails. */
static bool write_document_answer(struct add *add, size_t number) {
    const struct idx_match_lists *lists = &add->near_lists;
    struct rows rows = {.output = &add->output};
    write_document_name(&rows, add, &add->update.items[number]);
    row_write_word(&rows, NULL, lists->counts[number] == 0 ? "added" : "near");
    for (int64_t i = lists->offsets[number]; i < lists->offsets[number + 1] && add->output.error == 0; i++) {
        if (!write_match(&rows, add, &lists->matches[i])) return false;
    }
    row_end(&rows);
    return true;
}

/* Writes the rows of the batch's documents, and flushes the output. Sets `error` and returns false if the library
 * fails; returns false also if the output failed. */
static bool write_batch_answers(struct add *add) {
    bool ok = true;
    add->view = idx_writer_view(add->update.writer);
    for (size_t i = 0; i < add->update.item_count && ok; i++) ok = write_document_answer(add, i);
    idx_documents_close(add->cursor);
    add->cursor = NULL;
    return output_flush(&add->output) && ok;
}

/* ---- The whole ---- */

/* Counts which documents of the batch were added, and with --if-new, which were left out. */
static void count_added_and_near(struct add *add) {
    for (size_t i = 0; i < add->update.item_count; i++) {
        bool is_near = add->if_new && add->near_lists.counts[i] > 0;
        add->near_count += is_near;
        add->added_count += !is_near;
    }
}

/* Adds the documents of the batch. With --if-new, adds only those that are near to no document of the index or of the
 * batch before them, and sets near_lists, which the caller closes. Returns the library's status, and sets `error` if it
 * is not IDX_OK. */
static enum idx_status add_items_of_batch(struct add *add) {
    struct idx_match_lists_options options = IDX_MATCH_LISTS_OPTIONS_INIT;
    const struct update *update = &add->update;
    if (!add->if_new) return idx_writer_add(update->writer, update->items, update->item_count, &add->error);
    options.distance = add->distance;
    options.max_matches = add->limit;
    return idx_writer_check_and_add(update->writer, update->items, update->item_count, &options, &add->near_lists,
                                    &add->error);
}

/* Adds --first-id to the numbers of rows in the batch, if the input is arrays and IDs are integers. Complains and
 * returns false if a sum is 2^64 or more; only the rows before it stay in the batch then, so that they are added all
 * the same. */
static bool renumber_rows_from_first_id(struct add *add) {
    struct update *update = &add->update;
    if (update->input.format == INPUT_TSV || update->properties.id_type != IDX_ID_U64) return true;
    for (size_t i = 0; i < update->item_count; i++) {
        uint64_t row = update->items[i].number;
        if (!__builtin_add_overflow(row, add->first_id, &update->items[i].number)) continue;
        update->item_count = i;
        return complain("row %" PRIu64 " (counted from 0 over all inputs) has no ID: counted from --first-id %" PRIu64
                        ", it would be above 2^64 - 1",
                        row, add->first_id);
    }
    return true;
}

/* Adds the documents of the batch, counts them, and with --if-new prints an answer for each. Returns false after a
 * complaint, or if the output failed. */
static bool add_batch(struct add *add) {
    struct update *update = &add->update;
    if (update->item_count == 0) return true;
    add->error = (struct idx_error){.status = IDX_OK};
    bool ok = add_items_of_batch(add) == IDX_OK;
    if (ok) count_added_and_near(add);
    ok = ok && (!add->if_new || write_batch_answers(add));
    idx_match_lists_close(&add->near_lists);
    if (!ok && add->output.error == 0) complain("%s", add->error.sentence);
    return ok;
}

/* Sets the distance to the k of the index if -k is not given. Complains and returns false if -k is larger than that. */
static bool complete_distance(struct add *add) {
    unsigned max_distance = add->update.properties.k;
    if (add->distance == UINT_MAX) add->distance = max_distance;
    if (add->distance <= max_distance) return true;
    return complain("-k %u is more than the %u that %s was built for; give %u or less", add->distance, max_distance,
                    add->update.path, max_distance);
}

/* Adds the documents of all inputs, lines or arrays, batch by batch. Returns false after a complaint, a failure of the
 * output or a signal; what was read before is added. */
static bool add_documents_of_inputs(struct add *add) {
    enum input_status status;
    if (!choose_format(add) || !update_set_rules_and_check_files(&add->update) || !complete_distance(add)) return false;
    do {
        status = update_gather_batch(&add->update);
        bool are_numbered = renumber_rows_from_first_id(add);
        if (!add_batch(add) || !are_numbered) return false;
    } while (status == INPUT_DOCUMENTS);
    return status == INPUT_END;
}

/* ---- Texts ---- */

/* Writes the row of gathered text `number`, from 0, with the documents of `lists` that it resembles, and counts the
 * text as near, or as added if there are none. A text without shingles is neither. */
static void write_and_count_text_answer(struct add *add, struct resembling_texts *texts, size_t number,
                                        const struct idx_resembling_lists *lists) {
    const bool is_empty = texts->sets[number].count == 0, is_near = lists->offsets[number] < lists->offsets[number + 1];
    const char *near_or_added = is_near ? "near" : "added";
    struct rows rows = {.output = &texts->output};
    write_document_name(&rows, add, &texts->items[number]);
    row_write_word(&rows, NULL, is_empty ? "empty" : near_or_added);
    add->near_count += is_near;
    add->added_count += !is_near && !is_empty;
    for (int64_t i = lists->offsets[number]; i < lists->offsets[number + 1]; i++)
        row_write_resembling(&rows, lists, &lists->documents[i], texts->id_type);
    row_end(&rows);
}

/* Adds the texts that were gathered, and counts them; with --if-new, adds only those that resemble none, and writes an
 * answer for each. Complains and returns false if the library fails. */
static bool add_gathered_texts(struct add *add, struct resembling_texts *texts) {
    struct idx_writer *writer = add->update.writer;
    struct idx_resembling_lists lists;
    struct idx_error error;
    if (!add->if_new) {
        if (!succeeded(idx_writer_add_texts(writer, texts->items, texts->sets, texts->count, &error), &error))
            return false;
        for (size_t i = 0; i < texts->count; i++) add->added_count += texts->sets[i].count > 0;
        return true;
    }
    if (!succeeded(
            idx_writer_add_unlike(writer, texts->items, texts->sets, texts->count, &texts->options, &lists, &error),
            &error))
        return false;
    for (size_t i = 0; i < texts->count; i++) write_and_count_text_answer(add, texts, i, &lists);
    texts->unread += lists.unread;
    idx_resembling_lists_close(&lists);
    return true;
}

/* Adds the texts of all inputs. Returns false after a complaint, a failure of the output or a signal. */
static bool add_texts_of_inputs(struct add *add) {
    static struct resembling_texts texts; /* Too large for the stack. */
    const struct idx_properties *properties = &add->update.properties;
    if (!arguments_fit_input("texts")) return false;
    texts = (struct resembling_texts){.path = add->update.path,
                                      .options = IDX_RESEMBLING_OPTIONS_INIT,
                                      .id_type = properties->id_type,
                                      .output = OUTPUT_STANDARD};
    texts.options.threshold = add->threshold;
    texts.options.limit = add->limit;
    texts.options.max_candidates = add->max_candidates;
    texts.options.threads = add->texts.rules.threads = add->update.threads;
    bool ok = complete_text_options_for_format(&add->texts, add->format) &&
              resembling_texts_open(&texts, properties, &add->texts.rules, &add->update.input.paths);
    while (ok && resembling_texts_read_next(&texts)) ok = add_gathered_texts(add, &texts);
    return resembling_texts_close(&texts) && ok;
}

/* ---- The command ---- */

/* Writes a message with how many documents were added and left out. If both are 0 and the command failed (`ok` is
 * false), writes none. */
static void say_added(const struct add *add, bool ok) {
    if (!ok && add->added_count + add->near_count == 0) return;
    const char *noun = choose_noun(&add->update.properties, add->added_count);
    char near_clause[96] = "";
    if (add->near_count > 0)
        snprintf(near_clause, sizeof near_clause, ", left out %" PRIu64 " near-duplicate%s", add->near_count,
                 add->near_count == 1 ? "" : "s");
    complain("added %" PRIu64 " %s to %s%s", add->added_count, noun, add->update.path, near_clause);
}

/* Opens the index, and adds the inputs to it: as texts if it has texts or --resemble is given, or else as fingerprints.
 * Returns the status of the process. */
static int add_to_index(struct add *add) {
    struct update *update = &add->update;
    bool ok = update_open_writer(update);
    bool has_texts = add->threshold > 0 || (ok && update->properties.sketch > 0);
    ok = ok && (has_texts ? add_texts_of_inputs(add) : add_documents_of_inputs(add));
    ok = output_close(&add->output) && ok;
    if (update->writer != NULL) say_added(add, ok);
    update_close(update);
    return ok ? ENDS_WELL : ENDS_BADLY;
}

/* Runs `idx add`. Returns ENDS_WELL once all inputs were read and added, or else ENDS_BADLY. */
int command_add(int argc, char **argv) {
    static struct add add; /* Too large for the stack. */
    int status;
    add = (struct add){.update = {.adds_documents = true, .compact_records = UINT64_MAX, .threads = 1},
                       .notation = -1,
                       .distance = UINT_MAX,
                       .limit = UINT64_MAX,
                       .max_documents = UINT64_MAX,
                       .max_candidates = UINT64_MAX,
                       .output = OUTPUT_STANDARD};
    text_options_init(&add.texts);
    if (read_add_arguments(argc, argv, &add, &status)) {
        interrupt_catch();
        status = add_to_index(&add);
    }
    text_options_free(&add.texts);
    interrupt_end_process();
    return status;
}
