/* live.c: which fingerprints and documents of segments were not removed, and which are pending. */
#include "libidx/view/live.h"

#include <stdlib.h>

#include "format/bytes.h"
#include "libidx/base/base.h"
#include "libidx/streams/sort.h"
#include "libidx/view/documents.h"

/* ---- Segments ---- */

size_t idxi_find_first_live_segment(const struct idx_index *index, uint64_t fingerprint) {
    size_t segment = index->open_segments;
    if (idxi_pending_get_removal_kind(&index->pending, fingerprint) == IDXI_REMOVED_ALL) return segment;
    while (segment > 0) {
        const struct idxi_removed *removed = &index->segments[--segment]->removed;
        if (removed->count > 0 && idxi_find_removal_kind(removed, fingerprint) == IDXI_REMOVED_ALL) break;
    }
    return segment;
}

enum idx_status idxi_is_held_before(const struct idx_index *index, size_t end_segment, uint64_t fingerprint, bool *held,
                                    struct idx_error *error) {
    *held = false;
    for (size_t i = idxi_get_first_live_segment(index, fingerprint); i < end_segment && !*held; i++)
        IDXI_TRY(idxi_segment_contains(index, i, fingerprint, held, error));
    return IDX_OK;
}

bool idxi_has_single_removals(const struct idx_index *index, uint64_t fingerprint) {
    if (!index->removes) return false;
    if (idxi_pending_get_removal_kind(&index->pending, fingerprint) == IDXI_REMOVED_SOME) return true;
    for (size_t i = 0; i < index->open_segments; i++) {
        const struct idxi_removed *removed = &index->segments[i]->removed;
        if (removed->count > 0 && idxi_find_removal_kind(removed, fingerprint) == IDXI_REMOVED_SOME) return true;
    }
    return false;
}

bool idxi_is_document_removed(const struct idx_index *index, size_t segment, uint64_t fingerprint, const void *id,
                              size_t id_size) {
    if (idxi_pending_removes_document(&index->pending, fingerprint, id, id_size)) return true;
    for (size_t i = segment + 1; i < index->open_segments; i++) {
        const struct idxi_removed *removed = &index->segments[i]->removed;
        if (removed->count > 0 && idxi_removes_document(removed, fingerprint, id, id_size)) return true;
    }
    return false;
}

bool idxi_is_set_live(const struct idx_index *index, size_t segment, const struct idxf_set *set) {
    uint8_t id[sizeof(uint64_t)];
    idxf_store64(id, set->key);
    return idxi_is_document_live(index, segment, idxf_load64(set->members), id, sizeof id);
}

/* ---- Pending fingerprints ---- */

/* Fingerprints of pending documents, in an array with capacity for all of them. */
struct fingerprint_array {
    uint64_t *fingerprints;
    size_t count;
};

/* Appends the fingerprint of a record to the collection. This is an idxi_pending_record_visitor. */
static enum idx_status collect_fingerprint(void *context, uint64_t sequence, const struct idxf_record *record,
                                           struct idx_error *error) {
    struct fingerprint_array *collection = context;
    (void)sequence;
    (void)error;
    collection->fingerprints[collection->count++] = record->fingerprint;
    return IDX_OK;
}

/* Drops from a collection, which must be sorted, repeated fingerprints and those that a segment holds. Errors: as
 * idxi_is_held_before. */
static enum idx_status drop_held_fingerprints(const struct idx_index *index, struct fingerprint_array *collection,
                                              struct idx_error *error) {
    size_t kept = 0;
    for (size_t i = 0; i < collection->count; i++) {
        uint64_t fingerprint = collection->fingerprints[i];
        bool held = false;
        if (i > 0 && fingerprint == collection->fingerprints[i - 1]) continue;
        IDXI_TRY(idxi_is_held_before(index, index->open_segments, fingerprint, &held, error));
        if (!held) collection->fingerprints[kept++] = fingerprint;
    }
    collection->count = kept;
    return IDX_OK;
}

enum idx_status idxi_list_pending_fingerprints(const struct idx_index *index, uint64_t **fingerprints, size_t *count,
                                               struct idx_error *error) {
    size_t documents = (size_t)(idxi_pending_count_records(&index->pending) - index->pending.removals);
    /* Half of the memory is for sorting. */
    struct fingerprint_array collection = {malloc((2 * documents + 1) * sizeof(uint64_t)), 0};
    if (collection.fingerprints == NULL) return idxi_fail_memory(error);
    enum idx_status status = idxi_pending_visit_documents(&index->pending, collect_fingerprint, &collection, error);
    idxi_sort_pairs(collection.fingerprints, NULL, collection.count, false, collection.fingerprints + documents, NULL);
    if (status == IDX_OK) status = drop_held_fingerprints(index, &collection, error);
    if (status == IDX_OK) {
        *fingerprints = collection.fingerprints;
        *count = collection.count;
    } else {
        free(collection.fingerprints);
    }
    return status;
}

/* ---- Documents of a segment ---- */

/* Sets *live to whether a document of the segment was removed neither by its ID nor with its whole fingerprint. `value`
 * is its value in the stream: the integer ID, or the value of a text document, whose ID is read only if it is needed.
 * Errors: as idx_documents_open and idxi_documents_get. */
