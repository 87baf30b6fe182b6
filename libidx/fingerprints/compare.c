/* compare.c: see compare.h. */
#include "libidx/fingerprints/compare.h"

#include <string.h>

#include "libidx/fingerprints/lanes_avx2.h"
#include "libidx/fingerprints/times.h"

/* ---- Portable, or with BMI2 ---- */

/* Each inline function here is compiled into the function of each kind of processor that calls it, with the
 * instructions of that kind. */

/* Visits a pair within the distance, unless it lies in a ball of comparison->before. */
IDXF_INLINE void visit_pair_if_new(struct idxi_comparison *comparison, uint64_t a, uint64_t b) {
    for (size_t i = 0; i < comparison->before_count; i++) {
        if (idxf_count_bits((a ^ b) & comparison->before[i].mask) <= comparison->before[i].radius) return;
    }
    comparison->visit(comparison->context, a, b, idxf_count_bits(a ^ b));
}

/* Compares one fingerprint with each of `b`, and visits the near pairs. */
IDXF_INLINE void compare_with_each(struct idxi_comparison *comparison, uint64_t a, const uint64_t *b, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (idxf_count_bits(a ^ b[i]) <= comparison->distance) visit_pair_if_new(comparison, a, b[i]);
    }
}

/* Compares each of `a` with each after it, and visits the near pairs. */
IDXF_INLINE void compare_within(struct idxi_comparison *comparison, const uint64_t *a, size_t count) {
    for (size_t i = 0; i + 1 < count; i++) compare_with_each(comparison, a[i], a + i + 1, count - i - 1);
}

/* Compares each of `a` with each of `b`, and visits the near pairs. */
IDXF_INLINE void compare_between(struct idxi_comparison *comparison, const uint64_t *a, size_t a_count,
                                 const uint64_t *b, size_t b_count) {
    for (size_t i = 0; i < a_count; i++) compare_with_each(comparison, a[i], b, b_count);
}

/* Compares each of `a` with each after it that has the same bits of `mask`, which must be adjacent, and visits the near
 * pairs. */
IDXF_INLINE void compare_runs(struct idxi_comparison *comparison, const uint64_t *a, size_t count, uint64_t mask) {
    for (size_t i = 0; i < count; i++) {
        for (size_t j = i + 1; j < count && ((a[i] ^ a[j]) & mask) == 0; j++) {
            if (idxf_count_bits(a[i] ^ a[j]) <= comparison->distance) visit_pair_if_new(comparison, a[i], a[j]);
        }
    }
}

/* Compares each fingerprint of bucket `a` with each of bucket `b`, or if `b` is NULL, with each later one of `a`. */
typedef void (*bucket_comparer)(struct idxi_comparison *comparison, const uint64_t *a, size_t a_count,
                                const uint64_t *b, size_t b_count);

/* A bucket of `b`, and a bucket of `a` to compare it with; `are_same` if they are one. */
struct two_buckets {
    const uint64_t *a, *b;
    size_t a_count, b_count;
    bool are_same;
};

/* Sets the bucket of `a` in *two to bucket `a_value`; *two has bucket `b_value` of `b` already. Returns whether the
 * caller must compare them. It must not if they are compared the other way round, or if they are so large that this
 * calls match_large for them. */
IDXF_INLINE bool add_bucket_of_a(struct idxi_comparison *comparison, const struct idxi_bucket_pairs *pairs,
                                 uint64_t a_value, uint64_t b_value, struct two_buckets *two) {
    if (pairs->within && b_value < a_value) return false;
    two->a = pairs->a + pairs->a_starts[a_value];
    two->a_count = pairs->a_starts[a_value + 1] - pairs->a_starts[a_value];
    two->are_same = pairs->within && a_value == b_value;
    if (__builtin_expect(two->a_count * two->b_count <= comparison->max_comparisons, 1)) return true;
    comparison->match_large(comparison, two->a, two->a_count, two->are_same ? NULL : two->b, two->b_count);
    return false;
}

