/* block.c: fuzzes the decoding of blocks. An input is: codec, bits, block size, 64 counts that make the Huffman code,
 * then the block, which is as long as its size says. What decodes without a fault must encode to the same block. */
#include "format/block.h"

#include <stdlib.h>
#include <string.h>

enum { SETTINGS = 3 + IDXF_SYMBOLS };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_encoding(const struct idxf_decoder *decoder, const uint8_t lengths[IDXF_SYMBOLS],
                           const uint64_t *fingerprints, size_t count, const uint8_t *block) {
    static uint8_t again[IDXF_MAX_BLOCK_SIZE];
    struct idxf_encoder encoder;
    for (size_t i = 1; i < count; i++) {
        if (fingerprints[i] <= fingerprints[i - 1]) return; /* a fault that is for the reader of tables to find */
    }
    idxf_encoder_init(&encoder, decoder->codec, decoder->bits, decoder->block_size, lengths);
    if (idxf_block_encode(&encoder, fingerprints, count, again) != count) abort();
    if (memcmp(again, block, decoder->block_size) != 0) abort();
}

static void decode(const struct idxf_decoder *decoder, const uint8_t lengths[IDXF_SYMBOLS], const uint8_t *block) {
    static uint64_t fingerprints[IDXF_MAX_BLOCK_FINGERPRINTS];
    struct idxf_block_cursor cursor;
    uint64_t chunk[IDXF_CHUNK];
    size_t count = 0, got, announced = idxf_block_begin(&cursor, decoder, block);
    while ((got = idxf_block_next(&cursor, chunk)) > 0) {
        if (got > announced - count) abort();
        memcpy(fingerprints + count, chunk, got * sizeof *chunk);
        count += got;
    }
    if (cursor.fault != IDXF_OK) return;
    if (count != announced) abort();
    if (idxf_block_check_padding(&cursor) != IDXF_OK) return;
    check_encoding(decoder, lengths, fingerprints, count, block);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct idxf_decoder decoder;
    uint64_t counts[IDXF_SYMBOLS] = {0};
    uint8_t lengths[IDXF_SYMBOLS];
    if (size < SETTINGS) return 0;
    unsigned bits = 1 + data[1] % 64;
    uint32_t block_size = (uint32_t)IDXF_MIN_BLOCK_SIZE << data[2] % 6;
    for (unsigned symbol = 0; symbol < bits; symbol++) counts[symbol] = data[3 + symbol];
    idxf_code_lengths(counts, lengths);
    if (idxf_code_check(lengths, bits) != IDXF_OK) abort();

    uint8_t *block = calloc(1, block_size); /* exactly: a read beyond it is seen */
    if (block == NULL) return 0;
    memcpy(block, data + SETTINGS, size - SETTINGS < block_size ? size - SETTINGS : block_size);
    idxf_decoder_init(&decoder, data[0] % 2 ? IDXF_CODEC_DELTA : IDXF_CODEC_XOR, bits, block_size, lengths);
    decode(&decoder, lengths, block);
    free(block);
    return 0;
}
