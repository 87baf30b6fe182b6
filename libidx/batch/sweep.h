/* sweep.h: looks up many queries by reading each table once, in file order. */
#ifndef IDX_LIBIDX_SWEEP_H
#define IDX_LIBIDX_SWEEP_H

#include "libidx/batch/results.h"
#include "libidx/view/index.h"

/* Adds to the results all matches of the queries in the segments of the index, without pending fingerprints. Uses about
 * half of options->memory_bytes. The caller has checked the queries and options; options->distance is at most k. Adds
 * to the progress each query once for each table that is not empty. Errors: IDX_BAD_CHECKSUM, IDX_BAD_CONTENT,
 * IDX_CANCELLED, IDX_OUT_OF_MEMORY, those of idxi_results_add_buffer. */
enum idx_status idxi_sweep_tables(const struct idx_index *index, const uint64_t *queries, size_t count,
                                  const struct idx_batch_options *options, struct idxi_results *results,
                                  struct idxi_progress *progress, struct idx_error *error);

#endif