/* Compares each two buckets that *pairs names, by calling `compare`, or for large ones comparison->match_large. */
IDXF_INLINE void compare_buckets(bucket_comparer compare, struct idxi_comparison *comparison,
                                 const struct idxi_bucket_pairs *pairs) {
    for (uint64_t value = pairs->first_value; value < pairs->end_value; value++) {
        uint64_t b_value = value ^ pairs->high_flips;
        struct two_buckets two = {.b = pairs->b + pairs->b_starts[b_value],
                                  .b_count = pairs->b_starts[b_value + 1] - pairs->b_starts[b_value]};
        for (size_t i = 0; i < pairs->low_count && two.b_count > 0; i++) {
            if (add_bucket_of_a(comparison, pairs, value ^ pairs->low_flips[i], b_value, &two) && two.a_count > 0)
                compare(comparison, two.a, two.a_count, two.are_same ? NULL : two.b, two.b_count);
        }
    }
}

/* The bucket_comparer for any processor. */
IDXF_INLINE void compare_two_buckets(struct idxi_comparison *comparison, const uint64_t *a, size_t a_count,
                                     const uint64_t *b, size_t b_count) {
    if (b == NULL)
        compare_within(comparison, a, a_count);
    else
        compare_between(comparison, a, a_count, b, b_count);
}

/* Returns the value of a number: its bits of a mask, moved together to the lowest places, as by pext. */
typedef uint64_t (*extractor)(uint64_t number, uint64_t mask);

/* The extractor for any processor. */
IDXF_INLINE uint64_t extract_bits(uint64_t number, uint64_t mask) {
    uint64_t bits = 0;
    for (unsigned bit = 0; mask != 0; bit++, mask &= mask - 1) bits |= (number >> __builtin_ctzll(mask) & 1) << bit;
    return bits;
}

/* Adds to counts[v] the number of fingerprints with value v, which get_value(fingerprint, mask) returns. */
IDXF_INLINE void count_values(extractor get_value, const uint64_t *from, size_t count, uint64_t mask,
                              uint32_t *counts) {
    for (size_t i = 0; i < count; i++) counts[get_value(from[i], mask)]++;
}

/* Writes each fingerprint with value v, which get_value(fingerprint, mask) returns, to to[places[v]++]. */
IDXF_INLINE void place_values(extractor get_value, const uint64_t *from, size_t count, uint64_t mask, uint64_t *to,
                              uint32_t *places) {
    for (size_t i = 0; i < count; i++) to[places[get_value(from[i], mask)]++] = from[i];
}

/* Compares each of `a` with all in the bucket of `b` that has the same value, which get_value(fingerprint, b->mask)
 * returns. Does not use folds. */
IDXF_INLINE void compare_with_buckets(extractor get_value, struct idxi_comparison *comparison, const uint64_t *a,
                                      size_t count, const struct idxi_folded_buckets *b) {
    const uint32_t *starts = b->buckets.starts;
    for (size_t i = 0; i < count; i++) {
        uint64_t value = get_value(a[i], b->mask);
        compare_with_each(comparison, a[i], b->buckets.fingerprints + starts[value], starts[value + 1] - starts[value]);
    }
}

/* The `within` of idxi_compare_way for any processor. */
static void compare_within_portable(struct idxi_comparison *comparison, const uint64_t *a, size_t count) {
    compare_within(comparison, a, count);
}

/* The `between` of idxi_compare_way for any processor. */
static void compare_between_portable(struct idxi_comparison *comparison, const uint64_t *a, size_t a_count,
                                     const uint64_t *b, size_t b_count) {
    compare_between(comparison, a, a_count, b, b_count);
}

/* The `runs` of idxi_compare_way for any processor. */
static void compare_runs_portable(struct idxi_comparison *comparison, const uint64_t *a, size_t count, uint64_t mask) {
    compare_runs(comparison, a, count, mask);
}

/* The `buckets` of idxi_compare_way for any processor. */
static void compare_buckets_portable(struct idxi_comparison *comparison, const struct idxi_bucket_pairs *pairs) {
    compare_buckets(compare_two_buckets, comparison, pairs);
}

/* The `with_bucket` of idxi_compare_way for any processor. */
static void compare_with_buckets_portable(struct idxi_comparison *comparison, const uint64_t *a, size_t count,
                                          const struct idxi_folded_buckets *b) {
    compare_with_buckets(extract_bits, comparison, a, count, b);
}

/* The `count` of idxi_compare_way for any processor. */
static void count_values_portable(const uint64_t *from, size_t count, uint64_t mask, uint32_t *counts) {
    count_values(extract_bits, from, count, mask, counts);
}

