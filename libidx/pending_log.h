/* pending_log.h: pending.mdb, the log of what is added to an index and removed from it (SPEC.md, chapter 12). LMDB
 * writes it; readers walk its pages themselves, on copies of them, so that they never wait for the writer, nor it for
 * them. */
#ifndef IDX_LIBIDX_PENDING_LOG_H
#define IDX_LIBIDX_PENDING_LOG_H

#include <idx.h>

#include "format/record.h"

#define IDXI_PENDING_NAME "pending.mdb"

/* ---- Writing ---- */

/* The one writer of an index, which holds the writer's lock. One thread at a time. */
struct idxi_log_writer;

/* Opens the log in the index's folder (a descriptor, and the path) for writing; makes one where there is none. `rules`
 * and `sequence` are what the manifest says. Checks the file whole, since LMDB trusts it, but for the records.
 * Errors: IDX_WRONG_SIZE, IDX_BAD_CHECKSUM, IDX_BAD_CONTENT, IDX_FOREIGN_FILE, IDX_NEW_VERSION, IDX_UNSUPPORTED (made
 * on another kind of machine), IDX_OUT_OF_MEMORY, IDX_IO_ERROR, IDX_DISK_FULL, IDX_NO_ACCESS. */
enum idx_status idxi_log_writer_open(struct idxi_log_writer **writer, int folder, const char *folder_path,
                                     const struct idxf_record_rules *rules, uint64_t sequence, struct idx_error *error);

/* The sequence number of the newest record, or that of the manifest where it is above it. */
uint64_t idxi_log_writer_last(const struct idxi_log_writer *writer);

/* Appends records, which must keep the rules, under the next sequence numbers, in one transaction: all of them are
 * durable when it returns, or, on an error, none is there. Errors: IDX_INVALID_ARGUMENT (a record that breaks a rule),
 * IDX_LIMIT (sequence numbers are used up), IDX_OUT_OF_MEMORY, IDX_DISK_FULL, IDX_IO_ERROR (the writer can only be
 * closed then). */
enum idx_status idxi_log_append(struct idxi_log_writer *writer, const struct idxf_record *records, size_t count,
                                struct idx_error *error);

/* Deletes all records up to `sequence`, which a published manifest says is in the segments. Readers may be at work.
 * What an error leaves is deleted by a later call. */
enum idx_status idxi_log_delete(struct idxi_log_writer *writer, uint64_t sequence, struct idx_error *error);

/* NULL is fine. */
void idxi_log_writer_close(struct idxi_log_writer *writer);

/* ---- Reading ---- */

/* A reader of the log. One thread at a time; any number of them. */
struct idxi_log;

/* Opens a reader. The log need not be there: it may come later. `folder` (a descriptor) and the path are copied.
 * Errors: IDX_OUT_OF_MEMORY, IDX_IO_ERROR. */
enum idx_status idxi_log_open(struct idxi_log **log, int folder, const char *folder_path,
                              const struct idxf_record_rules *rules, struct idx_error *error);

/* Called for each record, whose ID stays valid during the call; anything but IDX_OK ends the reading, with that status.
 */
typedef enum idx_status (*idxi_record_visitor)(void *context, uint64_t sequence, const struct idxf_record *record,
                                               struct idx_error *error);

/* Visits the records behind `after`, in order, up to the last one of the newest transaction: *last is its sequence
 * number, or `after` where nothing came. Where the records right behind `after` were deleted already, *gone is set and
 * none is visited: a newer manifest says that the segments have them. On an error, those visited so far are sound, but
 * a transaction's may lack. Reads only what is new, and costs one small read where nothing is.
 * Errors: IDX_WRONG_SIZE, IDX_BAD_CHECKSUM, IDX_BAD_CONTENT, IDX_FOREIGN_FILE, IDX_NEW_VERSION, IDX_UNSUPPORTED,
 * IDX_OUT_OF_MEMORY, IDX_IO_ERROR, IDX_NO_ACCESS. */
enum idx_status idxi_log_read(struct idxi_log *log, uint64_t after, idxi_record_visitor visit, void *context,
                              uint64_t *last, bool *gone, struct idx_error *error);

/* NULL is fine. */
void idxi_log_close(struct idxi_log *log);

#endif
