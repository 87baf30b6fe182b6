/* live.c: which fingerprints and documents of segments were not removed, and which are pending. */
#include "libidx/view/live.h"

#include <stdlib.h>

#include "format/bytes.h"
#include "libidx/base/base.h"
#include "libidx/streams/sort.h"
#include "libidx/view/documents.h"

/* ---- Segments ---- */

size_t idxi_find_first_live(const struct idx_index *index, uint64_t fingerprint) {
    size_t first = index->open_segments;
    if (idxi_pending_removal(&index->pending, fingerprint) == IDXI_REMOVED_ALL) return first;
    while (first > 0) {
        const struct idxi_removed *removed = &index->segments[--first]->removed;
        if (removed->count > 0 && idxi_removed_get(removed, fingerprint) == IDXI_REMOVED_ALL) break;
    }
    return first;
}

enum idx_status idxi_is_held_before(const struct idx_index *index, size_t end, uint64_t fingerprint, bool *held,
                                    struct idx_error *error) {
    *held = false;
    for (size_t i = idxi_first_live(index, fingerprint); i < end && !*held; i++)
        IDXI_TRY(idxi_segment_contains(index, i, fingerprint, held, error));
    return IDX_OK;
}

bool idxi_removes_some(const struct idx_index *index, uint64_t fingerprint) {
    if (!index->removes) return false;
    if (idxi_pending_removal(&index->pending, fingerprint) == IDXI_REMOVED_SOME) return true;
    for (size_t i = 0; i < index->open_segments; i++) {
        const struct idxi_removed *removed = &index->segments[i]->removed;
        if (removed->count > 0 && idxi_removed_get(removed, fingerprint) == IDXI_REMOVED_SOME) return true;
    }
    return false;
}

bool idxi_is_removed(const struct idx_index *index, size_t segment, uint64_t fingerprint, const void *id,
                     size_t id_size) {
    if (idxi_pending_removes(&index->pending, fingerprint, id, id_size)) return true;
    for (size_t i = segment + 1; i < index->open_segments; i++) {
        const struct idxi_removed *removed = &index->segments[i]->removed;
        if (removed->count > 0 && idxi_removed_has(removed, fingerprint, id, id_size)) return true;
    }
    return false;
}

bool idxi_is_set_live(const struct idx_index *index, size_t segment, const struct idxf_set *set) {
    uint64_t fingerprint = idxf_load64(set->members);
    uint8_t id[sizeof(uint64_t)];
    if (!index->removes) return true;
    idxf_store64(id, set->key);
    return segment >= idxi_first_live(index, fingerprint) &&
           !idxi_is_removed(index, segment, fingerprint, id, sizeof id);
}

/* ---- Pending ---- */

struct collection {
    uint64_t *fingerprints;
    size_t count;
};

/* Collects the fingerprint of a pending record, unless this is a removal. */
static enum idx_status collect_added(void *context, uint64_t sequence, const struct idxf_record *record,
                                     struct idx_error *error) {
    struct collection *collection = context;
    (void)sequence;
    (void)error;
    if (record->operation == IDXF_ADD) collection->fingerprints[collection->count++] = record->fingerprint;
    return IDX_OK;
}

/* Keeps those that still have a pending document, each once; with `alone` only those that no segment holds. */
static enum idx_status keep_pending(const struct idx_index *index, bool alone, struct collection *collection,
                                    struct idx_error *error) {
    size_t kept = 0;
    for (size_t i = 0; i < collection->count; i++) {
        uint64_t fingerprint = collection->fingerprints[i];
        bool held = false;
        if (i > 0 && fingerprint == collection->fingerprints[i - 1]) continue;
        if (!idxi_pending_has_document(&index->pending, fingerprint)) continue;
        if (alone) IDXI_TRY(idxi_is_held_before(index, index->open_segments, fingerprint, &held, error));
        if (!held) collection->fingerprints[kept++] = fingerprint;
    }
    collection->count = kept;
    return IDX_OK;
}

enum idx_status idxi_list_pending(const struct idx_index *index, bool alone, uint64_t **fingerprints, size_t *count,
                                  struct idx_error *error) {
    const struct idxi_pending_view *view = &index->pending;
    size_t documents = (size_t)(idxi_pending_count(view) - view->removals);
    /* Half of the memory is for sorting. */
    struct collection collection = {malloc((2 * documents + 1) * sizeof(uint64_t)), 0};
    if (collection.fingerprints == NULL) return idxi_fail_memory(error);
    enum idx_status status = idxi_pending_visit(view, collect_added, &collection, error);
    idxi_sort_pairs(collection.fingerprints, NULL, collection.count, false, collection.fingerprints + documents, NULL);
    if (status == IDX_OK) status = keep_pending(index, alone, &collection, error);
    if (status == IDX_OK) {
        *fingerprints = collection.fingerprints;
        *count = collection.count;
    } else {
        free(collection.fingerprints);
    }
    return status;
}

/* ---- Documents of a segment ---- */

/* Sets *live to whether a document is not one of the single documents of its fingerprint that were removed. */
static enum idx_status is_id_live(struct idxi_live_documents *documents, uint64_t fingerprint, uint64_t value,
                                  bool *live, struct idx_error *error) {
    const struct idx_index *index = documents->index;
    struct idx_document document = {value, NULL, 0};
    uint8_t integer_id[sizeof(uint64_t)];
    idxf_store64(integer_id, value);
    if (index->manifest->id_type == IDXF_ID_TEXT) {
        if (documents->texts == NULL) IDXI_TRY(idx_documents_open(index, &documents->texts, error));
        IDXI_TRY(idxi_documents_get(documents->texts, value, &document, error));
    } else {
        document.id = integer_id;
        document.id_length = sizeof integer_id;
    }
    *live = !idxi_is_removed(index, documents->segment, fingerprint, document.id, document.id_length);
    return IDX_OK;
}

