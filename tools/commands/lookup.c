/* lookup.c: `idx lookup`: which fingerprints of an index are near to these, and which documents they belong to. */
#include "tools/answers/agree.h"
#include "tools/answers/answers.h"
#include "tools/shared/arguments.h"
#include "tools/shared/command.h"

#include <limits.h>
#include <string.h>

static const char help[] =
    "Usage: idx lookup [OPTION…] INDEX [FINGERPRINT…]\n"
    "Print every fingerprint of INDEX near to those given, and its documents. No FINGERPRINT is lines on standard "
    "input:\n"
    "a fingerprint, or fingerprint, tab, query ID. They are answered as they come; lines that begin with # are "
    "comments.\n"
    "\n"
    "  -k N                   largest distance, up to what the index was built for (default: that)\n"
    "  --text FILE            look up the text in FILE (- is standard input), by the recipe of the index; may be "
    "repeated\n"
    "  --id ID                look up the fingerprints of the document ID of INDEX, which was built with --by-id; may "
    "be\n"
    "                         repeated\n"
    "  --table FILE           of document frequencies, where the recipe of the index names one, for --text\n"
    "  --main-text            of HTML in --text: leave out what idx fingerprint --main-text does\n"
    "  --fingerprints HOW     read and written as hex (default), dec (unsigned) or signed (two's complement)\n"
    "  --format FORMAT        tsv (default) or json, an object a match\n"
    "  --limit N              only the N nearest matches of each query\n"
    "  --max-documents N      only the first N documents of each match\n"
    "  --exists               only print the queries that have a match, each once\n"
    "  --agree M              of fingerprints of one query ID, as segments:N has: only print the documents that at "
    "least "
    "M\n"
    "                         of them are near to\n"
    "  --threads N            look up by N threads (default 1)\n"
    "  --disk                 for an index larger than memory: ask the disk for all that the queries at hand need\n"
    "  --refresh              answer each line from what INDEX has when it comes, not from what it had at first\n"
    "\n"
    "Output, a line a match and document, by distance, then fingerprint, then document:\n"
    "  query, tab, fingerprint, tab, distance, tab, document ID\n"
    "The query is its ID, its file, or its fingerprint; of --id it is among its own matches. In an index with "
    "--id-type none the document ID is empty.\n"
    "JSON: {\"query\":…,\"fingerprint\":…,\"distance\":…,\"documents\":[…]}; see the man page.\n"
    "With --agree, a line a document, the greatest number first: query, tab, number, tab, document ID\n"
    "JSON: {\"query\":…,\"agree\":…,\"document\":…}.\n"
    "\n"
    "Examples:\n"
    "  idx lookup docs.idx 9f86d081884c7d65\n"
    "  idx lookup docs.idx --text README -k 2 --limit 10\n"
    "  idx fingerprint new/ | idx lookup docs.idx\n"
    "A signed fingerprint that begins with - goes after --.\n"
    "\n"
    "Exit status: 0 there were matches; 1 there were none; 2 error.\n";

static const char *const format_names[] = {"tsv", "json", NULL};

struct lookup {
    const char *path;
    struct question question;
    struct queries queries;
    int format, notation;
    unsigned distance; /* UINT_MAX: not given */
    unsigned threads;
    bool disk, refresh;
    struct idx_index *index;
};

static bool check_options(const struct lookup *lookup) {
    const struct question *question = &lookup->question;
    if (lookup->queries.texts.count > 0 && lookup->queries.fingerprints.count > 0)
        complain_of_usage("give fingerprints or --text, not both");
    else if (lookup->queries.ids.count > 0 && lookup->queries.texts.count + lookup->queries.fingerprints.count > 0)
        complain_of_usage("give --id, or fingerprints, or --text, not both");
    else if (lookup->refresh &&
             lookup->queries.texts.count + lookup->queries.fingerprints.count + lookup->queries.ids.count > 0)
        complain_of_usage("--refresh is for lines on standard input; leave it out");
    else if (lookup->queries.table_path != NULL && lookup->queries.texts.count == 0)
        complain_of_usage("--table does nothing without --text; leave it out");
    else if (lookup->queries.extract.main_text && lookup->queries.texts.count == 0)
        complain_of_usage("--main-text does nothing without --text; leave it out");
    else if (question->exists && question->limit != UINT64_MAX)
        complain_of_usage("--limit does nothing with --exists; leave one of them out");
    else if (question->exists && question->max_documents != UINT64_MAX)
        complain_of_usage("--max-documents does nothing with --exists; leave one of them out");
    else if (question->agree > 0 && question->exists)
        complain_of_usage("--exists does nothing with --agree; leave one of them out");
    else if (question->agree > 0 && (question->limit != UINT64_MAX || question->max_documents != UINT64_MAX))
        complain_of_usage("--agree counts all matches; leave --limit and --max-documents out");
    else if (question->agree > 0 && lookup->queries.fingerprints.count > 0)
        complain_of_usage("--agree goes by query IDs, which arguments don't have; give --text, or lines with an ID on "
                          "standard input");
    else
        return true;
    return false;
}

