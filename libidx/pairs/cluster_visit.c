/* cluster_visit.c: see cluster_visit.h. */
#include "libidx/pairs/cluster_visit.h"

#include <stdlib.h>
#include <string.h>

#include "libidx/base/base.h"
#include "libidx/pairs/cluster_order.h"
#include "libidx/view/documents.h"

/* The visit of all clusters, as far as it has come. */
struct visit_state {
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
static void add_to_summary(struct visit_state *state) {
    struct idx_cluster_summary *summary = state->visit->summary;
    const struct idx_cluster_size *size = &state->size;
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

/* Copies the representative with its ID to state->member, since the cursor overwrites the ID when it goes on. */
static enum idx_status copy_representative(struct visit_state *state, const struct idx_document *document,
                                           struct idx_error *error) {
    struct idx_document *copy = &state->member.representative;
    IDXI_GROW(state->id, state->id_capacity, document->id_length, error);
    if (document->id_length > 0) memcpy(state->id, document->id, document->id_length);
    *copy = *document;
    if (copy->id != NULL) copy->id = state->id;
    return IDX_OK;
}

/* Ends the previous cluster, and begins one whose representative has this fingerprint and the number `root`. */
static void begin_cluster(struct visit_state *state, uint64_t root, uint64_t fingerprint) {
    add_to_summary(state);
    state->root = root;
    state->waiting_count = 0;
    state->size = (struct idx_cluster_size){.cluster = state->clusters, .representative = fingerprint};
    state->member = (struct idx_cluster_member){.cluster = state->clusters, .representative_fingerprint = fingerprint};
    state->clusters++;
}

/* ---- Members ---- */

/* Visits a document of the current cluster, given by its value in document maps. The first one is the representative.
 * Sets state->stopped if the visitor wants no more. */
static enum idx_status visit_document(struct visit_state *state, uint64_t value, uint64_t fingerprint,
                                      struct idx_error *error) {
    const struct idxi_cluster_visit *visit = state->visit;
    struct idx_cluster_member *member = &state->member;
    IDXI_TRY(idxi_documents_get(state->documents, value, &member->document, error));
    member->is_representative = state->size.documents == 0;
    if (member->is_representative) IDXI_TRY(copy_representative(state, &member->document, error));
    member->fingerprint = fingerprint;
    member->distance = idx_distance(fingerprint, member->representative_fingerprint);
    state->size.documents++;
    state->size.far += member->distance > visit->distance;
    state->stopped = !visit->visit(visit->context, member);
    return IDX_OK;
}

/* Visits the waiting documents, in order, until none is left or the visitor stops. */
static enum idx_status visit_waiting_documents(struct visit_state *state, struct idx_error *error) {
    uint64_t value, fingerprint;
    bool found;
    IDXI_TRY(idxi_cluster_order_sort(&state->waiting, error));
    while (!state->stopped) {
        IDXI_TRY(idxi_cluster_order_read_next(&state->waiting, &value, &fingerprint, &found, error));
        if (!found) return IDX_OK;
        IDXI_TRY(visit_document(state, value, fingerprint, error));
    }
    return IDX_OK;
}

/* Reads the documents of the fingerprint with this key. Adds each to `order`; or if that is NULL, visits it at once.
 * Sets *count to how many were read. */
static enum idx_status queue_or_visit_documents(struct visit_state *state, uint64_t key, uint64_t fingerprint,
                                                struct idxi_cluster_order *order, uint64_t *count,
                                                struct idx_error *error) {
    struct idxi_reading *values = &state->values;
    bool found;
    size_t place;
    for (*count = 0; !state->stopped; ++*count) {
        IDXI_TRY(idxi_reading_peek(values, &place, &found, error));
        if (!found || values->fingerprints[place] != key) return IDX_OK;
        uint64_t value = values->values[values->next++];
        enum idx_status status = order == NULL ? visit_document(state, value, fingerprint, error)
                                               : idxi_cluster_order_add_document(order, value, fingerprint, error);
        IDXI_TRY(status);
    }
    return IDX_OK;
}

/* Reads the documents of a fingerprint, and makes them wait. The fingerprints of a cluster come by descending count of
 * documents, and the documents of all fingerprints with the same count are sorted together. So if those that wait are
 * of fingerprints with another count, visits them first. */
static enum idx_status queue_documents_by_count(struct visit_state *state, uint64_t key, uint64_t fingerprint,
                                                struct idx_error *error) {
    uint64_t count, value;
    bool found = true;
    IDXI_TRY(queue_or_visit_documents(state, key, fingerprint, &state->latest, &count, error));
    if (count != state->waiting_count) IDXI_TRY(visit_waiting_documents(state, error));
    state->waiting_count = count;
    IDXI_TRY(idxi_cluster_order_sort(&state->latest, error));
    while (found && !state->stopped) {
        IDXI_TRY(idxi_cluster_order_read_next(&state->latest, &value, &fingerprint, &found, error));
        if (found) IDXI_TRY(idxi_cluster_order_add_document(&state->waiting, value, fingerprint, error));
    }
    return IDX_OK;
}

/* Reads the documents of the next fingerprint. Visits all waiting documents of its cluster if it is the last one there.
 * The documents of a fingerprint that is alone in its cluster come in order, and are visited at once, unless IDs
 * decide. */
static enum idx_status read_documents_of_fingerprint(struct visit_state *state, uint64_t key, uint64_t fingerprint,
                                                     struct idx_error *error) {
    struct idxi_reading *members = &state->members;
    uint64_t root = key >> 32, count;
    bool found, begins_cluster = state->clusters == 0 || root != state->root;
    size_t place;
    if (begins_cluster) begin_cluster(state, root, fingerprint);
    IDXI_TRY(idxi_reading_peek(members, &place, &found, error));
    bool ends_cluster = !found || members->fingerprints[place] >> 32 != root;
    if (begins_cluster && ends_cluster && !state->visit->by_smallest_id)
        return queue_or_visit_documents(state, key, fingerprint, NULL, &count, error);
    if (state->visit->by_most_documents)
        IDXI_TRY(queue_documents_by_count(state, key, fingerprint, error));
    else
        IDXI_TRY(queue_or_visit_documents(state, key, fingerprint, &state->waiting, &count, error));
    return ends_cluster ? visit_waiting_documents(state, error) : IDX_OK;
}

/* ---- All ---- */

/* Visits all documents, by cluster, until the visitor stops. The caller closes the cursor, also after an error. */
static enum idx_status visit_all_documents(struct visit_state *state, struct idx_error *error) {
    struct idxi_reading *members = &state->members;
    bool found;
    size_t place;
    IDXI_TRY(idx_documents_open(&state->documents, state->visit->index, error));
    if (state->visit->by_smallest_id) state->waiting.documents = state->documents;
    while (!state->stopped) {
        IDXI_TRY(idxi_reading_next(members, &place, &found, error));
        if (!found) break;
        IDXI_TRY(read_documents_of_fingerprint(state, members->fingerprints[place], members->values[place], error));
    }
    add_to_summary(state);
    return IDX_OK;
}

enum idx_status idxi_visit_clusters(const struct idxi_cluster_visit *visit, struct idxi_stream *members,
                                    struct idxi_stream *documents, struct idxi_progress *progress,
                                    struct idx_error *error) {
    struct visit_state state = {.visit = visit, .waiting.sorting = visit->sorting, .latest.sorting = visit->sorting};
    idxi_reading_init(&state.members, members, progress);
    idxi_reading_init(&state.values, documents, progress);
    enum idx_status status = visit_all_documents(&state, error);
    idx_documents_close(state.documents);
    idxi_cluster_order_free(&state.waiting);
    idxi_cluster_order_free(&state.latest);
    free(state.id);
    return status;
}
