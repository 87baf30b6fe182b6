/* dedup.c: `idx dedup`: finds which documents to keep among texts or fingerprints, by a temporary index. The index is
 * removed as soon as it is open, so that nothing is left however the command ends after that.
 *
 * The way of a document, from file to file; [ ] is where only some options lead:
 *
 *   inputs          text/documents.c, cut.c      cut the inputs into documents
 *     |             text/text.c                  makes fingerprints of them, called by the threads of text/pipeline.c
 *     |             [input/input.c]              reads fingerprints that are made already
 *     v
 *   fingerprints    dedup/intake.c, repeats.c    keeps aside what can't be compared, and what --against has
 *     |             [dedup/journal.c]            notes where each document is in the inputs, to read it once more
 *     v
 *   an index        idx_clusters                 finds the clusters by fingerprints
 *     |             [dedup/confirm.c]            keeps their members, and has their texts read again (journal.c) into
 *     |             [dedup/sets.c, known.c]      sets of features, by which --documents drops some of them
 *     |             [dedup/regroup.c]            makes the clusters that the texts confirm
 *     v
 *   clusters        answers/cluster_listing.c    prints the IDs
 *                   [dedup/folders.c, kept.c]    write the records of --write and --dropped
 *                   [report/report.c]            writes the page of --report
 *
 * With --resemble alone, texts become sets of shingles, and dedup/resemble.c has the library compare these (idx_sets in
 * idx.h): there are no fingerprints and no index.
 */
#include "tools/dedup/dedup.h"
#include "tools/input/index_making.h"
#include "tools/report/report.h"

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

/* The distance, in bits, if neither -k nor --resemble is given; and the value that means that -k is not given. */
#define DEFAULT_DISTANCE 3
#define NO_DISTANCE UINT_MAX

struct dedup {
    struct text_options texts;
    struct listing listing;
    struct idx_build_options building;
    int format;
    bool clusters, partial;
    const char *resemblance; /* The argument of --resemble; NULL: not given. */
    bool chooses_distance;   /* The distance is chosen for --resemble, since -k is not given. */
    uint64_t lengths[65];    /* Number i counts the texts with 2^(i - 1) features or more, and fewer than 2^i. */
    struct texts paths;
    struct against against;
    struct folders folders;
    struct report report;
    struct confirm confirm;
    bool by_sets; /* The sets of the texts' shingles decide, and no fingerprints are made. */
    struct resemble resemble;
    struct scratch scratch;
    struct journal journal;
    struct intake intake;
    const char *score; /* The argument of --score-field; NULL: not given. */
    uint64_t undated;  /* Documents without a date or score, if the newest or best are preferred. */
    uint64_t large;    /* Documents that needed more than their share of --memory. */
    uint64_t *dropped; /* A bit for each document that was compared. */
    struct input_order order;
    bool partly; /* An input could not be read. */
};

static bool is_of_fingerprints(const struct dedup *dedup) { return dedup->format >= FORMAT_FINGERPRINTS; }

static bool has_texts(const struct dedup *dedup) {
    const struct extract_rules *extract = &dedup->texts.rules.extract;
    return !is_of_fingerprints(dedup) && !dedup->texts.features && !extract->hashes && !extract->tokens;
}

/* ---- Options ---- */

/* Refuses options that have no effect on fingerprints that are made already. Returns false after a complaint. */
static bool check_fingerprints(const struct dedup *dedup) {
    const struct pipeline_rules *rules = &dedup->texts.rules;
    const struct extract_rules *extract = &rules->extract;
    bool fields = extract->json.id != NULL || extract->json.title != NULL || extract->json.texts.count > 0;
    const char *vain = fields                                     ? "--text-field, --id-field and --title-field"
                       : extract->main_text                       ? "--main-text"
                       : extract->max_text != 0                   ? "--max-text"
                       : dedup->texts.features || extract->hashes ? "--features and --hashes"
                       : extract->tokens                          ? "--tokens"
                       : rules->globs.count > 0                   ? "--include and --exclude"
                       : rules->recipe != NULL                    ? "--recipe"
                       : dedup->texts.hash != 0                   ? "--hash"
                       : dedup->texts.ties != 0                   ? "--ties"
                       : rules->table != NULL                     ? "--table"
                       : rules->min_features != 1                 ? "--min-features"
                       : rules->strict && dedup->format > FORMAT_FINGERPRINTS ? "--strict"
                       : dedup->folders.kept.path != NULL                     ? "--write"
                       : dedup->folders.dropped.path != NULL                  ? "--dropped"
                       : dedup->resemblance != NULL                           ? "--resemble"
                       : dedup->confirm.threshold != NULL                     ? "--confirm"
                                                                              : NULL;
    return vain == NULL ||
           complain_of_usage("%s can be used with texts only, not with --format %s", vain, format_names[dedup->format]);
}

