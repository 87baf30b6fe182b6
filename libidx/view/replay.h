/* replay.h: replays the log of an index into memory, once for all views that share it. It has the reader of the log,
 * and the records that were read so far. */
#ifndef IDX_LIBIDX_REPLAY_H
#define IDX_LIBIDX_REPLAY_H

#include "format/manifest.h"
#include "libidx/log/pending_view.h"

struct idxi_replay;

/* Makes a replay, held once, that has yet to read the records behind `sequence`, the manifest's. `k` is the index's.
 * Errors: IDX_OUT_OF_MEMORY. */
enum idx_status idxi_replay_new(struct idxi_replay **replay, const struct idxf_record_rules *rules, unsigned k,
                                uint64_t sequence, struct idx_error *error);

/* Hold a replay once more, and once less: the last release frees it. Accept NULL. */
void idxi_replay_hold(struct idxi_replay *replay);
void idxi_replay_release(struct idxi_replay *replay);

/* Goes on with the records behind `sequence`, which is that of a newer manifest or of the same. Returns false if they
 * are not in memory: a new replay has to read them then. Older views can't read on, but what they have stays. Any
 * thread may call it. */
bool idxi_replay_follow_manifest(struct idxi_replay *replay, uint64_t sequence);

/* Reads what is new in the log that `entry` means, if it means any, in the index's folder (a descriptor, and its path),
 * and sets *view to all records behind `sequence`, held once for the caller (idxi_pending_release). Both are what a
 * manifest says that the caller read: which log is read does not depend on what other views know. Any thread may call
 * it: other readers of the log wait, look-ups do not. If nothing is new, it reads a few bytes once; but after a
 * compaction such calls move what is still pending to memory of its own, some milliseconds each. Errors: as
 * idxi_log_open and idxi_log_visit_records, also where the manifest is outdated; IDX_LIMIT. */
enum idx_status idxi_replay_read_log(struct idxi_replay *replay, int folder, const char *folder_path, uint64_t sequence,
                                     const struct idxf_manifest_log *entry, struct idxi_pending_view *view,
                                     struct idx_error *error);

/* Says about how many records will be pending before they are compacted. Memory that is allocated from now on is for as
 * many, or for few as long as there are few. */
void idxi_replay_expect_records(struct idxi_replay *replay, uint64_t records);

/* Prefetches what appending the record reads and writes: worth it some records ahead, on the thread that appends. */
void idxi_replay_prefetch(const struct idxi_replay *replay, const struct idxf_record *record);

/* For the writer, whose replay no other view shares: appends a record that is to come into the log, after the last one
 * of *view, which has it from now on; the view may hold others then. Errors: IDX_OUT_OF_MEMORY, IDX_LIMIT. */
enum idx_status idxi_replay_append_record(struct idxi_replay *replay, const struct idxf_record *record,
                                          struct idxi_pending_view *view, struct idx_error *error);

#endif
