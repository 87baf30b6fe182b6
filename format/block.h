/* block.h: blocks, the unit of a table that is read alone (SPEC.md, chapter 7). A block holds its last fingerprint, the
 * key, or so many of its low bits that memory has the rest; and one chain or several of differences below it. */
#ifndef IDX_FORMAT_BLOCK_H
#define IDX_FORMAT_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/bytes.h"
#include "format/code.h"
#include "format/fault.h"

/* Fingerprints here are permuted and left-aligned, but where it says that they are numbers of `bits` bits. */

/* Chains of a block of so many bytes, at most. */
static inline unsigned idxf_block_chains(uint32_t block_size) {
    return block_size < 1024 ? 1 : block_size < 4096 ? 2 : IDXF_MAX_CHAINS;
}

/* What all blocks of a table have in common. */
struct idxf_block_form {
    unsigned bits, anchor_bits;
    uint32_t block_size;
    struct idxf_code code;
    bool long_codes; /* blocks of the least size may have more than IDXF_MAX_CODES_BITS bits of codes */
};

/* The anchor's bits with which blocks take the least room, for so many fingerprints, spread evenly. */
unsigned idxf_choose_anchor_bits(uint64_t fingerprints, unsigned bits, uint32_t block_size);

/* Whether blocks of the least size would have about so many bits of codes, or more, if they may. */
bool idxf_needs_long_codes(const struct idxf_block_form *form, const struct idxf_difference_counts *counts);

/* ---- Encoding ---- */

struct idxf_encoder {
    struct idxf_block_form form;
    uint64_t before;                         /* the key of the block before, a number of `bits` bits */
    struct idxf_class of[IDXF_MAX_BITS + 1]; /* the class of differences of so many bits */
    uint32_t costs[IDXF_MAX_BITS + 1];       /* bits of code and tail, and 2^18 times those of the code */
    /* Of a block being chosen: its numbers, and what the differences up to each one cost. */
    uint64_t numbers[IDXF_MAX_BLOCK_FINGERPRINTS + 1];
    uint32_t totals[IDXF_MAX_BLOCK_FINGERPRINTS + 1];
};

/* The code must be valid for the bits (idxf_code_check). Blocks are then encoded in the table's order. */
void idxf_encoder_init(struct idxf_encoder *encoder, const struct idxf_block_form *form);

/* Encodes as many of the `count` (1 or more) strictly ascending fingerprints as fit into `block`, block_size bytes, and
 * returns their number. */
size_t idxf_block_encode(struct idxf_encoder *encoder, const uint64_t *fingerprints, size_t count, uint8_t *block);

/* ---- Decoding ---- */

struct idxf_way;

struct idxf_decoder {
    const struct idxf_way *way; /* the fastest for this processor */
    unsigned bits, anchor_bits;
    uint32_t block_size;
    unsigned chains;        /* of a block, at most */
    unsigned position_bits; /* of where a chain begins */
    bool is_small;          /* all codes of a block are in IDXF_MAX_CODES_BITS bits */
    /* For each value of the next bits, what the code is that they begin with: bits of it, and of its tail, and the
     * leading 1 above that, or 0. */
    uint8_t lengths[IDXF_CLASSES], tails[IDXF_CLASSES];
    uint64_t leads[IDXF_CLASSES];
    uint8_t lead_tails[IDXF_CLASSES]; /* the tail's bits, and 64 where there is a leading 1 */
};
#define IDXF_LEADS 64

/* The code must be valid for the bits (idxf_code_check). */
void idxf_decoder_init(struct idxf_decoder *decoder, const struct idxf_block_form *form);

/* What a block begins with: its key, a number of `bits` bits, and the bit behind the anchor. */
struct idxf_anchor {
    uint64_t key;
    unsigned end;
};

/* Reads the anchor of a block. `above` is a number of `bits` bits that is not below the key of the block before and not
 * above this one's: the directory gives one. A key below it is a fault, IDXF_FAULT_ORDER, to be looked for by the
 * caller. */
static inline struct idxf_anchor idxf_block_anchor(const struct idxf_decoder *decoder, const uint8_t *block,
                                                   uint64_t above) {
    uint64_t head = idxf_load64(block);
    if (__builtin_expect(head & 1, 0)) {
        uint64_t key = head >> 1 | (uint64_t)block[8] << 63;
        return (struct idxf_anchor){key & idxf_low_bits(decoder->bits), decoder->bits + 1};
    }
    uint64_t distance = ((head >> 1) - above) & idxf_low_bits(decoder->anchor_bits);
    return (struct idxf_anchor){above + distance, decoder->anchor_bits + 1};
}

/* Differences one after the other, from a fingerprint downwards: bits from `begin` to `end` of a block. */
struct idxf_chain {
    uint64_t key;   /* its last fingerprint, a number of `bits` bits */
    uint64_t floor; /* no fingerprint of it is below */
    const uint8_t *block;
    uint32_t begin, end;
};

