/* block.h: blocks, the unit of a table that is decoded as a whole (SPEC.md, chapter 7). */
#ifndef IDX_FORMAT_BLOCK_H
#define IDX_FORMAT_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/fault.h"
#include "format/huffman.h"

enum idxf_codec { IDXF_CODEC_XOR = 0, IDXF_CODEC_DELTA = 1, IDXF_CODEC_COUNT };

/* The most fingerprints that a block can hold: all but the first in one bit each. */
#define IDXF_MAX_BLOCK_FINGERPRINTS ((IDXF_MAX_BLOCK_SIZE - IDXF_BLOCK_HEADER_BYTES) * 8 + 1)

/* The fingerprints that idxf_block_next gives at a time, at most. */
#define IDXF_CHUNK 64

/* Fingerprints here are permuted and left-aligned. The position of the difference between two neighbours: where the
 * leading 1 of `x - previous` (delta) or `x ^ previous` (xor) stands, from 0 at the most significant bit.
 * x is above previous. */
unsigned idxf_position(enum idxf_codec codec, uint64_t previous, uint64_t x);

/* ---- Encoding ---- */

struct idxf_encoder {
    enum idxf_codec codec;
    unsigned bits;
    uint32_t block_size;
    uint8_t lengths[IDXF_SYMBOLS];
    uint16_t codes[IDXF_SYMBOLS];
};

/* The lengths must be valid for `bits` (idxf_code_check). */
void idxf_encoder_init(struct idxf_encoder *encoder, enum idxf_codec codec, unsigned bits, uint32_t block_size,
                       const uint8_t lengths[IDXF_SYMBOLS]);

/* Encodes as many of the `count` (1 or more) strictly ascending fingerprints as fit into `block`, block_size bytes, and
 * returns their number. */
size_t idxf_block_encode(const struct idxf_encoder *encoder, const uint64_t *fingerprints, size_t count,
                         uint8_t *block);

/* ---- Decoding ---- */

/* Codes up to this length are looked up in a table of their own, small enough that those of all tables of an index stay
 * in the first cache together. */
#define IDXF_SHORT_CODE 8

struct idxf_block_cursor;
typedef size_t (*idxf_next)(struct idxf_block_cursor *cursor, uint64_t *fingerprints);

/* For each value of the next bits, an entry says which code they begin with: its length in bits, and 256 times the
 * length of its tail. An entry is 0 where there is none, or, among the short ones, where it is longer. */
struct idxf_decoder {
    idxf_next next; /* the fastest for this processor */
    enum idxf_codec codec;
    unsigned bits;
    uint32_t block_size;
    unsigned longest_tail;
    uint16_t short_codes[1u << IDXF_SHORT_CODE];
    uint16_t codes[1u << IDXF_MAX_CODE_LENGTH];
};

/* The lengths must be valid for `bits` (idxf_code_check). */
void idxf_decoder_init(struct idxf_decoder *decoder, enum idxf_codec codec, unsigned bits, uint32_t block_size,
                       const uint8_t lengths[IDXF_SYMBOLS]);

/* The ways to decode that this processor has, the fastest last; returns their number. For tests, which set
 * decoder->next. */
#define IDXF_MAX_CHOICES 3
size_t idxf_decoder_choices(const struct idxf_decoder *decoder, idxf_next choices[IDXF_MAX_CHOICES]);

/* A block being decoded. */
struct idxf_block_cursor {
    const struct idxf_decoder *decoder;
    const uint8_t *block;
    uint64_t high; /* the caller may set it: a fingerprint above it is the last one given */
    uint64_t previous;
    size_t left;     /* fingerprints still to come */
    size_t position; /* of the next code, in bits */
    size_t tails;    /* delta: where the next tail ends, in bits */
    bool first;
    enum idxf_fault fault;
};

/* Begins with a block of decoder->block_size bytes; nothing beyond them is ever read, whatever they are. Returns the
 * number of its fingerprints, 0 when that is out of range (fault set). */
size_t idxf_block_begin(struct idxf_block_cursor *cursor, const struct idxf_decoder *decoder, const uint8_t *block);

/* Decodes the next fingerprints, 1 to IDXF_CHUNK of them. Returns 0 at the end, after a fingerprint above cursor->high,
 * or where the block is faulty: then cursor->fault says why. */
size_t idxf_block_next(struct idxf_block_cursor *cursor, uint64_t fingerprints[IDXF_CHUNK]);

/* After the last fingerprint of the block: whether the unused bits are 0. */
enum idxf_fault idxf_block_check_padding(const struct idxf_block_cursor *cursor);

#endif
