/* table_writer.h: writes one table file from a stream. Its memory does not grow with the table, except for one checksum
 * per page. */
#ifndef IDX_LIBIDX_TABLE_WRITER_H
#define IDX_LIBIDX_TABLE_WRITER_H

#include <idx.h>

#include "format/table.h"
#include "libidx/streams/stream.h"

/* A table to write. What it points to stays the caller's. */
struct idxi_table_job {
    int folder;
    const char *name, *path; /* of the file in `folder`; the path is for messages */

    /* The caller sets uuid, number, mask, radius, bits, anchor bits, block size and a code. idxi_table_write sets the
     * rest, and replaces the code if another one saves more than 2 % of the bits. */
    struct idxf_table_header header;

    struct idxi_stream *fingerprints; /* permuted, left-aligned, strictly ascending; read once */

    /* The keys of all blocks, 8 bytes each, are kept until all blocks are written: up to `key_memory` bytes in memory,
     * more of them in a nameless file in the folder `temporary_folder`, a descriptor. Its path is for messages. */
    size_t key_memory;
    int temporary_folder;
    const char *temporary_path;

    /* Called about every 2^16 fingerprints, with how many were written since the last call; may be NULL. If it returns
     * false, idxi_table_write fails with IDX_CANCELLED. */
    bool (*progress)(void *context, uint64_t fingerprints);
    void *context;
};

/* Writes the file, which must not exist, and syncs it. Completes job->header, and sets *file_size to the bytes of the
 * file. After an error the incomplete file stays, and *file_size is unchanged. Any number of threads may write at a
 * time, each with a job of its own. Errors: those of the stream, IDX_LIMIT (too many blocks), IDX_CANCELLED,
 * IDX_OUT_OF_MEMORY, IDX_IO_ERROR, IDX_DISK_FULL, IDX_NO_ACCESS, IDX_EXISTS. */
enum idx_status idxi_table_write(struct idxi_table_job *job, uint64_t *file_size, struct idx_error *error);

#endif
