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

/* Counts pairs at their distances, and offers them to be shown. This is an idx_pairs_visitor. */
static bool count_pairs(void *context, const struct idx_pair *pairs, size_t pair_count) {
    struct findings *findings = context;
    for (size_t i = 0; i < pair_count; i++) {
        struct level *level = &findings->levels[pairs[i].distance];
        level->pairs++;
        gather_offer_pair(level, (struct shown_pair){.a = pairs[i].a, .b = pairs[i].b});
    }
    return !interrupt_is_noted();
}

/* Counts and offers the pairs of different fingerprints up to k; find_clusters does that for those of equal ones. */
static enum idx_status find_pairs(struct findings *findings, const struct idx_index *index,
                                  const struct idx_cluster_options *options, struct idx_error *error) {
    struct idx_join_options joining = IDX_JOIN_OPTIONS_INIT;
    if (findings->k == 0) return IDX_OK;
    joining.distance = findings->k;
    joining.threads = options->threads;
    joining.memory_bytes = options->memory_bytes;
    joining.progress = options->progress;
    joining.context = options->context;
    return idx_pairs(index, &joining, count_pairs, findings, error);
}

/* ---- Clusters of each distance ---- */

/* What is known while the clusters of equal fingerprints are visited. */
struct equal_pairs {
    struct level *level;   /* The pairs are offered to it. */
    uint64_t last_cluster; /* The cluster whose document was visited last; UINT64_MAX: there was none. */
};

/* Offers a pair for each document of a cluster of equal fingerprints but the first. This is an idx_cluster_visitor. */
static bool offer_equal_pair(void *context, const struct idx_cluster_member *member) {
    struct equal_pairs *pairs = context;
    const struct shown_pair pair = {.a = member->fingerprint, .b = member->fingerprint};
    if (pairs->last_cluster == member->cluster) gather_offer_pair(pairs->level, pair);
    pairs->last_cluster = member->cluster;
    return true;
}

/* Does nothing: of these clusters, only the summary counts. This is an idx_cluster_visitor. */
static bool ignore_member(void *context, const struct idx_cluster_member *member) {
    (void)context, (void)member;
    return true;
}

/* Finds the clusters at each distance up to k, of which only summaries are stored, and the pairs of equal fingerprints:
 * the clusters at distance 0 are the documents of one fingerprint each. */
static enum idx_status find_clusters(struct findings *findings, const struct idx_index *index,
                                     const struct idx_cluster_options *options, struct idx_error *error) {
    struct idx_cluster_options nearer = *options;
    struct equal_pairs pairs = {&findings->levels[0], UINT64_MAX};
    struct idx_cluster_summary *equal_clusters = &findings->levels[0].clusters;
    nearer.alone = false;
    nearer.distance = 0;
    enum idx_status status = idx_clusters(index, &nearer, offer_equal_pair, &pairs, equal_clusters, error);
    findings->levels[0].pairs = equal_clusters->clustered - equal_clusters->clusters;
    for (nearer.distance = 1; nearer.distance <= findings->k && status == IDX_OK; nearer.distance++)
        status = idx_clusters(index, &nearer, ignore_member, NULL, &findings->levels[nearer.distance].clusters, error);
    return status;
}

/* ---- Documents ---- */

void gather_set_id(struct shown *shown, uint64_t number, const char *id, size_t id_length) {
    shown->number = number;
    shown->id_length = printable_cut(id, id_length, FINDINGS_ID_BYTES);
    if (shown->id_length > 0) memcpy(shown->id, id, shown->id_length);
    if (shown->id_length == id_length) return;
    memcpy(shown->id + shown->id_length, "…", strlen("…"));
    shown->id_length += strlen("…");
}

/* Sets the fingerprint, and unless `documents` is NULL, the number and the ID of document `which`, from 0, of those
 * that have this fingerprint. */
static enum idx_status describe_document(struct shown *shown, struct idx_documents *documents, uint64_t fingerprint,
                                         size_t which, struct idx_error *error) {
    struct idx_document document = {0};
    enum idx_status status = IDX_OK;
    bool found = true;
    *shown = (struct shown){.fingerprint = fingerprint};
    if (documents == NULL) return IDX_OK;
    status = idx_documents_find(documents, fingerprint, NULL, error);
    for (size_t i = 0; i <= which && found && status == IDX_OK; i++)
        status = idx_documents_next(documents, &document, &found, error);
    if (status == IDX_OK && found) gather_set_id(shown, document.number, document.id, document.id_length);
    return status;
}

/* Sets the document of each step of the chains. */
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

/* Adds both documents of each pair to findings->shown, the one that was added to the index first before the other, and
 * then those of the chains. At distance 0, a pair's documents are the first two of its fingerprint. */
static enum idx_status show_pairs_and_chains(struct findings *findings, struct idx_documents *documents,
                                             struct idx_error *error) {
    enum idx_status status = IDX_OK;
    for (unsigned d = 0; d <= findings->farthest; d++) {
        struct level *level = &findings->levels[d];
        for (size_t i = 0; i < level->shown_count && status == IDX_OK; i++) {
            struct shown_pair *pair = &level->shown[i];
            struct shown *two = &findings->shown[findings->shown_count];
            status = describe_document(&two[0], documents, pair->a, 0, error);
            if (status == IDX_OK) status = describe_document(&two[1], documents, pair->b, d == 0 ? 1 : 0, error);
            if (two[0].number > two[1].number) {
                struct shown first = two[0];
                two[0] = two[1];
                two[1] = first;
            }
            pair->documents = two;
            findings->shown_count += 2;
        }
    }
    return status == IDX_OK ? describe_chains(findings, documents, error) : status;
}

/* Opens a cursor over the documents, if the index has their IDs, and calls show_pairs_and_chains with it. */
static enum idx_status show_documents(struct findings *findings, const struct idx_index *index,
                                      struct idx_error *error) {
    struct idx_documents *documents = NULL;
    enum idx_status status = IDX_OK;
    if (findings->properties.id_type != IDX_ID_NONE) status = idx_documents_open(&documents, index, error);
    if (status == IDX_OK) status = show_pairs_and_chains(findings, documents, error);
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
    bool ok = find_pairs(findings, index, options, &error) == IDX_OK && !interrupt_is_noted() &&
              find_clusters(findings, index, options, &error) == IDX_OK &&
              sample_index(findings, index, options, &error) && chains_follow(findings, index, options, &error) &&
              show_documents(findings, index, &error) == IDX_OK;
    if (!ok && error.status != IDX_OK && error.status != IDX_CANCELLED) complain("%s", error.sentence);
    return ok;
}
