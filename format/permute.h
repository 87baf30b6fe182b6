/* permute.h: a table's permutation, from a fingerprint as users see it to its permuted form, and back (SPEC.md, chapter
 * 2). */
#ifndef IDX_FORMAT_PERMUTE_H
#define IDX_FORMAT_PERMUTE_H

#include <stdint.h>

#include "format/limits.h"

/* A group of bits that moves by one rotation of the 64-bit word. */
struct idxf_move {
    uint64_t bits;     /* in the fingerprint */
    unsigned rotation; /* to the left, 0 to 63 */
};

struct idxf_permutation {
    unsigned move_count;
    struct idxf_move moves[IDXF_MAX_BITS];
};

/* Makes the permutation that brings the bits of `mask` to the front of fingerprints of `bits` (1 to 64) bits, and
 * left-aligns them. Both kinds of bits keep their order. */
void idxf_permutation_init(struct idxf_permutation *permutation, uint64_t mask, unsigned bits);

/* Rotates a word to the left by `count` bits, modulo 64. */
static inline uint64_t idxf_rotate_left(uint64_t word, unsigned count) {
    return word << (count & 63) | word >> (-count & 63);
}

/* Converts a fingerprint to its permuted, left-aligned form. */
static inline uint64_t idxf_permute(const struct idxf_permutation *permutation, uint64_t fingerprint) {
    uint64_t permuted = 0;
    for (unsigned i = 0; i < permutation->move_count; i++)
        permuted |= idxf_rotate_left(fingerprint & permutation->moves[i].bits, permutation->moves[i].rotation);
    return permuted;
}

/* Converts the permuted, left-aligned form to the fingerprint. */
static inline uint64_t idxf_unpermute(const struct idxf_permutation *permutation, uint64_t permuted) {
    uint64_t fingerprint = 0;
    for (unsigned i = 0; i < permutation->move_count; i++)
        fingerprint |= idxf_rotate_left(permuted, -permutation->moves[i].rotation) & permutation->moves[i].bits;
    return fingerprint;
}

#endif
