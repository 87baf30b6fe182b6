/* gather.c: finds what a report says. Which pairs are shown depends on their fingerprints alone, so that it is the same
 * in whatever order they are found. */
#include "tools/report/gather.h"

#include <stdlib.h>
#include <string.h>

/* ---- Pairs ---- */

void gather_offer(struct level *at, struct shown_pair pair) {
    size_t place = at->shown_count;
    pair.key |= sample_mix(pair.a ^ sample_mix(pair.b)) >> 1;
    if (place == FINDINGS_PAIRS && pair.key >= at->shown[place - 1].key) return;
    for (size_t i = 0; i < at->shown_count; i++)
        if (at->shown[i].a == pair.a && at->shown[i].b == pair.b) return;
    if (place == FINDINGS_PAIRS) place--;
    for (; place > 0 && at->shown[place - 1].key > pair.key; place--) at->shown[place] = at->shown[place - 1];
    at->shown[place] = pair;
    if (at->shown_count < FINDINGS_PAIRS) at->shown_count++;
}

/* This is an idx_pairs_visitor. */
static bool count_pairs(void *context, const struct idx_pair *pairs, size_t count) {
    struct findings *findings = context;
    for (size_t i = 0; i < count; i++) {
        struct level *at = &findings->at[pairs[i].distance];
        at->pairs++;
        gather_offer(at, (struct shown_pair){.a = pairs[i].a, .b = pairs[i].b, .resemblance = -1});
    }
    return !interrupt_noted();
}

static enum idx_status find_pairs(struct findings *findings, const struct idx_index *index,
                                  const struct idx_cluster_options *options, struct idx_error *error) {
    struct idx_join_options joining = IDX_JOIN_OPTIONS_INIT;
    joining.distance = findings->k;
    joining.threads = options->threads;
    joining.memory_bytes = options->memory_bytes;
    joining.progress = options->progress;
    joining.context = options->context;
    return findings->k == 0 ? IDX_OK : idx_pairs(index, &joining, count_pairs, findings, error);
}

/* ---- Clusters of each distance ---- */

/* The cluster whose document was visited last, and where pairs of equal fingerprints are offered. */
struct last {
    struct level *at;
    uint64_t cluster;
};

/* This is an idx_cluster_visitor for clusters of documents that share a fingerprint. */
static bool offer_equal(void *context, const struct idx_cluster_member *member) {
    struct last *last = context;
    const struct shown_pair pair = {.a = member->fingerprint, .b = member->fingerprint, .resemblance = -1};
    if (last->cluster == member->cluster) gather_offer(last->at, pair);
    last->cluster = member->cluster;
    return true;
}

static bool ignore_member(void *context, const struct idx_cluster_member *member) {
    (void)context, (void)member;
    return true;
}

/* Finds the clusters at each distance up to k, of which only sizes are kept, and the pairs of equal fingerprints. */
static enum idx_status find_clusters(struct findings *findings, const struct idx_index *index,
                                     const struct idx_cluster_options *options, struct idx_error *error) {
    struct idx_cluster_options nearer = *options;
    struct last last = {&findings->at[0], UINT64_MAX};
    enum idx_status status = IDX_OK;
    nearer.alone = false;
    for (nearer.distance = 0; nearer.distance <= findings->k && status == IDX_OK; nearer.distance++) {
        struct idx_cluster_summary *clusters = &findings->at[nearer.distance].clusters;
        status =
            idx_clusters(index, &nearer, nearer.distance == 0 ? offer_equal : ignore_member, &last, clusters, error);
    }
    findings->at[0].pairs = findings->at[0].clusters.clustered - findings->at[0].clusters.clusters;
    return status;
}

/* ---- Documents ---- */

void gather_describe(struct shown *shown, uint64_t number, const char *id, size_t id_length) {
    shown->number = number;
    shown->id_is_cut = id_length > FINDINGS_ID;
    shown->id_length = shown->id_is_cut ? FINDINGS_ID : id_length;
    if (shown->id_length > 0) memcpy(shown->id, id, shown->id_length);
}

/* Sets what is known of document number `which`, from 0, of a fingerprint. Without documents, that is its
 * fingerprint. */
