/* model.h: chapters 6 and 7 of SPEC.md once more, one bit at a time, to compare block.c, xor.c and delta.c with. */
#ifndef IDX_TESTS_FORMAT_MODEL_H
#define IDX_TESTS_FORMAT_MODEL_H

#include <stdbool.h>

#include "format/block.h"
#include "tests/format/testing.h"

enum { DIFFERENCES_AT = 80, MOST_DELTA = 1023, WIDEST_LOW_PART = 56 };

struct block_kind {
    enum idxf_codec codec;
    unsigned bits;
    uint32_t block_size;
    uint8_t lengths[IDXF_SYMBOLS]; /* all 0 for delta */
};

/* ---- Bits ---- */

static inline unsigned get_bit(const uint8_t *block, size_t at) { return block[at / 8] >> at % 8 & 1; }

static inline void flip_bit(uint8_t *block, size_t at) { block[at / 8] ^= (uint8_t)(1u << at % 8); }

static inline void put_bit(const struct block_kind *kind, uint8_t *block, size_t at, uint64_t bit) {
    assert_true(at >= DIFFERENCES_AT && at < (size_t)kind->block_size * 8);
    assert_int_equal(get_bit(block, at), 0);
    if (bit & 1) flip_bit(block, at);
}

static inline void put_number(const struct block_kind *kind, uint8_t *block, size_t at, uint64_t number,
                              unsigned width) {
    for (unsigned i = 0; i < width; i++) put_bit(kind, block, at + i, number >> i);
}

static inline uint64_t get_number(const uint8_t *block, size_t at, unsigned width) {
    uint64_t number = 0;
    for (unsigned i = width; i-- > 0;) number = number << 1 | get_bit(block, at + i);
    return number;
}

static inline size_t get_room(const struct block_kind *kind) { return (size_t)kind->block_size * 8 - DIFFERENCES_AT; }

/* What the codec says of its count and widths is in `head`: xor: n; delta: n + 1024 w. */
static inline void set_header(uint8_t *block, unsigned head, uint64_t first) {
    block[0] = (uint8_t)(head % 256);
    block[1] = (uint8_t)(head / 256);
    for (unsigned i = 0; i < 8; i++) block[2 + i] = (uint8_t)(first >> 8 * i);
}

/* ---- xor ---- */

/* Codes by length, then position, each the one before it plus 1; the first bit is the most significant. */
static inline void model_codes(const struct block_kind *kind, uint32_t codes[IDXF_SYMBOLS]) {
    uint32_t code = 0;
    memset(codes, 0, IDXF_SYMBOLS * sizeof *codes);
    for (unsigned length = 1; length <= 11; length++, code *= 2) {
        for (unsigned position = 0; position < IDXF_SYMBOLS; position++) {
            if (kind->lengths[position] == length) codes[position] = code++;
        }
    }
}

static inline unsigned model_position(uint64_t previous, uint64_t x) {
    unsigned position = 0;
    while (((x ^ previous) >> (63 - position) & 1) == 0) position++;
    return position;
}

static inline size_t model_encode_xor(const struct block_kind *kind, const uint64_t *fingerprints, size_t count,
                                      uint8_t *block) {
    uint32_t codes[IDXF_SYMBOLS];
    size_t at = DIFFERENCES_AT, made = 1;
    model_codes(kind, codes);
    for (; made < count; made++) {
        uint64_t difference = (fingerprints[made] ^ fingerprints[made - 1]) >> (64 - kind->bits);
        unsigned position = model_position(fingerprints[made - 1], fingerprints[made]);
        unsigned length = kind->lengths[position], tail = kind->bits - 1 - position;
        if (at + length + tail > (size_t)kind->block_size * 8) break;
        for (unsigned i = length; i-- > 0;) put_bit(kind, block, at++, codes[position] >> i);
        for (unsigned i = 0; i < tail; i++) put_bit(kind, block, at++, difference >> i);
    }
    set_header(block, (unsigned)made, fingerprints[0]);
    return made;
}

/* ---- delta ---- */

