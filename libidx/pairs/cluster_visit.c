/* cluster_visit.c: see cluster_visit.h. */
#include "libidx/pairs/cluster_visit.h"

#include <stdlib.h>
#include <string.h>

#include "libidx/base/base.h"
#include "libidx/pairs/cluster_order.h"
#include "libidx/view/documents.h"

struct visiting {
    const struct idxi_cluster_visit *visit;
    struct idx_documents *documents;
    struct idxi_reading members, values;
    uint64_t clusters;                /* clusters begun so far */
    uint64_t root;                    /* the representative's number */
    struct idx_cluster_size size;     /* of the cluster as far as it was visited */
    struct idx_cluster_member member; /* what the visitor gets */
    uint8_t *id;                      /* a copy of the representative's text ID */
    size_t id_capacity;
    /* `waiting` has the documents of the cluster that were not visited yet. Where fingerprints with the most documents
     * come first, it only has those of fingerprints with `waiting_count` documents each, and `latest` has the documents
     * of one fingerprint until they are counted. */
    struct idxi_cluster_order waiting, latest;
    uint64_t waiting_count;
    bool stopped;
};

/* ---- The summary ---- */

/* Inserts a cluster into summary->largest, in descending order of size, if it is one of the largest. Of equal sizes,
 * the cluster that ended first stays first. */
static void insert_if_largest(struct idx_cluster_summary *summary, const struct idx_cluster_size *size) {
    size_t place = summary->largest_count;
    while (place > 0 && summary->largest[place - 1].documents < size->documents) place--;
    if (place == IDX_LARGEST_CLUSTERS) return;
    if (summary->largest_count < IDX_LARGEST_CLUSTERS) summary->largest_count++;
    for (size_t i = summary->largest_count - 1; i > place; i--) summary->largest[i] = summary->largest[i - 1];
    summary->largest[place] = *size;
}

/* Adds the cluster that has just ended to the summary. There is none before the first cluster. */
static void add_to_summary(struct visiting *visiting) {
    struct idx_cluster_summary *summary = visiting->visit->summary;
    const struct idx_cluster_size *size = &visiting->size;
    if (size->documents == 0) return;
    summary->documents += size->documents;
    summary->sizes[63 - __builtin_clzll(size->documents)]++;
    if (size->documents == 1) return;
    summary->clusters++;
    summary->clustered += size->documents;
    summary->far += size->far;
    insert_if_largest(summary, size);
}

/* ---- The representative ---- */

/* Copies the representative with its ID to visiting->member, since the cursor overwrites the ID when it goes on. */
static enum idx_status copy_representative(struct visiting *visiting, const struct idx_document *document,
                                           struct idx_error *error) {
    struct idx_document *copy = &visiting->member.representative;
    IDXI_GROW(visiting->id, visiting->id_capacity, document->id_length, error);
    if (document->id_length > 0) memcpy(visiting->id, document->id, document->id_length);
    *copy = *document;
    if (copy->id != NULL) copy->id = visiting->id;
    return IDX_OK;
}

/* Ends the previous cluster, and begins one whose representative has this fingerprint and the number `root`. */
static void begin_cluster(struct visiting *visiting, uint64_t root, uint64_t fingerprint) {
    add_to_summary(visiting);
    visiting->root = root;
    visiting->waiting_count = 0;
    visiting->size = (struct idx_cluster_size){.cluster = visiting->clusters, .representative = fingerprint};
    visiting->member =
        (struct idx_cluster_member){.cluster = visiting->clusters, .representative_fingerprint = fingerprint};
    visiting->clusters++;
}

/* ---- Members ---- */

/* Visits a document of the current cluster, given by its value in document maps. The first one is the representative.
 * Sets visiting->stopped if the visitor wants no more. */
static enum idx_status visit_document(struct visiting *visiting, uint64_t value, uint64_t fingerprint,
                                      struct idx_error *error) {
    const struct idxi_cluster_visit *visit = visiting->visit;
    struct idx_cluster_member *member = &visiting->member;
    IDXI_TRY(idxi_documents_get(visiting->documents, value, &member->document, error));
    member->is_representative = visiting->size.documents == 0;
    if (member->is_representative) IDXI_TRY(copy_representative(visiting, &member->document, error));
    member->fingerprint = fingerprint;
    member->distance = idx_distance(fingerprint, member->representative_fingerprint);
    visiting->size.documents++;
    visiting->size.far += member->distance > visit->distance;
    visiting->stopped = !visit->visit(visit->context, member);
    return IDX_OK;
}

/* Visits the waiting documents, in order, until none is left or the visitor stops. */
static enum idx_status visit_waiting(struct visiting *visiting, struct idx_error *error) {
    uint64_t value, fingerprint;
    bool found;
    IDXI_TRY(idxi_cluster_order_sort(&visiting->waiting, error));
    while (!visiting->stopped) {
        IDXI_TRY(idxi_cluster_order_read_next(&visiting->waiting, &value, &fingerprint, &found, error));
        if (!found) return IDX_OK;
        IDXI_TRY(visit_document(visiting, value, fingerprint, error));
    }
    return IDX_OK;
}

