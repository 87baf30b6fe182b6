/* compare.c: see compare.h. */
#include "libidx/fingerprints/compare.h"

#include <string.h>

#include "format/processor.h"
#include "libidx/fingerprints/lanes_avx2.h"

/* ---- Portable, or with BMI2 ---- */

IDXF_INLINE void compare_one(struct idxi_comparison *comparison, uint64_t a, const uint64_t *b, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (idxf_count_bits(a ^ b[i]) <= comparison->distance) comparison->visit(comparison, a, b[i]);
    }
}

IDXF_INLINE void compare_within(struct idxi_comparison *comparison, const uint64_t *a, size_t count) {
    for (size_t i = 0; i + 1 < count; i++) compare_one(comparison, a[i], a + i + 1, count - i - 1);
}

IDXF_INLINE void compare_between(struct idxi_comparison *comparison, const uint64_t *a, size_t a_count,
                                 const uint64_t *b, size_t b_count) {
    for (size_t i = 0; i < a_count; i++) compare_one(comparison, a[i], b, b_count);
}

IDXF_INLINE void compare_runs(struct idxi_comparison *comparison, const uint64_t *a, size_t count, uint64_t mask) {
    for (size_t i = 0; i < count; i++) {
        for (size_t j = i + 1; j < count && ((a[i] ^ a[j]) & mask) == 0; j++) {
            if (idxf_count_bits(a[i] ^ a[j]) <= comparison->distance) comparison->visit(comparison, a[i], a[j]);
        }
    }
}

/* Compares all of two buckets, or of one within itself. */
typedef void (*bucket_comparer)(struct idxi_comparison *comparison, const uint64_t *a, size_t a_count,
                                const uint64_t *b, size_t b_count);

IDXF_INLINE void compare_buckets(bucket_comparer compare, struct idxi_comparison *comparison,
                                 const struct idxi_bucket_pairs *pairs) {
    for (uint64_t value = pairs->first; value < pairs->end; value++) {
        uint64_t other = value ^ pairs->flip;
        if (pairs->within && other < value) continue;
        const uint64_t *a = pairs->a + pairs->a_starts[value], *b = pairs->b + pairs->b_starts[other];
        size_t a_count = pairs->a_starts[value + 1] - pairs->a_starts[value];
        size_t b_count = pairs->b_starts[other + 1] - pairs->b_starts[other];
        if (a_count == 0 || b_count == 0) continue;
        bool same = pairs->within && pairs->flip == 0;
        if (__builtin_expect(a_count * b_count > comparison->large, 0))
            comparison->match_large(comparison, a, a_count, same ? NULL : b, b_count);
        else
            compare(comparison, a, a_count, same ? NULL : b, b_count);
    }
}

IDXF_INLINE void compare_two(struct idxi_comparison *comparison, const uint64_t *a, size_t a_count, const uint64_t *b,
                             size_t b_count) {
    if (b == NULL)
        compare_within(comparison, a, a_count);
    else
        compare_between(comparison, a, a_count, b, b_count);
}

/* The bits of a number that a mask has, moved together. */
typedef uint64_t (*extractor)(uint64_t number, uint64_t mask);

IDXF_INLINE uint64_t extract(uint64_t number, uint64_t mask) {
    uint64_t bits = 0;
    for (unsigned at = 0; mask != 0; at++, mask &= mask - 1) bits |= (number >> __builtin_ctzll(mask) & 1) << at;
    return bits;
}

IDXF_INLINE void count_by(extractor key, const uint64_t *from, size_t count, uint64_t mask, uint32_t *counts) {
    for (size_t i = 0; i < count; i++) counts[key(from[i], mask)]++;
}

IDXF_INLINE void place_by(extractor key, const uint64_t *from, size_t count, uint64_t mask, uint64_t *to,
                          uint32_t *places) {
    for (size_t i = 0; i < count; i++) to[places[key(from[i], mask)]++] = from[i];
}

static void within(struct idxi_comparison *comparison, const uint64_t *a, size_t count) {
    compare_within(comparison, a, count);
}

static void between(struct idxi_comparison *comparison, const uint64_t *a, size_t a_count, const uint64_t *b,
                    size_t b_count) {
    compare_between(comparison, a, a_count, b, b_count);
}

static void runs(struct idxi_comparison *comparison, const uint64_t *a, size_t count, uint64_t mask) {
    compare_runs(comparison, a, count, mask);
}

static void buckets(struct idxi_comparison *comparison, const struct idxi_bucket_pairs *pairs) {
    compare_buckets(compare_two, comparison, pairs);
}

static void count(const uint64_t *from, size_t number, uint64_t mask, uint32_t *counts) {
    count_by(extract, from, number, mask, counts);
}

