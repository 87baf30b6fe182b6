/* delta.c: the delta codec: differences from the block's first fingerprint in Elias-Fano form (SPEC.md, chapter 7), so
 * that the fingerprints of a range are found by counting bits, and decoded eight at a time. */
#include "format/block.h"
#include "format/bytes.h"
#include "format/processor.h"

#define HEADER_BITS (IDXF_BLOCK_HEADER_BYTES * 8)
#define WORD_BITS 64

/* ---- Choosing ---- */

/* Differences to guess from, and numbers of them that are tried side by side. */
#define FIRST_GUESS 8
#define PROBES 4

/* Of a number; 1 for 0. */
IDXF_INLINE unsigned get_length(uint64_t number) { return 64 - (unsigned)__builtin_clzll(number | 1); }

/* The width with which `count` differences up to `last` take the fewest bits, the smallest such. One bit more a low
 * part adds `count` bits, and halves the last high part: that saves no more than it adds once it is at most 2 count. */
IDXF_INLINE unsigned get_best_width(size_t count, uint64_t last) {
    unsigned high_bits = get_length(2 * count), bits = get_length(last);
    unsigned width = bits > high_bits ? bits - high_bits : 0;
    width += last >> width > 2 * count;
    return width < IDXF_MAX_LOW_BITS ? width : IDXF_MAX_LOW_BITS;
}

/* The bits that the differences of the fingerprints up to number `last`, from 0, take at least. */
IDXF_INLINE size_t get_bits(const uint64_t *fingerprints, size_t last, unsigned align) {
    uint64_t difference = (fingerprints[last] - fingerprints[0]) >> align;
    unsigned width = get_best_width(last, difference);
    return last * (width + 1) + (size_t)(difference >> width);
}

IDXF_INLINE bool fit(const uint64_t *fingerprints, size_t last, unsigned align, size_t room) {
    return get_bits(fingerprints, last, align) <= room;
}

/* How many differences fit, of which each takes as many bits as the first ones up to number `last`; 1 to `most`. */
static size_t guess(const uint64_t *fingerprints, size_t last, size_t most, unsigned align, size_t room) {
    size_t fitting = room * last / get_bits(fingerprints, last, align);
    return fitting < 1 ? 1 : fitting < most ? fitting : most;
}

/* The greatest number of differences, up to `most`, that fit. What fits with a width, fits with one fingerprint less,
 * so the numbers that fit with some are those up to the one sought. It is looked for from a guess on, in steps that
 * double, then by halves. */
static size_t search_count(const uint64_t *fingerprints, size_t most, unsigned align, size_t room) {
    size_t fits = 0, fails = most + 1, step = 1;
    if (most == 0) return 0;
    size_t begin = guess(fingerprints, most < FIRST_GUESS ? most : FIRST_GUESS, most, align, room);
    begin = guess(fingerprints, begin, most, align, room);
    if (fit(fingerprints, begin, align, room)) {
        for (fits = begin; fits + step < fails && fit(fingerprints, fits + step, align, room); step *= 2) fits += step;
        if (fits + step < fails) fails = fits + step;
    } else {
        for (fails = begin; fails > step && !fit(fingerprints, fails - step, align, room); step *= 2) fails -= step;
        if (fails > step) fits = fails - step;
    }
    while (fails - fits > 1) {
        size_t middle = fits + (fails - fits) / 2;
        if (fit(fingerprints, middle, align, room))
            fits = middle;
        else
            fails = middle;
    }
    return fits;
}

/* The same. Mostly a block has about as many as the one before, so that a few numbers beside that tell, side by side
 * and without a branch. */
IDXF_INLINE size_t choose_count(const uint64_t *fingerprints, size_t before, size_t most, unsigned align, size_t room) {
    size_t first = before > 2 ? before - 1 : 1, fitting = 0;
    if (first + PROBES <= most) {
        for (size_t i = 0; i < PROBES; i++) fitting += fit(fingerprints, first + i, align, room);
        if (fitting > 0 && fitting < PROBES) return first + fitting - 1;
    }
    return search_count(fingerprints, most, align, room);
}

/* The smallest width with which `count` differences up to `last` fit, when they do with some: the further from the best
 * width, the more bits they take. The first few are tried side by side. */
