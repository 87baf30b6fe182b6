/* purge.h: finds what segments leave out when they are combined, and which pending documents are added. */
#ifndef IDX_LIBIDX_PURGE_H
#define IDX_LIBIDX_PURGE_H

#include "libidx/change/combine.h"

/* Sets the arrays of a combination, which are zeroed, and are to be freed by idxi_purge_free_arrays also after an
 * error. For each of `count` views in turn, they have the segments from `first_segment` on, with what to leave out
 * because newer segments or records removed it, and then the pending documents. Documents are numbered in this order.
 * Needs memory in proportion to what is pending and what was removed. The views must outlive the combination. Errors:
 * the damaged-file group, IDX_CANCELLED, IDX_OUT_OF_MEMORY, IDX_IO_ERROR. */
enum idx_status idxi_purge_views(struct idx_index *const *views, size_t count, size_t first_segment,
                                 struct idxi_combination *combination, struct idx_error *error);

/* Frees what idxi_purge_views made. A zeroed combination is fine. */
void idxi_purge_free_arrays(struct idxi_combination *combination);

#endif