/* Reads the documents of the fingerprint with this key, and adds them to `order`, or if that is NULL, visits them at
 * once. Sets *count to how many were read. */
static enum idx_status queue_or_visit(struct visiting *visiting, uint64_t key, uint64_t fingerprint,
                                      struct idxi_cluster_order *order, uint64_t *count, struct idx_error *error) {
    struct idxi_reading *values = &visiting->values;
    bool found;
    size_t place;
    for (*count = 0; !visiting->stopped; ++*count) {
        IDXI_TRY(idxi_reading_peek(values, &place, &found, error));
        if (!found || values->fingerprints[place] != key) return IDX_OK;
        uint64_t value = values->values[values->next++];
        IDXI_TRY(order == NULL ? visit_document(visiting, value, fingerprint, error)
                               : idxi_cluster_order_add_document(order, value, fingerprint, error));
    }
    return IDX_OK;
}

/* Reads the documents of a fingerprint, where the fingerprints of a cluster come by descending count of documents.
 * Visits the waiting documents first if their fingerprints have more documents each. Then the documents that were read
 * wait, since those of all fingerprints with the same count are sorted together. */
static enum idx_status queue_by_document_count(struct visiting *visiting, uint64_t key, uint64_t fingerprint,
                                               struct idx_error *error) {
    uint64_t count, value;
    bool found = true;
    IDXI_TRY(queue_or_visit(visiting, key, fingerprint, &visiting->latest, &count, error));
    if (count != visiting->waiting_count) IDXI_TRY(visit_waiting(visiting, error));
    visiting->waiting_count = count;
    IDXI_TRY(idxi_cluster_order_sort(&visiting->latest, error));
    while (found && !visiting->stopped) {
        IDXI_TRY(idxi_cluster_order_read_next(&visiting->latest, &value, &fingerprint, &found, error));
        if (found) IDXI_TRY(idxi_cluster_order_add_document(&visiting->waiting, value, fingerprint, error));
    }
    return IDX_OK;
}

/* Reads the documents of the next fingerprint. Visits all waiting documents of its cluster if it is the last one there.
 * The documents of a fingerprint that is alone in its cluster come in order, and are visited at once, unless IDs
 * decide. */
static enum idx_status process_fingerprint(struct visiting *visiting, uint64_t key, uint64_t fingerprint,
                                           struct idx_error *error) {
    struct idxi_reading *members = &visiting->members;
    uint64_t root = key >> 32, count;
    bool found, begins = visiting->clusters == 0 || root != visiting->root;
    size_t place;
    if (begins) begin_cluster(visiting, root, fingerprint);
    IDXI_TRY(idxi_reading_peek(members, &place, &found, error));
    bool ends = !found || members->fingerprints[place] >> 32 != root;
    if (begins && ends && !visiting->visit->is_by_id)
        return queue_or_visit(visiting, key, fingerprint, NULL, &count, error);
    if (visiting->visit->is_by_count)
        IDXI_TRY(queue_by_document_count(visiting, key, fingerprint, error));
    else
        IDXI_TRY(queue_or_visit(visiting, key, fingerprint, &visiting->waiting, &count, error));
    return ends ? visit_waiting(visiting, error) : IDX_OK;
}

/* ---- All ---- */

/* Visits all documents, by cluster, until the visitor stops. The caller closes the cursor, also after an error. */
static enum idx_status visit_all_documents(struct visiting *visiting, struct idx_error *error) {
    struct idxi_reading *members = &visiting->members;
    bool found;
    size_t place;
    IDXI_TRY(idx_documents_open(&visiting->documents, visiting->visit->index, error));
    if (visiting->visit->is_by_id) visiting->waiting.documents = visiting->documents;
    while (!visiting->stopped) {
        IDXI_TRY(idxi_reading_next(members, &place, &found, error));
        if (!found) break;
        IDXI_TRY(process_fingerprint(visiting, members->fingerprints[place], members->values[place], error));
    }
    add_to_summary(visiting);
    return IDX_OK;
}

enum idx_status idxi_visit_clusters(const struct idxi_cluster_visit *visit, struct idxi_stream *members,
                                    struct idxi_stream *documents, struct idxi_progress *progress,
                                    struct idx_error *error) {
    struct visiting visiting = {.visit = visit, .waiting.sorting = visit->sorting, .latest.sorting = visit->sorting};
    idxi_reading_init(&visiting.members, members, progress);
    idxi_reading_init(&visiting.values, documents, progress);
    enum idx_status status = visit_all_documents(&visiting, error);
    idx_documents_close(visiting.documents);
    idxi_cluster_order_free(&visiting.waiting);
    idxi_cluster_order_free(&visiting.latest);
    free(visiting.id);
    return status;
}
