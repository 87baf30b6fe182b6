/* lookup.c: `idx lookup`: prints the fingerprints of an index that are near to the queries, and their documents. */
#include "tools/answers/answers.h"
#include "tools/resemblance/texts.h"

#include <limits.h>
#include <string.h>

struct lookup {
    const char *path;
    struct question question;
    struct queries queries;
    int format, notation;
    unsigned distance; /* UINT_MAX: not given. */
    unsigned threads;
    bool disk, unpacked, refresh;
    int64_t threshold;       /* That of --resemble, in units of 1/IDX_THRESHOLD_ONE; 0: not given. */
    uint64_t max_candidates; /* UINT64_MAX: not given. */
    struct idx_index *index; /* The view that is open. */
    bool found;              /* A text that was looked up by resemblance had a match. */
};

/* Complains and returns false if --documents or --agree is given with an option that has no effect beside it. */
static bool check_answer_options(const struct lookup *lookup) {
    const struct question *question = &lookup->question;
    const bool has_limits = question->exists || question->limit != UINT64_MAX || question->max_documents != UINT64_MAX;
    if (question->texts != NULL && (question->exists || question->agree > 0))
        return complain_of_usage("--documents has no effect with --exists and --agree; omit it");
    return question->agree == 0 || !has_limits ||
           complain_of_usage("--agree counts all matches; omit --exists, --limit and --max-documents");
}

/* Reads the command line. Returns false after --help, or after a mistake, of which it complains; then *status is the
 * status of the process. */
static bool read_lookup_arguments(int argc, char **argv, struct lookup *lookup, int *status) {
    struct question *question = &lookup->question;
    struct strings operands;
    const struct option_rule rules[] = {
#include "options/lookup.h" /* the rules made of lookup.txt; they set *lookup and *question */
    };
    const struct grammar grammar = GRAMMAR(lookup, rules, "INDEX", 1, SIZE_MAX);
    if (!arguments_read(&grammar, argc, argv, &operands, status)) return false;
    lookup->path = operands.values[0];
    lookup->queries.fingerprints = (struct strings){operands.values + 1, operands.count - 1};
    question->json = lookup->format == PRINTS_JSON;
    question->notation = (enum notation)lookup->notation;
    if (!check_answer_options(lookup)) return false;
    extract_complete_rules(&lookup->queries.extract);
    question->extract = &lookup->queries.extract;
    lookup->queries.lists_shingles = question->texts != NULL;
    return true;
}

/* Sets the view that is open to `index`, and what the question and the queries need of it; further queries use it.
 * Closes the view before, if that is another. */
static void use_view(struct lookup *lookup, struct idx_index *index) {
    struct question *question = &lookup->question;
    struct queries *queries = &lookup->queries;
    if (index != lookup->index) idx_close(lookup->index);
    lookup->index = index;
    question->index = queries->index = index;
    idx_get_properties(index, &question->properties);
    queries->rules.bits = question->properties.bits;
    queries->rules.notation = question->notation;
    queries->recipe = question->properties.recipe;
    queries->id_type = question->properties.id_type;
}

/* Returns the largest distance of look-ups in an index with these properties: its k, or with --unpacked, -k if that is
 * larger. */
static unsigned get_max_distance(const struct lookup *lookup, const struct idx_properties *properties) {
    bool unpacked_for_more = lookup->unpacked && lookup->distance != UINT_MAX && lookup->distance > properties->k;
    return unpacked_for_more ? lookup->distance : properties->k;
}

/* Returns whether there are texts to look up by resemblance: the index has sets, or --resemble is given. */
static bool looks_up_by_resemblance(const struct lookup *lookup) {
    return lookup->queries.texts.count > 0 && (lookup->question.properties.sketch > 0 || lookup->threshold > 0);
}

/* Opens the index, and sets the distance. Complains and returns false if it can't be opened, if it can't answer the
 * question, or if options are not for queries of this kind. The caller closes lookup->index in any case. */
