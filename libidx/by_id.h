/* by_id.h: the hashes of IDs, which a map from IDs leads from (SPEC.md, chapter 8). */
#ifndef IDX_LIBIDX_BY_ID_H
#define IDX_LIBIDX_BY_ID_H

#include "libidx/shard.h"

static inline uint64_t idxi_id_hash(const void *id, size_t length) { return idxf_checksum(id, length); }

static inline uint64_t idxi_id_hash_u64(uint64_t id) { return idxi_hash(id); }

#endif
