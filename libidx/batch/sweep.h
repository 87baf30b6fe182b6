/* sweep.h: looks up many queries by reading each table once, in file order. */
#ifndef IDX_LIBIDX_SWEEP_H
#define IDX_LIBIDX_SWEEP_H

#include "libidx/batch/results.h"
#include "libidx/view/index.h"

/* Puts all matches that segments have of the queries, in about half of the memory. Queries and options were checked.
 * Errors: IDX_BAD_CHECKSUM, IDX_BAD_CONTENT, IDX_CANCELLED, IDX_OUT_OF_MEMORY, those of idxi_results_put. */
enum idx_status idxi_sweep(const struct idx_index *index, const uint64_t *queries, size_t count,
                           const struct idx_batch_options *options, struct idxi_results *results,
                           struct idxi_progress *progress, struct idx_error *error);

#endif
