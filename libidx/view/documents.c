/* documents.c: the cursor over the documents of a fingerprint. Segments come one after the other, each by document
 * number, then the pending documents. Integer IDs are merged over all of these, so that each comes once. */
#include "libidx/view/documents.h"

#include <stdlib.h>

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
    uint64_t ids_left;          /* bytes that groups may still have, which are no more than their files */
    uint64_t fingerprint;
    bool filters;                       /* whether single documents of the fingerprint were removed */
    struct idxi_pending_cursor pending; /* its pending documents with text IDs; without a view if there is none */
    uint64_t *integers;                 /* the integer IDs of its pending documents, ascending */
    size_t integer_count, integer_capacity, integers_given;
    size_t cursor_count;
    struct idxi_map_cursor cursors[]; /* of the segments */
};

enum idx_status idx_documents_open(const struct idx_index *index, struct idx_documents **result,
                                   struct idx_error *error) {
    size_t count = index->manifest->segment_count;
    struct idx_documents *documents = calloc(1, sizeof *documents + count * sizeof *documents->cursors);
    if (documents == NULL) return idxi_fail_memory(error);
    documents->index = index;
    for (; documents->cursor_count < count; documents->cursor_count++) {
        struct idxi_map *map = &index->segments[documents->cursor_count]->map;
        struct idxi_map_cursor *cursor = &documents->cursors[documents->cursor_count];
        cursor->map = map;
        cursor->offset = cursor > documents->cursors ? cursor[-1].offset + cursor[-1].map->segment.documents : 0;
        enum idx_status status = idxi_map_prepare(map, error);
        if (status == IDX_OK) continue;
        idx_documents_close(documents);
        return status;
    }
    *result = documents;
    return IDX_OK;
}

void idx_documents_close(struct idx_documents *documents) {
    if (documents == NULL) return;
    free(documents->id);
    free(documents->integers);
    free(documents);
}

/* Returns whether the next document of a segment, with an integer ID, was removed. */
static bool is_integer_removed(const struct idx_documents *documents, const struct idxi_map_cursor *cursor) {
    uint8_t id[sizeof(uint64_t)];
    idxf_store64(id, cursor->value);
    return idxi_is_removed(documents->index, (size_t)(cursor - documents->cursors), documents->fingerprint, id,
                           sizeof id);
}

/* Skips documents of a segment that were removed. Those with text IDs are skipped later, when their IDs are decoded. */
static enum idx_status skip_removed(const struct idx_documents *documents, struct idxi_map_cursor *cursor,
                                    struct idx_error *error) {
    if (!documents->filters || documents->index->manifest->id_type != IDXF_ID_U64) return IDX_OK;
    while (cursor->left > 0 && is_integer_removed(documents, cursor)) IDXI_TRY(idxi_map_cursor_next(cursor, error));
    return IDX_OK;
}

/* ---- Pending documents ---- */

static int compare_integers(const void *a, const void *b) {
    uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return (one > other) - (one < other);
}

/* Finds and counts the fingerprint's pending documents. Gathers integer IDs, since they must be given in order. */
static enum idx_status find_pending(struct idx_documents *documents, uint64_t *count, struct idx_error *error) {
    const struct idx_index *index = documents->index;
    struct idxi_pending_cursor cursor;
    const uint8_t *id;
    size_t id_size;
    *count = documents->integer_count = documents->integers_given = 0;
    if (!idxi_has_pending(index)) return IDX_OK;
    idxi_pending_documents(&index->pending, documents->fingerprint, &documents->pending);
    cursor = documents->pending;
    for (; idxi_pending_next(&cursor, &id, &id_size); ++*count) {
        if (index->manifest->id_type != IDXF_ID_U64) continue;
        IDXI_GROW(documents->integers, documents->integer_capacity, documents->integer_count + 1, error);
        documents->integers[documents->integer_count++] = idxf_load64(id);
    }
    if (documents->integer_count > 1)
        qsort(documents->integers, documents->integer_count, sizeof *documents->integers, compare_integers);
    return IDX_OK;
}

