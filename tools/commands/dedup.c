/* dedup.c: `idx dedup`: from texts or fingerprints to the documents to keep, by an index that is gone at the end. It is
 * removed as soon as it is open, so that nothing is left however the command ends after that. */
#include "tools/answers/listing.h"
#include "tools/input/input.h"
#include "tools/input/making.h"
#include "tools/shared/arguments.h"
#include "tools/shared/command.h"
#include "tools/shared/interrupt.h"
#include "tools/shared/message.h"
#include "tools/shared/scratch.h"
#include "tools/text/text_options.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A string has at most 4095 bytes. */
static const char help_of_results[] =
    "Usage: idx dedup [OPTION…] [FILE|FOLDER…]\n"
    "Print the IDs of the documents to keep, one per line: one document of each cluster of near-duplicates, and all\n"
    "documents without near-duplicates. Without FILE, or where it is -, read standard input. Inputs that are\n"
    "compressed with gzip, zstd, xz or bzip2 are decompressed.\n"
    "\n"
    "  --drop                 print the IDs to drop instead: the near-duplicates of documents to keep\n"
    "  --clusters             print the clusters instead, one line per document: ID, tab, cluster, tab, ID of its\n"
    "                         representative, tab, distance of the two\n"
    "  -k N                   distance of near-duplicates in bits (default 3)\n"
    "  --method METHOD        components (default), or star: a representative and all fingerprints within distance of\n"
    "                         it, which does not form chains\n"
    "  --representative HOW   which document of a cluster is kept: first (default), most-documents (one of the\n"
    "                         fingerprint with the most documents) or smallest-id\n"
    "  --cap N                warn of clusters of more than N documents that form chains (default 1000)\n";

static const char help_of_inputs[] =
    "  --format FORMAT        auto (default: by the name of the file, or else by its first bytes), or texts:\n"
    "                         plain  text, one document per file; its ID is the path\n"
    "                         html   the text of an HTML page, one document per file; its ID is the path\n"
    "                         jsonl  JSON Lines, one document per line\n"
    "                         tsv    ID, tab, text: one document per line\n"
    "                         warc   WARC or WET, one document per record of text or HTML; its ID is the target URI\n"
    "                         or existing fingerprints, as for idx build:\n"
    "                         fingerprints  fingerprint, tab, ID: one document per line, as idx fingerprint prints it\n"
    "                         u64    little-endian 64-bit numbers; the ID is the row number, from 0\n"
    "                         npy    NumPy's file of a one-dimensional array of uint64, with the IDs of u64\n"
    "  --text-field FIELD     jsonl field that contains the text (default text), as a name, a.b or /a/b\n"
    "  --id-field FIELD       jsonl field that contains the ID (default: FILE:LINE)\n"
    "  --title-field FIELD    jsonl field that contains a title, for recipes that use one\n"
    "  --main-text            for HTML: drop navigation, headers, footers, asides, forms and lists of links\n"
    "  --max-text SIZE        leave out longer documents (default 64M, or 1/64 of --memory if that is less)\n"
    "  --features             input is lines ID, tab, feature, tab, weight (or no weight: 1) in place of text;\n"
    "                         consecutive lines with the same ID are one document\n"
    "  --hashes               the same, but a feature is a hash of 16 hex digits that was made elsewhere\n"
    "  --tokens               the same as --features or --hashes, but lines are ID, tab, and any number of\n"
    "                         feature:weight with spaces or tabs between them\n"
    "  --hash HASH            how features are hashed: xxh3 (default), or as in other programs fnv1, fnv1a, or md5 "
    "(its\n"
    "                         last 64 bits); part of the recipe (hash=HASH), as --ties is (ties=1)\n"
    "  --ties BIT             the bit for which the weights are equal: 0 (default), or 1 as in many other programs\n"
    "  --recipe RECIPE        how fingerprints are made; see idx-recipes(7)\n"
    "  --table FILE           table of document frequencies, for recipes with w=tfidf or w=idf: from --train, or a\n"
    "                         list of words with idf or counts that another program made\n"
    "  --bits F               bits per fingerprint, 1 to 64 (default 64)\n"
    "  --min-features N       keep documents that have fewer features, without comparing them (default 1: documents\n"
    "                         without features)\n"
    "  --strict               end with status 2 at the first bad record\n"
    "  --threads N            number of threads (default: the number of processors, up to 16)\n"
    "  --memory SIZE          memory to use (default: half of the free memory)\n"
    "  --tmpdir FOLDER        folder for temporary files, about 20 bytes per document and its ID (default: $TMPDIR,\n"
    "                         or /tmp)\n"
    "  --progress             show progress and a summary even if standard error is not a terminal\n"
    "\n"
    "Documents with too few features are in no cluster, and are printed last among those to keep. Bad records are\n"
    "left out and counted. A file that cannot be read is an error, but the other files are still compared.\n"
    "\n"
    "Examples:\n"
    "  idx dedup docs/ >keep.txt\n"
    "  idx dedup --format jsonl --id-field url --drop posts.jsonl.gz\n"
    "  idx fingerprint docs/ | idx dedup --format fingerprints --clusters\n"
    "\n"
    "Exit status: 0 everything was printed; 2 error.\n";

