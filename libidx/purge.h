/* purge.h: what compaction leaves out of the segments that it makes one of, what of the removals it must keep for older
 * ones, and the pending documents that it takes in. */
#ifndef IDX_LIBIDX_PURGE_H
#define IDX_LIBIDX_PURGE_H

#include "libidx/combine.h"

/* Sets what the combination's sources, the segments of a view from `first` on, leave out, and `gone`: all that was
 * removed by what is newer. Takes memory in proportion to what was removed. */
enum idx_status idxi_purge_sources(const struct idx_index *index, size_t first, struct idxi_combination *combination,
                                   struct idx_error *error);

/* Sets the combination's pending documents, numbered behind those of the sources, which were purged before. */
enum idx_status idxi_purge_pending(const struct idx_index *index, struct idxi_combination *combination,
                                   struct idx_error *error);

/* Writes the file `removed` of a segment into its folder (a descriptor, and its path): what pending records and the
 * segments from `first` on remove from those before. Sets segment->removed to how many there are; no file for none. */
enum idx_status idxi_purge_write(const struct idx_index *index, size_t first, struct idxf_manifest_segment *segment,
                                 int folder, const char *folder_path, struct idx_error *error);

/* Frees what the first two made. */
void idxi_purge_free(struct idxi_combination *combination);

#endif
