/* chain_avx512.c: decodes and searches chains of differences (SPEC.md, chapter 6), eight side by side with AVX-512. */
#include "format/chain.h"

#ifdef IDXF_X86
#include <immintrin.h>

#define AVX512_INLINE IDXF_AVX512 static inline __attribute__((always_inline))

/* Returns a vector with this value for each lane. */
AVX512_INLINE __m512i broadcast(uint64_t value) { return _mm512_set1_epi64((long long)value); }

/* Codes of eight chains are read side by side. Eight of them from one chain make a stride, whose tails are taken from
 * one register: they are in a window, the 64 bytes up to the end of the first one. The codes of the next stride are
 * read before the tails of one are taken, so that processors do both at a time. */
#define STRIDE 8
#define WINDOW 64

/* The next stride of each lane: its codes are read, and its tails not yet. */
struct strides {
    const uint8_t *windows[IDXF_LANES];
    uint64_t steps[2][IDXF_LANES]; /* four of each lane, 16 bits each: see read_steps */
};

/* The state of following chains side by side, a lane for each, as struct walk of chain.c is for one. */
struct walks {
    __m512i blocks, codes, next_code, tail_end, codes_end;
    __m512i lengths, tails; /* of codes, as the decoder has them */
};

/* Begins at the keys of `count` lanes. Only small blocks' codes are read: others are read before each stride. */
AVX512_INLINE void begin_walks(struct walks *walks, const struct idxf_decoder *decoder, const struct idxf_lanes *lanes,
                               unsigned count, bool small) {
    uint64_t codes[IDXF_LANES] = {0};
    walks->blocks = _mm512_loadu_si512(lanes->blocks);
    walks->next_code = _mm512_loadu_si512(lanes->begins);
    walks->tail_end = _mm512_loadu_si512(lanes->ends);
    walks->lengths = _mm512_loadu_si512(decoder->lengths);
    walks->tails = _mm512_loadu_si512(decoder->lead_tails);
    walks->codes_end = walks->tail_end;
    if (!small) return;
    for (unsigned lane = 0; lane < count; lane++)
        codes[lane] = idxf_get_small_codes(lanes->blocks[lane], lanes->begins[lane]);
    walks->codes = _mm512_loadu_si512(codes);
    walks->codes_end =
        _mm512_min_epu64(walks->tail_end, _mm512_add_epi64(walks->next_code, broadcast(IDXF_MAX_CODES_BITS)));
}

/* Loads the next codes of the lanes whose bits of `open` are set, and sets strides->windows to where their tails are.
 * Blocks have `size` bytes. Returns at which bits of the blocks the windows begin. */
AVX512_INLINE __m512i load_codes(struct walks *walks, struct strides *strides, unsigned open, size_t size) {
    const uint8_t *blocks[IDXF_LANES];
    uint64_t at[IDXF_LANES], codes[IDXF_LANES] = {0};
    _mm512_storeu_si512(blocks, walks->blocks);
    _mm512_storeu_si512(at, walks->next_code);
    for (; open != 0; open &= open - 1) {
        unsigned lane = (unsigned)__builtin_ctz(open);
        codes[lane] = idxf_peek_bits(blocks[lane], size, at[lane]);
    }
    walks->codes = _mm512_loadu_si512(codes);
    /* A window ends with the byte that the next tail ends in, but is moved where it would leave the block. */
    __m512i window = _mm512_srli_epi64(_mm512_add_epi64(walks->tail_end, broadcast(7)), 3);
    window = _mm512_min_epu64(_mm512_max_epu64(window, broadcast(WINDOW)), broadcast(size));
    window = _mm512_sub_epi64(window, broadcast(WINDOW));
    _mm512_storeu_si512(strides->windows, _mm512_add_epi64(walks->blocks, window));
    return _mm512_slli_epi64(window, 3);
}

/* Reads the next code of each lane. `window` has the bits of the blocks at which the windows begin. Returns a step for
 * each lane: its lowest 7 bits are what decoder->lead_tails has for the code, and the next 9 are the bit of the window
 * at which the tail begins. Behind a chain's end a step has no lead and no tail. `check_codes_end` as in chain.c. */
