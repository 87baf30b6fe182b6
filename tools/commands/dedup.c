/* dedup.c: `idx dedup`: finds which documents to keep among texts or fingerprints, by a temporary index. The index is
 * removed as soon as it is open, so that nothing is left however the command ends after that.
 *
 * The way of a document, from file to file; [ ] is where only some options lead:
 *
 *   inputs          text/documents.c, cut.c      cut the inputs into documents
 *     |             text/text_reader.c           takes out their texts, called by the threads of text/pipeline.c, and
 *     |                                          makes sets of shingles of them; with -k, or for --against,
 *     |             [input/input.c]              reads fingerprints that are made already
 *     v
 *   intake          dedup/intake.c, id_hashes.c  keeps aside what can't be compared, and what --against has
 *     |             [dedup/against.c]            (looks up fingerprints, or reads texts that are known)
 *     |             [dedup/journal.c]            notes where each document is in the inputs, to read it once more
 *     v
 *   clusters        dedup/resemble.c, idx_sets   by sets of shingles
 *     |             idx_clusters                 or by fingerprints, of a temporary index
 *     v
 *   listing         answers/cluster_listing.c    prints the IDs
 *                   [dedup/folders.c, kept.c]    write the records of --write and --dropped
 *                   [report/report.c]            writes the page of --report
 */
#include "tools/dedup/bits.h"
#include "tools/dedup/folders.h"
#include "tools/dedup/intake.h"
#include "tools/input/index_making.h"
#include "tools/report/report.h"
#include "tools/text/text_options.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The formats of enum document_format, up to FORMAT_MAN, and then those of enum input_format from INPUT_TSV on. */
static const char *const format_names[] = {"auto", "plain",        "jsonl", "tsv", "warc", "html",
                                           "man",  "fingerprints", "u64",   "npy", NULL};
enum { FORMAT_FINGERPRINTS = FORMAT_MAN + 1 };

/* The values of enum idx_representative, and then those of enum preferred without its first. */
static const char *const dedup_representatives[] = {"first",  "most-documents", "smallest-id", "longest",
                                                    "newest", "best",           NULL};
enum { LAST_OF_INDEX = IDX_REPRESENTATIVE_SMALLEST_ID };

/* What texts that resemble each other have in common if --resemble does not say it; and the distance of fingerprints,
 * in bits, that are all there is. */
#define DEFAULT_RESEMBLANCE "0.8"
#define DEFAULT_DISTANCE 3

/* Values that mean that an option is not given. */
#define NO_DISTANCE UINT_MAX
#define NO_CAP UINT64_MAX
#define NO_METHOD (-1)
#define NO_MIN_FEATURES UINT64_MAX
#define NO_MIN_WORDS UINT64_MAX

/* Without --min-words: parts of fewer words are not compared, and texts of fewer words are not looked for in others. */
enum { MIN_WORDS_OF_PART = 5, MIN_WORDS_CONTAINED = 20 };

/* The values of enum parts_by. */
static const char *const by_names[] = {"document", "paragraph", "line", NULL};

struct dedup {
    struct text_options texts;
    struct listing listing;
    struct idx_build_options building;
    int format;
    bool clusters, partial;  /* Whether --clusters, or --json, and --partial are given. */
    const char *resemblance; /* The argument of --resemble; NULL: not given. */
    const char *contained;   /* The argument of --contained; NULL: not given. */
    uint64_t min_words;
    int by;                              /* Of enum parts_by. */
    struct divided divided;              /* Unless documents are compared. */
    char remark[128];                    /* What the summary says of parts. */
    const char *shingle, *ignore_common; /* The arguments of --shingle and --ignore-common; NULL: not given. */
    bool pairs;                          /* Pairs are printed, and nothing is decided. */
    bool by_sets;                        /* The sets of the texts' shingles decide, and not fingerprints. */
    struct strings paths;
    struct against against;
    struct folders folders;
    struct report report;
    struct resemble resemble;
    struct scratch scratch;
    struct journal journal;
    struct intake intake;
    const char *score; /* The argument of --score-field; NULL: not given. */
    uint64_t undated;  /* Documents without a date or score, if the newest or best are preferred. */
    uint64_t large;    /* Documents that needed more than their share of --memory. */
    uint64_t *dropped; /* A bit for each document that was compared; NULL: nothing asks for it. */
    struct input_order order;
    bool partly; /* An input could not be read, or not be cut. */
};

/* Returns whether the inputs are fingerprints that are made already. */
static bool reads_fingerprints(const struct dedup *dedup) { return dedup->format >= FORMAT_FINGERPRINTS; }

/* Returns whether the inputs have the texts themselves, which can be compared by their shingles. */
static bool has_texts(const struct dedup *dedup) {
    const struct extract_rules *extract = &dedup->texts.rules.extract;
    return !reads_fingerprints(dedup) && !dedup->texts.features && !extract->hashes && !extract->tokens;
}

/* ---- Options ---- */

/* Returns the first option that is given and needs texts to be compared, besides --resemble; or NULL. */
static const char *first_text_option(const struct dedup *dedup) {
    return dedup->shingle != NULL         ? "--shingle"
           : dedup->ignore_common != NULL ? "--ignore-common"
           : dedup->pairs                 ? "--pairs"
           : dedup->contained != NULL     ? "--contained"
           : dedup->by != PARTS_DOCUMENT  ? "--by"
                                          : NULL;
}

