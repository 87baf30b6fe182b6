/* counters.h: in how many sets hashes are, by counters that several hashes may share. A hash whose counter is 1 is in
 * one set alone; other counters may be too high. From IDXI_COUNTER_EXACT on a counter is a logarithm: an estimate by
 * chance (Morris, CACM 1978), the same in each run. So frequent hashes have an order, too. */
#ifndef IDX_LIBIDX_COUNTERS_H
#define IDX_LIBIDX_COUNTERS_H

#include "libidx/sets/store.h"

#define IDXI_COUNTER_EXACT 64

struct idxi_counters {
    uint8_t *counts;
    unsigned shift; /* the bits of a mixed hash from this one on are the number of its counter */
    size_t size;    /* how many counters there are, a power of two */
};

/* Makes counters in which each stored set counts once, in up to `memory` bytes, or a minimum of 4 KiB, on `threads`
 * threads. Call idxi_counters_free even if this fails. Errors: IDX_OUT_OF_MEMORY, IDX_CANCELLED, those of files. */
enum idx_status idxi_counters_make(struct idxi_counters *counters, const struct idxi_set_store *store, uint64_t memory,
                                   unsigned threads, struct idxi_progress *progress, struct idx_error *error);

/* Counts the further copies of each stored set, up to IDXI_COUNTER_EXACT; copies[i] is how many sets equal the one of
 * number i, itself included, if that is the first one. */
enum idx_status idxi_counters_add_copies(struct idxi_counters *counters, const struct idxi_set_store *store,
                                         const uint32_t *copies, struct idx_error *error);

static inline const uint8_t *idxi_counter_of(const struct idxi_counters *counters, uint64_t hash) {
    return &counters->counts[hash >> counters->shift];
}

void idxi_counters_free(struct idxi_counters *counters);

#endif
