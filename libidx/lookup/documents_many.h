/* documents_many.h: the values of the documents of many fingerprints, without their IDs. */
#ifndef IDX_LIBIDX_DOCUMENTS_MANY_H
#define IDX_LIBIDX_DOCUMENTS_MANY_H

#include <idx.h>

/* As idx_list_documents, but lists->numbers has the values of documents (view/documents.h), also with text IDs.
 * The document map alone says which fingerprints there are. */
enum idx_status idxi_value_lists_make(const struct idx_index *index, const uint64_t *fingerprints, size_t count,
                                      const struct idx_document_lists_options *options,
                                      struct idx_document_lists *lists, struct idx_error *error);

#endif
