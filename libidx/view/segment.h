/* segment.h: a segment, which all views that have it share; opened as a whole, or file by file. */
#ifndef IDX_LIBIDX_SEGMENT_H
#define IDX_LIBIDX_SEGMENT_H

#include <idx.h>
#include <stdatomic.h>

#include "format/manifest.h"
#include "libidx/segment/document_map.h"
#include "libidx/segment/removed.h"
#include "libidx/segment/sets_reader.h"
#include "libidx/segment/table_reader.h"
#include "libidx/segment/unpacked.h"

struct idxi_segment {
    atomic_size_t holders;
    struct idxf_manifest_segment entry;
    char *path;
    struct idxi_table *tables; /* as many as the scheme has */
    size_t open_tables;
    uint8_t *loaded; /* what is loaded of all tables, together in huge pages; or NULL */
    size_t loaded_bytes;
    struct idxi_unpacked *unpacked; /* NULL where it is not unpacked, or empty */
    struct idxi_map map, by_id;     /* the latter where the index has a map from IDs */
    bool map_open, by_id_open;
    struct idxi_removed removed; /* which documents of older segments it removes */
    struct idxi_sets sets;       /* of its texts, where the index has sets */
};

/* Opens segment `number`, the next one of index->segments. It belongs to the index, also after an error. */
enum idx_status idxi_segment_open(struct idx_index *index, size_t number, struct idx_error *error);

/* Shares the segment of `older` (may be NULL) that the manifest means by segment `number`. Returns false if `older` has
 * no such segment. */
bool idxi_segment_share(struct idx_index *index, const struct idx_index *older, size_t number);

/* Releases a segment; the last release closes it. Accepts NULL. */
void idxi_segment_release(struct idxi_segment *segment);

/* ---- File by file: for callers that go on after an error ---- */

/* Makes segment `number`, the next one of index->segments, and opens its folder, which the caller closes. */
enum idx_status idxi_segment_open_folder(struct idx_index *index, size_t number, int *folder, struct idx_error *error);

/* Opens one table of a segment and checks that it is the one that the manifest means. */
enum idx_status idxi_segment_open_table(struct idx_index *index, size_t segment, size_t table, int folder,
                                        struct idx_error *error);

/* Opens the document map of a segment, or its map from IDs. */
enum idx_status idxi_segment_open_map(struct idx_index *index, size_t segment, enum idxi_map_kind kind, int folder,
                                      struct idx_error *error);

/* Opens the sets of a segment's texts, if the index has sets: before its document map, whose numbers are those of the
 * texts. */
enum idx_status idxi_segment_open_sets(struct idx_index *index, size_t segment, int folder, struct idx_error *error);

/* Loads the removals of a segment from older ones. */
enum idx_status idxi_segment_open_removed(struct idx_index *index, size_t segment, int folder, struct idx_error *error);

/* ---- Searching ---- */

/* Sets *contains to whether the segment holds a fingerprint, removed or not. */
enum idx_status idxi_segment_contains(const struct idx_index *index, size_t segment, uint64_t fingerprint,
                                      bool *contains, struct idx_error *error);

#endif
