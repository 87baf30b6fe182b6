/* gather.c: finds what a report says. Which pairs are shown depends on their fingerprints alone, so that it is the same
 * in whatever order they are found. */
#include "tools/report/gather.h"

#include <stdlib.h>
#include <string.h>

/* ---- Pairs ---- */

void gather_offer_pair(struct level *level, struct shown_pair pair) {
    const bool is_full = level->shown_count == FINDINGS_PAIRS;
    pair.key |= sample_hash(pair.a ^ sample_hash(pair.b)) >> 1;
    if (is_full && pair.key >= level->shown[FINDINGS_PAIRS - 1].key) return;
    for (size_t i = 0; i < level->shown_count; i++)
        if (level->shown[i].a == pair.a && level->shown[i].b == pair.b) return;
    if (!is_full) level->shown_count++;
    size_t place = level->shown_count - 1;
    for (; place > 0 && level->shown[place - 1].key > pair.key; place--) level->shown[place] = level->shown[place - 1];
    level->shown[place] = pair;
}

/* Counts pairs at their distances, and offers them to be shown. Returns false once a signal is noted. This is an
 * idx_pairs_visitor, whose context is the findings. */
static bool count_and_offer_pairs(void *context, const struct idx_pair *pairs, size_t pair_count) {
    struct findings *findings = context;
    for (size_t i = 0; i < pair_count; i++) {
        struct level *level = &findings->levels[pairs[i].distance];
        level->pair_count++;
        gather_offer_pair(level, (struct shown_pair){.a = pairs[i].a, .b = pairs[i].b});
    }
    return !interrupt_is_noted();
}

/* Counts and offers the pairs of different fingerprints at distances up to k; summarize_clusters does that for equal
 * fingerprints. Returns the status of the library, with *error set and without a complaint if it is not IDX_OK. */
static enum idx_status find_pairs_within_k(struct findings *findings, const struct idx_index *index,
                                           const struct idx_cluster_options *options, struct idx_error *error) {
    struct idx_join_options join_options = IDX_JOIN_OPTIONS_INIT;
    if (findings->k == 0) return IDX_OK;
    join_options.distance = findings->k;
    join_options.threads = options->threads;
    join_options.memory_bytes = options->memory_bytes;
    join_options.progress = options->progress;
    join_options.context = options->context;
    return idx_pairs(index, &join_options, count_and_offer_pairs, findings, error);
}

/* ---- Clusters of each distance ---- */

/* The state of a visit to the clusters of equal fingerprints, for offer_equal_pair. */
struct equal_pairs {
    struct level *level;   /* The pairs are offered to it. */
    uint64_t last_cluster; /* The cluster whose document was visited last; UINT64_MAX: there was none. */
};

/* Offers a pair of a fingerprint with itself for each document but the first of a cluster of equal fingerprints.
 * Returns true, so that the visit goes on. This is an idx_cluster_visitor. */
static bool offer_equal_pair(void *context, const struct idx_cluster_member *member) {
    struct equal_pairs *pairs = context;
    const struct shown_pair pair = {.a = member->fingerprint, .b = member->fingerprint};
    if (pairs->last_cluster == member->cluster) gather_offer_pair(pairs->level, pair);
    pairs->last_cluster = member->cluster;
    return true;
}

/* Does nothing, and returns true, where only the summary of clusters is needed. This is an idx_cluster_visitor. */
static bool ignore_member(void *context, const struct idx_cluster_member *member) {
    (void)context, (void)member;
    return true;
}

/* Stores summaries of the clusters at each distance up to k. Also counts and offers the pairs of equal fingerprints:
 * each cluster at distance 0 has the documents of one fingerprint. Returns the status of the library, with *error set
 * if it is not IDX_OK. */
static enum idx_status summarize_clusters(struct findings *findings, const struct idx_index *index,
                                          const struct idx_cluster_options *options, struct idx_error *error) {
    struct idx_cluster_options level_options = *options;
    struct equal_pairs pairs = {.level = &findings->levels[0], .last_cluster = UINT64_MAX};
    struct idx_cluster_summary *equal_clusters = &findings->levels[0].clusters;
    level_options.alone = false;
    level_options.distance = 0;
    enum idx_status status = idx_clusters(index, &level_options, offer_equal_pair, &pairs, equal_clusters, error);
    findings->levels[0].pair_count = equal_clusters->clustered - equal_clusters->clusters;
    for (unsigned distance = 1; distance <= findings->k && status == IDX_OK; distance++) {
        level_options.distance = distance;
        status = idx_clusters(index, &level_options, ignore_member, NULL, &findings->levels[distance].clusters, error);
    }
    return status;
}

/* ---- Documents ---- */

