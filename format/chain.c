/* chain.c: goes along chains of differences (SPEC.md, chapter 7): one after the other, portably or with BMI2, and eight
 * side by side with AVX-512. */
#include "format/block.h"
#include "format/processor.h"

/* ---- One after the other ---- */

/* A chain gone along, from its last fingerprint downwards. */
struct walk {
    const uint8_t *block;
    uint64_t codes;   /* those to come, of a small block */
    uint64_t x;       /* the fingerprint at hand */
    size_t at, end;   /* the next code, and the end of the next tail; in bits */
    size_t codes_end; /* codes end here at the latest */
    size_t size;      /* of the block, bytes */
};

/* The codes of a small block are in one word from its chain's beginning on. */
IDXF_INLINE struct walk begin_walk(const struct idxf_decoder *decoder, const uint8_t *block, uint64_t key, size_t begin,
                                   size_t end, bool small) {
    struct walk walk = {block, 0, key, begin, end, end, decoder->block_size};
    if (!small) return walk;
    uint64_t first = idxf_load64(block + begin / 8), second = idxf_load64(block + begin / 8 + 8);
    walk.codes = first >> begin % 8 | second << 1 << (63 - begin % 8);
    if (end > begin + IDXF_MAX_CODES_BITS) walk.codes_end = begin + IDXF_MAX_CODES_BITS;
    return walk;
}

/* Goes to the next fingerprint. False where there is none. A tail is taken from the 8 bytes up to its end, which lie in
 * the block. One that is not strict goes on behind the last codes of a small block, as if 0 bits followed: a sound
 * block ends there all the same. */
IDXF_INLINE bool step(const struct idxf_decoder *decoder, struct walk *walk, bool small, bool strict) {
    uint64_t codes = small ? walk->codes : idxf_peek_bits(walk->block, walk->size, walk->at);
    size_t next = codes % IDXF_CLASSES, tail = decoder->tails[next], byte = (walk->end + 7) / 8;
    size_t at = walk->at + decoder->lengths[next];
    if (at + tail > walk->end || (strict && at > walk->codes_end)) return false;
    if (__builtin_expect(byte < 8, 0)) byte = 8;
    uint64_t bits = idxf_load64(walk->block + byte - 8) << (byte * 8 - walk->end);
    uint64_t difference = bits >> 1 >> (63 - tail) | decoder->leads[next];
    if (difference == 0) return false;
    walk->codes = codes >> decoder->lengths[next];
    walk->at = at;
    walk->end -= tail;
    walk->x -= difference;
    return true;
}

IDXF_INLINE void search_lane(const struct idxf_decoder *decoder, const struct idxf_lanes *lanes, unsigned lane,
                             unsigned distance, struct idxf_hits *hits, bool small) {
    struct walk walk =
        begin_walk(decoder, lanes->blocks[lane], lanes->keys[lane], lanes->begins[lane], lanes->ends[lane], small);
    uint64_t low = lanes->low[lane], high = lanes->high[lane], query = lanes->queries[lane];
    unsigned left = IDXF_MAX_BLOCK_FINGERPRINTS; /* a small block ends before it has as many */
    while (walk.x > high) {
        if (!step(decoder, &walk, small, false) || (!small && left-- == 0)) return;
    }
    while (walk.x >= low) {
        if (walk.x <= high && idxf_count_bits(walk.x ^ query) <= distance) {
            hits->fingerprints[hits->count] = walk.x;
            hits->lanes[hits->count++] = (uint8_t)lane;
        }
        if (!step(decoder, &walk, small, false) || (!small && left-- == 0)) return;
    }
}

IDXF_INLINE void search(const struct idxf_decoder *decoder, const struct idxf_lanes *lanes, unsigned count,
                        unsigned distance, struct idxf_hits *hits) {
    for (unsigned lane = 0; lane < count; lane++) {
        if (decoder->is_small)
            search_lane(decoder, lanes, lane, distance, hits, true);
        else
            search_lane(decoder, lanes, lane, distance, hits, false);
    }
}

/* The most fingerprints that a chain is followed to: one more than it may have. */
IDXF_INLINE size_t get_most(bool small) { return small ? IDXF_MAX_CODES_BITS + 2 : IDXF_MAX_BLOCK_FINGERPRINTS + 1; }

/* Copied at a time. */
#define COPIED 4

