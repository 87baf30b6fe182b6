/* feature_hash.c: the hashes of features that idx and other programs make SimHashes of. */
#include "libidx/fingerprints/md5.h"

#include <idx.h>
#include <xxhash.h>

static const uint64_t fnv_start = UINT64_C(0xcbf29ce484222325), fnv_prime = UINT64_C(0x100000001b3);

static uint64_t fnv1(const uint8_t *bytes, size_t length) {
    uint64_t hash = fnv_start;
    for (size_t i = 0; i < length; i++) hash = hash * fnv_prime ^ bytes[i];
    return hash;
}

static uint64_t fnv1a(const uint8_t *bytes, size_t length) {
    uint64_t hash = fnv_start;
    for (size_t i = 0; i < length; i++) hash = (hash ^ bytes[i]) * fnv_prime;
    return hash;
}

static uint64_t end_of_md5(const uint8_t *bytes, size_t length) {
    uint8_t digest[IDXI_MD5_BYTES];
    uint64_t hash = 0;
    idxi_md5(bytes, length, digest);
    for (size_t i = IDXI_MD5_BYTES - sizeof hash; i < IDXI_MD5_BYTES; i++) hash = hash << 8 | digest[i];
    return hash;
}

uint64_t idx_hash(enum idx_hash_kind kind, const void *feature, size_t length) {
    switch (kind) {
        case IDX_HASH_FNV1: return fnv1(feature, length);
        case IDX_HASH_FNV1A: return fnv1a(feature, length);
        case IDX_HASH_MD5: return end_of_md5(feature, length);
        case IDX_HASH_XXH3: break;
    }
    return XXH3_64bits(feature, length);
}

const char *idx_hash_name(enum idx_hash_kind kind) {
    switch (kind) {
        case IDX_HASH_XXH3: return "xxh3";
        case IDX_HASH_FNV1: return "fnv1";
        case IDX_HASH_FNV1A: return "fnv1a";
        case IDX_HASH_MD5: return "md5";
    }
    return NULL;
}
