/* pending_pairs.h: the pairs that fingerprints have which are pending alone, so that no table holds them: what
 * idx_pairs and idx_join find besides those of tables. */
#ifndef IDX_LIBIDX_PENDING_PAIRS_H
#define IDX_LIBIDX_PENDING_PAIRS_H

#include "libidx/view/index.h"

/* Takes a pair; returns false to stop. */
typedef bool (*idxi_pair_taker)(void *context, uint64_t a, uint64_t b);

struct idxi_pending_pairs {
    const struct idx_index *a, *b;
    bool within; /* pairs of `a` alone; then `b` is the same one */
    unsigned distance;
    idxi_pair_taker take;
    void *context;
};

/* Finds every pair of a fingerprint of `a` and one of `b` within the distance of which at least one is pending alone,
 * each once; those within one index in either order. Takes the time of a look-up a fingerprint, and 16 bytes. Errors:
 * IDX_OUT_OF_MEMORY, IDX_BAD_CHECKSUM, IDX_BAD_CONTENT. */
enum idx_status idxi_pending_pairs_find(const struct idxi_pending_pairs *pairs, struct idx_error *error);

#endif
