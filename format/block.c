/* block.c: encodes and decodes blocks. Decoding is safe whatever the bytes are: codes and tails may come to meet, never
 * to cross. */
#include "format/block.h"

#include "format/bytes.h"

#define HEADER_BITS (IDXF_BLOCK_HEADER_BYTES * 8)

unsigned idxf_position(enum idxf_codec codec, uint64_t previous, uint64_t x) {
    return (unsigned)__builtin_clzll(codec == IDXF_CODEC_XOR ? x ^ previous : x - previous);
}

/* ---- Encoding ---- */

void idxf_encoder_init(struct idxf_encoder *encoder, enum idxf_codec codec, unsigned bits, uint32_t block_size,
                       const uint8_t lengths[IDXF_SYMBOLS]) {
    encoder->codec = codec;
    encoder->bits = bits;
    encoder->block_size = block_size;
    memcpy(encoder->lengths, lengths, IDXF_SYMBOLS);
    idxf_codes(lengths, encoder->codes);
}

size_t idxf_block_encode(const struct idxf_encoder *encoder, const uint64_t *fingerprints, size_t count,
                         uint8_t *block) {
    uint8_t bytes[IDXF_MAX_BLOCK_SIZE + 16] = {0};
    size_t front = HEADER_BITS, back = (size_t)encoder->block_size * 8;
    unsigned align = 64 - encoder->bits;
    size_t made = 1;
    for (; made < count; made++) {
        uint64_t previous = fingerprints[made - 1], x = fingerprints[made];
        unsigned position = idxf_position(encoder->codec, previous, x);
        unsigned code_length = encoder->lengths[position], tail_length = encoder->bits - 1 - position;
        if (back - front < code_length + tail_length) break;
        uint64_t difference = encoder->codec == IDXF_CODEC_XOR ? x ^ previous : x - previous;
        uint64_t tail = (difference >> align) & idxf_low_bits(tail_length);
        idxf_put_bits(bytes, front, encoder->codes[position], code_length);
        front += code_length;
        if (encoder->codec == IDXF_CODEC_XOR) {
            idxf_put_bits(bytes, front, tail, tail_length);
            front += tail_length;
        } else {
            back -= tail_length;
            idxf_put_bits(bytes, back, tail, tail_length);
        }
    }
    bytes[0] = (uint8_t)(made & 255);
    bytes[1] = (uint8_t)(made >> 8);
    idxf_store64(bytes + 2, fingerprints[0]);
    memcpy(block, bytes, encoder->block_size);
    return made;
}

/* ---- Decoding ---- */

/* Functions that decode are compiled for several kinds of processor. */
#define INLINE static inline __attribute__((always_inline))

/* An entry of the decoder. The code's length stands lowest, in six bits, since a shift looks at its count's low six. */
enum { CODE_MASK = 63, TAIL_SHIFT = 8 };

void idxf_decoder_init(struct idxf_decoder *decoder, enum idxf_codec codec, unsigned bits, uint32_t block_size,
                       const uint8_t lengths[IDXF_SYMBOLS]) {
    uint16_t codes[IDXF_SYMBOLS];
    idxf_next choices[IDXF_MAX_CHOICES];
    idxf_codes(lengths, codes);
    *decoder = (struct idxf_decoder){.codec = codec, .bits = bits, .block_size = block_size};
    for (unsigned symbol = 0; symbol < bits; symbol++) {
        unsigned length = lengths[symbol], tail_length = bits - 1 - symbol;
        uint16_t entry = (uint16_t)(tail_length << TAIL_SHIFT | length);
        if (length == 0) continue;
        if (tail_length > decoder->longest_tail) decoder->longest_tail = tail_length;
        for (unsigned next = codes[symbol]; next < 1u << IDXF_MAX_CODE_LENGTH; next += 1u << length)
            decoder->codes[next] = entry;
        for (unsigned next = codes[symbol]; next < 1u << IDXF_SHORT_CODE && length <= IDXF_SHORT_CODE;
             next += 1u << length)
            decoder->short_codes[next] = entry;
    }
    decoder->next = choices[idxf_decoder_choices(decoder, choices) - 1];
}

