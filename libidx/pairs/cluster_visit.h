/* cluster_visit.h: turns clusters of fingerprints into clusters of documents, visits them, and computes the summary. */
#ifndef IDX_LIBIDX_CLUSTER_VISIT_H
#define IDX_LIBIDX_CLUSTER_VISIT_H

#include "libidx/streams/reading.h"
#include "libidx/streams/sorter.h"
#include "libidx/view/index.h"

struct idxi_cluster_visit {
    const struct idx_index *index;
    unsigned distance;
    /* Which documents are preferred: those with the smallest text IDs, or those of the fingerprints with the most
     * documents, or neither; of several the first. */
    bool by_smallest_id, by_most_documents;
    const struct idxi_sorter_options *sorting; /* how the documents of a large cluster are sorted */
    idx_cluster_visitor visit;
    void *context;
    struct idx_cluster_summary *summary; /* zeroed by the caller, but for documents that are not visited */
};

/* Visits all clusters as *visit says, until its visitor stops, and adds them to visit->summary. `members` has the
 * fingerprints, and `documents` one or more values of document maps (documents.h) for each. Both ascend by the key
 * (number of the representative's fingerprint) · 2^32 + (number of the fingerprint itself), and both stay the caller's.
 * Within a cluster, documents are visited in the order of preference, the representative first. Errors:
 * IDX_OUT_OF_MEMORY, IDX_CANCELLED, those of damaged files, and those of temporary files. */
enum idx_status idxi_visit_clusters(const struct idxi_cluster_visit *visit, struct idxi_stream *members,
                                    struct idxi_stream *documents, struct idxi_progress *progress,
                                    struct idx_error *error);

#endif
