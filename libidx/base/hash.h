/* hash.h: hashes that spread fingerprints and IDs evenly, however skewed they are. */
#ifndef IDX_LIBIDX_HASH_H
#define IDX_LIBIDX_HASH_H

#include <stdint.h>

#include "format/bytes.h"
#include "format/checksum.h"

/* The hash of a fingerprint that idx_shard uses. */
static inline uint64_t idxi_hash(uint64_t fingerprint) {
    uint8_t bytes[8];
    idxf_store64(bytes, fingerprint);
    return idxf_checksum(bytes, sizeof bytes);
}

/* The hashes of IDs, the keys of a map from IDs (SPEC.md, chapter 9). */
static inline uint64_t idxi_id_hash(const void *id, size_t length) { return idxf_checksum(id, length); }
static inline uint64_t idxi_id_hash_u64(uint64_t id) { return idxi_hash(id); }

#endif
