/* random.h: the random numbers of benchmarks: the same in each run. */
#ifndef BENCH_RANDOM_H
#define BENCH_RANDOM_H

#include <stdint.h>

/* The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). */
static inline uint64_t mix(uint64_t value) {
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

/* SplitMix64. */
static inline uint64_t next_random(uint64_t *state) { return mix(*state += UINT64_C(0x9e3779b97f4a7c15)); }

/* xorshift64* (Vigna, 2016). The state must not be 0. */
static inline uint64_t next_xorshift(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

#endif
