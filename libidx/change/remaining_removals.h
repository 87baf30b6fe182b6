/* remaining_removals.h: a compaction keeps the removals that concern segments older than those that it combines. */
#ifndef IDX_LIBIDX_REMAINING_REMOVALS_H
#define IDX_LIBIDX_REMAINING_REMOVALS_H

#include "libidx/view/index.h"

/* Writes the file `removed` of a segment into its folder (a descriptor, and its path): what pending records and the
 * segments from `first` on remove from the segments before. Sets segment->removed to how many there are. Writes
 * no file if there are none. */
enum idx_status idxi_write_removals(const struct idx_index *index, size_t first, struct idxf_manifest_segment *segment,
                                    int folder, const char *folder_path, struct idx_error *error);

#endif
