/* simhash.c: makes fingerprints of features: weights, hashes of features, and the SimHash accumulator (Charikar 2002;
 * WWW 2007, section 2). Also Hamming distances. */
#include "libidx/fingerprints/simhash.h"

#include <string.h>
#include <xxhash.h>

#include "format/bytes.h"
#include "format/processor.h"

#ifdef IDXF_X86
#include <immintrin.h>
#endif

unsigned idx_distance(uint64_t a, uint64_t b) { return (unsigned)__builtin_popcountll(a ^ b); }

void idx_simhash_init(struct idx_simhash *simhash) { memset(simhash, 0, sizeof *simhash); }

void idx_simhash_add(struct idx_simhash *simhash, const void *feature, size_t length, int64_t weight) {
    idx_simhash_add_hash(simhash, XXH3_64bits(feature, length), weight);
}

/* Sums are unsigned, so that those beyond the promised range wrap around instead of being undefined. Two bits go side
 * by side because they fill a 128-bit register, and each is shifted by a constant, since plain x86-64 can't shift by a
 * vector: that takes 35 ns a feature instead of 75. */
void idx_simhash_add_hash(struct idx_simhash *simhash, uint64_t hash, int64_t weight) {
    uint64_t *sums = (uint64_t *)simhash->sums;
    uint64_t lanes[2] = {hash, hash >> 1};
    for (unsigned i = 0; i < IDX_MAX_BITS; i += 2) {
        for (unsigned j = 0; j < 2; j++) {
            uint64_t flip = (lanes[j] & 1) - 1; /* all ones where the bit is 0: (weight ^ flip) - flip is -weight */
            sums[i + j] += ((uint64_t)weight ^ flip) - flip;
            lanes[j] >>= 2;
        }
    }
}

/* The idxi_simhash_way for any processor. */
static void add_features_plain(struct idx_simhash *simhash, const struct idx_feature *features, size_t count) {
    for (size_t i = 0; i < count; i++) idx_simhash_add_hash(simhash, features[i].hash, features[i].weight);
}

/* The vector implementations add up only the weights of 1 bits, in registers, and the total weight: a sum is then twice
 * that of its 1 bits less the total. Counters of bits side by side (a carry-save adder on whole hashes) would be a
 * fifth faster than the widest one, but only for features of one weight, and documents have several. */
#ifdef IDXF_X86
/* Returns the sum of all weights. It wraps around beyond 64 bits, like the sums of bits. */
static int64_t sum_weights(const struct idx_feature *features, size_t count) {
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++) total += (uint64_t)features[i].weight;
    return (int64_t)total;
}

/* The idxi_simhash_way for AVX2. Computes half of the sums at a time, because all don't fit the registers. Lane i of
 * vector j tests bit 4 j + i of half of a hash, for all ones where it is set, which then mask the weight. */
__attribute__((target("avx2"))) static void add_features_avx2(struct idx_simhash *simhash,
                                                              const struct idx_feature *features, size_t count) {
    const __m256i total = _mm256_set1_epi64x(sum_weights(features, count));
    const __m256i first_bits = _mm256_set_epi64x(8, 4, 2, 1);
    for (unsigned half = 0; half < 64; half += 32) {
        __m256i ones[8] = {0};
        for (size_t i = 0; i < count; i++) {
            const __m256i hash = _mm256_set1_epi64x((int64_t)(features[i].hash >> half));
            const __m256i weight = _mm256_set1_epi64x(features[i].weight);
            for (int j = 0; j < 8; j++) {
                __m256i bits = _mm256_slli_epi64(first_bits, 4 * j);
                __m256i set = _mm256_cmpeq_epi64(_mm256_and_si256(hash, bits), bits);
                ones[j] = _mm256_add_epi64(ones[j], _mm256_and_si256(weight, set));
            }
        }
        for (unsigned j = 0; j < 8; j++) {
            __m256i *sums = (__m256i *)(void *)(simhash->sums + half + 4 * j);
            __m256i twice = _mm256_add_epi64(ones[j], ones[j]);
            __m256i added = _mm256_sub_epi64(twice, total);
            _mm256_storeu_si256(sums, _mm256_add_epi64(_mm256_loadu_si256(sums), added));
        }
    }
}

/* The idxi_simhash_way for AVX-512. Uses each byte of the hash as the mask of eight additions. */
IDXF_AVX512 static void add_features_avx512(struct idx_simhash *simhash, const struct idx_feature *features,
                                            size_t count) {
    const __m512i total = _mm512_set1_epi64(sum_weights(features, count));
    __m512i ones[8] = {0};
    for (size_t i = 0; i < count; i++) {
        const __m512i weight = _mm512_set1_epi64(features[i].weight);
        for (unsigned j = 0; j < 8; j++) {
            ones[j] = _mm512_mask_add_epi64(ones[j], (__mmask8)(features[i].hash >> 8 * j), ones[j], weight);
        }
    }
    for (unsigned j = 0; j < 8; j++) {
        int64_t *sums = simhash->sums + 8 * j;
        __m512i added = _mm512_sub_epi64(_mm512_add_epi64(ones[j], ones[j]), total);
        _mm512_storeu_si512(sums, _mm512_add_epi64(_mm512_loadu_si512(sums), added));
    }
}
#endif

