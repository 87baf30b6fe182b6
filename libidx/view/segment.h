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

/* Opens all files of segment `number`, which must be index->open_segments, as index->segments[number]. The index owns
 * the segment, even after an error. Errors: the damaged-file group, IDX_NEW_VERSION, IDX_OUT_OF_MEMORY, IDX_IO_ERROR,
 * IDX_NO_ACCESS. */
enum idx_status idxi_segment_open(struct idx_index *index, size_t number, struct idx_error *error);

/* If the view `older` (may be NULL) has segment `number` of the index's manifest, with the same residence, adds a hold
 * of it, and makes it index->segments[number]. `number` must be index->open_segments. Returns false, and changes
 * nothing, if `older` has no such segment. */
bool idxi_segment_share(struct idx_index *index, const struct idx_index *older, size_t number);

/* Releases a hold of a segment; the last release closes it. `segment` may be NULL. Any thread may call it. */
void idxi_segment_release(struct idxi_segment *segment);

/* ---- File by file: for callers that go on after an error ---- */

/* Makes segment `number`, which must be index->open_segments, with no file open yet; the index owns it even after an
 * error. Then opens its folder, and sets *folder to the descriptor, which the caller passes to the functions that open
 * its files, and then closes. Errors: as idxi_segment_open. */
enum idx_status idxi_segment_open_folder(struct idx_index *index, size_t number, int *folder, struct idx_error *error);

/* Opens table number `table` of segment number `segment`, after all tables before it, and checks that it agrees with
 * the manifest. Errors: as idxi_segment_open. */
enum idx_status idxi_segment_open_table(struct idx_index *index, size_t segment, size_t table, int folder,
                                        struct idx_error *error);

/* Opens the document map of a segment, or its map from IDs, as `kind` says; after the sets, if the index has sets.
 * Errors: as idxi_segment_open. */
enum idx_status idxi_segment_open_map(struct idx_index *index, size_t segment, enum idxi_map_kind kind, int folder,
                                      struct idx_error *error);

/* Opens the sets of a segment's texts, if the index has sets. Call it before idxi_segment_open_map, which checks
 * document numbers by the number of sets. Errors: as idxi_segment_open. */
enum idx_status idxi_segment_open_sets(struct idx_index *index, size_t segment, int folder, struct idx_error *error);

/* Loads the list of what a segment removes from older ones, as segment->removed. Errors: as
 * idxi_segment_open. */
enum idx_status idxi_segment_open_removed(struct idx_index *index, size_t segment, int folder, struct idx_error *error);

/* ---- Searching ---- */

/* Sets *contains to whether a segment's first table holds a fingerprint, removed or not. Errors: IDX_BAD_CHECKSUM,
 * IDX_BAD_CONTENT. */
enum idx_status idxi_segment_contains(const struct idx_index *index, size_t segment, uint64_t fingerprint,
                                      bool *contains, struct idx_error *error);

#endif