/* The `place` of idxi_compare_way for any processor. */
static void place_values_portable(const uint64_t *from, size_t count, uint64_t mask, uint64_t *to, uint32_t *places) {
    place_values(extract_bits, from, count, mask, to, places);
}

static const struct idxi_compare_way portable = {.name = "portable",
                                                 .within = compare_within_portable,
                                                 .between = compare_between_portable,
                                                 .runs = compare_runs_portable,
                                                 .buckets = compare_buckets_portable,
                                                 .with_bucket = compare_with_buckets_portable,
                                                 .count = count_values_portable,
                                                 .place = place_values_portable,
                                                 .vector_time = IDXI_PORTABLE_TIME,
                                                 .lanes = 4};

#ifdef IDXF_X86
/* The `within` of idxi_compare_way for processors with BMI2. */
IDXF_BMI2 static void compare_within_bmi2(struct idxi_comparison *comparison, const uint64_t *a, size_t count) {
    compare_within(comparison, a, count);
}

/* The `runs` of idxi_compare_way for processors with BMI2. */
IDXF_BMI2 static void compare_runs_bmi2(struct idxi_comparison *comparison, const uint64_t *a, size_t count,
                                        uint64_t mask) {
    compare_runs(comparison, a, count, mask);
}

/* The extractor for processors with BMI2. */
IDXF_BMI2 static inline uint64_t extract_bits_bmi2(uint64_t number, uint64_t mask) { return _pext_u64(number, mask); }

/* The `with_bucket` of idxi_compare_way for processors with BMI2. */
IDXF_BMI2 static void compare_with_buckets_bmi2(struct idxi_comparison *comparison, const uint64_t *a, size_t count,
                                                const struct idxi_folded_buckets *b) {
    compare_with_buckets(extract_bits_bmi2, comparison, a, count, b);
}

/* The `count` of idxi_compare_way for processors with BMI2. */
IDXF_BMI2 static void count_values_bmi2(const uint64_t *from, size_t count, uint64_t mask, uint32_t *counts) {
    count_values(extract_bits_bmi2, from, count, mask, counts);
}

/* The `place` of idxi_compare_way for processors with BMI2. */
IDXF_BMI2 static void place_values_bmi2(const uint64_t *from, size_t count, uint64_t mask, uint64_t *to,
                                        uint32_t *places) {
    place_values(extract_bits_bmi2, from, count, mask, to, places);
}

/* ---- With AVX2 ---- */

#define HELD 4 /* vectors of one bucket in registers, while all of the other bucket are compared with them */

/* Visits the pairs of `a` and b[i] for each bit i of `near`, unless they were found before. Not inlined, so that the
 * loop around it keeps its vectors in registers. */
IDXF_AVX2 __attribute__((noinline)) static void visit_near_bits(struct idxi_comparison *comparison, uint64_t a,
                                                                const uint64_t *b, unsigned near) {
    for (; near != 0; near &= near - 1) visit_pair_if_new(comparison, a, b[__builtin_ctz(near)]);
}

/* Loads `count` fingerprints, or if there are more than lanes, as many as fit. Other lanes are 0, and nothing is read
 * for them. */
IDXF_AVX2 static inline __m256i load_avx2(const uint64_t *from, size_t count) {
    __m256i lanes = _mm256_setr_epi64x(0, 1, 2, 3),
            filled = _mm256_set1_epi64x(count < IDXI_LANES_AVX2 ? (long long)count : IDXI_LANES_AVX2);
    return _mm256_maskload_epi64((const long long *)from, _mm256_cmpgt_epi64(filled, lanes));
}

/* Compares each of `a` with all of `b`, which fills at most `vectors` vectors, up to HELD. `vectors` is a constant in
 * each call, so that the compiler unrolls the loops over them. */
