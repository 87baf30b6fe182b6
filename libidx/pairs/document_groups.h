/* document_groups.h: the distinct fingerprints of an index, ascending, over all segments and the pending documents,
 * each with what clustering needs to know about its documents. */
#ifndef IDX_LIBIDX_DOCUMENT_GROUPS_H
#define IDX_LIBIDX_DOCUMENT_GROUPS_H

#include "libidx/pairs/id_ranks.h"
#include "libidx/streams/reading.h"
#include "libidx/streams/sorter.h"
#include "libidx/view/live.h"

/* Members are private. */
struct idxi_document_groups {
    struct idxi_live_documents *maps; /* one for each segment; with IDX_ID_NONE the sorter is used instead */
    size_t map_count;
    struct idxi_sorter sorter; /* the fingerprints of an index with IDX_ID_NONE */
    struct idxi_pending_entries pending;
    struct idxi_kway_merge *merge;
    struct idxi_reading reading;
    struct idxi_id_ranks ranks;
};

/* A fingerprint, with what its documents are counted and preferred by. */
struct idxi_document_group {
    uint64_t fingerprint;
    uint64_t count;          /* how many documents it has; 1 for IDX_ID_NONE */
    uint64_t first_document; /* its smallest document number or integer ID; with ranks, the smallest rank of its
                                documents; for IDX_ID_NONE the fingerprint. Numbers count on over the segments, then
                                the pending records */
};

/* Prepares to read the groups of an index from the first one on. `options` say how fingerprints are sorted with
 * IDX_ID_NONE, and have the progress in any case. `ranks` may be NULL; its array must outlive the groups. Call
 * idxi_document_groups_close even if this fails. Errors: IDX_OUT_OF_MEMORY, IDX_CANCELLED, those of damaged files, and
 * those of writing temporary files. */
enum idx_status idxi_document_groups_open(struct idxi_document_groups *groups, const struct idx_index *index,
                                          const struct idxi_sorter_options *options, const struct idxi_id_ranks *ranks,
                                          struct idx_error *error);

/* Sets *group to that of the next fingerprint in ascending order, and *found to true; or at the end *found to false.
 * Errors: IDX_OUT_OF_MEMORY, IDX_CANCELLED, those of damaged files, and those of temporary files. */
enum idx_status idxi_document_groups_read_next(struct idxi_document_groups *groups, struct idxi_document_group *group,
                                               bool *found, struct idx_error *error);

/* Frees what idxi_document_groups_open has made, also if it failed, and closes the temporary files. */
void idxi_document_groups_close(struct idxi_document_groups *groups);

#endif