AVX512_INLINE __m512i read_steps(struct walks *walks, __m512i window, bool check_codes_end) {
    const __mmask64 first_bytes = 0x0101010101010101;
    __m512i length = _mm512_maskz_permutexvar_epi8(first_bytes, walks->codes, walks->lengths);
    __m512i tail = _mm512_maskz_permutexvar_epi8(first_bytes, walks->codes, walks->tails);
    walks->codes = _mm512_srlv_epi64(walks->codes, length);
    walks->next_code = _mm512_add_epi64(walks->next_code, length);
    walks->tail_end = _mm512_sub_epi64(walks->tail_end, _mm512_and_si512(tail, broadcast(IDXF_NO_LEAD - 1)));
    __mmask8 open = _mm512_cmple_epi64_mask(walks->next_code, walks->tail_end);
    if (check_codes_end) open = _mm512_mask_cmple_epi64_mask(open, walks->next_code, walks->codes_end);
    __m512i begin = _mm512_slli_epi64(_mm512_sub_epi64(walks->tail_end, window), 7);
    return _mm512_mask_or_epi64(broadcast(IDXF_NO_LEAD), open, begin, tail);
}

/* Reads the codes of the next stride of the lanes whose bits of `open` are set. Of each four steps, the first is in the
 * lowest bits. A small block's codes are in registers, and its window is the whole block. */
AVX512_INLINE void read_codes(struct walks *walks, struct strides *strides, unsigned open, size_t size, bool small,
                              bool check_codes_end) {
    __m512i window = small ? _mm512_setzero_si512() : load_codes(walks, strides, open, size);
    if (small) _mm512_storeu_si512(strides->windows, walks->blocks);
    for (unsigned i = 0; i < 2; i++) {
        __m512i steps = _mm512_setzero_si512();
        for (unsigned j = 0; j < STRIDE / 2; j++)
            steps = _mm512_shrdi_epi64(steps, read_steps(walks, window, check_codes_end), 16);
        _mm512_storeu_si512(strides->steps[i], steps);
    }
}

/* This is the truth table of three bits: whether the first is 0 and the second 1, or the third is 1. */
#define CLEARED_OR 0xae

/* Returns a lane's eight differences of a stride, each a leading 1 above the tail's bits; 0 behind the chain's end. */
AVX512_INLINE __m512i extract_differences(const struct strides *strides, unsigned lane) {
    __m128i packed = _mm_set_epi64x((long long)strides->steps[1][lane], (long long)strides->steps[0][lane]);
    __m512i steps = _mm512_cvtepu16_epi64(packed), length = _mm512_and_si512(steps, broadcast(IDXF_NO_LEAD - 1));
    __m512i lead = _mm512_sllv_epi64(broadcast(1), _mm512_and_si512(steps, broadcast(2 * IDXF_NO_LEAD - 1)));
    /* Bits 10 and up of a step are the byte of the window in which the tail begins. All 8 bytes of a lane get it;
     * adding 0 to 7 makes them the numbers of the 8 bytes from there on. */
    __m512i bytes = _mm512_multishift_epi64_epi8(_mm512_set1_epi8(10), steps);
    bytes = _mm512_add_epi8(bytes, broadcast(0x0706050403020100));
    __m512i bits = _mm512_permutexvar_epi8(bytes, _mm512_loadu_si512(strides->windows[lane]));
    bits = _mm512_srlv_epi64(bits, _mm512_and_si512(_mm512_srli_epi64(steps, 7), broadcast(7)));
    __m512i beyond_tail = _mm512_sllv_epi64(broadcast(UINT64_MAX), length);
    return _mm512_ternarylogic_epi64(beyond_tail, bits, lead, CLEARED_OR);
}

/* Returns a stride's fingerprints, from below `above` downwards: `above` less the prefix sums of the differences, which
 * three additions make. Sets a bit of *nonzero for each difference but 0: the chain ends at the first clear bit. */
AVX512_INLINE __m512i extract_stride(const struct strides *strides, unsigned lane, uint64_t above, __mmask8 *nonzero) {
    const __m512i zero = _mm512_setzero_si512();
    __m512i sums = extract_differences(strides, lane);
    *nonzero = _mm512_test_epi64_mask(sums, sums);
    sums = _mm512_add_epi64(sums, _mm512_alignr_epi64(sums, zero, 7));
    sums = _mm512_add_epi64(sums, _mm512_alignr_epi64(sums, zero, 6));
    sums = _mm512_add_epi64(sums, _mm512_alignr_epi64(sums, zero, 4));
    return _mm512_sub_epi64(broadcast(above), sums);
}

/* Returns the set bits of `bits` below its lowest clear one, up to `max_count` of them: 0b0011 for 0b1011. Adding 1
 * flips these bits and that clear one. */
static inline unsigned get_lowest_run(unsigned bits, size_t max_count) {
    unsigned run = (bits ^ (bits + 1)) >> 1;
    return max_count < STRIDE ? run & ((1u << max_count) - 1) : run;
}