/* Whether the first `count` fingerprints fit with low parts of `width` bits. */
static inline bool model_fits(const struct block_kind *kind, const uint64_t *fingerprints, size_t count,
                              unsigned width) {
    size_t room = get_room(kind);
    uint64_t high = (fingerprints[count - 1] - fingerprints[0]) >> (64 - kind->bits) >> width;
    return count <= MOST_DELTA && high <= room && (count - 1) * (width + 1) + high <= room;
}

/* Tries all widths and counts: the smallest width with which most fit. */
static inline unsigned model_width(const struct block_kind *kind, const uint64_t *fingerprints, size_t count,
                                   size_t *most) {
    unsigned best = 0;
    *most = 0;
    for (unsigned width = 0; width <= WIDEST_LOW_PART; width++) {
        for (size_t tried = 1; tried <= count && tried <= MOST_DELTA; tried++) {
            if (tried <= *most || !model_fits(kind, fingerprints, tried, width)) continue;
            *most = tried;
            best = width;
        }
    }
    return best;
}

/* Writes all these fingerprints, which fit, with low parts of this width, the writer's or another. */
static inline void model_write_delta(const struct block_kind *kind, const uint64_t *fingerprints, size_t count,
                                     unsigned width, uint8_t *block) {
    for (size_t i = 1; i < count; i++) {
        uint64_t difference = (fingerprints[i] - fingerprints[0]) >> (64 - kind->bits);
        put_bit(kind, block, DIFFERENCES_AT + (size_t)(difference >> width) + i - 1, 1);
        put_number(kind, block, (size_t)kind->block_size * 8 - i * width, difference, width);
    }
    set_header(block, (unsigned)count + 1024 * width, fingerprints[0]);
}

static inline size_t model_encode_delta(const struct block_kind *kind, const uint64_t *fingerprints, size_t count,
                                        uint8_t *block) {
    size_t most;
    unsigned width = model_width(kind, fingerprints, count, &most);
    model_write_delta(kind, fingerprints, most, width, block);
    return most;
}

/* Encodes as many fingerprints as the writer puts into a block, and returns their number. */
static inline size_t model_encode(const struct block_kind *kind, const uint64_t *fingerprints, size_t count,
                                  uint8_t block[IDXF_MAX_BLOCK_SIZE]) {
    memset(block, 0, IDXF_MAX_BLOCK_SIZE);
    return kind->codec == IDXF_CODEC_XOR ? model_encode_xor(kind, fingerprints, count, block)
                                         : model_encode_delta(kind, fingerprints, count, block);
}

/* ---- Decoding ---- */

struct decoded {
    enum idxf_fault fault;   /* the first that a reader reports, but for padding */
    enum idxf_fault padding; /* where that is IDXF_OK */
    size_t count;            /* decoded before a fault */
    uint64_t fingerprints[IDXF_MAX_BLOCK_FINGERPRINTS];
};

static inline bool ascend(const struct decoded *decoded) {
    for (size_t i = 1; i < decoded->count; i++) {
        if (decoded->fingerprints[i] <= decoded->fingerprints[i - 1]) return false;
    }
    return true;
}

/* The position whose code stands at *at, which moves behind it; IDXF_SYMBOLS where there is none. */
static inline unsigned model_read_code(const struct block_kind *kind, const uint32_t codes[IDXF_SYMBOLS],
                                       const uint8_t *block, size_t *at) {
    uint32_t code = 0;
    for (unsigned length = 1; length <= 11; length++) {
        bool inside = *at < (size_t)kind->block_size * 8;
        code = code << 1 | (inside ? get_bit(block, *at) : 0);
        ++*at;
        for (unsigned position = 0; position < IDXF_SYMBOLS; position++) {
            if (kind->lengths[position] == length && codes[position] == code) return position;
        }
    }
    return IDXF_SYMBOLS;
}

