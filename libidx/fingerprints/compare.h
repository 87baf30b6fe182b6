/* compare.h: compares fingerprints all with all, and sorts them by some of their bits: where joins spend their time. */
#ifndef IDX_LIBIDX_COMPARE_H
#define IDX_LIBIDX_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A comparison: the distance, and who gets the pairs. The first member of its owner's struct. */
struct idxi_comparison {
    unsigned distance;
    /* Called for each two that differ in at most `distance` bits, in no particular order. */
    void (*visit)(struct idxi_comparison *comparison, uint64_t a, uint64_t b);
    /* For idxi_compare_way.buckets: two buckets with more comparisons than `large` are given to this call instead; `b`
     * is NULL where a bucket is to be compared within itself. */
    void (*match_large)(struct idxi_comparison *comparison, const uint64_t *a, size_t a_count, const uint64_t *b,
                        size_t b_count);
    uint64_t large;
};

/* Fingerprints in buckets: those of bucket v are from starts[v] to starts[v + 1]. The buckets from `first` to before
 * `end` of `a` are compared, each with the bucket of `b` whose value differs in the bits of `flip`. */
struct idxi_bucket_pairs {
    const uint64_t *a, *b;
    const uint32_t *a_starts, *b_starts;
    uint64_t first, end, flip;
    bool within; /* `b` is `a`: each two are compared once */
};

/* The most bits that matching.h sorts by, and the numbers that it counts with. */
#define IDXI_SORTED_BITS 14
#define IDXI_SORT_COUNTS ((1 << IDXI_SORTED_BITS) + 1)

/* The nanoseconds that a vector of so many comparisons takes with AVX-512. */
#define IDXI_AVX512_TIME 0.84
#define IDXI_AVX512_LANES 8

/* An implementation: portable, or with instructions that only some processors have. */
struct idxi_compare_way {
    const char *name;
    /* Each of `a` with each after it. */
    void (*within)(struct idxi_comparison *comparison, const uint64_t *a, size_t count);
    /* Each of `a` with each of `b`. */
    void (*between)(struct idxi_comparison *comparison, const uint64_t *a, size_t a_count, const uint64_t *b,
                    size_t b_count);
    /* Each of `a` with each behind it, as far as the bits of `mask` are the same; those of which they are stand
     * together.
     */
    void (*runs)(struct idxi_comparison *comparison, const uint64_t *a, size_t count, uint64_t mask);
    void (*buckets)(struct idxi_comparison *comparison, const struct idxi_bucket_pairs *pairs);
    /* Adds to counts[v] the fingerprints with value v, which is the bits of `mask` moved together. */
    void (*count)(const uint64_t *from, size_t count, uint64_t mask, uint32_t *counts);
    /* Puts each fingerprint with value v at to[places[v]++]. */
    void (*place)(const uint64_t *from, size_t count, uint64_t mask, uint64_t *to, uint32_t *places);
    /* The nanoseconds that `buckets` takes for as many comparisons as a vector has lanes, about. */
    double vector_time;
    unsigned lanes;
};

/* Sorts by the bits of `mask` into `to`; fewer than 2^32. There are one more `counts` than values of these bits. Then
 * counts[v] is the end of the fingerprints with value v. */
void idxi_compare_sort(const struct idxi_compare_way *way, const uint64_t *from, size_t count, uint64_t mask,
                       uint64_t *to, uint32_t *counts);

/* Lists the implementations that this processor can run, the fastest last, and returns their number. */
#define IDXI_MAX_COMPARE_WAYS 3
size_t idxi_compare_ways(const struct idxi_compare_way *ways[IDXI_MAX_COMPARE_WAYS]);
const struct idxi_compare_way *idxi_compare_widest(void);

#endif