/* Whether a run is all of a stride, so that the chain may go on behind it. */
static inline bool is_whole_stride(unsigned run) { return run == (1u << STRIDE) - 1; }

/* Returns a bit for each fingerprint that differs from the query in at most `distance` bits and is not above `high`. */
AVX512_INLINE unsigned find_near(__m512i fingerprints, __m512i query, __m512i high, unsigned distance) {
    __m512i errors = _mm512_popcnt_epi64(_mm512_xor_si512(fingerprints, query));
    return _mm512_mask_cmple_epu64_mask(_mm512_cmple_epu64_mask(fingerprints, high), errors, broadcast(distance));
}

/* The strides of all lanes that were searched last, with a bit for each fingerprint that is near the query. */
struct last_strides {
    uint64_t fingerprints[IDXF_LANES * STRIDE];
    uint64_t near;
};

/* Appends the searched fingerprints that are near to the hits, into which a stride of each lane must still fit. */
static inline void append_near_hits(struct idxf_hits *hits, const struct last_strides *last_strides) {
    for (uint64_t near = last_strides->near; near != 0; near &= near - 1) {
        unsigned i = (unsigned)__builtin_ctzll(near);
        hits->fingerprints[hits->count] = last_strides->fingerprints[i];
        hits->lanes[hits->count++] = (uint8_t)(i / STRIDE);
    }
}

/* Searches a lane's stride, which begins below `above`, up to `limit` fingerprints, and adds it to *last_strides.
 * Returns false if the lane has nothing more to search: its chain ends, or goes on below lanes->low. */
AVX512_INLINE bool search_stride(const struct strides *strides, const struct idxf_lanes *lanes, unsigned lane,
                                 unsigned distance, size_t limit, uint64_t above, struct last_strides *last_strides) {
    __mmask8 nonzero;
    __m512i stride = extract_stride(strides, lane, above, &nonzero);
    unsigned run = get_lowest_run(_mm512_mask_cmpge_epu64_mask(nonzero, stride, broadcast(lanes->low[lane])), limit);
    uint64_t near = run & find_near(stride, broadcast(lanes->queries[lane]), broadcast(lanes->high[lane]), distance);
    _mm512_storeu_si512(last_strides->fingerprints + lane * STRIDE, stride);
    last_strides->near |= near << lane * STRIDE;
    return is_whole_stride(run);
}

/* A search in progress. What is read by lane is always in memory; the other members are written only where the search
 * is interrupted, because the hits must be taken before it goes on. */
struct search {
    struct walks walks;
    struct strides strides[2];
    struct last_strides last_strides;
    unsigned open;         /* a bit for each lane that has more to search */
    unsigned next_strides; /* which of the strides come next */
    size_t max_left;       /* how many more fingerprints a lane may have: a bound for damaged blocks */
};

/* Begins a search: sets *search and *walks, appends the keys that are near to the hits, and reads the codes of the
 * first strides. */
AVX512_INLINE void begin_search(struct search *search, struct walks *walks, const struct idxf_decoder *decoder,
                                const struct idxf_lanes *lanes, unsigned count, unsigned distance,
                                struct idxf_hits *hits, bool small) {
    __m512i keys = _mm512_loadu_si512(lanes->keys), high = _mm512_loadu_si512(lanes->high);
    search->open = _mm512_cmpge_epu64_mask(keys, _mm512_loadu_si512(lanes->low)) & ((1u << count) - 1);
    search->next_strides = 0;
    search->max_left = IDXF_MAX_BLOCK_FINGERPRINTS;
    unsigned near = search->open & find_near(keys, _mm512_loadu_si512(lanes->queries), high, distance);
    for (; near != 0; near &= near - 1) {
        hits->fingerprints[hits->count] = lanes->keys[__builtin_ctz(near)];
        hits->lanes[hits->count++] = (uint8_t)__builtin_ctz(near);
    }
    for (unsigned lane = 0; lane < count; lane++)
        search->last_strides.fingerprints[lane * STRIDE + STRIDE - 1] = lanes->keys[lane];
    begin_walks(walks, decoder, lanes, count, small);
    read_codes(walks, &search->strides[0], search->open, decoder->block_size, small, false);
}

/* The most hits with which a search goes on: those of one more stride of each lane still fit. */
#define MAX_HITS_BEFORE_STRIDE (IDXF_HITS - IDXF_LANES * STRIDE)
_Static_assert(MAX_HITS_BEFORE_STRIDE >= IDXF_LANES, "the keys may be hits before the first strides are searched");

