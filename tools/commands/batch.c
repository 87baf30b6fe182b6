/* batch.c: `idx batch`: finds the matches of many queries at once, in an index or in a stream of fingerprints. */
#include "tools/answers/answers.h"
#include "tools/input/input.h"
#include "tools/input/passing.h"
#include "tools/shared/array.h"
#include "tools/shared/progress.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char *const method_names[] = {"auto", "probe", "sweep", "stream", NULL};

/* This byte precedes each query's ID in `ids`, so that an empty ID differs from none. */
enum { ID_PREFIX = '\t' };

struct batch {
    struct idx_batch_options options;
    struct question question;
    struct strings operands;
    int method, format, notation; /* A method or notation of -1 is not given. */
    bool streams, disk, unpacked, partial, progress_forced;
    unsigned bits; /* 0: not given. */
    const char *part_text;
    struct progress progress;

    /* Queries. */
    uint64_t *fingerprints;
    size_t count, capacity, id_end_capacity; /* Capacities of `fingerprints` and of `id_ends`. */
    struct output ids; /* Of all queries, each behind ID_PREFIX; with --stream, as they are printed. */
    size_t *id_ends;   /* Where the ID of each query ends in `ids`. */
    char *recipe;      /* The recipe of the queries; NULL: not known. */

    /* Answers. */
    struct answerer answerer;
    struct output output;
    size_t last_query;      /* The number of the query whose matches were printed last; SIZE_MAX: none. */
    uint64_t printed_count; /* How many of its matches were printed. */
    struct idx_stream *stream;
    struct idx_error error;
};

/* ---- Arguments ---- */

/* Reads the command line. Returns false after --help, or after a mistake, of which it complains; then *status is the
 * status of the process. */
static bool read_batch_arguments(int argc, char **argv, struct batch *batch, int *status) {
    struct idx_batch_options *options = &batch->options;
    struct question *question = &batch->question;
    const struct option_rule rules[] = {
#include "options/batch.h" /* the rules made of batch.txt; they set *batch, *options and *question */
    };
    const struct grammar grammar = GRAMMAR(batch, rules, NULL, 0, SIZE_MAX);
    if (!arguments_read(&grammar, argc, argv, &batch->operands, status)) return false;
    if (batch->operands.count == 0) return complain_of_usage("%s is missing", batch->streams ? "QUERIES" : "INDEX");
    question->notation = batch->notation < 0 ? NOTATION_HEX : (enum notation)batch->notation;
    if (batch->method >= 0) options->method = (enum idx_batch_method)batch->method;
    return true;
}

/* ---- Queries ---- */

/* Appends a query to `fingerprints`, and its ID, if any, to `ids`. Complains and returns false if memory ran out. */
static bool append_query(struct batch *batch, const struct tsv_record *record) {
    if (!array_grow(&batch->fingerprints, &batch->capacity, batch->count, sizeof *batch->fingerprints) ||
        !array_grow(&batch->id_ends, &batch->id_end_capacity, batch->count, sizeof *batch->id_ends))
        return complain("out of memory for the queries");
    if (record->id != NULL && batch->streams) {
        output_id(&batch->ids, record->id, record->id_length);
    } else if (record->id != NULL) {
        output_byte(&batch->ids, ID_PREFIX);
        output_bytes(&batch->ids, record->id, record->id_length);
    }
    batch->fingerprints[batch->count] = record->fingerprint;
    batch->id_ends[batch->count++] = batch->ids.length;
    return batch->ids.error == 0 || complain("out of memory for the queries");
}

/* Copies the recipe that the queries state, if any, to batch->recipe. Complains and returns false if memory runs out
 * or it does not match `index_recipe`, that of the index, which is NULL or "" if not known. */
static bool copy_and_check_recipe(struct batch *batch, const struct input *input, const char *index_recipe) {
    bool warned = false;
    if (input->recipe == NULL) return true;
    batch->recipe = strdup(input->recipe);
    if (batch->recipe == NULL) return complain("out of memory");
    if (index_recipe == NULL || *index_recipe == '\0' ||
        recipes_match(index_recipe, input->recipe, strlen(input->recipe), &warned))
        return true;
    struct problem problem;
    recipes_explain_difference(&problem, RECIPE_OF_INDEX, index_recipe, input->recipe, strlen(input->recipe));
    return complain("%s", problem.sentence);
}

