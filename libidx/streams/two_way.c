/* two_way.c: merges two arrays, portably, or fingerprints alone with AVX-512. */
#include "libidx/streams/two_way.h"

#include <stdbool.h>

#include "format/processor.h"

/* Whether entry i of a comes before entry j of b, or equals it. Without values, compares fingerprints alone. */
IDXF_INLINE bool comes_from_a(const struct idxi_sides *sides, size_t i, size_t j, bool with_values) {
    bool is_not_above = sides->a[i] <= sides->b[j];
    if (!with_values) return is_not_above;
    return is_not_above & ((sides->a[i] != sides->b[j]) | (sides->a_values[i] <= sides->b_values[j]));
}

/* Returns how many of the first `count` merged entries come from a, by a binary search: at least `low` of them do, and
 * at most `high`. Both sides must have `count` entries or more. */
IDXF_INLINE size_t count_from_a(const struct idxi_sides *sides, size_t count, bool with_values) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (comes_from_a(sides, middle, count - 1 - middle, with_values))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Writes merged entry number `place`, from 0. *next_a is the index of the next entry of a, that is, how many of the
 * entries before came from a; it is increased if this one does, too. */
IDXF_INLINE void write_next_entry(const struct idxi_sides *sides, size_t place, size_t *next_a, bool with_values) {
    size_t next_b = place - *next_a;
    bool from_a = comes_from_a(sides, *next_a, next_b, with_values);
    const uint64_t *next = from_a ? sides->a + *next_a : sides->b + next_b;
    if (with_values) {
        const uint64_t *values = from_a ? sides->a_values + *next_a : sides->b_values + next_b;
        sides->out_values[place] = *values;
    }
    sides->out[place] = *next;
    *next_a += from_a;
}

/* Merges `count` entries, and returns how many come from a. Each entry depends on the one before it, so four parts of
 * the result are merged side by side, between which the processor can overlap work. */
IDXF_INLINE size_t merge_parts(const struct idxi_sides *sides, size_t count, bool with_values) {
    size_t part_size = count / 4, i0 = 0, i1 = count_from_a(sides, part_size, with_values);
    size_t i2 = count_from_a(sides, 2 * part_size, with_values), i3 = count_from_a(sides, 3 * part_size, with_values);
    for (size_t place = 0; place < part_size; place++) {
        write_next_entry(sides, place, &i0, with_values);
        write_next_entry(sides, part_size + place, &i1, with_values);
        write_next_entry(sides, 2 * part_size + place, &i2, with_values);
        write_next_entry(sides, 3 * part_size + place, &i3, with_values);
    }
    for (size_t place = 4 * part_size; place < count; place++) write_next_entry(sides, place, &i3, with_values);
    return i3;
}

size_t idxi_merge_entries(const struct idxi_sides *sides, size_t count) { return merge_parts(sides, count, true); }

/* Does what idxi_merge_fingerprints says, with instructions that every processor has. */
static size_t merge_portably(const struct idxi_sides *sides, size_t count) { return merge_parts(sides, count, false); }

#ifdef IDXF_X86
#include <immintrin.h>

#define LANES 8

/* One of two merges that run side by side. It writes eight fingerprints at a time, and holds the next eight of one side
 * or of both in `high`, ascending, which are not written yet. */
struct lane_merge {
    const uint64_t *a, *b; /* the next of each side */
    uint64_t *out;
    __m512i high;
};

/* Sorts eight numbers that rise and then fall, or fall and then rise (Batcher, AFIPS 1968). */
IDXF_AVX512 static inline __m512i sort_bitonic(__m512i x) {
    __m512i other = _mm512_shuffle_i64x2(x, x, 0x4e);
    x = _mm512_mask_blend_epi64(0xf0, _mm512_min_epu64(x, other), _mm512_max_epu64(x, other));
    other = _mm512_permutex_epi64(x, 0x4e);
    x = _mm512_mask_blend_epi64(0xcc, _mm512_min_epu64(x, other), _mm512_max_epu64(x, other));
    other = _mm512_permutex_epi64(x, 0xb1);
    return _mm512_mask_blend_epi64(0xaa, _mm512_min_epu64(x, other), _mm512_max_epu64(x, other));
}

/* Begins a merge behind the first `i` entries of a and `j` of b, and loads the next eight of the side that is lower.
 * Each side must have as many left. */
IDXF_AVX512 static inline struct lane_merge begin_lanes(const struct idxi_sides *sides, size_t i, size_t j) {
    const uint64_t *a = sides->a + i, *b = sides->b + j;
    bool from_a = *a <= *b;
    __m512i held = _mm512_loadu_si512(from_a ? a : b);
    return (struct lane_merge){
        .a = a + (from_a ? LANES : 0), .b = b + (from_a ? 0 : LANES), .out = sides->out + i + j, .high = held};
}

/* Writes the eight least of the fingerprints in merge->high and the next eight of the side that is lower. Keeps the
 * other eight in merge->high. */
IDXF_AVX512 static inline void write_next_lanes(struct lane_merge *merge) {
    const __m512i backwards = _mm512_set_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    bool from_a = *merge->a <= *merge->b;
    __m512i next = _mm512_loadu_si512(from_a ? merge->a : merge->b);
    merge->a += from_a ? LANES : 0;
    merge->b += from_a ? 0 : LANES;
    next = _mm512_permutexvar_epi64(backwards, next);
    __m512i low = _mm512_min_epu64(merge->high, next);
    merge->high = sort_bitonic(_mm512_max_epu64(merge->high, next));
    _mm512_storeu_si512(merge->out, sort_bitonic(low));
    merge->out += LANES;
}

/* How many entries at the end are merged one by one, so that lanes never read beyond the end of a side: 8 that are
 * held, 8 that are being read, and 8 that are looked at. */
#define LANES_REST ((size_t)3 * LANES)

/* Does what idxi_merge_fingerprints says: two halves side by side, in lanes, and the last entries one by one. If there
 * are few, all are merged portably. */
IDXF_AVX512 static size_t merge_avx512(const struct idxi_sides *sides, size_t count) {
    if (count < 4 * LANES_REST) return merge_portably(sides, count);
    size_t half_count = (count - LANES_REST) / (2 * LANES) * LANES, from_a = count_from_a(sides, half_count, false);
    struct lane_merge first = begin_lanes(sides, 0, 0), second = begin_lanes(sides, from_a, half_count - from_a);
    for (size_t place = 0; place < half_count; place += LANES) {
        write_next_lanes(&first);
        write_next_lanes(&second);
    }
    from_a = count_from_a(sides, 2 * half_count, false);
    for (size_t place = 2 * half_count; place < count; place++) write_next_entry(sides, place, &from_a, false);
    return from_a;
}
#endif

size_t idxi_merge_fingerprints(const struct idxi_sides *sides, size_t count) {
#ifdef IDXF_X86
    if (idxf_has_avx512()) return merge_avx512(sides, count);
#endif
    return merge_portably(sides, count);
}
