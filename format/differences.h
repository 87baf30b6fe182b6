/* differences.h: how block.c gets from tails to fingerprints, for several kinds of processor. Included by block.c
 * alone. Tails follow each other backwards; each has the leading 1 of its difference in front of it (SPEC.md, chapter
 * 7). */
#ifndef IDX_FORMAT_DIFFERENCES_H
#define IDX_FORMAT_DIFFERENCES_H

#include "format/bytes.h"

/* Functions that decode are compiled once for each kind of processor. */
#define INLINE static inline __attribute__((always_inline))

/* Stores up to `count` fingerprints, 1 or more: x plus the first difference, and so on, up to the first one above
 * `high`. The first tail ends at bit `end` of the block; all tails are known to lie between its header and its end.
 * Differences are shifted left by `align`. Returns their number. */
typedef size_t (*add_differences)(const uint8_t *block, size_t end, const uint8_t *tail_lengths, size_t count,
                                  unsigned align, uint64_t x, uint64_t high, uint64_t *out);

/* A tail of more bits may not lie within the 8 bytes that it ends in. */
#define MAX_SHORT_TAIL 57

/* The number whose leading 1 stands above a tail of `length` bits, up to MAX_SHORT_TAIL, that ends at bit `end`. */
INLINE uint64_t get_difference(const uint8_t *block, size_t end, unsigned length) {
    uint64_t bits = idxf_load64(block + (end + 7) / 8 - 8) << (~(end + 7) & 7);
    return (bits >> 1 | UINT64_C(1) << 63) >> (~length & 63);
}

/* The same for a tail of any length. */
INLINE uint64_t get_long_difference(const uint8_t *block, size_t end, unsigned length) {
    if (length <= MAX_SHORT_TAIL) return get_difference(block, end, length);
    uint64_t low = idxf_load64(block + (end - length) / 8) >> (end - length) % 8 & idxf_low_bits(32);
    return get_difference(block, end, length - 32) << 32 | low;
}

INLINE size_t add_differences_any(const uint8_t *block, size_t end, const uint8_t *tail_lengths, size_t count,
                                  unsigned align, uint64_t x, uint64_t high, uint64_t *out) {
    size_t i = 0;
    while (i < count && x <= high) {
        x += get_long_difference(block, end, tail_lengths[i]) << align;
        end -= tail_lengths[i];
        out[i++] = x;
    }
    return i;
}

/* For short tails of fingerprints of 64 bits, which need no shift. */
INLINE size_t add_differences_short(const uint8_t *block, size_t end, const uint8_t *tail_lengths, size_t count,
                                    unsigned align, uint64_t x, uint64_t high, uint64_t *out) {
    size_t i = 0;
    (void)align;
    while (i < count && x <= high) {
        x += get_difference(block, end, tail_lengths[i]);
        end -= tail_lengths[i];
        out[i++] = x;
    }
    return i;
}

#endif
