/* log_reader.h: reads pending.log, the log of what is added to an index and removed from it (SPEC.md, chapter 10), by
 * positioned reads from where it stopped: so readers never wait for the writer, nor it for them, and any number of them
 * may be in a process, and on media that can't be written. */
#ifndef IDX_LIBIDX_LOG_READER_H
#define IDX_LIBIDX_LOG_READER_H

#include <idx.h>
#include <stdatomic.h>

#include "format/log.h"
#include "libidx/segment/manifest_file.h"

/* A log's file, mapped: text IDs of records in memory stay there. Where there is room, it grows with the file. Behind
 * it are zeros, so that an ID lies in memory whatever its length has become in the file. */
struct idxi_log_map {
    atomic_size_t holders;
    size_t size, room; /* bytes */
    uint8_t *bytes;
};

/* Lets go of it: the last holder unmaps it. NULL is fine. From any thread. */
void idxi_log_map_release(struct idxi_log_map *map);

/* A reader of the log. One thread at a time. All zeros but for `file`, -1: none. */
struct idxi_log {
    struct idxf_record_rules rules;
    struct idxf_log header;
    struct idxf_log_place place;        /* behind the last frame that was read */
    struct idxf_log_place acknowledged; /* how far frames go at least, as far as that is known */
    unsigned slot;                      /* 0 or 1, that says so */
    uint64_t least;                     /* the last record that there must be, as the manifest says */
    bool torn;                          /* there are bytes at the place that are no frame */
    int file;                           /* descriptor */
    char *path;
    struct idxi_log_map *map; /* of all text IDs that were visited last; NULL: none yet */
    uint8_t *bytes;           /* of the file: those from `begin` on, before `end`, stand from the place on */
    size_t begin, end, capacity;
};

/* Opens the log in the index's folder (a descriptor, and its path), which the manifest says that there is, by `entry`,
 * to read the records behind number `after`; none is read yet. To be closed also after an error. Errors:
 * IDX_MISSING_FILE, IDX_FOREIGN_FILE (another index's, or another log of this one), IDX_BAD_CONTENT (it begins behind
 * `after`), IDX_WRONG_SIZE, IDX_BAD_CHECKSUM, IDX_NEW_VERSION, IDX_OUT_OF_MEMORY, IDX_IO_ERROR, IDX_NO_ACCESS. */
enum idx_status idxi_log_open(struct idxi_log *log, int folder, const char *folder_path,
                              const struct idxf_record_rules *rules, const struct idxf_manifest_log *entry,
                              uint64_t after, struct idx_error *error);

/* Whether it is the log that the manifest means, or came in that one's place. */
bool idxi_log_is_of(const struct idxi_log *log, const struct idxf_manifest_log *entry);

/* Called for each record, whose ID stays valid during the call, or if it is a text, as long as the log's map is held.
 * Behind its length, of 4 bytes, it is as it is in the file. Anything but IDX_OK ends the reading, with that status.
 */
typedef enum idx_status (*idxi_record_visitor)(void *context, const struct idxf_record *record,
                                               struct idx_error *error);

/* Called for each record that is to be visited, some records ahead, so that it can prefetch; or NULL. */
typedef void (*idxi_record_expector)(void *context, const struct idxf_record *record);

/* Visits the records behind number `after`, in order, up to the end of the last frame: those that were acknowledged,
 * and those of a frame that is whole, but perhaps not on disk yet. `after` is the last one that was visited, or above
 * it. Where nothing is new it is one read of some bytes. Errors: IDX_BAD_CHECKSUM, IDX_BAD_CONTENT, IDX_OUT_OF_MEMORY,
 * IDX_IO_ERROR. */
enum idx_status idxi_log_read(struct idxi_log *log, uint64_t after, idxi_record_expector expect,
                              idxi_record_visitor visit, void *context, struct idx_error *error);

/* Begins to read what is new, and then reads frame after frame: *bytes, frame->size of them, stay until the next call;
 * where there is none, frame->size is 0. */
void idxi_log_begin(struct idxi_log *log);
enum idx_status idxi_log_next(struct idxi_log *log, struct idxf_frame *frame, uint8_t **bytes, struct idx_error *error);

void idxi_log_close(struct idxi_log *log);

#endif
