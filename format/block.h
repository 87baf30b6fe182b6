/* block.h: blocks, the smallest part of a table that can be decoded alone (SPEC.md, chapter 6). A block holds its key,
 * which is its last fingerprint, or the low bits of the key if memory has the others. Then follow one or several chains
 * of differences below the key. */
#ifndef IDX_FORMAT_BLOCK_H
#define IDX_FORMAT_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/bytes.h"
#include "format/code.h"
#include "format/fault.h"

/* Fingerprints are permuted and left-aligned here, unless a comment says that they are numbers of `bits` bits. */

/* Returns how many chains a block of `block_size` bytes has at most. */
static inline unsigned idxf_get_max_chains(uint32_t block_size) {
    return block_size < 1024 ? 1 : block_size < 4096 ? 2 : IDXF_MAX_CHAINS;
}

/* What all blocks of a table have in common. A fingerprint has `bits` bits, and a short anchor the lowest `anchor_bits`
 * bits of a key. `block_size` is in bytes. */
struct idxf_block_form {
    unsigned bits, anchor_bits;
    uint32_t block_size;
    struct idxf_code code;
    bool long_codes; /* blocks of the least size may have more than IDXF_MAX_CODES_BITS bits of codes */
};

/* Returns the number of anchor bits with which the blocks of a table of `fingerprint_count` uniform fingerprints, of
 * `bits` bits each, are smallest. */
unsigned idxf_choose_anchor_bits(uint64_t fingerprint_count, unsigned bits, uint32_t block_size);

/* Whether a table needs form->long_codes, given *counts of its differences: its blocks have the least size, and the
 * codes of a full block have more than IDXF_MAX_CODES_BITS bits on average. form->long_codes itself is not read. */
bool idxf_needs_long_codes(const struct idxf_block_form *form, const struct idxf_difference_counts *counts);

/* ---- Encoding ---- */

struct idxf_encoder {
    struct idxf_block_form form;
    uint64_t previous_key;                         /* of the block before, a number of `bits` bits; 0 for none */
    struct idxf_class class_of[IDXF_MAX_BITS + 1]; /* by the bits of a difference: its class */
    uint32_t costs[IDXF_MAX_BITS + 1];             /* by the same: bits, plus 2^18 times those of the code */
    /* These are the numbers of the block that is being filled, and the bits of the differences up to each one. */
    uint64_t numbers[IDXF_MAX_BLOCK_FINGERPRINTS + 1];
    uint32_t totals[IDXF_MAX_BLOCK_FINGERPRINTS + 1];
};

/* Prepares an encoder for all blocks of a table, from the first one on. form->code must be valid (idxf_code_check). */
void idxf_encoder_init(struct idxf_encoder *encoder, const struct idxf_block_form *form);

/* Encodes the next block of a table into `block`, of form.block_size bytes. It gets as many of the `count` (1 or more)
 * strictly ascending fingerprints as fit, but at least one. Returns how many these are; the caller passes the others
 * again for the block after it. */
size_t idxf_block_encode(struct idxf_encoder *encoder, const uint64_t *fingerprints, size_t count, uint8_t *block);

/* ---- Decoding ---- */

struct idxf_decoder_way;

struct idxf_decoder {
    const struct idxf_decoder_way *way; /* the fastest for this processor */
    unsigned bits, anchor_bits;
    uint32_t block_size;
    unsigned chains;           /* how many a block has at most */
    unsigned chain_begin_bits; /* bits of the place where a chain begins */
    bool is_small;             /* the codes of a block have at most IDXF_MAX_CODES_BITS bits in all */
    /* For each value of the next bits, the code that they begin with: its length, the length of its tail, and the
     * leading 1 above the tail, or 0. */
    uint8_t lengths[IDXF_CLASSES], tails[IDXF_CLASSES];
    uint64_t leads[IDXF_CLASSES];
    uint8_t lead_tails[IDXF_CLASSES]; /* the tail's bits, and 64 where there is no leading 1 */
};
#define IDXF_NO_LEAD 64

/* Prepares a decoder for the blocks of a table, in any order. form->code must be valid (idxf_code_check). */
void idxf_decoder_init(struct idxf_decoder *decoder, const struct idxf_block_form *form);

/* The anchor of a block: the key, a number of `bits` bits, and the first bit after the anchor. */
struct idxf_anchor {
    uint64_t key;
    unsigned end;
};

/* Reads the anchor of a block. The caller knows `above`, a number of `bits` bits, from the directory: it is at least
 * the key of the block before and at most the key of this one. If the key returned is below `above`, the block or the
 * directory is damaged: the caller must check that, and report IDXF_FAULT_ORDER. */
static inline struct idxf_anchor idxf_block_read_anchor(const struct idxf_decoder *decoder, const uint8_t *block,
                                                        uint64_t above) {
    uint64_t head = idxf_load64(block);
    if (__builtin_expect(head & 1, 0)) {
        uint64_t key = head >> 1 | (uint64_t)block[8] << 63;
        return (struct idxf_anchor){key & idxf_low_bits(decoder->bits), decoder->bits + 1};
    }
    uint64_t distance = ((head >> 1) - above) & idxf_low_bits(decoder->anchor_bits);
    return (struct idxf_anchor){above + distance, decoder->anchor_bits + 1};
}

/* A chain of differences, from a fingerprint downwards: the bits from `begin` to `end` of a block. */
struct idxf_chain {
    uint64_t key;   /* its last fingerprint, a number of `bits` bits */
    uint64_t floor; /* no fingerprint of it is below */
    const uint8_t *block;
    uint32_t begin, end;
};

