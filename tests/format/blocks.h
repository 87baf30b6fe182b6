/* blocks.h: what the tests of blocks share: chapter 7 of SPEC.md once more, one bit at a time, to compare block.c with;
 * and decoding in all the ways that this processor has. */
#ifndef IDX_TESTS_FORMAT_BLOCKS_H
#define IDX_TESTS_FORMAT_BLOCKS_H

#include <stdbool.h>

#include "format/block.h"
#include "tests/format/testing.h"

struct block_kind {
    enum idxf_codec codec;
    unsigned bits;
    uint32_t block_size;
    uint8_t lengths[IDXF_SYMBOLS];
};

/* ---- The model ---- */

struct model {
    const struct block_kind *kind;
    uint32_t codes[IDXF_SYMBOLS]; /* the first bit is the most significant */
    uint8_t block[IDXF_MAX_BLOCK_SIZE];
    size_t front, back; /* the bits between them are free */
};

/* Codes by length, then position, each the one before it plus 1. */
static inline void model_init(struct model *model, const struct block_kind *kind) {
    uint32_t code = 0;
    memset(model, 0, sizeof *model);
    model->kind = kind;
    model->front = 80;
    model->back = (size_t)kind->block_size * 8;
    for (unsigned length = 1; length <= 11; length++, code *= 2) {
        for (unsigned position = 0; position < IDXF_SYMBOLS; position++) {
            if (kind->lengths[position] == length) model->codes[position] = code++;
        }
    }
}

static inline void model_put_bit(struct model *model, size_t at, uint64_t bit) {
    assert_true(at < (size_t)model->kind->block_size * 8);
    if (bit & 1) model->block[at / 8] |= (uint8_t)(1u << at % 8);
}

static inline unsigned model_position(enum idxf_codec codec, uint64_t previous, uint64_t x) {
    uint64_t difference = codec == IDXF_CODEC_XOR ? x ^ previous : x - previous;
    unsigned position = 0;
    while ((difference >> (63 - position) & 1) == 0) position++;
    return position;
}

/* Appends a difference; false where it has no room. */
static inline bool model_add(struct model *model, uint64_t previous, uint64_t x) {
    const struct block_kind *kind = model->kind;
    unsigned position = model_position(kind->codec, previous, x);
    unsigned length = kind->lengths[position], tail = kind->bits - 1 - position;
    uint64_t difference = (kind->codec == IDXF_CODEC_XOR ? x ^ previous : x - previous) >> (64 - kind->bits);
    if (model->front + length + tail > model->back) return false;
    for (unsigned i = length; i-- > 0;) model_put_bit(model, model->front++, model->codes[position] >> i);
    if (kind->codec == IDXF_CODEC_XOR) {
        for (unsigned i = 0; i < tail; i++) model_put_bit(model, model->front++, difference >> i);
    } else {
        for (unsigned i = tail; i-- > 0;) model_put_bit(model, --model->back, difference >> i);
    }
    return true;
}

static inline void model_set_header(struct model *model, size_t count, uint64_t first) {
    model->block[0] = (uint8_t)(count % 256);
    model->block[1] = (uint8_t)(count / 256);
    for (unsigned i = 0; i < 8; i++) model->block[2 + i] = (uint8_t)(first >> 8 * i);
}

/* Encodes as many fingerprints as fit, and returns their number. */
static inline size_t model_encode(struct model *model, const struct block_kind *kind, const uint64_t *fingerprints,
                                  size_t count) {
    size_t made = 1;
    model_init(model, kind);
    while (made < count && model_add(model, fingerprints[made - 1], fingerprints[made])) made++;
    model_set_header(model, made, fingerprints[0]);
    return made;
}

/* ---- Both ---- */

/* The code that a table of these fingerprints has. */
static inline void make_code(struct block_kind *kind, const uint64_t *fingerprints, size_t count) {
    uint64_t counts[IDXF_SYMBOLS] = {0};
    for (size_t i = 1; i < count; i++) counts[model_position(kind->codec, fingerprints[i - 1], fingerprints[i])]++;
    idxf_code_lengths(counts, kind->lengths);
}

static inline size_t encode_block(const struct block_kind *kind, const uint64_t *fingerprints, size_t count,
                                  uint8_t *block) {
    struct idxf_encoder encoder;
    idxf_encoder_init(&encoder, kind->codec, kind->bits, kind->block_size, kind->lengths);
    return idxf_block_encode(&encoder, fingerprints, count, block);
}

/* ---- Decoding ---- */

