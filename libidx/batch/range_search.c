/* range_search.c: searches a decoded range for a query, item by item, with the processor's widest instructions. */
#include "format/processor.h"
#include "libidx/batch/decoded_range.h"
#include "libidx/view/live.h"

/* Adds an item that seems near to the query to the matches, unless it is too far, or an earlier table finds it, or it
 * was removed from the segment. After an error, it adds nothing. The distance is computed again, because masks of
 * vectors can't be trusted: gcc 12 spills an 8-bit mask as a byte and reads it back as 32 bits when it runs out of
 * registers. */
static void add_if_match(struct idxi_range_search *search, uint64_t item) {
    const struct idxi_sorted_queries *queries = search->queries;
    const struct idxf_permutation *permutation = &queries->table->permutation;
    uint64_t errors = idxf_unpermute(permutation, item ^ search->permuted);
    if ((unsigned)__builtin_popcountll(errors) > search->distance) return;
    if (search->status != IDX_OK || !idxi_owns_match(search->probing, queries->order, errors)) return;
    uint64_t fingerprint = idxf_unpermute(permutation, item);
    if (idxi_get_first_live_segment(search->index, fingerprint) > queries->segment) return;
    search->status = idxi_add_match(search->buffer, search->number, fingerprint, search->error);
}

/* Compares the query with all items that share the first `prefix` bits of `value`, and adds those that match. */
IDXF_INLINE void search_cells(struct idxi_range_search *search, uint64_t value, unsigned prefix) {
    const struct idxi_decoded_range *range = search->range;
    uint64_t rest_mask = idxf_low_bits(64 - prefix);
    size_t first_cell = idxi_get_cell(range, value & ~rest_mask), last_cell = idxi_get_cell(range, value | rest_mask);
    for (size_t i = range->cells[first_cell], end = range->cells[last_cell + 1]; i < end; i++) {
        uint64_t item = range->items[i];
        if (idxf_count_bits(item ^ search->permuted) <= search->distance && ((item ^ value) & ~rest_mask) == 0)
            add_if_match(search, item);
    }
}

/* Calls `search_one` for each pattern of flipped bits that idxi_probe_table would probe. While further bits may be
 * flipped, items must agree only in the flippable bits: that finds all values of the spared bits behind them at once.
 * `search_deeper` is the calling function itself, for patterns with further bits flipped, since what is inlined can't
 * call itself. */
IDXF_INLINE void search_patterns(struct idxi_range_search *search, uint64_t value, unsigned bit, unsigned radius,
                                 void (*search_one)(struct idxi_range_search *, uint64_t, unsigned),
                                 idxi_search_range search_deeper) {
    const struct idxi_sorted_queries *queries = search->queries;
    if (radius == 0) {
        search_one(search, value, queries->table->prefix);
        return;
    }
    search_one(search, value, queries->flippable);
    while (bit > 64 - queries->flippable) {
        bit--;
        if (radius == 1)
            search_one(search, value ^ UINT64_C(1) << bit, queries->table->prefix);
        else
            search_deeper(search, value ^ UINT64_C(1) << bit, bit, radius - 1);
    }
}

/* search_cells as a function, for any processor. */
static void search_cells_portably(struct idxi_range_search *search, uint64_t value, unsigned prefix) {
    search_cells(search, value, prefix);
}

/* The idxi_search_range for any processor. */
static void search_portably(struct idxi_range_search *search, uint64_t value, unsigned bit, unsigned radius) {
    search_patterns(search, value, bit, radius, search_cells_portably, search_portably);
}

#ifdef IDXF_X86
#include <immintrin.h>

/* search_cells as a function, for processors with BMI2. */
IDXF_BMI2 static inline __attribute__((always_inline)) void search_cells_bmi2(struct idxi_range_search *search,
                                                                              uint64_t value, unsigned prefix) {
    search_cells(search, value, prefix);
}

/* The idxi_search_range for processors with BMI2. */
IDXF_BMI2 static void search_bmi2(struct idxi_range_search *search, uint64_t value, unsigned bit, unsigned radius) {
    search_patterns(search, value, bit, radius, search_cells_bmi2, search_bmi2);
}

/* Does what search_cells does, eight items at once. Up to seven items behind the last cell are read as well, hence the
 * padding of ranges, but not added. */
IDXF_AVX512 static inline __attribute__((always_inline)) void search_cells_avx512(struct idxi_range_search *search,
                                                                                  uint64_t value, unsigned prefix) {
    const struct idxi_decoded_range *range = search->range;
    uint64_t rest_mask = idxf_low_bits(64 - prefix);
    size_t first_cell = idxi_get_cell(range, value & ~rest_mask), last_cell = idxi_get_cell(range, value | rest_mask);
    size_t i = range->cells[first_cell], end = range->cells[last_cell + 1];
    __m512i query = _mm512_set1_epi64((long long)search->permuted);
    __m512i limit = _mm512_set1_epi64(search->distance);
    do {
        __m512i errors = _mm512_popcnt_epi64(_mm512_xor_si512(_mm512_loadu_si512(range->items + i), query));
        unsigned near = _mm512_cmple_epu64_mask(errors, limit);
        for (; __builtin_expect(near != 0, 0); near &= near - 1) {
            size_t hit = i + (size_t)__builtin_ctz(near);
            if (hit < end && ((range->items[hit] ^ value) & ~rest_mask) == 0) add_if_match(search, range->items[hit]);
        }
        i += 8;
    } while (__builtin_expect(i < end, 0));
}

/* The idxi_search_range for processors with AVX-512. */
IDXF_AVX512 static void search_avx512(struct idxi_range_search *search, uint64_t value, unsigned bit, unsigned radius) {
    search_patterns(search, value, bit, radius, search_cells_avx512, search_avx512);
}
#endif

idxi_search_range idxi_choose_search_range(void) {
#ifdef IDXF_X86
    if (idxf_has_avx512()) return search_avx512;
    if (idxf_has_bmi2()) return search_bmi2;
#endif
    return search_portably;
}