/* The fingerprints of a chain, left-aligned, ascending. Up to COPIED words behind them are written, too. */
IDXF_INLINE size_t decode_chain(const struct idxf_decoder *decoder, const struct idxf_chain *chain,
                                uint64_t *fingerprints, bool small) {
    struct walk walk = begin_walk(decoder, chain->block, chain->key, chain->begin, chain->end, small);
    uint64_t descending[IDXF_MAX_BLOCK_FINGERPRINTS + 1 + COPIED], *end = descending + get_most(small), *next = end;
    unsigned align = 64 - decoder->bits;
    uint64_t before = walk.x;
    do {
        if (walk.x < chain->floor || walk.x > before) return 0;
        before = walk.x;
        *--next = walk.x << align;
    } while (next > descending && step(decoder, &walk, small, true));
    size_t count = (size_t)(end - next);
    for (size_t i = 0; i < count; i += COPIED) memcpy(fingerprints + i, next + i, COPIED * sizeof *next);
    return count;
}

IDXF_INLINE void decode(const struct idxf_decoder *decoder, const struct idxf_chain *chains, unsigned count,
                        uint64_t *fingerprints, size_t counts[IDXF_LANES]) {
    for (unsigned i = 0; i < count; i++) {
        if (decoder->is_small)
            counts[i] = decode_chain(decoder, &chains[i], fingerprints, true);
        else
            counts[i] = decode_chain(decoder, &chains[i], fingerprints, false);
        fingerprints += counts[i];
    }
}

static void search_portable(const struct idxf_decoder *decoder, const struct idxf_lanes *lanes, unsigned count,
                            unsigned distance, struct idxf_hits *hits) {
    search(decoder, lanes, count, distance, hits);
}

static void decode_portable(const struct idxf_decoder *decoder, const struct idxf_chain *chains, unsigned count,
                            uint64_t *fingerprints, size_t counts[IDXF_LANES]) {
    decode(decoder, chains, count, fingerprints, counts);
}

static const struct idxf_way portable = {"portable", search_portable, decode_portable};

enum idxf_fault idxf_block_check_padding(const struct idxf_decoder *decoder, const uint8_t *block,
                                         struct idxf_bounds bounds) {
    struct idxf_chain chains[IDXF_MAX_CHAINS];
    enum idxf_fault fault = IDXF_OK;
    unsigned count = idxf_block_list_chains(decoder, block, bounds, chains, &fault);
    if (count > 0 && !idxf_block_has_clear_list(decoder, block, count)) return IDXF_FAULT_PADDING;
    for (unsigned i = 0; i < count; i++) {
        struct walk walk = begin_walk(decoder, block, chains[i].key, chains[i].begin, chains[i].end, decoder->is_small);
        while (step(decoder, &walk, decoder->is_small, true)) continue;
        for (size_t bit = walk.at; bit < walk.end; bit++) {
            if (block[bit / 8] >> bit % 8 & 1) return IDXF_FAULT_PADDING;
        }
    }
    return fault;
}

#ifdef IDXF_X86
#include <immintrin.h>

IDXF_BMI2 static void search_bmi2(const struct idxf_decoder *decoder, const struct idxf_lanes *lanes, unsigned count,
                                  unsigned distance, struct idxf_hits *hits) {
    search(decoder, lanes, count, distance, hits);
}

IDXF_BMI2 static void decode_bmi2(const struct idxf_decoder *decoder, const struct idxf_chain *chains, unsigned count,
                                  uint64_t *fingerprints, size_t counts[IDXF_LANES]) {
    decode(decoder, chains, count, fingerprints, counts);
}

static const struct idxf_way bmi2 = {"bmi2", search_bmi2, decode_bmi2};

/* ---- Eight side by side ---- */

#define AVX512_INLINE IDXF_AVX512 static inline __attribute__((always_inline))

AVX512_INLINE __m512i splat(uint64_t value) { return _mm512_set1_epi64((long long)value); }

/* Chains gone along side by side: as struct walk. */
struct walks {
    __m512i blocks, codes, x, at, end, codes_end;
    __m512i lengths, tails; /* of codes, as the decoder has them */
};

/* 8 bytes from each of the addresses, where `mask` is set. */
AVX512_INLINE __m512i gather(__mmask8 mask, __m512i addresses) {
    return _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), mask, addresses, NULL, 1);
}

/* The codes from walks->at on, 57 bits at least. */
AVX512_INLINE __m512i get_codes(const struct walks *walks, __mmask8 open, size_t size) {
    __m512i byte = _mm512_min_epu64(_mm512_srli_epi64(walks->at, 3), splat(size - 8));
    __m512i shift = _mm512_sub_epi64(walks->at, _mm512_slli_epi64(byte, 3));
    return _mm512_srlv_epi64(gather(open, _mm512_add_epi64(walks->blocks, byte)), shift);
}

