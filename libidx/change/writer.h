/* writer.h: what the files of the writer share. A writer decides what is to be recorded by a view of its own, which
 * sees each record of a batch as soon as it is decided. Then the log takes the whole batch. */
#ifndef IDX_LIBIDX_WRITER_H
#define IDX_LIBIDX_WRITER_H

#include <sys/types.h>

#include "libidx/change/change.h"
#include "libidx/fingerprints/compare.h"
#include "libidx/log/log_writer.h"
#include "libidx/view/index.h"

struct idx_writer {
    struct idx_index *index; /* the view, which it alone has */
    struct idxi_log_writer *log;
    int lock;
    pid_t process; /* that opened it */
    const struct idxi_compare_way *compare;
    uint64_t compact_records; /* as the options say */
    unsigned compact_segments;
    unsigned threads;
    struct idxi_background background;
    uint64_t next_compaction; /* no earlier than behind this record */
    /* The batch being recorded. */
    struct idxf_record *records;
    uint8_t (*numbers)[sizeof(uint64_t)]; /* integer IDs, as records have them */
    size_t count, capacity;
};

/* Whether items may be recorded: none has too many bits, or too long an ID. Errors: IDX_INVALID_ARGUMENT. */
enum idx_status idxi_writer_check(const struct idx_writer *writer, const struct idx_item *items, size_t count,
                                  struct idx_error *error);

/* Begins a batch of about `count` records. */
enum idx_status idxi_writer_begin(struct idx_writer *writer, size_t count, struct idx_error *error);

/* Makes a record of an item the batch's next one. The view has it from now on. */
enum idx_status idxi_writer_record(struct idx_writer *writer, enum idxf_operation operation,
                                   const struct idx_item *item, struct idx_error *error);

/* Asks memory for what adding an item some places behind item `i` takes, if there is one. */
void idxi_writer_expect(const struct idx_writer *writer, const struct idx_item *items, size_t i, size_t count);

/* Ends a batch, which `status` says went well so far or not: the log takes it, or the view forgets it. */
enum idx_status idxi_writer_end(struct idx_writer *writer, enum idx_status status, struct idx_error *error);

#endif
