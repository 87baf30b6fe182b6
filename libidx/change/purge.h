/* purge.h: finds what compaction and merging leave out of the segments that they combine, and which pending documents
 * they add. */
#ifndef IDX_LIBIDX_PURGE_H
#define IDX_LIBIDX_PURGE_H

#include "libidx/change/combine.h"

/* Sets the arrays of a combination, which is zeroed except for `progress`; they are to be freed also after an error.
 * For each of `count` views in turn: the segments from `first` on, without what newer segments or records removed, then
 * the pending documents; numbered in this order. Needs memory in proportion to what is pending and what was removed.
 * The views must outlive the combination. Errors: the damaged-file group, IDX_CANCELLED, IDX_OUT_OF_MEMORY,
 * IDX_IO_ERROR. */
enum idx_status idxi_purge_views(struct idx_index *const *views, size_t count, size_t first,
                                 struct idxi_combination *combination, struct idx_error *error);

/* Frees what idxi_purge_views made. */
void idxi_purge_free(struct idxi_combination *combination);

#endif