void gather_set_id(struct shown_document *shown, uint64_t number, const char *id, size_t id_length) {
    shown->number = number;
    shown->id_length = printable_find_cut(id, id_length, FINDINGS_ID_BYTES);
    if (shown->id_length > 0) memcpy(shown->id, id, shown->id_length);
    if (shown->id_length == id_length) return;
    memcpy(shown->id + shown->id_length, "…", strlen("…"));
    shown->id_length += strlen("…");
}

/* Describes the document at `document_index`, from 0, among those of a fingerprint: sets its fingerprint, and unless
 * the cursor `documents` is NULL, its number and ID. Returns the status of the library, with *error set if it is not
 * IDX_OK. */
static enum idx_status describe_document(struct shown_document *shown, struct idx_documents *documents,
                                         uint64_t fingerprint, size_t document_index, struct idx_error *error) {
    struct idx_document document = {0};
    bool found = true;
    *shown = (struct shown_document){.fingerprint = fingerprint};
    if (documents == NULL) return IDX_OK;
    enum idx_status status = idx_documents_find(documents, fingerprint, NULL, error);
    for (size_t i = 0; i <= document_index && found && status == IDX_OK; i++)
        status = idx_documents_next(documents, &document, &found, error);
    if (status == IDX_OK && found) gather_set_id(shown, document.number, document.id, document.id_length);
    return status;
}

/* Sets the document of each step of the chains to the first one of its fingerprint. `documents` is as in
 * describe_document. Returns the status of the library, with *error set if it is not IDX_OK. */
static enum idx_status describe_chains(struct findings *findings, struct idx_documents *documents,
                                       struct idx_error *error) {
    enum idx_status status = IDX_OK;
    for (size_t i = 0; i < findings->chain_count; i++) {
        struct chain *chain = &findings->chains[i];
        for (size_t j = 0; j < chain->step_count && status == IDX_OK; j++)
            status = describe_document(&chain->steps[j].document, documents, chain->steps[j].fingerprint, 0, error);
    }
    return status;
}

/* Adds both documents of each shown pair to findings->shown, first the one that was added to the index first; then sets
 * those of the chains. At distance 0, a pair has the first two documents of its fingerprint. `documents` is NULL if the
 * index has no IDs. Returns the status of the library, with *error set if it is not IDX_OK. */
static enum idx_status describe_pairs_and_chains(struct findings *findings, struct idx_documents *documents,
                                                 struct idx_error *error) {
    enum idx_status status = IDX_OK;
    for (unsigned distance = 0; distance <= findings->farthest_distance; distance++) {
        struct level *level = &findings->levels[distance];
        for (size_t i = 0; i < level->shown_count && status == IDX_OK; i++) {
            struct shown_pair *pair = &level->shown[i];
            struct shown_document *both = &findings->shown[findings->shown_count];
            status = describe_document(&both[0], documents, pair->a, 0, error);
            if (status == IDX_OK) status = describe_document(&both[1], documents, pair->b, distance == 0, error);
            if (both[0].number > both[1].number) {
                struct shown_document later = both[0];
                both[0] = both[1];
                both[1] = later;
            }
            pair->documents = both;
            findings->shown_count += 2;
        }
    }
    return status == IDX_OK ? describe_chains(findings, documents, error) : status;
}

/* Opens a cursor over the documents, if the index has their IDs, and calls describe_pairs_and_chains with it. Returns
 * the status of the library, with *error set if it is not IDX_OK. */
static enum idx_status describe_shown_documents(struct findings *findings, const struct idx_index *index,
                                                struct idx_error *error) {
    struct idx_documents *documents = NULL;
    enum idx_status status = IDX_OK;
    if (findings->properties.id_type != IDX_ID_NONE) status = idx_documents_open(&documents, index, error);
    if (status == IDX_OK) status = describe_pairs_and_chains(findings, documents, error);
    idx_documents_close(documents);
    return status;
}

/* ---- All ---- */

bool gather_findings(struct findings *findings, const struct idx_index *index,
                     const struct idx_cluster_options *options) {
    struct idx_error error = {.status = IDX_OK};
    idx_get_properties(index, &findings->properties);
    findings->properties.recipe = NULL; /* These two are freed with the index. */
    findings->properties.scheme = NULL;
    findings->k = options->distance;
    findings->shown = calloc(FINDINGS_DOCUMENTS, sizeof *findings->shown);
    if (findings->shown == NULL) return complain("out of memory");
    bool ok = find_pairs_within_k(findings, index, options, &error) == IDX_OK && !interrupt_is_noted() &&
              summarize_clusters(findings, index, options, &error) == IDX_OK &&
              sample_index(findings, index, options, &error) && chains_follow(findings, index, options, &error) &&
              describe_shown_documents(findings, index, &error) == IDX_OK;
    if (!ok && error.status != IDX_OK && error.status != IDX_CANCELLED) complain("%s", error.sentence);
    return ok;
}
