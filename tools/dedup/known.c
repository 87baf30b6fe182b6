/* known.c: looks up the fingerprints of `idx dedup` in the index of --against, the other index, and decides for each
 * document with a match whether that index has it: by its fingerprint, or by its text. */
#include "tools/dedup/dedup.h"

#include <idx_text.h>

#include <inttypes.h>
#include <stdlib.h>

/* Bounds of how many fingerprints are looked up together, whatever the memory. */
enum { LEAST_QUERIES = 1 << 16, MOST_QUERIES = 1 << 24 };

/* A fingerprint of the documents of `idx dedup`, and one of the other index that is near to it. */
struct near_pair {
    uint64_t fingerprint, other;
};

bool known_open(struct known *known, const struct scratch *scratch, const char *folder) {
    return temporary_open(&known->near, scratch, folder) && temporary_open(&known->sets.file, scratch, folder);
}

static bool say_no_memory(void) { return complain("out of memory"); }

/* ---- Fingerprints of the other index ---- */

static void sort_others(struct known *known) {
    size_t kept = 0;
    if (known->other_count > 0) qsort(known->others, known->other_count, sizeof *known->others, compare_u64);
    for (size_t i = 0; i < known->other_count; i++)
        if (i == 0 || known->others[i] != known->others[i - 1]) known->others[kept++] = known->others[i];
    known->other_count = kept;
}

/* Adds a fingerprint of the other index. A full array first loses repetitions, and grows only if it is still half
 * full. */
static bool add_other(struct known *known, uint64_t fingerprint) {
    if (known->other_count == known->other_capacity) sort_others(known);
    bool is_half_full = 2 * known->other_count >= known->other_capacity;
    if (is_half_full && !array_grow(&known->others, &known->other_capacity, known->other_capacity, sizeof fingerprint))
        return say_no_memory();
    known->others[known->other_count++] = fingerprint;
    return true;
}

/* ---- Documents that are near ---- */

/* Moves the cursor to the documents of a fingerprint. Returns false after a complaint. */
static bool find_documents(struct idx_documents *documents, uint64_t fingerprint) {
    struct idx_error error;
    return succeeded(idx_documents_find(documents, fingerprint, NULL, &error), &error);
}

/* Reads the next document. Returns false at the end, and after a complaint, which sets *failed. */
static bool next_document(struct idx_documents *documents, struct idx_document *document, bool *failed) {
    struct idx_error error;
    bool found = false;
    *failed =
        *failed || interrupt_noted() || !succeeded(idx_documents_next(documents, document, &found, &error), &error);
    return !*failed && found;
}

static bool want_documents(struct known *known, uint64_t fingerprint) {
    struct idx_document document;
    bool failed = !find_documents(known->documents, fingerprint);
    while (!failed && next_document(known->documents, &document, &failed))
        bit_set(known->wanted, preference_number(&known->intake->preference, document.number));
    return !failed;
}

/* Keeps the pairs of a fingerprint with its matches. This is an idx_batch_visitor. */
static bool note_matches(void *context, size_t query, const struct idx_match *matches, size_t count) {
    struct known *known = context;
    bool noted = known->texts.count == 0 || want_documents(known, known->queries[query]);
    for (size_t i = 0; i < count && noted; i++) {
        const struct near_pair pair = {known->queries[query], matches[i].fingerprint};
        output_bytes(&known->near.output, &pair, sizeof pair);
        noted = add_other(known, pair.other);
    }
    known->failed = known->failed || !noted || known->near.output.error != 0;
    return !known->failed;
}

/* Looks up the batch of fingerprints, and empties it. Returns false after a complaint or a signal. */
static bool look_up_batch(struct known *known) {
    struct idx_batch_options options = IDX_BATCH_OPTIONS_INIT;
    struct idx_error error;
    options.distance = known->distance;
    options.threads = known->options->threads;
    options.memory_bytes = known->options->memory_bytes;
    options.temporary_folder = known->options->temporary_folder;
    options.progress = known->options->progress;
    options.context = known->options->context;
    bool good = succeeded(idx_batch(known->intake->against->index, known->queries, known->query_count, &options,
                                    note_matches, known, &error),
                          &error);
    known->query_count = 0;
    known->failed = known->failed || !good;
    return !known->failed;
}

/* Adds a fingerprint to the batch, and looks the batch up when it is full. This is an idx_match_visitor. */
static bool add_query(void *context, const struct idx_match *match) {
    struct known *known = context;
    known->queries[known->query_count++] = match->fingerprint;
    return known->query_count < known->most_queries || look_up_batch(known);
}

bool known_find(struct known *known, const struct idx_index *index) {
    struct idx_error error;
    uint64_t most = known->options->memory_bytes == 0 ? MOST_QUERIES : known->options->memory_bytes / 64;
    most = most > MOST_QUERIES ? MOST_QUERIES : most < LEAST_QUERIES ? LEAST_QUERIES : most;
    known->most_queries = (size_t)most;
    known->queries = malloc(known->most_queries * sizeof *known->queries);
    if (known->queries == NULL) return say_no_memory();
    bool found = succeeded(idx_documents_open(index, &known->documents, &error), &error) &&
                 succeeded(idx_visit_all(index, add_query, known, &error), &error) && !known->failed &&
                 look_up_batch(known);
    free(known->queries);
    known->queries = NULL;
    sort_others(known);
    return found && temporary_flush(&known->near);
}

/* ---- What texts decide ---- */