/* The code at the front of `bits`; 0 where there is none. */
INLINE unsigned get_code(const struct idxf_decoder *decoder, uint64_t bits) {
    unsigned entry = decoder->short_codes[bits % (1u << IDXF_SHORT_CODE)];
    return __builtin_expect(entry != 0, 1) ? entry : decoder->codes[bits % (1u << IDXF_MAX_CODE_LENGTH)];
}

size_t idxf_block_begin(struct idxf_block_cursor *cursor, const struct idxf_decoder *decoder, const uint8_t *block) {
    size_t size_bits = (size_t)decoder->block_size * 8;
    cursor->decoder = decoder;
    cursor->block = block;
    cursor->high = UINT64_MAX;
    cursor->previous = idxf_load64(block + 2);
    cursor->left = (size_t)block[0] | (size_t)block[1] << 8;
    cursor->position = HEADER_BITS;
    cursor->tails = size_bits;
    cursor->first = true;
    cursor->fault = IDXF_OK;
    if ((cursor->previous & idxf_low_bits(64 - decoder->bits)) != 0) cursor->fault = IDXF_FAULT_BITS;
    if (cursor->left == 0 || cursor->left - 1 > size_bits - HEADER_BITS) cursor->fault = IDXF_FAULT_COUNT;
    if (cursor->fault != IDXF_OK) cursor->left = 0;
    return cursor->left;
}

static size_t fail(struct idxf_block_cursor *cursor, enum idxf_fault fault) {
    cursor->fault = fault;
    cursor->left = 0;
    return 0;
}

/* A tail of more bits may not lie within the 8 bytes that it ends in. */
#define MAX_SHORT_TAIL 57

/* The number whose leading 1 stands above a tail of `length` bits, up to MAX_SHORT_TAIL, that ends at bit `end`. */
INLINE uint64_t get_difference(const uint8_t *block, size_t end, unsigned length) {
    uint64_t bits = idxf_load64(block + (end + 7) / 8 - 8) << (~(end + 7) & 7);
    return (bits >> 1 | UINT64_C(1) << 63) >> (~length & 63);
}

/* The same for a tail of any length. */
INLINE uint64_t get_long_difference(const uint8_t *block, size_t end, unsigned length) {
    if (length <= MAX_SHORT_TAIL) return get_difference(block, end, length);
    uint64_t low = idxf_load64(block + (end - length) / 8) >> (end - length) % 8 & idxf_low_bits(32);
    return get_difference(block, end, length - 32) << 32 | low;
}

/* Codes forwards and tails backwards, side by side: the next code waits for the one before it alone. `is_short`: no
 * tail has more than MAX_SHORT_TAIL bits. */
INLINE size_t next_delta(struct idxf_block_cursor *cursor, size_t count, uint64_t *out, bool is_short) {
    const struct idxf_decoder *decoder = cursor->decoder;
    const uint8_t *block = cursor->block;
    size_t position = cursor->position, tails = cursor->tails, stored = 0;
    unsigned align = 64 - decoder->bits;
    uint64_t x = cursor->previous, high = cursor->high;
    while (stored < count && x <= high) {
        if (position > tails) return fail(cursor, IDXF_FAULT_OVERRUN);
        uint64_t bits = idxf_peek_bits(block, decoder->block_size, position);
        /* 57 bits hold five codes of up to 11. */
        for (int i = 0; i < 5 && stored < count && x <= high; i++) {
            unsigned entry = get_code(decoder, bits), tail_length = entry >> TAIL_SHIFT;
            if (entry == 0) return fail(cursor, IDXF_FAULT_CODE);
            bits >>= entry & CODE_MASK;
            position += entry & CODE_MASK;
            if (position + tail_length > tails) return fail(cursor, IDXF_FAULT_OVERRUN);
            uint64_t difference =
                is_short ? get_difference(block, tails, tail_length) : get_long_difference(block, tails, tail_length);
            x += difference << align;
            tails -= tail_length;
            out[stored++] = x;
        }
    }
    cursor->position = position;
    cursor->tails = tails;
    return stored;
}