static bool reads_twice(const struct dedup *dedup) {
    return folders_are_asked_for(&dedup->folders) || dedup->confirm.threshold != NULL ||
           (dedup->report.path != NULL && !is_of_fingerprints(dedup));
}

/* Checks that both folders and the report have places of their own, since each of them appears as a whole. */
static bool check_places(const struct dedup *dedup) {
    const char *const options[] = {"--write", "--dropped", "--report"};
    const char *const paths[] = {dedup->folders.kept.path, dedup->folders.dropped.path, dedup->report.path};
    for (int i = 0; i < 3; i++) {
        for (int j = i + 1; j < 3; j++) {
            if (paths[i] == NULL || paths[j] == NULL || !folder_is_shared(paths[i], paths[j])) continue;
            return complain_of_usage("%s and %s need two places, neither of them within the other", options[i],
                                     options[j]);
        }
    }
    return true;
}

/* Sets the distance for --resemble, for texts with `features` features or more, as at least three quarters have. 0
 * means that their lengths are not known yet: then the distance is that for the shortest texts. */
static void choose_distance(struct dedup *dedup, uint64_t features) {
    const struct pipeline_rules *rules = &dedup->texts.rules;
    unsigned *distance = &dedup->listing.options.distance;
    bool measured;
    *distance = text_distance(strtod(dedup->resemblance, NULL), features, rules->recipe, rules->bits, &measured);
    if (features > 0)
        complain(measured
                     ? "-k %u for --resemble %s, as measured on texts of such lengths"
                     : "-k %u for --resemble %s; what it misses was not measured for a resemblance below 0.5, other "
                       "recipes or fewer bits, and a larger -k misses less",
                 *distance, dedup->resemblance);
}

/* Applies --resemble, which is --confirm with a distance that fits it. Returns false after a complaint. */
static bool apply_resemblance(struct dedup *dedup) {
    unsigned *distance = &dedup->listing.options.distance;
    bool has_distance = *distance != NO_DISTANCE;
    if (!has_distance) *distance = DEFAULT_DISTANCE;
    if (dedup->resemblance == NULL) return true;
    const char *other = dedup->confirm.threshold != NULL                  ? "--confirm"
                        : dedup->confirm.similarity != SIMILARITY_JACCARD ? "--similarity"
                                                                          : NULL;
    if (other != NULL)
        return complain_of_usage(
            "--resemble and %s exclude each other: --resemble T is --confirm T with a distance that fits", other);
    if (dedup->against.path != NULL && !has_distance && dedup->confirm.known.texts.count == 0)
        return complain_of_usage(
            "--resemble with --against needs the texts of the documents of %s, by --documents; or -k, "
            "within which a document is dropped whatever its text",
            dedup->against.path);
    dedup->by_sets = has_texts(dedup) && !has_distance && dedup->against.path == NULL && dedup->report.path == NULL;
    if (dedup->by_sets) return resemblance_read("--resemble", dedup->resemblance, &dedup->resemble.threshold);
    dedup->confirm.threshold = dedup->resemblance;
    dedup->confirm.option = "--resemble";
    dedup->chooses_distance = !has_distance;
    return true;
}

