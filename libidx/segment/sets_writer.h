/* sets_writer.h: writes a segment's file `sets` (SPEC.md, chapter 15). */
#ifndef IDX_LIBIDX_SETS_WRITER_H
#define IDX_LIBIDX_SETS_WRITER_H

#include "format/sets.h"
#include "libidx/base/base.h"

/* A file that is being written. Zeroed, there is none. */
struct idxi_sets_writer {
    struct idxi_page_writer pages;
    struct idxf_sets_header header;
    uint64_t last_key, last_entry_offset; /* of the last record, and of the last one that has an entry */
    uint8_t *directory;                   /* as the file will have it; 0.4 % of the records */
    size_t directory_capacity;            /* in bytes */
    char *path;
};

/* Creates the file, which must not exist, in `folder` (a descriptor; its path is `folder_path`). Call
 * idxi_sets_writer_close even if this fails. The errors of this function and those below are IDX_OUT_OF_MEMORY,
 * IDX_IO_ERROR, IDX_DISK_FULL, IDX_NO_ACCESS, IDX_EXISTS. */
enum idx_status idxi_sets_writer_open(struct idxi_sets_writer *writer, int folder, const char *folder_path,
                                      struct idx_error *error);

/* Appends a set of 1 to IDXF_MAX_MEMBERS members, little-endian. Its key must not be below that of the set before. */
enum idx_status idxi_sets_writer_add(struct idxi_sets_writer *writer, const struct idxf_set *set,
                                     struct idx_error *error);

/* Writes the directory, the checksums and the header, which has the segment's uuid, syncs the file, and sets
 * *file_bytes to its size. */
enum idx_status idxi_sets_writer_finish(struct idxi_sets_writer *writer, const uint8_t uuid[IDXF_UUID_BYTES],
                                        uint64_t *file_bytes, struct idx_error *error);

/* Closes the file, finished or not, frees all memory, and zeroes *writer. Accepts a zeroed struct. */
void idxi_sets_writer_close(struct idxi_sets_writer *writer);

#endif
