/* signatures.c: makes signatures, and compares one with many. */
#include "libidx/sets/signatures.h"

#include "format/processor.h"

#include <string.h>
#ifdef IDXF_X86
#include <immintrin.h>
#endif

void idxi_sign_set(struct idxi_signature *signature, uint32_t set, const uint32_t *members, uint32_t member_count) {
    *signature = (struct idxi_signature){.set = set, .shared = member_count};
    for (uint32_t i = 0; i < member_count; i++)
        signature->words[members[i] % IDXI_SIGNATURE_WORDS] ^= UINT64_C(1) << members[i] / IDXI_SIGNATURE_WORDS % 64;
}

enum idx_status idxi_signed_sets_add(struct idxi_signed_sets *sets, const struct idxi_signature *signature,
                                     struct idx_error *error) {
    const size_t lane = sets->count % IDXI_SIGNED_TOGETHER;
    IDXI_GROW(sets->groups, sets->capacity, sets->count / IDXI_SIGNED_TOGETHER + 1, error);
    struct idxi_signature_group *group = &sets->groups[sets->count / IDXI_SIGNED_TOGETHER];
    if (lane == 0) *group = (struct idxi_signature_group){0};
    for (int i = 0; i < IDXI_SIGNATURE_WORDS; i++) group->words[i][lane] = signature->words[i];
    group->sets[lane] = signature->set;
    group->shared[lane] = signature->shared;
    sets->count++;
    return IDX_OK;
}

/* What idxi_signed_sets_find was called with, for its variants below. */
struct signature_search {
    const struct idxi_signed_sets *sets;
    const struct idxi_signature *signature;
    uint64_t needed;
    struct idxi_signed_match *matches;
    size_t max_matches;
};

/* Counts for each set of a group the bits in which its signature differs from another one. */
typedef void (*bit_counter)(const struct idxi_signature_group *group, const struct idxi_signature *signature,
                            uint64_t differing[IDXI_SIGNED_TOGETHER]);

/* The bit_counter for processors without AVX-512. */
IDXF_INLINE void count_differing(const struct idxi_signature_group *group, const struct idxi_signature *signature,
                                 uint64_t differing[IDXI_SIGNED_TOGETHER]) {
    memset(differing, 0, IDXI_SIGNED_TOGETHER * sizeof *differing);
    for (int i = 0; i < IDXI_SIGNATURE_WORDS; i++)
        for (int j = 0; j < IDXI_SIGNED_TOGETHER; j++)
            differing[j] += idxf_count_bits(group->words[i][j] ^ signature->words[i]);
}

/* Does what idxi_signed_sets_find does; it is compiled once for each kind of processor below. Twice the number of
 * members that two sets share is at most the sum of their members minus the differing bits of their signatures, since
 * each of these stands for a member that one of the sets has alone. A match is written before it is known whether it
 * counts, which saves a branch. */
IDXF_INLINE size_t find_matches(const struct signature_search *search, size_t *next_set, bit_counter count_bits) {
    const size_t count = search->sets->count;
    size_t set = *next_set, match_count = 0;
    for (; set < count && match_count + IDXI_SIGNED_TOGETHER <= search->max_matches; set += IDXI_SIGNED_TOGETHER) {
        const struct idxi_signature_group *group = &search->sets->groups[set / IDXI_SIGNED_TOGETHER];
        uint64_t twice_shared[IDXI_SIGNED_TOGETHER], has_match = 0;
        count_bits(group, search->signature, twice_shared);
        for (int j = 0; j < IDXI_SIGNED_TOGETHER; j++) {
            twice_shared[j] = (uint64_t)search->signature->shared + group->shared[j] - twice_shared[j];
            has_match |= twice_shared[j] >= 2 * search->needed;
        }
        for (size_t j = 0; has_match != 0 && j < IDXI_SIGNED_TOGETHER && set + j < count; j++) {
            search->matches[match_count] = (struct idxi_signed_match){group->sets[j], (uint32_t)(twice_shared[j] / 2)};
            match_count += twice_shared[j] >= 2 * search->needed;
        }
    }
    *next_set = set;
    return match_count;
}

/* find_matches for any processor. */
static size_t find_portable(const struct signature_search *search, size_t *next_set) {
    return find_matches(search, next_set, count_differing);
}

#ifdef IDXF_X86
/* find_matches for processors with BMI2. */
IDXF_BMI2 static size_t find_bmi2(const struct signature_search *search, size_t *next_set) {
    return find_matches(search, next_set, count_differing);
}

/* The bit_counter for processors with AVX-512. */
IDXF_AVX512 static inline void count_differing_avx512(const struct idxi_signature_group *group,
                                                      const struct idxi_signature *signature,
                                                      uint64_t differing[IDXI_SIGNED_TOGETHER]) {
    __m512i sum = _mm512_setzero_si512();
    for (int i = 0; i < IDXI_SIGNATURE_WORDS; i++) {
        __m512i word = _mm512_set1_epi64((long long)signature->words[i]);
        sum = _mm512_add_epi64(sum, _mm512_popcnt_epi64(_mm512_xor_si512(word, _mm512_loadu_si512(group->words[i]))));
    }
    _mm512_storeu_si512(differing, sum);
}

/* find_matches for processors with AVX-512. */
IDXF_AVX512 static size_t find_avx512(const struct signature_search *search, size_t *next_set) {
    return find_matches(search, next_set, count_differing_avx512);
}
#endif

size_t idxi_signed_sets_find(const struct idxi_signed_sets *sets, const struct idxi_signature *signature,
                             uint64_t needed, size_t *next_set, struct idxi_signed_match *matches, size_t max_matches) {
    const struct signature_search search = {sets, signature, needed, matches, max_matches};
#ifdef IDXF_X86
    if (idxf_has_avx512()) return find_avx512(&search, next_set);
    if (idxf_has_bmi2()) return find_bmi2(&search, next_set);
#endif
    return find_portable(&search, next_set);
}