/* Those of enum document_format, up to FORMAT_HTML, and behind them those of enum input_format from INPUT_TSV on. */
static const char *const format_names[] = {"auto", "plain",        "jsonl", "tsv", "warc",
                                           "html", "fingerprints", "u64",   "npy", NULL};
enum { FORMAT_FINGERPRINTS = FORMAT_HTML + 1 };

/* Where --memory is small, a text may have as many bytes nonetheless. */
#define LEAST_MAX_TEXT ((uint64_t)1 << 20)

struct dedup {
    struct text_options texts;
    struct listing listing;
    struct idx_build_options building;
    int format;
    bool clusters;
    struct texts paths;
    struct scratch scratch;
    struct idx_builder *builder;
    struct output few; /* a file of the IDs of documents with too few features; closed: -1 */
    bool partly;       /* an input could not be read */
};

static bool is_of_fingerprints(const struct dedup *dedup) { return dedup->format >= FORMAT_FINGERPRINTS; }

/* ---- Options ---- */

/* What would do nothing with fingerprints that are made already. */
static bool check_fingerprints(const struct dedup *dedup) {
    const struct pipeline_rules *rules = &dedup->texts.rules;
    const struct extract_rules *extract = &rules->extract;
    bool fields = extract->json.id != NULL || extract->json.title != NULL || strcmp(extract->json.text, "text") != 0;
    const char *vain = fields                                     ? "--text-field, --id-field and --title-field"
                       : extract->main_text                       ? "--main-text"
                       : extract->max_text != DOCUMENT_BYTES      ? "--max-text"
                       : dedup->texts.features || extract->hashes ? "--features and --hashes"
                       : extract->tokens                          ? "--tokens"
                       : rules->recipe != NULL                    ? "--recipe"
                       : dedup->texts.hash != 0                   ? "--hash"
                       : dedup->texts.ties != 0                   ? "--ties"
                       : rules->table != NULL                     ? "--table"
                       : rules->min_features != 1                 ? "--min-features"
                       : rules->strict                            ? "--strict"
                                                                  : NULL;
    if (vain != NULL)
        complain_of_usage("%s can be used with texts only, not with --format %s", vain, format_names[dedup->format]);
    return vain == NULL;
}

/* A document with several fingerprints could be kept by one and dropped by another. */
static bool check_recipe(const char *recipe) {
    static const char several[] = "segments:";
    if (recipe == NULL || strncmp(recipe, several, strlen(several)) != 0) return true;
    complain_of_usage("recipe %s makes several fingerprints per document; give one that makes a single fingerprint",
                      recipe);
    return false;
}

/* Tables of pairs whose blocks differ in one bit at most: there are few enough of them to be built and gone through
 * once, and prefixes long enough to tell much apart. */
static void choose_scheme(char scheme[16], unsigned k) { snprintf(scheme, 16, "%u:1:1", k / 2 + 1); }

/* While texts are fingerprinted, one half is the builder's; and the text that takes most has as much as all others. */
static void share_memory(struct dedup *dedup) {
    struct pipeline_rules *rules = &dedup->texts.rules;
    uint64_t half = dedup->building.memory_bytes / 2, fitting = half / 2 / PIPELINE_BYTES_PER_BYTE;
    dedup->building.memory_bytes = half > IDX_MIN_MEMORY_BYTES ? half : IDX_MIN_MEMORY_BYTES;
    rules->memory_bytes = half / 2;
    if (rules->extract.max_text != DOCUMENT_BYTES) return;
    if (fitting < LEAST_MAX_TEXT) fitting = LEAST_MAX_TEXT;
    if (fitting < rules->extract.max_text) rules->extract.max_text = fitting;
}

/* Settles the format, where the names or first bytes of the inputs say that they are arrays of fingerprints. Any other
 * input has documents, which may be of several formats. False after a complaint. */
