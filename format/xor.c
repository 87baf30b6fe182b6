/* xor.c: the xor codec, the paper's layout: the Huffman code of each difference's position, then its tail, one after
 * the other (SPEC.md, chapters 6 and 7). */
#include "format/block.h"
#include "format/bytes.h"
#include "format/processor.h"

#define HEADER_BITS (IDXF_BLOCK_HEADER_BYTES * 8)

/* ---- Encoding ---- */

/* Bits on their way into bytes: `used` of them, less than 8, still wait for more. */
struct sink {
    uint8_t *at;
    uint64_t bits;
    unsigned used;
};

/* Adds `length` bits, up to 56; writes 8 bytes. */
IDXF_INLINE void add_bits(struct sink *sink, uint64_t value, unsigned length) {
    sink->bits |= value << sink->used;
    idxf_store64(sink->at, sink->bits);
    sink->used += length;
    sink->at += sink->used / 8;
    sink->bits >>= sink->used & ~7u;
    sink->used %= 8;
}

/* A code and its tail. */
IDXF_INLINE void add_difference(struct sink *sink, unsigned code, unsigned code_length, uint64_t tail,
                                unsigned tail_length) {
    if (code_length + tail_length <= 56) {
        add_bits(sink, code | tail << code_length, code_length + tail_length);
        return;
    }
    add_bits(sink, code, code_length);
    add_bits(sink, tail & idxf_low_bits(32), 32);
    add_bits(sink, tail >> 32, tail_length - 32);
}

IDXF_INLINE size_t encode(struct idxf_encoder *encoder, const uint64_t *fingerprints, size_t count, uint8_t *block) {
    uint8_t bytes[IDXF_MAX_BLOCK_SIZE + 8]; /* whole words are written */
    struct sink sink = {bytes + IDXF_BLOCK_HEADER_BYTES, 0, 0};
    unsigned left = encoder->block_size * 8 - HEADER_BITS;
    size_t made = 1;
    for (; made < count; made++) {
        uint64_t difference = fingerprints[made] ^ fingerprints[made - 1];
        unsigned position = (unsigned)__builtin_clzll(difference);
        unsigned code_length = encoder->lengths[position], tail_length = encoder->bits - 1 - position;
        if (left < code_length + tail_length) break;
        left -= code_length + tail_length;
        uint64_t tail = difference >> (64 - encoder->bits) & idxf_low_bits(tail_length);
        add_difference(&sink, encoder->codes[position], code_length, tail, tail_length);
    }
    bytes[0] = (uint8_t)(made & 255);
    bytes[1] = (uint8_t)(made >> 8);
    idxf_store64(bytes + 2, fingerprints[0]);
    size_t written = (size_t)(sink.at - bytes) + (sink.used > 0);
    memcpy(block, bytes, written);
    memset(block + written, 0, encoder->block_size - written);
    return made;
}

static size_t encode_portable(struct idxf_encoder *encoder, const uint64_t *fingerprints, size_t count,
                              uint8_t *block) {
    return encode(encoder, fingerprints, count, block);
}

#ifdef IDXF_X86
IDXF_BMI2 static size_t encode_bmi2(struct idxf_encoder *encoder, const uint64_t *fingerprints, size_t count,
                                    uint8_t *block) {
    return encode(encoder, fingerprints, count, block);
}
#endif

size_t idxf_xor_encodings(idxf_encode encodings[IDXF_MAX_ENCODINGS]) {
    size_t count = 0;
    encodings[count++] = encode_portable;
#ifdef IDXF_X86
    if (idxf_has_bmi2()) encodings[count++] = encode_bmi2;
#endif
    return count;
}

/* ---- Decoding ---- */

/* An entry of the decoder. The code's length stands lowest, in six bits, since a shift looks at its count's low six. */
enum { CODE_MASK = 63, TAIL_SHIFT = 8 };

static void add_code(struct idxf_decoder *decoder, unsigned code, unsigned length, unsigned tail_length) {
    uint16_t entry = (uint16_t)(tail_length << TAIL_SHIFT | length);
    for (unsigned next = code; next < 1u << IDXF_MAX_CODE_LENGTH; next += 1u << length) decoder->codes[next] = entry;
    for (unsigned next = code; next < 1u << IDXF_SHORT_CODE && length <= IDXF_SHORT_CODE; next += 1u << length)
        decoder->short_codes[next] = entry;
}

