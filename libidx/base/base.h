/* base.h: what all of libidx rests on: errors, memory, threads, files and locks, and hashes. */
#ifndef IDX_LIBIDX_BASE_H
#define IDX_LIBIDX_BASE_H

#include "format/bytes.h"
#include "format/checksum.h"
#include "libidx/base/error.h"
#include "libidx/base/file.h"
#include "libidx/base/lock.h"
#include "libidx/base/memory.h"
#include "libidx/base/parallel.h"

/* ---- Hashes ---- */

/* Returns a 64-bit hash of a fingerprint. Hashes are evenly spread even where fingerprints are not. The function must
 * never change: the shards that idx_shard assigns depend on it. */
static inline uint64_t idxi_hash_fingerprint(uint64_t fingerprint) {
    uint8_t bytes[8];
    idxf_store64(bytes, fingerprint);
    return idxf_checksum(bytes, sizeof bytes);
}

/* Returns the hash of an ID of `length` bytes, its key in a map from IDs (SPEC.md, chapter 9). */
static inline uint64_t idxi_hash_id(const void *id, size_t length) { return idxf_checksum(id, length); }

/* Returns the hash of an integer ID: that of its 8 little-endian bytes. */
static inline uint64_t idxi_hash_u64_id(uint64_t id) { return idxi_hash_fingerprint(id); }

/* Returns the lesser of two numbers. */
static inline uint64_t idxi_min(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* ---- Combinations ---- */

/* Returns the binomial coefficient C(n, r): in how many ways r of n things can be chosen; 0 where r is more than n. */
static inline double idxi_count_combinations(unsigned n, unsigned r) {
    double product = 1;
    for (unsigned i = 0; i < r; i++) product = product * (n - i) / (i + 1);
    return r > n ? 0 : product;
}

/* Returns the number of ways to flip at most `radius` of `bits` bits: the sum of C(bits, i) for i from 0 to radius. */
static inline double idxi_count_patterns(unsigned bits, unsigned radius) {
    double sum = 0;
    for (unsigned i = 0; i <= radius && i <= bits; i++) sum += idxi_count_combinations(bits, i);
    return sum;
}

#endif
