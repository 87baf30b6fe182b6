/* pending.h: pending records in memory. Records are only appended, by one thread at a time. Any number of other threads
 * look up in views of them (pending_view.h, pending_find.h), which never change. Look-ups never wait. */
#ifndef IDX_LIBIDX_PENDING_H
#define IDX_LIBIDX_PENDING_H

#include <idx.h>

#include "format/record.h"
#include "libidx/log/log_reader.h"

struct idxi_pending;

/* Makes an empty `struct idxi_pending`, held once, for the records behind sequence number `after`. `rules`, which are
 * copied, and `k` are the index's. About `expected` records will be appended before idxi_pending_make_runs, and
 * `expected_total` over time; 0 where that is unknown. No views may be made before idxi_pending_make_runs. Errors:
 * IDX_OUT_OF_MEMORY; *pending is NULL then. */
enum idx_status idxi_pending_new(struct idxi_pending **pending, const struct idxf_record_rules *rules, unsigned k,
                                 uint64_t after, uint64_t expected, uint64_t expected_total, struct idx_error *error);

/* Makes the sorted runs (pending_records.h) of the records appended so far, unless there are runs already. Views may be
 * made from then on. Errors: IDX_OUT_OF_MEMORY; a later call begins again. */
enum idx_status idxi_pending_make_runs(struct idxi_pending *pending, struct idx_error *error);

/* Adds a hold of the records, and releases one: the last release frees them. `pending` may be NULL. Any thread may call
 * these. */
void idxi_pending_hold(struct idxi_pending *pending);
void idxi_pending_release(struct idxi_pending *pending);

/* Returns the sequence number of the last record, or the `after` of idxi_pending_new if there is none. Any thread may
 * call it. */
uint64_t idxi_pending_get_last_sequence(const struct idxi_pending *pending);

/* Appends a record, which must keep the rules, under the next sequence number. If `map` is NULL, copies its ID.
 * Otherwise a text ID must be in that map, behind the four bytes of its length: it is used there, and the map is held.
 * If *pending is full, another `struct idxi_pending` with the same records takes its place, and the caller's hold
 * passes to that one; so views need a hold of their own. One thread at a time. After an error, the records are as
 * before. Errors: IDX_OUT_OF_MEMORY, IDX_LIMIT (there are 2^32 - 1 records, and only a compaction allows more). */
enum idx_status idxi_pending_append_record(struct idxi_pending **pending, const struct idxf_record *record,
                                           struct idxi_log_map *map, struct idx_error *error);

/* Appends one addition for each value of the sketch of a text, whose IDXF_ADD_TEXT record this is. All of them use one
 * ID and one array of members: those of the record, which must be in `map`, or if `map` is NULL, those of one copy.
 * After an error, some of them may have been appended. Otherwise as idxi_pending_append_record. */
enum idx_status idxi_pending_append_text(struct idxi_pending **pending, const struct idxf_record *record,
                                         struct idxi_log_map *map, struct idx_error *error);

/* Returns the map that has the text ID of a record that idxi_pending_visit_records visits, or NULL if the ID is in no
 * map because it was copied. The records keep their hold of the map. */
struct idxi_log_map *idxi_pending_find_map_of_id(const struct idxi_pending *pending, const struct idxf_record *record);

/* Prefetches the memory that appending the record will read and write. Call it some records ahead, on the thread that
 * appends. */
void idxi_pending_prefetch_append(const struct idxi_pending *pending, const struct idxf_record *record);

/* Returns how many bytes of memory are allocated for the records; 0 for NULL. Any thread may call it. */
size_t idxi_pending_get_bytes(const struct idxi_pending *pending);

#endif
