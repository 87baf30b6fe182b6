/* documents.c: the cursor over the documents of a fingerprint. Sources come one after the other, each by document
 * number: the segments, and then what is pending. Integer IDs are merged over all sources, so that each comes once. */
#include "libidx/view/documents.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes.h"
#include "libidx/base/base.h"
#include "libidx/segment/document_map.h"
#include "libidx/view/live.h"

struct idx_documents {
    const struct idx_index *index;
    uint8_t *id; /* the document's ID, decoded */
    size_t id_capacity;
    struct idxf_ids ids;        /* the group of that ID, whose next IDs can be decoded */
    const struct idxi_map *map; /* the map of that group; NULL: there is no group */
    uint64_t last_number;       /* the last document number of the group */
    uint64_t id_bytes_left;     /* bytes that groups may still have, which are no more than their files */
    uint64_t fingerprint;
    bool has_single_removals; /* whether single documents of the fingerprint were removed */
    uint64_t *pending;        /* the values of its pending documents, ascending: integer IDs, or numbers of records */
    size_t pending_capacity;
    size_t segment_count;
    struct idxi_map_cursor sources[]; /* of the segments, and behind these one without a map, of documents->pending */
};

enum idx_status idx_documents_open(struct idx_documents **result, const struct idx_index *index,
                                   struct idx_error *error) {
    size_t count = index->manifest->segment_count;
    /* The large array at the end of a cursor needs not be zeroed. The last source, which has no map, has none. */
    size_t pending_bytes = offsetof(struct idxi_map_cursor, fingerprints);
    struct idx_documents *documents = malloc(sizeof *documents + count * sizeof *documents->sources + pending_bytes);
    uint64_t offset = 0; /* of document numbers; integer IDs have none */
    if (documents == NULL) return idxi_fail_memory(error);
    *documents = (struct idx_documents){.index = index, .segment_count = count};
    memset(&documents->sources[count], 0, pending_bytes);
    for (size_t i = 0; i < count; i++) {
        struct idxi_map *map = &index->segments[i]->map;
        struct idxi_map_cursor *source = &documents->sources[i];
        enum idx_status status = idxi_map_prepare(map, error);
        memset(source, 0, offsetof(struct idxi_map_cursor, fingerprints));
        source->map = map;
        source->offset = offset;
        if (index->manifest->id_type == IDXF_ID_TEXT) offset += map->segment.documents;
        if (status == IDX_OK) continue;
        idx_documents_close(documents);
        return status;
    }
    documents->sources[count].offset = offset;
    *result = documents;
    return IDX_OK;
}

void idx_documents_close(struct idx_documents *documents) {
    if (documents == NULL) return;
    free(documents->id);
    free(documents->pending);
    free(documents);
}

/* ---- Sources ---- */