static bool read_arguments(int argc, char **argv, struct lookup *lookup, int *status) {
    struct question *question = &lookup->question;
    struct texts operands;
    const struct option_rule rules[] = {
        {.name = "k", .kind = OPTION_NUMBER, .value = &lookup->distance, .most = IDX_MAX_BITS},
        {.name = "text", .kind = OPTION_TEXTS, .value = &lookup->queries.texts},
        {.name = "id", .kind = OPTION_TEXTS, .value = &lookup->queries.ids},
        {.name = "table", .kind = OPTION_TEXT, .value = &lookup->queries.table_path},
        {.name = "main-text", .kind = OPTION_FLAG, .value = &lookup->queries.extract.main_text},
        {.name = "fingerprints", .kind = OPTION_CHOICE, .value = &lookup->notation, .names = notation_names},
        {.name = "format", .kind = OPTION_CHOICE, .value = &lookup->format, .names = format_names},
        {.name = "limit", .kind = OPTION_COUNT, .value = &question->limit, .least = 1},
        {.name = "max-documents", .kind = OPTION_COUNT, .value = &question->max_documents, .least = 1},
        {.name = "exists", .kind = OPTION_FLAG, .value = &question->exists},
        {.name = "agree", .kind = OPTION_COUNT, .value = &question->agree, .least = 1},
        {.name = "threads", .kind = OPTION_NUMBER, .value = &lookup->threads, .least = 1, .most = 256},
        {.name = "disk", .kind = OPTION_FLAG, .value = &lookup->disk},
        {.name = "refresh", .kind = OPTION_FLAG, .value = &lookup->refresh},
    };
    const struct grammar grammar = {help, rules, sizeof rules / sizeof *rules, "INDEX", 1, SIZE_MAX};
    if (!arguments_read(&grammar, argc, argv, &operands, status)) return false;
    lookup->path = operands.values[0];
    lookup->queries.fingerprints = (struct texts){operands.values + 1, operands.count - 1};
    question->json = lookup->format == 1;
    question->notation = (enum notation)lookup->notation;
    *status = ENDS_BADLY;
    return check_options(lookup);
}

