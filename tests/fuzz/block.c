/* block.c: fuzzes the decoding of blocks. An input is: codec, bits, block size, 64 code lengths, then the block, cut or
 * filled up with zeros to its size. Lengths that make no code are taken as counts to make one from. All ways to decode
 * must agree; what decodes must encode to a block that decodes to the same, and is the same where its padding is 0. */
#include "format/block.h"

#include "tests/fuzz/fuzz.h"

enum { SETTINGS = 3 + IDXF_SYMBOLS };

struct decoded {
    enum idxf_fault fault;
    enum idxf_fault padding;
    size_t count;
    uint64_t fingerprints[IDXF_MAX_BLOCK_FINGERPRINTS];
};

static void decode(const struct idxf_decoder *decoder, const uint8_t *block, uint64_t high, struct decoded *decoded) {
    struct idxf_block_cursor cursor;
    uint64_t chunk[IDXF_CHUNK];
    size_t got, announced = idxf_block_begin(&cursor, decoder, block);
    cursor.high = high;
    decoded->count = 0;
    while ((got = idxf_block_next(&cursor, chunk)) > 0) {
        CHECK(got <= IDXF_CHUNK && got <= announced - decoded->count);
        memcpy(decoded->fingerprints + decoded->count, chunk, got * sizeof *chunk);
        decoded->count += got;
    }
    decoded->fault = cursor.fault;
    decoded->padding = IDXF_OK;
    if (cursor.fault != IDXF_OK || high != UINT64_MAX) return;
    CHECK(decoded->count == announced);
    decoded->padding = idxf_block_check_padding(&cursor);
}

static void check_same(const struct decoded *a, const struct decoded *b) {
    CHECK(a->fault == b->fault && a->padding == b->padding && a->count == b->count);
    CHECK(memcmp(a->fingerprints, b->fingerprints, a->count * sizeof *a->fingerprints) == 0);
}

static bool ascend(const struct decoded *decoded) {
    for (size_t i = 1; i < decoded->count; i++) {
        if (decoded->fingerprints[i] <= decoded->fingerprints[i - 1]) return false;
    }
    return true;
}

/* Decoding up to `high` gives the first ones, up to one above it. */
static void check_high(const struct idxf_decoder *decoder, const uint8_t *block, const struct decoded *all,
                       uint64_t high) {
    static struct decoded some;
    size_t expected = 1;
    while (expected < all->count && all->fingerprints[expected - 1] <= high) expected++;
    decode(decoder, block, high, &some);
    CHECK(some.fault == IDXF_OK && some.count == expected);
    CHECK(memcmp(some.fingerprints, all->fingerprints, expected * sizeof *some.fingerprints) == 0);
}

static void check_encoding(const struct idxf_decoder *decoder, const uint8_t lengths[IDXF_SYMBOLS],
                           const struct decoded *decoded, const uint8_t *block) {
    static struct decoded again;
    static uint8_t encoded[IDXF_MAX_BLOCK_SIZE];
    struct idxf_encoder encoder;
    idxf_encoder_init(&encoder, decoder->codec, decoder->bits, decoder->block_size, lengths);
    CHECK(idxf_block_encode(&encoder, decoded->fingerprints, decoded->count, encoded) == decoded->count);
    CHECK((memcmp(encoded, block, decoder->block_size) == 0) == (decoded->padding == IDXF_OK));
    decode(decoder, encoded, UINT64_MAX, &again);
    CHECK(again.padding == IDXF_OK);
    again.padding = decoded->padding;
    check_same(&again, decoded);
}

static void check_block(struct idxf_decoder *decoder, const uint8_t lengths[IDXF_SYMBOLS], const uint8_t *block) {
    static struct decoded decoded, other;
    idxf_next choices[IDXF_MAX_CHOICES];
    size_t choice_count = idxf_decoder_choices(decoder, choices);
    decode(decoder, block, UINT64_MAX, &decoded);
    for (size_t i = 0; i < choice_count; i++) {
        decoder->next = choices[i];
        decode(decoder, block, UINT64_MAX, &other);
        check_same(&decoded, &other);
        if (decoded.fault != IDXF_OK || !ascend(&decoded)) continue;
        check_high(decoder, block, &decoded, decoded.fingerprints[decoded.count / 2]);
        check_high(decoder, block, &decoded, decoded.fingerprints[0] - 1);
    }
    if (decoded.fault == IDXF_OK && ascend(&decoded)) check_encoding(decoder, lengths, &decoded, block);
}

/* The lengths of an input, or lengths made from them. */
static void make_lengths(const uint8_t *input, unsigned bits, uint8_t lengths[IDXF_SYMBOLS]) {
    uint64_t counts[IDXF_SYMBOLS] = {0};
    memcpy(lengths, input, IDXF_SYMBOLS);
    if (idxf_code_check(lengths, bits) == IDXF_OK) return;
    for (unsigned symbol = 0; symbol < bits; symbol++) counts[symbol] = input[symbol];
    idxf_code_lengths(counts, lengths);
    CHECK(idxf_code_check(lengths, bits) == IDXF_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct idxf_decoder decoder;
    uint8_t lengths[IDXF_SYMBOLS], whole[IDXF_MAX_BLOCK_SIZE] = {0};
    if (size < SETTINGS) return 0;
    unsigned bits = 1 + data[1] % 64;
    uint32_t block_size = (uint32_t)IDXF_MIN_BLOCK_SIZE << data[2] % 6;
    make_lengths(data + 3, bits, lengths);
    memcpy(whole, data + SETTINGS, size - SETTINGS < block_size ? size - SETTINGS : block_size);
    uint8_t *block = copy_exactly(whole, block_size);
    idxf_decoder_init(&decoder, data[0] % 2 ? IDXF_CODEC_DELTA : IDXF_CODEC_XOR, bits, block_size, lengths);
    check_block(&decoder, lengths, block);
    free(block);
    return 0;
}
