/* bits.h: a bit for each document, by its number. */
#ifndef IDX_TOOLS_DOCUMENTS_BITS_H
#define IDX_TOOLS_DOCUMENTS_BITS_H

#include <stdbool.h>
#include <stdint.h>

static inline bool bit_is_set(const uint64_t *bits, uint64_t number) {
    return (bits[number / 64] >> number % 64 & 1) != 0;
}

static inline void bit_set(uint64_t *bits, uint64_t number) { bits[number / 64] |= UINT64_C(1) << number % 64; }

/* The words of `count` bits; there is one even if there are no bits. */
static inline uint64_t bits_words(uint64_t count) { return count / 64 + 1; }

/* Returns `count` bits, in bits_words words, none of them set, which the caller frees. */
uint64_t *bits_make(uint64_t count);

/* Returns how many of `count` bits are set. */
uint64_t bits_count(const uint64_t *bits, uint64_t count);

#endif
