/* build.c: `idx build`: reads documents, builds an index of them, and publishes it. */
#include "tools/arguments.h"
#include "tools/command.h"
#include "tools/input.h"
#include "tools/interrupt.h"
#include "tools/names.h"
#include "tools/progress.h"

#include <idx.h>

#include <inttypes.h>
#include <unistd.h>

static const char help[] =
    "Usage: idx build [OPTION…] OUTPUT [INPUT…]\n"
    "Build an index, the folder OUTPUT, from the documents of all INPUTs. No INPUT, or -, is standard input.\n"
    "\n"
    "  -k N                   largest distance that look-ups can ask for (default 3)\n"
    "  --scheme SCHEME        auto (default), 4, 10, 16, 20, B:C, B:C:R, B:C/b:c or @MASK[:R],…; see idx plan\n"
    "  --max-bytes-per-fingerprint N\n"
    "                         what auto's tables and their memory may take (default: F, and 1 MiB in all)\n"
    "  --codec CODEC          delta (default) or xor, the paper's\n"
    "  --block-size N         bytes a block, a power of two from 64 to 4096 (default 64)\n"
    "  --bits F               bits of a fingerprint, 1 to 64 (default 64)\n"
    "  --format FORMAT        tsv (default), u64 or npy\n"
    "  --fingerprints HOW     TSV fingerprints are hex (default), dec (unsigned) or signed (two's complement)\n"
    "  --id-type TYPE         text (default of tsv), u64 (default of u64 and npy) or none\n"
    "  --recipe RECIPE        how the fingerprints were made, instead of what the inputs say\n"
    "  --skip-bad-lines       count bad TSV lines and go on\n"
    "  --threads N            tables built at a time (default: the processors, up to 4)\n"
    "  --force                replace the index that stands at OUTPUT, atomically\n"
    "  --progress             say how far it is, even where standard error is no terminal\n"
    "\n"
    "Formats:\n"
    "  tsv  a document a line: fingerprint, tab, ID. With --id-type text an ID is any bytes but tab and newline (a\n"
    "       carriage return too belongs to it), with u64 a number below 2^64, with none the line is the fingerprint\n"
    "       alone. Lines that begin with # are comments; #recipe, tab, RECIPE says how the fingerprints were made.\n"
    "  u64  little-endian 64-bit fingerprints and nothing else; the ID is the row's number over all INPUTs, from 0.\n"
    "  npy  NumPy's file of a one-dimensional array of uint64; IDs as with u64.\n"
    "\n"
    "Nothing is published unless all went well: a bad line is an error that names FILE:LINE.\n"
    "\n"
    "Example:\n"
    "  idx fingerprint docs/ | idx build docs.idx\n"
    "  idx lookup docs.idx --text docs/README\n"
    "\n"
    "Exit status: 0 the index stands at OUTPUT; 2 error.\n";

static const char *const format_names[] = {"tsv", "u64", "npy", NULL}; /* enum input_format */

struct build {
    struct idx_build_options options;
    struct input input;
    int codec, id_type, format, notation; /* -1: not given */
    bool progress_forced;
    const char *output;
};

static unsigned default_threads(void) {
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors < 1 ? 1 : processors > 4 ? 4 : (unsigned)processors;
}

