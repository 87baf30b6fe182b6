/* block.h: blocks, the unit of a table that is decoded alone (SPEC.md, chapter 7). */
#ifndef IDX_FORMAT_BLOCK_H
#define IDX_FORMAT_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/bytes.h"
#include "format/fault.h"
#include "format/huffman.h"

enum idxf_codec { IDXF_CODEC_XOR = 0, IDXF_CODEC_DELTA = 1, IDXF_CODEC_COUNT };

/* The most fingerprints that an xor block can hold: all but the first in one bit each. */
#define IDXF_MAX_BLOCK_FINGERPRINTS ((IDXF_MAX_BLOCK_SIZE - IDXF_BLOCK_HEADER_BYTES) * 8 + 1)

/* The fingerprints that idxf_block_next and idxf_block_find give at a time, at most. */
#define IDXF_CHUNK 64

/* Fingerprints here are permuted and left-aligned. */

/* ---- Encoding ---- */

struct idxf_encoder;

/* Encodes as idxf_block_encode does: portably, or with instructions that some processors have. */
typedef size_t (*idxf_encode)(struct idxf_encoder *encoder, const uint64_t *fingerprints, size_t count, uint8_t *block);

struct idxf_encoder {
    idxf_encode encode; /* the fastest for this processor */
    unsigned bits;
    uint32_t block_size;
    size_t before; /* delta: the differences of the block before: where the search for the next begins */
    uint8_t lengths[IDXF_SYMBOLS];
    uint16_t codes[IDXF_SYMBOLS];
};

/* The lengths must be valid for `bits` (idxf_code_check), and all 0 for delta. */
void idxf_encoder_init(struct idxf_encoder *encoder, enum idxf_codec codec, unsigned bits, uint32_t block_size,
                       const uint8_t lengths[IDXF_SYMBOLS]);

/* Encodes as many of the `count` (1 or more) strictly ascending fingerprints as fit into `block`, block_size bytes, and
 * returns their number. */
static inline size_t idxf_block_encode(struct idxf_encoder *encoder, const uint64_t *fingerprints, size_t count,
                                       uint8_t *block) {
    return encoder->encode(encoder, fingerprints, count, block);
}

/* The ways that this processor has to encode a codec, the fastest last; returns their number. For tests, which set
 * encoder->encode. */
#define IDXF_MAX_ENCODINGS 2
size_t idxf_encodings(enum idxf_codec codec, idxf_encode encodings[IDXF_MAX_ENCODINGS]);

/* The same for one codec. */
size_t idxf_xor_encodings(idxf_encode encodings[IDXF_MAX_ENCODINGS]);
size_t idxf_delta_encodings(idxf_encode encodings[IDXF_MAX_ENCODINGS]);

/* Writes a whole delta block of `size` bytes (64 or more), header and padding included: `count` (1 to
 * IDXF_MAX_DELTA_FINGERPRINTS) ascending fingerprints, of which neighbours may be equal, with low parts of `width` bits
 * (0 to IDXF_MAX_LOW_BITS), with which they must fit. `align` is how far left-aligned they are shifted: 64 less their
 * bits. */
void idxf_delta_put(const uint64_t *fingerprints, size_t count, unsigned width, unsigned align, uint8_t *block,
                    size_t size);

/* The position of the difference between two neighbours, x above previous: where the leading 1 of `x ^ previous`
 * stands, from 0 at the most significant bit (SPEC.md, chapter 6). */
static inline unsigned idxf_position(uint64_t previous, uint64_t x) { return (unsigned)__builtin_clzll(x ^ previous); }

/* ---- Decoding ---- */

struct idxf_decoder;

/* A block being decoded. */
struct idxf_block_cursor {
    const struct idxf_decoder *decoder;
    const uint8_t *block;
    uint64_t low, high; /* idxf_block_find: the fingerprints wanted */
    size_t count;       /* the block's fingerprints; 0 where it is faulty */
    size_t given;       /* fingerprints decoded, or gone past */
    size_t word;        /* delta: the 64 bits of high parts to go on with */
    uint64_t ones;      /* delta: those of its bits that are still to come */
    size_t end; /* in bits from the block's beginning: xor: the next code; delta: the end of the last high part */
    uint64_t previous; /* xor: the fingerprint given last */
    bool past;         /* idxf_block_find met a fingerprint above `high` */
    enum idxf_fault fault;
};

/* Searches of blocks of one decoder, side by side. */
#define IDXF_LANES 8
struct idxf_lanes {
    const uint8_t *blocks[IDXF_LANES];
    uint64_t low[IDXF_LANES], high[IDXF_LANES], queries[IDXF_LANES];
};

/* One way to decode: portable, or with instructions that some processors have. */
struct idxf_way {
    const char *name;
    unsigned (*sift)(const struct idxf_decoder *decoder, const struct idxf_lanes *lanes, unsigned distance);
    size_t (*next)(struct idxf_block_cursor *cursor, uint64_t *fingerprints);
    size_t (*find)(struct idxf_block_cursor *cursor, uint64_t query, unsigned distance, uint64_t *fingerprints);
};

/* xor: codes up to this length are looked up in a table of their own, small enough that those of all tables of an index
 * stay in the first cache together. */
#define IDXF_SHORT_CODE 8

/* xor: for each value of the next bits, an entry says which code they begin with: its length in bits, and 256 times the
 * length of its tail. An entry is 0 where there is none, or, among the short ones, where it is longer. */
