/* blocks.h: what the tests of blocks share: encoding, decoding and searching in all the ways that this processor has,
 * each compared with the model. */
#ifndef IDX_TESTS_FORMAT_BLOCKS_H
#define IDX_TESTS_FORMAT_BLOCKS_H

#include "tests/format/model.h"

/* ---- Encoding ---- */

/* The code that a table of these fingerprints has. */
static inline void make_code(struct block_kind *kind, const uint64_t *fingerprints, size_t count) {
    uint64_t counts[IDXF_SYMBOLS] = {0};
    memset(kind->lengths, 0, sizeof kind->lengths);
    if (kind->codec == IDXF_CODEC_DELTA) return;
    for (size_t i = 1; i < count; i++) counts[model_position(fingerprints[i - 1], fingerprints[i])]++;
    idxf_code_lengths(counts, kind->lengths);
}

/* Encodes a block in one way, into an allocation of exactly its size that is not zeroed. */
static inline size_t encode_with(struct idxf_encoder *encoder, const uint64_t *fingerprints, size_t count,
                                 uint8_t *block) {
    uint8_t *made = malloc(encoder->block_size);
    assert_non_null(made);
    memset(made, 0xA5, encoder->block_size);
    size_t encoded = idxf_block_encode(encoder, fingerprints, count, made);
    memcpy(block, made, encoder->block_size);
    free(made);
    return encoded;
}

/* Encodes a block in all ways, which must agree; each begins with another block in mind. */
static inline size_t encode_block(const struct block_kind *kind, const uint64_t *fingerprints, size_t count,
                                  uint8_t *block) {
    static const size_t before[] = {0, 1, 10, 1021, 1022};
    static uint8_t other[IDXF_MAX_BLOCK_SIZE];
    struct idxf_encoder encoder;
    idxf_encode encodings[IDXF_MAX_ENCODINGS];
    size_t ways = idxf_encodings(kind->codec, encodings);
    assert_in_range(ways, 1, IDXF_MAX_ENCODINGS);
    idxf_encoder_init(&encoder, kind->codec, kind->bits, kind->block_size, kind->lengths);
    assert_ptr_equal(encoder.encode, encodings[ways - 1]);
    size_t encoded = encode_with(&encoder, fingerprints, count, block);
    for (size_t i = 0; i < ways * COUNT_OF(before); i++) {
        encoder.encode = encodings[i % ways];
        encoder.before = i / ways == 0 ? encoded - 1 : before[i / ways];
        assert_int_equal(encode_with(&encoder, fingerprints, count, other), encoded);
        assert_memory_equal(other, block, kind->block_size);
    }
    return encoded;
}

/* ---- Decoding ---- */

static inline void init_decoder(struct idxf_decoder *decoder, const struct block_kind *kind) {
    idxf_decoder_init(decoder, kind->codec, kind->bits, kind->block_size, kind->lengths);
}

/* Decodes a block in one way, as a reader does, into an allocation of exactly a chunk. */
static inline void decode_with(const struct idxf_decoder *decoder, const uint8_t *block, struct decoded *decoded) {
    struct idxf_block_cursor cursor;
    uint64_t *chunk = calloc(IDXF_CHUNK, sizeof *chunk);
    size_t count;
    assert_non_null(chunk);
    decoded->count = 0;
    size_t announced = idxf_block_begin(&cursor, decoder, block);
    while ((count = idxf_block_next(&cursor, chunk)) > 0) {
        assert_in_range(count, 1, IDXF_CHUNK);
        assert_in_range(count, 1, announced - decoded->count);
        memcpy(decoded->fingerprints + decoded->count, chunk, count * sizeof *chunk);
        decoded->count += count;
    }
    assert_int_equal(idxf_block_next(&cursor, chunk), 0); /* and stays so */
    free(chunk);
    decoded->fault = cursor.fault;
    decoded->padding = IDXF_OK;
    if (cursor.fault != IDXF_OK) return;
    assert_int_equal(decoded->count, announced);
    enum idxf_fault end = ascend(decoded) ? idxf_block_check_end(&cursor) : IDXF_FAULT_ORDER;
    *(end == IDXF_FAULT_ORDER ? &decoded->fault : &decoded->padding) = end;
}

/* What is decoded before a fault may be less, but not other than what the model decodes. */
static inline void compare_with_model(const struct decoded *decoded, const struct decoded *model) {
    assert_fault(decoded->fault, model->fault);
    assert_in_range(decoded->count, model->fault == IDXF_OK ? model->count : 0, model->count);
    assert_memory_equal(decoded->fingerprints, model->fingerprints, decoded->count * sizeof(uint64_t));
    if (model->fault == IDXF_OK) assert_fault(decoded->padding, model->padding);
}