static bool find_fingerprints(struct dedup *dedup) {
    enum input_format found = INPUT_AUTO;
    for (size_t i = 0; i < dedup->paths.count && found <= INPUT_TSV; i++)
        found = input_format_of(dedup->paths.values[i]);
    const struct extract_rules *extract = &dedup->texts.rules.extract;
    if (found <= INPUT_TSV || dedup->texts.features || extract->hashes || extract->tokens) return true;
    found = INPUT_AUTO;
    if (!input_settle_format(&dedup->paths, &found)) return false;
    dedup->format = FORMAT_FINGERPRINTS + (int)(found - INPUT_TSV);
    return true;
}

static bool settle(struct dedup *dedup) {
    struct listing *listing = &dedup->listing;
    if (listing->drop && dedup->clusters) {
        complain_of_usage("give --drop or --clusters, not both");
        return false;
    }
    if (dedup->format == FORMAT_AUTO && !find_fingerprints(dedup)) return false;
    if (is_of_fingerprints(dedup) ? !check_fingerprints(dedup)
                                  : !text_options_settle(&dedup->texts, (enum document_format)dedup->format))
        return false;
    listing->keep = !listing->drop && !dedup->clusters;
    listing->options.threads = dedup->texts.rules.threads;
    dedup->building.bits = dedup->texts.rules.bits;
    dedup->building.k = listing->options.distance;
    dedup->building.threads = listing->options.threads;
    dedup->building.memory_bytes = listing->options.memory_bytes;
    if (!is_of_fingerprints(dedup) && listing->options.memory_bytes > 0) share_memory(dedup);
    if (dedup->format > FORMAT_FINGERPRINTS) dedup->building.id_type = IDX_ID_U64;
    return is_of_fingerprints(dedup) || check_recipe(dedup->texts.rules.recipe);
}

static bool read_arguments(int argc, char **argv, struct dedup *dedup, int *status) {
    char help[sizeof help_of_results + sizeof help_of_inputs];
    enum { OWN = 3 };
    struct option_rule options[TEXT_OPTIONS + LISTING_OPTIONS + OWN];
    const struct option_rule own[OWN] = {
        {.name = "format", .kind = OPTION_CHOICE, .value = &dedup->format, .names = format_names},
        {.name = "drop", .kind = OPTION_FLAG, .value = &dedup->listing.drop},
        {.name = "clusters", .kind = OPTION_FLAG, .value = &dedup->clusters},
    };
    const struct grammar grammar = {help, options, sizeof options / sizeof *options, "FILE", 0, SIZE_MAX};
    strcat(strcpy(help, help_of_results), help_of_inputs);
    text_options_list(&dedup->texts, options);
    listing_list(&dedup->listing, options + TEXT_OPTIONS);
    memcpy(options + TEXT_OPTIONS + LISTING_OPTIONS, own, sizeof own);
    return arguments_read(&grammar, argc, argv, &dedup->paths, status);
}

/* ---- From texts ---- */

/* Where there are any, in a file that has no name any more. */
static bool keep_few(struct dedup *dedup, const char *id, size_t length) {
    if (dedup->few.descriptor < 0) {
        char *path = scratch_path(&dedup->scratch, "few");
        dedup->few.descriptor = path == NULL ? -1 : open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        free(path);
    }
    if (dedup->few.descriptor < 0) {
        complain("%s: can't create a temporary file: %s", dedup->scratch.path, strerror(errno));
        return false;
    }
    output_bytes(&dedup->few, id, length);
    output_byte(&dedup->few, '\n');
    return dedup->few.error == 0;
}

/* A line_visitor. */
static bool visit_line(void *context, const char *line, size_t length) {
    struct dedup *dedup = context;
    const struct tsv_rules rules = {dedup->building.bits, NOTATION_HEX, TSV_ID_TEXT};
    struct tsv_record record;
    struct problem problem;
    if (interrupt_noted()) return false;
    if (length > 0 && line[0] == '\t') return keep_few(dedup, line + 1, length - 1);
    if (tsv_parse(&rules, line, length, &record, &problem) == TSV_RECORD)
        return making_add(dedup->builder, IDX_ID_TEXT, &record);
    complain("%s", problem.sentence);
    return false;
}

static bool add_texts(struct dedup *dedup) {
    struct pipeline_rules *rules = &dedup->texts.rules;
    rules->visit = visit_line;
    rules->context = dedup;
    enum pipeline_status status = pipeline_run(rules, &dedup->paths);
    dedup->partly = status == PIPELINE_PARTLY;
    return status != PIPELINE_FAILED && !interrupt_noted();
}