/* Refuses options that have no effect on fingerprints that are made already. */
static bool check_no_text_options(const struct dedup *dedup) {
    const struct pipeline_rules *rules = &dedup->texts.rules;
    const struct extract_rules *extract = &rules->extract;
    bool fields = extract->json.id != NULL || extract->json.title != NULL || extract->json.texts.count > 0;
    const char *useless = fields                                     ? "--text-field, --id-field and --title-field"
                          : extract->main_text                       ? "--main-text"
                          : extract->max_text != 0                   ? "--max-text"
                          : dedup->texts.features || extract->hashes ? "--features and --hashes"
                          : extract->tokens                          ? "--tokens"
                          : rules->globs.count > 0                   ? "--include and --exclude"
                          : rules->recipe != NULL                    ? "--recipe"
                          : dedup->texts.hash != 0                   ? "--hash"
                          : dedup->texts.ties != 0                   ? "--ties"
                          : rules->table != NULL                     ? "--table"
                          : rules->min_features != NO_MIN_FEATURES   ? "--min-features"
                          : rules->strict && dedup->format > FORMAT_FINGERPRINTS ? "--strict"
                          : dedup->folders.kept.path != NULL                     ? "--write"
                          : dedup->folders.dropped.path != NULL                  ? "--dropped"
                          : dedup->resemblance != NULL                           ? "--resemble"
                          : first_text_option(dedup) != NULL                     ? first_text_option(dedup)
                                                                                 : NULL;
    return useless == NULL || complain_of_usage("%s can be used with texts only, not with --format %s", useless,
                                                format_names[dedup->format]);
}

/* Returns whether the inputs are read once more after it was decided which documents are kept. */
static bool reads_twice(const struct dedup *dedup) {
    return folders_are_asked_for(&dedup->folders) || (dedup->report.path != NULL && !reads_fingerprints(dedup));
}

/* Checks that both folders and the report have places of their own, since each of them appears as a whole. */
static bool check_places(const struct dedup *dedup) {
    const char *const options[] = {"--write", "--dropped", "--report"};
    const char *const paths[] = {dedup->folders.kept.path, dedup->folders.dropped.path, dedup->report.path};
    for (int i = 0; i < 3; i++) {
        for (int j = i + 1; j < 3; j++) {
            if (paths[i] == NULL || paths[j] == NULL || !folder_paths_overlap(paths[i], paths[j])) continue;
            return complain_of_usage("%s and %s need two places, neither of them within the other", options[i],
                                     options[j]);
        }
    }
    return true;
}

/* Reads what texts must have in common, and by which shingles they are compared. */
static bool read_thresholds(struct dedup *dedup) {
    struct resemble *resemble = &dedup->resemble;
    const char *given = dedup->resemblance;
    if (dedup->contained != NULL && !resemblance_read("--contained", dedup->contained, &resemble->contained))
        return false;
    if (given == NULL && dedup->contained == NULL) given = DEFAULT_RESEMBLANCE;
    dedup->texts.rules.shingling.in_text_order = true;
    return (given == NULL || resemblance_read("--resemble", given, &resemble->threshold)) &&
           (dedup->shingle == NULL || shingling_read(dedup->shingle, &dedup->texts.rules.shingling)) &&
           (dedup->ignore_common == NULL || most_common_read(dedup->ignore_common, &resemble->most_common));
}

/* Applies --by and the options that go with it, and with --contained. */
static bool apply_by(struct dedup *dedup) {
    struct divided *divided = &dedup->divided;
    struct pipeline_rules *rules = &dedup->texts.rules;
    const bool by_parts = dedup->by != PARTS_DOCUMENT, has_least = dedup->min_words != NO_MIN_WORDS;
    const char *needs_by = divided->min_document_words > 0 ? "--min-document-words"
                           : divided->again > 0            ? "--again"
                           : divided->within               ? "--within"
                                                           : NULL;
    if (!by_parts && needs_by != NULL) return complain_of_usage("%s needs --by paragraph or --by line", needs_by);
    if (!by_parts && dedup->contained == NULL && has_least)
        return complain_of_usage("--min-words needs --by or --contained");
    if (!by_parts) return true;
    const char *useless = dedup->listing.representative != 0    ? "--representative"
                          : dedup->against.path != NULL         ? "--against"
                          : dedup->report.path != NULL          ? "--report"
                          : dedup->ignore_common != NULL        ? "--ignore-common"
                          : rules->extract.json.texts.count > 1 ? "several times --text-field"
                                                                : NULL;
    if (useless != NULL) return complain_of_usage("%s can't be given with --by %s", useless, by_names[dedup->by]);
    divided->by = rules->by = (enum parts_by)dedup->by;
    rules->min_words = has_least ? dedup->min_words : MIN_WORDS_OF_PART;
    rules->extract.divides_blocks = divided->by == PARTS_PARAGRAPH;
    dedup->intake.divided = divided;
    return true;
}

/* Decides whether texts are compared, by the sets of their shingles, or fingerprints; and how near they must be. */
static bool choose_way(struct dedup *dedup) {
    const char *given = dedup->resemblance;
    bool has_distance = dedup->listing.options.distance != NO_DISTANCE;
    dedup->by_sets = has_texts(dedup) && !has_distance;
    if (!has_distance) dedup->listing.options.distance = DEFAULT_DISTANCE;
    if (dedup->by_sets) return read_thresholds(dedup);
    given = given != NULL ? "--resemble" : first_text_option(dedup);
    if (given == NULL || reads_fingerprints(dedup)) return true;
    if (has_distance)
        return complain_of_usage("give -k, and fingerprints are compared, or %s, and texts are compared; not both",
                                 given);
    return complain_of_usage("%s compares texts, which --features, --hashes and --tokens don't have", given);
}

/* Refuses options for fingerprints if texts are compared. */
static bool check_no_fingerprint_options(const struct dedup *dedup) {
    const struct pipeline_rules *rules = &dedup->texts.rules;
    const char *useless = dedup->listing.method != NO_METHOD       ? "--method"
                          : dedup->listing.cap != NO_CAP           ? "--cap"
                          : against_looks_up(&dedup->against)      ? NULL
                          : rules->recipe != NULL                  ? "--recipe"
                          : rules->table != NULL                   ? "--table"
                          : rules->bits != 0                       ? "--bits"
                          : rules->min_features != NO_MIN_FEATURES ? "--min-features"
                          : dedup->texts.hash != 0                 ? "--hash"
                          : dedup->texts.ties != 0                 ? "--ties"
                          : rules->extract.json.title != NULL      ? "--title-field"
                                                                   : NULL;
    if (!dedup->by_sets || useless == NULL) return true;
    return complain_of_usage("%s is for fingerprints, but texts are compared: give -k as well, and fingerprints are",
                             useless);
}