IDXF_AVX2 IDXF_INLINE void compare_held_avx2(struct idxi_comparison *comparison, const uint64_t *a, size_t a_count,
                                             const uint64_t *b, size_t b_count, const unsigned vectors) {
    const __m256i limit = _mm256_set1_epi64x((long long)comparison->distance), all = _mm256_set1_epi64x(-1);
    __m256i held[HELD];
    for (unsigned i = 0; i < vectors; i++) held[i] = load_avx2(b + i * IDXI_LANES_AVX2, b_count - i * IDXI_LANES_AVX2);
    for (size_t i = 0; i < a_count; i++) {
        __m256i here = _mm256_set1_epi64x((long long)a[i]), far[HELD], all_far = all;
        for (unsigned j = 0; j < vectors; j++) {
            far[j] = _mm256_cmpgt_epi64(idxi_count_bits_avx2(_mm256_xor_si256(here, held[j])), limit);
            all_far = _mm256_and_si256(all_far, far[j]);
        }
        if (__builtin_expect(_mm256_testc_si256(all_far, all), 1)) continue;
        unsigned near = 0;
        for (unsigned j = 0; j < vectors; j++)
            near |= (~(unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(far[j])) & 15) << j * IDXI_LANES_AVX2;
        visit_near_bits(comparison, a[i], b, near & ((1u << b_count) - 1));
    }
}

/* Compares each of `a` with each of `b`: as many of `b` at a time as HELD vectors hold, and the rest in as few vectors
 * as hold it. */