/* Returns where the differences end, or 0 where there is a fault. */
static inline size_t model_decode_xor(const struct block_kind *kind, const uint8_t *block, size_t count,
                                      struct decoded *decoded) {
    uint32_t codes[IDXF_SYMBOLS];
    size_t at = DIFFERENCES_AT, end = (size_t)kind->block_size * 8;
    model_codes(kind, codes);
    for (; decoded->count < count; decoded->count++) {
        unsigned position = model_read_code(kind, codes, block, &at), tail = kind->bits - 1 - position;
        decoded->fault = position == IDXF_SYMBOLS ? IDXF_FAULT_CODE : at + tail > end ? IDXF_FAULT_OVERRUN : IDXF_OK;
        if (decoded->fault != IDXF_OK) return 0;
        uint64_t difference = UINT64_C(1) << tail | get_number(block, at, tail);
        at += tail;
        decoded->fingerprints[decoded->count] = decoded->fingerprints[decoded->count - 1] ^ difference
                                                                                                << (64 - kind->bits);
    }
    return at;
}

/* The same; sets *wraps where a fingerprint would be 2^64 or more. */
static inline size_t model_decode_delta(const struct block_kind *kind, const uint8_t *block, size_t count,
                                        unsigned width, struct decoded *decoded, bool *wraps) {
    __extension__ typedef unsigned __int128 wide;
    size_t end = (size_t)kind->block_size * 8 - (count - 1) * width, at = DIFFERENCES_AT;
    uint64_t first = decoded->fingerprints[0], zeros = 0;
    for (; decoded->count < count && at < end; at++) {
        if (get_bit(block, at) == 0) {
            zeros++;
            continue;
        }
        size_t low_part = (size_t)kind->block_size * 8 - decoded->count * width;
        wide difference = (wide)zeros << width | get_number(block, low_part, width);
        if (difference > (UINT64_MAX - first) >> (64 - kind->bits)) *wraps = true;
        decoded->fingerprints[decoded->count++] = first + ((uint64_t)difference << (64 - kind->bits));
    }
    if (decoded->count < count) decoded->fault = IDXF_FAULT_OVERRUN;
    return at;
}

/* What the header of a block says: the count and the width of low parts, or a fault. */
static inline enum idxf_fault model_read_header(const struct block_kind *kind, const uint8_t *block, size_t *count,
                                                unsigned *width) {
    bool is_delta = kind->codec == IDXF_CODEC_DELTA;
    unsigned head = block[0] + 256u * block[1];
    uint64_t first = get_number(block, 16, 64);
    *count = is_delta ? head % 1024 : head;
    *width = is_delta ? head / 1024 : 0;
    if (first << kind->bits % 64 != 0 && kind->bits < 64) return IDXF_FAULT_BITS;
    if (*count == 0) return IDXF_FAULT_COUNT;
    if (!is_delta) return *count > get_room(kind) + 1 ? IDXF_FAULT_COUNT : IDXF_OK;
    return *width > WIDEST_LOW_PART || (*count - 1) * (*width + 1) > get_room(kind) ? IDXF_FAULT_OVERRUN : IDXF_OK;
}

static inline void model_decode(const struct block_kind *kind, const uint8_t *block, struct decoded *decoded) {
    size_t count;
    unsigned width;
    bool wraps = false;
    decoded->count = 0;
    decoded->padding = IDXF_OK;
    decoded->fault = model_read_header(kind, block, &count, &width);
    if (decoded->fault != IDXF_OK) return;
    decoded->fingerprints[decoded->count++] = get_number(block, 16, 64);
    size_t at = kind->codec == IDXF_CODEC_XOR ? model_decode_xor(kind, block, count, decoded)
                                              : model_decode_delta(kind, block, count, width, decoded, &wraps);
    if (decoded->fault != IDXF_OK) return;
    if (wraps || !ascend(decoded)) decoded->fault = IDXF_FAULT_ORDER;
    if (decoded->fault != IDXF_OK) return;
    for (; at < (size_t)kind->block_size * 8 - (count - 1) * width; at++) {
        if (get_bit(block, at)) decoded->padding = IDXF_FAULT_PADDING;
    }
}

#endif