/* Sets what was not given, once it was checked which options were, and --against has chosen its shingles. */
static void set_defaults(struct dedup *dedup) {
    const uint64_t min_words = dedup->min_words != NO_MIN_WORDS ? dedup->min_words : MIN_WORDS_CONTAINED;
    dedup->resemble.contained_size = shingling_count(&dedup->texts.rules.shingling, min_words);
    if (dedup->listing.method == NO_METHOD) dedup->listing.method = IDX_CLUSTER_COMPONENTS;
    if (dedup->listing.cap == NO_CAP) dedup->listing.cap = DEFAULT_CAP;
    if (dedup->texts.rules.min_features == NO_MIN_FEATURES) dedup->texts.rules.min_features = 1;
    if (dedup->texts.rules.bits == 0) dedup->texts.rules.bits = IDX_MAX_BITS;
}

/* Refuses a file whose parts can be listed, but not cut out, and sets `partly`. This is a format_visitor. */
static bool check_format_can_be_cut(void *context, const char *path, enum document_format format) {
    struct dedup *dedup = context;
    if (format != FORMAT_WARC && format != FORMAT_HTML && format != FORMAT_MAN) return true;
    dedup->partly = true;
    return complain("%s is %s, whose %ss can be listed, but not cut out: leave out --write and --dropped, or that file",
                    path,
                    format == FORMAT_WARC   ? "WARC"
                    : format == FORMAT_HTML ? "HTML"
                                            : "a manual page",
                    by_names[dedup->by]);
}

/* Checks, before all the work, that the parts of all documents can be cut out. */
static bool check_cutting(struct dedup *dedup) {
    pipeline_visit_formats(&dedup->texts.rules, &dedup->paths, check_format_can_be_cut, dedup);
    return !dedup->partly;
}

/* Checks the options that need the inputs a second time, and the places where these write. */
static bool check_second_reading(struct dedup *dedup) {
    const bool cuts = dedup->intake.divided != NULL && folders_are_asked_for(&dedup->folders);
    return check_places(dedup) && (dedup->report.path == NULL || report_check(&dedup->report)) &&
           (!reads_twice(dedup) || journal_check_inputs(&dedup->paths)) &&
           (!folders_are_asked_for(&dedup->folders) || folders_check(&dedup->folders, &dedup->paths)) &&
           (!cuts || check_cutting(dedup));
}

/* Checks the field by which documents are preferred: a date's or a score's, as a document has one value for it. */
static bool apply_field(struct dedup *dedup) {
    struct jsonl_rules *json = &dedup->texts.rules.extract.json;
    enum preferred preferred = dedup->intake.preference.preferred;
    if (json->date != NULL && preferred != PREFERRED_NEWEST)
        return complain_of_usage("--date-field needs --representative newest");
    if ((dedup->score != NULL) != (preferred == PREFERRED_BEST))
        return complain_of_usage("--representative best and --score-field need each other");
    json->date_is_score = preferred == PREFERRED_BEST;
    if (json->date_is_score) json->date = dedup->score;
    return true;
}

/* Applies --representative: decides which document of a cluster is kept. */
static bool apply_representative(struct dedup *dedup) {
    struct listing *listing = &dedup->listing;
    struct preference *preference = &dedup->intake.preference;
    dedup->report.origin.representative = dedup_representatives[listing->representative];
    if (listing->representative > LAST_OF_INDEX) {
        preference->preferred = (enum preferred)(listing->representative - LAST_OF_INDEX);
        if (!has_texts(dedup))
            return complain_of_usage("--representative %s can be used with texts only",
                                     dedup_representatives[listing->representative]);
        listing->representative = IDX_REPRESENTATIVE_FIRST;
    }
    return apply_field(dedup);
}

/* Refuses a recipe that makes several fingerprints of a document: it could be kept by one and dropped by another. */
static bool check_recipe(const char *recipe) {
    enum idx_recipe_method method = recipe == NULL ? IDX_RECIPE_OTHER : recipe_read(recipe).method;
    if (method != IDX_RECIPE_SEGMENTS && method != IDX_RECIPE_MINHASH) return true;
    return complain_of_usage(
        "recipe %s makes several fingerprints per document; give one that makes a single fingerprint", recipe);
}

/* From this distance on, finding pairs in memory is faster than by any tables, whatever the number of documents. */
enum { WITHOUT_TABLES = 8 };

/* Chooses a scheme of k / 2 + 1 tables with radius 1: these are few enough to be built and read once, and their
 * prefixes are long enough to leave few candidates. If tables would be of no use, a single one holds the fingerprints;
 * but a report needs them, since it looks up single fingerprints. */
static void choose_scheme(struct dedup *dedup, char scheme[16]) {
    unsigned *k = &dedup->building.k;
    if (*k >= WITHOUT_TABLES && *k <= IDX_MAX_K && *k < dedup->building.bits && dedup->report.path == NULL) *k = 0;
    snprintf(scheme, 16, "%u:1:1", *k / 2 + 1);
    dedup->building.scheme = scheme;
}

/* Divides the memory while texts are fingerprinted: one half is for the builder (or see open_sets), a quarter for
 * the text that is read alone because it is large, and a quarter for all other texts. The large one may need more. */
static void share_memory(struct dedup *dedup) {
    uint64_t half = dedup->building.memory_bytes / 2;
    dedup->building.memory_bytes = half > IDX_MIN_MEMORY_BYTES ? half : IDX_MIN_MEMORY_BYTES;
    dedup->texts.rules.memory_bytes = half / 2;
}

/* Sets the format if the names or first bytes of the inputs say that they are arrays of fingerprints. All other inputs
 * have documents, which may be of several formats. */