/* If it `begins`, begins a search, else resumes the interrupted one in *search. Returns false at its end, or true where
 * it is interrupted, so that the caller calls hits->take and then this again: a call of hits->take in the loop would
 * force all vectors out of their registers. */
AVX512_INLINE bool search_until_interrupted(struct search *search, bool begins, const struct idxf_decoder *decoder,
                                            const struct idxf_lanes *lanes, unsigned count, unsigned distance,
                                            struct idxf_hits *hits, bool small) {
    struct walks walks;
    struct last_strides *last_strides = &search->last_strides;
    if (begins)
        begin_search(search, &walks, decoder, lanes, count, distance, hits, small);
    else
        walks = search->walks;
    unsigned open = search->open, i = search->next_strides;
    for (size_t max_left = search->max_left; open != 0; max_left -= STRIDE, i ^= 1) {
        bool ahead = !small || i == 0; /* few small blocks have a third stride: it is read only if needed */
        if (__builtin_expect(hits->count > MAX_HITS_BEFORE_STRIDE, 0)) {
            search->walks = walks;
            search->open = open;
            search->next_strides = i;
            search->max_left = max_left;
            return true;
        }
        if (ahead) read_codes(&walks, &search->strides[i ^ 1], open, decoder->block_size, small, false);
        last_strides->near = 0;
        for (unsigned lanes_left = open; lanes_left != 0; lanes_left &= lanes_left - 1) {
            unsigned lane = (unsigned)__builtin_ctz(lanes_left);
            uint64_t above = last_strides->fingerprints[lane * STRIDE + STRIDE - 1];
            bool goes_on = search_stride(&search->strides[i], lanes, lane, distance, max_left, above, last_strides);
            open ^= (unsigned)!goes_on << lane;
        }
        append_near_hits(hits, last_strides);
        if (!ahead && open != 0) read_codes(&walks, &search->strides[i ^ 1], open, decoder->block_size, small, false);
    }
    return false;
}

/* Hands over the hits of an interrupted search and resumes it, until it ends or hits->take ends it. Few searches are
 * interrupted: this is a function of its own, so that the others need not save registers for its calls. */
IDXF_AVX512 __attribute__((noinline)) static void resume_search(struct search *search,
                                                                const struct idxf_decoder *decoder,
                                                                const struct idxf_lanes *lanes, unsigned count,
                                                                unsigned distance, struct idxf_hits *hits) {
    for (bool more = true; more && hits->take(hits);) {
        if (decoder->is_small)
            more = search_until_interrupted(search, false, decoder, lanes, count, distance, hits, true);
        else
            more = search_until_interrupted(search, false, decoder, lanes, count, distance, hits, false);
    }
}

/* Does what idxf_search says. `small` is constant in each call of search_until_interrupted, which is inlined twice. */
IDXF_AVX512 static void search_avx512(const struct idxf_decoder *decoder, const struct idxf_lanes *lanes,
                                      unsigned count, unsigned distance, struct idxf_hits *hits) {
    struct search search;
    bool more;
    if (decoder->is_small)
        more = search_until_interrupted(&search, true, decoder, lanes, count, distance, hits, true);
    else
        more = search_until_interrupted(&search, true, decoder, lanes, count, distance, hits, false);
    if (more) resume_search(&search, decoder, lanes, count, distance, hits);
}

/* How many fingerprints below a chain's key fit into a descent, in whole strides. */
#define MAX_BELOW_KEY ((IDXF_MAX_BLOCK_FINGERPRINTS + STRIDE - 1) / STRIDE * STRIDE)

/* The state of decoding a chain from its key downwards. */
struct descent {
    uint64_t fingerprints[MAX_BELOW_KEY + STRIDE]; /* left-aligned; the key is behind MAX_BELOW_KEY others */
    uint64_t *lowest;                              /* the last stride decoded; the next one goes before it */
    uint64_t last;                                 /* the last fingerprint decoded, not aligned */
    size_t count;                                  /* fingerprints decoded; 0 where one is faulty */
};

/* Begins at the key of a chain. The descent's fingerprints are shifted to the left by `align_bits` bits. */
AVX512_INLINE void begin_descent(struct descent *descent, const struct idxf_chain *chain, unsigned align_bits) {
    descent->lowest = descent->fingerprints + MAX_BELOW_KEY;
    *descent->lowest = chain->key << align_bits;
    descent->last = chain->key;
    descent->count = chain->key >= chain->floor;
}

/* Adds a lane's stride to its descent, up to `max_count` fingerprints. Returns false at the chain's end, or where one
 * is below the floor or, by wrapping, not below the one before: then descent->count becomes 0. */
