/* build.c: `idx build`: reads fingerprints or texts, builds an index of them, and publishes it. */
#include "tools/documents/text_options.h"
#include "tools/input/index_making.h"
#include "tools/resemblance/shingling.h"
#include "tools/shared/folder.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct build {
    struct idx_build_options options;
    struct idx_builder *builder;
    struct input input;
    struct text_options texts;
    bool has_texts;        /* The inputs are texts. */
    int64_t threshold;     /* That of --resemble: texts with their sets are added. 0: not given. */
    const char *shingle;   /* The argument of --shingle; NULL: not given. */
    int id_type, notation; /* -1: not given. */
    unsigned k;            /* UINT_MAX: not given. */
    int format;
    bool progress_forced;
    const char *path;            /* That of the new index. */
    char *recipe;                /* That of --recipe, in canonical form. */
    const char *shard_text;      /* I/N, as it was given. */
    uint64_t shard, shard_count; /* The shard, from 0, and how many there are; 0: --shard is not given. */
    uint64_t skipped;            /* How many documents were skipped, since they are of other shards. */
    struct progress progress;
};

/* Reads the command line. Returns false after --help, or after a mistake, of which it complains; then *status is the
 * status of the process. */
static bool read_build_arguments(int argc, char **argv, struct build *build, int *status) {
    struct idx_build_options *options = &build->options;
    struct text_options *texts = &build->texts;
    struct strings operands;
    const struct option_rule rules[] = {
#include "options/build.h" /* the rules made of build.txt; they set *build, *options and *texts */
    };
    const struct grammar grammar = GRAMMAR(build, rules, "OUTPUT", 1, SIZE_MAX);
    if (!arguments_read(&grammar, argc, argv, &operands, status)) return false;
    build->path = operands.values[0];
    build->input.paths = (struct strings){operands.values + 1, operands.count - 1};
    return true;
}

/* Complains and returns false if an option is not for the format of the input. `--id-type text` is checked here, since
 * the table of options says only of whole options which formats they are for. */
static bool check_options_for_format(const struct build *build) {
    const char *format = input_format_names[build->input.format];
    if (build->input.format != INPUT_TSV && build->id_type == IDX_ID_TEXT)
        return complain_of_usage("--id-type text is for tsv; the IDs of %s rows are their numbers", format);
    return arguments_fit_input(format);
}

/* Sets shard and shard_count by --shard, I/N, if it is given. Complains and returns false if it is wrong. */
static bool parse_shard_option(struct build *build) {
    const char *text = build->shard_text, *slash = text == NULL ? NULL : strchr(text, '/');
    uint64_t number;
    if (text == NULL) return true;
    if (slash == NULL || !number_parse_digits(text, (size_t)(slash - text), &number) ||
        !number_parse_digits(slash + 1, strlen(slash + 1), &build->shard_count) || number < 1 ||
        number > build->shard_count)
        return complain_of_usage("--shard needs I/N, from 1/N to N/N, not '%s'", text);
    build->shard = number - 1;
    return true;
}

/* Reading texts may use at most --memory / TEXTS_MEMORY_DIVISOR, and the builder uses the rest. */
enum { TEXTS_MEMORY_DIVISOR = 4 };

/* If --memory is given, divides it between reading texts and the builder: sets memory_bytes of `rules` and `options`.
 * The builder gets at least IDX_MIN_MEMORY_BYTES, which it needs. */
static void divide_memory(struct idx_build_options *options, struct reading_rules *rules) {
    uint64_t bytes = options->memory_bytes, share = bytes / TEXTS_MEMORY_DIVISOR;
    if (bytes == 0) return;
    if (share < rules->memory_bytes) rules->memory_bytes = share;
    options->memory_bytes = bytes - share < IDX_MIN_MEMORY_BYTES ? IDX_MIN_MEMORY_BYTES : bytes - share;
}

/* Returns whether the inputs are texts: --resemble or a --format of texts is given, or an input is a folder. */
static bool inputs_are_texts(const struct build *build) {
    bool found = build->threshold > 0 || build->format > INPUT_NPY;
    for (size_t i = 0; i < build->input.paths.count && !found; i++) found = folder_is_at(build->input.paths.values[i]);
    return found;
}

/* Completes the options of an index of texts with their sets: k, threshold, shingles and sketch. Complains and returns
 * false if --shingle is wrong, or if no sketch fits --resemble. */
static bool complete_set_options(struct build *build) {
    struct idx_build_options *options = &build->options;
    options->k = 0;
    options->threshold = build->threshold;
    return (build->shingle == NULL || shingling_parse_option(build->shingle, &build->texts.rules.shingling)) &&
           text_options_set_sketch_recipe(&build->texts, build->threshold, &options->sketch);
}