size_t idxi_list_simhash_ways(idxi_simhash_way *ways[IDXI_SIMHASH_WAYS]) {
    size_t count = 0;
    ways[count++] = add_features_plain;
#ifdef IDXF_X86
    if (idxf_has_avx2()) ways[count++] = add_features_avx2;
    if (idxf_has_avx512()) ways[count++] = add_features_avx512;
#endif
    return count;
}

void idx_simhash_add_features(struct idx_simhash *simhash, const struct idx_feature *features, size_t count) {
    idxi_simhash_way *ways[IDXI_SIMHASH_WAYS];
    ways[idxi_list_simhash_ways(ways) - 1](simhash, features, count);
}

uint64_t idx_simhash_finish(const struct idx_simhash *simhash, unsigned bits) {
    uint64_t fingerprint = 0;
    for (unsigned i = 0; i < IDX_MAX_BITS; i++) fingerprint |= (uint64_t)(simhash->sums[i] > 0) << i;
    return bits < 1 ? fingerprint : fingerprint & idxf_low_bits(bits);
}

uint64_t idx_simhash_ties(const struct idx_simhash *simhash, unsigned bits) {
    uint64_t ties = 0;
    for (unsigned i = 0; i < IDX_MAX_BITS; i++) ties |= (uint64_t)(simhash->sums[i] == 0) << i;
    return bits < 1 ? ties : ties & idxf_low_bits(bits);
}

/* ---- Hashes of features ---- */

static const uint64_t fnv_start = UINT64_C(0xcbf29ce484222325), fnv_prime = UINT64_C(0x100000001b3);

/* Returns the 64-bit FNV-1 of bytes. */
static uint64_t hash_fnv1(const uint8_t *bytes, size_t length) {
    uint64_t hash = fnv_start;
    for (size_t i = 0; i < length; i++) hash = hash * fnv_prime ^ bytes[i];
    return hash;
}

/* Returns the 64-bit FNV-1a of bytes. */
static uint64_t hash_fnv1a(const uint8_t *bytes, size_t length) {
    uint64_t hash = fnv_start;
    for (size_t i = 0; i < length; i++) hash = (hash ^ bytes[i]) * fnv_prime;
    return hash;
}

/* Returns the last eight bytes of the MD5 of bytes as a big-endian number. */
static uint64_t hash_by_md5(const uint8_t *bytes, size_t length) {
    uint8_t digest[IDXI_MD5_BYTES];
    uint64_t hash = 0;
    idxi_hash_md5(bytes, length, digest);
    for (size_t i = IDXI_MD5_BYTES - sizeof hash; i < IDXI_MD5_BYTES; i++) hash = hash << 8 | digest[i];
    return hash;
}

uint64_t idx_hash(enum idx_hash_kind kind, const void *feature, size_t length) {
    switch (kind) {
        case IDX_HASH_FNV1: return hash_fnv1(feature, length);
        case IDX_HASH_FNV1A: return hash_fnv1a(feature, length);
        case IDX_HASH_MD5: return hash_by_md5(feature, length);
        case IDX_HASH_XXH3: break;
    }
    return XXH3_64bits(feature, length);
}

const char *idx_hash_name(enum idx_hash_kind kind) {
    switch (kind) {
        case IDX_HASH_XXH3: return "xxh3";
        case IDX_HASH_FNV1: return "fnv1";
        case IDX_HASH_FNV1A: return "fnv1a";
        case IDX_HASH_MD5: return "md5";
    }
    return NULL;
}

/* ---- Weights that users write ---- */

/* Digits behind the point that count, so that IDX_DECIMAL_WEIGHT_ONE is 1; the greatest weight, and its digits. */
enum { FRACTION_DIGITS = 4, MAX_WHOLE = 1000000, WHOLE_DIGITS = 7 };

/* Reads up to `max_digits` digits from text[*next] on, and appends them to the decimal digits of *value: 12 and the
 * text 34 give 1234. Moves *next behind the last one, and returns how many it has read. */
static size_t read_digits(const char *text, size_t length, size_t *next, size_t max_digits, int64_t *value) {
    size_t first = *next;
    for (; *next < length && *next - first < max_digits && text[*next] >= '0' && text[*next] <= '9'; ++*next)
        *value = *value * 10 + (text[*next] - '0');
    return *next - first;
}

bool idx_weight_parse(const char *text, size_t length, int64_t *weight) {
    int64_t value = 0;
    bool negative = length > 0 && text[0] == '-', rounds_up = false;
    size_t next = negative ? 1 : 0, fraction_digits = 0;
    if (read_digits(text, length, &next, WHOLE_DIGITS, &value) == 0) return false;
    if (next < length) {
        if (text[next++] != '.') return false;
        fraction_digits = read_digits(text, length, &next, FRACTION_DIGITS, &value);
        rounds_up = next < length && text[next] >= '5';
        while (next < length && text[next] >= '0' && text[next] <= '9') next++;
        if (fraction_digits == 0 || next < length) return false;
    }
    for (; fraction_digits < FRACTION_DIGITS; fraction_digits++) value *= 10;
    if (rounds_up) value++;
    if (value > (int64_t)MAX_WHOLE * IDX_DECIMAL_WEIGHT_ONE) return false;
    *weight = negative ? -value : value;
    return true;
}
