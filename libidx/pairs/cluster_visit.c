/* cluster_visit.c: see cluster_visit.h. */
#include "libidx/pairs/cluster_visit.h"

#include <stdlib.h>
#include <string.h>

#include "libidx/base/base.h"
#include "libidx/pairs/cluster_order.h"
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
    uint8_t *id; /* a copy of the representative's text ID */
    size_t id_capacity;
    /* Its documents that were not visited yet. Where those of the fingerprints with the most documents come first,
     * these are fingerprints of `share` documents each, and `latest` has the documents of the fingerprint that was read
     * last. */
    struct idxi_cluster_order waiting, latest;
    uint64_t share;
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
static enum idx_status keep_representative(struct giving *giving, const struct idx_document *document,
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
    return IDX_OK;
}

/* Begins a cluster, whose most preferred document, which is visited first, has this fingerprint. */
static void begin_cluster(struct giving *giving, uint64_t root, uint64_t fingerprint) {
    end_cluster(giving);
    giving->root = root;
    giving->share = 0;
    giving->size = (struct idx_cluster_size){.cluster = giving->clusters, .representative = fingerprint};
    giving->member =
        (struct idx_cluster_member){.cluster = giving->clusters, .representative_fingerprint = fingerprint};
    giving->clusters++;
}

/* ---- Members ---- */

static enum idx_status visit_document(struct giving *giving, uint64_t value, uint64_t fingerprint,
                                      struct idx_error *error) {
    const struct idxi_cluster_visit *visit = giving->visit;
    struct idx_cluster_member *member = &giving->member;
    IDXI_TRY(idxi_documents_get(giving->documents, value, &member->document, error));
    member->is_representative = giving->size.documents == 0;
    if (member->is_representative) IDXI_TRY(keep_representative(giving, &member->document, error));
    member->fingerprint = fingerprint;
    member->distance = idx_distance(fingerprint, member->representative_fingerprint);
    giving->size.documents++;
    giving->size.far += member->distance > visit->distance;
    giving->stopped = !visit->visit(visit->context, member);
    return IDX_OK;
}

/* Visits the documents that wait, in the order of preference. */
static enum idx_status visit_waiting(struct giving *giving, struct idx_error *error) {
    uint64_t value, fingerprint;
    bool found;
    IDXI_TRY(idxi_cluster_order_end(&giving->waiting, error));
    while (!giving->stopped) {
        IDXI_TRY(idxi_cluster_order_next(&giving->waiting, &value, &fingerprint, &found, error));
        if (!found) return IDX_OK;
        IDXI_TRY(visit_document(giving, value, fingerprint, error));
    }
    return IDX_OK;
}

/* Takes the documents of one fingerprint, to `order`, or to be visited where that is NULL. Sets *count to how many. */
static enum idx_status take_documents(struct giving *giving, uint64_t key, uint64_t fingerprint,
                                      struct idxi_cluster_order *order, uint64_t *count, struct idx_error *error) {
    struct idxi_reading *values = &giving->values;
    bool found;
    size_t at;
    for (*count = 0; !giving->stopped; ++*count) {
        IDXI_TRY(idxi_reading_peek(values, &at, &found, error));
        if (!found || values->fingerprints[at] != key) return IDX_OK;
        uint64_t value = values->values[values->next++];
        IDXI_TRY(order == NULL ? visit_document(giving, value, fingerprint, error)
                               : idxi_cluster_order_add(order, value, fingerprint, error));
    }
    return IDX_OK;
}

/* Takes the documents of a fingerprint where those of fingerprints with more documents come first, which they do. */
static enum idx_status take_counted(struct giving *giving, uint64_t key, uint64_t fingerprint,
                                    struct idx_error *error) {
    uint64_t count, value;
    bool found = true;
    IDXI_TRY(take_documents(giving, key, fingerprint, &giving->latest, &count, error));
    if (count != giving->share) IDXI_TRY(visit_waiting(giving, error));
    giving->share = count;
    IDXI_TRY(idxi_cluster_order_end(&giving->latest, error));
    while (found && !giving->stopped) {
        IDXI_TRY(idxi_cluster_order_next(&giving->latest, &value, &fingerprint, &found, error));
        if (found) IDXI_TRY(idxi_cluster_order_add(&giving->waiting, value, fingerprint, error));
    }
    return IDX_OK;
}

/* Takes the documents of the next fingerprint. One that is alone in its cluster has them in order. */
static enum idx_status take_fingerprint(struct giving *giving, uint64_t key, uint64_t fingerprint,
                                        struct idx_error *error) {
    struct idxi_reading *members = &giving->members;
    uint64_t root = key >> 32, count;
    bool found, begins = giving->clusters == 0 || root != giving->root;
    size_t at;
    if (begins) begin_cluster(giving, root, fingerprint);
    IDXI_TRY(idxi_reading_peek(members, &at, &found, error));
    bool ends = !found || members->fingerprints[at] >> 32 != root;
    if (begins && ends && !giving->visit->is_id_smallest)
        return take_documents(giving, key, fingerprint, NULL, &count, error);
    if (giving->visit->is_by_count)
        IDXI_TRY(take_counted(giving, key, fingerprint, error));
    else
        IDXI_TRY(take_documents(giving, key, fingerprint, &giving->waiting, &count, error));
    return ends ? visit_waiting(giving, error) : IDX_OK;
}

/* ---- All ---- */

static enum idx_status visit_clusters(struct giving *giving, struct idx_error *error) {
    struct idxi_reading *members = &giving->members;
    bool found;
    size_t at;
    IDXI_TRY(idx_documents_open(giving->visit->index, &giving->documents, error));
    if (giving->visit->is_id_smallest) giving->waiting.documents = giving->documents;
    while (!giving->stopped) {
        IDXI_TRY(idxi_reading_next(members, &at, &found, error));
        if (!found) break;
        IDXI_TRY(take_fingerprint(giving, members->fingerprints[at], members->values[at], error));
    }
    end_cluster(giving);
    return IDX_OK;
}

enum idx_status idxi_cluster_visit(const struct idxi_cluster_visit *visit, struct idxi_stream *members,
                                   struct idxi_stream *documents, struct idxi_progress *progress,
                                   struct idx_error *error) {
    struct giving giving = {.visit = visit, .waiting.sorting = visit->sorting, .latest.sorting = visit->sorting};
    idxi_reading_init(&giving.members, members, progress);
    idxi_reading_init(&giving.values, documents, progress);
    enum idx_status status = visit_clusters(&giving, error);
    idx_documents_close(giving.documents);
    idxi_cluster_order_free(&giving.waiting);
    idxi_cluster_order_free(&giving.latest);
    free(giving.id);
    return status;
}
