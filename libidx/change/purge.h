/* purge.h: fills a combination: finds what segments leave out when they are combined, and which pending documents are
 * added. */
#ifndef IDX_LIBIDX_PURGE_H
#define IDX_LIBIDX_PURGE_H

#include "libidx/change/combine.h"

/* Sets the arrays of a combination, which must be zeroed; combination->progress must be set. Free the arrays by
 * idxi_free_combination_arrays, even after an error. For each of `count` views in turn, appends the segments from
 * number `first_segment` on as sources, with what to leave out because newer segments or pending records removed it,
 * and then the pending documents. Documents are numbered in this order. Needs memory in proportion to what is pending
 * and what was removed. The views must outlive the combination. Errors: the damaged-file group, IDX_CANCELLED,
 * IDX_OUT_OF_MEMORY, IDX_IO_ERROR. */
enum idx_status idxi_fill_combination(struct idx_index *const *views, size_t count, size_t first_segment,
                                      struct idxi_combination *combination, struct idx_error *error);

/* Frees the arrays that idxi_fill_combination made. The combination may be zeroed. */
void idxi_free_combination_arrays(struct idxi_combination *combination);

#endif