/* ---- From fingerprints ---- */

static bool add_documents(struct dedup *dedup, const struct tsv_record *records, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!making_add(dedup->builder, dedup->building.id_type, &records[i])) return false;
    }
    return true;
}

static bool add_fingerprints(struct dedup *dedup) {
    struct input input = {.reader = READER_INIT,
                          .paths = dedup->paths,
                          .format = (enum input_format)(dedup->format - FORMAT_FINGERPRINTS + INPUT_TSV),
                          .rules = {dedup->building.bits, NOTATION_HEX, TSV_ID_TEXT}};
    const struct tsv_record *records;
    enum input_status status = input_find_recipe(&input);
    bool added = true;
    size_t count;
    while (added && (status = input_next(&input, &records, &count)) == INPUT_DOCUMENTS)
        added = add_documents(dedup, records, count);
    input_free(&input);
    return added && status == INPUT_END;
}

/* ---- The whole ---- */

static bool build(struct dedup *dedup, const char *path) {
    struct idx_error error;
    if (idx_builder_open(&dedup->builder, path, &dedup->building, &error) != IDX_OK) {
        making_failed(&error);
        return false;
    }
    bool built = is_of_fingerprints(dedup) ? add_fingerprints(dedup) : add_texts(dedup);
    if (built && idx_builder_finish(dedup->builder, NULL, &error) != IDX_OK) {
        making_failed(&error);
        built = false;
    }
    idx_builder_free(dedup->builder);
    return built;
}

static bool list(struct dedup *dedup, const char *path) {
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    struct idx_index *index;
    struct idx_error error;
    options.residence = IDX_RESIDENCE_NONE;
    if (idx_open(&index, path, &options, &error) != IDX_OK) {
        complain("%s", error.sentence);
        return false;
    }
    scratch_remove(&dedup->scratch);
    bool listed = listing_run(&dedup->listing, index);
    idx_close(index);
    return listed;
}

/* Prints what keep_few kept. */
static bool print_few(struct dedup *dedup) {
    char bytes[1 << 14];
    ssize_t got;
    off_t at = 0;
    if (dedup->few.descriptor < 0) return true;
    if (!output_flush(&dedup->few)) return false;
    while (dedup->listing.keep && (got = pread(dedup->few.descriptor, bytes, sizeof bytes, at)) != 0) {
        if (got < 0 && errno != EINTR) return false;
        if (got < 0) continue;
        output_bytes(&dedup->listing.output, bytes, (size_t)got);
        at += got;
    }
    return true;
}

static bool run(struct dedup *dedup) {
    const char *folder = dedup->listing.options.temporary_folder;
    if (folder == NULL) folder = getenv("TMPDIR");
    if (folder == NULL || *folder == '\0') folder = "/tmp";
    dedup->listing.options.temporary_folder = folder;
    if (!scratch_open(&dedup->scratch, folder)) return false;
    char *path = scratch_path(&dedup->scratch, "index");
    bool whole = path != NULL && build(dedup, path) && list(dedup, path);
    if (path == NULL) complain("out of memory");
    scratch_remove(&dedup->scratch);
    free(path);
    if (whole && !print_few(dedup)) {
        complain("can't write a temporary file in %s, or read it back", folder);
        whole = false;
    }
    return whole && !dedup->partly;
}

int command_dedup(int argc, char **argv) {
    struct dedup dedup = {
        .listing = LISTING_INIT, .building = IDX_BUILD_OPTIONS_INIT, .few = OUTPUT_KEPT, .format = FORMAT_AUTO};
    char scheme[16];
    int status;
    text_options_init(&dedup.texts);
    dedup.texts.rules.min_features = 1;
    dedup.listing.options.distance = 3;
    if (!read_arguments(argc, argv, &dedup, &status)) return status;
    if (!settle(&dedup)) return ENDS_BADLY;
    choose_scheme(scheme, dedup.building.k);
    dedup.building.scheme = scheme;
    dedup.building.progress = progress_visit;
    dedup.building.context = &dedup.listing.progress;
    progress_start(&dedup.listing.progress, dedup.texts.rules.progress);
    interrupt_catch();
    bool whole = run(&dedup);
    if (dedup.few.descriptor >= 0) close(dedup.few.descriptor);
    free(dedup.few.bytes);
    bool written = output_close(&dedup.listing.output);
    interrupt_obey();
    return whole && written ? ENDS_WELL : ENDS_BADLY;
}