static bool find_format_of_arrays(struct dedup *dedup) {
    enum input_format found = INPUT_AUTO;
    size_t arrays = 0;
    const struct extract_rules *extract = &dedup->texts.rules.extract;
    if (dedup->texts.features || extract->hashes || extract->tokens) return true;
    for (size_t i = 0; i < dedup->paths.count; i++) arrays += input_format_of(dedup->paths.values[i]) > INPUT_TSV;
    if (dedup->paths.count > 1 && arrays == 0) return true;
    if (!input_await_format(&dedup->paths, &found)) return false;
    if (found > INPUT_TSV) dedup->format = FORMAT_FINGERPRINTS + (int)(found - INPUT_TSV);
    return true;
}

/* Checks that nothing takes what standard input has before the documents that are to be deduplicated do. */
static bool check_standard_input(const struct dedup *dedup) {
    const struct strings *documents = &dedup->against.documents, *paths = &dedup->paths;
    size_t readings = paths->count == 0;
    for (size_t i = 0; i < documents->count; i++) readings += strcmp(documents->values[i], "-") == 0;
    if (readings <= (paths->count == 0)) return true;
    for (size_t i = 0; i < paths->count; i++) readings += strcmp(paths->values[i], "-") == 0;
    return readings == 1 || complain_of_usage("standard input can be read once: by --documents, or as a FILE");
}

/* Checks that the texts of --documents can be found. */
static bool check_documents(const struct dedup *dedup) {
    const struct against *against = &dedup->against;
    if (against->documents.count == 0) return true;
    if (!dedup->by_sets || !against->is_index)
        return complain_of_usage("--documents needs --against with an index, and texts to compare with, without -k");
    for (size_t i = 0; i < against->documents.count; i++) {
        const char *path = against->documents.values[i];
        if (strcmp(path, "-") != 0 && access(path, R_OK) != 0) return complain("%s: %s", path, strerror(errno));
    }
    if (!check_standard_input(dedup)) return false;
    if (against->properties.id_type == IDX_ID_TEXT) return true;
    return complain("%s has no text IDs, so --documents can't find the texts of its documents", against->path);
}

/* Has shingles be those of an index of sketches where its sets are read. Without texts or sets, sketches would decide
 * by estimates, which drop texts wrongly. */
static bool apply_sketch(struct dedup *dedup) {
    const struct against *against = &dedup->against;
    const struct sketch *sketch = &against->sketch;
    struct shingling *shingling = &dedup->texts.rules.shingling;
    if (!against->has_sketches || !dedup->by_sets) return true;
    if (against->documents.count == 0)
        return complain_of_usage("%s is an index of sketches, by which texts can only be found: give the texts of its "
                                 "documents, or the file "
                                 "of --keep-sets, with --documents",
                                 against->path);
    if (against_sets_path(against) == NULL) return true;
    if (dedup->shingle == NULL) {
        shingling->width = sketch->width;
        shingling->of_characters = sketch->by_characters;
    }
    return (shingling->width == sketch->width && shingling->of_characters == sketch->by_characters) ||
           complain_of_usage("--shingle %s: the sets of %s are of %s", dedup->shingle, against->path, sketch->shingles);
}

/* Opens what --against names, and checks that it can be compared with. */
static bool open_against(struct dedup *dedup) {
    struct against *against = &dedup->against;
    if (!against_open(against) || !apply_sketch(dedup) || !check_documents(dedup)) return false;
    if (against->path != NULL && !against->is_index && !dedup->by_sets)
        return complain("%s is no index, and texts can be compared with texts only, without -k", against->path);
    if (!against_looks_up(against)) return true;
    if (dedup->pairs)
        return complain_of_usage("--pairs compares texts: give those of the documents of %s with --documents",
                                 against->path);
    against->distance = dedup->by_sets ? against->properties.k : dedup->listing.options.distance;
    if (against->distance > against->properties.k)
        return complain("%s was built for distances up to %u, not %u: give -k %u", against->path, against->properties.k,
                        against->distance, against->properties.k);
    return against_complete_rules(against, &dedup->texts.rules, has_texts(dedup));
}

/* Decides which IDs are listed, and has the report name the options that it depends on. */
static void choose_outputs(struct dedup *dedup) {
    struct listing *listing = &dedup->listing;
    bool elsewhere = folders_are_asked_for(&dedup->folders) || dedup->report.path != NULL;
    listing->quiet = elsewhere && !listing->drop && !dedup->clusters;
    listing->keep = !listing->drop && !dedup->clusters && !listing->quiet;
    listing->remark = dedup->by_sets ? "" : "; texts were not compared";
    dedup->intake.notes_ids = !listing->quiet || dedup->folders.dropped.path != NULL;
    dedup->report.origin.recipe = dedup->texts.rules.recipe;
    dedup->report.origin.against = dedup->against.path;
    dedup->report.origin.shingling = dedup->texts.rules.shingling;
    dedup->report.origin.ignore_common = dedup->ignore_common;
}

/* Checks that pairs are all that is asked for. */
static bool check_pairs(const struct dedup *dedup) {
    const struct listing *listing = &dedup->listing;
    const char *other = listing->drop                                         ? "--drop"
                        : listing->json                                       ? "--json"
                        : dedup->clusters                                     ? "--clusters"
                        : dedup->by != PARTS_DOCUMENT                         ? "--by"
                        : dedup->folders.kept.path != NULL                    ? "--write"
                        : dedup->folders.dropped.path != NULL                 ? "--dropped"
                        : dedup->report.path != NULL                          ? "--report"
                        : listing->representative != IDX_REPRESENTATIVE_FIRST ? "--representative"
                                                                              : NULL;
    return other == NULL || complain_of_usage("--pairs prints pairs of texts, and drops none: omit it, or %s", other);
}

