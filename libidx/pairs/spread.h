/* spread.h: spreads fingerprints into buckets by some of their bits, in memory of fixed size. */
#ifndef IDX_LIBIDX_SPREAD_H
#define IDX_LIBIDX_SPREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many fingerprints a bucket gets room for at a time, for each thread. */
#define IDXI_SPREAD_CHUNK 256

struct idxi_spread {
    unsigned shift, width;   /* of the bits, which are a bucket's number; fingerprints are permuted and left-aligned */
    uint64_t first, buckets; /* others are ignored */
    unsigned threads;
    size_t chunks;
    uint64_t *fingerprints; /* in chunks */
    uint32_t *next;         /* of each chunk, the one filled before */
    uint32_t *chunk, *fill; /* the last chunk of each thread and bucket, and how much of it is used */
    atomic_size_t taken;    /* chunks */
};

/* Makes room for about `capacity` fingerprints, added by so many threads, and for up to `buckets` buckets. False where
 * there is no memory. To be released also then. */
bool idxi_spread_reserve(struct idxi_spread *spread, size_t capacity, uint64_t buckets, unsigned threads);
void idxi_spread_release(struct idxi_spread *spread);

/* Starts again with `buckets` buckets, at most as many as were reserved, from number `first` on, by `width` bits (1 to
 * 63) from bit `shift` on. */
void idxi_spread_begin(struct idxi_spread *spread, unsigned shift, unsigned width, uint64_t first, uint64_t buckets);

/* Adds the fingerprints that belong to one of the buckets. Returns false if there is no more room. One call per thread
 * at a time. */
bool idxi_spread_add(struct idxi_spread *spread, unsigned thread, const uint64_t *fingerprints, size_t count);

/* How many fingerprints a bucket has, over all threads. */
size_t idxi_spread_count(const struct idxi_spread *spread, uint64_t bucket);

/* Copies a bucket, in no particular order. */
void idxi_spread_copy(const struct idxi_spread *spread, uint64_t bucket, uint64_t *fingerprints);

#endif
