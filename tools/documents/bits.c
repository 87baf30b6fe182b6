/* bits.c: makes the bits of bits.h. */
#include "tools/documents/bits.h"

#include "tools/shared/wording.h"

#include <stdlib.h>

uint64_t *bits_allocate(uint64_t bit_count) {
    uint64_t *bits = calloc((size_t)bits_count_words(bit_count), sizeof *bits);
    if (bits == NULL) complain("out of memory");
    return bits;
}

uint64_t bits_count_set(const uint64_t *bits, uint64_t bit_count) {
    uint64_t set_bits = 0;
    for (uint64_t i = 0; i < bits_count_words(bit_count); i++) set_bits += (uint64_t)__builtin_popcountll(bits[i]);
    return set_bits;
}
