/* block.c: what blocks of both codecs share: their header, and the choice of a way to decode them. */
#include "format/block.h"

#include "format/bytes.h"

#define HEADER_BITS (IDXF_BLOCK_HEADER_BYTES * 8)

/* ---- Encoding ---- */

size_t idxf_encodings(enum idxf_codec codec, idxf_encode encodings[IDXF_MAX_ENCODINGS]) {
    return codec == IDXF_CODEC_XOR ? idxf_xor_encodings(encodings) : idxf_delta_encodings(encodings);
}

void idxf_encoder_init(struct idxf_encoder *encoder, enum idxf_codec codec, unsigned bits, uint32_t block_size,
                       const uint8_t lengths[IDXF_SYMBOLS]) {
    idxf_encode encodings[IDXF_MAX_ENCODINGS];
    encoder->encode = encodings[idxf_encodings(codec, encodings) - 1];
    encoder->bits = bits;
    encoder->before = 0;
    encoder->block_size = block_size;
    memcpy(encoder->lengths, lengths, IDXF_SYMBOLS);
    idxf_codes(lengths, encoder->codes);
}

/* ---- Decoding ---- */

size_t idxf_decoder_ways(enum idxf_codec codec, const struct idxf_way *ways[IDXF_MAX_WAYS]) {
    return codec == IDXF_CODEC_XOR ? idxf_xor_ways(ways) : idxf_delta_ways(ways);
}

void idxf_decoder_init(struct idxf_decoder *decoder, enum idxf_codec codec, unsigned bits, uint32_t block_size,
                       const uint8_t lengths[IDXF_SYMBOLS]) {
    const struct idxf_way *ways[IDXF_MAX_WAYS];
    *decoder = (struct idxf_decoder){.codec = codec, .bits = bits, .block_size = block_size};
    decoder->way = ways[idxf_decoder_ways(codec, ways) - 1];
    if (codec == IDXF_CODEC_XOR) idxf_xor_decoder_init(decoder, lengths);
}

size_t idxf_block_begin(struct idxf_block_cursor *cursor, const struct idxf_decoder *decoder, const uint8_t *block) {
    struct idxf_block_header header;
    idxf_block_seek(cursor, decoder, block, 0, UINT64_MAX);
    cursor->fault = idxf_block_header_read(&header, decoder, block);
    cursor->count = cursor->fault == IDXF_OK ? header.count : 0;
    cursor->end = HEADER_BITS;
    return cursor->count;
}

enum idxf_fault idxf_block_check_end(const struct idxf_block_cursor *cursor) {
    struct idxf_block_header header;
    idxf_block_header_read(&header, cursor->decoder, cursor->block);
    if (cursor->decoder->codec == IDXF_CODEC_DELTA && idxf_delta_wraps(cursor)) return IDXF_FAULT_ORDER;
    size_t end = (size_t)cursor->decoder->block_size * 8 - (header.count - 1) * header.width;
    for (size_t bit = cursor->end; bit < end; bit++) {
        if (cursor->block[bit / 8] >> bit % 8 & 1) return IDXF_FAULT_PADDING;
    }
    return IDXF_OK;
}
