/* live.h: which fingerprints and documents of segments were not removed, and which fingerprints are pending. All code
 * that reads segments directly must use this. From any thread. */
#ifndef IDX_LIBIDX_LIVE_H
#define IDX_LIBIDX_LIVE_H

#include "libidx/view/index.h"

/* ---- Segments ---- */

size_t idxi_find_first_live(const struct idx_index *index, uint64_t fingerprint);

/* The first segment that a fingerprint was not removed from, whether or not the segment has it. The number of segments
 * if it was removed from all. */
static inline size_t idxi_first_live(const struct idx_index *index, uint64_t fingerprint) {
    return index->removes ? idxi_find_first_live(index, fingerprint) : 0;
}

/* Whether a segment before segment `end` holds the fingerprint, and it was not removed. Errors: IDX_BAD_CHECKSUM,
 * IDX_BAD_CONTENT. */
enum idx_status idxi_is_before(const struct idx_index *index, size_t end, uint64_t fingerprint, bool *is_before,
                               struct idx_error *error);

/* Whether a fingerprint that a segment holds is live: not removed from all segments that hold it. Errors: as above. */
static inline enum idx_status idxi_is_live(const struct idx_index *index, uint64_t fingerprint, bool *live,
                                           struct idx_error *error) {
    *live = idxi_first_live(index, fingerprint) == 0;
    return *live ? IDX_OK : idxi_is_before(index, index->open_segments, fingerprint, live, error);
}

/* Whether to skip a fingerprint of this segment: it was removed from there, or an earlier segment has it as well.
 * Errors: as above. */
static inline enum idx_status idxi_is_repeated(const struct idx_index *index, size_t segment, uint64_t fingerprint,
                                               bool *repeated, struct idx_error *error) {
    *repeated = idxi_first_live(index, fingerprint) > segment;
    return *repeated ? IDX_OK : idxi_is_before(index, segment, fingerprint, repeated, error);
}

/* Whether single documents of a fingerprint were removed. */
bool idxi_removes_some(const struct idx_index *index, uint64_t fingerprint);

/* Whether a document of a segment was removed. The segment is the first live one of its fingerprint, or a later one.
 * Integer IDs are 8 bytes, little-endian. */
bool idxi_is_removed(const struct idx_index *index, size_t segment, uint64_t fingerprint, const void *id,
                     size_t id_size);

/* ---- Pending ---- */

static inline bool idxi_has_pending(const struct idx_index *index) { return index->pending.records != NULL; }

/* The fingerprints that have a pending document, ascending, each once. `alone`: without those that a segment holds as
 * well. The caller frees *fingerprints. Errors: IDX_OUT_OF_MEMORY, IDX_BAD_CHECKSUM, IDX_BAD_CONTENT. */
enum idx_status idxi_sort_pending(const struct idx_index *index, bool alone, uint64_t **fingerprints, size_t *count,
                                  struct idx_error *error);

#endif