IDXF_INLINE unsigned choose_width(size_t count, uint64_t last, size_t room) {
    unsigned width = get_best_width(count, last), smaller = 0;
    if (width >= PROBES) {
        for (unsigned i = 1; i <= PROBES; i++) smaller += last >> (width - i) <= room - count * (width - i + 1);
        width -= smaller;
        if (smaller < PROBES) return width;
    }
    while (width > 0 && last >> (width - 1) <= room - count * width) width--;
    return width;
}

/* ---- Encoding ---- */

/* Writes the low parts, the first highest. Up to 8 bytes below them become 0. */
IDXF_INLINE void put_lows(const uint64_t *fingerprints, size_t count, unsigned width, unsigned align, uint8_t *end) {
    uint64_t first = fingerprints[0], bits = 0;
    unsigned used = 0; /* of `bits`, the highest; less than 8 */
    if (width == 0) return;
    for (size_t i = 1; i < count; i++) {
        bits |= (fingerprints[i] - first) >> align << (64 - width) >> used;
        idxf_store64(end - 8, bits);
        used += width;
        end -= used / 8;
        bits <<= used & ~7u;
        used %= 8;
    }
}

/* Adds bits to the 8 bytes at `at` of a block, of which some may lie behind its end. */
IDXF_INLINE void add_word(uint8_t *block, size_t size, size_t at, uint64_t bits) {
    size_t beyond = at + 8 > size ? at + 8 - size : 0;
    uint8_t *bytes = block + at - beyond;
    idxf_store64(bytes, idxf_load64(bytes) | bits << beyond * 8);
}

IDXF_INLINE void put(const uint64_t *fingerprints, size_t count, unsigned width, unsigned align, uint8_t *block,
                     size_t size) {
    uint64_t first = fingerprints[0], bits = first >> 48;
    size_t word = 1; /* of the block, to which `bits` belong */
    memset(block, 0, size);
    put_lows(fingerprints, count, width, align, block + size);
    idxf_store64(block, first << 16 | width << 10 | count);
    for (size_t i = 1; i < count; i++) {
        size_t place = HEADER_BITS - 1 + i + (size_t)((fingerprints[i] - first) >> align >> width);
        if (place / WORD_BITS != word) {
            idxf_store64(block + word * 8, bits);
            word = place / WORD_BITS;
            bits = 0;
        }
        bits |= UINT64_C(1) << place % WORD_BITS;
    }
    add_word(block, size, word * 8, bits);
}

IDXF_INLINE size_t encode_aligned(struct idxf_encoder *encoder, const uint64_t *fingerprints, size_t count,
                                  unsigned align, uint8_t *block) {
    size_t most = count < IDXF_MAX_DELTA_FINGERPRINTS ? count : IDXF_MAX_DELTA_FINGERPRINTS;
    size_t room = (size_t)encoder->block_size * 8 - HEADER_BITS;
    size_t differences = choose_count(fingerprints, encoder->before, most - 1, align, room);
    uint64_t last = (fingerprints[differences] - fingerprints[0]) >> align;
    unsigned width = choose_width(differences, last, room);
    encoder->before = differences;
    put(fingerprints, differences + 1, width, align, block, encoder->block_size);
    return differences + 1;
}

/* With nothing to shift for the usual 64 bits. */
IDXF_INLINE size_t encode(struct idxf_encoder *encoder, const uint64_t *fingerprints, size_t count, uint8_t *block) {
    if (encoder->bits == 64) return encode_aligned(encoder, fingerprints, count, 0, block);
    return encode_aligned(encoder, fingerprints, count, 64 - encoder->bits, block);
}

static size_t encode_portable(struct idxf_encoder *encoder, const uint64_t *fingerprints, size_t count,
                              uint8_t *block) {
    return encode(encoder, fingerprints, count, block);
}

static void put_portable(const uint64_t *fingerprints, size_t count, unsigned width, unsigned align, uint8_t *block,
                         size_t size) {
    put(fingerprints, count, width, align, block, size);
}

#ifdef IDXF_X86
IDXF_BMI2 static size_t encode_bmi2(struct idxf_encoder *encoder, const uint64_t *fingerprints, size_t count,
                                    uint8_t *block) {
    return encode(encoder, fingerprints, count, block);
}

IDXF_BMI2 static void put_bmi2(const uint64_t *fingerprints, size_t count, unsigned width, unsigned align,
                               uint8_t *block, size_t size) {
    put(fingerprints, count, width, align, block, size);
}
#endif