void idxf_xor_decoder_init(struct idxf_decoder *decoder, const uint8_t lengths[IDXF_SYMBOLS]) {
    uint16_t codes[IDXF_SYMBOLS];
    idxf_codes(lengths, codes);
    for (unsigned symbol = 0; symbol < decoder->bits; symbol++) {
        if (lengths[symbol] > 0) add_code(decoder, codes[symbol], lengths[symbol], decoder->bits - 1 - symbol);
    }
}

/* The code at the front of `bits`; 0 where there is none. */
static inline unsigned get_code(const struct idxf_decoder *decoder, uint64_t bits) {
    unsigned entry = decoder->short_codes[bits % (1u << IDXF_SHORT_CODE)];
    return __builtin_expect(entry != 0, 1) ? entry : decoder->codes[bits % (1u << IDXF_MAX_CODE_LENGTH)];
}

static size_t fail(struct idxf_block_cursor *cursor, enum idxf_fault fault) {
    cursor->fault = fault;
    cursor->count = 0;
    return 0;
}

IDXF_INLINE size_t next(struct idxf_block_cursor *cursor, uint64_t *fingerprints) {
    const struct idxf_decoder *decoder = cursor->decoder;
    size_t size = decoder->block_size, at = cursor->end;
    size_t left = cursor->given < cursor->count ? cursor->count - cursor->given : 0;
    size_t wanted = left < IDXF_CHUNK ? left : IDXF_CHUNK, made = 0;
    unsigned align = 64 - decoder->bits;
    uint64_t x = cursor->given == 0 ? idxf_load64(cursor->block + 2) : cursor->previous;
    if (cursor->given == 0 && wanted > 0) fingerprints[made++] = x;
    while (made < wanted && x <= cursor->high) {
        unsigned entry = get_code(decoder, idxf_peek_bits(cursor->block, size, at));
        unsigned tail_length = entry >> TAIL_SHIFT;
        if (entry == 0) return fail(cursor, IDXF_FAULT_CODE);
        at += entry & CODE_MASK;
        if (at + tail_length > size * 8) return fail(cursor, IDXF_FAULT_OVERRUN);
        uint64_t tail = idxf_get_bits(cursor->block, size, at, tail_length);
        at += tail_length;
        x ^= (UINT64_C(1) << tail_length | tail) << align;
        fingerprints[made++] = x;
    }
    cursor->given += made;
    cursor->end = at;
    cursor->previous = x;
    return made;
}

IDXF_INLINE void begin(struct idxf_block_cursor *cursor) {
    struct idxf_block_header header;
    cursor->fault = idxf_block_header_read(&header, cursor->decoder, cursor->block);
    cursor->count = cursor->fault == IDXF_OK ? header.count : 0;
    cursor->end = HEADER_BITS;
}

IDXF_INLINE size_t find(struct idxf_block_cursor *cursor, uint64_t query, unsigned distance, uint64_t *fingerprints) {
    size_t found = 0;
    if (cursor->given == 0) begin(cursor);
    while (found == 0 && !cursor->past) {
        uint64_t decoded[IDXF_CHUNK];
        size_t count = next(cursor, decoded);
        if (count == 0) break;
        for (size_t i = 0; i < count; i++) {
            if (decoded[i] < cursor->low || decoded[i] > cursor->high) continue;
            if (idxf_count_bits(decoded[i] ^ query) <= distance) fingerprints[found++] = decoded[i];
        }
        cursor->past = decoded[count - 1] > cursor->high;
    }
    return found;
}

static size_t next_portable(struct idxf_block_cursor *cursor, uint64_t *fingerprints) {
    return next(cursor, fingerprints);
}

static size_t find_portable(struct idxf_block_cursor *cursor, uint64_t query, unsigned distance,
                            uint64_t *fingerprints) {
    return find(cursor, query, distance, fingerprints);
}

static const struct idxf_way portable = {"portable", NULL, next_portable, find_portable};

#ifdef IDXF_X86
IDXF_BMI2 static size_t next_bmi2(struct idxf_block_cursor *cursor, uint64_t *fingerprints) {
    return next(cursor, fingerprints);
}

IDXF_BMI2 static size_t find_bmi2(struct idxf_block_cursor *cursor, uint64_t query, unsigned distance,
                                  uint64_t *fingerprints) {
    return find(cursor, query, distance, fingerprints);
}

static const struct idxf_way bmi2 = {"bmi2", NULL, next_bmi2, find_bmi2};
#endif

size_t idxf_xor_ways(const struct idxf_way *ways[IDXF_MAX_WAYS]) {
    size_t count = 0;
    ways[count++] = &portable;
#ifdef IDXF_X86
    if (idxf_has_bmi2()) ways[count++] = &bmi2;
#endif
    return count;
}
