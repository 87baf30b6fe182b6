/* verify_by_id.h: whether a segment's two maps are of the same documents. */
#ifndef IDX_LIBIDX_VERIFY_BY_ID_H
#define IDX_LIBIDX_VERIFY_BY_ID_H

#include "libidx/segment/document_map.h"

/* How many documents are compared at a time: what takes 256 MiB. */
#define IDXI_VERIFY_CHUNK ((uint64_t)1 << 23)

/* Whether the map from IDs has exactly the entries that the documents make; both maps are ready, and sound in
 * themselves. Takes 32 bytes for each document of a chunk, and a bit an entry. Errors: IDX_BAD_CONTENT (they differ),
 * IDX_BAD_CHECKSUM, IDX_OUT_OF_MEMORY. */
enum idx_status idxi_verify_by_id(const struct idxi_map *documents, const struct idxi_map *by_id, uint64_t chunk,
                                  struct idx_error *error);

#endif
