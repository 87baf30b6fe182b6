/* dedup.c: `idx dedup`: from texts or fingerprints to the documents to keep, by an index that is gone at the end. It is
 * removed as soon as it is open, so that nothing is left however the command ends after that. */
#include "tools/answers/listing.h"
#include "tools/dedup/folders.h"
#include "tools/dedup/intake.h"
#include "tools/input/input.h"
#include "tools/input/making.h"
#include "tools/shared/arguments.h"
#include "tools/shared/command.h"
#include "tools/shared/interrupt.h"
#include "tools/shared/message.h"
#include "tools/shared/scratch.h"
#include "tools/text/text_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    "  --write FOLDER         make FOLDER, with the records of the documents to keep, as they are in the inputs, in\n"
    "                         files with the names of the inputs; IDs are printed only with --drop or --clusters\n"
    "  --dropped FOLDER       the same with the documents to drop, and dropped.tsv, a table of them: ID, tab, ID of "
    "the\n"
    "                         document that is kept instead, tab, distance of the two\n"
    "  --against INDEX        first drop the documents that are near to one of INDEX; with --clusters, these have - "
    "in\n"
    "                         place of a cluster, and the ID in INDEX\n"
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
    "  --recipe RECIPE        how fingerprints are made; see idx-recipes(7)\n"
    "  --table FILE           table of document frequencies, for recipes with w=tfidf or w=idf\n"
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
    "left out and counted. A file that cannot be read is an error, but the other files are still compared. Folders\n"
    "appear when they are complete, and replace nothing.\n"
    "\n"
    "Examples:\n"
    "  idx dedup docs/ >keep.txt\n"
    "  idx dedup --format jsonl --id-field url --drop posts.jsonl.gz\n"
    "  idx fingerprint docs/ | idx dedup --format fingerprints --clusters\n"
    "  idx dedup --against crawl.idx --id-field url --write kept --dropped gone posts.jsonl.gz\n"
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
    struct against against;
    struct folders folders;
    struct scratch scratch;
    struct journal journal;
    struct intake intake;
    bool partly; /* an input could not be read */
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
                       : rules->recipe != NULL                    ? "--recipe"
                       : rules->table != NULL                     ? "--table"
                       : rules->min_features != 1                 ? "--min-features"
                       : rules->strict                            ? "--strict"
                       : dedup->folders.kept.path != NULL         ? "--write"
                       : dedup->folders.dropped.path != NULL      ? "--dropped"
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
    if (found <= INPUT_TSV || dedup->texts.features || dedup->texts.rules.extract.hashes) return true;
    found = INPUT_AUTO;
    if (!input_settle_format(&dedup->paths, &found)) return false;
    dedup->format = FORMAT_FINGERPRINTS + (int)(found - INPUT_TSV);
    return true;
}

/* Opens the index that documents are compared with first. */
static bool settle_against(struct dedup *dedup) {
    struct against *against = &dedup->against;
    bool texts = !is_of_fingerprints(dedup) && !dedup->texts.features && !dedup->texts.rules.extract.hashes;
    against->distance = dedup->listing.options.distance;
    return against->path == NULL || (against_open(against) && against_settle(against, &dedup->texts.rules, texts));
}

