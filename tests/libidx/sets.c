/* sets.c: see sets.h. */
#include "tests/libidx/sets.h"

#include <stdlib.h>
#include <string.h>

#include "tests/libidx/support.h"

const char *const shape_names[SHAPE_COUNT] = {
    [SHAPE_UNIFORM] = "uniform",     [SHAPE_CLUSTERED] = "clustered", [SHAPE_PREFIXED] = "prefixed",
    [SHAPE_SUFFIXED] = "suffixed",   [SHAPE_SKEWED] = "skewed",       [SHAPE_DEAD] = "dead bits",
    [SHAPE_DENSE_LOW] = "dense low", [SHAPE_DENSE_TOP] = "dense top", [SHAPE_EQUAL] = "all equal",
    [SHAPE_ZERO] = "all zero",       [SHAPE_ENDS] = "both ends",      [SHAPE_ONE] = "a single one",
    [SHAPE_NONE] = "none",
};

uint64_t all_ones(unsigned bits) { return UINT64_MAX >> (64 - bits); }

uint64_t flip_bits(uint64_t fingerprint, unsigned bits, unsigned count, uint64_t *seed) {
    for (uint64_t turned = 0; count > 0;) {
        uint64_t bit = UINT64_C(1) << next_random(seed) % bits;
        if (turned & bit) continue;
        turned |= bit;
        fingerprint ^= bit;
        count--;
    }
    return fingerprint;
}

static struct set allocate(unsigned bits, size_t count) {
    struct set set = {.bits = bits, .count = count};
    set.items = calloc(count + 1, sizeof *set.items);
    set.distinct = calloc(count + 1, sizeof *set.distinct);
    assert_non_null(set.items);
    assert_non_null(set.distinct);
    return set;
}

static void sort_distinct(struct set *set) {
    memcpy(set->distinct, set->items, set->count * sizeof *set->items);
    qsort(set->distinct, set->count, sizeof *set->distinct, compare_numbers);
    for (size_t i = 0; i < set->count; i++) {
        if (i == 0 || set->distinct[i] != set->distinct[set->distinct_count - 1])
            set->distinct[set->distinct_count++] = set->distinct[i];
    }
}

static size_t limit_count(enum shape shape, unsigned bits, size_t count) {
    bool dense = shape == SHAPE_DENSE_LOW || shape == SHAPE_DENSE_TOP;
    if (shape == SHAPE_ENDS) return 2;
    if (shape == SHAPE_ONE) return 1;
    if (shape == SHAPE_NONE) return 0;
    return dense && bits < 63 && count > UINT64_C(1) << bits ? (size_t)1 << bits : count;
}

static uint64_t make_item(enum shape shape, const struct set *set, size_t i, uint64_t *seed) {
    uint64_t ones = all_ones(set->bits), low = all_ones((set->bits + 1) / 2), random = next_random(seed);
    switch (shape) {
        case SHAPE_CLUSTERED:
            if (i < 4) return random & ones;
            return flip_bits(set->items[next_random(seed) % i], set->bits, (unsigned)(random % 3) % set->bits, seed);
        case SHAPE_PREFIXED: return ((random & low) | random % 3 << (set->bits / 2)) & ones;
        case SHAPE_SUFFIXED: return ((random & ~low) | random % 3) & ones;
        case SHAPE_SKEWED: return (random & low) | (random & next_random(seed) & next_random(seed) & ~low & ones);
        case SHAPE_DEAD: return ((random & UINT64_C(0x5555555555555555)) | UINT64_C(0x0a0a0a0a0a0a0a0a)) & ones;
        case SHAPE_DENSE_LOW: return i;
        case SHAPE_DENSE_TOP: return ones - i;
        case SHAPE_EQUAL: return i == 0 ? random & ones : set->items[0];
        case SHAPE_ZERO: return 0;
        case SHAPE_ENDS: return i == 0 ? ones : 0;
        default: return random & ones;
    }
}

struct set make_set(enum shape shape, unsigned bits, size_t count, uint64_t seed) {
    struct set set = allocate(bits, limit_count(shape, bits, count));
    for (size_t i = 0; i < set.count; i++) set.items[i] = make_item(shape, &set, i, &seed);
    sort_distinct(&set);
    return set;
}

static void add_ball(struct set *set, uint64_t centre, unsigned bit, unsigned radius) {
    set->items[set->count++] = centre;
    if (radius == 0) return;
    for (; bit < set->bits; bit++) add_ball(set, centre ^ UINT64_C(1) << bit, bit + 1, radius - 1);
}

static size_t count_ball(unsigned bits, unsigned radius) {
    return radius == 0 || bits == 0 ? 1 : count_ball(bits - 1, radius) + count_ball(bits - 1, radius - 1);
}

struct set make_ball(uint64_t centre, unsigned bits, unsigned radius) {
    struct set set = allocate(bits, count_ball(bits, radius));
    set.count = 0;
    add_ball(&set, centre, 0, radius);
    sort_distinct(&set);
    return set;
}

struct set set_of(const uint64_t *items, size_t count, unsigned bits) {
    struct set set = allocate(bits, count);
    memcpy(set.items, items, count * sizeof *items);
    sort_distinct(&set);
    return set;
}

void free_set(struct set *set) {
    free(set->items);
    free(set->distinct);
}

uint64_t make_query(const struct set *set, unsigned most, uint64_t *seed) {
    uint64_t random = next_random(seed);
    if (most > set->bits) most = set->bits;
    if (random % 16 == 0) return 0;
    if (random % 16 == 1) return all_ones(set->bits);
    if (random % 16 < 4 || set->count == 0) return next_random(seed) & all_ones(set->bits);
    return flip_bits(set->items[next_random(seed) % set->count], set->bits, (unsigned)(random >> 32) % (most + 1),
                     seed);
}

static int compare_matches(const void *a, const void *b) {
    const struct idx_match *x = a, *y = b;
    if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
    return (x->fingerprint > y->fingerprint) - (x->fingerprint < y->fingerprint);
}

void sort_matches(struct idx_match *matches, size_t count) { qsort(matches, count, sizeof *matches, compare_matches); }

/* Adds up ever longer groups of bits: a way of counting that the library does not use. */
PLAIN unsigned count_ones(uint64_t bits) {
    bits -= bits >> 1 & UINT64_C(0x5555555555555555);
    bits = (bits & UINT64_C(0x3333333333333333)) + (bits >> 2 & UINT64_C(0x3333333333333333));
    return (unsigned)(((bits + (bits >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f)) * UINT64_C(0x0101010101010101) >> 56);
}

PLAIN size_t scan(const struct set *set, uint64_t query, unsigned distance, struct idx_match *matches) {
    size_t count = 0;
    for (size_t i = 0; i < set->distinct_count; i++) {
        unsigned found = count_ones(set->distinct[i] ^ query);
        if (found <= distance) matches[count++] = (struct idx_match){set->distinct[i], found};
    }
    sort_matches(matches, count);
    return count;
}