static enum idx_status find_document_liveness(struct idxi_live_documents *documents, uint64_t fingerprint,
                                              uint64_t value, bool *live, struct idx_error *error) {
    const struct idx_index *index = documents->index;
    struct idx_document document = {.number = value};
    uint8_t integer_id[sizeof(uint64_t)];
    *live = documents->segment >= idxi_get_first_live_segment(index, fingerprint);
    if (!*live || !idxi_has_single_removals(index, fingerprint)) return IDX_OK;
    idxf_store64(integer_id, value);
    if (index->manifest->id_type == IDXF_ID_TEXT) {
        if (documents->texts == NULL) IDXI_TRY(idx_documents_open(&documents->texts, index, error));
        IDXI_TRY(idxi_documents_get(documents->texts, value, &document, error));
    } else {
        document.id = integer_id;
        document.id_length = sizeof integer_id;
    }
    *live = !idxi_is_document_removed(index, documents->segment, fingerprint, document.id, document.id_length);
    return IDX_OK;
}

/* Reads the next live documents of the segment, at most `capacity`, and sets *count to how many; 0 only at the end. The
 * arrays must have capacity for `capacity` elements each. This is the `read` of the stream. */
static enum idx_status read_live_documents(struct idxi_stream *stream, uint64_t *fingerprints, uint64_t *values,
                                           size_t capacity, size_t *count, struct idx_error *error) {
    struct idxi_live_documents *documents = (struct idxi_live_documents *)stream;
    struct idxi_stream *map = &documents->map.stream;
    size_t read_count, live_count = 0;
    if (!documents->index->removes) return map->read(map, fingerprints, values, capacity, count, error);
    do {
        IDXI_TRY(map->read(map, fingerprints, values, capacity, &read_count, error));
        for (size_t i = 0; i < read_count; i++) {
            bool live;
            IDXI_TRY(find_document_liveness(documents, fingerprints[i], values[i], &live, error));
            fingerprints[live_count] = fingerprints[i];
            values[live_count] = values[i];
            live_count += live;
        }
    } while (live_count == 0 && read_count > 0);
    *count = live_count;
    return IDX_OK;
}

void idxi_live_documents_init(struct idxi_live_documents *documents, const struct idx_index *index, size_t segment,
                              uint64_t offset) {
    documents->stream = (struct idxi_stream){.read = read_live_documents, .rewind = NULL};
    documents->index = index;
    documents->segment = segment;
    documents->texts = NULL;
    idxi_map_stream_init(&documents->map, &index->segments[segment]->map,
                         index->manifest->id_type == IDXF_ID_TEXT ? offset : 0);
}

void idxi_live_documents_close(struct idxi_live_documents *documents) { idx_documents_close(documents->texts); }

/* ---- Pending documents ---- */

/* Appends the document of a record to entries, whose arrays are large enough. This is an idxi_pending_record_visitor.
 */
static enum idx_status append_entry(void *context, uint64_t sequence, const struct idxf_record *record,
                                    struct idx_error *error) {
    struct idxi_pending_entries *entries = context;
    bool is_text = entries->index->manifest->id_type == IDXF_ID_TEXT;
    (void)error;
    entries->fingerprints[entries->count] = record->fingerprint;
    entries->values[entries->count++] =
        is_text ? entries->offset + (sequence - entries->index->pending.after - 1) : idxf_load64(record->id);
    return IDX_OK;
}

/* Sets the arrays of entries to the pending documents, sorted by fingerprint and value, each once.
 * idxi_pending_entries_close frees them, even after an error. Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status gather_pending_documents(struct idxi_pending_entries *entries, struct idx_error *error) {
    const struct idxi_pending_view *view = &entries->index->pending;
    size_t capacity = (size_t)idxi_pending_count_records(view) + 1, kept = 0;
    uint64_t *spare = malloc(2 * capacity * sizeof *spare);
    entries->fingerprints = malloc(capacity * sizeof *entries->fingerprints);
    entries->values = malloc(capacity * sizeof *entries->values);
    bool has_memory = spare != NULL && entries->fingerprints != NULL && entries->values != NULL;
    enum idx_status status =
        has_memory ? idxi_pending_visit_documents(view, append_entry, entries, error) : idxi_fail_memory(error);
    if (status == IDX_OK)
        idxi_sort_pairs(entries->fingerprints, entries->values, entries->count, true, spare, spare + capacity);
    free(spare);
    for (size_t i = 0; i < entries->count && status == IDX_OK; i++) {
        uint64_t fingerprint = entries->fingerprints[i], value = entries->values[i];
        if (kept > 0 && fingerprint == entries->fingerprints[kept - 1] && value == entries->values[kept - 1]) continue;
        entries->fingerprints[kept] = fingerprint;
        entries->values[kept++] = value;
    }
    entries->count = kept;
    return status;
}

enum idx_status idxi_pending_entries_open(struct idxi_pending_entries *entries, const struct idx_index *index,
                                          uint64_t offset, struct idx_error *error) {
    *entries = (struct idxi_pending_entries){.index = index, .offset = offset};
    if (index->manifest->id_type == IDXF_ID_NONE) {
        IDXI_TRY(idxi_list_pending_fingerprints(index, &entries->fingerprints, &entries->count, error));
        entries->values = entries->fingerprints;
    } else {
        IDXI_TRY(gather_pending_documents(entries, error));
    }
    idxi_array_stream_init(&entries->array, entries->fingerprints, entries->values, entries->count);
    return IDX_OK;
}

void idxi_pending_entries_close(struct idxi_pending_entries *entries) {
    if (entries->values != entries->fingerprints) free(entries->values);
    free(entries->fingerprints);
}