/* Checks the options with each other, and derives from them what the parts of the command need. */
static bool complete_options(struct dedup *dedup) {
    struct listing *listing = &dedup->listing;
    if (listing->drop && (dedup->clusters || listing->json))
        return complain_of_usage("give --drop or %s, not both", listing->json ? "--json" : "--clusters");
    if (dedup->pairs && !check_pairs(dedup)) return false;
    if (listing->json && dedup->against.path != NULL)
        return complain_of_usage("--json has no clusters for what --against drops; give --clusters");
    dedup->clusters |= listing->json;
    if (dedup->format == FORMAT_AUTO && !find_format_of_arrays(dedup)) return false;
    if (!choose_way(dedup) || !apply_by(dedup) || !open_against(dedup) || !check_no_fingerprint_options(dedup))
        return false;
    if (reads_fingerprints(dedup) && !check_no_text_options(dedup)) return false;
    set_defaults(dedup);
    dedup->building.memory_bytes = listing->options.memory_bytes;
    if (!reads_fingerprints(dedup) && listing->options.memory_bytes > 0) share_memory(dedup);
    if (!reads_fingerprints(dedup) && !text_options_settle(&dedup->texts, (enum document_format)dedup->format))
        return false;
    if (!apply_representative(dedup) || !check_second_reading(dedup)) return false;
    choose_outputs(dedup);
    listing->options.threads = dedup->texts.rules.threads;
    dedup->building.bits = dedup->texts.rules.bits;
    dedup->building.k = listing->options.distance;
    dedup->building.threads = listing->options.threads;
    if (dedup->format > FORMAT_FINGERPRINTS) dedup->building.id_type = IDX_ID_U64;
    return reads_fingerprints(dedup) || check_recipe(dedup->texts.rules.recipe);
}

/* Reads the command line. Sets *status and returns false if the command ends after that. */
static bool read_arguments(int argc, char **argv, struct dedup *dedup, int *status) {
    struct text_options *texts = &dedup->texts;
    struct listing *listing = &dedup->listing;
    const struct option_rule rules[] = {
#include "options/dedup.h"
    };
    const struct grammar grammar = GRAMMAR(dedup, rules, "FILE", 0, SIZE_MAX);
    return arguments_read(&grammar, argc, argv, &dedup->paths, status);
}

/* ---- From texts ---- */

/* Notes a file in the journal. This is a file_visitor. */
static bool visit_file(void *context, const struct opened_file *file) {
    struct dedup *dedup = context;
    return dedup->intake.journal == NULL || journal_add_file(&dedup->journal, file);
}

/* Returns the value by which a document is preferred, or 0. Counts it as undated if it has no date or score. */
static int64_t preference_value(struct dedup *dedup, const struct raw_document *raw) {
    enum preferred preferred = dedup->intake.preference.preferred;
    if (preferred == PREFERRED_NONE) return 0;
    if (preferred == PREFERRED_LONGEST) return (int64_t)raw->text_bytes;
    bool has_score = raw->format == FORMAT_JSONL; /* Others have the date of their file. */
    int64_t date = preferred == PREFERRED_BEST && !has_score ? DATE_NONE : raw->date;
    if (date == DATE_NONE) dedup->undated++;
    return date;
}

static void say_undated(const struct dedup *dedup) {
    const char *field = dedup->texts.rules.extract.json.date;
    bool is_best = dedup->score != NULL;
    if (dedup->undated == 0) return;
    complain("%" PRIu64 " %s no %s%s%s%s, so %s as the %s", dedup->undated,
             dedup->undated == 1 ? "document has" : "documents have",
             is_best ? "number for a score" : "date that can be read",
             field == NULL ? ""
             : is_best     ? " (--score-field "
                           : " (--date-field ",
             field != NULL ? field : "", field != NULL ? ")" : "", dedup->undated == 1 ? "it counts" : "they count",
             is_best ? "worst" : "oldest");
}

static void say_large(const struct dedup *dedup) {
    if (dedup->large == 0 || dedup->listing.options.memory_bytes == 0) return;
    complain("%" PRIu64 " %s more than a share of --memory, so %s was read alone; --memory may have been exceeded",
             dedup->large, dedup->large == 1 ? "document needs" : "documents need", dedup->large == 1 ? "it" : "each");
}

/* Keeps a bad record that has no other ID by that of its WARC record, or by its place. A file that can't be read, and a
 * text for which memory ran out, are no records, and not kept. */
static bool keep_bad_record(struct dedup *dedup, const struct raw_document *raw, const struct place *place) {
    if (raw->bad.kind == BAD_FILE || raw->bad.kind == BAD_MEMORY) return true;
    const struct span id = raw_document_id(raw);
    return intake_keep_apart(&dedup->intake, id.bytes, id.length, place);
}

/* Refuses a document of a file that became another one since its format was checked. */
static bool check_cutting_again(struct dedup *dedup, const struct raw_document *raw) {
    const bool is_of_warc = raw->unit == UNIT_RECORD || raw->unit == UNIT_BROKEN_RECORD;
    return dedup->intake.divided == NULL || dedup->intake.journal == NULL ||
           check_format_can_be_cut(dedup, raw->place, is_of_warc ? FORMAT_WARC : raw->format);
}

/* Takes a document, or keeps it apart: one without words, or with too few features. This is a made_visitor. */
static bool visit_document(void *context, const struct raw_document *raw, const struct made *made) {
    struct dedup *dedup = context;
    struct arrival arrival = {.record = {.id = made->id.bytes, .id_length = made->id.length},
                              .has_fingerprint = made->fingerprint_count > 0,
                              .shingles = made->shingles,
                              .shingle_count = made->shingle_count,
                              .made = made,
                              .place = {raw->file, raw->begins, raw->ends, raw->unit, FATE_KEPT, raw->format}};
    if (interrupt_noted() || !check_cutting_again(dedup, raw)) return false;
    if (raw->is_large) dedup->large++;
    dedup->divided.text_bytes += raw->text_bytes;
    if (raw->bad.kind != BAD_NONE && made->id.length == 0) return keep_bad_record(dedup, raw, &arrival.place);
    bool is_compared = dedup->by_sets ? made->shingle_count > 0 : arrival.has_fingerprint;
    if (!is_compared || raw->bad.kind != BAD_NONE)
        return intake_keep_apart(&dedup->intake, made->id.bytes, made->id.length, &arrival.place);
    if (arrival.has_fingerprint) arrival.record.fingerprint = made->fingerprints[0];
    arrival.place.fate = FATE_COMPARED;
    arrival.value = preference_value(dedup, raw);
    return intake_take(&dedup->intake, &arrival);
}

