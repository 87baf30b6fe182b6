/* block.c: encodes and decodes blocks. Decoding is safe whatever the bytes are: positions of codes are checked before
 * each load, those of tails once a chunk. */
#include "format/block.h"

#include "format/bytes.h"
#include "format/differences.h"

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

/* The fields of a decoder's entry. The bits used come lowest, six of them, since a shift looks at its count's low six.
 */
enum { USED_MASK = 63, COUNT_SHIFT = 6, COUNT_MASK = 7, TOTAL_SHIFT = 9, TOTAL_MASK = 511, LENGTHS_SHIFT = 24 };

void idxf_decoder_init(struct idxf_decoder *decoder, enum idxf_codec codec, unsigned bits, uint32_t block_size,
                       const uint8_t lengths[IDXF_SYMBOLS]) {
    uint16_t codes[IDXF_SYMBOLS];
    uint8_t tail_length[IDXF_DECODE_ENTRIES] = {0}; /* of the one code at the front of these bits */
    uint8_t code_length[IDXF_DECODE_ENTRIES] = {0}; /* 0: no code */
    idxf_codes(lengths, codes);
    decoder->codec = codec;
    decoder->bits = bits;
    decoder->block_size = block_size;
    decoder->longest_tail = 0;
    memset(decoder->code_length, 0, sizeof decoder->code_length);
    for (unsigned symbol = 0; symbol < bits; symbol++) {
        if (lengths[symbol] == 0) continue;
        decoder->code_length[bits - 1 - symbol] = lengths[symbol];
        if (bits - 1 - symbol > decoder->longest_tail) decoder->longest_tail = bits - 1 - symbol;
        for (unsigned entry = codes[symbol]; entry < IDXF_DECODE_ENTRIES; entry += 1u << lengths[symbol]) {
            tail_length[entry] = (uint8_t)(bits - 1 - symbol);
            code_length[entry] = lengths[symbol];
        }
    }
    for (unsigned entry = 0; entry < IDXF_DECODE_ENTRIES; entry++) {
        uint64_t packed = 0, count = 0, total = 0;
        unsigned used = 0;
        while (count < IDXF_DECODE_SYMBOLS) {
            unsigned length = code_length[entry >> used];
            if (length == 0 || used + length > IDXF_MAX_CODE_LENGTH) break;
            packed |= (uint64_t)tail_length[entry >> used] << (8 * count++);
            total += tail_length[entry >> used];
            used += length;
        }
        decoder->entries[entry] = packed << LENGTHS_SHIFT | total << TOTAL_SHIFT | count << COUNT_SHIFT | used;
    }
    idxf_next choices[IDXF_MAX_CHOICES];
    decoder->next = choices[idxf_decoder_choices(decoder, choices) - 1];
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

/* Decodes `count` codes into tail lengths, and sets *total to the bits of these tails. */
INLINE enum idxf_fault decode_codes(struct idxf_block_cursor *cursor, size_t count, uint8_t *tail_lengths,
                                    size_t *total) {
    const struct idxf_decoder *decoder = cursor->decoder;
    size_t size = decoder->block_size, position = cursor->position, made = 0, tails = 0;
    while (made < count) {
        if (position > size * 8) return IDXF_FAULT_OVERRUN;
        uint64_t bits = idxf_peek_bits(cursor->block, size, position);
        /* 57 bits hold five groups of up to 11. */
        for (int group = 0; group < 5 && made < count; group++) {
            uint64_t entry = decoder->entries[bits % IDXF_DECODE_ENTRIES];
            if (entry == 0) return IDXF_FAULT_CODE;
            idxf_store64(tail_lengths + made, entry >> LENGTHS_SHIFT);
            made += entry >> COUNT_SHIFT & COUNT_MASK;
            tails += entry >> TOTAL_SHIFT & TOTAL_MASK;
            position += entry & USED_MASK;
            bits >>= entry & USED_MASK;
        }
    }
    /* The last group may have gone beyond: without a branch, which would be hard to predict. */
    for (size_t i = count; i < count + IDXF_DECODE_SYMBOLS - 1; i++) {
        unsigned mask = i < made ? IDXF_SYMBOLS - 1 : 0;
        position -= decoder->code_length[tail_lengths[i] & mask] & -(size_t)(i < made);
        tails -= tail_lengths[i] & mask;
    }
    cursor->position = position;
    *total = tails;
    return IDXF_OK;
}

INLINE size_t next_delta(struct idxf_block_cursor *cursor, size_t count, uint64_t *out, add_differences add) {
    /* A group begins below `count` and writes 8 bytes. */
    uint8_t tail_lengths[IDXF_CHUNK + 8] = {0};
    size_t total = 0;
    enum idxf_fault fault = decode_codes(cursor, count, tail_lengths, &total);
    if (fault != IDXF_OK) return fail(cursor, fault);
    if (cursor->tails < cursor->position || cursor->tails - cursor->position < total)
        return fail(cursor, IDXF_FAULT_OVERRUN);
    size_t stored = add(cursor->block, cursor->tails, tail_lengths, count, 64 - cursor->decoder->bits, cursor->previous,
                        cursor->high, out);
    cursor->tails -= total;
    return stored;
}

INLINE size_t next_xor(struct idxf_block_cursor *cursor, size_t count, uint64_t *out) {
    const struct idxf_decoder *decoder = cursor->decoder;
    size_t size = decoder->block_size, position = cursor->position;
    unsigned align = 64 - decoder->bits;
    uint64_t x = cursor->previous;
    size_t stored = 0;
    while (stored < count && x <= cursor->high) {
        uint64_t entry = decoder->entries[idxf_peek_bits(cursor->block, size, position) % IDXF_DECODE_ENTRIES];
        if (entry == 0) return fail(cursor, IDXF_FAULT_CODE);
        unsigned tail_length = entry >> LENGTHS_SHIFT & 255;
        position += decoder->code_length[tail_length];
        if (position + tail_length > size * 8) return fail(cursor, IDXF_FAULT_OVERRUN);
        uint64_t tail = idxf_get_bits(cursor->block, size, position, tail_length);
        position += tail_length;
        x ^= (UINT64_C(1) << tail_length | tail) << align;
        out[stored++] = x;
    }
    cursor->position = position;
    return stored;
}

INLINE size_t next(struct idxf_block_cursor *cursor, uint64_t *fingerprints, add_differences add) {
    size_t wanted = cursor->left < IDXF_CHUNK ? cursor->left : IDXF_CHUNK;
    size_t stored = 0;
    if (wanted == 0) return 0;
    if (cursor->first) fingerprints[stored++] = cursor->previous;
    cursor->first = false;
    if (wanted > stored && cursor->previous <= cursor->high) {
        size_t coded = wanted - stored;
        size_t got = cursor->decoder->codec == IDXF_CODEC_XOR ? next_xor(cursor, coded, fingerprints + stored)
                                                              : next_delta(cursor, coded, fingerprints + stored, add);
        if (got == 0) return 0;
        stored += got;
    }
    cursor->previous = fingerprints[stored - 1];
    cursor->left = cursor->previous > cursor->high ? 0 : cursor->left - wanted;
    return stored;
}

static size_t next_any(struct idxf_block_cursor *cursor, uint64_t *fingerprints) {
    return next(cursor, fingerprints, add_differences_any);
}

static size_t next_short(struct idxf_block_cursor *cursor, uint64_t *fingerprints) {
    return next(cursor, fingerprints, add_differences_short);
}

#ifdef __x86_64__
__attribute__((target("bmi,bmi2"))) static size_t next_short_bmi2(struct idxf_block_cursor *cursor,
                                                                  uint64_t *fingerprints) {
    return next(cursor, fingerprints, add_differences_short);
}
#endif

size_t idxf_decoder_choices(const struct idxf_decoder *decoder, idxf_next choices[IDXF_MAX_CHOICES]) {
    bool is_short = decoder->bits == 64 && decoder->longest_tail <= MAX_SHORT_TAIL;
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