struct decoded {
    enum idxf_fault fault;   /* of beginning and decoding */
    enum idxf_fault padding; /* where that is IDXF_OK */
    size_t count;            /* decoded before a fault */
    uint64_t fingerprints[IDXF_MAX_BLOCK_FINGERPRINTS];
};

static inline void decode_with(const struct idxf_decoder *decoder, const uint8_t *block, struct decoded *decoded) {
    struct idxf_block_cursor cursor;
    uint64_t chunk[IDXF_CHUNK];
    size_t count;
    decoded->count = 0;
    size_t left = idxf_block_begin(&cursor, decoder, block);
    while ((count = idxf_block_next(&cursor, chunk)) > 0) {
        assert_int_equal(count, left < IDXF_CHUNK ? left : IDXF_CHUNK);
        memcpy(decoded->fingerprints + decoded->count, chunk, count * sizeof *chunk);
        decoded->count += count;
        left -= count;
    }
    assert_int_equal(idxf_block_next(&cursor, chunk), 0); /* and stays so */
    decoded->fault = cursor.fault;
    decoded->padding = IDXF_OK;
    if (decoded->fault != IDXF_OK) return;
    assert_int_equal(left, 0);
    decoded->padding = idxf_block_check_padding(&cursor);
}

/* Decodes a block in all ways, which must agree, from an allocation of exactly its size. */
static inline void decode_block(const struct block_kind *kind, const uint8_t *block, struct decoded *decoded) {
    static struct idxf_decoder decoder;
    static struct decoded other;
    idxf_next choices[IDXF_MAX_CHOICES];
    idxf_decoder_init(&decoder, kind->codec, kind->bits, kind->block_size, kind->lengths);
    size_t choice_count = idxf_decoder_choices(&decoder, choices);
    assert_in_range(choice_count, 1, IDXF_MAX_CHOICES);
    uint8_t *copy = copy_exactly(block, kind->block_size);
    for (size_t i = 0; i < choice_count; i++) {
        struct decoded *into = i == 0 ? decoded : &other;
        decoder.next = choices[i];
        decode_with(&decoder, copy, into);
        assert_fault(into->fault, decoded->fault);
        assert_fault(into->padding, decoded->padding);
        assert_int_equal(into->count, decoded->count);
        assert_memory_equal(into->fingerprints, decoded->fingerprints, decoded->count * sizeof(uint64_t));
    }
    free(copy);
}

/* Checks that decoding with `high`, in all ways, ends after the first of these fingerprints above it. */
static inline void check_decodes_to(const struct block_kind *kind, const uint8_t *block, const uint64_t *fingerprints,
                                    size_t count, uint64_t high) {
    static struct idxf_decoder decoder;
    struct idxf_block_cursor cursor;
    idxf_next choices[IDXF_MAX_CHOICES];
    uint64_t chunk[IDXF_CHUNK];
    size_t expected = 1, got;
    while (expected < count && fingerprints[expected - 1] <= high) expected++;
    idxf_decoder_init(&decoder, kind->codec, kind->bits, kind->block_size, kind->lengths);
    for (size_t i = idxf_decoder_choices(&decoder, choices); i-- > 0;) {
        size_t made = 0;
        decoder.next = choices[i];
        assert_int_equal(idxf_block_begin(&cursor, &decoder, block), count);
        cursor.high = high;
        while ((got = idxf_block_next(&cursor, chunk)) > 0) {
            assert_in_range(got, 1, expected - made);
            assert_memory_equal(chunk, fingerprints + made, got * sizeof *chunk);
            made += got;
        }
        assert_fault(cursor.fault, IDXF_OK);
        assert_int_equal(made, expected);
    }
}

/* Checks that a block decodes to these fingerprints, its padding being 0. */
static inline void check_decodes(const struct block_kind *kind, const uint8_t *block, const uint64_t *fingerprints,
                                 size_t count) {
    static struct decoded decoded;
    decode_block(kind, block, &decoded);
    assert_fault(decoded.fault, IDXF_OK);
    assert_fault(decoded.padding, IDXF_OK);
    assert_int_equal(decoded.count, count);
    assert_memory_equal(decoded.fingerprints, fingerprints, count * sizeof *fingerprints);
}

/* Encodes fingerprints, all in one block, as the model does, and decodes them. */
static inline void check_one_block(const struct block_kind *kind, const uint64_t *fingerprints, size_t count) {
    struct model model;
    uint8_t block[IDXF_MAX_BLOCK_SIZE];
    assert_int_equal(encode_block(kind, fingerprints, count, block), count);
    assert_int_equal(model_encode(&model, kind, fingerprints, count), count);
    assert_memory_equal(block, model.block, kind->block_size);
    check_decodes(kind, block, fingerprints, count);
}

#endif