size_t idxf_delta_encodings(idxf_encode encodings[IDXF_MAX_ENCODINGS]) {
    size_t count = 0;
    encodings[count++] = encode_portable;
#ifdef IDXF_X86
    if (idxf_has_bmi2()) encodings[count++] = encode_bmi2;
#endif
    return count;
}

void idxf_delta_put(const uint64_t *fingerprints, size_t count, unsigned width, unsigned align, uint8_t *block,
                    size_t size) {
#ifdef IDXF_X86
    if (idxf_has_bmi2()) {
        put_bmi2(fingerprints, count, width, align, block, size);
        return;
    }
#endif
    put_portable(fingerprints, count, width, align, block, size);
}

/* ---- Decoding ---- */

/* What a block's header says, and how its differences stand. */
struct view {
    const uint8_t *block;
    size_t size;
    uint64_t first;
    size_t count;
    unsigned width, align;
};

/* The high parts in hand: word `word` of them, of which the bits `ones` are still to come; the first of these belongs
 * to fingerprint `given`, from 0. */
struct place {
    size_t word;
    uint64_t ones;
    size_t given;
};

IDXF_INLINE enum idxf_fault get_view(struct view *view, const struct idxf_block_cursor *cursor) {
    struct idxf_block_header header;
    enum idxf_fault fault = idxf_block_header_read(&header, cursor->decoder, cursor->block);
    *view = (struct view){cursor->block, cursor->decoder->block_size, header.first,
                          header.count,  header.width & 63u,          64 - cursor->decoder->bits};
    return fault;
}

static size_t fail(struct idxf_block_cursor *cursor, enum idxf_fault fault) {
    cursor->fault = fault;
    cursor->count = 0;
    return 0;
}

/* The low part of `width` bits that ends before bit `end`. Reads the 8 bytes up to there: a block's header has more. */
IDXF_INLINE uint64_t get_low(const uint8_t *block, size_t end, unsigned width) {
    uint64_t bits = idxf_load64(block + (end + 7) / 8 - 8) << (-end & 7);
    return bits >> 1 >> (63 - width);
}

/* Whether the block has a word `word` of high parts. */
IDXF_INLINE bool has_word(const struct view *view, size_t word) {
    return IDXF_BLOCK_HEADER_BYTES + word * 8 < view->size;
}

/* A word of high parts; bits beyond the block are 0. */
IDXF_INLINE uint64_t get_word(const struct view *view, size_t word) {
    size_t byte = IDXF_BLOCK_HEADER_BYTES + word * 8, last = view->size - 8;
    return byte <= last ? idxf_load64(view->block + byte) : idxf_load64(view->block + last) >> (byte - last) * 8;
}

/* Goes to the word with the next high part. False where the block has none. */
IDXF_INLINE bool go_to_ones(struct place *place, const struct view *view) {
    while (place->ones == 0) {
        if (!has_word(view, ++place->word)) return false;
        place->ones = get_word(view, place->word);
    }
    return true;
}

/* The place of the `rank`-th bit set, from 0, of more than that. */
IDXF_INLINE unsigned select_bit(uint64_t bits, unsigned rank) {
    unsigned place = 0;
    for (unsigned width = WORD_BITS / 2; width > 0; width /= 2) {
        unsigned below = idxf_count_bits(bits & idxf_low_bits(width));
        if (rank < below) continue;
        rank -= below;
        bits >>= width;
        place += width;
    }
    return place;
}

typedef unsigned (*selector)(uint64_t bits, unsigned rank);

/* Goes to the first fingerprint after x0 whose high part is `high` or more: behind the `high`-th 0 bit. False where the
 * block has none. */
IDXF_INLINE bool seek(struct place *place, const struct view *view, uint64_t high, selector select_at) {
    uint64_t left = high, word = get_word(view, 0);
    unsigned zeros = WORD_BITS - idxf_count_bits(word);
    place->word = 0;
    while (left > zeros) {
        left -= zeros;
        if (!has_word(view, ++place->word)) return false;
        word = get_word(view, place->word);
        zeros = WORD_BITS - idxf_count_bits(word);
    }
    unsigned begin = left == 0 ? 0 : select_at(~word, (unsigned)left - 1) + 1;
    place->ones = begin == WORD_BITS ? 0 : word >> begin << begin;
    place->given = place->word * WORD_BITS + begin - (size_t)high + 1;
    return place->given < view->count;
}

