/* documents.h: goes through the documents of a fingerprint, and finds a document by the value that a document map has
 * for it. */
#ifndef IDX_LIBIDX_DOCUMENTS_H
#define IDX_LIBIDX_DOCUMENTS_H

#include <idx.h>

#include "libidx/view/index.h"

/* Sets *document to the document of a value. With IDX_ID_TEXT a value is a number, counted through the segments and
 * then through the pending records; with IDX_ID_U64 it is the ID; with IDX_ID_NONE it can be anything. It is fastest
 * where numbers ascend. The ID is the cursor's, as with idx_documents_next. Errors: IDX_BAD_CONTENT (there is no such
 * number), IDX_BAD_CHECKSUM, IDX_OUT_OF_MEMORY. */
enum idx_status idxi_documents_get(struct idx_documents *documents, uint64_t value, struct idx_document *document,
                                   struct idx_error *error);

/* Goes to the documents of a fingerprint, which may have none. Sets *at_most to how many there are at most: removed
 * ones are counted, and an integer ID as often as segments and records have it. Errors: IDX_BAD_CHECKSUM,
 * IDX_BAD_CONTENT, IDX_OUT_OF_MEMORY. */
enum idx_status idxi_documents_seek(struct idx_documents *documents, uint64_t fingerprint, uint64_t *at_most,
                                    struct idx_error *error);

/* Returns whether single documents of the current fingerprint were removed, which the cursor skips. */
bool idxi_documents_are_filtered(const struct idx_documents *documents);

/* Sets *value to that of the next document that was not removed, for idxi_documents_get; *found is false at the end. */
enum idx_status idxi_documents_next_value(struct idx_documents *documents, uint64_t *value, bool *found,
                                          struct idx_error *error);

/* Checks that no segment holds the current fingerprint, which has no documents, unless it was removed from there.
 * Errors: as idxi_documents_fail_missing. */
enum idx_status idxi_documents_check_none(const struct idx_documents *documents, struct idx_error *error);

/* Returns IDX_BAD_CONTENT, because the tables have a fingerprint that has no documents. */
enum idx_status idxi_documents_fail_missing(const struct idx_index *index, uint64_t fingerprint,
                                            struct idx_error *error);

/* Returns whether a document has the ID of an item, which is of the index's type. Not for IDX_ID_NONE. */
bool idxi_document_has_id(const struct idx_index *index, const struct idx_document *document,
                          const struct idx_item *item);

/* Called for a document of a segment: its value there, a number or an integer ID, and the bytes of its ID, integers as
 * 8 bytes, little-endian. Anything but IDX_OK ends the visit. */
typedef enum idx_status (*idxi_document_visitor)(void *context, uint64_t value, const uint8_t *id, size_t id_size,
                                                 struct idx_error *error);

/* Visits a fingerprint's documents of one segment, removed ones included, by ascending value; none if the segment does
 * not hold it. Not for IDX_ID_NONE. Returns what the visitor did, where it is not IDX_OK. */
enum idx_status idxi_documents_visit(struct idx_documents *documents, size_t segment, uint64_t fingerprint,
                                     idxi_document_visitor visit, void *context, struct idx_error *error);

#endif
