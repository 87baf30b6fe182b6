/* near_data.h: fingerprints that are computed from their row numbers alone, so that a billion of them need no memory.
 */
#ifndef BENCH_NEAR_DATA_H
#define BENCH_NEAR_DATA_H

#include "bench/random.h"

/* `value` with `count` different bits flipped, which `seed` chooses. */
static inline uint64_t flip_some(uint64_t value, unsigned count, uint64_t seed) {
    uint64_t flipped = 0;
    while (count > 0) {
        uint64_t bit = UINT64_C(1) << (next_random(&seed) >> 58);
        count -= (flipped & bit) == 0;
        flipped |= bit;
    }
    return value ^ flipped;
}

/* The fingerprint of a row: nine tenths are random and differ from each other, a tenth are copies of those of earlier
 * rows with 1 to k + 3 bits flipped. */
static inline uint64_t fingerprint_of(uint64_t row, unsigned k) {
    if (row % 10 != 9) return mix(row * UINT64_C(0x9e3779b97f4a7c15) + 1);
    uint64_t seed = row ^ UINT64_C(0xc2b2ae3d27d4eb4f), origin = next_random(&seed) % row;
    unsigned count = 1 + (unsigned)(next_random(&seed) % (k + 3));
    return flip_some(fingerprint_of(origin, k), count, seed);
}

#endif