/* The differences that a search wants. */
struct wanted {
    uint64_t low, high;
};

IDXF_INLINE struct wanted get_wanted(const struct idxf_block_cursor *cursor, const struct view *view) {
    uint64_t low = cursor->low > view->first ? cursor->low - view->first : 0;
    return (struct wanted){low >> view->align, (cursor->high - view->first) >> view->align};
}

/* Begins a search: takes x0 where it is near, and goes to the next fingerprint that may be wanted. False where there is
 * none, or the block is faulty. */
IDXF_INLINE bool begin_search(struct idxf_block_cursor *cursor, const struct view *view, struct place *place,
                              uint64_t query, unsigned distance, uint64_t *fingerprints, size_t *found,
                              selector select_at) {
    if (view->first > cursor->high) {
        cursor->past = true;
        return false;
    }
    if (view->first >= cursor->low && idxf_count_bits(view->first ^ query) <= distance)
        fingerprints[(*found)++] = view->first;
    return seek(place, view, get_wanted(cursor, view).low >> view->width, select_at);
}

/* The difference that belongs to the next of the high parts in hand, and the place of that. */
IDXF_INLINE uint64_t get_difference(const struct view *view, const struct place *place, size_t *at) {
    size_t index = place->given - 1;
    *at = place->word * WORD_BITS + (unsigned)__builtin_ctzll(place->ones);
    return (uint64_t)(*at - index) << view->width |
           get_low(view->block, view->size * 8 - index * view->width, view->width);
}

IDXF_INLINE struct place get_place(const struct idxf_block_cursor *cursor) {
    return (struct place){cursor->word, cursor->ones, cursor->given};
}

IDXF_INLINE void keep_place(struct idxf_block_cursor *cursor, const struct place *place) {
    cursor->word = place->word;
    cursor->ones = place->ones;
    cursor->given = place->given;
}

/* What ends a search: no fingerprint is left. */
IDXF_INLINE size_t end_search(struct idxf_block_cursor *cursor, size_t found) {
    cursor->given = SIZE_MAX;
    return found;
}

IDXF_INLINE size_t find(struct idxf_block_cursor *cursor, uint64_t query, unsigned distance, uint64_t *fingerprints,
                        selector select_at) {
    struct view view;
    struct place place = get_place(cursor);
    size_t found = 0, at;
    enum idxf_fault fault = get_view(&view, cursor);
    if (fault != IDXF_OK) return fail(cursor, fault);
    if (cursor->given == 0 && !begin_search(cursor, &view, &place, query, distance, fingerprints, &found, select_at))
        return end_search(cursor, found);
    struct wanted wanted = get_wanted(cursor, &view);
    for (; place.given < view.count && found < IDXF_CHUNK; place.given++, place.ones &= place.ones - 1) {
        if (!go_to_ones(&place, &view)) return fail(cursor, IDXF_FAULT_OVERRUN);
        uint64_t difference = get_difference(&view, &place, &at);
        uint64_t x = view.first + (difference << view.align);
        if (difference > wanted.high) {
            cursor->past = true;
            return end_search(cursor, found);
        }
        if (difference >= wanted.low && idxf_count_bits(x ^ query) <= distance) fingerprints[found++] = x;
    }
    keep_place(cursor, &place);
    return found;
}

/* Gives x0, and goes to the next fingerprint. */
IDXF_INLINE size_t begin_decoding(const struct view *view, struct place *place, uint64_t *fingerprints) {
    *place = (struct place){0, get_word(view, 0), 1};
    fingerprints[0] = view->first;
    return 1;
}

/* Whether the high part at bit `at` of them, the last one given, stands before the low parts; notes that they end
 * behind it. */
IDXF_INLINE bool end_highs(struct idxf_block_cursor *cursor, const struct view *view, size_t at) {
    cursor->end = HEADER_BITS + at + 1;
    return cursor->end <= view->size * 8 - (view->count - 1) * view->width;
}