static enum idx_status describe_document(struct shown *shown, struct idx_documents *documents, uint64_t fingerprint,
                                         size_t which, struct idx_error *error) {
    struct idx_document document = {0};
    enum idx_status status = IDX_OK;
    bool found = true;
    *shown = (struct shown){.fingerprint = fingerprint, .resemblance = -1};
    if (documents == NULL) return IDX_OK;
    status = idx_documents_find(documents, fingerprint, NULL, error);
    for (size_t i = 0; i <= which && found && status == IDX_OK; i++)
        status = idx_documents_next(documents, &document, &found, error);
    if (status == IDX_OK && found) gather_describe(shown, document.number, document.id, document.id_length);
    return status;
}

/* Swaps two documents. The one that was added first is shown first. */
static void swap_documents(struct shown two[2]) {
    struct shown first = two[0];
    two[0] = two[1];
    two[1] = first;
}

/* Describes the documents of the chains; those of their ends are among those that are shown with their texts. */
static enum idx_status show_chains(struct findings *findings, struct idx_documents *documents,
                                   struct idx_error *error) {
    enum idx_status status = IDX_OK;
    for (size_t i = 0; i < findings->chain_count && status == IDX_OK; i++) {
        struct chain *chain = &findings->chains[i];
        struct shown *ends = &findings->shown[findings->shown_count];
        for (size_t j = 0; j < chain->step_count && status == IDX_OK; j++)
            status = describe_document(&chain->steps[j].document, documents, chain->steps[j].fingerprint, 0, error);
        chain->shown = ends;
        findings->shown_count += 2;
        if (status == IDX_OK)
            status = describe_document(&ends[0], documents, chain->ends.size.representative, 0, error);
        if (status == IDX_OK) status = describe_document(&ends[1], documents, chain->ends.farthest, 0, error);
    }
    return status;
}

/* Describes both documents of each pair. At distance 0, these are the first two of the same fingerprint. */
static enum idx_status show_all(struct findings *findings, struct idx_documents *documents, struct idx_error *error) {
    enum idx_status status = IDX_OK;
    for (unsigned d = 0; d <= findings->farthest; d++) {
        struct level *at = &findings->at[d];
        for (size_t i = 0; i < at->shown_count && status == IDX_OK; i++) {
            struct shown_pair *pair = &at->shown[i];
            struct shown *two = &findings->shown[findings->shown_count];
            status = describe_document(&two[0], documents, pair->a, 0, error);
            if (status == IDX_OK) status = describe_document(&two[1], documents, pair->b, d == 0, error);
            if (two[0].number > two[1].number) swap_documents(two);
            two[0].is_compared = two[1].is_compared = i >= FINDINGS_PAIRS_SHOWN;
            pair->documents = two;
            findings->shown_count += 2;
        }
    }
    return status == IDX_OK ? show_chains(findings, documents, error) : status;
}

static enum idx_status show_documents(struct findings *findings, const struct idx_index *index,
                                      struct idx_error *error) {
    struct idx_documents *documents = NULL;
    enum idx_status status = IDX_OK;
    if (findings->properties.id_type != IDX_ID_NONE) status = idx_documents_open(index, &documents, error);
    if (status == IDX_OK) status = show_all(findings, documents, error);
    idx_documents_close(documents);
    return status;
}

/* ---- All ---- */

bool gather(struct findings *findings, const struct idx_index *index, const struct idx_cluster_options *options) {
    struct idx_error error = {.status = IDX_OK};
    idx_get_properties(index, &findings->properties);
    findings->properties.recipe = NULL; /* These two are freed with the index. */
    findings->properties.scheme = NULL;
    findings->k = options->distance;
    findings->shown = calloc(FINDINGS_DOCUMENTS, sizeof *findings->shown);
    if (findings->shown == NULL) return complain("out of memory");
    bool ok = find_pairs(findings, index, options, &error) == IDX_OK && !interrupt_noted() &&
              find_clusters(findings, index, options, &error) == IDX_OK &&
              sample_far(findings, index, options, &error) && chains_follow(findings, index, &error) &&
              show_documents(findings, index, &error) == IDX_OK;
    if (!ok && error.status != IDX_OK && error.status != IDX_CANCELLED) complain("%s", error.sentence);
    return ok;
}
