/* remaining_removals.h: a compaction keeps the removals that concern segments older than those that it combines. */
#ifndef IDX_LIBIDX_REMAINING_REMOVALS_H
#define IDX_LIBIDX_REMAINING_REMOVALS_H

#include "libidx/view/index.h"

/* Writes the file `removed` of the new segment into its folder (a descriptor, and its path): what pending records and
 * the segments from number `first_segment` on remove from the segments before. Writes no file if that is nothing. Sets
 * segment->removed, which must be 0 before, to the number of removals; segment->uuid must be set. Errors:
 * IDX_OUT_OF_MEMORY, IDX_BAD_CHECKSUM, IDX_BAD_CONTENT, IDX_DISK_FULL, IDX_IO_ERROR. */
enum idx_status idxi_write_removals(const struct idx_index *index, size_t first_segment,
                                    struct idxf_manifest_segment *segment, int folder, const char *folder_path,
                                    struct idx_error *error);

#endif
