/* sets.h: sets of fingerprints of many kinds, to make blocks of. */
#ifndef IDX_TESTS_FORMAT_SETS_H
#define IDX_TESTS_FORMAT_SETS_H

#include "format/bytes.h"
#include "tests/format/testing.h"

enum { MAX_SET = 4000 };

static inline int compare_fingerprints(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Sorts, drops equal ones and aligns them left. */
static inline size_t finish_set(uint64_t *set, size_t count, unsigned bits) {
    size_t made = 0;
    qsort(set, count, sizeof *set, compare_fingerprints);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || set[i] << (64 - bits) != set[made - 1]) set[made++] = set[i] << (64 - bits);
    }
    return made;
}

enum shape {
    DENSE,     /* one after the other */
    SPARSE,    /* spread evenly */
    CLUSTERED, /* near some of them */
    SKEWED,    /* small ones mostly */
    STEPS,     /* all equally far apart */
    JUMPS,     /* runs of neighbours, with gaps of any size */
    SHAPES
};

static inline uint64_t next_of_shape(enum shape shape, size_t i, uint64_t *near, uint64_t step, uint64_t *random) {
    uint64_t any = next_random(random);
    switch (shape) {
        case DENSE: return *near + i;
        case SPARSE: return any;
        case SKEWED: return any >> next_random(random) % 64;
        case STEPS: return *near += step;
        case JUMPS: return *near += any % 16 == 0 ? next_random(random) >> any / 16 % 64 : 1 + any / 16 % 3;
        default:
            if (i % 20 == 0) *near = any;
            return *near ^ UINT64_C(1) << any % 64;
    }
}

/* At most `most` fingerprints, 3 to MAX_SET, ascending and left-aligned, the first and the last value with them half of
 * the time. Returns their number. */
static inline size_t make_set(enum shape shape, unsigned bits, size_t most, uint64_t *random, uint64_t *set) {
    uint64_t all = idxf_low_bits(bits), near = next_random(random);
    uint64_t step = 1 + next_random_of_any_size(random);
    size_t count = 1 + (size_t)(next_random(random) % (most - 2));
    for (size_t i = 0; i < count; i++) set[i] = next_of_shape(shape, i, &near, step, random) & all;
    if (next_random(random) % 2) {
        set[count++] = 0;
        set[count++] = all;
    }
    return finish_set(set, count, bits);
}

#endif
