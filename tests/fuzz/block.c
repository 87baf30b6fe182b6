/* block.c: fuzzes the decoding and the search of blocks. An input is: codec, bits, block size, 64 code lengths (not for
 * delta), then the block, filled up with zeros to its size, then searches of SEARCH bytes each: low, high, query and
 * distance. Lengths that make no code are taken as counts to make one from. All ways must agree; what decodes must
 * encode to a block that decodes to the same, and is the same where its padding is 0 and its width that of the writer;
 * a search must find what going through all fingerprints finds; and sifting must leave each search that finds some. */
#include "format/block.h"

#include "format/bytes.h"
#include "tests/fuzz/fuzz.h"

enum { SETTINGS = 3 + IDXF_SYMBOLS, SEARCH = 25 };

struct decoded {
    enum idxf_fault fault;
    enum idxf_fault padding;
    size_t count;
    uint64_t fingerprints[IDXF_MAX_BLOCK_FINGERPRINTS];
};

struct wanted {
    uint64_t low, high, query;
    unsigned distance;
};

struct found {
    size_t count;
    bool past;
    enum idxf_fault fault;
    uint64_t fingerprints[IDXF_MAX_BLOCK_FINGERPRINTS];
};

/* ---- Decoding ---- */

static bool ascend(const struct decoded *decoded) {
    for (size_t i = 1; i < decoded->count; i++) {
        if (decoded->fingerprints[i] <= decoded->fingerprints[i - 1]) return false;
    }
    return true;
}

/* As a reader does: whole, then order and padding. */
static void decode(const struct idxf_decoder *decoder, const uint8_t *block, struct decoded *decoded) {
    struct idxf_block_cursor cursor;
    uint64_t *chunk = malloc(IDXF_CHUNK * sizeof *chunk);
    CHECK(chunk != NULL);
    size_t got, announced = idxf_block_begin(&cursor, decoder, block);
    decoded->count = 0;
    while ((got = idxf_block_next(&cursor, chunk)) > 0) {
        CHECK(got <= IDXF_CHUNK && got <= announced - decoded->count);
        memcpy(decoded->fingerprints + decoded->count, chunk, got * sizeof *chunk);
        decoded->count += got;
    }
    free(chunk);
    decoded->fault = cursor.fault;
    decoded->padding = IDXF_OK;
    if (cursor.fault != IDXF_OK) return;
    CHECK(decoded->count == announced);
    enum idxf_fault end = ascend(decoded) ? idxf_block_check_end(&cursor) : IDXF_FAULT_ORDER;
    *(end == IDXF_FAULT_ORDER ? &decoded->fault : &decoded->padding) = end;
}

/* Before a fault, one way may give more than another, but nothing else. */
static void check_same(const struct decoded *a, const struct decoded *b) {
    size_t count = a->count < b->count ? a->count : b->count;
    CHECK(a->fault == b->fault && a->padding == b->padding);
    CHECK(a->fault != IDXF_OK || a->count == b->count);
    CHECK(memcmp(a->fingerprints, b->fingerprints, count * sizeof *a->fingerprints) == 0);
}

/* ---- Encoding ---- */

/* delta: of low parts. */
static unsigned get_width(const struct idxf_decoder *decoder, const uint8_t *block) {
    return decoder->codec == IDXF_CODEC_DELTA ? block[1] >> 2 : 0;
}

static void check_encoding(const struct idxf_decoder *decoder, const uint8_t lengths[IDXF_SYMBOLS],
                           const struct decoded *decoded, const uint8_t *block) {
    static struct decoded again;
    static uint8_t encoded[IDXF_MAX_BLOCK_SIZE];
    struct idxf_encoder encoder;
    idxf_encoder_init(&encoder, decoder->codec, decoder->bits, decoder->block_size, lengths);
    CHECK(idxf_block_encode(&encoder, decoded->fingerprints, decoded->count, encoded) == decoded->count);
    unsigned width = get_width(decoder, block), chosen = get_width(decoder, encoded);
    bool is_same = memcmp(encoded, block, decoder->block_size) == 0;
    CHECK(chosen <= width && is_same == (decoded->padding == IDXF_OK && chosen == width));
    decode(decoder, encoded, &again);
    CHECK(again.padding == IDXF_OK);
    again.padding = decoded->padding;
    check_same(&again, decoded);
}

/* ---- Searching ---- */

static void find(const struct idxf_decoder *decoder, const uint8_t *block, const struct wanted *wanted,
                 struct found *found) {
    struct idxf_block_cursor cursor;
    uint64_t *chunk = malloc(IDXF_CHUNK * sizeof *chunk);
    size_t got;
    CHECK(chunk != NULL);
    found->count = 0;
    idxf_block_seek(&cursor, decoder, block, wanted->low, wanted->high);
    while ((got = idxf_block_find(&cursor, wanted->query, wanted->distance, chunk)) > 0) {
        CHECK(got <= IDXF_CHUNK && got <= IDXF_MAX_BLOCK_FINGERPRINTS - found->count);
        memcpy(found->fingerprints + found->count, chunk, got * sizeof *chunk);
        found->count += got;
    }
    free(chunk);
    found->past = cursor.past;
    found->fault = cursor.fault;
}

/* Where the block is valid, a search finds what there is, and says whether a fingerprint stands above the range; else
 * it ends. */
