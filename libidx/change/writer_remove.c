/* writer_remove.c: removes documents, by fingerprint and ID, by fingerprint, or by ID. */
#include <stdlib.h>
#include <string.h>

#include "libidx/base/base.h"
#include "libidx/change/writer.h"
#include "libidx/view/live.h"

/* Sets *found to whether the fingerprint has a document, or with IDX_ID_NONE whether the index has it. */
static enum idx_status look_for_fingerprint(const struct idx_writer *writer, uint64_t fingerprint, bool *found,
                                            struct idx_error *error) {
    const struct idx_index *index = writer->index;
    *found = idxi_has_pending(index) && idxi_pending_has_document(&index->pending, fingerprint);
    return *found ? IDX_OK : idxi_is_held_before(index, index->open_segments, fingerprint, found, error);
}

static bool has_id(const struct idx_writer *writer, const struct idx_document *document, const struct idx_item *item) {
    if (writer->index->manifest->id_type == IDXF_ID_U64) return document->number == item->number;
    return document->id_length == item->id_length &&
           (item->id_length == 0 || memcmp(document->id, item->id, item->id_length) == 0);
}

/* Counts a fingerprint's documents with the ID of `item` (NULL: all). Sets *others to whether there are others. */
static enum idx_status count_documents(const struct idx_writer *writer, struct idx_documents *documents,
                                       uint64_t fingerprint, const struct idx_item *item, uint64_t *count, bool *others,
                                       struct idx_error *error) {
    struct idx_document document;
    bool found;
    *count = 0;
    *others = false;
    IDXI_TRY(idx_documents_find(documents, fingerprint, NULL, error));
    for (;;) {
        IDXI_TRY(idx_documents_next(documents, &document, &found, error));
        if (!found) return IDX_OK;
        bool matches = item == NULL || has_id(writer, &document, item);
        *count += matches;
        *others |= !matches;
    }
}

/* Removes one document, or the whole fingerprint if that has no other. Counts it in *removal, also if it is missing. */
static enum idx_status remove_document(struct idx_writer *writer, struct idx_documents *documents,
                                       const struct idx_item *item, struct idx_removal *removal,
                                       struct idx_error *error) {
    uint64_t count = 0;
    bool found, others = false;
    IDXI_TRY(look_for_fingerprint(writer, item->fingerprint, &found, error));
    if (found) IDXI_TRY(count_documents(writer, documents, item->fingerprint, item, &count, &others, error));
    removal->documents += count;
    removal->missing += count == 0;
    if (count == 0) return IDX_OK;
    return idxi_writer_record(writer, others ? IDXF_REMOVE_DOCUMENT : IDXF_REMOVE_FINGERPRINT, item, error);
}

/* Removes a fingerprint with all of its documents, and counts them in *removal. */
static enum idx_status remove_fingerprint(struct idx_writer *writer, struct idx_documents *documents,
                                          const struct idx_item *item, struct idx_removal *removal,
                                          struct idx_error *error) {
    uint64_t fingerprint = item->fingerprint, count = 1;
    bool found, others;
    IDXI_TRY(look_for_fingerprint(writer, fingerprint, &found, error));
    removal->missing += !found;
    if (!found) return IDX_OK;
    if (writer->index->manifest->id_type != IDXF_ID_NONE)
        IDXI_TRY(count_documents(writer, documents, fingerprint, NULL, &count, &others, error));
    removal->documents += count;
    return idxi_writer_record(writer, IDXF_REMOVE_FINGERPRINT, item, error);
}

/* Finds up to `capacity` fingerprints of the documents with the item's ID, and sets *count to how many there are. */
static enum idx_status find_fingerprints_of(const struct idx_writer *writer, const struct idx_item *item,
                                            uint64_t *fingerprints, size_t capacity, size_t *count,
                                            struct idx_error *error) {
    if (writer->index->manifest->id_type == IDXF_ID_U64)
        return idx_find_id_u64(writer->index, item->number, fingerprints, capacity, count, error);
    return idx_find_id(writer->index, item->id, item->id_length, fingerprints, capacity, count, error);
}

/* Removes all documents with the ID of an item, one for each fingerprint that has it; the item's own does not count. */
static enum idx_status remove_documents_of_id(struct idx_writer *writer, struct idx_documents *documents,
                                              const struct idx_item *item, struct idx_removal *removal,
                                              struct idx_error *error) {
    size_t count;
    IDXI_TRY(find_fingerprints_of(writer, item, NULL, 0, &count, error));
    removal->missing += count == 0;
    if (count == 0) return IDX_OK;
    uint64_t *fingerprints = malloc(count * sizeof *fingerprints);
    if (fingerprints == NULL) return idxi_fail_memory(error);
    enum idx_status status = find_fingerprints_of(writer, item, fingerprints, count, &count, error);
    for (size_t i = 0; i < count && status == IDX_OK; i++) {
        struct idx_item one_document = *item;
        one_document.fingerprint = fingerprints[i];
        status = remove_document(writer, documents, &one_document, removal, error);
    }
    free(fingerprints);
    return status;
}

/* Removes what an item means, and counts that in *removal. */
typedef enum idx_status (*item_remover)(struct idx_writer *writer, struct idx_documents *documents,
                                        const struct idx_item *item, struct idx_removal *removal,
                                        struct idx_error *error);

/* Removes checked items, or fingerprints if `items` is NULL, as one batch. Sets *removal only if all succeeded. */
static enum idx_status remove_all(struct idx_writer *writer, item_remover remove_one, const struct idx_item *items,
                                  const uint64_t *fingerprints, size_t count, struct idx_removal *removal,
                                  struct idx_error *error) {
    struct idx_removal total = {0};
    struct idx_documents *documents;
    IDXI_TRY(idxi_writer_begin_batch(writer, count, error));
    IDXI_TRY(idx_documents_open(writer->index, &documents, error));
    enum idx_status status = IDX_OK;
    for (size_t i = 0; i < count && status == IDX_OK; i++) {
        struct idx_item fingerprint_alone = {.fingerprint = items == NULL ? fingerprints[i] : 0};
        status = remove_one(writer, documents, items == NULL ? &fingerprint_alone : &items[i], &total, error);
    }
    idx_documents_close(documents);
    IDXI_TRY(idxi_writer_end_batch(writer, status, error));
    if (removal != NULL) *removal = total;
    return IDX_OK;
}

enum idx_status idx_writer_remove(struct idx_writer *writer, const struct idx_item *items, size_t count,
                                  struct idx_removal *removal, struct idx_error *error) {
    if (writer->index->manifest->id_type == IDXF_ID_NONE)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, writer->index->path,
                         "has no documents, only fingerprints: remove fingerprints instead");
    IDXI_TRY(idxi_writer_check_items(writer, items, count, error));
    return remove_all(writer, remove_document, items, NULL, count, removal, error);
}

enum idx_status idx_writer_remove_fingerprints(struct idx_writer *writer, const uint64_t *fingerprints, size_t count,
                                               struct idx_removal *removal, struct idx_error *error) {
    IDXI_TRY(idxi_check_queries(writer->index, fingerprints, count, error));
    return remove_all(writer, remove_fingerprint, NULL, fingerprints, count, removal, error);
}

enum idx_status idx_writer_remove_ids(struct idx_writer *writer, const struct idx_item *items, size_t count,
                                      struct idx_removal *removal, struct idx_error *error) {
    if (!writer->index->manifest->by_id)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, writer->index->path,
                         "has no map from IDs: give fingerprints as well, or build it with such a map");
    return remove_all(writer, remove_documents_of_id, items, NULL, count, removal, error);
}
