/* build.c: `idx build`: reads documents, builds an index of them, and publishes it. */
#include "tools/input/index_making.h"
#include "tools/text/text_reader.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct build {
    struct idx_build_options options;
    struct input input;
    int id_type, notation; /* -1: not given. */
    unsigned k;            /* UINT_MAX: not given. */
    int format;
    bool progress_forced;
    const char *output;
    char *recipe;           /* That of --recipe, in canonical form. */
    const char *shard_text; /* I/N, as it was given. */
    uint64_t shard, shards; /* The shard, from 0. With 0 shards, all documents are taken. */
    uint64_t elsewhere;     /* Documents of other shards. */
    struct progress progress;
};

/* Reads the command line. Sets *status and returns false if the command ends after that. */
static bool read_arguments(int argc, char **argv, struct build *build, int *status) {
    struct idx_build_options *options = &build->options;
    struct strings operands;
    const struct option_rule rules[] = {
#include "options/build.h"
    };
    const struct grammar grammar = GRAMMAR(build, rules, "OUTPUT", 1, SIZE_MAX);
    if (!arguments_read(&grammar, argc, argv, &operands, status)) return false;
    build->output = operands.values[0];
    build->input.paths = (struct strings){operands.values + 1, operands.count - 1};
    return true;
}

/* Refuses options, and a type of IDs, that are for lines alone: the table says nothing of single values. */
static bool check_format(const struct build *build) {
    const char *format = input_format_names[build->input.format];
    if (build->input.format != INPUT_TSV && build->id_type == IDX_ID_TEXT)
        return complain_of_usage("--id-type text is for tsv; the IDs of %s rows are their numbers", format);
    return arguments_fit_input(format);
}

/* Reads --shard, if it is given. */
static bool read_shard(struct build *build) {
    const char *text = build->shard_text, *slash = text == NULL ? NULL : strchr(text, '/');
    uint64_t number;
    if (text == NULL) return true;
    if (slash == NULL || !number_parse_digits(text, (size_t)(slash - text), &number) ||
        !number_parse_digits(slash + 1, strlen(slash + 1), &build->shards) || number < 1 || number > build->shards)
        return complain_of_usage("--shard needs I/N, from 1/N to N/N, not '%s'", text);
    build->shard = number - 1;
    return true;
}

/* Completes what the arguments say by the format, which may depend on the input's first bytes. */
static bool complete_options(struct build *build) {
    static const enum tsv_ids ids[] = {TSV_ID_TEXT, TSV_ID_U64, TSV_ID_NONE}; /* In the order of enum idx_id_type. */
    struct input *input = &build->input;
    input->format = (enum input_format)build->format;
    if (!input_await_format(&input->paths, &input->format)) return false;
    if (!check_format(build) || !read_shard(build)) return false;
    if (build->id_type >= 0)
        build->options.id_type = (enum idx_id_type)build->id_type;
    else if (input->format != INPUT_TSV)
        build->options.id_type = IDX_ID_U64;
    input->rules.bits = build->options.bits;
    input->rules.notation = build->notation < 0 ? NOTATION_HEX : (enum notation)build->notation;
    input->rules.ids = ids[build->options.id_type];
    return true;
}

/* Adds documents, but those of other shards are only counted. */
static bool add_batch(struct idx_builder *builder, struct build *build, const struct tsv_record *records,
                      size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (build->shards > 1 && idx_shard(records[i].fingerprint, build->shards) != build->shard)
            build->elsewhere++;
        else if (!making_add_document(builder, build->options.id_type, &records[i]))
            return false;
    }
    return true;
}

/* Adds all documents of the input, and says how many bad lines were skipped. */
static bool add_all(struct idx_builder *builder, struct build *build) {
    const struct tsv_record *records;
    enum input_status status;
    size_t count;
    while ((status = input_next(&build->input, &records, &count)) == INPUT_DOCUMENTS) {
        if (!add_batch(builder, build, records, count)) return false;
    }
    if (status == INPUT_END) input_say_skipped(&build->input);
    return status == INPUT_END;
}

static bool publish(struct idx_builder *builder, struct idx_build_summary *summary) {
    struct idx_error error;
    return succeeded(idx_builder_finish(builder, summary, &error), &error);
}

/* ---- The whole ---- */

/* Estimates, before documents are read, how many there are, for progress, and says what the build may need. */
static void forecast_build(struct build *build) {
    struct input_size size;
    if (!input_guess_size(&build->input, &size) || size.documents == 0) return;
    if (build->shards > 1) size = (struct input_size){size.documents / build->shards, size.id_bytes / build->shards};
    build->progress.documents = size.documents;
    making_forecast(&build->options, build->output, &size, build->progress.shown);
}

static bool fill_and_publish(struct idx_builder *builder, struct build *build) {
    struct idx_build_summary summary;
    forecast_build(build);
    bool published = add_all(builder, build) && publish(builder, &summary);
    progress_end(&build->progress);
    if (!published) return false;
    if (build->progress.shown && build->shards > 1)
        complain("skipped %" PRIu64 " document%s of other shards", build->elsewhere, build->elsewhere == 1 ? "" : "s");
    making_report(build->output, &summary, &build->progress);
    return true;
}

/* Puts a recipe that was given into the canonical form, in which idx fingerprint states it. */
static bool settle_recipe(struct build *build) {
    if (build->input.recipe == NULL) return true;
    build->input.recipe = build->recipe = text_canonical_recipe(build->input.recipe);
    return build->recipe != NULL;
}

/* Takes the distance that was given, or the default one, or a smaller one that is the most for the recipe. */
static void settle_distance(struct build *build) {
    const char *recipe = build->options.recipe;
    unsigned most = recipe == NULL ? IDX_MAX_K : recipe_read(recipe).max_k;
    if (build->k != UINT_MAX)
        build->options.k = build->k;
    else if (build->options.k > most)
        build->options.k = most;
}

/* Builds and publishes the index, with the recipe that the options or the input state. */
static bool build_index(struct build *build) {
    struct idx_builder *builder = NULL;
    struct idx_error error;
    enum input_status status = input_find_recipe(&build->input);
    if (status != INPUT_DOCUMENTS && status != INPUT_END) return false;
    build->options.recipe = build->input.recipe;
    settle_distance(build);
    if (!succeeded(idx_builder_open(&builder, build->output, &build->options, &error), &error)) return false;
    bool published = fill_and_publish(builder, build);
    idx_builder_close(builder);
    return published;
}

int command_build(int argc, char **argv) {
    struct build build = {.options = IDX_BUILD_OPTIONS_INIT,
                          .input = {.reader = READER_INIT},
                          .id_type = -1,
                          .notation = -1,
                          .k = UINT_MAX};
    int status;
    build.options.threads = arguments_default_threads();
    build.options.progress = progress_visit;
    build.options.context = &build.progress;
    if (!read_arguments(argc, argv, &build, &status)) return status;
    if (!complete_options(&build)) return ENDS_BADLY;
    progress_start(&build.progress, build.progress_forced);
    interrupt_catch();
    bool published = settle_recipe(&build) && build_index(&build);
    input_free(&build.input);
    free(build.recipe);
    interrupt_obey();
    return published ? ENDS_WELL : ENDS_BADLY;
}
