/* by_id.c: finds the fingerprints of documents by their IDs. The map from IDs gives candidates; their documents tell
 * whether one has the ID. */
#include "libidx/by_id.h"

#include <string.h>

#include "libidx/error.h"
#include "libidx/index.h"

/* The ID that is looked for. */
struct wanted {
    enum idx_id_type type;
    const void *id;
    size_t length;
    uint64_t number; /* IDX_ID_U64 */
    uint64_t hash;
};

static enum idx_status check_index(const struct idx_index *index, const struct wanted *wanted,
                                   struct idx_error *error) {
    if (!index->manifest->by_id)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, index->path,
                         "keeps no map from IDs to fingerprints: build it with --by-id");
    if ((enum idx_id_type)index->manifest->id_type != wanted->type)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, index->path, "has IDs of another type than the one looked for");
    for (size_t i = 0; i < index->manifest->segment_count; i++)
        IDXI_TRY(idxi_map_prepare(&index->segments[i].by_id, error));
    return IDX_OK;
}

/* The least candidate, over all segments, that is not below `least`. */
static enum idx_status find_candidate(const struct idx_index *index, uint64_t hash, uint64_t least, uint64_t *candidate,
                                      bool *found, struct idx_error *error) {
    *found = false;
    for (size_t i = 0; i < index->manifest->segment_count; i++) {
        uint64_t value;
        bool has;
        IDXI_TRY(idxi_map_find_value(&index->segments[i].by_id, hash, least, &value, &has, error));
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

/* Whether the fingerprint has a document of that ID. */
static enum idx_status confirm(struct idx_documents *documents, uint64_t fingerprint, const struct wanted *wanted,
                               bool *confirmed, struct idx_error *error) {
    struct idx_document document;
    bool found = true;
    *confirmed = false;
    IDXI_TRY(idx_documents_find(documents, fingerprint, NULL, error));
    while (found && !*confirmed) {
        IDXI_TRY(idx_documents_next(documents, &document, &found, error));
        *confirmed = found && is_wanted(wanted, &document);
    }
    return IDX_OK;
}

static enum idx_status find_all(const struct idx_index *index, struct idx_documents *documents,
                                const struct wanted *wanted, uint64_t *fingerprints, size_t capacity, size_t *count,
                                struct idx_error *error) {
    uint64_t candidate = 0;
    bool found, confirmed;
    size_t made = 0;
    for (uint64_t least = 0;; least = candidate + 1) {
        IDXI_TRY(find_candidate(index, wanted->hash, least, &candidate, &found, error));
        if (!found) break;
        IDXI_TRY(confirm(documents, candidate, wanted, &confirmed, error));
        if (confirmed && made < capacity) fingerprints[made] = candidate;
        made += confirmed;
        if (candidate == UINT64_MAX) break;
    }
    *count = made;
    return IDX_OK;
}

static enum idx_status find(const struct idx_index *index, const struct wanted *wanted, uint64_t *fingerprints,
                            size_t capacity, size_t *count, struct idx_error *error) {
    struct idx_documents *documents;
    IDXI_TRY(check_index(index, wanted, error));
    IDXI_TRY(idx_documents_open(index, &documents, error));
    enum idx_status status = find_all(index, documents, wanted, fingerprints, capacity, count, error);
    idx_documents_close(documents);
    return status;
}

enum idx_status idx_find_id(const struct idx_index *index, const void *id, size_t length, uint64_t *fingerprints,
                            size_t capacity, size_t *count, struct idx_error *error) {
    struct wanted wanted = {.type = IDX_ID_TEXT, .id = id, .length = length, .hash = idxi_id_hash(id, length)};
    return find(index, &wanted, fingerprints, capacity, count, error);
}

enum idx_status idx_find_id_u64(const struct idx_index *index, uint64_t id, uint64_t *fingerprints, size_t capacity,
                                size_t *count, struct idx_error *error) {
    struct wanted wanted = {.type = IDX_ID_U64, .number = id, .hash = idxi_id_hash_u64(id)};
    return find(index, &wanted, fingerprints, capacity, count, error);
}