/* Reads all queries of the files at `paths`, as fingerprints of `bits` bits. Their recipe must match `index_recipe`,
 * that of the index, which is NULL or "" if not known. Returns false after a complaint or a signal. */
static bool read_queries(struct batch *batch, struct strings paths, unsigned bits, const char *index_recipe) {
    struct input input = {
        .paths = paths, .format = (enum input_format)batch->format, .partial = batch->partial, .reader = READER_INIT};
    const struct tsv_record *records;
    size_t count;
    bool ok = true;
    if (!input_wait_and_resolve_format(&input.paths, &input.format)) return false;
    input.rules = (struct tsv_rules){bits, batch->question.notation, TSV_ID_OPTIONAL};
    enum input_status status = input_find_recipe(&input);
    if (status == INPUT_DOCUMENTS || status == INPUT_END) ok = copy_and_check_recipe(batch, &input, index_recipe);
    while (ok && (status = input_read_records(&input, &records, &count)) == INPUT_DOCUMENTS) {
        for (size_t i = 0; i < count && ok; i++) ok = append_query(batch, &records[i]);
    }
    input_free(&input);
    return ok && status == INPUT_END;
}

/* ---- In an index ---- */

/* Returns the query with this number, from 0, with the ID that it has in the input, if any, which is not copied. */
static struct query get_query(const struct batch *batch, size_t number) {
    size_t id_begin = number == 0 ? 0 : batch->id_ends[number - 1], length = batch->id_ends[number] - id_begin;
    struct query query = {.fingerprint = batch->fingerprints[number], .id_length = length > 0 ? length - 1 : 0};
    if (length > 0) query.id = batch->ids.bytes + id_begin + 1; /* Behind ID_PREFIX. */
    return query;
}

/* Prints matches of query `number`, up to --limit, or with --exists only that there are any. The library may pass the
 * matches of a query in several calls, one after the other. Returns false to stop: after a complaint, for which
 * error.status is set, a failure of the output or a signal. This is an idx_batch_visitor, whose context is
 * a struct batch. */
static bool print_matches(void *context, size_t number, const struct idx_match *matches, size_t count) {
    struct batch *batch = context;
    struct query query = get_query(batch, number);
    bool is_first_call = number != batch->last_query;
    uint64_t limit = batch->question.limit;
    if (is_first_call) batch->printed_count = 0;
    batch->last_query = number;
    if (batch->question.exists && !is_first_call) return true;
    if (count > limit - batch->printed_count) count = (size_t)(limit - batch->printed_count);
    batch->printed_count += count;
    if (count == 0) return true;
    if (!answerer_print_matches(&batch->answerer, &query, matches, count, &batch->output)) {
        complain("%s", batch->answerer.error.sentence);
        batch->error.status = batch->answerer.error.status;
        return false;
    }
    return batch->output.error == 0 && !interrupt_is_noted();
}

/* Subtracts `used_bytes`, those of the unpacked tables, from *budget, the bytes that --memory allows, but leaves
 * IDX_MIN_MEMORY_BYTES, which the library needs. 0 stands for the default, and is not changed. */
static void subtract_from_budget(uint64_t *budget, uint64_t used_bytes) {
    if (*budget == 0) return;
    *budget = *budget > used_bytes + IDX_MIN_MEMORY_BYTES ? *budget - used_bytes : IDX_MIN_MEMORY_BYTES;
}

/* Opens the index for the method of --method, and checks the distance, which is the k of the index if -k is not given.
 * Complains and returns false if the index can't be opened, or if the method can't find matches at this distance. The
 * caller sets *index to NULL before, and closes it in any case. */