/* Gives the next pending document with a text ID. Returns false if there is none. */
static bool give_pending_text(struct idx_documents *documents, struct idx_document *document) {
    const uint8_t *id;
    size_t id_size;
    if (documents->pending.view.records == NULL || !idxi_pending_next(&documents->pending, &id, &id_size)) return false;
    *document = (struct idx_document){.number = UINT64_MAX, .id = id, .id_length = id_size};
    return true;
}

/* ---- Finding ---- */

/* Goes to the documents of documents->fingerprint, and counts them, with those that are filtered out. */
static enum idx_status go_to_documents(struct idx_documents *documents, uint64_t *count, struct idx_error *error) {
    size_t first = idxi_first_live(documents->index, documents->fingerprint);
    documents->ids_left = 0;
    IDXI_TRY(find_pending(documents, count, error));
    for (size_t i = 0; i < documents->cursor_count; i++) {
        struct idxi_map_cursor *cursor = &documents->cursors[i];
        cursor->left = 0;
        documents->ids_left += cursor->map->pages.length;
        if (i >= first) IDXI_TRY(idxi_map_cursor_find(cursor, documents->fingerprint, error));
        *count += cursor->left;
        IDXI_TRY(skip_removed(documents, cursor, error));
    }
    return IDX_OK;
}

/* Counts the documents that were not removed, by going through all, and begins again. */
static enum idx_status count_live(struct idx_documents *documents, uint64_t *count, struct idx_error *error) {
    struct idx_document document;
    uint64_t with_removed;
    bool found = true;
    for (*count = 0; found; *count += found) IDXI_TRY(idx_documents_next(documents, &document, &found, error));
    return go_to_documents(documents, &with_removed, error);
}

enum idx_status idxi_documents_seek(struct idx_documents *documents, uint64_t fingerprint, uint64_t *most,
                                    struct idx_error *error) {
    documents->fingerprint = fingerprint;
    documents->filters = idxi_removes_some(documents->index, fingerprint);
    *most = 0;
    return documents->index->manifest->id_type == IDXF_ID_NONE ? IDX_OK : go_to_documents(documents, most, error);
}

bool idxi_documents_are_filtered(const struct idx_documents *documents) { return documents->filters; }

enum idx_status idxi_documents_fail_missing(const struct idx_index *index, uint64_t fingerprint,
                                            struct idx_error *error) {
    return idxi_fail(error, IDX_BAD_CONTENT, index->path,
                     "has no documents for fingerprint %016llx: if it comes from this index, its docs.mdb is damaged",
                     (unsigned long long)fingerprint);
}

enum idx_status idx_documents_find(struct idx_documents *documents, uint64_t fingerprint, uint64_t *count,
                                   struct idx_error *error) {
    uint64_t total;
    IDXI_TRY(idxi_documents_seek(documents, fingerprint, &total, error));
    if (documents->index->manifest->id_type != IDXF_ID_NONE) {
        if (total == 0) return idxi_documents_fail_missing(documents->index, fingerprint, error);
        if (documents->filters && count != NULL) IDXI_TRY(count_live(documents, &total, error));
    }
    if (count != NULL) *count = total;
    return IDX_OK;
}

/* ---- Going through them ---- */

static enum idx_status fail_no_id(const struct idxi_map *map, uint64_t number, struct idx_error *error) {
    return idxi_fail(error, IDX_BAD_CONTENT, map->path,
                     "has no ID for document %llu: rebuild the index, or restore it from a copy",
                     (unsigned long long)number);
}

