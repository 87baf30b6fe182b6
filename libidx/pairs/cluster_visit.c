/* cluster_visit.c: see cluster_visit.h. */
#include "libidx/pairs/cluster_visit.h"

#include <stdlib.h>
#include <string.h>

#include "libidx/base/base.h"
#include "libidx/pairs/id_ranks.h"
#include "libidx/view/documents.h"

/* The state of a visit, and of the cluster that is being visited. */
struct giving {
    const struct idxi_cluster_visit *visit;
    struct idx_documents *documents;
    struct idxi_reading members, values;
    uint64_t clusters; /* clusters begun so far */
    uint64_t root;     /* the representative's number */
    struct idx_cluster_size size;
    struct idx_cluster_member member;
    uint64_t place; /* its representative's place among the documents of its fingerprint */
    uint8_t *id;    /* a copy of the representative's text ID */
    size_t id_capacity;
    bool stopped;
};

/* ---- The summary ---- */

/* Keeps summary->largest in descending order of size. Of equal sizes, the cluster that ended first stays first. */
static void note_largest(struct idx_cluster_summary *summary, const struct idx_cluster_size *size) {
    size_t at = summary->largest_count;
    while (at > 0 && summary->largest[at - 1].documents < size->documents) at--;
    if (at == IDX_LARGEST_CLUSTERS) return;
    if (summary->largest_count < IDX_LARGEST_CLUSTERS) summary->largest_count++;
    for (size_t i = summary->largest_count - 1; i > at; i--) summary->largest[i] = summary->largest[i - 1];
    summary->largest[at] = *size;
}

static void end_cluster(struct giving *giving) {
    struct idx_cluster_summary *summary = giving->visit->summary;
    const struct idx_cluster_size *size = &giving->size;
    if (size->documents == 0) return;
    summary->documents += size->documents;
    summary->sizes[63 - __builtin_clzll(size->documents)]++;
    if (size->documents == 1) return;
    summary->clusters++;
    summary->clustered += size->documents;
    summary->far += size->far;
    note_largest(summary, size);
}

/* ---- The representative ---- */

/* Copies the document with its ID, since the cursor overwrites the ID when it goes on. */
static enum idx_status keep_representative(struct giving *giving, const struct idx_document *document, uint64_t place,
                                           struct idx_error *error) {
    struct idx_document *kept = &giving->member.representative;
    if (document->id_length > giving->id_capacity) {
        free(giving->id);
        giving->id_capacity = 2 * document->id_length;
        giving->id = malloc(giving->id_capacity);
        if (giving->id == NULL) return idxi_fail_memory(error);
    }
    if (document->id_length > 0) memcpy(giving->id, document->id, document->id_length);
    *kept = *document;
    if (kept->id != NULL) kept->id = giving->id;
    giving->place = place;
    return IDX_OK;
}

/* Makes the document with the smallest text ID, of all that have the fingerprint, the representative. */
static enum idx_status find_smallest_id(struct giving *giving, uint64_t fingerprint, struct idx_error *error) {
    const struct idx_document *kept = &giving->member.representative;
    struct idx_document document;
    bool found;
    IDXI_TRY(idx_documents_find(giving->documents, fingerprint, NULL, error));
    for (uint64_t place = 0;; place++) {
        IDXI_TRY(idx_documents_next(giving->documents, &document, &found, error));
        if (!found) return IDX_OK;
        if (place == 0 || idxi_id_compare(document.id, document.id_length, kept->id, kept->id_length) < 0)
            IDXI_TRY(keep_representative(giving, &document, place, error));
    }
}

/* Begins a cluster. Its representative is found here only if it is to have the smallest ID; else it is the first
 * document that visit_documents comes to. */
static enum idx_status begin_cluster(struct giving *giving, uint64_t root, uint64_t fingerprint,
                                     struct idx_error *error) {
    end_cluster(giving);
    giving->root = root;
    giving->size = (struct idx_cluster_size){.cluster = giving->clusters, .representative = fingerprint};
    giving->member =
        (struct idx_cluster_member){.cluster = giving->clusters, .representative_fingerprint = fingerprint};
    giving->clusters++;
    return giving->visit->is_id_smallest ? find_smallest_id(giving, fingerprint, error) : IDX_OK;
}

/* ---- Members ---- */

static void visit_member(struct giving *giving) {
    const struct idxi_cluster_visit *visit = giving->visit;
    giving->size.documents++;
    giving->size.far += giving->member.distance > visit->distance;
    giving->stopped = !visit->visit(visit->context, &giving->member);
}

/* Visits the documents of one fingerprint. `is_root`: it is the fingerprint of the cluster's representative. */
static enum idx_status visit_documents(struct giving *giving, uint64_t key, bool is_root, struct idx_error *error) {
    struct idx_cluster_member *member = &giving->member;
    struct idxi_reading *values = &giving->values;
    bool found;
    size_t at;
    for (uint64_t place = 0; !giving->stopped; place++) {
        IDXI_TRY(idxi_reading_peek(values, &at, &found, error));
        if (!found || values->fingerprints[at] != key) return IDX_OK;
        values->next++;
        IDXI_TRY(idxi_documents_get(giving->documents, values->values[at], &member->document, error));
        if (is_root && place == 0 && !giving->visit->is_id_smallest)
            IDXI_TRY(keep_representative(giving, &member->document, 0, error));
        member->is_representative = is_root && place == giving->place;
        visit_member(giving);
    }
    return IDX_OK;
}

static enum idx_status visit_fingerprint(struct giving *giving, uint64_t key, uint64_t fingerprint,
                                         struct idx_error *error) {
    struct idx_cluster_member *member = &giving->member;
    uint64_t root = key >> 32;
    if (giving->clusters == 0 || root != giving->root) IDXI_TRY(begin_cluster(giving, root, fingerprint, error));
    member->fingerprint = fingerprint;
    member->distance = idx_distance(fingerprint, member->representative_fingerprint);
    return visit_documents(giving, key, fingerprint == member->representative_fingerprint, error);
}

/* ---- All ---- */

static enum idx_status visit_clusters(struct giving *giving, struct idx_error *error) {
    struct idxi_reading *members = &giving->members;
    bool found;
    size_t at;
    IDXI_TRY(idx_documents_open(giving->visit->index, &giving->documents, error));
    while (!giving->stopped) {
        IDXI_TRY(idxi_reading_next(members, &at, &found, error));
        if (!found) break;
        IDXI_TRY(visit_fingerprint(giving, members->fingerprints[at], members->values[at], error));
    }
    end_cluster(giving);
    return IDX_OK;
}

enum idx_status idxi_cluster_visit(const struct idxi_cluster_visit *visit, struct idxi_stream *members,
                                   struct idxi_stream *documents, struct idxi_progress *progress,
                                   struct idx_error *error) {
    struct giving giving = {.visit = visit};
    idxi_reading_init(&giving.members, members, progress);
    idxi_reading_init(&giving.values, documents, progress);
    enum idx_status status = visit_clusters(&giving, error);
    idx_documents_close(giving.documents);
    free(giving.id);
    return status;
}