AVX512_INLINE void begin_walks(struct walks *walks, const struct idxf_decoder *decoder, __mmask8 lanes, bool small) {
    walks->lengths = _mm512_loadu_si512(decoder->lengths);
    walks->tails = _mm512_loadu_si512(decoder->lead_tails);
    walks->codes_end = walks->end;
    if (!small) return;
    __m512i byte = _mm512_srli_epi64(walks->at, 3), shift = _mm512_and_si512(walks->at, splat(7));
    __m512i address = _mm512_add_epi64(walks->blocks, byte), more = gather(lanes, _mm512_add_epi64(address, splat(8)));
    walks->codes = _mm512_or_si512(_mm512_srlv_epi64(gather(lanes, address), shift),
                                   _mm512_sllv_epi64(more, _mm512_sub_epi64(splat(64), shift)));
    walks->codes_end = _mm512_min_epu64(walks->end, _mm512_add_epi64(walks->at, splat(IDXF_MAX_CODES_BITS)));
}

/* Goes to the next fingerprint of each chain that is open. Returns those that have one; of the others x stays. */
AVX512_INLINE __mmask8 step_all(struct walks *walks, __mmask8 open, size_t size, bool small, bool strict) {
    const __mmask64 first_bytes = 0x0101010101010101;
    __m512i codes = small ? walks->codes : get_codes(walks, open, size);
    __m512i length = _mm512_maskz_permutexvar_epi8(first_bytes, codes, walks->lengths);
    __m512i tail = _mm512_maskz_permutexvar_epi8(first_bytes, codes, walks->tails);
    __m512i tail_length = _mm512_and_si512(tail, splat(IDXF_LEADS - 1)), lead = _mm512_srli_epi64(tail, 6);
    walks->codes = _mm512_srlv_epi64(codes, length);
    walks->at = _mm512_add_epi64(walks->at, length);
    open = _mm512_mask_cmple_epu64_mask(open, _mm512_add_epi64(walks->at, tail_length), walks->end);
    if (strict) open = _mm512_mask_cmple_epu64_mask(open, walks->at, walks->codes_end);
    __m512i byte = _mm512_srli_epi64(_mm512_add_epi64(walks->end, splat(7)), 3);
    byte = _mm512_max_epu64(byte, splat(8));
    __m512i bits = gather(open, _mm512_add_epi64(walks->blocks, _mm512_sub_epi64(byte, splat(8))));
    bits = _mm512_sllv_epi64(bits, _mm512_sub_epi64(_mm512_slli_epi64(byte, 3), walks->end));
    bits = _mm512_srlv_epi64(bits, _mm512_sub_epi64(splat(64), tail_length));
    __m512i difference = _mm512_or_si512(bits, _mm512_sllv_epi64(lead, tail_length));
    open = _mm512_mask_test_epi64_mask(open, difference, difference);
    walks->end = _mm512_sub_epi64(walks->end, tail_length);
    walks->x = _mm512_mask_sub_epi64(walks->x, open, walks->x, difference);
    return open;
}

/* Keeps what was found in some lanes. */
AVX512_INLINE void keep_hits(struct idxf_hits *hits, __mmask8 near, __m512i x) {
    const __m128i lanes = _mm_set_epi64x(0, 0x0706050403020100);
    _mm512_storeu_si512(hits->fingerprints + hits->count, _mm512_maskz_compress_epi64(near, x));
    _mm_storel_epi64((__m128i *)(void *)(hits->lanes + hits->count), _mm_maskz_compress_epi8(near, lanes));
    hits->count += idxf_count_bits(near);
}

AVX512_INLINE void search_walks(const struct idxf_decoder *decoder, const struct idxf_lanes *lanes, unsigned count,
                                unsigned distance, struct idxf_hits *hits, bool small) {
    struct walks walks;
    walks.blocks = _mm512_loadu_si512(lanes->blocks);
    walks.x = _mm512_loadu_si512(lanes->keys);
    walks.at = _mm512_loadu_si512(lanes->begins);
    walks.end = _mm512_loadu_si512(lanes->ends);
    __m512i low = _mm512_loadu_si512(lanes->low), high = _mm512_loadu_si512(lanes->high);
    __m512i query = _mm512_loadu_si512(lanes->queries);
    __mmask8 open = (__mmask8)((1u << count) - 1);
    begin_walks(&walks, decoder, open, small);
    for (unsigned i = 0; open != 0 && i <= IDXF_MAX_BLOCK_FINGERPRINTS; i++) {
        __m512i errors = _mm512_popcnt_epi64(_mm512_xor_si512(walks.x, query));
        open = _mm512_mask_cmpge_epu64_mask(open, walks.x, low);
        __mmask8 near = _mm512_mask_cmple_epu64_mask(open, errors, splat(distance));
        near = _mm512_mask_cmple_epu64_mask(near, walks.x, high);
        if (near != 0) keep_hits(hits, near, walks.x);
        open = step_all(&walks, open, decoder->block_size, small, false);
    }
}