static bool open_index_and_check_distance(struct batch *batch, struct idx_index **index) {
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    struct question *question = &batch->question;
    const char *path = batch->operands.values[0];
    if (batch->disk) options.residence = IDX_RESIDENCE_DISK;
    if (batch->unpacked) options.residence = IDX_RESIDENCE_UNPACKED;
    if (batch->unpacked) options.distance = batch->options.distance;
    options.threads = batch->options.threads;
    options.memory_bytes = batch->options.memory_bytes;
    if (!succeeded(idx_open(index, path, &options, &batch->error), &batch->error)) return false;
    idx_get_properties(*index, &question->properties);
    question->index = *index;
    if (batch->unpacked) subtract_from_budget(&batch->options.memory_bytes, question->properties.resident_bytes);
    if (batch->options.distance == UINT_MAX) batch->options.distance = question->properties.k;
    bool limited_by_k =
        batch->options.method == IDX_BATCH_SWEEP || (batch->options.method == IDX_BATCH_PROBE && !batch->unpacked);
    if (!limited_by_k || batch->options.distance <= question->properties.k) return true;
    return complain("-k %u is more than the %u that %s was built for; omit --method, or give --method stream",
                    batch->options.distance, question->properties.k, path);
}

/* Reads the queries, and prints their matches in the index. Returns false after a complaint, a failure of the output or
 * a signal. */
static bool read_and_answer_queries(struct batch *batch, const struct idx_index *index) {
    struct strings paths = {batch->operands.values + 1, batch->operands.count - 1};
    const struct idx_properties *properties = &batch->question.properties;
    if (!read_queries(batch, paths, properties->bits, properties->recipe)) return false;
    batch->error.status = IDX_OK;
    enum idx_status status =
        idx_batch(index, batch->fingerprints, batch->count, &batch->options, print_matches, batch, &batch->error);
    progress_end(&batch->progress);
    return succeeded(status, &batch->error) && batch->error.status == IDX_OK;
}

/* Opens the index, and answers all queries from it. Returns false after a complaint, a failure of the output or a
 * signal. */
static bool answer_by_index(struct batch *batch) {
    struct idx_index *index = NULL;
    answerer_init(&batch->answerer, &batch->question);
    bool ok = open_index_and_check_distance(batch, &index) && read_and_answer_queries(batch, index);
    answerer_free(&batch->answerer);
    idx_close(index);
    return ok;
}

/* ---- As a stream ---- */

/* Sets the part of the source by the argument of --part, I/N, if it is given. Complains and returns false if it is
 * wrong. */
static bool parse_part_option(struct batch *batch, struct fingerprint_source *source) {
    const char *text = batch->part_text, *slash = text == NULL ? NULL : strchr(text, '/');
    uint64_t part, count;
    if (text == NULL) return true;
    if (slash == NULL || !number_parse_digits(text, (size_t)(slash - text), &part) ||
        !number_parse_digits(slash + 1, strlen(slash + 1), &count) || part < 1 || part > count || count > UINT32_MAX)
        return complain_of_usage("--part needs I/N, from 1/N to N/N, not '%s'", text);
    source->part = (uint32_t)(part - 1);
    source->part_count = (uint32_t)count;
    return true;
}

/* Passes fingerprints to the stream. Sets `error` and returns false if the library fails. This is a
 * fingerprint_visitor, whose context is a struct batch. */
static bool add_to_stream(void *context, const uint64_t *fingerprints, size_t count) {
    struct batch *batch = context;
    return idx_stream_add(batch->stream, fingerprints, count, &batch->error) == IDX_OK;
}

/* Compares all fingerprints of the source with the queries, and prints the matches to the output of *answers, of which
 * `output` and `bits` must be set. Returns false after a complaint, a failure of the output, or a signal. */
static bool compare_source(struct batch *batch, struct fingerprint_source *source, struct stream_answers *answers) {
    if (!stream_answers_begin(answers, batch->fingerprints, &batch->count, &batch->ids, batch->id_ends))
        return complain("out of memory for the queries");
    batch->error.status = IDX_OK;
    if (!succeeded(idx_stream_open(&batch->stream, batch->fingerprints, batch->count, batch->bits, &batch->options,
                                   &batch->error),
                   &batch->error))
        return false;
    bool ok = visit_source_fingerprints(source, add_to_stream, batch) &&
              idx_stream_finish(batch->stream, stream_answers_print_or_store, answers, &batch->error) == IDX_OK;
    if (ok && !answers->failed) stream_answers_print_stored(answers);
    progress_end(&batch->progress);
    succeeded(batch->error.status, &batch->error); /* Complains if the stream failed. */
    if (answers->failed) complain("out of memory for the matches of the queries that share an ID");
    idx_stream_close(batch->stream);
    return ok && !answers->failed;
}

