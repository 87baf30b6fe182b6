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

/* Before each query's ID in `ids`, which tells an empty ID from none. */
enum { ID_MARK = '\t' };

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
    size_t count, capacity, id_end_capacity;
    struct output ids; /* Of all queries, each behind ID_MARK; with --stream, as they are printed. */
    size_t *id_ends;   /* Where the ID of each query ends in `ids`. */
    char *recipe;      /* The recipe of the queries; NULL: not known. */

    /* Answers. */
    struct answerer answerer;
    struct output output;
    size_t last;      /* The query that was answered last. */
    uint64_t printed; /* How many of its matches were printed. */
    struct idx_stream *stream;
    struct idx_error error;
};

/* ---- Arguments ---- */

/* Reads the command line. Sets *status and returns false if the command ends after that. */
static bool read_batch_arguments(int argc, char **argv, struct batch *batch, int *status) {
    struct idx_batch_options *options = &batch->options;
    struct question *question = &batch->question;
    const struct option_rule rules[] = {
#include "options/batch.h" /* the rules that the build makes of batch.txt */
    };
    const struct grammar grammar = GRAMMAR(batch, rules, NULL, 0, SIZE_MAX);
    if (!arguments_read(&grammar, argc, argv, &batch->operands, status)) return false;
    if (batch->operands.count == 0) return complain_of_usage("%s is missing", batch->streams ? "QUERIES" : "INDEX");
    question->notation = batch->notation < 0 ? NOTATION_HEX : (enum notation)batch->notation;
    if (batch->method >= 0) options->method = (enum idx_batch_method)batch->method;
    return true;
}

/* ---- Queries ---- */

/* Appends a query, and its ID if it has one. Complains and returns false if memory ran out. */
static bool add_query(struct batch *batch, const struct tsv_record *record) {
    if (!array_grow(&batch->fingerprints, &batch->capacity, batch->count, sizeof *batch->fingerprints) ||
        !array_grow(&batch->id_ends, &batch->id_end_capacity, batch->count, sizeof *batch->id_ends))
        return complain("out of memory for the queries");
    if (record->id != NULL && batch->streams) {
        output_id(&batch->ids, record->id, record->id_length);
    } else if (record->id != NULL) {
        output_byte(&batch->ids, ID_MARK);
        output_bytes(&batch->ids, record->id, record->id_length);
    }
    batch->fingerprints[batch->count] = record->fingerprint;
    batch->id_ends[batch->count++] = batch->ids.length;
    return batch->ids.error == 0 || complain("out of memory for the queries");
}

/* Keeps the recipe that the queries state, if any. Complains and returns false if it does not match `required`, that of
 * the index; NULL or "": not known. */
static bool keep_recipe(struct batch *batch, const struct input *input, const char *required) {
    bool warned = false;
    if (input->recipe == NULL) return true;
    batch->recipe = strdup(input->recipe);
    if (required == NULL || *required == '\0' || recipes_match(required, input->recipe, strlen(input->recipe), &warned))
        return true;
    struct problem problem;
    recipes_explain_difference(&problem, RECIPE_OF_INDEX, required, input->recipe, strlen(input->recipe));
    return complain("%s", problem.sentence);
}

/* Reads all queries of the paths, as fingerprints of `bits` bits. `index_recipe` is that of the index, which theirs
 * must match; NULL or "": not known. Returns false after a complaint or a signal. */
static bool read_queries(struct batch *batch, struct strings paths, unsigned bits, const char *index_recipe) {
    struct input input = {
        .paths = paths, .format = (enum input_format)batch->format, .partial = batch->partial, .reader = READER_INIT};
    const struct tsv_record *records;
    size_t count;
    bool ok = true;
    if (!input_wait_and_resolve_format(&input.paths, &input.format)) return false;
    input.rules = (struct tsv_rules){bits, batch->question.notation, TSV_ID_OPTIONAL};
    enum input_status status = input_find_recipe(&input);
    if (status == INPUT_DOCUMENTS || status == INPUT_END) ok = keep_recipe(batch, &input, index_recipe);
    while (ok && (status = input_read_records(&input, &records, &count)) == INPUT_DOCUMENTS) {
        for (size_t i = 0; i < count && ok; i++) ok = add_query(batch, &records[i]);
    }
    input_free(&input);
    return ok && status == INPUT_END;
}