/* Checks the options that need the inputs a second time. Returns false after a complaint. */
static bool check_again(struct dedup *dedup) {
    if (!confirm_check(&dedup->confirm)) return false;
    if (dedup->confirm.known.texts.count > 0 && (dedup->against.path == NULL || dedup->confirm.threshold == NULL))
        return complain_of_usage("--documents needs --against, and --resemble or --confirm");
    for (size_t i = 0; i < dedup->confirm.known.texts.count; i++) {
        const char *path = dedup->confirm.known.texts.values[i];
        if (strcmp(path, "-") == 0 || access(path, R_OK) == 0) continue;
        return complain("%s: %s", path, strerror(errno));
    }
    if (dedup->confirm.threshold != NULL && dedup->texts.features)
        return complain_of_usage("%s compares texts, which --features and --hashes don't have", dedup->confirm.option);
    return check_places(dedup) && (dedup->report.path == NULL || report_check(&dedup->report)) &&
           (!reads_twice(dedup) || journal_check_inputs(&dedup->paths)) &&
           (!folders_are_asked_for(&dedup->folders) || folders_check(&dedup->folders, &dedup->paths));
}

/* Checks the field by which documents are preferred, and makes the score take the place of the date. Returns false
 * after a complaint. */
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

/* Applies --representative: decides which document of a cluster is kept. Returns false after a complaint. */
static bool apply_representative(struct dedup *dedup) {
    struct listing *listing = &dedup->listing;
    struct preference *preference = &dedup->intake.preference;
    if (listing->representative > LAST_OF_INDEX) {
        preference->preferred = (enum preferred)(listing->representative - LAST_OF_INDEX);
        if (!has_texts(dedup))
            return complain_of_usage("--representative %s can be used with texts only",
                                     dedup_representatives[listing->representative]);
        listing->representative = IDX_REPRESENTATIVE_FIRST;
        dedup->confirm.preference = preference;
    }
    return apply_field(dedup);
}

