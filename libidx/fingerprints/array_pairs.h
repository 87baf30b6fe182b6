/* array_pairs.h: finds the pairs of fingerprints in arrays, on several threads, by balls (balls.h). */
#ifndef IDX_LIBIDX_ARRAY_PAIRS_H
#define IDX_LIBIDX_ARRAY_PAIRS_H

#include "libidx/base/base.h"
#include "libidx/fingerprints/balls.h"

/* A search for the pairs in arrays: what the caller asks for, and whether the visitor ended it. */
struct idxi_array_pairs {
    unsigned distance, threads;
    uint64_t memory; /* about how many bytes, besides the arrays */
    idx_pairs_visitor visit;
    void *visit_context;
    struct idxi_progress *progress;
    bool within;   /* both sides are of one set, so the lower fingerprint of a pair comes first */
    uint64_t work; /* what the whole call adds to the progress */
    bool ended;    /* set to whether the visitor ended the search */
};

/* With so many bytes of memory for each fingerprint of both arrays, the arrays need not be cut. */
#define IDXI_ARRAY_PAIRS_BYTES 24

/* Finds every pair of a member of `a` and one of `b` within the distance, or if `b` is NULL, of two members of `a`. The
 * members of an array must be distinct, and fewer than 2^32. Pairs go to pairs->visit, which one thread at a time
 * calls. If memory is short, the arrays are cut, and each part is searched with each. Errors: IDX_OUT_OF_MEMORY,
 * IDX_CANCELLED. */
enum idx_status idxi_find_array_pairs(struct idxi_array_pairs *pairs, const uint64_t *a, size_t a_count,
                                      const uint64_t *b, size_t b_count, struct idx_error *error);

#endif