INLINE size_t next_xor(struct idxf_block_cursor *cursor, size_t count, uint64_t *out) {
    const struct idxf_decoder *decoder = cursor->decoder;
    size_t size = decoder->block_size, position = cursor->position;
    unsigned align = 64 - decoder->bits;
    uint64_t x = cursor->previous;
    size_t stored = 0;
    while (stored < count && x <= cursor->high) {
        unsigned entry = get_code(decoder, idxf_peek_bits(cursor->block, size, position));
        unsigned tail_length = entry >> TAIL_SHIFT;
        if (entry == 0) return fail(cursor, IDXF_FAULT_CODE);
        position += entry & CODE_MASK;
        if (position + tail_length > size * 8) return fail(cursor, IDXF_FAULT_OVERRUN);
        uint64_t tail = idxf_get_bits(cursor->block, size, position, tail_length);
        position += tail_length;
        x ^= (UINT64_C(1) << tail_length | tail) << align;
        out[stored++] = x;
    }
    cursor->position = position;
    return stored;
}

INLINE size_t next(struct idxf_block_cursor *cursor, uint64_t *fingerprints, bool is_short) {
    size_t wanted = cursor->left < IDXF_CHUNK ? cursor->left : IDXF_CHUNK;
    size_t stored = 0;
    if (wanted == 0) return 0;
    if (cursor->first) fingerprints[stored++] = cursor->previous;
    cursor->first = false;
    if (wanted > stored && cursor->previous <= cursor->high) {
        size_t coded = wanted - stored;
        size_t got = cursor->decoder->codec == IDXF_CODEC_XOR
                         ? next_xor(cursor, coded, fingerprints + stored)
                         : next_delta(cursor, coded, fingerprints + stored, is_short);
        if (got == 0) return 0;
        stored += got;
    }
    cursor->previous = fingerprints[stored - 1];
    cursor->left = cursor->previous > cursor->high ? 0 : cursor->left - wanted;
    return stored;
}

static size_t next_any(struct idxf_block_cursor *cursor, uint64_t *fingerprints) {
    return next(cursor, fingerprints, false);
}

static size_t next_short(struct idxf_block_cursor *cursor, uint64_t *fingerprints) {
    return next(cursor, fingerprints, true);
}

#ifdef __x86_64__
__attribute__((target("bmi,bmi2"))) static size_t next_short_bmi2(struct idxf_block_cursor *cursor,
                                                                  uint64_t *fingerprints) {
    return next(cursor, fingerprints, true);
}
#endif

size_t idxf_decoder_choices(const struct idxf_decoder *decoder, idxf_next choices[IDXF_MAX_CHOICES]) {
    bool is_short = decoder->longest_tail <= MAX_SHORT_TAIL;
    size_t count = 0;
    choices[count++] = next_any;
    if (is_short) choices[count++] = next_short;
#ifdef __x86_64__
    __builtin_cpu_init();
    if (is_short && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2")) choices[count++] = next_short_bmi2;
#endif
    return count;
}

size_t idxf_block_next(struct idxf_block_cursor *cursor, uint64_t fingerprints[IDXF_CHUNK]) {
    return cursor->decoder->next(cursor, fingerprints);
}

enum idxf_fault idxf_block_check_padding(const struct idxf_block_cursor *cursor) {
    for (size_t bit = cursor->position; bit < cursor->tails; bit++) {
        if (cursor->block[bit / 8] >> bit % 8 & 1) return IDXF_FAULT_PADDING;
    }
    return IDXF_OK;
}
