/* idx_simhash.h: the public header of libidx, which makes fingerprints from features.
 *
 * A program that takes the features of its documents itself, such as words or parts of images, makes their SimHash by
 * these calls. Fingerprints of texts are made by libidxtext (idx_text.h), or by another program.
 *
 * Calls
 *   idx_simhash_init          begins a SimHash
 *   idx_simhash_add           adds a feature
 *   idx_simhash_add_hash      adds a feature by its hash
 *   idx_simhash_add_features  adds many features by their hashes, which is faster
 *   idx_simhash_finish        returns the fingerprint
 *   idx_simhash_ties          returns where the weights on both sides are equal
 *   idx_hash                  returns the hash of a feature
 *   idx_hash_name             returns the name of a hash in recipes
 *   idx_weight_parse          reads a weight as users write it
 *
 * Conventions
 * The conventions are those of idx.h. The calls of this header allocate nothing, and none of them fails but
 * idx_weight_parse. An accumulator belongs to one thread at a time.
 */
#ifndef IDX_SIMHASH_H
#define IDX_SIMHASH_H

#include <idx.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- SimHash ----------------------------------------------------------------------------------------------------- */

/* A SimHash accumulator (Charikar 2002; WWW 2007, section 2). sums[i] belongs to bit i; bit 0 is the least significant.
 * The sum of all |weight| must stay below 2^63. Sums of different bits are independent, so a fingerprint of more than
 * 64 bits needs one accumulator for each 64 bits of the features' hashes. */
struct idx_simhash {
    int64_t sums[IDX_MAX_BITS];
};

/* Weight 1 in the fixed point that recipes use: 16 fraction bits. Any other unit works as well, if it is used for all
 * weights. */
#define IDX_WEIGHT_ONE ((int64_t)65536)

/* Sets all sums to 0. */
IDX_API void idx_simhash_init(struct idx_simhash *simhash);

/* Adds a feature of `length` bytes, hashed by XXH3 (64 bits, seed 0): adds the weight to the sums of the hash's 1 bits,
 * and subtracts it from the sums of its 0 bits. */
IDX_API void idx_simhash_add(struct idx_simhash *simhash, const void *feature, size_t length, int64_t weight);

/* As idx_simhash_add, with a hash that the caller computed. */
IDX_API void idx_simhash_add_hash(struct idx_simhash *simhash, uint64_t hash, int64_t weight);

struct idx_feature {
    uint64_t hash;
    int64_t weight;
};

/* As idx_simhash_add_hash for each of `count` features: several times as fast if the processor has wide instructions.
 * `features` may be NULL if `count` is 0. */
IDX_API void idx_simhash_add_features(struct idx_simhash *simhash, const struct idx_feature *features, size_t count);

/* The fingerprint: bit i is 1 if sums[i] is above 0, for i below `bits` (1 to 64; other values count as 64). */
IDX_API uint64_t idx_simhash_finish(const struct idx_simhash *simhash, unsigned bits);

/* The ties: bit i is 1 if sums[i] is 0. Programs that count a tie as 1 combine the fingerprint and the ties by `|`. */
IDX_API uint64_t idx_simhash_ties(const struct idx_simhash *simhash, unsigned bits);

/* ---- Hashes of features ------------------------------------------------------------------------------------------ */

/* The hash of a feature of `length` bytes. `feature` may be NULL if `length` is 0. */
IDX_API uint64_t idx_hash(enum idx_hash_kind kind, const void *feature, size_t length);

/* The name of a hash in recipes: "xxh3", "fnv1", "fnv1a" or "md5". NULL for any other number, so that a loop from 0 on
 * finds all names. Static storage. */
IDX_API const char *idx_hash_name(enum idx_hash_kind kind);

/* ---- Weights ----------------------------------------------------------------------------------------------------- */

/* Weight 1 in the fixed point of weights that users write: 4 decimal fraction digits. */
#define IDX_DECIMAL_WEIGHT_ONE ((int64_t)10000)

/* Parses a weight of `length` bytes, such as 3, 0.25 or -1.5, in units of 1/IDX_DECIMAL_WEIGHT_ONE. A weight is from
 * -1000000 to 1000000 and has digits, optionally with a decimal point and more digits. It is rounded to 4 digits after
 * the point, half of a unit away from 0. Returns false for anything else, and leaves *weight unset. */
IDX_API bool idx_weight_parse(const char *text, size_t length, int64_t *weight);

#ifdef __cplusplus
}
#endif

#endif