IDXF_AVX512 static void search_avx512(const struct idxf_decoder *decoder, const struct idxf_lanes *lanes,
                                      unsigned count, unsigned distance, struct idxf_hits *hits) {
    if (decoder->is_small)
        search_walks(decoder, lanes, count, distance, hits, true);
    else
        search_walks(decoder, lanes, count, distance, hits, false);
}

/* Steps of chains side by side. */
struct steps {
    uint64_t x[IDXF_MAX_BLOCK_FINGERPRINTS + 1][IDXF_LANES];
};

/* Takes the steps of one lane, from the last one to the first. */
AVX512_INLINE void take_steps(const struct steps *steps, unsigned lane, size_t count, uint64_t *fingerprints) {
    for (size_t i = 0; i < count; i++) fingerprints[i] = steps->x[count - 1 - i][lane];
}

AVX512_INLINE void decode_walks(const struct idxf_decoder *decoder, const struct idxf_chain *chains, unsigned count,
                                uint64_t *fingerprints, size_t counts[IDXF_LANES], bool small) {
    struct steps steps;
    struct idxf_lanes lanes; /* `low`: the floors */
    struct walks walks;
    __m512i sums = _mm512_setzero_si512();
    __m128i align = _mm_cvtsi32_si128(64 - (int)decoder->bits);
    for (unsigned i = 0; i < IDXF_LANES; i++) {
        const struct idxf_chain *chain = &chains[i < count ? i : 0];
        lanes.blocks[i] = chain->block;
        lanes.keys[i] = chain->key;
        lanes.low[i] = chain->floor;
        lanes.begins[i] = chain->begin;
        lanes.ends[i] = chain->end;
    }
    walks.blocks = _mm512_loadu_si512(lanes.blocks);
    walks.x = _mm512_loadu_si512(lanes.keys);
    walks.at = _mm512_loadu_si512(lanes.begins);
    walks.end = _mm512_loadu_si512(lanes.ends);
    __m512i floors = _mm512_loadu_si512(lanes.low);
    __mmask8 open = (__mmask8)((1u << count) - 1), sound = open;
    begin_walks(&walks, decoder, open, small);
    __m512i before = walks.x;
    for (size_t i = 0; open != 0 && i < get_most(small); i++) {
        sound &= (__mmask8)~_mm512_cmplt_epu64_mask(walks.x, floors);
        sound &= (__mmask8)~_mm512_cmpgt_epu64_mask(walks.x, before);
        before = walks.x;
        _mm512_storeu_si512(steps.x[i], _mm512_sll_epi64(walks.x, align));
        sums = _mm512_mask_add_epi64(sums, open, sums, splat(1));
        open = step_all(&walks, open & sound, decoder->block_size, small, true);
    }
    _mm512_storeu_si512(lanes.keys, _mm512_maskz_mov_epi64(sound, sums));
    for (unsigned i = 0; i < count; i++) {
        counts[i] = lanes.keys[i];
        take_steps(&steps, i, counts[i], fingerprints);
        fingerprints += counts[i];
    }
}

IDXF_AVX512 static void decode_avx512(const struct idxf_decoder *decoder, const struct idxf_chain *chains,
                                      unsigned count, uint64_t *fingerprints, size_t counts[IDXF_LANES]) {
    if (count == 0) return;
    if (decoder->is_small)
        decode_walks(decoder, chains, count, fingerprints, counts, true);
    else
        decode_walks(decoder, chains, count, fingerprints, counts, false);
}

static const struct idxf_way avx512 = {"avx512", search_avx512, decode_avx512};
#endif

size_t idxf_decoder_ways(const struct idxf_way *ways[IDXF_MAX_WAYS]) {
    size_t count = 0;
    ways[count++] = &portable;
#ifdef IDXF_X86
    if (idxf_has_bmi2()) ways[count++] = &bmi2;
    if (idxf_has_avx512()) ways[count++] = &avx512;
#endif
    return count;
}
