/* bits.h: a bit for each document, by its number. */
#ifndef IDX_TOOLS_DOCUMENTS_BITS_H
#define IDX_TOOLS_DOCUMENTS_BITS_H

#include <stdbool.h>
#include <stdint.h>

/* Returns whether the bit of document `number` is set. There must be more bits than `number`. */
static inline bool bit_is_set(const uint64_t *bits, uint64_t number) {
    return (bits[number / 64] >> number % 64 & 1) != 0;
}

/* Sets the bit of document `number`. There must be more bits than `number`. */
static inline void bit_set(uint64_t *bits, uint64_t number) { bits[number / 64] |= UINT64_C(1) << number % 64; }

/* Returns the number of 64-bit words that are allocated for `bit_count` bits: at least one, since calloc of 0 bytes may
 * return NULL. */
static inline uint64_t bits_count_words(uint64_t bit_count) { return bit_count / 64 + 1; }

/* Allocates `bit_count` bits, none of them set, in as many words as bits_count_words says. The caller frees them.
 * Returns NULL after a complaint if memory ran out. */
uint64_t *bits_allocate(uint64_t bit_count);

/* Returns how many of `bit_count` bits are set. The unused bits of the last word must not be set. */
uint64_t bits_count_set(const uint64_t *bits, uint64_t bit_count);

#endif