static void check_search(const struct idxf_decoder *decoder, const uint8_t *block, const struct decoded *decoded,
                         const struct wanted *wanted) {
    static struct found found;
    size_t expected = 0;
    find(decoder, block, wanted, &found);
    if (decoded->fault != IDXF_OK) return;
    CHECK(found.fault == IDXF_OK);
    for (size_t i = 0; i < decoded->count; i++) {
        uint64_t x = decoded->fingerprints[i];
        if (x < wanted->low || x > wanted->high) continue;
        if ((unsigned)__builtin_popcountll(x ^ wanted->query) > wanted->distance) continue;
        CHECK(expected < found.count && found.fingerprints[expected] == x);
        expected++;
    }
    CHECK(expected == found.count);
    bool is_above = decoded->fingerprints[decoded->count - 1] > wanted->high;
    CHECK(wanted->low > wanted->high || found.past == is_above);
}

/* Whether nothing from low to high is near, and something is above high: then a search need not be made. */
static bool is_needless(const struct decoded *decoded, const struct wanted *wanted, unsigned distance) {
    for (size_t i = 0; i < decoded->count; i++) {
        uint64_t x = decoded->fingerprints[i];
        bool is_near = (unsigned)__builtin_popcountll(x ^ wanted->query) <= distance;
        if (x >= wanted->low && x <= wanted->high && is_near) return false;
    }
    return decoded->fingerprints[decoded->count - 1] > wanted->high;
}

/* Sifting sorts out needless searches alone, and none where the block's header is faulty. */
static void check_sifting(const struct idxf_decoder *decoder, const uint8_t *block, const struct decoded *decoded,
                          const struct wanted wanted[IDXF_LANES], unsigned distance) {
    struct idxf_block_header header;
    struct idxf_lanes lanes;
    for (size_t i = 0; i < IDXF_LANES; i++) {
        lanes.blocks[i] = block;
        lanes.low[i] = wanted[i].low;
        lanes.high[i] = wanted[i].high;
        lanes.queries[i] = wanted[i].query;
    }
    unsigned all = (1u << IDXF_LANES) - 1, left = idxf_block_sift(decoder, &lanes, distance);
    CHECK(left <= all && (decoder->way->sift != NULL || left == all));
    CHECK(left == all || idxf_block_header_read(&header, decoder, block) == IDXF_OK);
    if (decoded->fault != IDXF_OK) return;
    for (size_t i = 0; i < IDXF_LANES; i++) CHECK(left >> i & 1 || is_needless(decoded, &wanted[i], distance));
}

/* The searches of an input, and some for what the block has: one by one, and each time with those before it, side by
 * side. */
static void check_searches(const struct idxf_decoder *decoder, const uint8_t *block, const struct decoded *decoded,
                           const uint8_t *searches, size_t size) {
    uint64_t aligned = ~idxf_low_bits(64 - decoder->bits);
    uint64_t first = decoded->count == 0 ? 0 : decoded->fingerprints[0];
    uint64_t middle = decoded->count == 0 ? 0 : decoded->fingerprints[decoded->count / 2];
    uint64_t below = idxf_low_bits(64 - decoder->bits / 2);
    struct wanted lanes[IDXF_LANES] = {{0, UINT64_MAX, 0, 64},
                                       {middle, middle, middle, 0},
                                       {middle, UINT64_MAX, middle, decoder->bits / 2},
                                       {0, middle, ~middle & aligned, decoder->bits / 2},
                                       {middle & ~below, middle | below, (middle ^ below) & aligned, 1},
                                       {first, first, ~first & aligned, 2},
                                       {first & ~below, first | below, middle, 3},
                                       {0, first - 1, first, 0}};
    for (size_t i = 0; i < IDXF_LANES; i++) {
        check_search(decoder, block, decoded, &lanes[i]);
        check_sifting(decoder, block, decoded, lanes, lanes[i].distance);
    }
    for (size_t i = 0; size >= SEARCH; i++, searches += SEARCH, size -= SEARCH) {
        struct wanted wanted = {idxf_load64(searches) & aligned, idxf_load64(searches + 8),
                                idxf_load64(searches + 16) & aligned, searches[24]};
        check_search(decoder, block, decoded, &wanted);
        lanes[i % IDXF_LANES] = wanted;
        check_sifting(decoder, block, decoded, lanes, wanted.distance);
    }
}

/* ---- The target ---- */

static void check_block(struct idxf_decoder *decoder, const uint8_t lengths[IDXF_SYMBOLS], const uint8_t *block,
                        const uint8_t *searches, size_t searches_size) {
    static struct decoded decoded, other;
    const struct idxf_way *ways[IDXF_MAX_WAYS];
    size_t way_count = idxf_decoder_ways(decoder->codec, ways);
    decode(decoder, block, &decoded);
    for (size_t i = 0; i < way_count; i++) {
        decoder->way = ways[i];
        decode(decoder, block, &other);
        check_same(&decoded, &other);
        check_searches(decoder, block, &other, searches, searches_size);
    }
    if (decoded.fault == IDXF_OK) check_encoding(decoder, lengths, &decoded, block);
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
    uint8_t lengths[IDXF_SYMBOLS] = {0}, whole[IDXF_MAX_BLOCK_SIZE] = {0};
    size_t settings = size > 0 && data[0] % 2 ? 3 : SETTINGS;
    if (size < settings) return 0;
    enum idxf_codec codec = data[0] % 2 ? IDXF_CODEC_DELTA : IDXF_CODEC_XOR;
    unsigned bits = 1 + data[1] % 64;
    uint32_t block_size = (uint32_t)IDXF_MIN_BLOCK_SIZE << data[2] % 7;
    if (codec == IDXF_CODEC_XOR) make_lengths(data + 3, bits, lengths);
    size_t given = size - settings < block_size ? size - settings : block_size;
    memcpy(whole, data + settings, given);
    uint8_t *block = copy_exactly(whole, block_size);
    idxf_decoder_init(&decoder, codec, bits, block_size, lengths);
    check_block(&decoder, lengths, block, data + settings + given, size - settings - given);
    free(block);
    return 0;
}
