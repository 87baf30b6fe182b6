/* verify_map.h: checks a document map, or a map from IDs. */
#ifndef IDX_LIBIDX_VERIFY_MAP_H
#define IDX_LIBIDX_VERIFY_MAP_H

#include "libidx/segment/document_map.h"
#include "libidx/verify/fingerprint_set.h"

/* Checks all that SPEC.md requires of an open map by itself, and that it has the fingerprints that are expected, if
 * they are known. Errors: IDX_BAD_CHECKSUM, IDX_BAD_CONTENT, IDX_OUT_OF_MEMORY. */
enum idx_status idxi_verify_map(struct idxi_map *map, const struct idxi_fingerprint_set *expected,
                                struct idx_error *error);

#endif