/* What is known of a block before it is read, in numbers of `bits` bits: what idxf_block_anchor takes; and that all its
 * fingerprints are at least `floor`, 0 where nothing is known. A floor above `above` allows no block at all. */
struct idxf_bounds {
    uint64_t above, floor;
};

/* Lists the chains of a block, the lowest first. Returns their number; 0 where they are faulty (IDXF_FAULT_OVERRUN, or
 * IDXF_FAULT_ORDER: *fault). */
unsigned idxf_block_list_chains(const struct idxf_decoder *decoder, const uint8_t *block, struct idxf_bounds bounds,
                                struct idxf_chain chains[IDXF_MAX_CHAINS], enum idxf_fault *fault);

/* Whether all that a list of chains says behind `count` of them is 0. */
bool idxf_block_has_clear_list(const struct idxf_decoder *decoder, const uint8_t *block, unsigned count);

/* Blocks that are decoded side by side, and the room that their fingerprints take, at most: each block has one more
 * where it is faulty, and some words behind the last may be written, too. */
#define IDXF_LANES 8
#define IDXF_DECODED_ROOM (IDXF_LANES * (IDXF_MAX_BLOCK_FINGERPRINTS + 1) + IDXF_LANES)

static inline unsigned idxf_blocks_at_once(const struct idxf_decoder *decoder) { return IDXF_LANES / decoder->chains; }

/* The room that these take; the smallest blocks hold a key and a difference for each bit of their codes at most. */
static inline size_t idxf_decoded_room(const struct idxf_decoder *decoder) {
    return decoder->is_small ? IDXF_LANES * (IDXF_MAX_CODES_BITS + 3) : IDXF_DECODED_ROOM;
}

/* Decodes `count` blocks, up to idxf_blocks_at_once, which stand one after the other, into idxf_decoded_room. `*bounds`
 * are those of the first of them, and become those of the block behind the last. Returns the number of fingerprints,
 * which ascend. Where block number *faulty, from 0, is faulty, *fault says why; those of the blocks before it are
 * given. */
size_t idxf_blocks_decode(const struct idxf_decoder *decoder, const uint8_t *blocks, size_t count,
                          struct idxf_bounds *bounds, uint64_t *fingerprints, size_t *faulty, enum idxf_fault *fault);

/* What only a verifier looks for: bits that belong to nothing and are not 0. The block has been decoded. */
enum idxf_fault idxf_block_check_padding(const struct idxf_decoder *decoder, const uint8_t *block,
                                         struct idxf_bounds bounds);

/* ---- Searching ---- */

/* Chains that are searched side by side, by decoders of one code. `low`, `high` (not below it) and `query` are numbers
 * of `bits` bits, as keys are. */
struct idxf_lanes {
    const uint8_t *blocks[IDXF_LANES];
    uint64_t keys[IDXF_LANES], begins[IDXF_LANES], ends[IDXF_LANES];
    uint64_t low[IDXF_LANES], high[IDXF_LANES], queries[IDXF_LANES];
};

/* What was found: a lane, and a number of `bits` bits. */
struct idxf_hits {
    size_t count;
    uint64_t fingerprints[IDXF_DECODED_ROOM + IDXF_LANES];
    uint8_t lanes[IDXF_DECODED_ROOM + IDXF_LANES];
};

/* One way to decode: portable, or with instructions that some processors have. */
struct idxf_way {
    const char *name;
    void (*search)(const struct idxf_decoder *decoder, const struct idxf_lanes *lanes, unsigned count,
                   unsigned distance, struct idxf_hits *hits);
    /* Decodes up to IDXF_LANES chains, in order. Sets the number of fingerprints of each, at most one more than a block
     * may have; 0 where one is below its floor. */
    void (*decode)(const struct idxf_decoder *decoder, const struct idxf_chain *chains, unsigned count,
                   uint64_t *fingerprints, size_t counts[IDXF_LANES]);
};

/* Finds the fingerprints from `low` to `high` that differ from `query` in at most `distance` bits, in the first `count`
 * lanes, 1 to IDXF_LANES; within a lane the greatest first. Nothing but the blocks is ever read, whatever they hold. */
static inline void idxf_search(const struct idxf_decoder *decoder, const struct idxf_lanes *lanes, unsigned count,
                               unsigned distance, struct idxf_hits *hits) {
    hits->count = 0;
    decoder->way->search(decoder, lanes, count, distance, hits);
}

/* The ways that this processor has, the fastest last; returns their number. For tests and benchmarks, which set
 * decoder->way. */
#define IDXF_MAX_WAYS 3
size_t idxf_decoder_ways(const struct idxf_way *ways[IDXF_MAX_WAYS]);

#endif
