/* pending.h: pending records in memory, found by distance, fingerprint and ID. Records are only appended, by one thread
 * at a time. Any number of other threads look up in views of the records, which never change. Look-ups never wait. */
#ifndef IDX_LIBIDX_PENDING_H
#define IDX_LIBIDX_PENDING_H

#include <idx.h>

#include "format/record.h"
#include "libidx/log/log_reader.h"
#include "libidx/segment/removed.h"

struct idxi_pending;

/* What a look-up sees: the records with sequence numbers above `after`, up to `last`. A view may be copied. */
struct idxi_pending_view {
    struct idxi_pending *records; /* NULL if nothing is pending */
    uint64_t after, last;
    uint64_t removals; /* how many of the records are removals */
};

/* Makes an empty `struct idxi_pending`, held once, for the records behind number `after`. About `expected` of them are
 * appended before idxi_pending_settle, and `room` in all, over time; 0 where that is unknown. `k` is the index's. No
 * views may be made before idxi_pending_settle. Errors: IDX_OUT_OF_MEMORY. */
enum idx_status idxi_pending_new(struct idxi_pending **pending, const struct idxf_record_rules *rules, unsigned k,
                                 uint64_t after, uint64_t expected, uint64_t room, struct idx_error *error);

/* Sorts the records, unless that was done before, so that views may be made. Errors: IDX_OUT_OF_MEMORY. */
enum idx_status idxi_pending_settle(struct idxi_pending *pending, struct idx_error *error);

/* Does one part of what idxi_pending_settle does, in at most k + 1 calls. *settled becomes true with the last part, and
 * nothing may be appended until then. Errors: IDX_OUT_OF_MEMORY; a later call begins again. */
enum idx_status idxi_pending_settle_part(struct idxi_pending *pending, bool *settled, struct idx_error *error);

/* Adds a hold of the records, and releases one: the last holder frees them. NULL is fine. From any thread. */
void idxi_pending_hold(struct idxi_pending *pending);
void idxi_pending_release(struct idxi_pending *pending);

/* Returns the sequence number of the last record. From any thread. */
uint64_t idxi_pending_last(const struct idxi_pending *pending);

/* Appends a record, which must keep the rules, under the next sequence number. Its ID is copied if `map` is NULL.
 * Otherwise a text ID is in that map, behind its length: it is used there, and the map is held. If *pending is full,
 * another `struct idxi_pending` with the same records takes its place, and the caller's hold passes to that one; so
 * views need a hold of their own. One thread at a time. Nothing has changed after an error: IDX_OUT_OF_MEMORY,
 * IDX_LIMIT (there are 2^32 - 1 records, and only a compaction makes room for more). */
enum idx_status idxi_pending_append(struct idxi_pending **pending, const struct idxf_record *record,
                                    struct idxi_log_map *map, struct idx_error *error);

/* Returns the map that has the text ID of a record of idxi_pending_visit, or NULL if the ID was copied. */
struct idxi_log_map *idxi_pending_map_of(const struct idxi_pending *pending, const struct idxf_record *record);

/* Prefetches what appending the record will read and write. Call it some records ahead, on the thread that appends. */
void idxi_pending_prefetch_append(const struct idxi_pending *pending, const struct idxf_record *record);

/* Returns how many bytes of memory are allocated for the records. From any thread. */
size_t idxi_pending_bytes(const struct idxi_pending *pending);

/* ---- Looking up: from any thread, no locks, no allocation ---- */

/* Is called for a match with query number `query`. Returns false to stop. */
typedef bool (*idxi_match_visitor)(void *context, size_t query, const struct idx_match *match);

/* Visits, for each of `count` queries in turn, all fingerprints within `distance` (0 to k) that have a pending
 * document, each once, in no particular order. Many queries in one call take less time each. Returns false if a visitor
 * did. */
bool idxi_pending_find(const struct idxi_pending_view *view, const uint64_t *queries, size_t count, unsigned distance,
                       idxi_match_visitor visit, void *context);

/* Prefetches what finding a query's matches reads: for few queries at a time, some hundred nanoseconds ahead. */
void idxi_pending_prefetch(const struct idxi_pending_view *view, uint64_t query, unsigned distance);

/* Returns whether a fingerprint has a pending document. */
bool idxi_pending_has_document(const struct idxi_pending_view *view, uint64_t fingerprint);

/* Returns which of a fingerprint's documents in segments the records remove: all, some or none. */
enum idxi_removal idxi_pending_removal(const struct idxi_pending_view *view, uint64_t fingerprint);

/* Returns whether the records remove a document from the segments. */
bool idxi_pending_removes(const struct idxi_pending_view *view, uint64_t fingerprint, const void *id, size_t id_size);

/* Iterates over pending documents. An integer ID that was added twice with one fingerprint comes once. */
struct idxi_pending_cursor {
    struct idxi_pending_view view;
    uint32_t next, oldest; /* private: the link to the next record; no record with a lower number counts */
    uint64_t sequence;     /* of the record that idxi_pending_next returned last */
};

/* Begins with the documents of a fingerprint, the oldest first. idxi_pending_next sets *id, which stays valid as long
 * as the records are held, and *id_size, its bytes; or returns false if there are no more documents. */
void idxi_pending_documents(const struct idxi_pending_view *view, uint64_t fingerprint,
                            struct idxi_pending_cursor *cursor);
bool idxi_pending_next(struct idxi_pending_cursor *cursor, const uint8_t **id, size_t *id_size);

/* Sets *id to the ID of record `number` of the view, counted from 0, and *id_size to its bytes: 0 where it has none. */
void idxi_pending_id(const struct idxi_pending_view *view, uint32_t number, const uint8_t **id, size_t *id_size);

/* Begins with the fingerprints of the documents with an ID, the newest first. A fingerprint comes once per document.
 * idxi_pending_next_fingerprint returns false if there are no more. */
void idxi_pending_fingerprints(const struct idxi_pending_view *view, const void *id, size_t id_size,
                               struct idxi_pending_cursor *cursor);
bool idxi_pending_next_fingerprint(struct idxi_pending_cursor *cursor, uint64_t *fingerprint);

/* Returns how many records of the view are removals. */
uint64_t idxi_pending_count_removals(const struct idxi_pending_view *view);

/* Visits all records of the view by ascending sequence numbers, for compaction. Ends with the first status of the
 * visitor that is not IDX_OK, and returns that. */
typedef enum idx_status (*idxi_pending_record_visitor)(void *context, uint64_t sequence,
                                                       const struct idxf_record *record, struct idx_error *error);
enum idx_status idxi_pending_visit(const struct idxi_pending_view *view, idxi_pending_record_visitor visit,
                                   void *context, struct idx_error *error);

/* ---- For tests ---- */

/* Scans up to 64 folded candidates, and returns a bit for each of them, from the least significant on: 1 if it is
 * within the distance of the folded query. */
typedef uint64_t idxi_pending_scan(const uint32_t *folded, size_t count, uint32_t query, unsigned distance);

/* Sets `scans` to the ways to scan that this processor has, the fastest last, and returns their number. */
#define IDXI_PENDING_SCANS 3
size_t idxi_pending_list_scans(idxi_pending_scan *scans[IDXI_PENDING_SCANS]);

#endif
