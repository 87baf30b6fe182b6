/* compare.h: compares fingerprints all with all, and sorts them by some of their bits. Joins spend most of their time
 * here. */
#ifndef IDX_LIBIDX_COMPARE_H
#define IDX_LIBIDX_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/processor.h"

/* A ball: pairs that differ in at most `radius` of the bits of `mask`. */
struct idxi_ball {
    uint64_t mask;
    unsigned radius;
};

/* A comparison: the distance, and what is called with the pairs. */
struct idxi_comparison {
    unsigned distance;
    /* Called for each pair that differs in at most comparison->distance bits and lies in none of the balls of
     * `before`, with the number of bits in which it differs, in no particular order. */
    void (*visit)(void *context, uint64_t a, uint64_t b, unsigned distance);
    void *context;
    const struct idxi_ball *before; /* balls in which all pairs were found before */
    size_t before_count;
    /* Called by idxi_compare_way.buckets for two buckets with more than `max_comparisons` comparisons, instead of
     * comparing them; `b` is NULL if a bucket is to be compared with itself. */
    void (*match_large)(struct idxi_comparison *comparison, const uint64_t *a, size_t a_count, const uint64_t *b,
                        size_t b_count);
    uint64_t max_comparisons;
};

/* Which buckets are compared. Bucket v has the fingerprints from starts[v] to before starts[v + 1]. For each v in
 * [first_value, end_value), bucket v of `a` is compared with the buckets v ^ high_flips ^ f of `b`, for each f of
 * `low_flips`. v ^ f must be in [first_value, end_value), too. */
struct idxi_bucket_pairs {
    const uint64_t *a, *b;
    const uint32_t *a_starts, *b_starts;
    uint64_t first_value, end_value, high_flips;
    const uint16_t *low_flips;
    size_t low_count;
    bool within; /* `b` is `a`, and each pair is compared once */
};

/* Fingerprints sorted by some bits. The bucket of value v, which is these bits moved together, has those from starts[v]
 * to before starts[v + 1]. */
struct idxi_buckets {
    uint64_t *fingerprints;
    uint32_t *starts; /* with room for 2 more than there are values */
};

/* Buckets by the bits of `mask`, with the fold of each member: the exclusive or of its halves. Two folds differ in no
 * more bits than their fingerprints do. */
struct idxi_folded_buckets {
    struct idxi_buckets buckets;
    uint64_t mask;
    uint32_t *folds; /* IDXI_FOLD_PADDING more can be read */
};
#define IDXI_FOLD_PADDING 32
/* Returns the fold of a fingerprint. */
static inline uint32_t idxi_fold(uint64_t fingerprint) { return (uint32_t)(fingerprint ^ fingerprint >> 32); }

/* How many bits pairs/matching.h sorts by at most, and the length of the counts for that. */
#define IDXI_SORTED_BITS 14
#define IDXI_SORT_COUNTS ((1 << IDXI_SORTED_BITS) + 1)

/* An implementation of comparing: portable, or with instructions that only some processors have. */
struct idxi_compare_way {
    const char *name;
    /* Compares each of `a` with each after it. */
    void (*within)(struct idxi_comparison *comparison, const uint64_t *a, size_t count);
    /* Compares each of `a` with each of `b`. */
    void (*between)(struct idxi_comparison *comparison, const uint64_t *a, size_t a_count, const uint64_t *b,
                    size_t b_count);
    /* Compares each of `a` with each after it that has the same bits of `mask`. These must be adjacent. */
    void (*runs)(struct idxi_comparison *comparison, const uint64_t *a, size_t count, uint64_t mask);
    /* Compares each two buckets that `pairs` names, all of one with all of the other. */
    void (*buckets)(struct idxi_comparison *comparison, const struct idxi_bucket_pairs *pairs);
    /* Compares each of `a` with all in the bucket of `b` that has the same bits in its mask. */
    void (*with_bucket)(struct idxi_comparison *comparison, const uint64_t *a, size_t count,
                        const struct idxi_folded_buckets *b);
    /* Adds to counts[v] the number of fingerprints with value v: their bits of `mask`, moved together to the lowest
     * places. `counts` has a place for each value. */
    void (*count)(const uint64_t *from, size_t count, uint64_t mask, uint32_t *counts);
    /* Writes each fingerprint with value v, as for `count`, to to[places[v]++]. */
    void (*place)(const uint64_t *from, size_t count, uint64_t mask, uint64_t *to, uint32_t *places);
    /* About how many nanoseconds `buckets` takes for `lanes` comparisons: as many as a vector has. */
    double vector_time;
    unsigned lanes;
};

/* Sorts `count` fingerprints, fewer than 2^32, by the bits of `mask` into `to`, by counting; `to` must not overlap
 * them. `counts` has room for one number more than these bits have values. Afterwards counts[v] is where value v ends
 * in `to`. */
void idxi_sort_by_mask(const struct idxi_compare_way *way, const uint64_t *from, size_t count, uint64_t mask,
                       uint64_t *to, uint32_t *counts);

/* Sets `ways` to the implementations that this processor can run, the fastest last, and returns their number. */
#define IDXI_MAX_COMPARE_WAYS 3
size_t idxi_list_compare_ways(const struct idxi_compare_way *ways[IDXI_MAX_COMPARE_WAYS]);

/* Returns the fastest implementation that this processor can run. */
const struct idxi_compare_way *idxi_get_widest_compare_way(void);

/* Returns `bits` with only its `count` highest set bits, or all of them if fewer are set. */
static inline uint64_t idxi_keep_highest_bits(uint64_t bits, unsigned count) {
    while (idxf_count_bits(bits) > count) bits &= bits - 1;
    return bits;
}

#endif
