/* pending.h: pending records in memory. Records are only appended, by one thread at a time. Any number of other threads
 * look up in views of them (pending_view.h, pending_find.h), which never change. Look-ups never wait. */
#ifndef IDX_LIBIDX_PENDING_H
#define IDX_LIBIDX_PENDING_H

#include <idx.h>

#include "format/record.h"
#include "libidx/log/log_reader.h"

struct idxi_pending;

/* Makes an empty `struct idxi_pending`, held once, for the records behind number `after`. About `expected` of them are
 * appended before idxi_pending_settle, and `expected_in_all` over time; 0 where that is unknown. `k` is the index's. No
 * views may be made before idxi_pending_settle. Errors: IDX_OUT_OF_MEMORY. */
enum idx_status idxi_pending_new(struct idxi_pending **pending, const struct idxf_record_rules *rules, unsigned k,
                                 uint64_t after, uint64_t expected, uint64_t expected_in_all, struct idx_error *error);

/* Sorts the records, unless that was done before, so that views may be made. Errors: IDX_OUT_OF_MEMORY. */
enum idx_status idxi_pending_settle(struct idxi_pending *pending, struct idx_error *error);

/* Adds a hold of the records, and releases one: the last holder frees them. NULL is fine. From any thread. */
void idxi_pending_hold(struct idxi_pending *pending);
void idxi_pending_release(struct idxi_pending *pending);

/* Returns the sequence number of the last record. From any thread. */
uint64_t idxi_pending_get_last(const struct idxi_pending *pending);

/* Appends a record, which must keep the rules, under the next sequence number. Its ID is copied if `map` is NULL.
 * Otherwise a text ID is in that map, behind its length: it is used there, and the map is held. If *pending is full,
 * another `struct idxi_pending` with the same records takes its place, and the caller's hold passes to that one; so
 * views need a hold of their own. One thread at a time. Nothing has changed after an error: IDX_OUT_OF_MEMORY,
 * IDX_LIMIT (there are 2^32 - 1 records, and only a compaction makes room for more). */
enum idx_status idxi_pending_append_record(struct idxi_pending **pending, const struct idxf_record *record,
                                           struct idxi_log_map *map, struct idx_error *error);

/* Appends the additions that the record of a text represents, which share its bytes: those in the map, or a copy. After
 * an error, some of them may be there. Otherwise as idxi_pending_append_record. */
enum idx_status idxi_pending_append_text(struct idxi_pending **pending, const struct idxf_record *record,
                                         struct idxi_log_map *map, struct idx_error *error);

/* Returns the map that has the text ID of a record of idxi_pending_visit_records, or NULL if the ID was copied. */
struct idxi_log_map *idxi_pending_find_map_of_id(const struct idxi_pending *pending, const struct idxf_record *record);

/* Prefetches the memory that appending the record will read and write. Call it some records ahead, on the thread that
 * appends. */
void idxi_pending_prefetch_append(const struct idxi_pending *pending, const struct idxf_record *record);

/* Returns how many bytes of memory are allocated for the records; 0 for NULL. From any thread. */
size_t idxi_pending_get_bytes(const struct idxi_pending *pending);

#endif
