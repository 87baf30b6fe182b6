/* permute.c: splits a permutation into groups of bits that move together. */
#include "format/permute.h"

/* Adds a bit of the fingerprint to the move with this rotation (0 to 63), or to a new move if there is none. */
static void add_bit_to_move(struct idxf_permutation *permutation, uint64_t bit, unsigned rotation) {
    unsigned i = 0;
    while (i < permutation->move_count && permutation->moves[i].rotation != rotation) i++;
    if (i == permutation->move_count) permutation->moves[permutation->move_count++] = (struct idxf_move){0, rotation};
    permutation->moves[i].bits |= bit;
}

/* Bits get their places from the highest, 63, down: first the bits of the mask, in order, then the others. A bit is
 * rotated to the left by its new place less its old one, modulo 64. */
void idxf_permutation_init(struct idxf_permutation *permutation, uint64_t mask, unsigned bits) {
    const uint64_t bit_groups[] = {mask, ~mask};
    unsigned target_bit = 63;
    permutation->move_count = 0;
    for (unsigned group = 0; group < 2; group++) {
        for (unsigned source = bits; source-- > 0;) {
            uint64_t bit = UINT64_C(1) << source;
            if ((bit_groups[group] & bit) != 0) add_bit_to_move(permutation, bit, (target_bit-- - source) & 63);
        }
    }
}
