/* writer.h: what the files of the writer share. A writer decides what is to be recorded by a view of its own, which
 * sees each record of a batch as soon as it is decided. Then the log takes the whole batch. */
#ifndef IDX_LIBIDX_WRITER_H
#define IDX_LIBIDX_WRITER_H

#include <sys/types.h>

#include "libidx/change/compact.h"
#include "libidx/fingerprints/compare.h"
#include "libidx/log/log_writer.h"
#include "libidx/view/index.h"

/* An integer ID as records have it: little-endian. */
struct idxi_stored_number {
    uint8_t bytes[sizeof(uint64_t)];
};

struct idx_writer {
    struct idx_index *index; /* the view, which belongs to the writer alone */
    struct idxi_log_writer *log;
    int lock;
    pid_t process; /* the process that opened it */
    const struct idxi_compare_way *compare;
    uint64_t compact_records; /* as the options say */
    unsigned compact_segments;
    unsigned threads;
    struct idxi_background background;
    uint64_t next_compaction; /* no compaction begins before this record */
    /* The batch that is being recorded. */
    struct idxf_record *records;
    struct idxi_stored_number *numbers; /* the integer IDs of the records */
    size_t count, capacity;
    struct idxi_arena members; /* of its texts, where the order of bytes is not that of files */
};

/* Replaces writer->index by a newer view, if there is one. It must be of the index whose lock and log the writer has.
 * Errors, after which the view is as before: as idx_refresh; IDX_IO_ERROR (another index has taken its place). */
enum idx_status idxi_writer_refresh(struct idx_writer *writer, struct idx_error *error);

/* Checks that the IDs of the items are of the index's type, and none is too long. Errors: IDX_INVALID_ARGUMENT. */
enum idx_status idxi_writer_check_ids(const struct idx_writer *writer, const struct idx_item *items, size_t count,
                                      struct idx_error *error);

/* Checks items of an index without sets: as idxi_writer_check_ids, and that no fingerprint has too many bits. Errors:
 * IDX_INVALID_ARGUMENT, also if the index has sets. */
enum idx_status idxi_writer_check_items(const struct idx_writer *writer, const struct idx_item *items, size_t count,
                                        struct idx_error *error);

/* Begins a batch of about `count` records: refreshes the view after a compaction or an abandoned batch (writer->index
 * may become another view), and empties writer->records. Errors: IDX_INVALID_ARGUMENT in a forked process;
 * IDX_OUT_OF_MEMORY; as idxi_log_make_ready, idxi_log_trim_records and idxi_writer_refresh. */
enum idx_status idxi_writer_begin_batch(struct idx_writer *writer, size_t count, struct idx_error *error);

/* Adds the record of an operation on an item to the batch, and to the view. A text ID stays the caller's, and must live
 * until the batch ends. Errors, after which the batch can only be ended with that status: IDX_OUT_OF_MEMORY, IDX_LIMIT.
 */
enum idx_status idxi_writer_add_record(struct idx_writer *writer, enum idxf_operation operation,
                                       const struct idx_item *item, struct idx_error *error);

/* Adds the record of a text, with the ID of the item, to the batch, and to the view. The text ID and the set stay the
 * caller's, and must live until the batch ends. The set must have members. Errors: as idxi_writer_add_record. */
enum idx_status idxi_writer_add_text_record(struct idx_writer *writer, const struct idx_item *item,
                                            const struct idx_set *set, struct idx_error *error);

/* Checks that the index of a writer has no sets. If it has, only texts can be added and removed. Errors:
 * IDX_INVALID_ARGUMENT. */
enum idx_status idxi_writer_check_without_sets(const struct idx_writer *writer, struct idx_error *error);

/* Prefetches the memory that adding a later item, some places behind item `i` of `count`, will read and write. Call it
 * before adding item `i`. Does nothing if there is no such item. */
void idxi_writer_prefetch_add(const struct idx_writer *writer, const struct idx_item *items, size_t i, size_t count);

/* Ends a batch. With IDX_OK, appends its records to the log, and begins a compaction if one is due. With another
 * status, or if appending fails, abandons the batch: the view is refreshed without its records. Returns `status` unless
 * that is IDX_OK; then the status of appending. */
enum idx_status idxi_writer_end_batch(struct idx_writer *writer, enum idx_status status, struct idx_error *error);

#endif