/* Compares two uint64_t, for qsort: the smaller one comes first. */
static int compare_integers(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Lists the values of the fingerprint's pending documents in documents->pending, and sets `source`, the one without a
 * map, to the first of them. Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status seek_pending_documents(struct idx_documents *documents, struct idxi_map_cursor *source,
                                              struct idx_error *error) {
    bool is_integer = documents->index->manifest->id_type == IDXF_ID_U64;
    struct idxi_pending_cursor cursor;
    const uint8_t *id;
    size_t id_size, count = 0;
    idxi_pending_seek_fingerprint(&documents->index->pending, documents->fingerprint, &cursor);
    while (idxi_pending_next_document(&cursor, &id, &id_size)) {
        IDXI_GROW(documents->pending, documents->pending_capacity, count + 1, error);
        documents->pending[count++] = is_integer ? idxf_load64(id) : cursor.sequence - cursor.view.after - 1;
    }
    if (is_integer && count > 1) qsort(documents->pending, count, sizeof *documents->pending, compare_integers);
    source->next = 0;
    source->left = count;
    if (count > 0) source->value = documents->pending[0];
    return IDX_OK;
}

/* Goes on to the next document of a source, which must have source->left > 0. Errors: as idxi_map_cursor_next. */
static enum idx_status advance_source(const struct idx_documents *documents, struct idxi_map_cursor *source,
                                      struct idx_error *error) {
    if (source->map != NULL) return idxi_map_cursor_next(source, error);
    if (--source->left > 0) source->value = documents->pending[++source->next];
    return IDX_OK;
}

/* Returns the source of the next document, or NULL if no source has a document left. With integer IDs, that is the
 * source whose next ID is the least; with text IDs, the first source that has a document left. */
static struct idxi_map_cursor *choose_source(struct idx_documents *documents) {
    bool by_value = documents->index->manifest->id_type == IDXF_ID_U64;
    struct idxi_map_cursor *chosen = NULL;
    for (size_t i = 0; i <= documents->segment_count; i++) {
        struct idxi_map_cursor *source = &documents->sources[i];
        if (source->left > 0 && (chosen == NULL || (by_value && source->value < chosen->value))) chosen = source;
    }
    return chosen;
}

/* ---- Finding ---- */

/* Sets all sources to their first document of documents->fingerprint, and *count to the sum of their numbers of
 * documents, which includes those removed by ID. Errors: as idxi_map_cursor_find; IDX_OUT_OF_MEMORY. */
static enum idx_status seek_all_sources(struct idx_documents *documents, uint64_t *count, struct idx_error *error) {
    size_t first_live = idxi_get_first_live_segment(documents->index, documents->fingerprint);
    struct idxi_map_cursor *source = documents->sources;
    documents->id_bytes_left = *count = 0;
    for (size_t i = 0; i < documents->segment_count; i++, source++) {
        source->left = 0;
        documents->id_bytes_left += source->map->pages.length;
        if (i >= first_live) IDXI_TRY(idxi_map_cursor_find(source, documents->fingerprint, error));
        *count += source->left;
    }
    IDXI_TRY(seek_pending_documents(documents, source, error));
    *count += source->left;
    return IDX_OK;
}

/* Sets *count to how many documents of the fingerprint were not removed, by going through all, and then goes back to
 * the first one. Errors: as idx_documents_next and seek_all_sources. */
static enum idx_status count_live_documents(struct idx_documents *documents, uint64_t *count, struct idx_error *error) {
    struct idx_document document;
    uint64_t count_with_removed;
    bool found;
    for (*count = 0;; ++*count) {
        IDXI_TRY(idx_documents_next(documents, &document, &found, error));
        if (!found) return seek_all_sources(documents, &count_with_removed, error);
    }
}

enum idx_status idxi_documents_seek(struct idx_documents *documents, uint64_t fingerprint, uint64_t *max_count,
                                    struct idx_error *error) {
    documents->fingerprint = fingerprint;
    documents->has_single_removals = idxi_has_single_removals(documents->index, fingerprint);
    *max_count = 0;
    return documents->index->manifest->id_type == IDXF_ID_NONE ? IDX_OK : seek_all_sources(documents, max_count, error);
}

bool idxi_documents_skip_removed(const struct idx_documents *documents) { return documents->has_single_removals; }

enum idx_status idxi_documents_fail_missing(const struct idx_index *index, uint64_t fingerprint,
                                            struct idx_error *error) {
    return idxi_fail(error, IDX_BAD_CONTENT, index->path,
                     "has no documents for fingerprint %016llx, which its other files hold: rebuild the index, or "
                     "restore it from a copy",
                     (unsigned long long)fingerprint);
}

enum idx_status idxi_check_no_segment_holds(const struct idx_documents *documents, struct idx_error *error) {
    const struct idx_index *index = documents->index;
    bool held;
    IDXI_TRY(idxi_is_held_before(index, index->open_segments, documents->fingerprint, &held, error));
    return held ? idxi_documents_fail_missing(index, documents->fingerprint, error) : IDX_OK;
}

enum idx_status idx_documents_find(struct idx_documents *documents, uint64_t fingerprint, uint64_t *count,
                                   struct idx_error *error) {
    uint64_t total;
    IDXI_TRY(idxi_check_fingerprints(&fingerprint, 1, documents->index->manifest->bits, error));
    IDXI_TRY(idxi_documents_seek(documents, fingerprint, &total, error));
    if (documents->index->manifest->id_type != IDXF_ID_NONE) {
        if (total == 0) IDXI_TRY(idxi_check_no_segment_holds(documents, error));
        if (documents->has_single_removals && count != NULL) IDXI_TRY(count_live_documents(documents, &total, error));
    }
    if (count != NULL) *count = total;
    return IDX_OK;
}

/* ---- Going through them ---- */

/* Reports that a document map has no ID for document `number` of its segment. Returns IDX_BAD_CONTENT. */
static enum idx_status fail_no_id(const struct idxi_map *map, uint64_t number, struct idx_error *error) {
    return idxi_fail(error, IDX_BAD_CONTENT, map->path,
                     "has no ID for document %llu: rebuild the index, or restore it from a copy",
                     (unsigned long long)number);
}

/* Opens the group of IDs that has the ID of document `number` of a map, in place of the open group. The first ID of the
 * group is decoded next. After an error no group is open. Errors: IDX_BAD_CONTENT (there is no such ID),
 * IDX_BAD_CHECKSUM, IDX_OUT_OF_MEMORY. */
static enum idx_status open_id_group(struct idx_documents *documents, const struct idxi_map *map, uint64_t number,
                                     struct idx_error *error) {
    struct idxi_page_cursor cursor;
    uint8_t key[IDXI_IDS_KEY_BYTES];
    documents->map = NULL;
    idxi_make_ids_key(key, number);
    IDXI_TRY(idxi_pages_seek(&map->pages, map->ids_root, key, sizeof key, &cursor, error));
    if (!cursor.found) return fail_no_id(map, number, error);
    if (cursor.value_size > documents->id_bytes_left) return idxi_map_fail(map, &cursor, IDXF_FAULT_SIZE, error);
    documents->id_bytes_left -= cursor.value_size;
    IDXI_TRY(idxi_map_open_ids(map, &cursor, &documents->ids, &documents->id, &documents->id_capacity, error));
    /* The key is that of the last document of the group, so it is not below `number`. */
    documents->last_number = idxi_get_ids_number(cursor.key);
    if (documents->last_number - number >= documents->ids.count) return fail_no_id(map, number, error);
    documents->map = map;
    return IDX_OK;
}

/* Sets document->id and id_length to the ID of document number document->number of a segment, whose map is `map`. If
 * `map` is NULL, that is the number of a pending record: then sets document->number to UINT64_MAX as well, as pending
 * documents have no number. The ID is valid until the next call. Each ID of a group is decoded from the one before it,
 * so all IDs before the document's are decoded as well. Errors: as open_id_group. */
static enum idx_status decode_id(struct idx_documents *documents, const struct idxi_map *map,
                                 struct idx_document *document, struct idx_error *error) {
    struct idxf_ids *ids = &documents->ids;
    if (map == NULL) {
        const uint8_t *id;
        idxi_pending_get_id(&documents->index->pending, (uint32_t)document->number, &id, &document->id_length);
        document->id = id;
        document->number = UINT64_MAX;
        return IDX_OK;
    }
    bool is_ahead = documents->map == map && documents->last_number >= document->number &&
                    documents->last_number - document->number < ids->left;
    if (!is_ahead) IDXI_TRY(open_id_group(documents, map, document->number, error));
    while (ids->left > documents->last_number - document->number) {
        enum idxf_fault fault = idxf_ids_next(ids, documents->id);
        if (fault == IDXF_OK) continue;
        documents->map = NULL;
        return idxi_fail_fault(error, fault, map->path, (uint64_t)(ids->at - map->pages.map));
    }
    document->id = documents->id;
    document->id_length = ids->length;
    return IDX_OK;
}

/* Returns whether a document of a source was removed later. Never true of the pending documents, since removed ones are
 * not listed. */
static bool is_removed(const struct idx_documents *documents, const struct idxi_map_cursor *source,
                       const struct idx_document *document) {
    const void *id = document->id;
    size_t id_size = document->id_length, segment = (size_t)(source - documents->sources);
    uint8_t integer_id[sizeof(uint64_t)];
    if (!documents->has_single_removals || source->map == NULL) return false;
    if (documents->index->manifest->id_type == IDXF_ID_U64) {
        idxf_store64(integer_id, document->number);
        id = integer_id;
        id_size = sizeof integer_id;
    }
    return idxi_is_document_removed(documents->index, segment, documents->fingerprint, id, id_size);
}

/* Goes on to the document after the current one of the source `current`. With integer IDs, so do other sources that are
 * at the same ID, so that the caller gets each ID once. Errors: as advance_source. */
static enum idx_status advance_past_document(struct idx_documents *documents, struct idxi_map_cursor *current,
                                             struct idx_error *error) {
    uint64_t integer = current->value;
    if (documents->index->manifest->id_type != IDXF_ID_U64) return advance_source(documents, current, error);
    for (size_t i = 0; i <= documents->segment_count; i++) {
        struct idxi_map_cursor *source = &documents->sources[i];
        if (source->left > 0 && source->value == integer) IDXI_TRY(advance_source(documents, source, error));
    }
    return IDX_OK;
}

/* Sets *value to the value of the next document that was not removed (documents.h), and unless `document` is NULL,
 * *document to that document. Sets *found to whether there is one; without one, *value is unspecified. Reads a text ID
 * only if the caller wants it, or to find out whether it was removed. Errors: as idxi_documents_get. */
static enum idx_status get_next_live_document(struct idx_documents *documents, struct idx_document *document,
                                              uint64_t *value, bool *found, struct idx_error *error) {
    for (;;) {
        struct idxi_map_cursor *source = choose_source(documents);
        *found = source != NULL;
        if (!*found) return IDX_OK;
        struct idx_document candidate = {source->value, NULL, 0};
        if (documents->index->manifest->id_type == IDXF_ID_TEXT && (document != NULL || documents->has_single_removals))
            IDXI_TRY(decode_id(documents, source->map, &candidate, error));
        *value = source->offset + source->value;
        if (is_removed(documents, source, &candidate)) {
            IDXI_TRY(advance_source(documents, source, error));
            continue;
        }
        if (document != NULL) *document = candidate;
        return advance_past_document(documents, source, error);
    }
}

enum idx_status idx_documents_next(struct idx_documents *documents, struct idx_document *document, bool *found,
                                   struct idx_error *error) {
    uint64_t value;
    return get_next_live_document(documents, document, &value, found, error);
}

enum idx_status idxi_documents_next_value(struct idx_documents *documents, uint64_t *value, bool *found,
                                          struct idx_error *error) {
    return get_next_live_document(documents, NULL, value, found, error);
}

enum idx_status idxi_documents_get(struct idx_documents *documents, uint64_t value, struct idx_document *document,
                                   struct idx_error *error) {
    *document = (struct idx_document){documents->index->manifest->id_type == IDXF_ID_NONE ? 0 : value, NULL, 0};
    if (documents->index->manifest->id_type != IDXF_ID_TEXT) return IDX_OK;
    for (size_t i = 0; i <= documents->segment_count; i++) {
        const struct idxi_map *map = documents->sources[i].map;
        uint64_t count = map == NULL ? idxi_pending_count_records(&documents->index->pending) : map->segment.documents;
        if (map != NULL) documents->id_bytes_left = map->pages.length;
        if (document->number < count) return decode_id(documents, map, document, error);
        document->number -= count;
    }
    return idxi_fail(
        error, IDX_BAD_CONTENT, documents->index->path,
        "has no ID for document %llu, counted over all segments: rebuild the index, or restore it from a copy",
        (unsigned long long)value);
}

bool idxi_document_has_id(const struct idx_index *index, const struct idx_document *document,
                          const struct idx_item *item) {
    if (index->manifest->id_type == IDXF_ID_U64) return document->number == item->number;
    return document->id_length == item->id_length &&
           (item->id_length == 0 || memcmp(document->id, item->id, item->id_length) == 0);
}

enum idx_status idxi_documents_visit(struct idx_documents *documents, size_t segment, uint64_t fingerprint,
                                     idxi_document_visitor visit, void *context, struct idx_error *error) {
    struct idxi_map_cursor *cursor = &documents->sources[segment];
    documents->id_bytes_left = cursor->map->pages.length;
    IDXI_TRY(idxi_map_cursor_find(cursor, fingerprint, error));
    while (cursor->left > 0) {
        struct idx_document document = {cursor->value, NULL, 0};
        uint8_t integer_id[sizeof(uint64_t)];
        if (documents->index->manifest->id_type == IDXF_ID_TEXT) {
            IDXI_TRY(decode_id(documents, cursor->map, &document, error));
        } else {
            idxf_store64(integer_id, cursor->value);
            document.id = integer_id;
            document.id_length = sizeof integer_id;
        }
        IDXI_TRY(visit(context, cursor->value, document.id, document.id_length, error));
        IDXI_TRY(idxi_map_cursor_next(cursor, error));
    }
    return IDX_OK;
}
