/* sets_reader.h: opens and reads a segment's file `sets` (SPEC.md, chapter 15). sets_writer.h writes it. */
#ifndef IDX_LIBIDX_SETS_READER_H
#define IDX_LIBIDX_SETS_READER_H

#include <idx.h>
#include <stdatomic.h>

#include "format/manifest.h"
#include "format/sets.h"

#define IDXI_SETS_NAME "sets"

/* An open file, which is mapped. Zeroed, there is none. */
struct idxi_sets {
    const uint8_t *map;
    struct idxf_sets_header header;
    struct idxf_sets_layout layout;
    _Atomic uint64_t *checked; /* a bit for each page that was checked; NULL: pages are not checked */
    char *path;
    bool has_numbers; /* keys are document numbers */
    size_t allocated_bytes;
};

/* Opens the file of the segment whose folder is `folder`, at `folder_path`, and checks its header. `id_type` is that of
 * the index. Call idxi_sets_close even if this fails. Errors: the damaged-file group, IDX_NEW_VERSION,
 * IDX_OUT_OF_MEMORY, IDX_IO_ERROR, IDX_NO_ACCESS. */
enum idx_status idxi_sets_open(struct idxi_sets *sets, int folder, const char *folder_path,
                               const struct idxf_manifest_segment *segment, enum idx_id_type id_type,
                               const struct idx_open_options *options, struct idx_error *error);

/* Unmaps the file and frees all memory. Accepts a zeroed struct. */
void idxi_sets_close(struct idxi_sets *sets);

/* A cursor over sets in their order. */
struct idxi_sets_cursor {
    const struct idxi_sets *sets;
    struct idxf_sets_walk walk;
    uint64_t number;    /* of the next set: its key, where keys are document numbers */
    uint64_t undropped; /* bytes of pages that were read since pages were dropped; UINT64_MAX: none are dropped */
};

/* Begins at the first set. Pages are dropped behind the cursor, so that memory stays bounded. */
void idxi_sets_begin(struct idxi_sets_cursor *cursor, const struct idxi_sets *sets);

/* Begins at the first set whose key is not below `key`. Errors: IDX_BAD_CHECKSUM, IDX_BAD_CONTENT. */
enum idx_status idxi_sets_seek(struct idxi_sets_cursor *cursor, const struct idxi_sets *sets, uint64_t key,
                               struct idx_error *error);

/* Sets *set to the next set, whose members stay in the map, or *found to false behind the last one. Errors: as
 * for idxi_sets_seek. */
enum idx_status idxi_sets_next(struct idxi_sets_cursor *cursor, struct idxf_set *set, bool *found,
                               struct idx_error *error);

/* Fails because the record that a cursor reads next has a fault. */
enum idx_status idxi_sets_fail(const struct idxi_sets_cursor *cursor, enum idxf_fault fault, struct idx_error *error);

/* Checks all pages, even those that were checked before, and the padding between sections. */
enum idx_status idxi_sets_check_all(const struct idxi_sets *sets, struct idx_error *error);

/* ---- Members in memory ---- */

/* Members in the order of bytes of this machine. Zeroed, there is no memory; it is freed by the caller. */
struct idxi_native_members {
    uint64_t *hashes;
    size_t capacity; /* members */
};

/* Copies little-endian members to native->hashes, which grows if need be. Errors: IDX_OUT_OF_MEMORY. */
enum idx_status idxi_members_copy(struct idxi_native_members *native, const uint8_t *members, size_t count,
                                  struct idx_error *error);

/* Sets *bytes to members as files have them, little-endian: to those of the caller, or on a big-endian machine, to
 * copies in *scratch, which the next call overwrites. Errors: IDX_OUT_OF_MEMORY. */
enum idx_status idxi_members_store(struct idxi_native_members *scratch, const uint64_t *members, size_t count,
                                   const uint8_t **bytes, struct idx_error *error);

/* Checks a caller's set. Errors: IDX_INVALID_ARGUMENT (members don't ascend), IDX_LIMIT (too many members). */
enum idx_status idxi_check_set(const struct idx_set *set, struct idx_error *error);

#endif
