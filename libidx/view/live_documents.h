/* live_documents.h: the documents of an index that were not removed, as ascending streams of fingerprints and values:
 * those of a segment, and the pending ones. A value is an integer ID, or the number of a text document, counted through
 * all segments and then through the pending records. */
#ifndef IDX_LIBIDX_LIVE_DOCUMENTS_H
#define IDX_LIBIDX_LIVE_DOCUMENTS_H

#include "libidx/view/index.h"

struct idxi_live_documents {
    struct idxi_stream stream; /* its `values` must not be NULL */
    const struct idx_index *index;
    size_t segment;
    struct idxi_map_stream map;
    struct idx_documents *texts; /* for the IDs of fingerprints that had single documents removed */
};

/* Begins with a segment whose document map is ready; its texts are numbered from `offset` on. To be closed also after
 * an error of reading. */
void idxi_live_documents_init(struct idxi_live_documents *documents, const struct idx_index *index, size_t segment,
                              uint64_t offset);
void idxi_live_documents_close(struct idxi_live_documents *documents);

struct idxi_pending_entries {
    struct idxi_array_stream array;
    uint64_t *fingerprints, *values;
    size_t count;
};

/* Gathers the pending documents, texts numbered from `offset` on; of IDX_ID_NONE the fingerprints that no segment
 * holds, each as its own value. Needs 16 bytes each. To be closed also after an error. Errors: IDX_OUT_OF_MEMORY,
 * IDX_BAD_CHECKSUM, IDX_BAD_CONTENT. */
enum idx_status idxi_pending_entries_open(struct idxi_pending_entries *entries, const struct idx_index *index,
                                          uint64_t offset, struct idx_error *error);
void idxi_pending_entries_close(struct idxi_pending_entries *entries);

#endif
