/* documents.h: goes through the documents of a fingerprint, and finds a document by the value that a document map has
 * for it. */
#ifndef IDX_LIBIDX_DOCUMENTS_H
#define IDX_LIBIDX_DOCUMENTS_H

#include <idx.h>

#include "libidx/view/index.h"

/* Sets *document to the document with this value, even if it was removed. With IDX_ID_TEXT, the value of a document is
 * its number, counted through all segments and then through the pending records; with IDX_ID_U64 it is the ID; with
 * IDX_ID_NONE it can be anything. Does not move the cursor. Fastest if the values of successive calls ascend. The ID
 * belongs to the cursor, as with idx_documents_next. Errors: IDX_BAD_CONTENT (no document has this number),
 * IDX_BAD_CHECKSUM, IDX_OUT_OF_MEMORY. */
enum idx_status idxi_documents_get(struct idx_documents *documents, uint64_t value, struct idx_document *document,
                                   struct idx_error *error);

/* Goes to the first document of a fingerprint, which may have none. Sets *max_count to an upper bound of the number of
 * its documents: those in segments from which the whole fingerprint was not removed, plus the pending ones. Documents
 * that were removed by their ID are included, and an integer ID may count several times. With IDX_ID_NONE, *max_count
 * is 0. Errors: IDX_BAD_CHECKSUM, IDX_BAD_CONTENT, IDX_OUT_OF_MEMORY. */
enum idx_status idxi_documents_seek(struct idx_documents *documents, uint64_t fingerprint, uint64_t *max_count,
                                    struct idx_error *error);

/* Returns whether the cursor skips documents of the current fingerprint that were removed by their ID. If not,
 * max_count of idxi_documents_seek is exact with text IDs. */
bool idxi_documents_skip_removed(const struct idx_documents *documents);

/* Sets *value to the value, for idxi_documents_get, of the next document that was not removed. Sets *found to false if
 * there are no more; *value is unspecified then. Errors: as idxi_documents_get. */
enum idx_status idxi_documents_next_value(struct idx_documents *documents, uint64_t *value, bool *found,
                                          struct idx_error *error);

/* Call it if idxi_documents_seek found no documents: checks that no segment's tables hold the fingerprint, unless it
 * was removed from that segment. Errors: IDX_BAD_CONTENT (one holds it, so its document map is damaged),
 * IDX_BAD_CHECKSUM. */
enum idx_status idxi_check_no_segment_holds(const struct idx_documents *documents, struct idx_error *error);

/* Reports that the tables, or a map from IDs, have a fingerprint that has no documents. Returns IDX_BAD_CONTENT. */
enum idx_status idxi_documents_fail_missing(const struct idx_index *index, uint64_t fingerprint,
                                            struct idx_error *error);

/* Returns whether a document has the ID of an item. The item's ID must be of the index's type, which is not
 * IDX_ID_NONE. */
bool idxi_document_has_id(const struct idx_index *index, const struct idx_document *document,
                          const struct idx_item *item);

/* Is called for a document of a segment. `value` is its number in that segment, or its integer ID. The `id_size` bytes
 * of its ID, 8 little-endian ones of an integer, are valid during the call. Any status but IDX_OK ends the visit. */
typedef enum idx_status (*idxi_document_visitor)(void *context, uint64_t value, const uint8_t *id, size_t id_size,
                                                 struct idx_error *error);

/* Visits the documents of a fingerprint in segment number `segment`, removed ones included, by ascending value; none if
 * the segment does not hold it. Not for IDX_ID_NONE. Moves the cursor: call idxi_documents_seek before
 * idxi_documents_next_value. Errors: as idxi_documents_get; a status of the visitor. */
enum idx_status idxi_documents_visit(struct idx_documents *documents, size_t segment, uint64_t fingerprint,
                                     idxi_document_visitor visit, void *context, struct idx_error *error);

#endif
