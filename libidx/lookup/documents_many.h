/* documents_many.h: the values of the documents of many fingerprints, without their IDs. */
#ifndef IDX_LIBIDX_DOCUMENTS_MANY_H
#define IDX_LIBIDX_DOCUMENTS_MANY_H

#include <idx.h>

/* Does what idx_list_documents does, but sets lists->numbers to the values of documents (view/documents.h), even with
 * text IDs, and lists no IDs. A fingerprint that the document maps lack has no documents; that is not an error here, as
 * the tables are not searched for it. Close *lists by idx_document_lists_close. Errors: as idx_list_documents. */
enum idx_status idxi_list_document_values(const struct idx_index *index, const uint64_t *fingerprints, size_t count,
                                          const struct idx_document_lists_options *options,
                                          struct idx_document_lists *lists, struct idx_error *error);

#endif
