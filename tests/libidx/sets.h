/* sets.h: sets of fingerprints of every shape, queries near them, and the linear scan that look-ups are compared with.
 */
#ifndef IDX_TESTS_LIBIDX_SETS_H
#define IDX_TESTS_LIBIDX_SETS_H

#include <idx.h>

#include "tests/random.h"

enum shape {
    SHAPE_UNIFORM,
    SHAPE_CLUSTERED, /* many within a few bits of each other */
    SHAPE_PREFIXED,  /* few different front halves */
    SHAPE_SUFFIXED,  /* few different back halves */
    SHAPE_SKEWED,    /* the front bits mostly 0, so that prefixes differ much in how many have them */
    SHAPE_DEAD,      /* half of the bits the same in all, the others in turn */
    SHAPE_DENSE_LOW, /* 0, 1, 2 … */
    SHAPE_DENSE_TOP, /* … 2^f − 1 */
    SHAPE_EQUAL,     /* one, many times */
    SHAPE_ZERO,      /* 0, many times */
    SHAPE_ENDS,      /* 0 and 2^f − 1 */
    SHAPE_ONE,
    SHAPE_NONE,
    SHAPE_COUNT,
};

extern const char *const shape_names[SHAPE_COUNT];

struct set {
    uint64_t *items; /* in no order, some of them more than once */
    size_t count;
    uint64_t *distinct; /* ascending */
    size_t distinct_count;
    unsigned bits;
};

/* The lowest `bits` bits, all 1. */
uint64_t all_ones(unsigned bits);

/* Flips exactly `count` bits, at most `bits`, chosen at random. */
uint64_t flip_bits(uint64_t fingerprint, unsigned bits, unsigned count, uint64_t *seed);

/* About `count` fingerprints; fewer where the shape has it so. */
struct set make_set(enum shape shape, unsigned bits, size_t count, uint64_t seed);

/* Every fingerprint within `radius` of `centre`. */
struct set make_ball(uint64_t centre, unsigned bits, unsigned radius);

/* A set of given items, which are copied. */
struct set set_of(const uint64_t *items, size_t count, unsigned bits);

void free_set(struct set *set);

/* A query: one of the set with up to `most` bits turned, or a random one, or an end of the range. */
uint64_t make_query(const struct set *set, unsigned most, uint64_t *seed);

unsigned count_ones(uint64_t bits);

/* The distinct fingerprints within `distance`, nearest first, then by value, into `matches` (room for all of the set);
 * returns their number. */
size_t scan(const struct set *set, uint64_t query, unsigned distance, struct idx_match *matches);

/* Sorts in that order. */
void sort_matches(struct idx_match *matches, size_t count);

#endif
