/* fingerprint_set.h: a set of fingerprints as its size and a sum, to compare sets that come in different orders. */
#ifndef IDX_LIBIDX_FINGERPRINT_SET_H
#define IDX_LIBIDX_FINGERPRINT_SET_H

#include <stdbool.h>

#include "libidx/base/hash.h"

/* Two sets that differ have different sums, but for an accident of 2^-64. */
struct idxi_fingerprint_set {
    bool known;
    uint64_t count;
    uint64_t sum;
};

static inline void idxi_fingerprint_set_add(struct idxi_fingerprint_set *set, uint64_t fingerprint) {
    set->sum += idxi_hash(fingerprint);
    set->count++;
}

#endif