static void place(const uint64_t *from, size_t number, uint64_t mask, uint64_t *to, uint32_t *places) {
    place_by(extract, from, number, mask, to, places);
}

static const struct idxi_compare_way portable = {"portable", within, between, runs, buckets, count, place, 8.0, 4};

#ifdef IDXF_X86
IDXF_BMI2 static void within_bmi2(struct idxi_comparison *comparison, const uint64_t *a, size_t count) {
    compare_within(comparison, a, count);
}

IDXF_BMI2 static void runs_bmi2(struct idxi_comparison *comparison, const uint64_t *a, size_t count, uint64_t mask) {
    compare_runs(comparison, a, count, mask);
}

IDXF_BMI2 static inline uint64_t extract_bmi2(uint64_t number, uint64_t mask) { return _pext_u64(number, mask); }

IDXF_BMI2 static void count_bmi2(const uint64_t *from, size_t number, uint64_t mask, uint32_t *counts) {
    count_by(extract_bmi2, from, number, mask, counts);
}

IDXF_BMI2 static void place_bmi2(const uint64_t *from, size_t number, uint64_t mask, uint64_t *to, uint32_t *places) {
    place_by(extract_bmi2, from, number, mask, to, places);
}

/* The vectors of a bucket that are kept in registers while the other bucket passes. */
#define HELD 4

/* Takes those of `b` whose bits are set in `near`. */
__attribute__((noinline)) static void take_held(struct idxi_comparison *comparison, uint64_t a, const uint64_t *b,
                                                unsigned near) {
    for (; near != 0; near &= near - 1) comparison->visit(comparison, a, b[__builtin_ctz(near)]);
}

/* ---- With AVX2 ---- */

IDXF_AVX2 static inline __m256i load_avx2(const uint64_t *from, size_t count) {
    __m256i lanes = _mm256_setr_epi64x(0, 1, 2, 3),
            all = _mm256_set1_epi64x(count < IDXI_LANES_AVX2 ? (long long)count : 4);
    return _mm256_maskload_epi64((const long long *)from, _mm256_cmpgt_epi64(all, lanes));
}

/* Compares `a` with up to `vectors` vectors of `b`. */
IDXF_AVX2 IDXF_INLINE void compare_held_avx2(struct idxi_comparison *comparison, const uint64_t *a, size_t a_count,
                                             const uint64_t *b, size_t b_count, const unsigned vectors) {
    const __m256i most = _mm256_set1_epi64x((long long)comparison->distance), all = _mm256_set1_epi64x(-1);
    __m256i held[HELD];
    for (unsigned i = 0; i < vectors; i++) held[i] = load_avx2(b + i * IDXI_LANES_AVX2, b_count - i * IDXI_LANES_AVX2);
    for (size_t i = 0; i < a_count; i++) {
        __m256i here = _mm256_set1_epi64x((long long)a[i]), far[HELD], all_far = all;
        for (unsigned j = 0; j < vectors; j++) {
            far[j] = _mm256_cmpgt_epi64(idxi_count_bits_avx2(_mm256_xor_si256(here, held[j])), most);
            all_far = _mm256_and_si256(all_far, far[j]);
        }
        if (__builtin_expect(_mm256_testc_si256(all_far, all), 1)) continue;
        unsigned near = 0;
        for (unsigned j = 0; j < vectors; j++)
            near |= (~(unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(far[j])) & 15) << j * IDXI_LANES_AVX2;
        take_held(comparison, a[i], b, near & ((1u << b_count) - 1));
    }
}

IDXF_AVX2 static void between_avx2(struct idxi_comparison *comparison, const uint64_t *a, size_t a_count,
                                   const uint64_t *b, size_t b_count) {
    for (; b_count > HELD * IDXI_LANES_AVX2; b += HELD * IDXI_LANES_AVX2, b_count -= HELD * IDXI_LANES_AVX2)
        compare_held_avx2(comparison, a, a_count, b, HELD * IDXI_LANES_AVX2, HELD);
    if (b_count > 3 * IDXI_LANES_AVX2)
        compare_held_avx2(comparison, a, a_count, b, b_count, 4);
    else if (b_count > 2 * IDXI_LANES_AVX2)
        compare_held_avx2(comparison, a, a_count, b, b_count, 3);
    else if (b_count > IDXI_LANES_AVX2)
        compare_held_avx2(comparison, a, a_count, b, b_count, 2);
    else
        compare_held_avx2(comparison, a, a_count, b, b_count, 1);
}

