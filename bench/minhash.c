/* minhash.c: MinHash signatures (Broder 1997), a mixer with a constant of its own for each permutation. */
#include "bench/minhash.h"
#include "bench/random.h"

void make_minhash(const struct text *text, uint64_t signature[MINHASH_PERMUTATIONS]) {
    uint64_t state = 1;
    for (unsigned i = 0; i < MINHASH_PERMUTATIONS; i++) {
        uint64_t constant = next_random(&state);
        signature[i] = UINT64_MAX;
        for (size_t j = 0; j < text->shingle_count; j++) {
            uint64_t hash = mix(text->shingles[j] ^ constant);
            if (hash < signature[i]) signature[i] = hash;
        }
    }
}

unsigned count_agreeing(const uint64_t a[MINHASH_PERMUTATIONS], const uint64_t b[MINHASH_PERMUTATIONS]) {
    unsigned agreeing = 0;
    for (unsigned i = 0; i < MINHASH_PERMUTATIONS; i++) agreeing += a[i] == b[i];
    return agreeing;
}
