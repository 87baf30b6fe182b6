/* sets_writer.h: writes a segment's file `sets` (SPEC.md, chapter 15). */
#ifndef IDX_LIBIDX_SETS_WRITER_H
#define IDX_LIBIDX_SETS_WRITER_H

#include "format/sets.h"
#include "libidx/base/base.h"

/* A file that is being written. Zeroed, there is none. */
struct idxi_sets_writer {
    struct idxi_page_writer pages;
    struct idxf_sets_header header;
    uint64_t last_key, entry_offset; /* of the last record, and of the last one that has an entry */
    uint8_t *directory;              /* as the file will have it; 0.4 % of the records */
    size_t directory_capacity;       /* in bytes */
    char *path;
};

/* Creates the file in `folder`, at `folder_path`. Call idxi_sets_writer_close even if this fails. */
enum idx_status idxi_sets_writer_open(struct idxi_sets_writer *writer, int folder, const char *folder_path,
                                      struct idx_error *error);

/* Appends a set of 1 to IDXF_MAX_MEMBERS members. Keys must not descend. */
enum idx_status idxi_sets_writer_add(struct idxi_sets_writer *writer, const struct idxf_set *set,
                                     struct idx_error *error);

/* Completes the file for the segment with this uuid, syncs it, and sets *bytes to its size. */
enum idx_status idxi_sets_writer_finish(struct idxi_sets_writer *writer, const uint8_t uuid[IDXF_UUID_BYTES],
                                        uint64_t *bytes, struct idx_error *error);

/* Closes the file and frees all memory, whether it was finished or not. */
void idxi_sets_writer_close(struct idxi_sets_writer *writer);

#endif
