/* log_reader.h: reads pending.log, the log of what is added to an index and removed from it (SPEC.md, chapter 10). A
 * reader goes on from where it stopped, with positioned reads and without locks. So readers and the writer never wait
 * for each other, a process may have any number of readers, and the file may be on read-only media. */
#ifndef IDX_LIBIDX_LOG_READER_H
#define IDX_LIBIDX_LOG_READER_H

#include <idx.h>
#include <stdatomic.h>

#include "format/log.h"
#include "libidx/segment/manifest_file.h"

/* The mapped file of a log. Text IDs of pending records are not copied, but read from there. Up to the capacity, more
 * of the file is mapped behind what was mapped before. Zeros follow, so that reading an ID stays within memory even if
 * its length changes in the file. */
struct idxi_log_map {
    atomic_size_t holders;
    size_t size, capacity; /* bytes of the file that are mapped now, and that can be mapped at most */
    size_t zeros_behind;   /* bytes of zeros behind the capacity */
    uint8_t *bytes;
};

/* Releases a hold of a map. The last holder unmaps it. `map` may be NULL. Any thread may call it. */
void idxi_log_map_release(struct idxi_log_map *map);

/* A reader of the log, for one thread at a time. A closed one is all zeros, except that `file` is -1. */
struct idxi_log {
    struct idxf_record_rules rules;
    struct idxf_log header;
    struct idxf_log_place place;        /* where to read on: behind the last frame that was read */
    struct idxf_log_place acknowledged; /* behind the last frame that is known to be on disk */
    unsigned slot;                      /* 0 or 1: the slot of the file that has `acknowledged` */
    uint64_t manifest_last;             /* the manifest says that there is a record with this sequence number */
    bool torn;                          /* whether there are bytes at the place that are no whole frame */
    int file;                           /* descriptor */
    char *path;
    struct idxi_log_map *map; /* has the text IDs of the records visited last; NULL before that */
    uint8_t *buffer; /* its bytes from buffer_begin to before buffer_end are those of the file from `place` on */
    size_t buffer_begin, buffer_end, buffer_capacity;
};

/* Opens the log in the folder of an index (a descriptor, and its path), to read the records behind number `after`, but
 * reads none yet. `rules` are those that the records of the index keep (idxi_index_get_rules); they are copied. `entry`
 * is what the manifest says of the log. Call idxi_log_close even after an error. Errors:
 * - IDX_MISSING_FILE, IDX_FOREIGN_FILE (it is another index's log, or another log of this index);
 * - IDX_BAD_CONTENT (records between `after` and the first one of the log are missing);
 * - IDX_WRONG_SIZE, IDX_BAD_CHECKSUM, IDX_NEW_VERSION;
 * - IDX_OUT_OF_MEMORY, IDX_IO_ERROR, IDX_NO_ACCESS. */
enum idx_status idxi_log_open(struct idxi_log *log, int folder, const char *folder_path,
                              const struct idxf_record_rules *rules, const struct idxf_manifest_log *entry,
                              uint64_t after, struct idx_error *error);

/* Checks, as idxi_log_open does, that no records are missing between record `after` and the first one of the log: its
 * number is at most `after` + 1. Errors: IDX_BAD_CONTENT. */
enum idx_status idxi_log_check_no_gap(const struct idxi_log *log, uint64_t after, struct idx_error *error);

/* Returns whether an open log is the one that the manifest's entry describes, with the same ID and first record, or the
 * next log, which replaced that one. */
bool idxi_log_belongs_to(const struct idxi_log *log, const struct idxf_manifest_log *entry);

/* Is called for each record. If the index has text IDs or sets, the ID and the members are in the log's map: they stay
 * valid as long as the map is held, and four bytes with its length precede a text ID. Otherwise the ID is valid during
 * the call only. Any status but IDX_OK ends the reading with that status. */
typedef enum idx_status (*idxi_record_visitor)(void *context, const struct idxf_record *record,
                                               struct idx_error *error);

/* Is called for each record some records before it is visited, to prefetch what the visitor will need. */
typedef void (*idxi_record_prefetcher)(void *context, const struct idxf_record *record);

/* Visits the records behind number `after`, in order, up to the end of the last whole frame, which may not be on disk
 * yet. `after` is the number of the last record that was visited, or a greater one. `prefetch` may be NULL, and so may
 * `visit` if `after` is IDXF_MAX_SEQUENCE: then all frames are checked. If nothing is new, this is one read of some
 * bytes. Errors: IDX_BAD_CHECKSUM, IDX_BAD_CONTENT (a record breaks a rule, or the last records of the manifest are
 * missing), IDX_WRONG_SIZE (the file became shorter), IDX_OUT_OF_MEMORY, IDX_IO_ERROR; a status of the visitor. */
enum idx_status idxi_log_visit_records(struct idxi_log *log, uint64_t after, idxi_record_prefetcher prefetch,
                                       idxi_record_visitor visit, void *context, struct idx_error *error);

/* Empties the buffer, so that idxi_log_read_frame sees what was appended to the file since. */
void idxi_log_empty_buffer(struct idxi_log *log);

/* Reads the next whole frame, and moves log->place behind it. *bytes, frame->size of them, belong to the reader and
 * stay valid until the next call. If there are no more whole frames, frame->size is 0, *bytes is not set, and log->torn
 * says whether an incomplete frame follows. Errors: IDX_BAD_CHECKSUM, after which log->place is as before;
 * IDX_OUT_OF_MEMORY, IDX_IO_ERROR. */
enum idx_status idxi_log_read_frame(struct idxi_log *log, struct idxf_frame *frame, uint8_t **bytes,
                                    struct idx_error *error);

/* Closes the log and frees all that the reader has. A closed one may be closed again. */
void idxi_log_close(struct idxi_log *log);

#endif