static bool read_arguments(int argc, char **argv, struct build *build, int *status) {
    struct idx_build_options *options = &build->options;
    struct texts operands;
    const struct option_rule rules[] = {
        {.name = "k", .kind = OPTION_NUMBER, .value = &options->k},
        {.name = "scheme", .kind = OPTION_TEXT, .value = &options->scheme},
        {.name = "max-bytes-per-fingerprint",
         .kind = OPTION_NUMBER,
         .value = &options->max_bytes_per_fingerprint,
         .least = 1},
        {.name = "codec", .kind = OPTION_CHOICE, .value = &build->codec, .names = codec_names},
        {.name = "block-size", .kind = OPTION_NUMBER, .value = &options->block_size},
        {.name = "bits", .kind = OPTION_NUMBER, .value = &options->bits, .least = 1, .most = IDX_MAX_BITS},
        {.name = "format", .kind = OPTION_CHOICE, .value = &build->format, .names = format_names},
        {.name = "fingerprints", .kind = OPTION_CHOICE, .value = &build->notation, .names = notation_names},
        {.name = "id-type", .kind = OPTION_CHOICE, .value = &build->id_type, .names = id_type_names},
        {.name = "recipe", .kind = OPTION_TEXT, .value = &build->input.recipe},
        {.name = "skip-bad-lines", .kind = OPTION_FLAG, .value = &build->input.skip_bad_lines},
        {.name = "threads", .kind = OPTION_NUMBER, .value = &options->threads},
        {.name = "force", .kind = OPTION_FLAG, .value = &options->replace},
        {.name = "progress", .kind = OPTION_FLAG, .value = &build->progress_forced},
    };
    const struct grammar grammar = {help, rules, sizeof rules / sizeof *rules, "OUTPUT", 1, SIZE_MAX};
    if (!arguments_read(&grammar, argc, argv, &operands, status)) return false;
    build->output = operands.values[0];
    build->input.paths = (struct texts){operands.values + 1, operands.count - 1};
    return true;
}

/* Options that would do nothing with this format are mistakes. */
static bool check_format(const struct build *build) {
    const char *vain = build->notation >= 0 ? "fingerprints" : build->input.skip_bad_lines ? "skip-bad-lines" : NULL;
    if (build->input.format == INPUT_TSV) return true;
    if (vain != NULL)
        complain_of_usage("--%s goes with --format tsv, not with %s", vain, format_names[build->format]);
    else if (build->id_type == IDX_ID_TEXT)
        complain_of_usage("--id-type text goes with --format tsv; the IDs of %s rows are their numbers",
                          format_names[build->format]);
    return vain == NULL && build->id_type != IDX_ID_TEXT;
}

static bool settle(struct build *build) {
    static const enum tsv_ids ids[] = {TSV_ID_TEXT, TSV_ID_U64, TSV_ID_NONE}; /* of enum idx_id_type */
    struct input *input = &build->input;
    input->format = build->format < 0 ? INPUT_TSV : (enum input_format)build->format;
    if (!check_format(build)) return false;
    if (build->codec >= 0) build->options.codec = (enum idx_codec)build->codec;
    if (build->id_type >= 0)
        build->options.id_type = (enum idx_id_type)build->id_type;
    else if (input->format != INPUT_TSV)
        build->options.id_type = IDX_ID_U64;
    input->rules.bits = build->options.bits;
    input->rules.notation = build->notation < 0 ? NOTATION_HEX : (enum notation)build->notation;
    input->rules.ids = ids[build->options.id_type];
    return true;
}

static bool add(struct idx_builder *builder, const struct build *build, const struct tsv_record *record) {
    struct idx_error error;
    enum idx_status status = build->options.id_type == IDX_ID_TEXT
                                 ? idx_builder_add(builder, record->fingerprint, record->id, record->id_length, &error)
                                 : idx_builder_add_u64(builder, record->fingerprint, record->number, &error);
    if (status == IDX_OK) return true;
    complain("%s", error.sentence);
    return false;
}

static enum input_status add_all(struct idx_builder *builder, struct build *build, struct progress *progress) {
    const struct tsv_record *records;
    enum input_status status;
    size_t count;
    while ((status = input_next(&build->input, &records, &count)) == INPUT_DOCUMENTS) {
        for (size_t i = 0; i < count; i++) {
            if (!add(builder, build, &records[i])) return INPUT_FAILED;
            progress_document(progress);
        }
    }
    progress_end_line(progress);
    if (status == INPUT_END && build->input.skipped > 0)
        complain("skipped %" PRIu64 " bad lines, of which the first was named above", build->input.skipped);
    return status;
}

static bool publish(struct idx_builder *builder, struct progress *progress) {
    struct idx_build_summary summary;
    struct idx_error error;
    interrupt_postpone("idx build: the index is being written and is published then; interrupting once more ends this "
                       "at once, and leaves a temporary folder beside OUTPUT for the next build to remove\n");
    progress_say(progress, "sorting and writing");
    if (idx_builder_finish(builder, &summary, &error) != IDX_OK) {
        complain("%s", error.sentence);
        return false;
    }
    progress_say(progress,
                 "%" PRIu64 " documents, %" PRIu64 " distinct fingerprints; scheme %s, %zu tables of %" PRIu64
                 " bytes in all; documents %" PRIu64 " bytes",
                 summary.documents, summary.fingerprints, summary.scheme, summary.tables, summary.table_bytes,
                 summary.documents_bytes);
    return true;
}

