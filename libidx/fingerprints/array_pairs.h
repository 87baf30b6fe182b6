/* array_pairs.h: finds the pairs of fingerprints in arrays, on several threads, by balls (balls.h). */
#ifndef IDX_LIBIDX_ARRAY_PAIRS_H
#define IDX_LIBIDX_ARRAY_PAIRS_H

#include "libidx/base/base.h"
#include "libidx/fingerprints/balls.h"

/* A search for the pairs in arrays: what the caller asks for, and whether the visitor ended it. */
struct idxi_array_pairs {
    unsigned distance, threads;
    uint64_t memory; /* about how many bytes the search may take besides the arrays */
    idx_pairs_visitor visit;
    void *visit_context;
    struct idxi_progress *progress;
    bool within;   /* the lower fingerprint of a pair comes first, since both sides are of one set */
    uint64_t work; /* what the whole call adds to the progress */
    bool ended;    /* set to whether the visitor ended the search */
};

/* With so many bytes of memory for each fingerprint of both arrays, the arrays need not be cut. */
#define IDXI_ARRAY_PAIRS_BYTES 24

/* Finds every pair of a member of `a` and one of `b` within the distance, or if `b` is NULL, of two members of `a`. The
 * members of an array must be distinct, and fewer than 2^32. Hands the pairs to pairs->visit, in no order, by one
 * thread at a time. If pairs->memory is short, the arrays are cut, and each part is searched with each. Errors:
 * IDX_OUT_OF_MEMORY, IDX_CANCELLED. */
enum idx_status idxi_find_array_pairs(struct idxi_array_pairs *pairs, const uint64_t *a, size_t a_count,
                                      const uint64_t *b, size_t b_count, struct idx_error *error);

#endif