/* Refuses a recipe that makes several fingerprints of a document: it could be kept by one and dropped by another. */
static bool check_recipe(const char *recipe) {
    static const char several[] = "segments:";
    if (recipe == NULL || strncmp(recipe, several, strlen(several)) != 0) return true;
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

/* Divides the memory while texts are fingerprinted: one half is for the builder, a quarter for the text that is read
 * alone because it is large, and a quarter for all other texts. The large one may need more than that. */
static void share_memory(struct dedup *dedup) {
    uint64_t half = dedup->building.memory_bytes / 2;
    dedup->building.memory_bytes = half > IDX_MIN_MEMORY_BYTES ? half : IDX_MIN_MEMORY_BYTES;
    dedup->texts.rules.memory_bytes = half / 2;
}

/* Sets the format if the names or first bytes of the inputs say that they are arrays of fingerprints. All other inputs
 * have documents, which may be of several formats. Returns false after a complaint. */
static bool find_fingerprints(struct dedup *dedup) {
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

/* Opens the index of --against, and checks that it allows the distance. Returns false after a complaint. */
static bool open_against(struct dedup *dedup) {
    struct against *against = &dedup->against;
    struct known *known = &dedup->confirm.known;
    if (against->path == NULL) return true;
    if (!against_open(against) || !against_settle(against, &dedup->texts.rules, has_texts(dedup))) return false;
    against->distance = dedup->listing.options.distance;
    const bool by_texts = known->texts.count > 0, is_far = against->distance > against->properties.k;
    known->is_asked_for = by_texts || (is_far && dedup->confirm.threshold != NULL);
    if (is_far && !known->is_asked_for)
        return complain("%s was built for distances up to %u, not %u: give -k %u, or --resemble or --confirm",
                        against->path, against->properties.k, against->distance, against->properties.k);
    if (!by_texts || against->properties.id_type == IDX_ID_TEXT) return true;
    return complain("%s has no text IDs, so --documents can't find the texts of its documents", against->path);
}

/* Checks the options with each other, and derives from them what the parts of the command need. Returns false after a
 * complaint. */
static bool complete_options(struct dedup *dedup) {
    struct listing *listing = &dedup->listing;
    if (listing->drop && (dedup->clusters || listing->json))
        return complain_of_usage("give --drop or %s, not both", listing->json ? "--json" : "--clusters");
    if (listing->json && dedup->against.path != NULL)
        return complain_of_usage("--json has no clusters for what --against drops; give --clusters");
    dedup->clusters |= listing->json;
    if (dedup->format == FORMAT_AUTO && !find_fingerprints(dedup)) return false;
    if (!apply_resemblance(dedup)) return false;
    if (!open_against(dedup)) return false;
    if (dedup->texts.rules.bits == 0) dedup->texts.rules.bits = IDX_MAX_BITS;
    dedup->building.memory_bytes = listing->options.memory_bytes;
    if (!is_of_fingerprints(dedup) && listing->options.memory_bytes > 0) share_memory(dedup);
    if (is_of_fingerprints(dedup) ? !check_fingerprints(dedup)
                                  : !text_options_settle(&dedup->texts, (enum document_format)dedup->format))
        return false;
    if (!apply_representative(dedup) || !check_again(dedup)) return false;
    if (dedup->chooses_distance) choose_distance(dedup, 0);
    dedup->report.origin.recipe = dedup->texts.rules.recipe;
    dedup->report.origin.threshold = dedup->confirm.threshold;
    dedup->report.origin.option = dedup->confirm.option;
    dedup->report.origin.against = dedup->against.path;
    bool elsewhere = folders_are_asked_for(&dedup->folders) || dedup->report.path != NULL;
    listing->quiet = elsewhere && !listing->drop && !dedup->clusters;
    listing->keep = !listing->drop && !dedup->clusters && !listing->quiet;
    dedup->intake.repeats.is_asked_for = !listing->quiet || dedup->folders.dropped.path != NULL;
    listing->options.threads = dedup->texts.rules.threads;
    dedup->building.bits = dedup->texts.rules.bits;
    dedup->building.k = listing->options.distance;
    dedup->building.threads = listing->options.threads;
    if (dedup->format > FORMAT_FINGERPRINTS) dedup->building.id_type = IDX_ID_U64;
    return is_of_fingerprints(dedup) || check_recipe(dedup->texts.rules.recipe);
}

/* The options that -h shows. */
static const char common[] = "--drop --clusters --resemble --write --against -k --format --id-field --threads --memory";

static bool read_arguments(int argc, char **argv, struct dedup *dedup, int *status) {
    enum { OWN = 15 };
    struct option_rule options[TEXT_OPTIONS + LISTING_OPTIONS + OWN];
    const struct option_rule own[OWN] = {
        {.name = "format", .kind = OPTION_CHOICE, .value = &dedup->format, .names = format_names},
        {.name = "drop", .kind = OPTION_FLAG, .value = &dedup->listing.drop},
        {.name = "clusters", .kind = OPTION_FLAG, .value = &dedup->clusters},
        {.name = "json", .kind = OPTION_FLAG, .value = &dedup->listing.json},
        {.name = "resemble", .kind = OPTION_TEXT, .value = &dedup->resemblance},
        {.name = "confirm", .kind = OPTION_TEXT, .value = &dedup->confirm.threshold},
        {.name = "similarity", .kind = OPTION_CHOICE, .value = &dedup->confirm.similarity, .names = similarity_names},
        {.name = "write", .kind = OPTION_TEXT, .value = &dedup->folders.kept.path},
        {.name = "dropped", .kind = OPTION_TEXT, .value = &dedup->folders.dropped.path},
        {.name = "report", .kind = OPTION_TEXT, .value = &dedup->report.path},
        {.name = "partial", .kind = OPTION_FLAG, .value = &dedup->partial},
        {.name = "date-field", .kind = OPTION_TEXT, .value = &dedup->texts.rules.extract.json.date},
        {.name = "score-field", .kind = OPTION_TEXT, .value = &dedup->score},
        {.name = "against", .kind = OPTION_TEXT, .value = &dedup->against.path},
        {.name = "documents", .kind = OPTION_TEXTS, .value = &dedup->confirm.known.texts},
    };
    const struct grammar grammar = {&help_dedup, options, sizeof options / sizeof *options, "FILE", 0,
                                    SIZE_MAX,    common};
    text_options_list(&dedup->texts, options);
    listing_list(&dedup->listing, options + TEXT_OPTIONS);
    memcpy(options + TEXT_OPTIONS + LISTING_OPTIONS, own, sizeof own);
    return arguments_read(&grammar, argc, argv, &dedup->paths, status);
}

/* ---- From texts ---- */

/* Notes a file in the journal. This is a file_visitor. */
static bool visit_file(void *context, const struct opened_file *file) {
    struct dedup *dedup = context;
    return dedup->intake.journal == NULL || journal_add_file(&dedup->journal, file);
}

/* Returns the value by which a document is preferred: its length, its date, its score, or 0. */
static int64_t find_value(struct dedup *dedup, const struct raw_document *raw) {
    enum preferred preferred = dedup->intake.preference.preferred;
    if (preferred == PREFERRED_NONE) return 0;
    if (preferred == PREFERRED_LONGEST) return (int64_t)raw->text_bytes;
    bool has_score = raw->format == FORMAT_JSONL; /* Others have the date of their file. */
    int64_t date = preferred == PREFERRED_BEST && !has_score ? DATE_NONE : raw->date;
    dedup->undated += date == DATE_NONE;
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

/* Says how many documents may have needed more memory than --memory allows. */
static void say_large(const struct dedup *dedup) {
    if (dedup->large == 0 || dedup->listing.options.memory_bytes == 0) return;
    complain("%" PRIu64 " %s more than a share of --memory, so %s was read alone; --memory may have been exceeded",
             dedup->large, dedup->large == 1 ? "document needs" : "documents need", dedup->large == 1 ? "it" : "each");
}

/* Keeps a bad record that has no other ID by that of its WARC record, or by its place. */
static bool keep_bad(struct dedup *dedup, const struct raw_document *raw, const struct place *place) {
    const char *id = raw->id != NULL ? raw->id : raw->place;
    bool is_record = raw->bad.kind != BAD_FILE && raw->bad.kind != BAD_MEMORY;
    return !is_record || intake_keep(&dedup->intake, id, strlen(id), place);
}

/* Takes a document. A line that begins with a tab is the ID of one with too few features, or of a bad record. This is a
 * result_visitor. */
static bool visit_result(void *context, const struct raw_document *raw, const char *made, size_t length) {
    struct dedup *dedup = context;
    const struct tsv_rules rules = {dedup->building.bits, NOTATION_HEX, TSV_ID_TEXT};
    const struct place place = {raw->file, raw->begins, raw->ends, raw->unit, FATE_KEPT};
    struct tsv_record record;
    struct problem problem;
    if (interrupt_noted()) return false;
    dedup->large += raw->is_large;
    if (length > 0 && made[0] == '\t') return intake_keep(&dedup->intake, made + 1, length - 2, &place);
    if (raw->bad.kind != BAD_NONE) return keep_bad(dedup, raw, &place);
    if (length == 0) return intake_keep(&dedup->intake, NULL, 0, &place);
    dedup->lengths[raw->features == 0 ? 0 : 64 - __builtin_clzll(raw->features)]++;
    if (tsv_parse(&rules, made, length - 1, &record, &problem) == TSV_RECORD)
        return intake_take(&dedup->intake, &record, &place, find_value(dedup, raw));
    return complain("%s", problem.sentence);
}

/* Takes the set of a document's shingles. A text without words is kept apart. This is a result_visitor. */
static bool visit_set(void *context, const struct raw_document *raw, const char *list, size_t length) {
    struct dedup *dedup = context;
    const struct text_set set = text_set_read(list, length);
    struct place place = {raw->file, raw->begins, raw->ends, raw->unit, FATE_KEPT};
    struct intake *intake = &dedup->intake;
    if (interrupt_noted()) return false;
    dedup->large += raw->is_large;
    if (raw->bad.kind != BAD_NONE && set.id.length == 0) return keep_bad(dedup, raw, &place);
    if (set.count == 0) return intake_keep(intake, set.id.bytes, set.id.length, &place);
    place.fate = FATE_COMPARED;
    return intake_note(intake, set.id.bytes, set.id.length, &place) &&
           resemble_add(&dedup->resemble, &set, find_value(dedup, raw));
}

static bool add_texts(struct dedup *dedup) {
    static const struct pipeline_features sets = {.listed = LISTED_SET};
    struct pipeline_rules *rules = &dedup->texts.rules;
    rules->visit = dedup->by_sets ? visit_set : visit_result;
    rules->features = dedup->by_sets ? &sets : NULL;
    rules->visit_file = visit_file;
    rules->others = dedup->intake.journal != NULL;
    rules->context = dedup;
    enum pipeline_status status = pipeline_run(rules, &dedup->paths);
    dedup->partly = status == PIPELINE_PARTLY;
    say_undated(dedup);
    say_large(dedup);
    return status != PIPELINE_FAILED && !interrupt_noted();
}

/* ---- From fingerprints ---- */

static bool add_documents(struct dedup *dedup, const struct tsv_record *records, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!intake_take(&dedup->intake, &records[i], NULL, 0)) return false;
    }
    return true;
}

/* Takes the documents of inputs that are fingerprints already. Returns false after a complaint. */
static bool add_fingerprints(struct dedup *dedup) {
    struct input input = {.reader = READER_INIT,
                          .paths = dedup->paths,
                          .format = (enum input_format)(dedup->format - FORMAT_FINGERPRINTS + INPUT_TSV),
                          .partial = dedup->partial,
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

/* Says how many IDs several documents have, before any is printed. With --strict, this is an error where there are no
 * folders that have the records themselves. Returns false after a complaint in that case. */
static bool check_repeats(struct dedup *dedup) {
    bool is_refused = dedup->texts.rules.strict && !folders_are_asked_for(&dedup->folders);
    uint64_t ids, documents;
    repeats_count(&dedup->intake.repeats, &ids, &documents);
    repeats_free(&dedup->intake.repeats);
    if (ids == 0) return true;
    complain("%" PRIu64 " %s, %" PRIu64 " in all: a list of IDs does not tell these apart%s%s", ids,
             ids == 1 ? "ID is that of several documents" : "IDs are those of several documents", documents,
             is_of_fingerprints(dedup) ? "" : "; --write copies records, whatever their IDs",
             is_refused ? "; --strict refuses this" : "");
    return !is_refused;
}

static bool build_index(struct dedup *dedup, const char *path) {
    struct idx_builder **builder = &dedup->intake.builder;
    struct idx_error error;
    if (!succeeded(idx_builder_open(builder, path, &dedup->building, &error), &error)) return false;
    dedup->intake.id_type = dedup->building.id_type;
    bool built = (is_of_fingerprints(dedup) ? add_fingerprints(dedup) : add_texts(dedup)) &&
                 intake_end(&dedup->intake) && check_repeats(dedup) &&
                 succeeded(idx_builder_finish(*builder, NULL, &error), &error);
    idx_builder_close(*builder);
    return built;
}

/* Finds the clusters that texts confirm, and marks known documents as dropped. This is a cluster_finder. */
static enum idx_status find_clusters(void *context, const struct idx_index *index,
                                     const struct idx_cluster_options *options, idx_cluster_visitor visit,
                                     void *visit_context, struct idx_cluster_summary *summary,
                                     struct idx_error *error) {
    struct dedup *dedup = context;
    enum idx_status status = confirm_clusters(&dedup->confirm, index, options, visit, visit_context, summary, error);
    const uint64_t *known = dedup->confirm.known.bits;
    dedup->listing.dropped_apart = dedup->intake.known_count;
    for (uint64_t i = 0; known != NULL && dedup->dropped != NULL && i <= dedup->intake.compared / 64; i++)
        dedup->dropped[i] |= known[i];
    return status;
}

/* Takes all texts, and decides which of them are kept. Returns false after a complaint. */
static bool compare_sets(struct dedup *dedup) {
    return add_texts(dedup) && intake_end(&dedup->intake) && check_repeats(dedup) && resemble_decide(&dedup->resemble);
}

static bool list_clusters(struct dedup *dedup, const char *path) {
    struct idx_index *index;
    if (!open_unloaded(&index, path)) return false;
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
    return preference_number(&((struct dedup *)context)->intake.preference, number);
}

/* Notes each document of a cluster, as `note` of struct listing. */
static void note_member(void *context, const struct idx_cluster_member *member) {
    struct dedup *dedup = context;
    uint64_t number = find_place(dedup, member->document.number);
    if (dedup->report.path != NULL) report_note(&dedup->report, member);
    if (member->is_representative || dedup->dropped == NULL) return;
    bit_set(dedup->dropped, number);
    if (folders_are_asked_for(&dedup->folders)) folders_note(&dedup->folders, member, dedup->listing.kept);
}

/* Lists a document, and what it has in common with its representative. This is a resemble_visitor. */
static bool list_set(void *context, const struct idx_cluster_member *member, const struct idx_kept_set *kept) {
    return listing_take(&((struct dedup *)context)->listing, member, kept);
}

/* Lists what the sets decide. */
static bool list_sets(struct dedup *dedup) {
    struct listing *listing = &dedup->listing;
    listing->kept_apart = dedup->intake.apart_count;
    listing_begin(listing);
    if (!resemble_visit(&dedup->resemble, dedup->clusters, list_set, dedup, &listing->summary)) return false;
    listing_end(listing);
    return listing->output.error == 0;
}

static bool open_folders(struct dedup *dedup) {
    dedup->listing.note = note_member;
    dedup->listing.find_place = find_place;
    dedup->listing.context = dedup;
    dedup->folders.properties = &dedup->listing.properties;
    if (dedup->intake.journal == NULL) return true;
    dedup->dropped = bits_make(dedup->intake.compared);
    return dedup->dropped != NULL && (!folders_are_asked_for(&dedup->folders) || folders_open(&dedup->folders));
}

static bool write_report(struct dedup *dedup) {
    struct report *report = &dedup->report;
    return report_count(report, &dedup->intake, dedup->dropped, dedup->confirm.known.bits) &&
           (!has_texts(dedup) || report_read_texts(report, &dedup->intake, &dedup->texts.rules)) &&
           report_write(report);
}

/* Says so if nothing is kept, since empty output could be taken for a mistake. */
static void say_nothing_kept(const struct dedup *dedup) {
    const struct intake *intake = &dedup->intake;
    uint64_t compared = intake->looks_up ? intake->compared : intake->compared - intake->known_count;
    if (intake->known_count > 0 && compared == 0 && intake->apart_count == 0)
        complain("no document is kept: each has a near-duplicate in %s", dedup->against.path);
}

/* Returns a number of features such that at most a quarter of the texts has fewer: the largest power of two. */
static uint64_t find_quartile(const struct dedup *dedup) {
    uint64_t all = 0, fewer = dedup->lengths[0];
    unsigned i = 1;
    for (unsigned j = 0; j <= 64; j++) all += dedup->lengths[j];
    while (i < 64 && (fewer += dedup->lengths[i]) * 4 <= all) i++;
    return UINT64_C(1) << (i - 1);
}

/* Prints and writes what is found. The report and the folders appear once all of them are written. */
static bool list_and_write(struct dedup *dedup, const char *path) {
    dedup->confirm.compared = dedup->intake.compared;
    if (dedup->chooses_distance) choose_distance(dedup, find_quartile(dedup));
    bool listed = open_folders(dedup) && (dedup->by_sets ? list_sets(dedup) : list_clusters(dedup, path));
    if (!listed || !intake_print(&dedup->intake, &dedup->listing)) return false;
    say_nothing_kept(dedup);
    bool has_folders = folders_are_asked_for(&dedup->folders), has_report = dedup->report.path != NULL;
    return (!has_folders || folders_write(&dedup->folders, &dedup->intake, dedup->dropped)) &&
           (!has_report || write_report(dedup)) && (!has_folders || folders_publish(&dedup->folders)) &&
           (!has_report || report_publish(&dedup->report));
}

/* Begins with no sets. They may use the memory that reading texts leaves. */
static bool open_sets(struct dedup *dedup, const char *folder) {
    struct idx_sets_options options = IDX_SETS_OPTIONS_INIT;
    options.threads = dedup->listing.options.threads;
    options.memory_bytes = dedup->building.memory_bytes;
    options.temporary_folder = folder;
    options.progress = progress_visit;
    options.context = &dedup->listing.progress;
    dedup->resemble.prefers = (enum idx_representative)dedup->listing.representative;
    return resemble_open(&dedup->resemble, &options, &dedup->scratch, folder);
}

/* Returns whether IDs are printed that are not found in the order of the inputs. Those that are kept are, unless other
 * documents than the first ones of clusters are preferred, or texts divide clusters. */
static bool is_out_of_order(const struct dedup *dedup) {
    const struct listing *listing = &dedup->listing;
    bool is_first = listing->representative == IDX_REPRESENTATIVE_FIRST &&
                    dedup->intake.preference.preferred == PREFERRED_NONE && dedup->confirm.threshold == NULL;
    return !dedup->by_sets && (listing->drop || (listing->keep && !is_first));
}

/* Makes the temporary files that the options need, and hands them to their users. Returns false after a complaint. */
static bool open_temporaries(struct dedup *dedup, const char *folder) {
    struct intake *intake = &dedup->intake;
    intake->against = &dedup->against;
    intake->looks_up = dedup->against.path != NULL && !dedup->confirm.known.is_asked_for;
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
    if (!journal_open(&dedup->journal, &dedup->scratch, folder)) return false;
    if (dedup->confirm.threshold == NULL) return true;
    dedup->confirm.rules = &dedup->texts.rules;
    dedup->confirm.journal = &dedup->journal;
    dedup->confirm.known.intake = intake;
    dedup->listing.find = find_clusters;
    dedup->listing.find_context = dedup;
    return confirm_open(&dedup->confirm, &dedup->scratch, folder);
}

/* Removes what killed commands left beside the report and the folders, since those places may be among the inputs. */
static bool clean_places(const struct dedup *dedup) {
    const char *const paths[] = {dedup->folders.kept.path, dedup->folders.dropped.path, dedup->report.path};
    for (int i = 0; i < 3; i++) {
        char *parent = paths[i] == NULL ? NULL : folder_parent(paths[i]);
        if (parent != NULL) scratch_clean(parent);
        free(parent);
        if (paths[i] == NULL || parent != NULL) continue;
        return complain("out of memory");
    }
    return true;
}

static bool find_duplicates(struct dedup *dedup) {
    const char *folder = scratch_parent(dedup->listing.options.temporary_folder);
    dedup->listing.options.temporary_folder = folder;
    if (!clean_places(dedup) || !scratch_open(&dedup->scratch, folder, "--tmpdir")) return false;
    char *path = scratch_path(&dedup->scratch, "index");
    if (path == NULL) complain("out of memory");
    bool whole = path != NULL && open_temporaries(dedup, folder) &&
                 (dedup->by_sets ? compare_sets(dedup) : build_index(dedup, path)) && list_and_write(dedup, path);
    scratch_remove(&dedup->scratch);
    free(path);
    return whole && !dedup->partly;
}

static void free_all(struct dedup *dedup) {
    globs_free(&dedup->texts.rules.globs);
    texts_free(&dedup->texts.rules.extract.json.texts);
    folders_close(&dedup->folders);
    report_close(&dedup->report);
    free(dedup->dropped);
    confirm_close(&dedup->confirm);
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
        .folders = {.kept.option = "--write", .dropped.option = "--dropped"},
        .confirm = CONFIRM_NONE,
        .resemble = RESEMBLE_NONE,
        .order = INPUT_ORDER_CLOSED,
        .report = {.listing = &dedup.listing, .origin.command = "idx dedup"},
        .journal = JOURNAL_CLOSED,
        .intake = {
            .apart = TEMPORARY_CLOSED, .known = TEMPORARY_CLOSED, .preference = PREFERENCE_NONE, .ids = OUTPUT_KEPT}};
    dedup.listing.representatives = dedup_representatives;
    text_options_init(&dedup.texts);
    dedup.texts.rules.min_features = 1;
    dedup.texts.rules.bits = 0; /* 0 as long as they are not given. */
    dedup.listing.options.distance = NO_DISTANCE;
    if (!read_arguments(argc, argv, &dedup, &status)) return status;
    bool whole = complete_options(&dedup);
    if (whole) {
        choose_scheme(&dedup, scheme);
        dedup.building.progress = progress_visit;
        dedup.building.context = &dedup.listing.progress;
        progress_start(&dedup.listing.progress, dedup.texts.rules.progress);
        interrupt_catch();
        whole = find_duplicates(&dedup);
    }
    free_all(&dedup);
    bool written = output_close(&dedup.listing.output);
    interrupt_obey();
    return whole && written ? ENDS_WELL : ENDS_BADLY;
}
