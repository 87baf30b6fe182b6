/* find_id.c: finds the fingerprints of documents by their IDs. The maps from IDs give candidates; the documents of a
 * candidate show whether one has the ID. Pending documents are found in memory. */

#include <stdlib.h>
#include <string.h>

#include "format/bytes.h"
#include "libidx/base/base.h"
#include "libidx/streams/sort.h"
#include "libidx/view/live.h"

struct wanted {
    enum idx_id_type type;
    const void *id;
    size_t length;
    uint64_t number; /* IDX_ID_U64 */
    uint64_t hash;
};

/* Checks that the index can be asked for the wanted ID, and prepares its maps from IDs. */
static enum idx_status prepare_index(const struct idx_index *index, const struct wanted *wanted,
                                     struct idx_error *error) {
    if (!index->manifest->by_id)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, index->path,
                         "has no map from IDs to fingerprints: build it with such a map");
    if ((enum idx_id_type)index->manifest->id_type != wanted->type)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, index->path,
                         "has IDs of another type than the one that was looked up");
    for (size_t i = 0; i < index->manifest->segment_count; i++)
        IDXI_TRY(idxi_map_prepare(&index->segments[i]->by_id, error));
    return IDX_OK;
}

/* Sets *candidate to the least candidate of all segments that is not below `least`, and *found to whether there is one.
 * A candidate is a fingerprint that has a document with this hash of its ID. */
static enum idx_status find_candidate(const struct idx_index *index, uint64_t hash, uint64_t least, uint64_t *candidate,
                                      bool *found, struct idx_error *error) {
    *found = false;
    for (size_t i = 0; i < index->manifest->segment_count; i++) {
        uint64_t value;
        bool has;
        IDXI_TRY(idxi_map_find_value(&index->segments[i]->by_id, hash, least, &value, &has, error));
        if (!has || (*found && value >= *candidate)) continue;
        *candidate = value;
        *found = true;
    }
    return IDX_OK;
}

static bool is_wanted(const struct wanted *wanted, const struct idx_document *document) {
    if (wanted->type == IDX_ID_U64) return document->number == wanted->number;
    return document->id_length == wanted->length &&
           (wanted->length == 0 || memcmp(document->id, wanted->id, wanted->length) == 0);
}

/* Sets *confirmed to whether a candidate has a document with the wanted ID that was not removed. */
static enum idx_status confirm(const struct idx_index *index, struct idx_documents *documents, uint64_t fingerprint,
                               const struct wanted *wanted, bool *confirmed, struct idx_error *error) {
    struct idx_document document;
    bool found = true;
    *confirmed = false;
    if (index->removes) IDXI_TRY(idxi_is_held_before(index, index->open_segments, fingerprint, &found, error));
    if (found) IDXI_TRY(idx_documents_find(documents, fingerprint, NULL, error));
    while (found && !*confirmed) {
        IDXI_TRY(idx_documents_next(documents, &document, &found, error));
        *confirmed = found && is_wanted(wanted, &document);
    }
    return IDX_OK;
}

/* The fingerprints that have a pending document with the wanted ID, ascending, each once. */
struct pending {
    uint64_t *fingerprints; /* to be freed */
    size_t count, next;
};

static enum idx_status list_pending(const struct idx_index *index, const struct wanted *wanted, struct pending *pending,
                                    struct idx_error *error) {
    struct idxi_pending_cursor cursor;
    uint8_t integer_id[sizeof(uint64_t)];
    uint64_t fingerprint;
    size_t documents = 0, listed = 0;
    bool is_integer = wanted->type == IDX_ID_U64;
    *pending = (struct pending){0};
    if (!idxi_has_pending(index)) return IDX_OK;
    idxf_store64(integer_id, wanted->number);
    idxi_pending_fingerprints(&index->pending, is_integer ? integer_id : wanted->id,
                              is_integer ? sizeof integer_id : wanted->length, &cursor);
    for (struct idxi_pending_cursor all = cursor; idxi_pending_next_fingerprint(&all, &fingerprint);) documents++;
    pending->fingerprints = malloc((2 * documents + 1) * sizeof(uint64_t)); /* and room to sort them */
    if (pending->fingerprints == NULL) return idxi_fail_memory(error);
    while (idxi_pending_next_fingerprint(&cursor, &fingerprint)) pending->fingerprints[listed++] = fingerprint;
    idxi_sort_pairs(pending->fingerprints, NULL, documents, false, pending->fingerprints + documents, NULL);
    for (size_t i = 0; i < documents; i++) {
        if (i > 0 && pending->fingerprints[i] == pending->fingerprints[i - 1]) continue;
        pending->fingerprints[pending->count++] = pending->fingerprints[i];
    }
    return IDX_OK;
}

