/* live_documents.c: see live_documents.h. */
#include "libidx/view/live_documents.h"

#include <stdlib.h>

#include "format/bytes.h"
#include "libidx/base/error.h"
#include "libidx/streams/sort.h"
#include "libidx/view/documents.h"
#include "libidx/view/live.h"

/* ---- Of a segment ---- */

/* Whether a document is live, for a fingerprint that had single documents removed. */
static enum idx_status is_left(struct idxi_live_documents *documents, uint64_t fingerprint, uint64_t value, bool *left,
                               struct idx_error *error) {
    const struct idx_index *index = documents->index;
    struct idx_document document = {value, NULL, 0};
    uint8_t number[sizeof(uint64_t)];
    idxf_store64(number, value);
    if (index->manifest->id_type == IDXF_ID_TEXT) {
        if (documents->texts == NULL) IDXI_TRY(idx_documents_open(index, &documents->texts, error));
        IDXI_TRY(idxi_documents_get(documents->texts, value, &document, error));
    } else {
        document.id = number;
        document.id_length = sizeof number;
    }
    *left = !idxi_is_removed(index, documents->segment, fingerprint, document.id, document.id_length);
    return IDX_OK;
}

static enum idx_status is_live(struct idxi_live_documents *documents, uint64_t fingerprint, uint64_t value, bool *live,
                               struct idx_error *error) {
    *live = documents->segment >= idxi_first_live(documents->index, fingerprint);
    if (!*live || !idxi_removes_some(documents->index, fingerprint)) return IDX_OK;
    return is_left(documents, fingerprint, value, live, error);
}

static enum idx_status read_live(struct idxi_stream *stream, uint64_t *fingerprints, uint64_t *values, size_t capacity,
                                 size_t *count, struct idx_error *error) {
    struct idxi_live_documents *documents = (struct idxi_live_documents *)stream;
    size_t read, kept = 0;
    do {
        IDXI_TRY(documents->map.stream.read(&documents->map.stream, fingerprints, values, capacity, &read, error));
        if (!documents->index->removes) kept = read;
        for (size_t i = 0; i < read && documents->index->removes; i++) {
            bool live;
            IDXI_TRY(is_live(documents, fingerprints[i], values[i], &live, error));
            fingerprints[kept] = fingerprints[i];
            values[kept] = values[i];
            kept += live;
        }
    } while (kept == 0 && read > 0);
    *count = kept;
    return IDX_OK;
}

static enum idx_status rewind_live(struct idxi_stream *stream, struct idx_error *error) {
    struct idxi_live_documents *documents = (struct idxi_live_documents *)stream;
    return documents->map.stream.rewind(&documents->map.stream, error);
}

void idxi_live_documents_init(struct idxi_live_documents *documents, const struct idx_index *index, size_t segment,
                              uint64_t offset) {
    documents->stream = (struct idxi_stream){read_live, rewind_live};
    documents->index = index;
    documents->segment = segment;
    documents->texts = NULL;
    idxi_map_stream_init(&documents->map, &index->segments[segment]->map,
                         index->manifest->id_type == IDXF_ID_TEXT ? offset : 0);
}

void idxi_live_documents_close(struct idxi_live_documents *documents) { idx_documents_close(documents->texts); }

/* ---- Pending ---- */

static void gather(struct idxi_pending_entries *entries, const struct idx_index *index, uint64_t fingerprint,
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

/* Gathers the documents of `count` fingerprints; there is room for all records. */
static void gather_all(struct idxi_pending_entries *entries, const struct idx_index *index,
                       const uint64_t *fingerprints, size_t count, uint64_t offset) {
    for (size_t i = 0; i < count; i++) {
        if (index->manifest->id_type != IDXF_ID_NONE) {
            gather(entries, index, fingerprints[i], offset);
            continue;
        }
        entries->fingerprints[entries->count] = entries->values[entries->count] = fingerprints[i];
        entries->count++;
    }
}

/* Integer IDs come as they were added. */
static enum idx_status sort_values(struct idxi_pending_entries *entries, struct idx_error *error) {
    uint64_t *spare = malloc((2 * entries->count + 1) * sizeof *spare);
    if (spare == NULL) return idxi_fail_memory(error);
    idxi_sort_pairs(entries->fingerprints, entries->values, entries->count, true, spare, spare + entries->count);
    free(spare);
    return IDX_OK;
}

enum idx_status idxi_pending_entries_open(struct idxi_pending_entries *entries, const struct idx_index *index,
                                          uint64_t offset, struct idx_error *error) {
    const struct idxi_pending_view *view = &index->pending;
    uint64_t *fingerprints = NULL;
    size_t count = 0, records = idxi_has_pending(index) ? (size_t)(view->last - view->after) : 0;
    *entries = (struct idxi_pending_entries){.fingerprints = malloc((records + 1) * sizeof(uint64_t)),
                                             .values = malloc((records + 1) * sizeof(uint64_t))};
    if (entries->fingerprints == NULL || entries->values == NULL) return idxi_fail_memory(error);
    if (records > 0)
        IDXI_TRY(idxi_sort_pending(index, index->manifest->id_type == IDXF_ID_NONE, &fingerprints, &count, error));
    gather_all(entries, index, fingerprints, count, offset);
    free(fingerprints);
    if (index->manifest->id_type == IDXF_ID_U64) IDXI_TRY(sort_values(entries, error));
    idxi_array_stream_init(&entries->array, entries->fingerprints, entries->values, entries->count);
    return IDX_OK;
}

void idxi_pending_entries_close(struct idxi_pending_entries *entries) {
    free(entries->fingerprints);
    free(entries->values);
}