static bool settle(struct dedup *dedup) {
    struct listing *listing = &dedup->listing;
    if (listing->drop && dedup->clusters) {
        complain_of_usage("give --drop or --clusters, not both");
        return false;
    }
    if (dedup->format == FORMAT_AUTO && !find_fingerprints(dedup)) return false;
    if (!settle_against(dedup)) return false;
    if (dedup->texts.rules.bits == 0) dedup->texts.rules.bits = IDX_MAX_BITS;
    if (is_of_fingerprints(dedup) ? !check_fingerprints(dedup)
                                  : !text_options_settle(&dedup->texts, (enum document_format)dedup->format))
        return false;
    if (folders_are_asked_for(&dedup->folders) &&
        !(journal_check_inputs(&dedup->paths) && folders_check(&dedup->folders, &dedup->paths)))
        return false;
    listing->quiet = folders_are_asked_for(&dedup->folders) && !listing->drop && !dedup->clusters;
    listing->keep = !listing->drop && !dedup->clusters && !listing->quiet;
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
    enum { OWN = 6 };
    struct option_rule options[TEXT_OPTIONS + LISTING_OPTIONS + OWN];
    const struct option_rule own[OWN] = {
        {.name = "format", .kind = OPTION_CHOICE, .value = &dedup->format, .names = format_names},
        {.name = "drop", .kind = OPTION_FLAG, .value = &dedup->listing.drop},
        {.name = "clusters", .kind = OPTION_FLAG, .value = &dedup->clusters},
        {.name = "write", .kind = OPTION_TEXT, .value = &dedup->folders.kept.path},
        {.name = "dropped", .kind = OPTION_TEXT, .value = &dedup->folders.dropped.path},
        {.name = "against", .kind = OPTION_TEXT, .value = &dedup->against.path},
    };
    const struct grammar grammar = {help, options, sizeof options / sizeof *options, "FILE", 0, SIZE_MAX};
    strcat(strcpy(help, help_of_results), help_of_inputs);
    text_options_list(&dedup->texts, options);
    listing_list(&dedup->listing, options + TEXT_OPTIONS);
    memcpy(options + TEXT_OPTIONS + LISTING_OPTIONS, own, sizeof own);
    return arguments_read(&grammar, argc, argv, &dedup->paths, status);
}

/* ---- From texts ---- */

/* A file_visitor. */
static bool visit_file(void *context, const struct opened_file *file) {
    struct dedup *dedup = context;
    return dedup->intake.journal == NULL || journal_add_file(&dedup->journal, file);
}

/* A result_visitor. */
static bool visit_result(void *context, const struct raw_document *raw, const char *made, size_t length) {
    struct dedup *dedup = context;
    const struct tsv_rules rules = {dedup->building.bits, NOTATION_HEX, TSV_ID_TEXT};
    const struct place place = {raw->file, raw->begins, raw->ends, raw->unit, FATE_KEPT};
    struct tsv_record record;
    struct problem problem;
    if (interrupt_noted()) return false;
    if (raw->bad.kind != BAD_NONE) return true;
    if (length == 0) return intake_keep(&dedup->intake, NULL, 0, &place);
    if (made[0] == '\t') return intake_keep(&dedup->intake, made + 1, length - 2, &place);
    if (tsv_parse(&rules, made, length - 1, &record, &problem) == TSV_RECORD)
        return intake_take(&dedup->intake, &record, &place);
    complain("%s", problem.sentence);
    return false;
}

static bool add_texts(struct dedup *dedup) {
    struct pipeline_rules *rules = &dedup->texts.rules;
    rules->visit = visit_result;
    rules->visit_file = visit_file;
    rules->others = dedup->intake.journal != NULL;
    rules->context = dedup;
    enum pipeline_status status = pipeline_run(rules, &dedup->paths);
    dedup->partly = status == PIPELINE_PARTLY;
    return status != PIPELINE_FAILED && !interrupt_noted();
}

/* ---- From fingerprints ---- */

static bool add_documents(struct dedup *dedup, const struct tsv_record *records, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!intake_take(&dedup->intake, &records[i], NULL)) return false;
    }
    return true;
}

