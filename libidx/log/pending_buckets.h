/* pending_buckets.h: the buckets of fingerprints. pending_records.h describes them. */
#ifndef IDX_LIBIDX_PENDING_BUCKETS_H
#define IDX_LIBIDX_PENDING_BUCKETS_H

#include <idx.h>

struct idxi_pending;

/* Makes the run of the next part: one step of idxi_pending_make_runs, so that no call takes long. Sets *is_complete to
 * whether all runs are made, which needs at most k + 1 calls. Nothing may be appended from the first call until then.
 * Errors: IDX_OUT_OF_MEMORY; *is_complete is unspecified then, and a later call begins again with the first part. */
enum idx_status idxi_pending_make_next_run(struct idxi_pending *pending, bool *is_complete, struct idx_error *error);

/* Frees the buckets of all parts: the runs, and the arrays of the rests. */
void idxi_pending_free_buckets(struct idxi_pending *pending);

/* Prefetches, to be written, the beginning of each array to which a fingerprint would be added. */
void idxi_pending_prefetch_buckets(const struct idxi_pending *pending, uint64_t fingerprint);

/* Makes sure that one more fingerprint can be added to the array of its bucket in each part. Returns false when memory
 * runs out. */
bool idxi_pending_reserve_bucket_entries(struct idxi_pending *pending, uint64_t fingerprint);

/* Adds a fingerprint, by the number of its first record, to its bucket in each part, and publishes it to readers.
 * idxi_pending_reserve_bucket_entries must have succeeded for it since the last addition. */
void idxi_pending_add_to_buckets(struct idxi_pending *pending, uint64_t fingerprint, uint32_t first_record);

#endif
