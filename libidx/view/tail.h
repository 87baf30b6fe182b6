/* tail.h: what an index has pending, as its views share it: the reader of the log, and the records that came by it so
 * far, in memory. */
#ifndef IDX_LIBIDX_TAIL_H
#define IDX_LIBIDX_TAIL_H

#include "format/manifest.h"
#include "libidx/log/pending.h"

struct idxi_tail;

/* What a view sees of it. */
struct idxi_tail_view {
    struct idxi_pending_view pending; /* pending.pending is NULL while nothing is */
    uint64_t removals;                /* of its records, those that don't add */
};

/* Makes an empty one, held once, of the records behind `sequence`, the manifest's. `k` is the index's.
 * Errors: IDX_OUT_OF_MEMORY. */
enum idx_status idxi_tail_new(struct idxi_tail **tail, const struct idxf_record_rules *rules, unsigned k,
                              uint64_t sequence, struct idx_error *error);

/* Holds it once more, and once less: the last one frees it. NULL is fine. */
void idxi_tail_hold(struct idxi_tail *tail);
void idxi_tail_release(struct idxi_tail *tail);

/* Tells it what the manifest says of the log, the newest that is known. From any thread. */
void idxi_tail_set_log(struct idxi_tail *tail, const struct idxf_manifest_log *entry);

/* Reads what is new in the log, where there is one, in the index's folder (a descriptor, and its path), and sets *view
 * to all of it. From any thread: others that read wait meanwhile, those that look up don't. One read of some bytes
 * where nothing is new. Errors: as idxi_log_open and idxi_log_read, also where the manifest is outdated; IDX_LIMIT. */
enum idx_status idxi_tail_read(struct idxi_tail *tail, int folder, const char *folder_path, struct idxi_tail_view *view,
                               struct idx_error *error);

/* Whether there is a log. */
bool idxi_tail_has_log(struct idxi_tail *tail);

/* Asks memory for what appending the record reads and writes. For who appends, some records ahead. */
void idxi_tail_expect(const struct idxi_tail *tail, const struct idxf_record *record);

/* For the writer, who shares its tail with nobody: appends a record that is to come into the log, after the last one of
 * *view, which sees it at once. Errors: IDX_OUT_OF_MEMORY, IDX_LIMIT. */
enum idx_status idxi_tail_append(struct idxi_tail *tail, const struct idxf_record *record, struct idxi_tail_view *view,
                                 struct idx_error *error);

#endif