/* Asks this index from now on, in place of the one before, if any. */
static void take_index(struct lookup *lookup, struct idx_index *index) {
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

/* Opening costs nothing where all is mapped, and look-ups cost less where the directories are loaded. */
static bool open_index(struct lookup *lookup) {
    struct question *question = &lookup->question;
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    struct idx_error error;
    bool few = lookup->queries.fingerprints.count + lookup->queries.texts.count + lookup->queries.ids.count > 0;
    options.residence = few ? IDX_RESIDENCE_NONE : IDX_RESIDENCE_DIRECTORY;
    if (lookup->disk) options.residence = IDX_RESIDENCE_DISK;
    if (idx_open(&lookup->index, lookup->path, &options, &error) != IDX_OK) {
        complain("%s", error.sentence);
        return false;
    }
    take_index(lookup, lookup->index);
    question->distance = lookup->distance == UINT_MAX ? question->properties.k : lookup->distance;
    if (question->distance > question->properties.k) {
        complain("-k %u is more than the %u that %s was built for; build it with that -k, or look up within %u",
                 question->distance, question->properties.k, lookup->path, question->properties.k);
        return false;
    }
    if (question->agree > 0 && question->properties.id_type == IDX_ID_NONE) {
        complain("--agree counts by document, but %s has no document IDs; build it without --id-type none",
                 lookup->path);
        return false;
    }
    return true;
}

/* Whether an index that took the other's place answers the same questions, in the same form. */
static bool is_alike(const struct idx_properties *one, const struct idx_properties *other, unsigned distance) {
    const char *recipe = one->recipe == NULL ? "" : one->recipe, *other_recipe = other->recipe;
    return one->bits == other->bits && one->id_type == other->id_type && distance <= other->k &&
           strcmp(recipe, other_recipe == NULL ? "" : other_recipe) == 0;
}

/* Goes on with what the index has now. */
static bool refresh(struct lookup *lookup, struct answers *answers) {
    struct question *question = &lookup->question;
    struct idx_properties properties;
    struct idx_index *newer;
    struct idx_error error;
    if (idx_refresh(lookup->index, &newer, &error) != IDX_OK) {
        complain("%s", error.sentence);
        return false;
    }
    if (newer == NULL) return true;
    idx_get_properties(newer, &properties);
    bool alike = is_alike(&question->properties, &properties, question->distance);
    if (alike) {
        answers_forget(answers);
        take_index(lookup, newer);
    } else {
        idx_close(newer);
        complain("%s was replaced by an index of other bits, ID type, recipe, or a smaller -k; look up in it anew",
                 lookup->path);
    }
    return alike;
}

/* Fills the batch with what is at hand, at least one query. */
static enum queries_status fill(struct queries *queries, struct answers *answers) {
    struct query query;
    enum queries_status status = queries_next(queries, true, &query);
    while (status == QUERIES_ONE) {
        if (!answers_add(answers, &query)) {
            complain("out of memory for the queries");
            return QUERIES_FAILED;
        }
        if (answers_is_full(answers)) break;
        status = queries_next(queries, false, &query);
    }
    return status;
}

static bool answer_at_hand(struct answers *answers, struct agree *agree, struct output *output,
                           struct idx_error *error) {
    if (agree->question->agree == 0) return answers_answer(answers, output, error);
    bool whole = answers_answer(answers, &agree->records, error);
    agree_take(agree, output);
    return whole;
}

/* Ends with the status of the queries, QUERIES_FAILED after an error of the library. */
static enum queries_status answer_together(struct lookup *lookup, struct output *output, bool *found) {
    struct answers *answers = answers_new(&lookup->question, lookup->threads);
    struct agree agree = AGREE_INIT(&lookup->question);
    enum queries_status status = QUERIES_FAILED;
    struct idx_error error;
    if (answers == NULL) {
        complain("out of memory for %u threads", lookup->threads);
        return QUERIES_FAILED;
    }
    do {
        status = fill(&lookup->queries, answers);
        if (lookup->refresh && !refresh(lookup, answers)) {
            status = QUERIES_FAILED;
            break;
        }
        bool whole = answer_at_hand(answers, &agree, output, &error);
        output_flush(output);
        if (!whole) complain("%s", error.sentence);
        if (!whole) status = QUERIES_FAILED;
    } while ((status == QUERIES_ONE || status == QUERIES_PENDING) && output->error == 0);
    if (status == QUERIES_END || status == QUERIES_BAD) agree_end(&agree, output);
    *found = lookup->question.agree > 0 ? agree.found : answers_found(answers);
    agree_free(&agree);
    answers_free(answers);
    return status;
}

static int answer_all(struct lookup *lookup) {
    struct output output = OUTPUT_STANDARD;
    bool found = false;
    enum queries_status status = answer_together(lookup, &output, &found);
    bool written = output_close(&output);
    if (status == QUERIES_BAD) queries_complain(&lookup->queries);
    if (!written || status != QUERIES_END) return ENDS_BADLY;
    return found ? ENDS_WELL : ENDS_WITHOUT;
}

static int run(struct lookup *lookup) {
    int status = ENDS_BADLY;
    if (open_index(lookup)) {
        if (queries_open(&lookup->queries)) status = answer_all(lookup);
        queries_close(&lookup->queries);
    }
    idx_close(lookup->index);
    return status;
}

int command_lookup(int argc, char **argv) {
    struct lookup lookup = {.question = {.limit = UINT64_MAX, .max_documents = UINT64_MAX},
                            .distance = UINT_MAX,
                            .notation = NOTATION_HEX,
                            .threads = 1};
    int status;
    if (read_arguments(argc, argv, &lookup, &status)) status = run(&lookup);
    texts_free(&lookup.queries.texts);
    texts_free(&lookup.queries.ids);
    return status;
}