static bool open_index_and_check_question(struct lookup *lookup) {
    struct question *question = &lookup->question;
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    struct idx_error error;
    bool has_queries = lookup->queries.fingerprints.count + lookup->queries.texts.count + lookup->queries.ids.count > 0;
    /* For the few queries of arguments, loading directories takes longer than it saves. */
    options.residence = has_queries ? IDX_RESIDENCE_NONE : IDX_RESIDENCE_DIRECTORY;
    if (lookup->disk) options.residence = IDX_RESIDENCE_DISK;
    if (lookup->unpacked) options.residence = IDX_RESIDENCE_UNPACKED;
    if (lookup->unpacked) options.distance = lookup->distance;
    options.threads = lookup->threads;
    if (!succeeded(idx_open(&lookup->index, lookup->path, &options, &error), &error)) return false;
    use_view(lookup, lookup->index);
    if (!arguments_fit_input(looks_up_by_resemblance(lookup) ? "texts" : "fingerprints")) return false;
    question->distance = lookup->distance == UINT_MAX ? question->properties.k : lookup->distance;
    if (question->distance > get_max_distance(lookup, &question->properties))
        return complain(
            "-k %u is more than the %u that %s was built for; give --unpacked, build it with that -k, or look up "
            "with -k %u or less",
            question->distance, question->properties.k, lookup->path, question->properties.k);
    if (lookup->queries.texts.count > 0 && question->agree == 0 && !looks_up_by_resemblance(lookup) &&
        recipe_read(question->properties.recipe).method == IDX_RECIPE_MINHASH)
        complain("%s has sketches of texts without their sets: what it finds has a value in common with the text, and "
                 "may resemble it or not; --agree says how many values, and idx build --resemble makes an index that "
                 "has the sets",
                 lookup->path);
    if (question->texts != NULL && question->properties.id_type != IDX_ID_TEXT)
        return complain("--documents finds texts by document IDs, and %s has no text IDs; omit it", lookup->path);
    if (question->agree > 0 && question->properties.id_type == IDX_ID_NONE)
        return complain("--agree counts by document, but %s has no document IDs; build it without --id-type none",
                        lookup->path);
    return true;
}

/* Returns whether a newer index answers the same queries as the older one that it replaced, in the same form. */
static bool answers_same_queries(const struct idx_properties *older, const struct idx_properties *newer) {
    const char *older_recipe = older->recipe == NULL ? "" : older->recipe;
    const char *newer_recipe = newer->recipe == NULL ? "" : newer->recipe;
    return older->bits == newer->bits && older->id_type == newer->id_type && strcmp(older_recipe, newer_recipe) == 0;
}

/* Uses a newer view if the index has changed, and closes the cursors of `batch` on the older one first. Complains and
 * returns false if that fails, or if a new index can't answer the same queries. */
static bool refresh_index(struct lookup *lookup, struct query_batch *batch) {
    struct question *question = &lookup->question;
    struct idx_properties properties;
    struct idx_index *newer;
    struct idx_error error;
    if (!succeeded(idx_refresh(lookup->index, &newer, &error), &error)) return false;
    if (newer == NULL) return true;
    idx_get_properties(newer, &properties);
    bool is_alike = answers_same_queries(&question->properties, &properties) &&
                    question->distance <= get_max_distance(lookup, &properties);
    if (!is_alike) {
        idx_close(newer);
        return complain(
            "%s was replaced by an index with different bits, ID type or recipe, or a smaller k; run the look-up again",
            lookup->path);
    }
    query_batch_close_documents(batch);
    use_view(lookup, newer);
    return true;
}

/* Adds queries to the batch until it is full: waits for the first one, and reads others as long as it need not wait.
 * Returns QUERIES_ONE if the batch is full, QUERIES_FAILED after a complaint if memory ran out, or else the status with
 * which queries_read_next returned no query. */
static enum queries_status gather_queries(struct queries *queries, struct query_batch *batch) {
    struct query query;
    enum queries_status status = queries_read_next(queries, true, &query);
    while (status == QUERIES_ONE) {
        if (!query_batch_add(batch, &query)) {
            complain("out of memory for the queries");
            return QUERIES_FAILED;
        }
        if (query_batch_is_full(batch)) break;
        status = queries_read_next(queries, false, &query);
    }
    return status;
}

/* Answers the queries of the batch, and empties it. With --agree, writes the documents of all groups that are complete.
 * If the library fails, sets *error and returns false; the answers to the queries before are written. */
static bool answer_batch(struct query_batch *batch, struct agree *agree, struct output *output,
                         struct idx_error *error) {
    if (agree->question->agree == 0) return query_batch_answer(batch, output, error);
    bool ok = query_batch_answer(batch, &agree->records, error);
    agree_count_records(agree, output);
    return ok;
}

/* Answers all queries, batch by batch, and sets *found_match to whether there was a match. Returns QUERIES_END if all
 * were answered, QUERIES_BAD if one is bad, of which the caller complains, and QUERIES_FAILED after a complaint. If the
 * output failed, returns any status. */
static enum queries_status answer_batches(struct lookup *lookup, struct output *output, bool *found_match) {
    struct query_batch *batch = query_batch_new(&lookup->question, lookup->threads);
    struct agree agree = AGREE_INIT(&lookup->question);
    enum queries_status status = QUERIES_FAILED;
    struct idx_error error;
    if (batch == NULL) {
        complain("out of memory for %u threads", lookup->threads);
        return QUERIES_FAILED;
    }
    do {
        status = gather_queries(&lookup->queries, batch);
        if (lookup->refresh && !refresh_index(lookup, batch)) {
            status = QUERIES_FAILED;
            break;
        }
        bool ok = answer_batch(batch, &agree, output, &error);
        output_flush(output);
        if (!ok) {
            complain("%s", error.sentence);
            status = QUERIES_FAILED;
        }
    } while ((status == QUERIES_ONE || status == QUERIES_PENDING) && output->error == 0);
    if (status == QUERIES_END || status == QUERIES_BAD) agree_write_group(&agree, output);
    *found_match = lookup->question.agree > 0 ? agree.found : query_batch_has_match(batch);
    agree_free(&agree);
    query_batch_free(batch);
    return status;
}

