/* cluster_visit.h: turns clusters of fingerprints into clusters of documents, visits them, and computes the summary. */
#ifndef IDX_LIBIDX_CLUSTER_VISIT_H
#define IDX_LIBIDX_CLUSTER_VISIT_H

#include "libidx/streams/reading.h"
#include "libidx/view/index.h"

struct idxi_cluster_visit {
    const struct idx_index *index;
    unsigned distance;
    bool is_id_smallest; /* the representative is the document with the smallest text ID, else the first one */
    idx_cluster_visitor visit;
    void *context;
    struct idx_cluster_summary *summary; /* all 0 at first */
};

/* `members`: fingerprints, and `documents`: the values that document maps hold (documents.h) of each, one or more. The
 * keys of both are (number of the cluster's representative) · 2^32 + its own number. */
enum idx_status idxi_cluster_visit(const struct idxi_cluster_visit *visit, struct idxi_stream *members,
                                   struct idxi_stream *documents, struct idxi_progress *progress,
                                   struct idx_error *error);

#endif
