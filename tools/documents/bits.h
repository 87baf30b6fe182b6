/* bits.h: a bit for each document, by its number. */
#ifndef IDX_TOOLS_DOCUMENTS_BITS_H
#define IDX_TOOLS_DOCUMENTS_BITS_H

#include <stdbool.h>
#include <stdint.h>

/* Returns whether the bit of the document of this number is set. The number must be smaller than that of the bits. */
static inline bool bit_is_set(const uint64_t *bits, uint64_t number) {
    return (bits[number / 64] >> number % 64 & 1) != 0;
}

/* Sets the bit of the document of this number, which must be smaller than that of the bits. */
static inline void bit_set(uint64_t *bits, uint64_t number) { bits[number / 64] |= UINT64_C(1) << number % 64; }

/* Returns how many words of 64 bits hold so many bits: one at least, even if there are no bits. */
static inline uint64_t bits_count_words(uint64_t bit_count) { return bit_count / 64 + 1; }

/* Makes so many bits, none of them set, in as many words as bits_count_words says. The caller frees them. Returns NULL
 * after a complaint if memory ran out. */
uint64_t *bits_allocate(uint64_t bit_count);

/* Returns how many of so many bits are set. Those behind them in the last word must not be. */
uint64_t bits_count_set(const uint64_t *bits, uint64_t bit_count);

#endif