/* Opens the group of IDs that has that of document `number`, in place of the open one. */
static enum idx_status open_ids(struct idx_documents *documents, const struct idxi_map *map, uint64_t number,
                                struct idx_error *error) {
    struct idxi_page_cursor cursor;
    uint8_t key[IDXI_IDS_KEY_BYTES];
    documents->map = NULL;
    idxi_make_ids_key(key, number);
    IDXI_TRY(idxi_pages_seek(&map->pages, map->ids_root, key, sizeof key, &cursor, error));
    if (!cursor.found) return fail_no_id(map, number, error);
    if (cursor.value_size > documents->ids_left) return idxi_map_fail(map, &cursor, IDXF_FAULT_SIZE, error);
    documents->ids_left -= cursor.value_size;
    IDXI_TRY(idxi_map_open_ids(map, &cursor, &documents->ids, &documents->id, &documents->id_capacity, error));
    documents->last_number = idxi_ids_number(cursor.key);
    if (documents->last_number - number >= documents->ids.count) return fail_no_id(map, number, error);
    documents->map = map;
    return IDX_OK;
}

/* Sets a document's ID by its number. Each ID of a group is decoded from the one before, so all up to it are. */
static enum idx_status decode_id(struct idx_documents *documents, const struct idxi_map *map,
                                 struct idx_document *document, struct idx_error *error) {
    struct idxf_ids *ids = &documents->ids;
    bool is_ahead = documents->map == map && documents->last_number >= document->number &&
                    documents->last_number - document->number < ids->left;
    if (!is_ahead) IDXI_TRY(open_ids(documents, map, document->number, error));
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

/* Returns the cursor of the next document: of the least integer ID, or of the first segment with texts. NULL: none. */
static struct idxi_map_cursor *choose_cursor(struct idx_documents *documents) {
    bool by_value = documents->index->manifest->id_type == IDXF_ID_U64;
    struct idxi_map_cursor *chosen = NULL;
    for (size_t i = 0; i < documents->cursor_count; i++) {
        struct idxi_map_cursor *cursor = &documents->cursors[i];
        if (cursor->left > 0 && (chosen == NULL || (by_value && cursor->value < chosen->value))) chosen = cursor;
    }
    return chosen;
}

/* Gives the next integer ID once, even if several segments and pending documents have it. */
static enum idx_status next_integer(struct idx_documents *documents, struct idx_document *document, bool *found,
                                    struct idx_error *error) {
    const struct idxi_map_cursor *chosen = choose_cursor(documents);
    bool is_pending = documents->integers_given < documents->integer_count;
    const uint64_t *pending = is_pending ? documents->integers + documents->integers_given : NULL;
    *found = chosen != NULL || is_pending;
    if (!*found) return IDX_OK;
    uint64_t integer = chosen != NULL ? chosen->value : *pending;
    if (is_pending && *pending < integer) integer = *pending;
    *document = (struct idx_document){integer, NULL, 0};
    if (is_pending && *pending == integer) documents->integers_given++;
    for (size_t i = 0; i < documents->cursor_count; i++) {
        struct idxi_map_cursor *cursor = &documents->cursors[i];
        if (cursor->left == 0 || cursor->value != integer) continue;
        IDXI_TRY(idxi_map_cursor_next(cursor, error));
        IDXI_TRY(skip_removed(documents, cursor, error));
    }
    return IDX_OK;
}

/* Returns the number of the first pending document. Those of all segments are lower. */
static uint64_t first_pending_number(const struct idx_documents *documents) {
    const struct idxi_map_cursor *end = &documents->cursors[documents->cursor_count];
    return documents->cursor_count == 0 ? 0 : end[-1].offset + end[-1].map->segment.documents;
}

/* Sets *removed to whether the next document of a segment, with a text ID, was removed. */
static enum idx_status is_text_removed(struct idx_documents *documents, const struct idxi_map_cursor *cursor,
                                       bool *removed, struct idx_error *error) {
    struct idx_document document = {cursor->value, NULL, 0};
    IDXI_TRY(decode_id(documents, cursor->map, &document, error));
    *removed = idxi_is_removed(documents->index, (size_t)(cursor - documents->cursors), documents->fingerprint,
                               document.id, document.id_length);
    return IDX_OK;
}

/* Gives the next document with a text ID that was not removed: those of segments, then the pending ones. */
static enum idx_status next_text(struct idx_documents *documents, struct idx_document *document, bool *found,
                                 struct idx_error *error) {
    for (;;) {
        struct idxi_map_cursor *chosen = choose_cursor(documents);
        *found = chosen != NULL || give_pending_text(documents, document);
        if (chosen == NULL) return IDX_OK;
        *document = (struct idx_document){chosen->value, NULL, 0};
        IDXI_TRY(decode_id(documents, chosen->map, document, error));
        IDXI_TRY(idxi_map_cursor_next(chosen, error));
        size_t segment = (size_t)(chosen - documents->cursors);
        if (!documents->filters ||
            !idxi_is_removed(documents->index, segment, documents->fingerprint, document->id, document->id_length))
            return IDX_OK;
    }
}

enum idx_status idx_documents_next(struct idx_documents *documents, struct idx_document *document, bool *found,
                                   struct idx_error *error) {
    return documents->index->manifest->id_type == IDXF_ID_U64 ? next_integer(documents, document, found, error)
                                                              : next_text(documents, document, found, error);
}

/* Gives the value of the next document with a text ID that was not removed. */
static enum idx_status next_text_value(struct idx_documents *documents, uint64_t *value, bool *found,
                                       struct idx_error *error) {
    struct idx_document document;
    for (;;) {
        struct idxi_map_cursor *chosen = choose_cursor(documents);
        *found = chosen != NULL || give_pending_text(documents, &document);
        if (chosen == NULL) {
            const struct idxi_pending_cursor *pending = &documents->pending;
            if (*found) *value = first_pending_number(documents) + pending->sequence - pending->view.after - 1;
            return IDX_OK;
        }
        bool removed = false;
        *value = chosen->offset + chosen->value;
        if (documents->filters) IDXI_TRY(is_text_removed(documents, chosen, &removed, error));
        IDXI_TRY(idxi_map_cursor_next(chosen, error));
        if (!removed) return IDX_OK;
    }
}

enum idx_status idxi_documents_next_value(struct idx_documents *documents, uint64_t *value, bool *found,
                                          struct idx_error *error) {
    if (documents->index->manifest->id_type != IDXF_ID_U64) return next_text_value(documents, value, found, error);
    struct idx_document document;
    IDXI_TRY(next_integer(documents, &document, found, error));
    if (*found) *value = document.number;
    return IDX_OK;
}

enum idx_status idxi_documents_get(struct idx_documents *documents, uint64_t value, struct idx_document *document,
                                   struct idx_error *error) {
    const struct idxf_manifest *manifest = documents->index->manifest;
    *document = (struct idx_document){manifest->id_type == IDXF_ID_NONE ? 0 : value, NULL, 0};
    if (manifest->id_type != IDXF_ID_TEXT) return IDX_OK;
    uint64_t number = value; /* less the documents of all segments before the one that has it */
    for (size_t i = 0; i < documents->cursor_count; i++) {
        const struct idxi_map *map = documents->cursors[i].map;
        documents->ids_left = map->pages.length;
        document->number = number;
        if (number < map->segment.documents) return decode_id(documents, map, document, error);
        number -= map->segment.documents;
    }
    const struct idxi_pending_view *view = &documents->index->pending;
    if (idxi_has_pending(documents->index) && number < view->last - view->after) {
        const uint8_t *id;
        size_t id_size;
        idxi_pending_id(view, (uint32_t)number, &id, &id_size);
        *document = (struct idx_document){.number = UINT64_MAX, .id = id, .id_length = id_size};
        return IDX_OK;
    }
    return idxi_fail(
        error, IDX_BAD_CONTENT, documents->index->path,
        "has no ID for document %llu, counted over all segments: rebuild the index, or restore it from a copy",
        (unsigned long long)value);
}

enum idx_status idxi_documents_visit(struct idx_documents *documents, size_t segment, uint64_t fingerprint,
                                     idxi_document_visitor visit, void *context, struct idx_error *error) {
    struct idxi_map_cursor *cursor = &documents->cursors[segment];
    documents->ids_left = cursor->map->pages.length;
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