/* Answers all queries. Returns the status of the process: ENDS_WITHOUT if none has a match. */
static int answer_all_queries(struct lookup *lookup) {
    struct output output = OUTPUT_STANDARD;
    bool found = false;
    enum queries_status status = answer_batches(lookup, &output, &found);
    bool written = output_close(&output);
    if (status == QUERIES_BAD) queries_complain_of_bad_query(&lookup->queries);
    if (!written || status != QUERIES_END) return ENDS_BADLY;
    return found ? ENDS_WELL : ENDS_WITHOUT;
}

/* ---- Texts, by resemblance ---- */

/* Writes a row: the ID of a text and, without --exists, a document of `lists` that resembles it. */
static void write_match_row(const struct lookup *lookup, struct output *output, const struct idx_item *text,
                            const struct idx_resembling_lists *lists, const struct idx_resembling_document *document) {
    struct rows rows = {.output = output, .json = lookup->question.json};
    row_begin(&rows);
    row_write_id(&rows, "query", text->id, text->id_length);
    if (!lookup->question.exists) row_write_resembling(&rows, lists, document, lookup->question.properties.id_type);
    row_end(&rows);
}

/* Looks up the texts that were gathered, and writes a row for each match; with --exists, one for each text that has a
 * match. Complains and returns false if the library fails. */
static bool answer_gathered_texts(struct lookup *lookup, struct resembling_texts *texts) {
    struct idx_resembling_lists lists;
    struct idx_error error;
    if (!succeeded(idx_list_resembling(lookup->index, texts->sets, texts->count, &texts->options, &lists, &error),
                   &error))
        return false;
    for (size_t i = 0; i < texts->count && texts->output.error == 0; i++) {
        for (int64_t j = lists.offsets[i]; j < lists.offsets[i + 1]; j++)
            write_match_row(lookup, &texts->output, &texts->items[i], &lists, &lists.documents[j]);
        lookup->found |= lists.offsets[i] < lists.offsets[i + 1];
    }
    texts->unread += lists.unread;
    idx_resembling_lists_close(&lists);
    return true;
}

/* Looks up all texts by resemblance, and writes their rows. Returns the status of the process: ENDS_WITHOUT if no text
 * has a match. */
static int answer_all_texts(struct lookup *lookup) {
    static struct resembling_texts texts; /* Too large for the stack. */
    const struct question *question = &lookup->question;
    struct reading_rules rules = {.extract = lookup->queries.extract,
                                  .globs = lookup->queries.globs,
                                  .threads = lookup->threads,
                                  .memory_bytes = READING_MEMORY_BYTES};
    texts = (struct resembling_texts){
        .path = lookup->path, .options = IDX_RESEMBLING_OPTIONS_INIT, .output = OUTPUT_STANDARD};
    texts.options.threshold = lookup->threshold;
    texts.options.threads = lookup->threads;
    texts.options.limit = question->exists ? 1 : question->limit;
    texts.options.max_candidates = lookup->max_candidates;
    bool ok = resembling_texts_open(&texts, &question->properties, &rules, &lookup->queries.texts);
    while (ok && resembling_texts_read_next(&texts)) ok = answer_gathered_texts(lookup, &texts);
    if (!resembling_texts_close(&texts) || !ok) return ENDS_BADLY;
    return lookup->found ? ENDS_WELL : ENDS_WITHOUT;
}

/* Opens the index, answers the queries, and closes both. Returns the status of the process. */
static int open_index_and_look_up(struct lookup *lookup) {
    int status = ENDS_BADLY;
    bool opened = open_index_and_check_question(lookup);
    if (opened && looks_up_by_resemblance(lookup)) {
        status = answer_all_texts(lookup);
    } else if (opened) {
        if (queries_open(&lookup->queries)) status = answer_all_queries(lookup);
        queries_close(&lookup->queries);
    }
    idx_close(lookup->index);
    return status;
}

/* Runs `idx lookup`. Returns ENDS_WELL if a query had a match, ENDS_WITHOUT if none had, and ENDS_BADLY after an
 * error. */
int command_lookup(int argc, char **argv) {
    struct lookup lookup = {.question = {.limit = UINT64_MAX, .max_documents = UINT64_MAX},
                            .queries.extract.json.text = "text",
                            .distance = UINT_MAX,
                            .notation = NOTATION_HEX,
                            .threads = 1,
                            .max_candidates = UINT64_MAX};
    int status;
    if (read_lookup_arguments(argc, argv, &lookup, &status)) status = open_index_and_look_up(&lookup);
    strings_free(&lookup.queries.texts);
    strings_free(&lookup.queries.extract.json.texts);
    strings_free(&lookup.queries.ids);
    globs_free(&lookup.queries.globs);
    return status;
}