/* ---- Warnings ---- */

/* Fewer fingerprints are quick to search whatever they look like. */
#define FINGERPRINTS_WORTH_A_WARNING 1000
#define MUCH_MORE 4

/* A probe of every table of a segment, and the table with the largest group. */
struct skew {
    double blocks, even_blocks; /* that the probes search; and would, were the fingerprints spread evenly */
    size_t table;
    struct idx_table_properties largest;
};

static bool measure_skew(const struct idx_index *index, size_t tables, struct skew *skew) {
    struct idx_table_properties table;
    *skew = (struct skew){0};
    for (size_t i = 0; i < tables; i++) {
        if (idx_get_table_properties(index, 0, i, &table, NULL) != IDX_OK) return false;
        skew->blocks += table.expected_blocks;
        skew->even_blocks += table.even_blocks;
        if (i > 0 && table.largest_group <= skew->largest.largest_group) continue;
        skew->table = i;
        skew->largest = table;
    }
    return true;
}

static void warn(const struct idx_properties *properties, const struct skew *skew) {
    uint64_t dead = skew->largest.dead_bits;
    char mask[NOTATION_MAX_LENGTH];
    size_t length = notation_print(NOTATION_HEX, properties->bits, dead, mask);
    if (dead != 0)
        complain("%d of %u bits are the same in all fingerprints (mask %.*s): tables that bring them to the front tell "
                 "little apart; see idx info and idx plan",
                 __builtin_popcountll(dead), properties->bits, (int)length, mask);
    if (skew->blocks > MUCH_MORE * skew->even_blocks)
        complain("one probe of each table searches about %.0f blocks, where evenly spread fingerprints take %.0f: the "
                 "largest group, in table %zu, is of %" PRIu64
                 " fingerprints with the same %u-bit prefix; another --scheme may do better, see idx info",
                 skew->blocks, skew->even_blocks, skew->table, skew->largest.largest_group, skew->largest.prefix);
}

/* Advice about the index that was published, which is no less one where the advice can't be given. */
static void advise(const char *path) {
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    struct idx_index *index = NULL;
    struct idx_properties properties;
    struct skew skew;
    options.residence = IDX_RESIDENCE_NONE;
    if (idx_open(&index, path, &options, NULL) != IDX_OK) return;
    idx_get_properties(index, &properties);
    if (properties.fingerprints >= FINGERPRINTS_WORTH_A_WARNING &&
        measure_skew(index, properties.scheme->table_count, &skew))
        warn(&properties, &skew);
    idx_close(index);
}

/* ---- The whole ---- */

static bool run(struct build *build) {
    struct idx_builder *builder = NULL;
    struct idx_error error;
    struct progress progress;
    progress_start(&progress, build->progress_forced);
    enum input_status status = input_find_recipe(&build->input);
    if (status != INPUT_DOCUMENTS && status != INPUT_END) return false;
    build->options.recipe = build->input.recipe;
    if (idx_builder_open(&builder, build->output, &build->options, &error) != IDX_OK) {
        complain("%s", error.sentence);
        return false;
    }
    bool published = add_all(builder, build, &progress) == INPUT_END && publish(builder, &progress);
    idx_builder_free(builder);
    if (published) advise(build->output);
    return published;
}

int command_build(int argc, char **argv) {
    struct build build = {.options = IDX_BUILD_OPTIONS_INIT,
                          .input = {.reader = READER_INIT},
                          .codec = -1,
                          .id_type = -1,
                          .format = -1,
                          .notation = -1};
    int status;
    build.options.threads = default_threads();
    if (!read_arguments(argc, argv, &build, &status)) return status;
    if (!settle(&build)) return ENDS_BADLY;
    interrupt_catch();
    bool published = run(&build);
    input_free(&build.input);
    interrupt_obey();
    return published ? ENDS_WELL : ENDS_BADLY;
}
