/* pending.h: records in memory, found by distance, fingerprint and ID. Records are only appended, by one thread at a
 * time. Any number of other threads look up in views of the records. A view never waits, and does not change as long as
 * it lives. */
#ifndef IDX_LIBIDX_PENDING_H
#define IDX_LIBIDX_PENDING_H

#include <idx.h>

#include "format/record.h"
#include "libidx/log/log_reader.h"
#include "libidx/segment/removed.h"

struct idxi_pending;

/* What a look-up sees: the records with after < sequence <= last. Plain values, to be copied. */
struct idxi_pending_view {
    struct idxi_pending *records; /* NULL: nothing is pending */
    uint64_t after, last;
    uint64_t removals; /* of the records, those that remove */
};

/* Makes an empty one, held once, for records behind `after`, of which about `expected` are to be appended at once, and
 * `room` over time, as far as that is known. `k` is the index's. No views of it may be made before idxi_pending_settle.
 * Errors: IDX_OUT_OF_MEMORY. */
enum idx_status idxi_pending_new(struct idxi_pending **pending, const struct idxf_record_rules *rules, unsigned k,
                                 uint64_t after, uint64_t expected, uint64_t room, struct idx_error *error);

/* Sorts the records that have been appended at once, for views. Does nothing where that was done before. Errors:
 * IDX_OUT_OF_MEMORY. */
enum idx_status idxi_pending_settle(struct idxi_pending *pending, struct idx_error *error);

/* Does one of at most k + 1 parts of that. Nothing may be appended until *settled is true. */
enum idx_status idxi_pending_settle_part(struct idxi_pending *pending, bool *settled, struct idx_error *error);

/* Holds it once more, and once less: the last one frees it. NULL is fine. From any thread. */
void idxi_pending_hold(struct idxi_pending *pending);
void idxi_pending_release(struct idxi_pending *pending);

/* The records so far. From any thread. */
uint64_t idxi_pending_last(const struct idxi_pending *pending);

/* Appends the record after the last one, which must keep the rules. Its ID is copied; but a text stays where it is,
 * behind its length, if it is in `map` (NULL: it is not), which is held then. One thread at a time. Where *pending is
 * full, another one with the same records takes its place, and the caller's hold is of that one; views of the former
 * one need a hold of their own. Nothing is changed on an error: IDX_OUT_OF_MEMORY, IDX_LIMIT (2^32 - 1 records; make a
 * new one then, after compaction). */
enum idx_status idxi_pending_append(struct idxi_pending **pending, const struct idxf_record *record,
                                    struct idxi_log_map *map, struct idx_error *error);

/* The map that the ID of a record of these is in; NULL: it was copied. */
struct idxi_log_map *idxi_pending_map_of(const struct idxi_pending *pending, const struct idxf_record *record);

/* Asks memory for what appending the record reads and writes: worth it some records ahead. Who appends calls it. */
void idxi_pending_expect(const struct idxi_pending *pending, const struct idxf_record *record);

/* Bytes allocated. From any thread. */
size_t idxi_pending_bytes(const struct idxi_pending *pending);

/* ---- Looking up: from any thread, no locks, no allocation ---- */

/* Called for a match with query number `query`; returns false to stop. */
typedef bool (*idxi_match_visitor)(void *context, size_t query, const struct idx_match *match);

/* Visits, for each of `count` queries in turn, every fingerprint within `distance` (up to k) that has a pending
 * document, each once, in no particular order. Faster for many queries at once. Returns false where a visitor did. */
bool idxi_pending_find(const struct idxi_pending_view *view, const uint64_t *queries, size_t count, unsigned distance,
                       idxi_match_visitor visit, void *context);

/* Asks memory for what finding the matches of a query reads: worth it some hundred nanoseconds ahead, for few queries.
 */
void idxi_pending_prefetch(const struct idxi_pending_view *view, uint64_t query, unsigned distance);

/* Whether a fingerprint has a pending document. */
bool idxi_pending_holds(const struct idxi_pending_view *view, uint64_t fingerprint);

/* What the records say of a fingerprint's documents in segments. */
enum idxi_removal idxi_pending_removal(const struct idxi_pending_view *view, uint64_t fingerprint);

/* Whether a document in the segments was removed. */
bool idxi_pending_removes(const struct idxi_pending_view *view, uint64_t fingerprint, const void *id, size_t id_size);

/* Pending documents, one after the other, those added first first; of an integer ID given twice to one fingerprint,
 * one.
 */
struct idxi_pending_cursor {
    struct idxi_pending_view view;
    uint32_t next, floor; /* private */
    uint64_t sequence;    /* of the record that idxi_pending_next gave last */
};

/* Those of a fingerprint. idxi_pending_next sets *id, which lives as long as the pending records do, and returns
 * false behind the last one. */
void idxi_pending_documents(const struct idxi_pending_view *view, uint64_t fingerprint,
                            struct idxi_pending_cursor *cursor);
bool idxi_pending_next(struct idxi_pending_cursor *cursor, const uint8_t **id, size_t *id_size);

/* The ID of record `number` of the view, from 0 on; one without has 0 bytes. */
void idxi_pending_id(const struct idxi_pending_view *view, uint32_t number, const uint8_t **id, size_t *id_size);

/* The fingerprints of the pending documents with an ID, newest first: a fingerprint comes once for each document. */
void idxi_pending_fingerprints(const struct idxi_pending_view *view, const void *id, size_t id_size,
                               struct idxi_pending_cursor *cursor);
bool idxi_pending_next_fingerprint(struct idxi_pending_cursor *cursor, uint64_t *fingerprint);

/* The records of the view that remove. */
uint64_t idxi_pending_count_removals(const struct idxi_pending_view *view);

/* Visits all records of the view, in order: what compaction reads. Returns what the visitor did, where it is not
 * IDX_OK. */
typedef enum idx_status (*idxi_pending_record_visitor)(void *context, uint64_t sequence,
                                                       const struct idxf_record *record, struct idx_error *error);
enum idx_status idxi_pending_visit(const struct idxi_pending_view *view, idxi_pending_record_visitor visit,
                                   void *context, struct idx_error *error);

/* ---- For tests ---- */

/* The ways to scan up to 64 folded candidates, the fastest last. They set a bit for each that is near the query. */
typedef uint64_t idxi_pending_scan(const uint32_t *folded, size_t count, uint32_t query, unsigned distance);
#define IDXI_PENDING_SCANS 3
size_t idxi_pending_scans(idxi_pending_scan *scans[IDXI_PENDING_SCANS]);

#endif
