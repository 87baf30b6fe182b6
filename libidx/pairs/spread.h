/* spread.h: fingerprints spread by some of their bits into parts, in memory of fixed size. */
#ifndef IDX_LIBIDX_SPREAD_H
#define IDX_LIBIDX_SPREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Fingerprints that a part takes room for at a time, for each thread. */
#define IDXI_SPREAD_CHUNK 256

struct idxi_spread {
    unsigned shift, width; /* of the bits, which are a part's number; fingerprints are permuted and left-aligned */
    uint64_t first, parts; /* others are left out */
    unsigned threads;
    size_t chunks;
    uint64_t *fingerprints; /* in chunks */
    uint32_t *next;         /* of each chunk, the one filled before */
    uint32_t *chunk, *fill; /* the last chunk of each thread and part, and how much of it is used */
    atomic_size_t taken;    /* chunks */
};

/* Makes room for about `capacity` fingerprints, added by so many threads, and for up to `parts` parts. False where
 * there is no memory. To be released also then. */
bool idxi_spread_reserve(struct idxi_spread *spread, size_t capacity, uint64_t parts, unsigned threads);
void idxi_spread_release(struct idxi_spread *spread);

/* Begins anew with `parts` parts, as many as were reserved or fewer, from number `first` on, by `width` bits (1 to 63)
 * from bit `shift` on. */
void idxi_spread_begin(struct idxi_spread *spread, unsigned shift, unsigned width, uint64_t first, uint64_t parts);

/* Adds what belongs to one of the parts. False where there is no more room. One call for a thread at a time. */
bool idxi_spread_add(struct idxi_spread *spread, unsigned thread, const uint64_t *fingerprints, size_t count);

/* How many a part has, of all threads. */
size_t idxi_spread_count(const struct idxi_spread *spread, uint64_t part);

/* Copies a part, in no particular order. */
void idxi_spread_copy(const struct idxi_spread *spread, uint64_t part, uint64_t *fingerprints);

#endif