IDXF_INLINE size_t next(struct idxf_block_cursor *cursor, uint64_t *fingerprints) {
    struct view view;
    struct place place = get_place(cursor);
    size_t made = 0, at = 0;
    if (cursor->given >= cursor->count) return 0;
    get_view(&view, cursor);
    if (cursor->given == 0) made = begin_decoding(&view, &place, fingerprints);
    for (; place.given < view.count && made < IDXF_CHUNK; place.given++, place.ones &= place.ones - 1) {
        if (!go_to_ones(&place, &view)) return fail(cursor, IDXF_FAULT_OVERRUN);
        fingerprints[made++] = view.first + (get_difference(&view, &place, &at) << view.align);
    }
    if (place.given > 1 && !end_highs(cursor, &view, at)) return fail(cursor, IDXF_FAULT_OVERRUN);
    keep_place(cursor, &place);
    return made;
}

bool idxf_delta_wraps(const struct idxf_block_cursor *cursor) {
    struct view view;
    struct place place;
    uint64_t first;
    size_t at;
    get_view(&view, cursor);
    uint64_t most = (UINT64_MAX - view.first) >> view.align;
    begin_decoding(&view, &place, &first);
    for (; place.given < view.count && go_to_ones(&place, &view); place.given++, place.ones &= place.ones - 1) {
        uint64_t difference = get_difference(&view, &place, &at);
        if (at - (place.given - 1) > most >> view.width || difference > most) return true;
    }
    return false;
}

static size_t next_portable(struct idxf_block_cursor *cursor, uint64_t *fingerprints) {
    return next(cursor, fingerprints);
}

static size_t find_portable(struct idxf_block_cursor *cursor, uint64_t query, unsigned distance,
                            uint64_t *fingerprints) {
    return find(cursor, query, distance, fingerprints, select_bit);
}

static const struct idxf_way portable = {"portable", NULL, next_portable, find_portable};

#ifdef IDXF_X86
#include <immintrin.h>

IDXF_BMI2 static inline unsigned select_bmi2(uint64_t bits, unsigned rank) {
    return (unsigned)_tzcnt_u64(_pdep_u64(UINT64_C(1) << rank, bits));
}

IDXF_BMI2 static size_t next_bmi2(struct idxf_block_cursor *cursor, uint64_t *fingerprints) {
    return next(cursor, fingerprints);
}

IDXF_BMI2 static size_t find_bmi2(struct idxf_block_cursor *cursor, uint64_t query, unsigned distance,
                                  uint64_t *fingerprints) {
    return find(cursor, query, distance, fingerprints, select_bmi2);
}

static const struct idxf_way bmi2 = {"bmi2", NULL, next_bmi2, find_bmi2};

/* ---- Eight at a time ---- */

#define LANES 8

/* What stays the same from one group of eight to the next. */
struct lanes {
    __m512i first;
    __m512i numbers;  /* 0 to 7 */
    __m512i low_bits; /* the bits of a low part */
    __m512i offsets;  /* of the lanes' low parts, in bits, from that of the last lane */
    __m128i width, align;
};

IDXF_AVX512 static inline struct lanes get_lanes(const struct view *view) {
    struct lanes lanes;
    lanes.first = _mm512_set1_epi64((long long)view->first);
    lanes.numbers = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    lanes.low_bits = _mm512_set1_epi64((long long)idxf_low_bits(view->width));
    lanes.offsets = _mm512_mul_epu32(_mm512_set_epi64(0, 1, 2, 3, 4, 5, 6, 7), _mm512_set1_epi64(view->width));
    lanes.width = _mm_cvtsi32_si128((int)view->width);
    lanes.align = _mm_cvtsi32_si128((int)view->align);
    return lanes;
}

/* The low parts of the next eight differences; of those that the block has not, anything. They lie within 64 bytes,
 * which are taken from within the block. */
IDXF_AVX512 static inline __m512i get_lows(const struct view *view, const struct place *place,
                                           const struct lanes *lanes) {
    const __m512i replicate = _mm512_broadcast_i32x4(_mm_set_epi64x(0x0808080808080808, 0));
    const __m512i bytes = _mm512_set1_epi64(0x0706050403020100);
    long long begin = (long long)(view->size * 8) - (long long)((place->given - 1 + LANES) * view->width);
    long long byte = begin < 0 ? 0 : begin / 8, last = (long long)view->size - 64;
    if (byte > last) byte = last;
    __m512i bits = _mm512_loadu_si512(view->block + byte);
    __m512i places = _mm512_add_epi64(_mm512_set1_epi64(begin - byte * 8), lanes->offsets);
    __m512i from = _mm512_add_epi8(_mm512_shuffle_epi8(_mm512_srli_epi64(places, 3), replicate), bytes);
    __m512i shift = _mm512_and_si512(places, _mm512_set1_epi64(7));
    return _mm512_and_si512(_mm512_srlv_epi64(_mm512_permutexvar_epi8(from, bits), shift), lanes->low_bits);
}

