/* minhash.h: the other signature, for comparison: MinHash of the same shingles that the truth is computed from. */
#ifndef BENCH_MINHASH_H
#define BENCH_MINHASH_H

#include "bench/texts.h"

#define MINHASH_PERMUTATIONS 128

/* The least hash of the text's shingles under each permutation. */
void make_minhash(const struct text *text, uint64_t signature[MINHASH_PERMUTATIONS]);

/* How many permutations agree, 0 to 128: of so many shares, the estimate of the resemblance. */
unsigned count_agreeing(const uint64_t a[MINHASH_PERMUTATIONS], const uint64_t b[MINHASH_PERMUTATIONS]);

#endif
