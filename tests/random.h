/* random.h: the random numbers of tests: the same in each run. */
#ifndef IDX_TESTS_RANDOM_H
#define IDX_TESTS_RANDOM_H

#include <stdint.h>

/* SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). Any state will do to begin with. */
static inline uint64_t next_random(uint64_t *state) {
    uint64_t mixed = *state += UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ mixed >> 31;
}

#endif