/* The next differences, as many as the group has. */
IDXF_AVX512 static inline __m512i get_differences(const struct view *view, const struct place *place,
                                                  const struct lanes *lanes) {
    const __m512i all =
        _mm512_set_epi64(0x3f3e3d3c3b3a3938, 0x3736353433323130, 0x2f2e2d2c2b2a2928, 0x2726252423222120,
                         0x1f1e1d1c1b1a1918, 0x1716151413121110, 0x0f0e0d0c0b0a0908, 0x0706050403020100);
    __m512i ones = _mm512_maskz_compress_epi8(place->ones, all);
    long long skipped = (long long)(place->word * WORD_BITS) - (long long)(place->given - 1);
    __m512i places = _mm512_add_epi64(_mm512_cvtepu8_epi64(_mm512_castsi512_si128(ones)), _mm512_set1_epi64(skipped));
    __m512i highs = _mm512_sub_epi64(places, lanes->numbers);
    return _mm512_or_si512(_mm512_sll_epi64(highs, lanes->width), get_lows(view, place, lanes));
}

/* How many of the high parts in hand make the next group. */
IDXF_AVX512 static inline unsigned get_group(const struct view *view, const struct place *place) {
    size_t left = view->count - place->given, here = idxf_count_bits(place->ones);
    if (left > here) left = here;
    return left < LANES ? (unsigned)left : LANES;
}

IDXF_AVX512 static inline void pass_group(struct place *place, unsigned group) {
    place->given += group;
    place->ones = _pdep_u64(~UINT64_C(0) << group, place->ones);
}

IDXF_AVX512 static size_t next_avx512(struct idxf_block_cursor *cursor, uint64_t *fingerprints) {
    struct view view;
    struct place place = get_place(cursor);
    uint64_t passed = 0;
    size_t made = 0;
    if (cursor->given >= cursor->count) return 0;
    get_view(&view, cursor);
    if (cursor->given == 0) made = begin_decoding(&view, &place, fingerprints);
    struct lanes lanes = get_lanes(&view);
    while (place.given < view.count && made <= IDXF_CHUNK - LANES) {
        if (!go_to_ones(&place, &view)) return fail(cursor, IDXF_FAULT_OVERRUN);
        unsigned group = get_group(&view, &place);
        __m512i differences = get_differences(&view, &place, &lanes);
        _mm512_storeu_si512(fingerprints + made,
                            _mm512_add_epi64(lanes.first, _mm512_sll_epi64(differences, lanes.align)));
        made += group;
        passed = place.ones;
        pass_group(&place, group);
        passed ^= place.ones;
    }
    if (passed != 0 && !end_highs(cursor, &view, place.word * WORD_BITS + 63 - (size_t)__builtin_clzll(passed)))
        return fail(cursor, IDXF_FAULT_OVERRUN);
    keep_place(cursor, &place);
    return made;
}

IDXF_AVX512 static size_t find_avx512(struct idxf_block_cursor *cursor, uint64_t query, unsigned distance,
                                      uint64_t *fingerprints) {
    struct view view;
    struct place place = get_place(cursor);
    size_t found = 0;
    enum idxf_fault fault = get_view(&view, cursor);
    if (fault != IDXF_OK) return fail(cursor, fault);
    if (cursor->given == 0 && !begin_search(cursor, &view, &place, query, distance, fingerprints, &found, select_bmi2))
        return end_search(cursor, found);
    struct wanted wanted = get_wanted(cursor, &view);
    struct lanes lanes = get_lanes(&view);
    while (place.given < view.count && found <= IDXF_CHUNK - LANES) {
        if (!go_to_ones(&place, &view)) return fail(cursor, IDXF_FAULT_OVERRUN);
        unsigned group = get_group(&view, &place);
        __m512i differences = get_differences(&view, &place, &lanes);
        __m512i values = _mm512_add_epi64(lanes.first, _mm512_sll_epi64(differences, lanes.align));
        __m512i errors = _mm512_popcnt_epi64(_mm512_xor_si512(values, _mm512_set1_epi64((long long)query)));
        __mmask8 real = (__mmask8)((1u << group) - 1);
        __mmask8 low = _mm512_mask_cmpge_epu64_mask(real, differences, _mm512_set1_epi64((long long)wanted.low));
        __mmask8 high = _mm512_mask_cmpgt_epu64_mask(real, differences, _mm512_set1_epi64((long long)wanted.high));
        __mmask8 near = _mm512_mask_cmple_epu64_mask((__mmask8)(low & ~high), errors, _mm512_set1_epi64(distance));
        if (near != 0) {
            _mm512_storeu_si512(fingerprints + found, _mm512_maskz_compress_epi64(near, values));
            found += idxf_count_bits(near);
        }
        if (high != 0) {
            cursor->past = true;
            return end_search(cursor, found);
        }
        pass_group(&place, group);
    }
    keep_place(cursor, &place);
    return found;
}