IDXF_AVX2 static inline void compare_two_avx2(struct idxi_comparison *comparison, const uint64_t *a, size_t a_count,
                                              const uint64_t *b, size_t b_count) {
    if (b == NULL)
        within_bmi2(comparison, a, a_count);
    else
        between_avx2(comparison, a, a_count, b, b_count);
}

IDXF_AVX2 static void buckets_avx2(struct idxi_comparison *comparison, const struct idxi_bucket_pairs *pairs) {
    compare_buckets(compare_two_avx2, comparison, pairs);
}

static const struct idxi_compare_way avx2 = {"AVX2",     within_bmi2, between_avx2, runs_bmi2,      buckets_avx2,
                                             count_bmi2, place_bmi2,  0.95,         IDXI_LANES_AVX2};

/* ---- With AVX-512 ---- */

#define LANES IDXI_AVX512_LANES

/* A bit for each of the next lanes that there are. */
static inline __mmask8 get_lanes(size_t count) {
    return count < LANES ? (__mmask8)((1u << count) - 1) : (__mmask8)0xff;
}

IDXF_AVX512 static inline void take_lanes(struct idxi_comparison *comparison, uint64_t a, const uint64_t *b,
                                          __mmask8 lanes) {
    for (unsigned left = lanes; left != 0; left &= left - 1) comparison->visit(comparison, a, b[__builtin_ctz(left)]);
}

IDXF_AVX512 static inline void compare_lanes(struct idxi_comparison *comparison, uint64_t a, const uint64_t *b,
                                             size_t count) {
    __m512i all = _mm512_set1_epi64((long long)a), most = _mm512_set1_epi64((long long)comparison->distance);
    for (size_t i = 0; i < count; i += LANES) {
        __mmask8 here = get_lanes(count - i);
        __m512i errors = _mm512_xor_si512(all, _mm512_maskz_loadu_epi64(here, b + i));
        __mmask8 found = _mm512_mask_cmple_epu64_mask(here, _mm512_popcnt_epi64(errors), most);
        if (__builtin_expect(found != 0, 0)) take_lanes(comparison, a, b + i, found);
    }
}

IDXF_AVX512 static void within_avx512(struct idxi_comparison *comparison, const uint64_t *a, size_t count) {
    for (size_t i = 0; i + 1 < count; i++) compare_lanes(comparison, a[i], a + i + 1, count - i - 1);
}

IDXF_AVX512 static void between_avx512(struct idxi_comparison *comparison, const uint64_t *a, size_t a_count,
                                       const uint64_t *b, size_t b_count) {
    for (size_t i = 0; i < a_count; i++) compare_lanes(comparison, a[i], b, b_count);
}

/* Takes those of `a` and `b` that the bits of `near` stand for; no part of the loops, so that these keep their vectors
 * in registers. */
__attribute__((noinline)) static void take_near(struct idxi_comparison *comparison, const uint64_t *a,
                                                const uint64_t *b, unsigned near) {
    for (; near != 0; near &= near - 1) comparison->visit(comparison, a[__builtin_ctz(near)], b[__builtin_ctz(near)]);
}

/* What is compared with twice as many fingerprints as there are lanes. */
struct shifted {
    __m512i here, there, shared, most;
};

/* Those of the lanes that share a run with fingerprints at `b`, and are near to them. */
IDXF_AVX512 static inline bool compare_shifted(struct idxi_comparison *comparison, const struct shifted *at,
                                               const uint64_t *a, const uint64_t *b, __mmask8 first, __mmask8 second) {
    __m512i errors = _mm512_xor_si512(at->here, _mm512_maskz_loadu_epi64(first, b));
    __m512i others = _mm512_xor_si512(at->there, _mm512_maskz_loadu_epi64(second, b + LANES));
    first = _mm512_mask_testn_epi64_mask(first, errors, at->shared);
    second = _mm512_mask_testn_epi64_mask(second, others, at->shared);
    unsigned near = _mm512_mask_cmple_epu64_mask(first, _mm512_popcnt_epi64(errors), at->most);
    near |= (unsigned)_mm512_mask_cmple_epu64_mask(second, _mm512_popcnt_epi64(others), at->most) << LANES;
    if (__builtin_expect(near != 0, 0)) take_near(comparison, a, b, near);
    return (first | second) != 0;
}

/* Compares fingerprints with those one place after them, then two places after, as long as any two share a run. It
 * takes twice as many as there are lanes, because the length of runs is then mispredicted less often. */