/* Takes the documents of inputs that are texts. Returns false also if a signal was noted. */
static bool add_texts(struct dedup *dedup) {
    struct pipeline_rules *rules = &dedup->texts.rules;
    rules->visit = visit_document;
    rules->makes = dedup->by_sets ? MAKES_SHINGLES : MAKES_FINGERPRINTS;
    if (dedup->intake.looks_up) rules->makes |= MAKES_FINGERPRINTS;
    rules->visit_file = visit_file;
    rules->bad_heading = "kept bad records, which can't be compared";
    rules->visits_others = dedup->intake.journal != NULL;
    rules->context = dedup;
    enum pipeline_status status = pipeline_run(rules, &dedup->paths);
    dedup->partly = status == PIPELINE_PARTLY;
    say_undated(dedup);
    say_large(dedup);
    return status != PIPELINE_FAILED && !interrupt_noted();
}

/* ---- From fingerprints ---- */

static bool take_records(struct dedup *dedup, const struct tsv_record *records, size_t count) {
    bool ok = true;
    for (size_t i = 0; i < count && ok; i++) {
        const struct arrival arrival = {.record = records[i], .has_fingerprint = true, .place.fate = FATE_COMPARED};
        ok = intake_take(&dedup->intake, &arrival);
    }
    return ok;
}

static bool add_fingerprints(struct dedup *dedup) {
    struct input input = {.reader = READER_INIT,
                          .paths = dedup->paths,
                          .format = (enum input_format)(dedup->format - FORMAT_FINGERPRINTS + INPUT_TSV),
                          .partial = dedup->partial,
                          .required_recipe = dedup->against.is_index ? dedup->against.properties.recipe : NULL,
                          .rules = {dedup->building.bits, NOTATION_HEX, TSV_ID_TEXT}};
    const struct tsv_record *records;
    enum input_status status = input_find_recipe(&input);
    bool added = true;
    size_t count;
    while (added && (status = input_next(&input, &records, &count)) == INPUT_DOCUMENTS)
        added = take_records(dedup, records, count);
    input_free(&input);
    return added && status == INPUT_END;
}

/* ---- The whole ---- */

/* Says how many IDs several documents have, before any is printed. With --strict, this is an error where there are no
 * folders that have the records themselves. */
static bool check_repeats(struct dedup *dedup) {
    bool is_refused = dedup->texts.rules.strict && !folders_are_asked_for(&dedup->folders);
    struct id_hashes *all = &dedup->intake.all_ids;
    uint64_t ids, documents;
    id_hashes_sort(all);
    id_hashes_count_repeated(all, &ids, &documents);
    id_hashes_free(all);
    if (ids == 0) return true;
    complain("%" PRIu64 " %s, %" PRIu64 " in all: a list of IDs does not tell these apart%s%s", ids,
             ids == 1 ? "ID is that of several documents" : "IDs are those of several documents", documents,
             reads_fingerprints(dedup) ? "" : "; --write copies records, whatever their IDs",
             is_refused ? "; --strict refuses this" : "");
    return !is_refused;
}

/* Builds the temporary index of all documents at `path`. */
static bool build_index(struct dedup *dedup, const char *path) {
    struct idx_builder **builder = &dedup->intake.builder;
    struct idx_error error;
    if (!succeeded(idx_builder_open(builder, path, &dedup->building, &error), &error)) return false;
    dedup->intake.id_type = dedup->building.id_type;
    bool built = (reads_fingerprints(dedup) ? add_fingerprints(dedup) : add_texts(dedup)) &&
                 intake_end(&dedup->intake) && check_repeats(dedup) &&
                 succeeded(idx_builder_finish(*builder, NULL, &error), &error);
    idx_builder_close(*builder);
    return built;
}

/* Takes all texts, and decides by the sets of their shingles which of them are kept. With --pairs, decides nothing. */
static bool compare_sets(struct dedup *dedup) {
    struct against *against = &dedup->against;
    bool has_known = against->path != NULL && !against_looks_up(against);
    return (!has_known || against_read_texts(against, &dedup->texts.rules, &dedup->resemble)) && add_texts(dedup) &&
           intake_end(&dedup->intake) && check_repeats(dedup) && resemble_ignore_common(&dedup->resemble) &&
           (dedup->pairs || resemble_decide(&dedup->resemble)) &&
           (dedup->intake.divided == NULL || divided_decide(&dedup->divided, &dedup->resemble));
}

/* Lists what the temporary index at `path` decides, and removes it. */
static bool list_clusters(struct dedup *dedup, const char *path) {
    struct idx_index *index;
    if (!open_index_unloaded(&index, path)) return false;
    scratch_remove(&dedup->scratch);
    dedup->listing.kept_apart = dedup->intake.apart_count;
    dedup->listing.dropped_apart = dedup->intake.known_count;
    bool listed =
        listing_run(&dedup->listing, index) && (dedup->report.path == NULL || report_gather(&dedup->report, index));
    idx_close(index);
    return listed;
}

/* Returns the place of a document in the inputs, as `find_place` of struct listing. */
static uint64_t find_place(void *context, uint64_t number) {
    return preference_input_number(&((struct dedup *)context)->intake.preference, number);
}