static bool add_fingerprints(struct dedup *dedup) {
    struct input input = {.reader = READER_INIT,
                          .paths = dedup->paths,
                          .format = (enum input_format)(dedup->format - FORMAT_FINGERPRINTS + INPUT_TSV),
                          .index_recipe = dedup->against.path != NULL ? dedup->against.properties.recipe : NULL,
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
    struct idx_builder **builder = &dedup->intake.builder;
    struct idx_error error;
    if (idx_builder_open(builder, path, &dedup->building, &error) != IDX_OK) {
        making_failed(&error);
        return false;
    }
    dedup->intake.id_type = dedup->building.id_type;
    bool built = (is_of_fingerprints(dedup) ? add_fingerprints(dedup) : add_texts(dedup)) && intake_end(&dedup->intake);
    if (built && idx_builder_finish(*builder, NULL, &error) != IDX_OK) {
        making_failed(&error);
        built = false;
    }
    idx_builder_free(*builder);
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

/* What is found, to where it belongs. */
static bool give(struct dedup *dedup, const char *path) {
    bool writes = folders_are_asked_for(&dedup->folders);
    if (writes && !folders_open(&dedup->folders, dedup->intake.compared)) return false;
    if (writes) {
        dedup->folders.properties = &dedup->listing.properties;
        dedup->listing.note = folders_note;
        dedup->listing.context = &dedup->folders;
    }
    if (!list(dedup, path) || !intake_print(&dedup->intake, &dedup->listing)) return false;
    return !writes || folders_write(&dedup->folders, &dedup->intake);
}

static bool open_temporaries(struct dedup *dedup, const char *folder) {
    struct intake *intake = &dedup->intake;
    intake->against = &dedup->against;
    if (!temporary_open(&intake->few, &dedup->scratch, folder)) return false;
    if (!temporary_open(&intake->known, &dedup->scratch, folder)) return false;
    if (!folders_are_asked_for(&dedup->folders)) return true;
    intake->journal = &dedup->journal;
    return journal_open(&dedup->journal, &dedup->scratch, folder);
}

static bool run(struct dedup *dedup) {
    const char *folder = dedup->listing.options.temporary_folder;
    if (folder == NULL) folder = getenv("TMPDIR");
    if (folder == NULL || *folder == '\0') folder = "/tmp";
    dedup->listing.options.temporary_folder = folder;
    if (!scratch_open(&dedup->scratch, folder, "--tmpdir")) return false;
    char *path = scratch_path(&dedup->scratch, "index");
    if (path == NULL) complain("out of memory");
    bool whole = path != NULL && open_temporaries(dedup, folder) && build(dedup, path) && give(dedup, path);
    scratch_remove(&dedup->scratch);
    free(path);
    return whole && !dedup->partly;
}

static void finish(struct dedup *dedup) {
    folders_close(&dedup->folders);
    intake_close(&dedup->intake);
    journal_close(&dedup->journal);
    against_close(&dedup->against);
}

int command_dedup(int argc, char **argv) {
    static struct dedup dedup; /* some hundred KiB */
    char scheme[16];
    int status;
    dedup = (struct dedup){.listing = LISTING_INIT,
                           .building = IDX_BUILD_OPTIONS_INIT,
                           .format = FORMAT_AUTO,
                           .folders = {.kept.option = "--write", .dropped.option = "--dropped"},
                           .journal = JOURNAL_CLOSED,
                           .intake = {.few = TEMPORARY_CLOSED, .known = TEMPORARY_CLOSED, .ids = OUTPUT_KEPT}};
    text_options_init(&dedup.texts);
    dedup.texts.rules.min_features = 1;
    dedup.texts.rules.bits = 0; /* not given */
    dedup.listing.options.distance = 3;
    if (!read_arguments(argc, argv, &dedup, &status)) return status;
    bool whole = settle(&dedup);
    if (whole) {
        choose_scheme(scheme, dedup.building.k);
        dedup.building.scheme = scheme;
        dedup.building.progress = progress_visit;
        dedup.building.context = &dedup.listing.progress;
        progress_start(&dedup.listing.progress, dedup.texts.rules.progress);
        interrupt_catch();
        whole = run(&dedup);
    }
    finish(&dedup);
    bool written = output_close(&dedup.listing.output);
    interrupt_obey();
    return whole && written ? ENDS_WELL : ENDS_BADLY;
}