/* ---- Eight blocks at a time ---- */

/* Fingerprints that sifting looks at in a block, at most. */
#define SIFTED 8

/* What is known of the blocks in the lanes. */
struct sifting {
    __m512i blocks, first, width;
    __m512i differences; /* how many the block has */
    __m512i low, high;   /* wanted, as differences */
    __m512i ones, given; /* the high parts in hand, and the number of the first of these, from 0 */
};

IDXF_AVX512 static inline __m512i splat(uint64_t value) { return _mm512_set1_epi64((long long)value); }

IDXF_AVX512 static inline __m512i load_lanes(const void *lanes) { return _mm512_loadu_si512(lanes); }

/* 8 bytes from each of the addresses, where `mask` is set. */
IDXF_AVX512 static inline __m512i gather(__mmask8 mask, __m512i addresses) {
    return _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), mask, addresses, NULL, 1);
}

/* The lanes whose headers are sound. */
IDXF_AVX512 static inline __mmask8 read_headers(struct sifting *sifting, const struct idxf_decoder *decoder,
                                                const struct idxf_lanes *lanes) {
    sifting->blocks = load_lanes(lanes->blocks);
    __m512i heads = gather(0xff, sifting->blocks);
    __m512i counts = _mm512_and_si512(heads, splat(IDXF_MAX_DELTA_FINGERPRINTS));
    sifting->first = gather(0xff, _mm512_add_epi64(sifting->blocks, splat(2)));
    sifting->width = _mm512_and_si512(_mm512_srli_epi64(heads, 10), splat(63));
    sifting->differences = _mm512_sub_epi64(counts, splat(1));
    __m512i taken = _mm512_mul_epu32(sifting->differences, _mm512_add_epi64(sifting->width, splat(1)));
    __mmask8 sound = _mm512_test_epi64_mask(counts, counts);
    sound = _mm512_mask_testn_epi64_mask(sound, sifting->first, splat(idxf_low_bits(64 - decoder->bits)));
    sound = _mm512_mask_cmple_epu64_mask(sound, sifting->width, splat(IDXF_MAX_LOW_BITS));
    return _mm512_mask_cmple_epu64_mask(sound, taken, splat((decoder->block_size - IDXF_BLOCK_HEADER_BYTES) * 8));
}

/* Goes to the first high parts that may be wanted. Returns the lanes whose first word has them. */
IDXF_AVX512 static inline __mmask8 seek_lanes(struct sifting *sifting, __mmask8 lanes) {
    __m512i word = gather(lanes, _mm512_add_epi64(sifting->blocks, splat(IDXF_BLOCK_HEADER_BYTES)));
    /* A 0 bit in front stands for high part 0. */
    __m512i zeros = _mm512_or_si512(_mm512_slli_epi64(_mm512_xor_si512(word, splat(UINT64_MAX)), 1), splat(1));
    __m512i rank = _mm512_srlv_epi64(sifting->low, sifting->width), high = rank, begin = _mm512_setzero_si512();
    lanes = _mm512_mask_cmplt_epu64_mask(lanes, rank, _mm512_popcnt_epi64(zeros));
    for (unsigned width = WORD_BITS / 2; width > 0; width /= 2) {
        __m512i below = _mm512_popcnt_epi64(_mm512_and_si512(zeros, splat(idxf_low_bits(width))));
        __mmask8 beyond = _mm512_cmpge_epu64_mask(rank, below);
        rank = _mm512_mask_sub_epi64(rank, beyond, rank, below);
        zeros = _mm512_mask_srli_epi64(zeros, beyond, zeros, width);
        begin = _mm512_mask_add_epi64(begin, beyond, begin, splat(width));
    }
    sifting->ones = _mm512_sllv_epi64(_mm512_srlv_epi64(word, begin), begin);
    sifting->given = _mm512_sub_epi64(begin, high);
    return lanes;
}

