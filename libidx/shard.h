/* shard.h: fingerprints spread evenly, however skewed they are. */
#ifndef IDX_LIBIDX_SHARD_H
#define IDX_LIBIDX_SHARD_H

#include <stdint.h>

#include "format/bytes.h"
#include "format/checksum.h"

/* The hash of a fingerprint that idx_shard tells of. */
static inline uint64_t idxi_hash(uint64_t fingerprint) {
    uint8_t bytes[8];
    idxf_store64(bytes, fingerprint);
    return idxf_checksum(bytes, sizeof bytes);
}

#endif
