/* pending_pairs.h: finds the pairs of fingerprints that are only pending, so that no table holds them. idx_pairs and
 * idx_join add these to the pairs that tables give. */
#ifndef IDX_LIBIDX_PENDING_PAIRS_H
#define IDX_LIBIDX_PENDING_PAIRS_H

#include "libidx/view/index.h"

/* Called with each pair; returns false to stop. */
typedef bool (*idxi_pair_visitor)(void *context, uint64_t a, uint64_t b);

struct idxi_pending_pairs {
    const struct idx_index *a, *b;
    bool within; /* pairs of `a` alone; then `b` is `a` */
    unsigned distance;
    idxi_pair_visitor visit;
    void *context;
};

/* Finds every pair of a fingerprint of `a` and one of `b` within the distance if at least one of them is only pending,
 * each once; pairs within one index in either order. Needs the time of one look-up and 16 bytes per fingerprint.
 * Errors: IDX_OUT_OF_MEMORY, IDX_BAD_CHECKSUM, IDX_BAD_CONTENT. */
enum idx_status idxi_pending_pairs_find(const struct idxi_pending_pairs *pairs, struct idx_error *error);

#endif