/* Sets *fingerprint to the least one, pending or not, that is not below `least` and has a document with the wanted ID,
 * and *found to whether there is one. Calls must ascend, since pending->next goes on with them. */
static enum idx_status find_next(const struct idx_index *index, struct idx_documents *documents,
                                 const struct wanted *wanted, struct pending *pending, uint64_t least,
                                 uint64_t *fingerprint, bool *found, struct idx_error *error) {
    for (;; least = *fingerprint + 1) {
        IDXI_TRY(find_candidate(index, wanted->hash, least, fingerprint, found, error));
        if (pending->next < pending->count && (!*found || pending->fingerprints[pending->next] <= *fingerprint)) {
            *fingerprint = pending->fingerprints[pending->next++];
            *found = true;
            return IDX_OK;
        }
        if (!*found) return IDX_OK;
        IDXI_TRY(confirm(index, documents, *fingerprint, wanted, found, error));
        if (*found || *fingerprint == UINT64_MAX) return IDX_OK;
    }
}

/* Finds the fingerprints of all documents with the wanted ID, stores as many as have room, and counts all. */
static enum idx_status find_fingerprints(const struct idx_index *index, struct idx_documents *documents,
                                         const struct wanted *wanted, struct pending *pending, uint64_t *fingerprints,
                                         size_t capacity, size_t *count, struct idx_error *error) {
    uint64_t fingerprint = 0;
    bool found;
    *count = 0;
    for (uint64_t least = 0;; least = fingerprint + 1) {
        IDXI_TRY(find_next(index, documents, wanted, pending, least, &fingerprint, &found, error));
        if (!found) return IDX_OK;
        if (*count < capacity) fingerprints[*count] = fingerprint;
        ++*count;
        if (fingerprint == UINT64_MAX) return IDX_OK;
    }
}

static enum idx_status find_wanted(const struct idx_index *index, const struct wanted *wanted, uint64_t *fingerprints,
                                   size_t capacity, size_t *count, struct idx_error *error) {
    struct idx_documents *documents;
    struct pending pending;
    IDXI_TRY(prepare_index(index, wanted, error));
    IDXI_TRY(list_pending(index, wanted, &pending, error));
    enum idx_status status = idx_documents_open(index, &documents, error);
    if (status == IDX_OK) {
        status = find_fingerprints(index, documents, wanted, &pending, fingerprints, capacity, count, error);
        idx_documents_close(documents);
    }
    free(pending.fingerprints);
    return status;
}

enum idx_status idx_find_id(const struct idx_index *index, const void *id, size_t length, uint64_t *fingerprints,
                            size_t capacity, size_t *count, struct idx_error *error) {
    struct wanted wanted = {.type = IDX_ID_TEXT, .id = id, .length = length, .hash = idxi_id_hash(id, length)};
    return find_wanted(index, &wanted, fingerprints, capacity, count, error);
}

enum idx_status idx_find_id_u64(const struct idx_index *index, uint64_t id, uint64_t *fingerprints, size_t capacity,
                                size_t *count, struct idx_error *error) {
    struct wanted wanted = {.type = IDX_ID_U64, .number = id, .hash = idxi_id_hash_u64(id)};
    return find_wanted(index, &wanted, fingerprints, capacity, count, error);
}
