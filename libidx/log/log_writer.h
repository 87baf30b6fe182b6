/* log_writer.h: writes pending.log, the log of what is added to an index and removed from it (SPEC.md, chapter 10).
 * log_reader.h reads it. */
#ifndef IDX_LIBIDX_LOG_WRITER_H
#define IDX_LIBIDX_LOG_WRITER_H

#include <idx.h>

#include "format/record.h"

/* Writes the log of an index, for the one process that holds the lock of writers. One thread at a time. */
struct idxi_log_writer;

/* Opens the log in the folder of an index (a descriptor, and its path; both are copied) for writing, or makes one if
 * the manifest names none. Sets *writer only if it succeeds. Checks all frames. If the last frame may not be on disk,
 * or is not whole, replaces the log by one of all whole frames. Also trims it, as idxi_log_trim_records does, of the
 * records that are in segments; errors of that are ignored. Errors: as idxi_manifest_load and idxi_log_open;
 * IDX_DISK_FULL. */
enum idx_status idxi_log_writer_open(struct idxi_log_writer **writer, int folder, const char *folder_path,
                                     struct idx_error *error);

/* Returns the sequence number of the newest record, in the log or in a segment. */
uint64_t idxi_log_writer_get_last_sequence(const struct idxi_log_writer *writer);

/* Completes what an earlier call left incomplete after an error: opens the log that has replaced this one. Errors:
 * those of that call; IDX_INVALID_ARGUMENT in a process that was forked from the one that opened the writer;
 * IDX_IO_ERROR after a failed sync: then it is unknown what is on disk, and the writer can only be closed. */
enum idx_status idxi_log_make_ready(struct idxi_log_writer *writer, struct idx_error *error);

/* Appends records under the next sequence numbers, as one frame, which is on disk when this returns. Does nothing if
 * `count` is 0. After an error, the log has none of them; only after a failed sync, it may have all. Errors:
 * - as idxi_log_make_ready; IDX_INVALID_ARGUMENT (a record breaks a rule);
 * - IDX_LIMIT (sequence numbers are used up), IDX_OUT_OF_MEMORY;
 * - IDX_DISK_FULL (try again when space is free), IDX_IO_ERROR. */
enum idx_status idxi_log_append_records(struct idxi_log_writer *writer, const struct idxf_record *records, size_t count,
                                        struct idx_error *error);

/* Replaces the log by one without the records up to `sequence`, which a published manifest says are in segments, and
 * notes that in the manifest. Does nothing if the log has no such records. Readers of the old log may read on. `error`
 * may be NULL. A later call of any function completes what an error prevented. Errors: as idxi_log_append_records. */
enum idx_status idxi_log_trim_records(struct idxi_log_writer *writer, uint64_t sequence, struct idx_error *error);

/* Notes the last record in the manifest, but not in a forked process, and frees the writer, which may be NULL. Errors
 * are ignored, since every record is on disk already. */
void idxi_log_writer_close(struct idxi_log_writer *writer);

#endif
