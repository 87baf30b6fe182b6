/* pending_buckets.h: the buckets of fingerprints, of which pending_records.h says what they have. */
#ifndef IDX_LIBIDX_PENDING_BUCKETS_H
#define IDX_LIBIDX_PENDING_BUCKETS_H

#include <idx.h>

struct idxi_pending;

/* Does one part of what idxi_pending_settle does, in at most k + 1 calls. *settled becomes true with the last part, and
 * nothing may be appended until then. Errors: IDX_OUT_OF_MEMORY; a later call begins again. */
enum idx_status idxi_pending_settle_part(struct idxi_pending *pending, bool *settled, struct idx_error *error);

/* Frees all runs and arrays. */
void idxi_pending_free_buckets(struct idxi_pending *pending);

/* Prefetches the arrays to which a fingerprint would be added. */
void idxi_pending_prefetch_buckets(const struct idxi_pending *pending, uint64_t fingerprint);

/* Makes room for a fingerprint in the arrays of all parts. Returns false when memory runs out. */
bool idxi_pending_reserve_in_buckets(struct idxi_pending *pending, uint64_t fingerprint);

/* Adds a fingerprint, by the number of its first record, where idxi_pending_reserve_in_buckets has made room for it. */
void idxi_pending_add_to_buckets(struct idxi_pending *pending, uint64_t fingerprint, uint32_t number);

#endif
