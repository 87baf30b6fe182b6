/* verify_by_id.h: checks that the two maps of a segment hold the same documents. */
#ifndef IDX_LIBIDX_VERIFY_BY_ID_H
#define IDX_LIBIDX_VERIFY_BY_ID_H

#include "libidx/segment/document_map.h"

/* How many documents are compared at a time; they need 256 MiB. */
#define IDXI_VERIFY_CHUNK ((uint64_t)1 << 23)

/* Checks that the map from IDs has exactly the entries of the documents. Both maps must be ready and valid in
 * themselves. Needs 32 bytes per document of a chunk, and one bit per entry. Errors: IDX_BAD_CONTENT (they differ),
 * IDX_BAD_CHECKSUM, IDX_OUT_OF_MEMORY. */
enum idx_status idxi_verify_by_id(const struct idxi_map *documents, const struct idxi_map *by_id, uint64_t chunk,
                                  struct idx_error *error);

#endif