/* Sets *live to whether a document of the segment was not removed. */
static enum idx_status is_document_live(struct idxi_live_documents *documents, uint64_t fingerprint, uint64_t value,
                                        bool *live, struct idx_error *error) {
    *live = documents->segment >= idxi_first_live(documents->index, fingerprint);
    if (!*live || !idxi_removes_some(documents->index, fingerprint)) return IDX_OK;
    return is_id_live(documents, fingerprint, value, live, error);
}

/* Reads documents of the segment until some of them are live, or there are no more. */
static enum idx_status read_live(struct idxi_stream *stream, uint64_t *fingerprints, uint64_t *values, size_t capacity,
                                 size_t *count, struct idx_error *error) {
    struct idxi_live_documents *documents = (struct idxi_live_documents *)stream;
    struct idxi_stream *map = &documents->map.stream;
    size_t read, kept = 0;
    if (!documents->index->removes) return map->read(map, fingerprints, values, capacity, count, error);
    do {
        IDXI_TRY(map->read(map, fingerprints, values, capacity, &read, error));
        for (size_t i = 0; i < read; i++) {
            bool live;
            IDXI_TRY(is_document_live(documents, fingerprints[i], values[i], &live, error));
            fingerprints[kept] = fingerprints[i];
            values[kept] = values[i];
            kept += live;
        }
    } while (kept == 0 && read > 0);
    *count = kept;
    return IDX_OK;
}

void idxi_live_documents_init(struct idxi_live_documents *documents, const struct idx_index *index, size_t segment,
                              uint64_t offset) {
    documents->stream = (struct idxi_stream){.read = read_live, .rewind = NULL};
    documents->index = index;
    documents->segment = segment;
    documents->texts = NULL;
    idxi_map_stream_init(&documents->map, &index->segments[segment]->map,
                         index->manifest->id_type == IDXF_ID_TEXT ? offset : 0);
}

void idxi_live_documents_close(struct idxi_live_documents *documents) { idx_documents_close(documents->texts); }

/* ---- Pending ---- */

/* Adds the pending documents of a fingerprint, texts numbered from `offset` on. */
static void add_pending(struct idxi_pending_entries *entries, const struct idx_index *index, uint64_t fingerprint,
                        uint64_t offset) {
    struct idxi_pending_cursor cursor;
    const uint8_t *id;
    size_t id_size;
    idxi_pending_documents(&index->pending, fingerprint, &cursor);
    while (idxi_pending_next(&cursor, &id, &id_size)) {
        bool is_text = index->manifest->id_type == IDXF_ID_TEXT;
        entries->fingerprints[entries->count] = fingerprint;
        entries->values[entries->count++] =
            is_text ? offset + (cursor.sequence - cursor.view.after - 1) : idxf_load64(id);
    }
}

/* Adds the pending documents of `count` fingerprints. There is room for all pending records. */
static void add_all_pending(struct idxi_pending_entries *entries, const struct idx_index *index,
                            const uint64_t *fingerprints, size_t count, uint64_t offset) {
    for (size_t i = 0; i < count; i++) {
        if (index->manifest->id_type != IDXF_ID_NONE) {
            add_pending(entries, index, fingerprints[i], offset);
            continue;
        }
        entries->fingerprints[entries->count] = entries->values[entries->count] = fingerprints[i];
        entries->count++;
    }
}

/* Sorts the integer IDs of each fingerprint, which come in the order in which they were added. */
static enum idx_status sort_values(struct idxi_pending_entries *entries, struct idx_error *error) {
    uint64_t *spare = malloc((2 * entries->count + 1) * sizeof *spare);
    if (spare == NULL) return idxi_fail_memory(error);
    idxi_sort_pairs(entries->fingerprints, entries->values, entries->count, true, spare, spare + entries->count);
    free(spare);
    return IDX_OK;
}

enum idx_status idxi_pending_entries_open(struct idxi_pending_entries *entries, const struct idx_index *index,
                                          uint64_t offset, struct idx_error *error) {
    uint64_t *fingerprints;
    size_t count, records = (size_t)idxi_pending_count(&index->pending);
    *entries = (struct idxi_pending_entries){.fingerprints = malloc((records + 1) * sizeof(uint64_t)),
                                             .values = malloc((records + 1) * sizeof(uint64_t))};
    if (entries->fingerprints == NULL || entries->values == NULL) return idxi_fail_memory(error);
    IDXI_TRY(idxi_list_pending(index, index->manifest->id_type == IDXF_ID_NONE, &fingerprints, &count, error));
    add_all_pending(entries, index, fingerprints, count, offset);
    free(fingerprints);
    if (index->manifest->id_type == IDXF_ID_U64) IDXI_TRY(sort_values(entries, error));
    idxi_array_stream_init(&entries->array, entries->fingerprints, entries->values, entries->count);
    return IDX_OK;
}

void idxi_pending_entries_close(struct idxi_pending_entries *entries) {
    free(entries->fingerprints);
    free(entries->values);
}