AVX512_INLINE bool add_stride_to_descent(struct descent *descent, const struct strides *strides, unsigned lane,
                                         uint64_t floor, __m128i align, size_t max_count) {
    const __m512i reverse = _mm512_set_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    __mmask8 nonzero;
    __m512i stride = extract_stride(strides, lane, descent->last, &nonzero);
    unsigned run = get_lowest_run(nonzero, max_count);
    __m512i above = _mm512_alignr_epi64(stride, broadcast(descent->last), 7);
    __mmask8 sound = _mm512_mask_cmpge_epu64_mask((__mmask8)run, stride, broadcast(floor));
    sound = _mm512_mask_cmple_epu64_mask(sound, stride, above);
    descent->lowest -= STRIDE;
    _mm512_storeu_si512(descent->lowest, _mm512_permutexvar_epi64(reverse, _mm512_sll_epi64(stride, align)));
    descent->last = (uint64_t)_mm_extract_epi64(_mm512_extracti64x2_epi64(stride, 3), 1);
    descent->count = sound == run ? descent->count + idxf_count_bits(run) : 0;
    return is_whole_stride(sound);
}

/* Copies the descent's fingerprints, ascending, and overwrites up to STRIDE - 1 words behind them. */
AVX512_INLINE void copy_descent(const struct descent *descent, uint64_t *fingerprints) {
    const uint64_t *lowest = descent->fingerprints + MAX_BELOW_KEY + 1 - descent->count;
    for (size_t i = 0; i < descent->count; i += STRIDE)
        _mm512_storeu_si512(fingerprints + i, _mm512_loadu_si512(lowest + i));
}

/* Decodes `count` chains, 1 to IDXF_LANES, in order. Lanes without a chain get the first chain's block, so that loads
 * from it are valid, and are never open. */
AVX512_INLINE void decode_side_by_side(const struct idxf_decoder *decoder, const struct idxf_chain *chains,
                                       unsigned count, uint64_t *fingerprints, size_t counts[IDXF_LANES], bool small) {
    struct descent descents[IDXF_LANES];
    struct idxf_lanes lanes;
    struct walks walks;
    struct strides strides[2];
    __m128i align = _mm_cvtsi32_si128(64 - (int)decoder->bits);
    unsigned open = 0;
    for (unsigned i = 0; i < IDXF_LANES; i++) {
        const struct idxf_chain *chain = &chains[i < count ? i : 0];
        lanes.blocks[i] = chain->block;
        lanes.begins[i] = chain->begin;
        lanes.ends[i] = chain->end;
        begin_descent(&descents[i], chain, 64 - decoder->bits);
        open |= (unsigned)(i < count && descents[i].count > 0) << i;
    }
    begin_walks(&walks, decoder, &lanes, count, small);
    read_codes(&walks, &strides[0], open, decoder->block_size, small, true);
    for (size_t max_left = idxf_get_max_decoded(small) - 1, i = 0; open != 0; max_left -= STRIDE, i ^= 1) {
        bool ahead = !small || i == 0; /* few small blocks have a third stride: it is read only if needed */
        if (ahead) read_codes(&walks, &strides[i ^ 1], open, decoder->block_size, small, true);
        for (unsigned lanes_left = open; lanes_left != 0; lanes_left &= lanes_left - 1) {
            unsigned lane = (unsigned)__builtin_ctz(lanes_left);
            bool goes_on =
                add_stride_to_descent(&descents[lane], &strides[i], lane, chains[lane].floor, align, max_left);
            open ^= (unsigned)!goes_on << lane;
        }
        if (!ahead && open != 0) read_codes(&walks, &strides[i ^ 1], open, decoder->block_size, small, true);
    }
    for (unsigned i = 0; i < count; i++) {
        counts[i] = descents[i].count;
        copy_descent(&descents[i], fingerprints);
        fingerprints += counts[i];
    }
}

/* Decodes chains as struct idxf_decoder_way says. Without a chain, the lanes would have no block that can be read. */
IDXF_AVX512 static void decode_avx512(const struct idxf_decoder *decoder, const struct idxf_chain *chains,
                                      unsigned count, uint64_t *fingerprints, size_t counts[IDXF_LANES]) {
    if (count == 0) return;
    if (decoder->is_small)
        decode_side_by_side(decoder, chains, count, fingerprints, counts, true);
    else
        decode_side_by_side(decoder, chains, count, fingerprints, counts, false);
}

const struct idxf_decoder_way idxf_avx512_way = {"avx512", search_avx512, decode_avx512};
#endif
