/* log_writer.h: writes pending.mdb, the log of what is added to an index and removed from it (SPEC.md, chapter 12), by
 * LMDB. log_reader.h reads it. */
#ifndef IDX_LIBIDX_LOG_WRITER_H
#define IDX_LIBIDX_LOG_WRITER_H

#include <idx.h>

#include "format/record.h"

/* The one writer of an index, which holds the writer's lock. One thread at a time. */
struct idxi_log_writer;

/* Opens the log in the index's folder (a descriptor, and its path; both are copied) for writing; makes one where there
 * is none. `rules` and `sequence` are what the manifest says. Before LMDB opens the file, which would trust it, its
 * pages are checked; records that are to be read are for idxi_log_read to check. Deletes what idxi_log_delete would;
 * what can't be deleted stays.
 * Errors: as idxi_log_read; IDX_DISK_FULL, IDX_UNSUPPORTED (the file system). */
enum idx_status idxi_log_writer_open(struct idxi_log_writer **writer, int folder, const char *folder_path,
                                     const struct idxf_record_rules *rules, uint64_t sequence, struct idx_error *error);

/* The number of the newest record, or that of the manifest where it is above it. */
uint64_t idxi_log_writer_last(const struct idxi_log_writer *writer);

/* Appends records under the next sequence numbers, in one transaction: all of them are durable when it returns, or, on
 * an error, none is there. Errors: IDX_INVALID_ARGUMENT (a record that breaks a rule), IDX_LIMIT (sequence numbers are
 * used up), IDX_OUT_OF_MEMORY, IDX_DISK_FULL (try again when there is room), IDX_IO_ERROR (the writer can only be
 * closed then). */
enum idx_status idxi_log_append(struct idxi_log_writer *writer, const struct idxf_record *records, size_t count,
                                struct idx_error *error);

/* Deletes the records up to `sequence`, which a published manifest says is in the segments; but the newest one stays,
 * to tell readers that they missed what was before it. Where it is the only one to stay, and the file is large, a small
 * file takes the place of that, since LMDB keeps the room. Readers may be at work. What an error leaves, a later call
 * deletes; whenever the process ends, the log is the old one or the new one. Errors: as idxi_log_append. */
enum idx_status idxi_log_delete(struct idxi_log_writer *writer, uint64_t sequence, struct idx_error *error);

/* NULL is fine. */
void idxi_log_writer_close(struct idxi_log_writer *writer);

#endif