/* Notes a document for the report and the folders, and if it is dropped. This is `note` of struct listing. */
static void note_member(void *context, const struct idx_cluster_member *member) {
    struct dedup *dedup = context;
    uint64_t number = find_place(dedup, member->document.number);
    if (dedup->report.path != NULL && !dedup->by_sets) report_note(&dedup->report, member);
    if (member->is_representative || dedup->dropped == NULL) return;
    if (dedup->intake.divided == NULL) bit_set(dedup->dropped, number);
    if (folders_are_asked_for(&dedup->folders))
        folders_put_dropped(&dedup->folders, member, dedup->listing.kept, dedup->listing.set_size);
}

/* Lists a document, and what it has in common with its representative. This is a resemble_visitor. */
static bool list_member(void *context, const struct idx_cluster_member *member, const struct idx_kept_set *kept) {
    struct dedup *dedup = context;
    if (dedup->contained != NULL)
        dedup->listing.set_size = resemble_set_size(&dedup->resemble, dedup->resemble.known + member->document.number);
    return listing_take(&dedup->listing, member, kept);
}

/* Has the summary count parts in place of documents. */
static void name_parts(struct dedup *dedup) {
    const struct divided *divided = &dedup->divided;
    const double percent =
        divided->text_bytes > 0 ? 100 * (double)divided->dropped_bytes / (double)divided->text_bytes : 0;
    dedup->listing.noun = dedup->by == PARTS_LINE ? "lines" : "paragraphs";
    dedup->listing.kept_apart = 0;
    snprintf(dedup->remark, sizeof dedup->remark,
             ", %" PRIu64 " of %" PRIu64 " bytes (%.1f %%); %" PRIu64 " of %" PRIu64 " documents to drop as a whole",
             divided->dropped_bytes, divided->text_bytes, percent, divided->gone_count,
             divided->document_count + dedup->intake.apart_count);
    dedup->listing.remark = dedup->remark;
}

/* Lists all pairs of texts that resemble each other, for --pairs. */
static bool list_pairs(struct dedup *dedup) {
    struct listing *listing = &dedup->listing;
    uint64_t pairs, documents = dedup->intake.compared + dedup->intake.apart_count;
    if (!resemble_put_pairs(&dedup->resemble, &listing->output, &pairs)) return false;
    progress_end(&listing->progress);
    if (listing->progress.shown)
        complain("%" PRIu64 " %s: %" PRIu64 " %s%s", documents, documents == 1 ? "document" : "documents", pairs,
                 pairs == 1 ? "pair" : "pairs", listing->remark);
    return true;
}

/* Lists what the sets of shingles decided, and gathers from them what the report shows. */
static bool list_sets(struct dedup *dedup) {
    struct listing *listing = &dedup->listing;
    listing->kept_apart = dedup->intake.apart_count;
    if (dedup->intake.divided != NULL) name_parts(dedup);
    listing_begin(listing);
    if (!resemble_visit(&dedup->resemble, dedup->clusters, list_member, dedup, &listing->summary)) return false;
    listing->dropped_apart = dedup->intake.known_count + dedup->resemble.like_known;
    if (dedup->intake.divided != NULL && listing->drop)
        divided_put_gone(&dedup->divided, &dedup->resemble, &listing->output, "\n");
    listing_end(listing);
    return listing->output.error == 0 &&
           (dedup->report.path == NULL || report_gather_levels(&dedup->report, &dedup->resemble));
}

/* Has the listing call note_member and find_place, and prepares what these write to. */
static bool prepare_notes(struct dedup *dedup) {
    dedup->listing.note = note_member;
    dedup->listing.find_place = find_place;
    dedup->listing.context = dedup;
    dedup->folders.properties = &dedup->listing.properties;
    if (dedup->intake.journal == NULL) return true;
    dedup->dropped = dedup->intake.divided != NULL ? dedup->divided.gone : bits_make(dedup->intake.compared);
    return dedup->dropped != NULL && (!folders_are_asked_for(&dedup->folders) || folders_open(&dedup->folders));
}

/* Writes the report, which report_publish then puts at its place. */
static bool write_report(struct dedup *dedup) {
    struct report *report = &dedup->report;
    return report_count_inputs(report, &dedup->intake, dedup->dropped) &&
           (!has_texts(dedup) || report_read_texts(report, &dedup->intake, &dedup->texts.rules)) &&
           report_write(report);
}

/* Says so if nothing is kept, since empty output could be taken for a mistake. */
static void say_nothing_kept(const struct dedup *dedup) {
    const struct intake *intake = &dedup->intake;
    uint64_t known = intake->known_count + dedup->resemble.like_known;
    if (known > 0 && intake->compared == dedup->resemble.like_known && intake->apart_count == 0)
        complain("no document is kept: each has a near-duplicate in %s", dedup->against.path);
}

/* Prints and writes what is found. The report and the folders appear once all of them are written. */
static bool list_and_write(struct dedup *dedup, const char *path) {
    char remark[80];
    if (dedup->ignore_common != NULL) {
        const uint64_t ignored = dedup->resemble.ignored;
        snprintf(remark, sizeof remark, "; %" PRIu64 " common %s did not count", ignored,
                 ignored == 1 ? "shingle" : "shingles");
        dedup->listing.remark = remark;
    }
    if (dedup->pairs) return list_pairs(dedup);
    bool listed = prepare_notes(dedup) && (dedup->by_sets ? list_sets(dedup) : list_clusters(dedup, path));
    if (!listed || !intake_print(&dedup->intake, &dedup->listing)) return false;
    say_nothing_kept(dedup);
    bool has_folders = folders_are_asked_for(&dedup->folders), has_report = dedup->report.path != NULL;
    return (!has_folders ||
            folders_write(&dedup->folders, &dedup->intake, dedup->dropped, &dedup->texts.rules.extract)) &&
           (!has_report || write_report(dedup)) && (!has_folders || folders_publish(&dedup->folders)) &&
           (!has_report || report_publish(&dedup->report));
}

/* Opens an empty collection of sets, which may use five eighths of --memory: while texts are read, sets take a quarter
 * of that, and more only afterwards. */
