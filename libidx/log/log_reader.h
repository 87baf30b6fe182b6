/* log_reader.h: reads pending.mdb, the log of what is added to an index and removed from it (SPEC.md, chapter 12). LMDB
 * writes it (log_writer.h); readers walk its pages themselves, on copies of them: so they never wait for the writer,
 * nor it for them, and any number of them may be in a process, and on media that can't be written. */
#ifndef IDX_LIBIDX_LOG_READER_H
#define IDX_LIBIDX_LOG_READER_H

#include <idx.h>
#include <sys/types.h>

#include "format/record.h"
#include "libidx/lmdb/document_pages.h"

#define IDXI_LOG_NAME "pending.mdb"

/* A reader of the log. One thread at a time. */
struct idxi_log {
    struct idxf_record_rules rules;
    struct idxi_pages pages;
    struct idxi_meta meta;        /* of the transaction that is read */
    struct idxi_database records; /* in this transaction */
    int folder, file;             /* descriptors; file: -1 while there is none */
    dev_t device;                 /* which file it is */
    ino_t inode;
    char *path;
    bool known;       /* to be the log of this index, in a format version that is read */
    bool fetched;     /* pages, since it was checked that they stand */
    uint64_t seen_to; /* the last record that was visited, in a transaction that was read to its end */
    uint64_t seen;    /* that transaction; 0 before */
    uint8_t *levels[IDXI_MAX_DEPTH + 1];   /* copies of pages; the last one of a value */
    size_t capacities[IDXI_MAX_DEPTH + 1]; /* bytes */
};

/* Opens a reader of the log in the index's folder (a descriptor, and the path; both are copied). The log need not be
 * there: it may come later. Errors: IDX_OUT_OF_MEMORY, IDX_IO_ERROR. */
enum idx_status idxi_log_open(struct idxi_log **log, int folder, const char *folder_path,
                              const struct idxf_record_rules *rules, struct idx_error *error);

/* Called for each record, whose ID stays valid during the call; anything but IDX_OK ends the reading, with that status.
 */
typedef enum idx_status (*idxi_record_visitor)(void *context, uint64_t sequence, const struct idxf_record *record,
                                               struct idx_error *error);

/* Visits the records behind `after`, in order, up to the last one of the newest transaction. *last is the number of the
 * last one visited, on an error, too, or `after`; those before an error are sound, but some of their transaction may
 * lack. Where records right behind *last were deleted, *gone is set, and reading ends: a newer manifest says that the
 * segments have them. Reads only what is new, and costs two small reads where nothing is. Where the writer put a new
 * file in the log's place, goes on in that.
 * Errors: IDX_WRONG_SIZE, IDX_BAD_CHECKSUM, IDX_BAD_CONTENT, IDX_FOREIGN_FILE, IDX_NEW_VERSION, IDX_UNSUPPORTED (made
 * on another kind of machine), IDX_OUT_OF_MEMORY, IDX_IO_ERROR, IDX_NO_ACCESS. */
enum idx_status idxi_log_read(struct idxi_log *log, uint64_t after, idxi_record_visitor visit, void *context,
                              uint64_t *last, bool *gone, struct idx_error *error);

/* For a writer, before LMDB opens the file: checks all that LMDB trusts, which is everything but the records. Nobody
 * writes meanwhile. Sets the first and the last record that the log has, both 0 where it has none, and
 * *exists, false where there is no log. Errors: as idxi_log_read. */
enum idx_status idxi_log_check(struct idxi_log *log, bool *exists, uint64_t *first, uint64_t *last,
                               struct idx_error *error);

/* NULL is fine. */
void idxi_log_close(struct idxi_log *log);

#endif