/* Completes the bits, the rules of the source and the distance, whose default is min(3, bits - 1). If the source is an
 * index, sets *index_recipe to its recipe. Complains and returns false if --bits is not that of the index, or if the
 * distance is too large. */
static bool complete_stream_options(struct batch *batch, struct fingerprint_source *source, const char **index_recipe) {
    struct idx_properties properties;
    if (source->index == NULL) {
        if (batch->bits == 0) batch->bits = IDX_MAX_BITS;
    } else {
        idx_get_properties(source->index, &properties);
        *index_recipe = properties.recipe;
        if (batch->bits != 0 && batch->bits != properties.bits)
            return complain("--bits %u differs from the %u bits of the index; omit it", batch->bits, properties.bits);
        batch->bits = properties.bits;
    }
    source->rules = (struct tsv_rules){batch->bits, NOTATION_HEX, TSV_ID_IGNORED};
    if (batch->options.distance == UINT_MAX) batch->options.distance = batch->bits > 3 ? 3 : batch->bits - 1;
    if (batch->options.distance <= IDX_MAX_K) return true;
    return complain("-k %u is more than the maximum, %d", batch->options.distance, IDX_MAX_K);
}

/* Returns whether one of the inputs is standard input, which is the only input if there are no paths. */
static bool has_standard_input(struct strings paths) {
    for (size_t i = 0; i < paths.count; i++) {
        if (strcmp(paths.values[i], "-") == 0) return true;
    }
    return paths.count == 0;
}

/* Reads the queries, and compares them with the fingerprints of the other inputs, or of an index. Returns false after a
 * complaint, a failure of the output, or a signal. */
static bool answer_by_stream(struct batch *batch) {
    struct strings query_paths = {batch->operands.values, 1};
    struct fingerprint_source source = {.paths = {batch->operands.values + 1, batch->operands.count - 1},
                                        .format = (enum input_format)batch->format,
                                        .partial = batch->partial};
    const char *index_recipe = NULL;
    if (strcmp(query_paths.values[0], "-") == 0 && has_standard_input(source.paths))
        return complain_of_usage("QUERIES and FINGERPRINTS can't both be standard input");
    bool ok = parse_part_option(batch, &source) && open_fingerprint_source(&source) &&
              complete_stream_options(batch, &source, &index_recipe) &&
              read_queries(batch, query_paths, batch->bits, index_recipe);
    source.recipe = batch->recipe;
    struct stream_answers answers = {.output = &batch->output, .bits = batch->bits};
    ok = ok && compare_source(batch, &source, &answers);
    batch->answerer.found = answers.found;
    stream_answers_free(&answers);
    close_fingerprint_source(&source);
    return ok;
}

/* Runs `idx batch`. Returns ENDS_WELL if a query had a match, ENDS_WITHOUT if none had, and ENDS_BADLY after an
 * error. */
int command_batch(int argc, char **argv) {
    struct batch batch = {.options = IDX_BATCH_OPTIONS_INIT,
                          .question = {.limit = UINT64_MAX, .max_documents = UINT64_MAX},
                          .method = -1,
                          .notation = -1,
                          .ids = OUTPUT_BUFFER,
                          .output = OUTPUT_STANDARD,
                          .last_query = SIZE_MAX};
    int status;
    batch.options.threads = arguments_get_default_threads();
    batch.options.progress = progress_visit;
    batch.options.context = &batch.progress;
    if (!read_batch_arguments(argc, argv, &batch, &status)) return status;
    progress_start(&batch.progress, batch.progress_forced);
    interrupt_catch();
    bool ok = batch.streams ? answer_by_stream(&batch) : answer_by_index(&batch);
    bool written = output_close(&batch.output);
    free(batch.fingerprints);
    free(batch.id_ends);
    free(batch.ids.bytes);
    free(batch.recipe);
    interrupt_end_process();
    if (!ok || !written) return ENDS_BADLY;
    return batch.answerer.found ? ENDS_WELL : ENDS_WITHOUT;
}
