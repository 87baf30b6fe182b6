/* log_writer.h: writes pending.log, the log of what is added to an index and removed from it (SPEC.md, chapter 10).
 * log_reader.h reads it. */
#ifndef IDX_LIBIDX_LOG_WRITER_H
#define IDX_LIBIDX_LOG_WRITER_H

#include <idx.h>

#include "format/record.h"

/* The one writer of an index, which holds the writer's lock. One thread at a time. */
struct idxi_log_writer;

/* Opens the log in the index's folder (a descriptor, and its path; both are copied) for writing; makes one where the
 * manifest knows of none. All its frames are checked. Where the last one may not be on disk, or is not whole, a
 * log of all that are replaces it; and as idxi_log_trim would, but what an error of that leaves stays.
 * Errors: as idxi_manifest_load and idxi_log_open; IDX_DISK_FULL. */
enum idx_status idxi_log_writer_open(struct idxi_log_writer **writer, int folder, const char *folder_path,
                                     struct idx_error *error);

/* The number of the newest record, or that of the manifest where it is above it. */
uint64_t idxi_log_writer_last(const struct idxi_log_writer *writer);

/* Does what an error left. Errors: of that; IDX_INVALID_ARGUMENT in a process that was forked from the one which opened
 * the writer; IDX_IO_ERROR after a sync that failed, which leaves open what is on disk: it can only be closed then. */
enum idx_status idxi_log_check(struct idxi_log_writer *writer, struct idx_error *error);

/* Appends records under the next sequence numbers, as one frame: all of them are on disk when it returns. On an error
 * none is there, but after a sync that failed, when that is open. Errors: as idxi_log_check; IDX_INVALID_ARGUMENT (a
 * record that breaks a rule), IDX_LIMIT (sequence numbers are used up), IDX_OUT_OF_MEMORY, IDX_DISK_FULL (try again
 * when there is room), IDX_IO_ERROR. */
enum idx_status idxi_log_append(struct idxi_log_writer *writer, const struct idxf_record *records, size_t count,
                                struct idx_error *error);

/* Gives back the room of the records up to `sequence`, which a published manifest says is in the segments: a log
 * without them takes this one's place, and the manifest learns of it. Readers may be at work. What an error leaves, a
 * later call does. Errors: as idxi_log_append. */
enum idx_status idxi_log_trim(struct idxi_log_writer *writer, uint64_t sequence, struct idx_error *error);

/* Tells the manifest how far the log goes. In a process that was forked, frees alone. NULL is fine. */
void idxi_log_writer_close(struct idxi_log_writer *writer);

#endif