/* Checks and completes all options, if the inputs are texts. Complains and returns false if they are wrong. */
static bool complete_options_for_texts(struct build *build) {
    struct idx_build_options *options = &build->options;
    struct reading_rules *rules = &build->texts.rules;
    if (!arguments_fit_input("texts") || !parse_shard_option(build)) return false;
    rules->recipe = build->input.recipe;
    rules->bits = options->bits;
    if (build->threshold > 0 && !complete_set_options(build)) return false;
    divide_memory(options, rules);
    if (build->id_type >= 0) options->id_type = (enum idx_id_type)build->id_type;
    rules->threads = options->threads;
    rules->progress = build->progress_forced;
    return complete_text_options_for_format(&build->texts, build->format);
}

/* Finds out whether the inputs are texts, lines or arrays, for which it may wait for the first bytes, and checks and
 * completes the options for these. Complains and returns false if options are wrong; returns false without a complaint
 * after a signal. */
static bool complete_options_by_format(struct build *build) {
    static const enum tsv_ids ids[] = {TSV_ID_TEXT, TSV_ID_U64, TSV_ID_NONE}; /* In the order of enum idx_id_type. */
    struct input *input = &build->input;
    build->has_texts = inputs_are_texts(build);
    if (build->has_texts) return complete_options_for_texts(build);
    input->format = (enum input_format)build->format;
    if (!input_wait_and_resolve_format(&input->paths, &input->format)) return false;
    if (!check_options_for_format(build) || !parse_shard_option(build)) return false;
    if (build->id_type >= 0)
        build->options.id_type = (enum idx_id_type)build->id_type;
    else if (input->format != INPUT_TSV)
        build->options.id_type = IDX_ID_U64;
    input->rules.bits = build->options.bits;
    input->rules.notation = build->notation < 0 ? NOTATION_HEX : (enum notation)build->notation;
    input->rules.ids = ids[build->options.id_type];
    return true;
}

/* Opens the builder. All options and the recipe must be complete. Complains and returns false if the library fails. */
static bool open_builder(struct build *build) {
    struct idx_error error;
    return succeeded(idx_builder_open(&build->builder, build->path, &build->options, &error), &error);
}

/* Returns whether a document with this fingerprint is of another shard; if so, counts it in build->skipped. */
static bool count_if_of_other_shard(struct build *build, uint64_t fingerprint) {
    bool is_of_other_shard = build->shard_count > 1 && idx_shard(fingerprint, build->shard_count) != build->shard;
    build->skipped += is_of_other_shard;
    return is_of_other_shard;
}

/* Adds those of `count` documents that are of this shard, and counts the others. Complains and returns false if the
 * library fails. */
static bool add_records_of_shard(struct build *build, const struct tsv_record *records, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!count_if_of_other_shard(build, records[i].fingerprint) &&
            !add_record_to_builder(build->builder, build->options.id_type, &records[i]))
            return false;
    }
    return true;
}

/* Adds all documents of the input, and says how many bad lines were skipped. Returns false after a complaint or a
 * signal. */
static bool add_all_documents(struct build *build) {
    const struct tsv_record *records;
    enum input_status status;
    size_t count;
    while ((status = input_read_records(&build->input, &records, &count)) == INPUT_DOCUMENTS) {
        if (!add_records_of_shard(build, records, count)) return false;
    }
    if (status == INPUT_END) input_report_skipped_lines(&build->input);
    return status == INPUT_END;
}

/* Sets the k of the index: -k if it is given, or else min(default, maximum of the recipe). */
static void choose_k(struct build *build) {
    const char *recipe = build->options.recipe;
    unsigned max_k = recipe == NULL ? IDX_MAX_K : recipe_read(recipe).max_k;
    if (build->k != UINT_MAX)
        build->options.k = build->k;
    else if (build->options.k > max_k)
        build->options.k = max_k;
}

/* ---- Texts ---- */

/* Adds the fingerprints of a text that are of this shard, each as a document with the text's ID; counts the others.
 * made->shingles has the fingerprints, since the texts are read with MAKES_FINGERPRINTS. Complains and returns false if
 * the ID is not one of the index, or if the library fails. */
static bool add_fingerprints_of_text(struct build *build, const struct made *made) {
    struct idx_item item;
    if (!set_item_id(&item, build->options.id_type, made->id.bytes, made->id.length)) return false;
    struct tsv_record record = {.id = made->id.bytes, .id_length = made->id.length, .number = item.number};
    bool ok = true;
    for (size_t i = 0; i < made->shingle_count && ok; i++) {
        record.fingerprint = made->shingles[i];
        ok = add_records_of_shard(build, &record, 1);
    }
    return ok;
}

/* Adds a text with its set, which must not be empty, or counts it if it is of another shard. The shard of a text is
 * that of the first hash in its set. Complains and returns false if the ID is not one of the index, or if the library
 * fails. */