/* Decodes a block in all ways, each of which must do as the model does, from an allocation of exactly its size. */
static inline void decode_block(const struct block_kind *kind, const uint8_t *block, struct decoded *decoded) {
    static struct idxf_decoder decoder;
    static struct decoded by_way;
    const struct idxf_way *ways[IDXF_MAX_WAYS];
    size_t way_count = idxf_decoder_ways(kind->codec, ways);
    assert_in_range(way_count, 1, IDXF_MAX_WAYS);
    uint8_t *copy = copy_exactly(block, kind->block_size);
    model_decode(kind, block, decoded);
    init_decoder(&decoder, kind);
    assert_ptr_equal(decoder.way, ways[way_count - 1]);
    for (size_t i = 0; i < way_count; i++) {
        decoder.way = ways[i];
        decode_with(&decoder, copy, &by_way);
        compare_with_model(&by_way, decoded);
    }
    free(copy);
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

/* Encodes as many fingerprints as fit, as the model does, and decodes them. Returns their number. */
static inline size_t check_encodes(const struct block_kind *kind, const uint64_t *fingerprints, size_t count) {
    uint8_t block[IDXF_MAX_BLOCK_SIZE], model[IDXF_MAX_BLOCK_SIZE];
    size_t made = encode_block(kind, fingerprints, count, block);
    assert_int_equal(made, model_encode(kind, fingerprints, count, model));
    assert_memory_equal(block, model, kind->block_size);
    check_decodes(kind, block, fingerprints, made);
    return made;
}

/* ---- Searching ---- */

/* What idxf_block_find looks for: left-aligned, but for `high`, which may be filled up with 1 bits. */
struct wanted {
    uint64_t low, high, query;
    unsigned distance;
};

struct found {
    size_t calls; /* that found something */
    size_t count;
    bool past;
    enum idxf_fault fault;
    uint64_t fingerprints[IDXF_MAX_BLOCK_FINGERPRINTS];
};

/* Searches a block in one way, whatever its bytes are. */
static inline void find_with(const struct idxf_decoder *decoder, const uint8_t *block, const struct wanted *wanted,
                             struct found *found) {
    struct idxf_block_cursor cursor;
    uint64_t *chunk = calloc(IDXF_CHUNK, sizeof *chunk);
    size_t count;
    assert_non_null(chunk);
    found->count = found->calls = 0;
    size_t announced = idxf_block_begin(&cursor, decoder, block);
    memset(&cursor, 0xFF, sizeof cursor); /* what searching does not need is not begun with */
    idxf_block_seek(&cursor, decoder, block, wanted->low, wanted->high);
    while ((count = idxf_block_find(&cursor, wanted->query, wanted->distance, chunk)) > 0) {
        assert_in_range(count, 1, IDXF_CHUNK);
        assert_in_range(count, 1, announced - found->count);
        memcpy(found->fingerprints + found->count, chunk, count * sizeof *chunk);
        found->count += count;
        found->calls++;
    }
    free(chunk);
    found->past = cursor.past;
    found->fault = cursor.fault;
}

/* The same by going through all fingerprints. */
static inline void find_plainly(const uint64_t *fingerprints, size_t count, const struct wanted *wanted,
                                struct found *found) {
    found->count = 0;
    found->past = fingerprints[count - 1] > wanted->high;
    for (size_t i = 0; i < count; i++) {
        uint64_t x = fingerprints[i];
        unsigned errors = 0;
        for (uint64_t left = x ^ wanted->query; left != 0; left &= left - 1) errors++;
        if (x >= wanted->low && x <= wanted->high && errors <= wanted->distance)
            found->fingerprints[found->count++] = x;
    }
}

/* A search finds what there is; and where the range is one, `past` says whether the block has a fingerprint above it.
 */
static inline void compare_found(const struct found *found, const struct found *expected, const struct wanted *wanted) {
    assert_fault(found->fault, IDXF_OK);
    assert_int_equal(found->count, expected->count);
    assert_memory_equal(found->fingerprints, expected->fingerprints, found->count * sizeof(uint64_t));
    if (wanted->low <= wanted->high) assert_int_equal(found->past, expected->past);
}

/* Searches a valid block, which has these fingerprints, in all ways. Returns the most calls that a search took. */
static inline size_t check_searches(const struct block_kind *kind, const uint8_t *block, const uint64_t *fingerprints,
                                    size_t count, const struct wanted *wanted, size_t wanted_count) {
    static struct idxf_decoder decoder;
    static struct found found, expected;
    const struct idxf_way *ways[IDXF_MAX_WAYS];
    size_t way_count = idxf_decoder_ways(kind->codec, ways), most = 0;
    uint8_t *copy = copy_exactly(block, kind->block_size);
    init_decoder(&decoder, kind);
    for (size_t i = 0; i < wanted_count; i++) {
        find_plainly(fingerprints, count, &wanted[i], &expected);
        for (size_t way = 0; way < way_count; way++) {
            decoder.way = ways[way];
            find_with(&decoder, copy, &wanted[i], &found);
            compare_found(&found, &expected, &wanted[i]);
            if (found.calls > most) most = found.calls;
        }
    }
    free(copy);
    return most;
}

#endif