static bool want_others(struct known *known) {
    struct idx_documents *documents = known->intake->against->documents;
    struct idx_document document;
    bool failed = false;
    for (size_t i = 0; i < known->other_count && !failed; i++) {
        failed = !find_documents(documents, known->others[i]);
        while (!failed && next_document(documents, &document, &failed))
            failed = !by_id_want(&known->by_id, by_id_hash(document.id, document.id_length));
    }
    return !failed;
}

/* The pairs of one fingerprint, the nearest first. */
struct group {
    const struct near_pair *pairs;
    size_t count;
};

static bool add_known(struct known *known, const struct idx_document *document, const struct idx_document *other,
                      const struct near_pair *pair) {
    const struct idx_match match = {pair->other, idx_distance(pair->fingerprint, pair->other)};
    bit_set(known->bits, preference_number(&known->intake->preference, document->number));
    return intake_add_known(known->intake, document, other, &match);
}

/* Takes a document as known by its fingerprint alone, and reports the first document of the nearest fingerprint. */
static bool take_document(struct known *known, const struct group *group, const struct idx_document *document) {
    struct idx_documents *others = known->intake->against->documents;
    struct idx_document other = {0};
    bool failed = others != NULL && !find_documents(others, group->pairs->other);
    if (others != NULL && !failed) next_document(others, &other, &failed);
    return !failed && add_known(known, document, &other, group->pairs);
}

/* Takes a document as known if its text resembles that of a near document in the other index, the nearest of which it
 * reports. Returns false after a complaint. */
static bool decide_document(struct known *known, const struct group *group, const struct idx_document *document,
                            struct sets *sets, struct idx_text_leaders *leaders) {
    struct idx_documents *others = known->intake->against->documents;
    const uint64_t number = preference_number(&known->intake->preference, document->number);
    const struct set *set = sets_find(sets, number);
    struct idx_document other;
    uint64_t offered = 0, leader = 0;
    idx_text_leaders_clear(leaders);
    bool failed = set != NULL && !regroup_offer(leaders, offered++, sets, set, &leader);
    for (size_t i = 0; set != NULL && i < group->count && !failed; i++) {
        failed = !find_documents(others, group->pairs[i].other);
        while (!failed && next_document(others, &other, &failed)) {
            const struct set *old = sets_find(&known->sets, by_id_hash(other.id, other.id_length));
            if (old == NULL) continue;
            failed = !regroup_offer(leaders, offered++, &known->sets, old, &leader);
            if (!failed && leader == 0) return add_known(known, document, &other, &group->pairs[i]);
        }
    }
    return !failed;
}

static bool decide_group(struct known *known, const struct group *group, struct sets *sets,
                         struct idx_text_leaders *leaders) {
    struct idx_document document;
    if (group->count == 0) return true;
    bool failed = !find_documents(known->documents, group->pairs->fingerprint);
    while (!failed && next_document(known->documents, &document, &failed))
        failed = known->texts.count == 0 ? !take_document(known, group, &document)
                                         : !decide_document(known, group, &document, sets, leaders);
    return !failed;
}

/* Decides fingerprint by fingerprint; the file has the pairs of each one after the other. */
static bool decide_all(struct known *known, struct sets *sets, struct idx_text_leaders *leaders) {
    const struct near_pair *pair;
    struct group group = {0};
    uint64_t offset = 0;
    bool good = temporary_map(&known->near);
    while (good && (pair = (const void *)temporary_take(&known->near, &offset, sizeof *pair)) != NULL) {
        if (group.count > 0 && group.pairs->fingerprint != pair->fingerprint) {
            good = decide_group(known, &group, sets, leaders);
            group.count = 0;
        }
        if (group.count++ == 0) group.pairs = pair;
    }
    return good && decide_group(known, &group, sets, leaders);
}

static void say_missing(const struct known *known) {
    uint64_t missing = by_id_count_missing(&known->by_id, &known->sets);
    if (missing == 0) return;
    complain("%" PRIu64 " %s of %s near to what is compared %s no text in --documents, and drop%s nothing; IDs there "
             "must be those of the index (see --id-field)",
             missing, missing == 1 ? "document" : "documents", known->intake->against->path,
             missing == 1 ? "has" : "have", missing == 1 ? "s" : "");
}

bool known_decide(struct known *known, struct sets *sets, const struct pipeline_rules *rules, const char *recipe) {
    struct idx_text_leaders *leaders;
    struct idx_error error;
    known->sets.weighted = sets->weighted;
    known->bits = bits_make(known->intake->compared);
    if (known->bits == NULL) return false;
    if (known->texts.count == 0) return decide_all(known, sets, NULL) && intake_end_known(known->intake);
    if (!want_others(known) || !by_id_read(&known->by_id, rules, recipe, &known->texts, &known->sets) ||
        !sets_map(&known->sets))
        return false;
    say_missing(known);
    if (!succeeded(idx_text_leaders_make(&leaders, known->threshold, &error), &error)) return false;
    bool decided = decide_all(known, sets, leaders) && intake_end_known(known->intake);
    idx_text_leaders_free(leaders);
    return decided;
}

void known_close(struct known *known) {
    idx_documents_close(known->documents);
    temporary_close(&known->near);
    sets_close(&known->sets);
    by_id_free(&known->by_id);
    free(known->others);
    free(known->bits);
    texts_free(&known->texts);
    *known = (struct known)KNOWN_NONE;
}