static bool open_sets(struct dedup *dedup, const char *folder) {
    struct idx_sets_options options = IDX_SETS_OPTIONS_INIT;
    options.threads = dedup->listing.options.threads;
    options.memory_bytes = dedup->listing.options.memory_bytes / 8 * 5;
    if (options.memory_bytes > 0 && options.memory_bytes < IDX_MIN_MEMORY_BYTES)
        options.memory_bytes = IDX_MIN_MEMORY_BYTES;
    options.temporary_folder = folder;
    options.progress = progress_visit;
    options.context = &dedup->listing.progress;
    dedup->resemble.asks_more = dedup->report.path != NULL;
    dedup->resemble.prefers = (enum idx_representative)dedup->listing.representative;
    return resemble_open(&dedup->resemble, &options, &dedup->scratch, folder);
}

/* Returns whether IDs are printed that are not found in the order of the inputs. Those that are kept are, unless other
 * documents than the first ones of clusters are preferred. */
static bool is_out_of_order(const struct dedup *dedup) {
    const struct listing *listing = &dedup->listing;
    bool is_first =
        listing->representative == IDX_REPRESENTATIVE_FIRST && dedup->intake.preference.preferred == PREFERRED_NONE;
    return !dedup->by_sets && (listing->drop || (listing->keep && !is_first));
}

/* Makes the temporary files that the options need, and hands them to their users. */
static bool open_temporaries(struct dedup *dedup, const char *folder) {
    struct intake *intake = &dedup->intake;
    intake->against = &dedup->against;
    intake->looks_up = against_looks_up(&dedup->against);
    intake->resemble = &dedup->resemble;
    if (!temporary_open(&intake->apart, &dedup->scratch, folder)) return false;
    if (!temporary_open(&intake->known, &dedup->scratch, folder)) return false;
    if (dedup->by_sets && !open_sets(dedup, folder)) return false;
    if (is_out_of_order(dedup)) {
        if (!temporary_open(&dedup->order.lines, &dedup->scratch, folder)) return false;
        dedup->listing.order = &dedup->order;
    }
    if (intake->preference.preferred != PREFERRED_NONE && !dedup->by_sets &&
        !temporary_open(&intake->preference.documents, &dedup->scratch, folder))
        return false;
    if (!reads_twice(dedup)) return true;
    intake->journal = &dedup->journal;
    return journal_open(&dedup->journal, &dedup->scratch, folder);
}

/* Removes what killed commands left beside the report and the folders, since those places may be among the inputs. */
static bool clean_places(const struct dedup *dedup) {
    const char *const paths[] = {dedup->folders.kept.path, dedup->folders.dropped.path, dedup->report.path};
    for (int i = 0; i < 3; i++) {
        if (paths[i] == NULL) continue;
        char *parent = folder_parent(paths[i]);
        if (parent == NULL) return complain("out of memory");
        scratch_clean(parent);
        free(parent);
    }
    return true;
}

/* Does the work of the command, once its options are checked. Returns false also if an input could not be read. */
static bool find_duplicates(struct dedup *dedup) {
    const char *folder = scratch_parent(dedup->listing.options.temporary_folder);
    dedup->listing.options.temporary_folder = folder;
    if (!clean_places(dedup) || !scratch_open(&dedup->scratch, folder, "--tmpdir")) return false;
    char *path = scratch_path(&dedup->scratch, "index");
    if (path == NULL) complain("out of memory");
    bool ok = path != NULL && open_temporaries(dedup, folder) &&
              (dedup->by_sets ? compare_sets(dedup) : build_index(dedup, path)) && list_and_write(dedup, path);
    scratch_remove(&dedup->scratch);
    free(path);
    return ok && !dedup->partly;
}

static void free_all(struct dedup *dedup) {
    globs_free(&dedup->texts.rules.globs);
    strings_free(&dedup->texts.rules.extract.json.texts);
    folders_close(&dedup->folders);
    report_close(&dedup->report);
    if (dedup->intake.divided == NULL) free(dedup->dropped);
    divided_close(&dedup->divided);
    resemble_close(&dedup->resemble);
    input_order_close(&dedup->order);
    intake_close(&dedup->intake);
    journal_close(&dedup->journal);
    against_close(&dedup->against);
}

int command_dedup(int argc, char **argv) {
    static struct dedup dedup; /* Too large for the stack. */
    char scheme[16];
    int status;
    dedup = (struct dedup){
        .listing = LISTING_INIT,
        .building = IDX_BUILD_OPTIONS_INIT,
        .format = FORMAT_AUTO,
        .min_words = NO_MIN_WORDS,
        .folders = {.kept.option = "--write", .dropped.option = "--dropped"},
        .resemble = RESEMBLE_NONE,
        .order = INPUT_ORDER_CLOSED,
        .report = {.listing = &dedup.listing, .origin.command = "idx dedup"},
        .journal = JOURNAL_CLOSED,
        .intake = {.apart = TEMPORARY_CLOSED,
                   .known = TEMPORARY_CLOSED,
                   .preference = PREFERENCE_NONE,
                   .ids = OUTPUT_KEPT,
                   .shingles = OUTPUT_KEPT},
    };
    text_options_init(&dedup.texts);
    dedup.texts.rules.min_features = NO_MIN_FEATURES;
    dedup.texts.rules.bits = 0; /* 0 as long as they are not given. */
    dedup.listing.options.distance = NO_DISTANCE;
    dedup.listing.method = NO_METHOD;
    dedup.listing.cap = NO_CAP;
    if (!read_arguments(argc, argv, &dedup, &status)) return status;
    bool ok = complete_options(&dedup);
    if (ok) {
        choose_scheme(&dedup, scheme);
        dedup.building.progress = progress_visit;
        dedup.building.context = &dedup.listing.progress;
        progress_start(&dedup.listing.progress, dedup.texts.rules.progress);
        interrupt_catch();
        ok = find_duplicates(&dedup);
    }
    free_all(&dedup);
    bool written = output_close(&dedup.listing.output);
    interrupt_obey();
    return ok && written ? ENDS_WELL : ENDS_BADLY;
}
