/* pending_view.h: what a view of pending records says of fingerprints and their documents. Any thread may call these
 * functions, which take no locks and no memory. */
#ifndef IDX_LIBIDX_PENDING_VIEW_H
#define IDX_LIBIDX_PENDING_VIEW_H

#include <idx.h>

#include "format/record.h"
#include "libidx/segment/removed.h"

struct idxi_pending;

/* What a look-up sees: the records with sequence numbers above `after`, up to `last`. A view may be copied. All calls
 * accept one in which nothing is pending. */
struct idxi_pending_view {
    struct idxi_pending *records; /* NULL if nothing is pending */
    uint64_t after, last;
    uint64_t removals; /* how many of the records are removals */
};

/* Returns how many records a view has. */
static inline uint64_t idxi_pending_count_records(const struct idxi_pending_view *view) {
    return view->last - view->after;
}

/* Returns whether a fingerprint has a pending document that was not removed. */
bool idxi_pending_has_document(const struct idxi_pending_view *view, uint64_t fingerprint);

/* Returns which of a fingerprint's documents in segments the records of the view remove: all, some or none. */
enum idxi_removal idxi_pending_get_removal_kind(const struct idxi_pending_view *view, uint64_t fingerprint);

/* Returns whether the records of the view remove the documents with a fingerprint and an ID from the segments. Integer
 * IDs are 8 bytes, little-endian. */
bool idxi_pending_removes_document(const struct idxi_pending_view *view, uint64_t fingerprint, const void *id,
                                   size_t id_size);

/* Iterates over pending documents. An integer ID that was added twice with one fingerprint comes once. */
struct idxi_pending_cursor {
    struct idxi_pending_view view;
    uint32_t next, oldest; /* private: the link to the next record; no record with a lower number counts */
    uint64_t sequence;     /* of the record that idxi_pending_next_document returned last */
};

/* Sets a cursor to the documents of a fingerprint, the oldest first; with IDXF_ID_NONE there are none. Each call of
 * idxi_pending_next_document sets *id, which stays valid as long as the records are held, *id_size, its bytes, and
 * cursor->sequence; or returns false if there are no more. */
void idxi_pending_seek_fingerprint(const struct idxi_pending_view *view, uint64_t fingerprint,
                                   struct idxi_pending_cursor *cursor);
bool idxi_pending_next_document(struct idxi_pending_cursor *cursor, const uint8_t **id, size_t *id_size);

/* Sets *id to the ID of record `number` of the view, counted from 0, and *id_size to its bytes; to NULL and 0 if it has
 * none. The view must have the record. */
void idxi_pending_get_id(const struct idxi_pending_view *view, uint32_t number, const uint8_t **id, size_t *id_size);

/* Sets a cursor to the documents with an ID, the newest first. An integer ID is 8 bytes, little-endian. Each call of
 * idxi_pending_next_fingerprint sets *fingerprint to that of the next document, or returns false if there are no more.
 */
void idxi_pending_seek_id(const struct idxi_pending_view *view, const void *id, size_t id_size,
                          struct idxi_pending_cursor *cursor);
bool idxi_pending_next_fingerprint(struct idxi_pending_cursor *cursor, uint64_t *fingerprint);

/* A pending text of an index with sets. Each value of its sketch is a record. */
struct idxi_pending_text {
    const uint8_t *id;
    size_t id_size;
    const uint8_t *members;
    size_t count;    /* of members */
    uint32_t number; /* of the record of its first value in the view, counted from 0 */
};

/* Sets *text to the text that has record `number` of the view, counted from 0, even if it was removed later. Returns
 * false, and leaves *text as it was, if there is no such record, or it adds no document. */
bool idxi_pending_get_text(const struct idxi_pending_view *view, uint64_t number, struct idxi_pending_text *text);

/* Sets *text to the first text that was not removed and whose first record has at least number `number` in the view,
 * counted from 0. Returns false if there is none; *text is unspecified then. */
bool idxi_pending_find_live_text(const struct idxi_pending_view *view, uint32_t number, struct idxi_pending_text *text);

/* Sets *text to the next text that was not removed, from the newest to the oldest, of a cursor that
 * idxi_pending_seek_id has set. Returns false if there are no more; *text is unspecified then. */
bool idxi_pending_next_text(struct idxi_pending_cursor *cursor, struct idxi_pending_text *text);

/* Returns how many records of the view are removals, by going through all. */
uint64_t idxi_pending_count_removals(const struct idxi_pending_view *view);

/* Is called for a record of a view. Its ID stays valid as long as the records are held; its `members` are not set. Any
 * status but IDX_OK ends the visit, which then returns that status. */
typedef enum idx_status (*idxi_pending_record_visitor)(void *context, uint64_t sequence,
                                                       const struct idxf_record *record, struct idx_error *error);

/* Visits all records of the view by ascending sequence numbers. */
enum idx_status idxi_pending_visit_records(const struct idxi_pending_view *view, idxi_pending_record_visitor visit,
                                           void *context, struct idx_error *error);

/* Visits the records of the view that add a document, or with IDXF_ID_NONE a fingerprint, that was not removed. An
 * integer ID that was added twice with one fingerprint comes twice. */
enum idx_status idxi_pending_visit_documents(const struct idxi_pending_view *view, idxi_pending_record_visitor visit,
                                             void *context, struct idx_error *error);

/* ---- For the other files of pending records ---- */

/* The numbers of a view's records, from `begin` to before `end`. */
struct idxi_pending_range {
    uint32_t begin, end;
};

/* Returns whether the fingerprint whose first record has number `first_record` has a document that was not removed
 * among the records of a range. */
bool idxi_pending_range_has_document(const struct idxi_pending *pending, struct idxi_pending_range range,
                                     uint32_t first_record);

#endif
