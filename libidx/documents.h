/* documents.h: documents by the values that document maps hold. */
#ifndef IDX_LIBIDX_DOCUMENTS_H
#define IDX_LIBIDX_DOCUMENTS_H

#include <idx.h>

/* Gives the document of a value: of IDX_ID_TEXT its number, counted on over the segments; of IDX_ID_U64 its ID; of
 * IDX_ID_NONE anything. Fastest where numbers ascend. Its ID is the cursor's, as with idx_documents_next. Errors:
 * IDX_BAD_CONTENT (there is no such number), IDX_BAD_CHECKSUM, IDX_OUT_OF_MEMORY. */
enum idx_status idxi_documents_get(struct idx_documents *documents, uint64_t value, struct idx_document *document,
                                   struct idx_error *error);

#endif
