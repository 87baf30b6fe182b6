/* documents_many.h: the values of the documents of many fingerprints, without their IDs. */
#ifndef IDX_LIBIDX_DOCUMENTS_MANY_H
#define IDX_LIBIDX_DOCUMENTS_MANY_H

#include <idx.h>

/* Does what idx_list_documents does, but lists->numbers has the values of documents (view/documents.h), also with text
 * IDs. A fingerprint that the document map lacks has no documents: the tables are not asked. */
enum idx_status idxi_list_document_values(const struct idx_index *index, const uint64_t *fingerprints, size_t count,
                                          const struct idx_document_lists_options *options,
                                          struct idx_document_lists *lists, struct idx_error *error);

#endif