/* What the caller knows of a block before it is read, as numbers of `bits` bits: `above`, as for
 * idxf_block_read_anchor, and `floor`: no fingerprint of the block is below it (0: nothing is known). With a floor
 * above `above` no block is valid. */
struct idxf_bounds {
    uint64_t above, floor;
};

/* Sets `chains` to those of a block, the lowest first. Returns their number, 1 or more. If they are faulty, returns 0,
 * and sets *fault to IDXF_FAULT_OVERRUN or IDXF_FAULT_ORDER; else *fault stays as it is. */
unsigned idxf_block_list_chains(const struct idxf_decoder *decoder, const uint8_t *block, struct idxf_bounds bounds,
                                struct idxf_chain chains[IDXF_MAX_CHAINS], enum idxf_fault *fault);

/* Whether the entries of a block's list of chains that its `count` (1 or more) chains leave unused are 0. True for
 * blocks without such a list. */
bool idxf_are_unused_entries_zero(const struct idxf_decoder *decoder, const uint8_t *block, unsigned count);

/* How many chains are decoded side by side, and how many words their fingerprints need at most. A faulty block may have
 * one fingerprint more, and some words after the last one may be overwritten. */
#define IDXF_LANES 8
#define IDXF_MAX_DECODED_WORDS (IDXF_LANES * (IDXF_MAX_BLOCK_FINGERPRINTS + 1) + IDXF_LANES)

/* Returns how many blocks idxf_blocks_decode can decode in one call, so that they never have more than IDXF_LANES
 * chains together. */
static inline unsigned idxf_get_blocks_at_once(const struct idxf_decoder *decoder) {
    return IDXF_LANES / decoder->chains;
}

/* Returns how many 64-bit words a call of idxf_blocks_decode may write. The smallest blocks have at most a key, and a
 * difference for each bit of their codes. */
static inline size_t idxf_get_decoded_capacity(const struct idxf_decoder *decoder) {
    return decoder->is_small ? IDXF_LANES * (IDXF_MAX_CODES_BITS + 3) : IDXF_MAX_DECODED_WORDS;
}

/* Decodes `count` consecutive blocks, up to idxf_get_blocks_at_once, into `fingerprints`, which has room for
 * idxf_get_decoded_capacity words. *bounds are those of the first block, and become those of the block after the last.
 * Returns the number of fingerprints, which ascend, and sets *fault to IDXF_OK. If a block is faulty, sets *fault to
 * its fault and *faulty to its number, from 0, and decodes and counts only the blocks before it; *bounds is then
 * unspecified. */
size_t idxf_blocks_decode(const struct idxf_decoder *decoder, const uint8_t *blocks, size_t count,
                          struct idxf_bounds *bounds, uint64_t *fingerprints, size_t *faulty, enum idxf_fault *fault);

/* Returns IDXF_OK if all unused bits of a block are 0, else IDXF_FAULT_PADDING. For verifiers. `bounds` are those with
 * which the block was decoded before, without a fault. */
enum idxf_fault idxf_block_check_padding(const struct idxf_decoder *decoder, const uint8_t *block,
                                         struct idxf_bounds bounds);

/* ---- Searching ---- */

/* Chains that are searched side by side, by decoders with the same code. `low`, `high` (not below it) and `query` are
 * numbers of `bits` bits, as keys are. */
struct idxf_lanes {
    const uint8_t *blocks[IDXF_LANES];
    uint64_t keys[IDXF_LANES], begins[IDXF_LANES], ends[IDXF_LANES];
    uint64_t low[IDXF_LANES], high[IDXF_LANES], queries[IDXF_LANES];
};

/* How many hits a search collects before it hands them over: few, because they are on its stack. */
#define IDXF_HITS 80

/* The hits of a search that are not handed over yet: for each hit its lane, and its fingerprint, a number of `bits`
 * bits. */
struct idxf_hits {
    size_t count;
    /* The search calls it when further hits may not fit. It must consume all hits, set the count to 0 and return true,
     * or return false to end the search. */
    bool (*take)(struct idxf_hits *hits);
    void *context; /* of `take` */
    uint64_t fingerprints[IDXF_HITS];
    uint8_t lanes[IDXF_HITS];
};

/* An implementation of decoding: portable, or with instructions that only some processors have. */
struct idxf_decoder_way {
    const char *name;
    void (*search)(const struct idxf_decoder *decoder, const struct idxf_lanes *lanes, unsigned count,
                   unsigned distance, struct idxf_hits *hits);
    /* Decodes up to IDXF_LANES chains into `fingerprints`, one behind the other. Sets the number of fingerprints of
     * each chain, at most one more than a block may have, or 0 if one of them is below the chain's floor. */
    void (*decode)(const struct idxf_decoder *decoder, const struct idxf_chain *chains, unsigned count,
                   uint64_t *fingerprints, size_t counts[IDXF_LANES]);
};

/* Finds, in each of the first `count` (1 to IDXF_LANES) lanes, the fingerprints from its `low` to its `high` that
 * differ from its query in at most `distance` bits, the greatest first. Empties *hits first. Calls hits->take when more
 * come than fit, and leaves the last ones for the caller. Never reads anything but the blocks, whatever their bytes
 * are. */
static inline void idxf_search(const struct idxf_decoder *decoder, const struct idxf_lanes *lanes, unsigned count,
                               unsigned distance, struct idxf_hits *hits) {
    hits->count = 0;
    decoder->way->search(decoder, lanes, count, distance, hits);
}

/* Sets `ways` to the implementations that this processor can run, the fastest last, and returns their number, 1 to
 * IDXF_MAX_WAYS. For tests and benchmarks. */
#define IDXF_MAX_WAYS 3
size_t idxf_list_decoder_ways(const struct idxf_decoder_way *ways[IDXF_MAX_WAYS]);

#endif
