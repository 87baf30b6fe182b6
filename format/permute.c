/* permute.c: splits a permutation into groups of bits that move together. */
#include "format/permute.h"

/* Bits get their places from the highest, 63, down: first the bits of the mask, in order, then the others. */
void idxf_permutation_init(struct idxf_permutation *permutation, uint64_t mask, unsigned f) {
    unsigned target = 63;
    permutation->move_count = 0;
    for (int part = 0; part < 2; part++) {
        for (unsigned i = f; i-- > 0;) {
            uint64_t bit = UINT64_C(1) << i;
            if (((mask & bit) != 0) != (part == 0)) continue;
            unsigned rotate = (target - i) & 63;
            target--;
            unsigned move = 0;
            while (move < permutation->move_count && permutation->moves[move].rotate != rotate) move++;
            if (move == permutation->move_count) {
                permutation->moves[move] = (struct idxf_move){0, rotate};
                permutation->move_count++;
            }
            permutation->moves[move].bits |= bit;
        }
    }
}
