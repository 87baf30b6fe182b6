/* replay.h: replays the log of an index into memory, once for all views that share it. It has the reader of the log,
 * and the records that were read so far. */
#ifndef IDX_LIBIDX_REPLAY_H
#define IDX_LIBIDX_REPLAY_H

#include "format/manifest.h"
#include "libidx/log/pending_view.h"

struct idxi_replay;

/* Makes a replay, held once, that has read nothing yet, for the records behind `sequence`, the last record in the
 * manifest's segments. `rules`, which are copied, and `k` are the index's. Errors: IDX_OUT_OF_MEMORY. */
enum idx_status idxi_replay_new(struct idxi_replay **replay, const struct idxf_record_rules *rules, unsigned k,
                                uint64_t sequence, struct idx_error *error);

/* Adds a hold of a replay, and releases one: the last release frees it. `replay` may be NULL. Any thread may call
 * these. */
void idxi_replay_hold(struct idxi_replay *replay);
void idxi_replay_release(struct idxi_replay *replay);

/* Makes the replay one of the records behind `sequence`, the last record in the segments of a newer manifest, or of the
 * same one. Returns false, and changes nothing, if these records are not all in memory: then open a new replay. Older
 * views can't read on, but keep the records that they have. Any thread may call it. */
bool idxi_replay_follow_manifest(struct idxi_replay *replay, uint64_t sequence);

/* Reads what is new in the log that `entry` names, if it says that there is one, in the index's folder (a descriptor,
 * and its path). Sets *view to all records behind `sequence`, held once for the caller (idxi_pending_release).
 * `sequence` and `entry` are those of the manifest that the caller has read, so which log is read does not depend on
 * what other views know. Any thread may call it: other readers of the log wait, look-ups do not. If nothing is new, it
 * reads a few bytes once; but after a compaction such calls move what is still pending to memory of its own, some
 * milliseconds each. After an error, *view is as before. Errors: as idxi_log_open and idxi_log_visit_records;
 * IDX_BAD_CONTENT also if the manifest is outdated; IDX_LIMIT. */
enum idx_status idxi_replay_read_log(struct idxi_replay *replay, int folder, const char *folder_path, uint64_t sequence,
                                     const struct idxf_manifest_log *entry, struct idxi_pending_view *view,
                                     struct idx_error *error);

/* Sets about how many records will be pending before they are compacted, so that large enough hash tables are made;
 * they are smaller as long as there are few records. Any thread may call it. */
void idxi_replay_expect_records(struct idxi_replay *replay, uint64_t records);

/* Prefetches the memory that appending the record will read and write, unless it is a text, or there are no records
 * yet. Call it some records ahead, on the thread that appends. */
void idxi_replay_prefetch_append(const struct idxi_replay *replay, const struct idxf_record *record);

/* For the writer, whose replay no other view shares: appends a record that is not yet in the log behind the last one of
 * *view, and changes *view to have it. The ID and the members are copied. If the records move to other memory, the
 * view's hold passes to that. Errors: IDX_OUT_OF_MEMORY, IDX_LIMIT. */
enum idx_status idxi_replay_append_record(struct idxi_replay *replay, const struct idxf_record *record,
                                          struct idxi_pending_view *view, struct idx_error *error);

#endif
