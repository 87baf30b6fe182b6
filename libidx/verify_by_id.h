/* verify_by_id.h: whether a segment's two maps are of the same documents. */
#ifndef IDX_LIBIDX_VERIFY_BY_ID_H
#define IDX_LIBIDX_VERIFY_BY_ID_H

#include "libidx/document_map.h"

/* Whether the map from IDs has exactly the entries that the documents make; both maps are ready, and sound in
 * themselves. Takes up to 256 MiB, and a bit an entry. Errors: IDX_BAD_CONTENT (they differ), IDX_BAD_CHECKSUM,
 * IDX_OUT_OF_MEMORY. */
enum idx_status idxi_verify_by_id(const struct idxi_map *documents, const struct idxi_map *by_id,
                                  struct idx_error *error);

#endif
