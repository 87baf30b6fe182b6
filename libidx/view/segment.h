/* segment.h: opens the segments of an index, shares them with newer views of it, and searches one for a fingerprint. */
#ifndef IDX_LIBIDX_SEGMENT_H
#define IDX_LIBIDX_SEGMENT_H

#include "libidx/view/index.h"

/* Opens all files of a segment, the next one of index->segments. What was opened belongs to the index, also after an
 * error. */
enum idx_status idxi_segment_open(struct idx_index *index, size_t number, struct idx_error *error);

/* Makes a segment of `older` (may be NULL) segment `number` of the index as well, if it is the one that the manifest
 * means. False if it is not. */
bool idxi_segment_share(struct idx_index *index, const struct idx_index *older, size_t number);

/* Lets go of a segment. NULL is fine. */
void idxi_segment_release(struct idxi_segment *segment);

/* ---- File by file: for callers that go on after an error ---- */

/* Begins with a segment, the next one of index->segments, and opens its folder. */
enum idx_status idxi_segment_open_folder(struct idx_index *index, size_t number, int *folder, struct idx_error *error);

/* Opens one table of a segment and checks that it is the one that the manifest means. */
enum idx_status idxi_segment_open_table(struct idx_index *index, size_t segment, size_t table, int folder,
                                        struct idx_error *error);

/* Opens the document map of a segment, or its map from IDs. */
enum idx_status idxi_segment_open_map(struct idx_index *index, size_t segment, enum idxi_map_kind kind, int folder,
                                      struct idx_error *error);

/* Loads what a segment removes from those before it. */
enum idx_status idxi_segment_open_removed(struct idx_index *index, size_t segment, int folder, struct idx_error *error);

/* ---- Searching ---- */

/* Whether the segment holds a fingerprint, removed or not. */
enum idx_status idxi_segment_contains(const struct idx_index *index, size_t segment, uint64_t fingerprint,
                                      bool *contains, struct idx_error *error);

#endif