struct idxf_decoder {
    const struct idxf_way *way; /* the fastest for this processor */
    enum idxf_codec codec;
    unsigned bits;
    uint32_t block_size;
    uint16_t short_codes[1u << IDXF_SHORT_CODE];
    uint16_t codes[1u << IDXF_MAX_CODE_LENGTH];
};

/* The lengths must be valid for `bits` (idxf_code_check). */
void idxf_decoder_init(struct idxf_decoder *decoder, enum idxf_codec codec, unsigned bits, uint32_t block_size,
                       const uint8_t lengths[IDXF_SYMBOLS]);

/* The ways that this processor has to decode a codec, the fastest last; returns their number. For tests and benchmarks,
 * which set decoder->way. */
#define IDXF_MAX_WAYS 3
size_t idxf_decoder_ways(enum idxf_codec codec, const struct idxf_way *ways[IDXF_MAX_WAYS]);

/* What each codec adds. A delta block wraps where a fingerprint of it, decoded before, is 2^64 or more. */
bool idxf_delta_wraps(const struct idxf_block_cursor *cursor);
void idxf_xor_decoder_init(struct idxf_decoder *decoder, const uint8_t lengths[IDXF_SYMBOLS]);
size_t idxf_xor_ways(const struct idxf_way *ways[IDXF_MAX_WAYS]);
size_t idxf_delta_ways(const struct idxf_way *ways[IDXF_MAX_WAYS]);

/* A block's header. */
struct idxf_block_header {
    uint64_t first;
    size_t count;
    unsigned width; /* delta: of low parts, in bits */
};

static inline enum idxf_fault idxf_block_header_read(struct idxf_block_header *header,
                                                     const struct idxf_decoder *decoder, const uint8_t *block) {
    unsigned head = (unsigned)block[0] | (unsigned)block[1] << 8;
    size_t room = ((size_t)decoder->block_size - IDXF_BLOCK_HEADER_BYTES) * 8;
    bool is_delta = decoder->codec == IDXF_CODEC_DELTA;
    header->first = idxf_load64(block + 2);
    header->count = is_delta ? head & IDXF_MAX_DELTA_FINGERPRINTS : head;
    header->width = is_delta ? head >> 10 : 0;
    if ((header->first & idxf_low_bits(64 - decoder->bits)) != 0) return IDXF_FAULT_BITS;
    if (header->count == 0 || (!is_delta && header->count - 1 > room)) return IDXF_FAULT_COUNT;
    if (header->width > IDXF_MAX_LOW_BITS || (header->count - 1) * (header->width + 1) > room)
        return IDXF_FAULT_OVERRUN;
    return IDXF_OK;
}

/* Begins with a block of decoder->block_size bytes; nothing beyond them is ever read, whatever they are. Returns the
 * number of its fingerprints, 0 when its header is faulty (fault set). */
size_t idxf_block_begin(struct idxf_block_cursor *cursor, const struct idxf_decoder *decoder, const uint8_t *block);

/* Decodes the next fingerprints, 1 to IDXF_CHUNK of them. Returns 0 at the end, or where the block is faulty: then
 * cursor->fault says why. */
static inline size_t idxf_block_next(struct idxf_block_cursor *cursor, uint64_t fingerprints[IDXF_CHUNK]) {
    return cursor->decoder->way->next(cursor, fingerprints);
}

/* Begins to search a block, instead of idxf_block_begin, for the fingerprints from `low`, left-aligned, to `high`, not
 * below it. */
static inline void idxf_block_seek(struct idxf_block_cursor *cursor, const struct idxf_decoder *decoder,
                                   const uint8_t *block, uint64_t low, uint64_t high) {
    cursor->decoder = decoder;
    cursor->block = block;
    cursor->low = low;
    cursor->high = high;
    cursor->given = 0;
    cursor->past = false;
    cursor->fault = IDXF_OK;
}

/* Those of the fingerprints sought that differ from `query` in at most `distance` bits, up to IDXF_CHUNK at a time;
 * call it with the same query until it returns 0. Then the block is done, or faulty (fault set). cursor->past says
 * whether a fingerprint above `high` was met; where none was, the next block may have more to find. Looks at no more of
 * the block than it needs, so it does not find every fault. */
static inline size_t idxf_block_find(struct idxf_block_cursor *cursor, uint64_t query, unsigned distance,
                                     uint64_t fingerprints[IDXF_CHUNK]) {
    return cursor->decoder->way->find(cursor, query, distance, fingerprints);
}

/* Most searches of few fingerprints find none. Returns a bit, the lowest first, for each of the lanes that has to be
 * searched by idxf_block_find: all, where the way can't tell. In the other blocks no fingerprint from `low` to `high`
 * differs from the query in at most `distance` bits, and one stands above `high`. */
static inline unsigned idxf_block_sift(const struct idxf_decoder *decoder, const struct idxf_lanes *lanes,
                                       unsigned distance) {
    return decoder->way->sift == NULL ? (1u << IDXF_LANES) - 1 : decoder->way->sift(decoder, lanes, distance);
}

/* After the last fingerprint of the block, when all were found to ascend: whether a sum wrapped nonetheless
 * (IDXF_FAULT_ORDER), and whether the unused bits are 0. */
enum idxf_fault idxf_block_check_end(const struct idxf_block_cursor *cursor);

#endif
