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

/* Maps the file of the segment whose folder is `folder` (a descriptor; its path is `folder_path`), and checks its
 * header. `segment` is the manifest's entry, and `id_type` that of the index. `options` say whether pages are checked
 * before their first use, and how they are read ahead. Call idxi_sets_close even if this fails. Errors: the
 * damaged-file group, IDX_NEW_VERSION, IDX_OUT_OF_MEMORY, IDX_IO_ERROR, IDX_NO_ACCESS. */
enum idx_status idxi_sets_open(struct idxi_sets *sets, int folder, const char *folder_path,
                               const struct idxf_manifest_segment *segment, enum idx_id_type id_type,
                               const struct idx_open_options *options, struct idx_error *error);

/* Unmaps the file and frees all memory. Accepts a zeroed struct. */
void idxi_sets_close(struct idxi_sets *sets);

/* A cursor over sets in their order. */
struct idxi_sets_cursor {
    const struct idxi_sets *sets;
    struct idxf_sets_walk walk;
    uint64_t number;          /* of the next set: its key, where keys are document numbers */
    uint64_t undropped_bytes; /* bytes of pages that were read since pages were dropped; UINT64_MAX: none are dropped */
};

/* Sets the cursor to the first set. Pages that it has read are dropped from memory. The cursor needs no closing. */
void idxi_sets_cursor_begin(struct idxi_sets_cursor *cursor, const struct idxi_sets *sets);

/* Sets the cursor to the first set whose key is not below `key`, or behind the last set. No pages are dropped. Errors:
 * IDX_BAD_CHECKSUM, IDX_BAD_CONTENT. */
enum idx_status idxi_sets_cursor_seek(struct idxi_sets_cursor *cursor, const struct idxi_sets *sets, uint64_t key,
                                      struct idx_error *error);

/* Sets *set to the next set and *found to true, or *found to false behind the last set. The members, little-endian and
 * checked, stay in the map. Errors: as for idxi_sets_cursor_seek. */
enum idx_status idxi_sets_cursor_next(struct idxi_sets_cursor *cursor, struct idxf_set *set, bool *found,
                                      struct idx_error *error);

/* Fails with the status of a fault. The sentence has the path of the file and the offset of the record that the cursor
 * reads next. */
enum idx_status idxi_sets_fail(const struct idxi_sets_cursor *cursor, enum idxf_fault fault, struct idx_error *error);

/* Compares all pages with their checksums, even those that were checked before, and checks that the padding of the
 * records and of the directory is zeros. Errors: IDX_BAD_CHECKSUM, IDX_BAD_CONTENT. */
enum idx_status idxi_sets_check_all(const struct idxi_sets *sets, struct idx_error *error);

/* ---- Members in memory ---- */

/* Members in the order of bytes of this machine. Zeroed, there is no memory; it is freed by the caller. */
struct idxi_native_members {
    uint64_t *hashes;
    size_t capacity; /* members */
};

/* Copies `count` members, 8 little-endian bytes each, to native->hashes, which grows if need be and then is not NULL,
 * even for no members. Errors: IDX_OUT_OF_MEMORY. */
enum idx_status idxi_members_to_native(struct idxi_native_members *native, const uint8_t *members, size_t count,
                                       struct idx_error *error);

/* Sets *bytes to `count` members as files have them, little-endian. On a little-endian machine these are the caller's
 * own `members`; on a big-endian one, copies in *scratch, which the next call overwrites. Errors: IDX_OUT_OF_MEMORY. */
enum idx_status idxi_members_to_little_endian(struct idxi_native_members *scratch, const uint64_t *members,
                                              size_t count, const uint8_t **bytes, struct idx_error *error);

/* Checks a caller's set, which may be empty. Errors: IDX_INVALID_ARGUMENT (members don't ascend, each once), IDX_LIMIT
 * (more than IDXF_MAX_MEMBERS members). */
enum idx_status idxi_check_set(const struct idx_set *set, struct idx_error *error);

#endif