IDXF_AVX512 static void runs_avx512(struct idxi_comparison *comparison, const uint64_t *a, size_t count,
                                    uint64_t mask) {
    struct shifted at = {.shared = _mm512_set1_epi64((long long)mask),
                         .most = _mm512_set1_epi64((long long)comparison->distance)};
    for (size_t i = 0; i < count; i += 2 * LANES) {
        const uint64_t *here = a + i;
        size_t left = count - i, j = 1;
        bool any = true;
        at.here = _mm512_maskz_loadu_epi64(get_lanes(left), here);
        at.there = _mm512_maskz_loadu_epi64(get_lanes(left > LANES ? left - LANES : 0), here + LANES);
        for (; any && j + 2 * LANES <= left; j++) any = compare_shifted(comparison, &at, here, here + j, 0xff, 0xff);
        for (; any && j < left; j++) {
            __mmask8 second = get_lanes(left - j > LANES ? left - j - LANES : 0);
            any = compare_shifted(comparison, &at, here, here + j, get_lanes(left - j), second);
        }
    }
}

/* Compares `a` with up to `vectors` vectors of `b`. */
IDXF_AVX512 IDXF_INLINE void compare_held(struct idxi_comparison *comparison, const uint64_t *a, size_t a_count,
                                          const uint64_t *b, size_t b_count, const unsigned vectors) {
    __m512i held[HELD], most = _mm512_set1_epi64((long long)comparison->distance);
    __mmask8 lanes[HELD];
    for (unsigned i = 0; i < vectors; i++) {
        lanes[i] = get_lanes(b_count - i * LANES);
        held[i] = _mm512_maskz_loadu_epi64(lanes[i], b + i * LANES);
    }
    for (size_t i = 0; i < a_count; i++) {
        __m512i here = _mm512_set1_epi64((long long)a[i]);
        __mmask8 near[HELD], any = 0;
        for (unsigned j = 0; j < vectors; j++) {
            __m512i errors = _mm512_popcnt_epi64(_mm512_xor_si512(here, held[j]));
            near[j] = _mm512_mask_cmple_epu64_mask(lanes[j], errors, most);
            any = j == 0 ? near[j] : _kor_mask8(any, near[j]);
        }
        if (__builtin_expect(!_kortestz_mask8_u8(any, any), 0)) {
            unsigned all = 0;
            for (unsigned j = 0; j < vectors; j++) all |= (unsigned)near[j] << j * LANES;
            take_held(comparison, a[i], b, all);
        }
    }
}

IDXF_AVX512 static inline void compare_two_avx512(struct idxi_comparison *comparison, const uint64_t *a, size_t a_count,
                                                  const uint64_t *b, size_t b_count) {
    if (b == NULL) {
        within_avx512(comparison, a, a_count);
        return;
    }
    for (; b_count > HELD * LANES; b += HELD * LANES, b_count -= HELD * LANES)
        compare_held(comparison, a, a_count, b, HELD * LANES, HELD);
    if (b_count > 3 * LANES)
        compare_held(comparison, a, a_count, b, b_count, 4);
    else if (b_count > 2 * LANES)
        compare_held(comparison, a, a_count, b, b_count, 3);
    else if (b_count > LANES)
        compare_held(comparison, a, a_count, b, b_count, 2);
    else
        compare_held(comparison, a, a_count, b, b_count, 1);
}

IDXF_AVX512 static void buckets_avx512(struct idxi_comparison *comparison, const struct idxi_bucket_pairs *pairs) {
    compare_buckets(compare_two_avx512, comparison, pairs);
}

static const struct idxi_compare_way avx512 = {"AVX-512",  within_avx512, between_avx512,   runs_avx512, buckets_avx512,
                                               count_bmi2, place_bmi2,    IDXI_AVX512_TIME, LANES};
#endif

void idxi_compare_sort(const struct idxi_compare_way *way, const uint64_t *from, size_t number, uint64_t mask,
                       uint64_t *to, uint32_t *counts) {
    size_t values = (size_t)1 << idxf_count_bits(mask);
    memset(counts, 0, (values + 1) * sizeof *counts);
    way->count(from, number, mask, counts + 1);
    for (size_t i = 1; i < values; i++) counts[i] += counts[i - 1];
    way->place(from, number, mask, to, counts);
}

size_t idxi_compare_ways(const struct idxi_compare_way *ways[IDXI_MAX_COMPARE_WAYS]) {
    size_t count = 0;
    ways[count++] = &portable;
#ifdef IDXF_X86
    if (idxf_has_bmi2() && idxf_has_avx2()) ways[count++] = &avx2;
    if (idxf_has_avx512()) ways[count++] = &avx512;
#endif
    return count;
}

const struct idxi_compare_way *idxi_compare_widest(void) {
    const struct idxi_compare_way *ways[IDXI_MAX_COMPARE_WAYS];
    return ways[idxi_compare_ways(ways) - 1];
}
