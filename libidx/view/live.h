/* live.h: which fingerprints and documents of segments were not removed, and which fingerprints are pending: what all
 * who go through segments themselves must ask. From any thread. */
#ifndef IDX_LIBIDX_LIVE_H
#define IDX_LIBIDX_LIVE_H

#include "libidx/view/index.h"

/* ---- Segments ---- */

size_t idxi_find_first_live(const struct idx_index *index, uint64_t fingerprint);

/* The first segment where a fingerprint is, if it is there: it was removed from all before. Where it was removed from
 * all, the number of segments. */
static inline size_t idxi_first_live(const struct idx_index *index, uint64_t fingerprint) {
    return index->removes ? idxi_find_first_live(index, fingerprint) : 0;
}

/* Whether a segment before segment `end` holds the fingerprint, not removed. Errors: IDX_BAD_CHECKSUM, IDX_BAD_CONTENT.
 */
enum idx_status idxi_is_before(const struct idx_index *index, size_t end, uint64_t fingerprint, bool *is_before,
                               struct idx_error *error);

/* Whether a fingerprint that a segment holds was not removed from all that hold it. Errors as above. */
static inline enum idx_status idxi_is_live(const struct idx_index *index, uint64_t fingerprint, bool *live,
                                           struct idx_error *error) {
    *live = idxi_first_live(index, fingerprint) == 0;
    return *live ? IDX_OK : idxi_is_before(index, index->open_segments, fingerprint, live, error);
}

/* Whether single documents of a fingerprint were removed. */
bool idxi_removes_some(const struct idx_index *index, uint64_t fingerprint);

/* Whether a document of a segment, the first live one of its fingerprint or one behind, was removed; integer IDs as 8
 * bytes, little-endian. */
bool idxi_is_removed(const struct idx_index *index, size_t segment, uint64_t fingerprint, const void *id,
                     size_t id_size);

/* ---- Pending ---- */

static inline bool idxi_has_pending(const struct idx_index *index) { return index->pending.pending.pending != NULL; }

/* The fingerprints that have a pending document, ascending, each once; `alone`: without those that a segment holds,
 * too. The caller frees *fingerprints. Errors: IDX_OUT_OF_MEMORY, IDX_BAD_CHECKSUM, IDX_BAD_CONTENT. */
enum idx_status idxi_sort_pending(const struct idx_index *index, bool alone, uint64_t **fingerprints, size_t *count,
                                  struct idx_error *error);

#endif
