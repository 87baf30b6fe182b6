/* pending_buckets.h: the buckets of fingerprints. pending_records.h describes them. */
#ifndef IDX_LIBIDX_PENDING_BUCKETS_H
#define IDX_LIBIDX_PENDING_BUCKETS_H

#include <idx.h>

struct idxi_pending;

/* Does one step of what idxi_pending_make_runs does, so that no call takes long: makes the run of the next part. At
 * most k + 1 calls are needed. Sets *is_complete to whether all runs are made; nothing may be appended between the
 * first call and that. Errors: IDX_OUT_OF_MEMORY, after which *is_complete says nothing, and a later call begins again.
 */
enum idx_status idxi_pending_make_next_run(struct idxi_pending *pending, bool *is_complete, struct idx_error *error);

/* Frees the buckets of all parts: the runs, and the arrays of the rests. */
void idxi_pending_free_buckets(struct idxi_pending *pending);

/* Prefetches, to be written, the beginning of each array to which a fingerprint would be added. */
void idxi_pending_prefetch_buckets(const struct idxi_pending *pending, uint64_t fingerprint);

/* Makes sure that one more fingerprint can be added to the array of its bucket in each part. Returns false when memory
 * runs out. */
bool idxi_pending_reserve_in_buckets(struct idxi_pending *pending, uint64_t fingerprint);

/* Adds a fingerprint, by the number of its first record, to its bucket in each part, and publishes it to readers.
 * idxi_pending_reserve_in_buckets must have succeeded for it since the last addition. */
void idxi_pending_add_to_buckets(struct idxi_pending *pending, uint64_t fingerprint, uint32_t first_record);

#endif
