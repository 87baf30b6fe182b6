/* simhash.c: Hamming distance and the SimHash accumulator (Charikar 2002; WWW 2007, section 2). */
#include <idx.h>

#include <xxhash.h>

#include <string.h>

unsigned idx_distance(uint64_t a, uint64_t b) { return (unsigned)__builtin_popcountll(a ^ b); }

void idx_simhash_init(struct idx_simhash *simhash) { memset(simhash, 0, sizeof *simhash); }

void idx_simhash_add(struct idx_simhash *simhash, const void *feature, size_t length, int64_t weight) {
    idx_simhash_add_hash(simhash, XXH3_64bits(feature, length), weight);
}

/* Unsigned, so that sums beyond the promised range wrap around instead of being undefined. Two bits go side by side
 * because they fill a 128-bit register, and each is shifted by a constant, since plain x86-64 has no shifts by a
 * vector: 35 ns a feature instead of 75. */
void idx_simhash_add_hash(struct idx_simhash *simhash, uint64_t hash, int64_t weight) {
    uint64_t *sums = (uint64_t *)simhash->sums;
    uint64_t lanes[2] = {hash, hash >> 1};
    for (unsigned i = 0; i < IDX_MAX_BITS; i += 2) {
        for (unsigned j = 0; j < 2; j++) {
            uint64_t flip = (lanes[j] & 1) - 1; /* all ones where the bit is 0: (weight ^ flip) - flip is -weight */
            sums[i + j] += ((uint64_t)weight ^ flip) - flip;
            lanes[j] >>= 2;
        }
    }
}

uint64_t idx_simhash_finish(const struct idx_simhash *simhash, unsigned bits) {
    if (bits < 1 || bits > IDX_MAX_BITS) bits = IDX_MAX_BITS;
    uint64_t fingerprint = 0;
    for (unsigned i = 0; i < bits; i++) fingerprint |= (uint64_t)(simhash->sums[i] > 0) << i;
    return fingerprint;
}