/* ---- In an index ---- */

/* Returns the query with this number, from 0, and the ID that it has in the input, if any. */
static struct query get_query(const struct batch *batch, size_t number) {
    size_t id_begin = number == 0 ? 0 : batch->id_ends[number - 1], length = batch->id_ends[number] - id_begin;
    if (length == 0) return (struct query){batch->fingerprints[number], NULL, 0, {NULL, 0}};
    return (struct query){batch->fingerprints[number], batch->ids.bytes + id_begin + 1, length - 1, {NULL, 0}};
}

/* Prints matches of a query, which may come in several calls: up to --limit, and with --exists only that there are any.
 * Returns false to stop. This is an idx_batch_visitor. */
static bool print_matches(void *context, size_t number, const struct idx_match *matches, size_t count) {
    struct batch *batch = context;
    struct query query = get_query(batch, number);
    bool is_first_call = number != batch->last;
    uint64_t limit = batch->question.limit;
    if (is_first_call) batch->printed = 0;
    batch->last = number;
    if (batch->question.exists && !is_first_call) return true;
    if (count > limit - batch->printed) count = (size_t)(limit - batch->printed);
    batch->printed += count;
    if (count == 0) return true;
    if (!answerer_print_matches(&batch->answerer, &query, matches, count, &batch->output)) {
        complain("%s", batch->answerer.error.sentence);
        batch->error.status = batch->answerer.error.status;
        return false;
    }
    return batch->output.error == 0 && !interrupt_is_noted();
}

/* Subtracts what the unpacked tables take, in bytes, from the memory that --memory allows, but leaves the least that
 * the library needs. With 0, which is for the default, does nothing. */
static void subtract_from_memory(uint64_t *memory, uint64_t taken_bytes) {
    if (*memory == 0) return;
    *memory = *memory > taken_bytes + IDX_MIN_MEMORY_BYTES ? *memory - taken_bytes : IDX_MIN_MEMORY_BYTES;
}

/* Opens the index for the method that is asked for, and checks the distance. Complains and returns false if it can't be
 * opened, or if the method can't find matches at this distance. The caller closes *index in any case. */
static bool open_index(struct batch *batch, struct idx_index **index) {
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
    if (batch->unpacked) subtract_from_memory(&batch->options.memory_bytes, question->properties.resident_bytes);
    if (batch->options.distance == UINT_MAX) batch->options.distance = question->properties.k;
    bool by_tables =
        batch->options.method == IDX_BATCH_SWEEP || (batch->options.method == IDX_BATCH_PROBE && !batch->unpacked);
    if (!by_tables || batch->options.distance <= question->properties.k) return true;
    return complain("-k %u is more than the %u that %s was built for; omit --method, or give --method stream",
                    batch->options.distance, question->properties.k, path);
}

/* Reads the queries and prints their matches. Returns false also if a signal was noted. */
static bool answer_from_index(struct batch *batch, const struct idx_index *index) {
    struct strings paths = {batch->operands.values + 1, batch->operands.count - 1};
    const struct idx_properties *properties = &batch->question.properties;
    if (!read_queries(batch, paths, properties->bits, properties->recipe)) return false;
    batch->error.status = IDX_OK;
    enum idx_status status =
        idx_batch(index, batch->fingerprints, batch->count, &batch->options, print_matches, batch, &batch->error);
    progress_end(&batch->progress);
    return succeeded(status, &batch->error) && batch->error.status == IDX_OK;
}

/* Opens the index, and answers all queries from it. Returns false also if a signal was noted. */
static bool run_with_index(struct batch *batch) {
    struct idx_index *index = NULL;
    answerer_init(&batch->answerer, &batch->question);
    bool ok = open_index(batch, &index) && answer_from_index(batch, index);
    answerer_free(&batch->answerer);
    idx_close(index);
    return ok;
}

/* ---- As a stream ---- */

/* Reads the argument of --part, if it is given. Complains and returns false if it is none. The library counts parts in
 * 32 bits, so that there are at most UINT32_MAX. */