IDXF_AVX2 static void compare_between_avx2(struct idxi_comparison *comparison, const uint64_t *a, size_t a_count,
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

/* The bucket_comparer for AVX2. */
IDXF_AVX2 static inline void compare_two_buckets_avx2(struct idxi_comparison *comparison, const uint64_t *a,
                                                      size_t a_count, const uint64_t *b, size_t b_count) {
    if (b == NULL)
        compare_within_bmi2(comparison, a, a_count);
    else
        compare_between_avx2(comparison, a, a_count, b, b_count);
}

/* The `buckets` of idxi_compare_way for AVX2. */
IDXF_AVX2 static void compare_buckets_avx2(struct idxi_comparison *comparison, const struct idxi_bucket_pairs *pairs) {
    compare_buckets(compare_two_buckets_avx2, comparison, pairs);
}

static const struct idxi_compare_way avx2 = {.name = "AVX2",
                                             .within = compare_within_bmi2,
                                             .between = compare_between_avx2,
                                             .runs = compare_runs_bmi2,
                                             .buckets = compare_buckets_avx2,
                                             .with_bucket = compare_with_buckets_bmi2,
                                             .count = count_values_bmi2,
                                             .place = place_values_bmi2,
                                             .vector_time = IDXI_AVX2_TIME,
                                             .lanes = IDXI_LANES_AVX2};

/* ---- With AVX-512 ---- */

#define LANES IDXI_AVX512_LANES

/* Returns the mask of the first `count` lanes, or of all lanes if `count` is LANES or more. */
static inline __mmask8 make_lane_mask(size_t count) {
    return count < LANES ? (__mmask8)((1u << count) - 1) : (__mmask8)0xff;
}

/* Returns those of `lanes` whose pairs lie in no ball of comparison->before. In each lane, `errors` has the bits in
 * which the pair differs. */
IDXF_AVX512 static inline __mmask8 drop_found(const struct idxi_comparison *comparison, __m512i errors,
                                              __mmask8 lanes) {
    for (size_t i = 0; i < comparison->before_count && lanes != 0; i++) {
        __m512i inside = _mm512_and_si512(errors, _mm512_set1_epi64((long long)comparison->before[i].mask));
        __m512i radius = _mm512_set1_epi64((long long)comparison->before[i].radius);
        lanes = _mm512_mask_cmpgt_epu64_mask(lanes, _mm512_popcnt_epi64(inside), radius);
    }
    return lanes;
}

/* Visits the pairs of `a` and b[i] for each bit i of `lanes`, unless they were found before. They differ in `errors`.
 */
IDXF_AVX512 static inline void visit_lanes(struct idxi_comparison *comparison, uint64_t a, const uint64_t *b,
                                           __m512i errors, __mmask8 lanes) {
    for (unsigned left = drop_found(comparison, errors, lanes); left != 0; left &= left - 1) {
        uint64_t other = b[__builtin_ctz(left)];
        comparison->visit(comparison->context, a, other, idxf_count_bits(a ^ other));
    }
}

/* Does what compare_with_each does, a vector of `b` at a time. */
IDXF_AVX512 static inline void compare_with_lanes(struct idxi_comparison *comparison, uint64_t a, const uint64_t *b,
                                                  size_t count) {
    __m512i here = _mm512_set1_epi64((long long)a), limit = _mm512_set1_epi64((long long)comparison->distance);
    for (size_t i = 0; i < count; i += LANES) {
        __mmask8 filled = make_lane_mask(count - i);
        __m512i errors = _mm512_xor_si512(here, _mm512_maskz_loadu_epi64(filled, b + i));
        __mmask8 near = _mm512_mask_cmple_epu64_mask(filled, _mm512_popcnt_epi64(errors), limit);
        if (__builtin_expect(near != 0, 0)) visit_lanes(comparison, a, b + i, errors, near);
    }
}

/* The `within` of idxi_compare_way for AVX-512: compares each of `a` with each after it. */
IDXF_AVX512 static void compare_within_avx512(struct idxi_comparison *comparison, const uint64_t *a, size_t count) {
    for (size_t i = 0; i + 1 < count; i++) compare_with_lanes(comparison, a[i], a + i + 1, count - i - 1);
}

/* The `between` of idxi_compare_way for AVX-512: compares each of `a` with each of `b`. */
IDXF_AVX512 static void compare_between_avx512(struct idxi_comparison *comparison, const uint64_t *a, size_t a_count,
                                               const uint64_t *b, size_t b_count) {
    for (size_t i = 0; i < a_count; i++) compare_with_lanes(comparison, a[i], b, b_count);
}

/* Visits the pairs a[i], b[i] for each bit i of `near`. Not inlined, so that loops keep their vectors in registers. */
IDXF_AVX512 __attribute__((noinline)) static void visit_aligned(struct idxi_comparison *comparison, const uint64_t *a,
                                                                const uint64_t *b, unsigned near) {
    for (; near != 0; near &= near - 1) visit_pair_if_new(comparison, a[__builtin_ctz(near)], b[__builtin_ctz(near)]);
}

/* Two successive vectors that are compared with later ones. In all lanes, `run_mask` has the bits in which a run
 * agrees, and `limit` the distance. */
struct shifted {
    __m512i first, second, run_mask, limit;
};

/* Compares the two vectors of *two, which were loaded from `a`, lane by lane with the two at `b`: only the lanes of
 * `first_lanes` and `second_lanes`. Visits the near pairs of one run. Returns whether any lane had two fingerprints of
 * one run. */
IDXF_AVX512 static inline bool compare_shifted(struct idxi_comparison *comparison, const struct shifted *two,
                                               const uint64_t *a, const uint64_t *b, __mmask8 first_lanes,
                                               __mmask8 second_lanes) {
    __m512i errors = _mm512_xor_si512(two->first, _mm512_maskz_loadu_epi64(first_lanes, b));
    __m512i others = _mm512_xor_si512(two->second, _mm512_maskz_loadu_epi64(second_lanes, b + LANES));
    __mmask8 first_in_run = _mm512_mask_testn_epi64_mask(first_lanes, errors, two->run_mask);
    __mmask8 second_in_run = _mm512_mask_testn_epi64_mask(second_lanes, others, two->run_mask);
    unsigned near = _mm512_mask_cmple_epu64_mask(first_in_run, _mm512_popcnt_epi64(errors), two->limit);
    near |= (unsigned)_mm512_mask_cmple_epu64_mask(second_in_run, _mm512_popcnt_epi64(others), two->limit) << LANES;
    if (__builtin_expect(near != 0, 0)) visit_aligned(comparison, a, b, near);
    return (first_in_run | second_in_run) != 0;
}

/* The `runs` of idxi_compare_way for AVX-512. Compares all fingerprints of two vectors with those one place after them,
 * then two places after, and so on, as long as any two share a run. It takes two vectors at a time, because the length
 * of runs is then mispredicted less often. */
IDXF_AVX512 static void compare_runs_avx512(struct idxi_comparison *comparison, const uint64_t *a, size_t count,
                                            uint64_t mask) {
    struct shifted two = {.run_mask = _mm512_set1_epi64((long long)mask),
                          .limit = _mm512_set1_epi64((long long)comparison->distance)};
    for (size_t i = 0; i < count; i += 2 * LANES) {
        const uint64_t *here = a + i;
        size_t left = count - i, j = 1;
        bool in_run = true;
        two.first = _mm512_maskz_loadu_epi64(make_lane_mask(left), here);
        two.second = _mm512_maskz_loadu_epi64(make_lane_mask(left > LANES ? left - LANES : 0), here + LANES);
        for (; in_run && j + 2 * LANES <= left; j++)
            in_run = compare_shifted(comparison, &two, here, here + j, 0xff, 0xff);
        for (; in_run && j < left; j++) {
            __mmask8 second = make_lane_mask(left - j > LANES ? left - j - LANES : 0);
            in_run = compare_shifted(comparison, &two, here, here + j, make_lane_mask(left - j), second);
        }
    }
}

/* How many fingerprints are compared with a bucket side by side, and how many near pairs are gathered before they are
 * visited. */
#define UNROLLED 4
#define MAX_NEAR 256

/* Near pairs that are not visited yet: one fingerprint of each, and the bits in which the other one differs from it.
 * There is room for what UNROLLED fingerprints add to MAX_NEAR - 1, and for a whole vector behind the last pair. */
struct near_pairs {
    uint64_t from[MAX_NEAR + (UNROLLED * HELD + 1) * LANES], errors[MAX_NEAR + (UNROLLED * HELD + 1) * LANES];
    size_t count;
};

/* Visits the gathered pairs that were not found before, and forgets all. */
IDXF_AVX512 __attribute__((noinline)) static void visit_gathered_pairs(struct idxi_comparison *comparison,
                                                                       struct near_pairs *near) {
    for (size_t i = 0; i < near->count; i += LANES) {
        unsigned left = drop_found(comparison, _mm512_loadu_si512(near->errors + i), make_lane_mask(near->count - i));
        for (; left != 0; left &= left - 1) {
            size_t at = i + (size_t)__builtin_ctz(left);
            uint64_t errors = near->errors[at];
            comparison->visit(comparison->context, near->from[at], near->from[at] ^ errors, idxf_count_bits(errors));
        }
    }
    near->count = 0;
}

/* Compares those of UNROLLED fingerprints at `a` again that have a near one in `b`, and gathers their near pairs:
 * near-duplicates have many, and branches for each would be mispredicted. Each lane of least[n] has the least distance
 * between a[n] and what was compared with it in this lane. Not inlined, so that the loop of the caller keeps its
 * vectors in registers. */
IDXF_AVX512 __attribute__((noinline)) static void gather_near_pairs(struct idxi_comparison *comparison,
                                                                    struct near_pairs *near, const uint64_t *a,
                                                                    const __m512i least[UNROLLED], const uint64_t *b,
                                                                    size_t b_count) {
    const __m512i limit = _mm512_set1_epi64((long long)comparison->distance);
    size_t count = near->count;
    for (unsigned n = 0; n < UNROLLED; n++) {
        __m512i here = _mm512_set1_epi64((long long)a[n]);
        if (_mm512_cmple_epu64_mask(least[n], limit) == 0) continue;
        for (size_t i = 0; i < b_count; i += LANES) {
            __mmask8 lanes = make_lane_mask(b_count - i);
            __m512i errors = _mm512_xor_si512(here, _mm512_maskz_loadu_epi64(lanes, b + i));
            lanes = _mm512_mask_cmple_epu64_mask(lanes, _mm512_popcnt_epi64(errors), limit);
            _mm512_storeu_si512(near->from + count, here);
            _mm512_storeu_si512(near->errors + count, _mm512_maskz_compress_epi64(lanes, errors));
            count += idxf_count_bits(lanes);
        }
    }
    near->count = count;
    if (count >= MAX_NEAR) visit_gathered_pairs(comparison, near);
}

/* Compares each of `a`, UNROLLED at a time, with all of `b`, which fills at most `vectors` vectors. `vectors` is a
 * constant in each call, so that the compiler unrolls the loops over them. Lanes beyond `b` hold its first fingerprint,
 * which changes no least distance. */
IDXF_AVX512 IDXF_INLINE void compare_held_avx512(struct idxi_comparison *comparison, struct near_pairs *near,
                                                 const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count,
                                                 const unsigned vectors) {
    __m512i held[HELD], least[UNROLLED], first = _mm512_set1_epi64((long long)b[0]);
    const __m512i limit = _mm512_set1_epi64((long long)comparison->distance);
    size_t i = 0;
    for (unsigned j = 0; j < vectors; j++)
        held[j] = _mm512_mask_loadu_epi64(first, make_lane_mask(b_count - j * LANES), b + j * LANES);
    for (; i + UNROLLED <= a_count; i += UNROLLED) {
        __m512i least_of_all = _mm512_set1_epi64(64);
        for (unsigned n = 0; n < UNROLLED; n++) {
            __m512i here = _mm512_set1_epi64((long long)a[i + n]);
            least[n] = _mm512_popcnt_epi64(_mm512_xor_si512(here, held[0]));
            for (unsigned j = 1; j < vectors; j++)
                least[n] = _mm512_min_epu32(least[n], _mm512_popcnt_epi64(_mm512_xor_si512(here, held[j])));
            least_of_all = _mm512_min_epu32(least_of_all, least[n]);
        }
        if (__builtin_expect(_mm512_cmple_epu64_mask(least_of_all, limit) != 0, 0))
            gather_near_pairs(comparison, near, a + i, least, b, b_count);
    }
    for (; i < a_count; i++) compare_with_lanes(comparison, a[i], b, b_count);
}

/* Compares each of `a` with all of `b`, HELD vectors of `b` at a time. Some near pairs may be left in *near: the caller
 * calls visit_gathered_pairs in the end. */
IDXF_AVX512 static void compare_all_avx512(struct idxi_comparison *comparison, struct near_pairs *near,
                                           const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count) {
    for (; b_count > HELD * LANES; b += HELD * LANES, b_count -= HELD * LANES)
        compare_held_avx512(comparison, near, a, a_count, b, HELD * LANES, HELD);
    if (b_count > 3 * LANES)
        compare_held_avx512(comparison, near, a, a_count, b, b_count, 4);
    else if (b_count > 2 * LANES)
        compare_held_avx512(comparison, near, a, a_count, b, b_count, 3);
    else if (b_count > LANES)
        compare_held_avx512(comparison, near, a, a_count, b, b_count, 2);
    else
        compare_held_avx512(comparison, near, a, a_count, b, b_count, 1);
}

/* How many members of buckets are gathered in a row before they are compared with one bucket. That avoids mispredicting
 * where each bucket ends, which takes longer than moving it. */
#define GATHERED 1024

/* Copies a bucket of `count` fingerprints, up to HELD vectors of them, to `place` in `gathered`, and returns the place
 * behind it. There are always HELD writes, so that no branch depends on the bucket's size. */
IDXF_AVX512 static inline size_t append_bucket(uint64_t *gathered, size_t place, const uint64_t *from, size_t count) {
    uint32_t lanes = _bzhi_u32(UINT32_MAX, (unsigned)count);
    for (unsigned i = 0; i < HELD; i++)
        _mm512_storeu_si512(gathered + place + i * LANES,
                            _mm512_maskz_loadu_epi64((__mmask8)(lanes >> i * LANES), from + i * LANES));
    return place + count;
}

/* The `buckets` of idxi_compare_way for AVX-512. Gathers small buckets of `a` in a row, and compares them with one
 * bucket of `b` together. */
IDXF_AVX512 static void compare_buckets_avx512(struct idxi_comparison *comparison,
                                               const struct idxi_bucket_pairs *pairs) {
    uint64_t gathered[GATHERED + HELD * LANES];
    struct near_pairs near;
    near.count = 0;
    for (uint64_t value = pairs->first_value; value < pairs->end_value; value++) {
        uint64_t b_value = value ^ pairs->high_flips;
        struct two_buckets two = {.b = pairs->b + pairs->b_starts[b_value],
                                  .b_count = pairs->b_starts[b_value + 1] - pairs->b_starts[b_value]};
        size_t gathered_count = 0;
        for (size_t i = 0; i < pairs->low_count && two.b_count > 0; i++) {
            if (!add_bucket_of_a(comparison, pairs, value ^ pairs->low_flips[i], b_value, &two)) continue;
            if (two.are_same) {
                compare_within_avx512(comparison, two.a, two.a_count);
            } else if (__builtin_expect(two.a_count > HELD * LANES, 0)) {
                compare_all_avx512(comparison, &near, two.a, two.a_count, two.b, two.b_count);
            } else {
                gathered_count = append_bucket(gathered, gathered_count, two.a, two.a_count);
                if (gathered_count < GATHERED) continue;
                compare_all_avx512(comparison, &near, gathered, gathered_count, two.b, two.b_count);
                gathered_count = 0;
            }
        }
        if (gathered_count > 0) compare_all_avx512(comparison, &near, gathered, gathered_count, two.b, two.b_count);
    }
    visit_gathered_pairs(comparison, &near);
}

/* Fingerprints that may be near to members of their buckets: the fold of one is near, or there are more members than
 * folds were compared. The members are prefetched, and compared later. */
#define POSSIBLE 16
struct possible {
    uint64_t fingerprints[POSSIBLE];
    size_t count;
};

/* Compares each fingerprint of *possible with all members of its bucket of `b`, and empties *possible. */
IDXF_AVX512 static void compare_possible(struct idxi_comparison *comparison, struct possible *possible,
                                         const struct idxi_folded_buckets *b) {
    for (size_t i = 0; i < possible->count; i++) {
        uint64_t value = _pext_u64(possible->fingerprints[i], b->mask);
        size_t begin = b->buckets.starts[value], members = b->buckets.starts[value + 1] - begin;
        compare_with_lanes(comparison, possible->fingerprints[i], b->buckets.fingerprints + begin, members);
    }
    possible->count = 0;
}

/* The `with_bucket` of idxi_compare_way for AVX-512. Compares the folds of the first members of a bucket, always
 * IDXI_FOLD_PADDING of them, and whole fingerprints only where a fold is near. Folds behind the end of the bucket are
 * seldom near; if one is, only time is lost. */
IDXF_AVX512 static void compare_with_buckets_avx512(struct idxi_comparison *comparison, const uint64_t *a, size_t count,
                                                    const struct idxi_folded_buckets *b) {
    const __m512i limit = _mm512_set1_epi32((int)comparison->distance);
    const uint32_t *starts = b->buckets.starts;
    struct possible possible = {.count = 0};
    for (size_t i = 0; i < count; i++) {
        uint64_t value = _pext_u64(a[i], b->mask);
        size_t begin = starts[value], members = starts[value + 1] - begin;
        __m512i fold = _mm512_set1_epi32((int)idxi_fold(a[i]));
        __m512i errors = _mm512_popcnt_epi32(_mm512_xor_si512(_mm512_loadu_si512(b->folds + begin), fold));
        __m512i more_errors = _mm512_popcnt_epi32(_mm512_xor_si512(_mm512_loadu_si512(b->folds + begin + 16), fold));
        __mmask16 near = _mm512_cmple_epu32_mask(_mm512_min_epu32(errors, more_errors), limit);
        if (__builtin_expect(near == 0 && members <= IDXI_FOLD_PADDING, 1)) continue;
        __builtin_prefetch(b->buckets.fingerprints + begin);
        __builtin_prefetch(b->buckets.fingerprints + begin + LANES);
        possible.fingerprints[possible.count++] = a[i];
        if (possible.count == POSSIBLE) compare_possible(comparison, &possible, b);
    }
    compare_possible(comparison, &possible, b);
}

static const struct idxi_compare_way avx512 = {.name = "AVX-512",
                                               .within = compare_within_avx512,
                                               .between = compare_between_avx512,
                                               .runs = compare_runs_avx512,
                                               .buckets = compare_buckets_avx512,
                                               .with_bucket = compare_with_buckets_avx512,
                                               .count = count_values_bmi2,
                                               .place = place_values_bmi2,
                                               .vector_time = IDXI_AVX512_TIME,
                                               .lanes = LANES};
#endif

void idxi_sort_by_mask(const struct idxi_compare_way *way, const uint64_t *from, size_t count, uint64_t mask,
                       uint64_t *to, uint32_t *counts) {
    size_t values = (size_t)1 << idxf_count_bits(mask);
    memset(counts, 0, (values + 1) * sizeof *counts);
    way->count(from, count, mask, counts + 1); /* one place further, so that the sums are where values begin */
    for (size_t i = 1; i < values; i++) counts[i] += counts[i - 1];
    way->place(from, count, mask, to, counts); /* moves each beginning to the end */
}

size_t idxi_list_compare_ways(const struct idxi_compare_way *ways[IDXI_MAX_COMPARE_WAYS]) {
    size_t count = 0;
    ways[count++] = &portable;
#ifdef IDXF_X86
    if (idxf_has_bmi2() && idxf_has_avx2()) ways[count++] = &avx2;
    if (idxf_has_avx512()) ways[count++] = &avx512;
#endif
    return count;
}

const struct idxi_compare_way *idxi_get_widest_compare_way(void) {
    const struct idxi_compare_way *ways[IDXI_MAX_COMPARE_WAYS];
    return ways[idxi_list_compare_ways(ways) - 1];
}