/* The next difference of each of the lanes. */
IDXF_AVX512 static inline __m512i take_differences(struct sifting *sifting, __mmask8 lanes, size_t size) {
    __m512i less = _mm512_sub_epi64(sifting->ones, splat(1));
    __m512i place = _mm512_popcnt_epi64(_mm512_andnot_si512(sifting->ones, less));
    __m512i highs = _mm512_sllv_epi64(_mm512_sub_epi64(place, sifting->given), sifting->width);
    __m512i end = _mm512_sub_epi64(splat(size * 8), _mm512_mul_epu32(sifting->given, sifting->width));
    __m512i bytes = _mm512_sub_epi64(_mm512_srli_epi64(_mm512_add_epi64(end, splat(7)), 3), splat(8));
    __m512i shift = _mm512_and_si512(_mm512_sub_epi64(_mm512_setzero_si512(), end), splat(7));
    __m512i lows = _mm512_sllv_epi64(gather(lanes, _mm512_add_epi64(sifting->blocks, bytes)), shift);
    lows = _mm512_srlv_epi64(_mm512_srli_epi64(lows, 1), _mm512_sub_epi64(splat(63), sifting->width));
    sifting->ones = _mm512_and_si512(sifting->ones, less);
    sifting->given = _mm512_add_epi64(sifting->given, splat(1));
    return _mm512_or_si512(highs, lows);
}

IDXF_AVX512 static unsigned sift_avx512(const struct idxf_decoder *decoder, const struct idxf_lanes *lanes,
                                        unsigned distance) {
    struct sifting sifting;
    __m512i low = load_lanes(lanes->low), high = load_lanes(lanes->high), query = load_lanes(lanes->queries);
    __m128i align = _mm_cvtsi32_si128(64 - (int)decoder->bits);
    __mmask8 sound = read_headers(&sifting, decoder, lanes);
    __m512i errors = _mm512_popcnt_epi64(_mm512_xor_si512(sifting.first, query));
    __mmask8 near = _mm512_cmple_epu64_mask(errors, splat(distance)) & _mm512_cmpge_epu64_mask(sifting.first, low);
    __mmask8 open = sound & ~near & _mm512_cmple_epu64_mask(sifting.first, high), found = near | (__mmask8)~sound;
    __mmask8 above = _mm512_cmpgt_epu64_mask(low, sifting.first);
    sifting.low = _mm512_srl_epi64(_mm512_maskz_sub_epi64(above, low, sifting.first), align);
    sifting.high = _mm512_srl_epi64(_mm512_sub_epi64(high, sifting.first), align);
    __mmask8 here = seek_lanes(&sifting, open);
    found |= open & ~here;
    open = here;
    for (int i = 0; i < SIFTED && open != 0; i++) {
        here = _mm512_mask_test_epi64_mask(open, sifting.ones, sifting.ones);
        here = _mm512_mask_cmplt_epu64_mask(here, sifting.given, sifting.differences);
        found |= open & ~here;
        __m512i differences = take_differences(&sifting, here, decoder->block_size);
        __m512i values = _mm512_add_epi64(sifting.first, _mm512_sll_epi64(differences, align));
        errors = _mm512_popcnt_epi64(_mm512_xor_si512(values, query));
        open = _mm512_mask_cmple_epu64_mask(here, differences, sifting.high);
        near = _mm512_mask_cmpge_epu64_mask(open, differences, sifting.low);
        near = _mm512_mask_cmple_epu64_mask(near, errors, splat(distance));
        found |= near;
        open &= ~near;
    }
    return found | open;
}

static const struct idxf_way avx512 = {"avx512", sift_avx512, next_avx512, find_avx512};
#endif

size_t idxf_delta_ways(const struct idxf_way *ways[IDXF_MAX_WAYS]) {
    size_t count = 0;
    ways[count++] = &portable;
#ifdef IDXF_X86
    if (idxf_has_bmi2()) ways[count++] = &bmi2;
    if (idxf_has_avx512()) ways[count++] = &avx512;
#endif
    return count;
}
