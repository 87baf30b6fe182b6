/* live.c: see live.h. */
#include "libidx/view/live.h"

#include <stdlib.h>

#include "libidx/base/error.h"
#include "libidx/streams/sort.h"
#include "libidx/view/segment.h"

/* ---- Segments ---- */

size_t idxi_find_first_live(const struct idx_index *index, uint64_t fingerprint) {
    size_t first = index->open_segments;
    if (idxi_has_pending(index) && idxi_pending_removal(&index->pending, fingerprint) == IDXI_REMOVED_ALL) return first;
    while (first > 0) {
        const struct idxi_removed *removed = &index->segments[--first]->removed;
        if (removed->count > 0 && idxi_removed_get(removed, fingerprint) == IDXI_REMOVED_ALL) break;
    }
    return first;
}

enum idx_status idxi_is_before(const struct idx_index *index, size_t end, uint64_t fingerprint, bool *is_before,
                               struct idx_error *error) {
    *is_before = false;
    for (size_t i = idxi_first_live(index, fingerprint); i < end && !*is_before; i++)
        IDXI_TRY(idxi_segment_contains(index, i, fingerprint, is_before, error));
    return IDX_OK;
}

bool idxi_removes_some(const struct idx_index *index, uint64_t fingerprint) {
    bool some = index->removes && idxi_has_pending(index) &&
                idxi_pending_removal(&index->pending, fingerprint) == IDXI_REMOVED_SOME;
    for (size_t i = 0; i < index->open_segments && index->removes && !some; i++) {
        const struct idxi_removed *removed = &index->segments[i]->removed;
        some = removed->count > 0 && idxi_removed_get(removed, fingerprint) == IDXI_REMOVED_SOME;
    }
    return some;
}

bool idxi_is_removed(const struct idx_index *index, size_t segment, uint64_t fingerprint, const void *id,
                     size_t id_size) {
    if (idxi_has_pending(index) && idxi_pending_removes(&index->pending, fingerprint, id, id_size)) return true;
    for (size_t i = segment + 1; i < index->open_segments; i++) {
        const struct idxi_removed *removed = &index->segments[i]->removed;
        if (removed->count > 0 && idxi_removed_has(removed, fingerprint, id, id_size)) return true;
    }
    return false;
}

/* ---- Pending ---- */

struct collection {
    uint64_t *fingerprints;
    size_t count;
};

static enum idx_status collect(void *context, uint64_t sequence, const struct idxf_record *record,
                               struct idx_error *error) {
    struct collection *collection = context;
    (void)sequence;
    (void)error;
    if (record->operation == IDXF_ADD) collection->fingerprints[collection->count++] = record->fingerprint;
    return IDX_OK;
}

/* Keeps those that are pending, each once. */
static enum idx_status keep_pending(const struct idx_index *index, bool alone, struct collection *collection,
                                    struct idx_error *error) {
    size_t kept = 0;
    for (size_t i = 0; i < collection->count; i++) {
        uint64_t fingerprint = collection->fingerprints[i];
        bool before = false;
        if (i > 0 && fingerprint == collection->fingerprints[i - 1]) continue;
        if (!idxi_pending_holds(&index->pending, fingerprint)) continue;
        if (alone) IDXI_TRY(idxi_is_before(index, index->open_segments, fingerprint, &before, error));
        if (!before) collection->fingerprints[kept++] = fingerprint;
    }
    collection->count = kept;
    return IDX_OK;
}

enum idx_status idxi_sort_pending(const struct idx_index *index, bool alone, uint64_t **fingerprints, size_t *count,
                                  struct idx_error *error) {
    const struct idxi_pending_view *view = &index->pending;
    size_t documents = (size_t)(view->last - view->after - index->pending.removals);
    struct collection collection = {malloc((2 * documents + 1) * sizeof(uint64_t)), 0}; /* and room to sort them */
    if (collection.fingerprints == NULL) return idxi_fail_memory(error);
    enum idx_status status = IDX_OK;
    if (idxi_has_pending(index)) status = idxi_pending_visit(view, collect, &collection, error);
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