static bool add_text_with_set(struct build *build, const struct made *made) {
    const struct idx_set set = {made->shingles, made->shingle_count};
    struct idx_item item;
    struct idx_error error;
    return count_if_of_other_shard(build, set.hashes[0]) ||
           (set_item_id(&item, build->options.id_type, made->id.bytes, made->id.length) &&
            succeeded(idx_builder_add_text(build->builder, &item, &set, &error), &error));
}

/* Opens the builder with the recipe of the texts, and adds all texts that `reading` reads. Bad texts and those without
 * shingles are left out. Returns false after a complaint or a signal. */
static bool add_texts_of_reading(struct build *build, struct reading *reading) {
    const struct made *made;
    bool ok = true;
    build->options.recipe = reading_get_recipe(reading);
    if (build->threshold == 0) choose_k(build);
    if (!open_builder(build)) return false;
    while (ok && (made = reading_next(reading)) != NULL) {
        if (interrupt_is_noted()) return false;
        if (made->raw->bad.kind != BAD_NONE || made->shingle_count == 0) continue;
        ok = build->threshold > 0 ? add_text_with_set(build, made) : add_fingerprints_of_text(build, made);
    }
    return ok;
}

/* Reads the texts of all inputs, and adds them to the new index. Returns false after a complaint or a signal, and also
 * if an input could not be read. */
static bool read_and_add_texts(struct build *build) {
    struct reading_rules *rules = &build->texts.rules;
    rules->makes = build->threshold > 0 ? MAKES_SHINGLES : MAKES_FINGERPRINTS;
    build->progress.texts = true;
    struct reading *reading = reading_open(rules, &build->input.paths);
    bool ok = reading != NULL && add_texts_of_reading(build, reading);
    return reading_close(reading) == READING_WELL && ok;
}

/* ---- The whole ---- */

/* Estimates, before documents are read, how many there are. If that is known, progress shows it, and messages say what
 * the build may need. */
static void estimate_and_report_build(struct build *build) {
    struct input_size size;
    if (!input_estimate_size(&build->input, &size) || size.document_count == 0) return;
    if (build->shard_count > 1)
        size = (struct input_size){size.document_count / build->shard_count, size.id_bytes / build->shard_count};
    build->progress.documents = size.document_count;
    report_build_estimate(&build->options, build->path, &size, build->progress.shown);
}

/* Replaces the recipe of --recipe, if it is given, by its canonical form, in which idx fingerprint states it. Complains
 * and returns false if memory ran out. */
static bool canonicalize_given_recipe(struct build *build) {
    if (build->input.recipe == NULL) return true;
    build->input.recipe = build->recipe = text_make_canonical_recipe(build->input.recipe);
    return build->recipe != NULL;
}

/* Opens the builder with the recipe that the options or the inputs state, and adds all documents of lines or arrays.
 * Returns false after a complaint or a signal. */
static bool add_lines_or_arrays(struct build *build) {
    enum input_status status = input_find_recipe(&build->input);
    if (status != INPUT_DOCUMENTS && status != INPUT_END) return false;
    build->options.recipe = build->input.recipe;
    choose_k(build);
    if (!open_builder(build)) return false;
    estimate_and_report_build(build);
    return add_all_documents(build);
}

/* Builds and publishes the index, and writes messages about it. Returns false after a complaint or a signal. */
static bool build_index(struct build *build) {
    struct idx_build_summary summary;
    struct idx_error error;
    bool published = (build->has_texts ? read_and_add_texts(build) : add_lines_or_arrays(build)) &&
                     succeeded(idx_builder_finish(build->builder, &summary, &error), &error);
    idx_builder_close(build->builder);
    progress_end(&build->progress);
    if (!published) return false;
    if (build->progress.shown && build->shard_count > 1)
        complain("skipped %" PRIu64 " document%s of other shards", build->skipped, build->skipped == 1 ? "" : "s");
    report_new_index(build->path, &summary, &build->progress);
    return true;
}

/* Runs `idx build`. Returns ENDS_WELL if the index was published, or else ENDS_BADLY. */
int command_build(int argc, char **argv) {
    struct build build = {.options = IDX_BUILD_OPTIONS_INIT,
                          .input = {.reader = READER_INIT},
                          .id_type = -1,
                          .notation = -1,
                          .k = UINT_MAX};
    int status;
    text_options_init(&build.texts);
    build.options.threads = arguments_get_default_threads();
    build.options.progress = progress_visit;
    build.options.context = &build.progress;
    if (read_build_arguments(argc, argv, &build, &status) && complete_options_by_format(&build)) {
        progress_start(&build.progress, build.progress_forced);
        interrupt_catch();
        /* Until here, `status` is ENDS_BADLY: arguments_read has set it. */
        if (canonicalize_given_recipe(&build) && build_index(&build)) status = ENDS_WELL;
    }
    input_free(&build.input);
    free(build.recipe);
    text_options_free(&build.texts);
    interrupt_end_process();
    return status;
}
