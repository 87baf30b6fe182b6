/* shard.c: idx_shard: the shard that a fingerprint belongs to. */
#include "libidx/base/hash.h"

#include <idx.h>

#include "format/directory.h"

uint64_t idx_shard(uint64_t fingerprint, uint64_t shards) {
    return (uint64_t)((idxf_uint128)idxi_hash(fingerprint) * shards >> 64);
}