static bool parse_part(struct batch *batch, struct fingerprint_source *source) {
    const char *text = batch->part_text, *slash = text == NULL ? NULL : strchr(text, '/');
    uint64_t part, parts;
    if (text == NULL) return true;
    if (slash == NULL || !number_parse_digits(text, (size_t)(slash - text), &part) ||
        !number_parse_digits(slash + 1, strlen(slash + 1), &parts) || part < 1 || part > parts || parts > UINT32_MAX)
        return complain_of_usage("--part needs I/N, from 1/N to N/N, not '%s'", text);
    source->part = (uint32_t)(part - 1);
    source->parts = (uint32_t)parts;
    return true;
}

/* Hands fingerprints to the stream. Sets `error` and returns false if that fails. This is a fingerprint_visitor. */
static bool add_to_stream(void *context, const uint64_t *fingerprints, size_t count) {
    struct batch *batch = context;
    return idx_stream_add(batch->stream, fingerprints, count, &batch->error) == IDX_OK;
}

/* Passes all fingerprints by the queries, and prints the matches. Returns false after a complaint, a failure of the
 * output, or a signal. */
static bool answer_from_stream(struct batch *batch, struct fingerprint_source *source, struct stream_answers *answers) {
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

/* Sets what was not given: bits and *recipe are those of the index, if the fingerprints are from one. Complains and
 * returns false if the bits or the distance can't be. */
static bool complete_stream_options(struct batch *batch, struct fingerprint_source *source, const char **recipe) {
    struct idx_properties properties;
    if (source->index == NULL) {
        if (batch->bits == 0) batch->bits = IDX_MAX_BITS;
    } else {
        idx_get_properties(source->index, &properties);
        *recipe = properties.recipe;
        if (batch->bits != 0 && batch->bits != properties.bits)
            return complain("--bits %u differs from the %u bits of the index; omit it", batch->bits, properties.bits);
        batch->bits = properties.bits;
    }
    source->rules = (struct tsv_rules){batch->bits, NOTATION_HEX, TSV_ID_IGNORED};
    if (batch->options.distance == UINT_MAX) batch->options.distance = batch->bits > 3 ? 3 : batch->bits - 1;
    if (batch->options.distance <= IDX_MAX_K) return true;
    return complain("-k %u is more than the maximum, %d", batch->options.distance, IDX_MAX_K);
}

/* Returns whether one of the inputs is standard input; without paths, that is the only one. */
static bool has_standard_input(struct strings paths) {
    for (size_t i = 0; i < paths.count; i++) {
        if (strcmp(paths.values[i], "-") == 0) return true;
    }
    return paths.count == 0;
}

/* Reads the queries, and passes the fingerprints of the other inputs, or of an index, by them. Returns false after a
 * complaint, a failure of the output, or a signal. */
static bool run_with_stream(struct batch *batch) {
    struct strings query_paths = {batch->operands.values, 1};
    struct fingerprint_source source = {.paths = {batch->operands.values + 1, batch->operands.count - 1},
                                        .format = (enum input_format)batch->format,
                                        .partial = batch->partial};
    const char *index_recipe = NULL;
    if (strcmp(query_paths.values[0], "-") == 0 && has_standard_input(source.paths))
        return complain_of_usage("QUERIES and FINGERPRINTS can't both be standard input");
    bool ok = parse_part(batch, &source) && open_fingerprint_source(&source) &&
              complete_stream_options(batch, &source, &index_recipe) &&
              read_queries(batch, query_paths, batch->bits, index_recipe);
    source.recipe = batch->recipe;
    struct stream_answers answers = {.output = &batch->output, .bits = batch->bits};
    ok = ok && answer_from_stream(batch, &source, &answers);
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
                          .last = SIZE_MAX};
    int status;
    batch.options.threads = arguments_get_default_threads();
    batch.options.progress = progress_visit;
    batch.options.context = &batch.progress;
    if (!read_batch_arguments(argc, argv, &batch, &status)) return status;
    progress_start(&batch.progress, batch.progress_forced);
    interrupt_catch();
    bool ok = batch.streams ? run_with_stream(&batch) : run_with_index(&batch);
    bool written = output_close(&batch.output);
    free(batch.fingerprints);
    free(batch.id_ends);
    free(batch.ids.bytes);
    free(batch.recipe);
    interrupt_obey();
    if (!ok || !written) return ENDS_BADLY;
    return batch.answerer.found ? ENDS_WELL : ENDS_WITHOUT;
}
