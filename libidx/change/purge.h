/* purge.h: what compaction and merging leave out of the segments that they make one of, the pending documents that they
 * take in, and what of the removals compaction must keep for older segments. */
#ifndef IDX_LIBIDX_PURGE_H
#define IDX_LIBIDX_PURGE_H

#include "libidx/change/combine.h"

/* Sets the arrays of a combination that is zeroed but for `progress`, to be freed also after an error: of each of
 * `count` views in turn, the segments from `first` on, less what was removed by what is newer, then the pending
 * documents; numbered in this order. Takes memory in proportion to what is pending and was removed. The views must
 * outlive the combination. Errors: the damaged-file group, IDX_CANCELLED, IDX_OUT_OF_MEMORY, IDX_IO_ERROR. */
enum idx_status idxi_purge_views(struct idx_index *const *views, size_t count, size_t first,
                                 struct idxi_combination *combination, struct idx_error *error);

/* Frees what idxi_purge_views made. */
void idxi_purge_free(struct idxi_combination *combination);

/* Writes the file `removed` of a segment into its folder (a descriptor, and its path): what pending records and the
 * segments from `first` on remove from those before. Sets segment->removed to how many there are; no file for none. */
enum idx_status idxi_purge_write(const struct idx_index *index, size_t first, struct idxf_manifest_segment *segment,
                                 int folder, const char *folder_path, struct idx_error *error);

#endif
