/* find_id.c: finds the fingerprints of documents by their IDs. The maps from IDs, and what is pending, give candidates;
 * the documents of a candidate show whether one has the ID. */

#include <stdlib.h>

#include "format/bytes.h"
#include "libidx/base/base.h"
#include "libidx/streams/sort.h"
#include "libidx/view/documents.h"
#include "libidx/view/live.h"

/* A look-up of the fingerprints of an ID, in progress. */
struct id_lookup {
    const struct idx_index *index;
    enum idx_id_type type; /* that of the index */
    const struct idx_item *item;
    const void *id; /* the bytes of the ID; those of an integer are little-endian */
    size_t id_bytes;
    uint64_t hash;
    struct idx_documents *documents;
    uint64_t *pending; /* the fingerprints of pending documents with the ID, ascending */
    size_t pending_count, pending_capacity, pending_next;
};

/* Checks that the index has maps from IDs, and that its IDs are of the item's type. Prepares these maps. Errors:
 * IDX_INVALID_ARGUMENT; as idxi_map_prepare. */
static enum idx_status prepare_id_maps(const struct id_lookup *lookup, struct idx_error *error) {
    const struct idx_index *index = lookup->index;
    if (!index->manifest->by_id)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, index->path,
                         "has no map from IDs to fingerprints: build it with such a map");
    if (!idxi_item_fits_id_type(lookup->item, lookup->type))
        return idxi_fail(error, IDX_INVALID_ARGUMENT, index->path,
                         "has IDs of another type than the one that was looked up");
    for (size_t i = 0; i < index->manifest->segment_count; i++)
        IDXI_TRY(idxi_map_prepare(&index->segments[i]->by_id, error));
    return IDX_OK;
}

/* Lists the fingerprints of the pending documents with the ID in lookup->pending, ascending; one may be repeated. The
 * array has twice the size, since sorting needs as much memory again. Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status list_pending_fingerprints(struct id_lookup *lookup, struct idx_error *error) {
    struct idxi_pending_cursor cursor;
    uint64_t fingerprint;
    idxi_pending_seek_id(&lookup->index->pending, lookup->id, lookup->id_bytes, &cursor);
    while (idxi_pending_next_fingerprint(&cursor, &fingerprint)) {
        IDXI_GROW(lookup->pending, lookup->pending_capacity, 2 * (lookup->pending_count + 1), error);
        lookup->pending[lookup->pending_count++] = fingerprint;
    }
    if (lookup->pending_count > 1)
        idxi_sort_pairs(lookup->pending, NULL, lookup->pending_count, false, lookup->pending + lookup->pending_count,
                        NULL);
    return IDX_OK;
}

/* Sets *candidate to the least fingerprint, not below `min_fingerprint`, that has a pending document with the ID, or
 * a document with its hash in a segment. Sets *found to whether there is one. min_fingerprint must not be lower than in
 * the call before, because lookup->pending_next only ascends. */
static enum idx_status find_next_candidate(struct id_lookup *lookup, uint64_t min_fingerprint, uint64_t *candidate,
                                           bool *found, struct idx_error *error) {
    size_t *next = &lookup->pending_next;
    while (*next < lookup->pending_count && lookup->pending[*next] < min_fingerprint) ++*next;
    *found = *next < lookup->pending_count;
    if (*found) *candidate = lookup->pending[*next];
    for (size_t i = 0; i < lookup->index->manifest->segment_count; i++) {
        uint64_t value;
        bool has_value;
        IDXI_TRY(idxi_map_find_value(&lookup->index->segments[i]->by_id, lookup->hash, min_fingerprint, &value,
                                     &has_value, error));
        if (!has_value || (*found && value >= *candidate)) continue;
        *candidate = value;
        *found = true;
    }
    return IDX_OK;
}

/* Sets *confirmed to whether the fingerprint, a candidate, has a document with the ID that was not removed. It may have
 * none, since another ID may have the same hash. Errors: IDX_BAD_CONTENT (the map from IDs has a fingerprint that the
 * document map lacks); as idx_documents_next. */
static enum idx_status confirm_candidate(struct id_lookup *lookup, uint64_t fingerprint, bool *confirmed,
                                         struct idx_error *error) {
    const struct idx_index *index = lookup->index;
    struct idx_document document;
    uint64_t max_count;
    bool found = true;
    *confirmed = false;
    IDXI_TRY(idxi_documents_seek(lookup->documents, fingerprint, &max_count, error));
    /* Without removals, each fingerprint of a map from IDs has documents. After removals, it may have none left. */
    if (max_count == 0 && !index->removes) return idxi_documents_fail_missing(index, fingerprint, error);
    if (max_count == 0) return idxi_check_no_segment_holds(lookup->documents, error);
    while (found && !*confirmed) {
        IDXI_TRY(idx_documents_next(lookup->documents, &document, &found, error));
        *confirmed = found && idxi_document_has_id(index, &document, lookup->item);
    }
    return IDX_OK;
}

/* Sets *count to how many fingerprints have a document with the ID, and stores the first `capacity` of them, ascending.
 * Errors: as find_next_candidate and confirm_candidate. */
static enum idx_status find_fingerprints(struct id_lookup *lookup, uint64_t *fingerprints, size_t capacity,
                                         size_t *count, struct idx_error *error) {
    uint64_t fingerprint = 0;
    bool found, confirmed;
    *count = 0;
    for (uint64_t min_fingerprint = 0;; min_fingerprint = fingerprint + 1) {
        IDXI_TRY(find_next_candidate(lookup, min_fingerprint, &fingerprint, &found, error));
        if (!found) return IDX_OK;
        IDXI_TRY(confirm_candidate(lookup, fingerprint, &confirmed, error));
        if (confirmed && *count < capacity) fingerprints[*count] = fingerprint;
        *count += confirmed;
        if (fingerprint == UINT64_MAX) return IDX_OK;
    }
}

/* Does the work of idx_find_id for a look-up whose ID and hash are set, and frees what it allocates. Sets *count to the
 * number of fingerprints found, and stores the first `capacity` of them. */
static enum idx_status run_lookup(struct id_lookup *lookup, uint64_t *fingerprints, size_t capacity, size_t *count,
                                  struct idx_error *error) {
    IDXI_TRY(prepare_id_maps(lookup, error));
    IDXI_TRY(idx_documents_open(&lookup->documents, lookup->index, error));
    enum idx_status status = list_pending_fingerprints(lookup, error);
    if (status == IDX_OK) status = find_fingerprints(lookup, fingerprints, capacity, count, error);
    idx_documents_close(lookup->documents);
    free(lookup->pending);
    return status;
}

enum idx_status idx_find_id(const struct idx_index *index, const struct idx_item *item, uint64_t *fingerprints,
                            size_t capacity, size_t *count, struct idx_error *error) {
    uint8_t bytes[sizeof item->number];
    struct id_lookup lookup = {.index = index,
                               .type = (enum idx_id_type)index->manifest->id_type,
                               .item = item,
                               .id = item->id,
                               .id_bytes = item->id_length};
    if (lookup.type == IDX_ID_TEXT) {
        lookup.hash = idxi_hash_id(item->id, item->id_length);
    } else {
        idxf_store64(bytes, item->number);
        lookup.id = bytes;
        lookup.id_bytes = sizeof bytes;
        lookup.hash = idxi_hash_u64_id(item->number);
    }
    return run_lookup(&lookup, fingerprints, capacity, count, error);
}
