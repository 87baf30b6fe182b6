/* block.c: writes blocks, and reads their anchors and lists of chains (SPEC.md, chapter 6). */
#include "format/block.h"

#include "format/processor.h"

#define OFFSET_WIDTH_BITS 6 /* of the number that says how wide offsets of chains are */

#define LEAST_CHAINED 64 /* blocks with fewer fingerprints have one chain */

/* Returns how many bits a block of `block_size` bytes, a power of two, needs to say at which of its bits a chain
 * begins. */
static unsigned get_chain_begin_bits(uint32_t block_size) { return idxf_bit_length(block_size) + 2; }

/* ---- The anchor ---- */

/* A difference takes about one bit more than the mean difference has. The number of fingerprints that a block holds
 * follows from that, and then the mean distance of keys. Anchors have as many bits as 1.6 times that distance, which is
 * enough for 1.6 to 3.2 times the distance: for all but a few blocks in a hundred. */
unsigned idxf_choose_anchor_bits(uint64_t fingerprint_count, unsigned bits, uint32_t block_size) {
    uint64_t mean_difference = idxf_low_bits(bits) / (fingerprint_count > 0 ? fingerprint_count : 1);
    uint64_t fingerprints_held = (block_size * 8 - bits) / (idxf_bit_length(mean_difference) + 1), anchor_distance;
    unsigned max_bits = bits < IDXF_MAX_ANCHOR_BITS ? bits : IDXF_MAX_ANCHOR_BITS;
    if (__builtin_mul_overflow(mean_difference, fingerprints_held * 8 / 5, &anchor_distance)) return max_bits;
    unsigned wanted_bits = idxf_bit_length(anchor_distance);
    return wanted_bits < 1 ? 1 : wanted_bits < max_bits ? wanted_bits : max_bits;
}

bool idxf_needs_long_codes(const struct idxf_block_form *form, const struct idxf_difference_counts *counts) {
    struct idxf_code_cost cost = idxf_code_compute_cost(&form->code, counts, form->bits);
    uint64_t available_bits = form->block_size * UINT64_C(8) - form->anchor_bits;
    /* available_bits * codes / (codes + tails) > IDXF_MAX_CODES_BITS, without the division */
    return form->block_size == IDXF_MIN_BLOCK_SIZE &&
           available_bits * cost.codes > (cost.codes + cost.tails) * IDXF_MAX_CODES_BITS;
}

/* ---- Encoding ---- */

/* Whether blocks are small: they have the least size and no long codes, so the codes of each fit one word. */
static inline bool is_small(const struct idxf_block_form *form) {
    return form->block_size == IDXF_MIN_BLOCK_SIZE && !form->long_codes;
}

/* A cost counts code bits in units of CODE_COST, and all bits in units of 1, so that one sum has both. NO_CODE is more
 * bits than a block has: a difference without a code ends each block that it is added to. */
#define CODE_COST ((uint32_t)1 << 18)
#define NO_CODE ((uint32_t)1 << 16)

/* Returns how many bits a cost counts, of codes and tails together. */
static inline size_t get_all_bits(uint32_t cost) { return cost % CODE_COST; }

void idxf_encoder_init(struct idxf_encoder *encoder, const struct idxf_block_form *form) {
    struct idxf_class classes[IDXF_CLASSES];
    unsigned class_count = idxf_code_list_classes(&form->code, form->bits, classes), near_bits = form->code.near_bits;
    encoder->form = *form;
    encoder->previous_key = 0;
    for (unsigned length = 0; length <= IDXF_MAX_BITS; length++) {
        struct idxf_class class = classes[idxf_get_class_number(length, near_bits, class_count)];
        bool has_code = length <= idxf_get_max_tail_bits(form->bits);
        encoder->class_of[length] = class;
        encoder->costs[length] = has_code ? class.length * CODE_COST + class.length + class.tail : NO_CODE;
    }
}

/* Writes the lowest `length` (0 to 64) bits of `bits` from bit `begin_bit` of a block on, where all bits are 0. Writes
 * at most 32 bits at a time: the word of 8 bytes that begins with their first byte may have up to 7 bits before them,
 * so it has no room for 64. At the block's end, the word ends with the block instead. */
static void write_bits(uint8_t *block, size_t size, size_t begin_bit, uint64_t bits, unsigned length) {
    for (unsigned done = 0; done < length; done += 32) {
        unsigned width = length - done < 32 ? length - done : 32;
        size_t byte = (begin_bit + done) / 8, shift = (begin_bit + done) % 8;
        if (byte + 8 > size) {
            shift += (byte + 8 - size) * 8;
            byte = size - 8;
        }
        uint64_t field = bits >> done & idxf_low_bits(width);
        idxf_store64(block + byte, idxf_load64(block + byte) | field << shift);
    }
}

/* Writes the differences of `count` (1 or more) fingerprints, the last one first: codes from bit `begin` of the block
 * up, tails from bit `end` down. */
static void write_chain(const struct idxf_encoder *encoder, const uint64_t *fingerprints, size_t count, uint8_t *block,
                        size_t begin, size_t end) {
    unsigned align_bits = 64 - encoder->form.bits;
    for (size_t i = count - 1; i > 0; i--) {
        uint64_t difference = (fingerprints[i] - fingerprints[i - 1]) >> align_bits;
        struct idxf_class class = encoder->class_of[idxf_bit_length(difference)];
        write_bits(block, encoder->form.block_size, begin, class.code, class.length);
        begin += class.length;
        end -= class.tail;
        write_bits(block, encoder->form.block_size, end, difference & idxf_low_bits(class.tail), class.tail);
    }
}

/* What the next block is to have. */
struct choice {
    size_t count;          /* of its fingerprints */
    bool has_whole_anchor; /* the anchor is the whole key */
    unsigned chains;       /* 1, or as many as the block can have */
    unsigned offset_bits;  /* of how far a chain's key is below the block's key */
};

/* Returns the index in the block of the fingerprint that chain i begins with. Chain 0 has the lowest fingerprints. */
static size_t get_chain_start(const struct choice *choice, unsigned i) { return choice->count * i / choice->chains; }

/* Whether a key, a number of `bits` bits, is too far from the key of the block before to be written by its low bits
 * alone. */
static bool needs_whole_anchor(const struct idxf_encoder *encoder, uint64_t key) {
    return key - encoder->previous_key > idxf_low_bits(encoder->form.anchor_bits);
}

/* Returns how many bits the anchor and the list of chains take, which precede the block's differences. */
static size_t get_header_bits(const struct idxf_encoder *encoder, const struct choice *choice) {
    unsigned chains = idxf_get_max_chains(encoder->form.block_size);
    size_t anchor = 1 + (choice->has_whole_anchor ? encoder->form.bits : encoder->form.anchor_bits);
    if (chains == 1) return anchor;
    return anchor + OFFSET_WIDTH_BITS +
           (chains - 1) * (choice->offset_bits + get_chain_begin_bits(encoder->form.block_size));
}

/* Sets *choice to a block of the first `count` of encoder->numbers, cut into chains. Returns whether they fit into
 * it. */
static bool choose_chains_for_count(const struct idxf_encoder *encoder, size_t count, struct choice *choice) {
    const uint64_t *numbers = encoder->numbers;
    *choice = (struct choice){
        .count = count,
        .has_whole_anchor = needs_whole_anchor(encoder, numbers[count - 1]),
        .chains = count < LEAST_CHAINED ? 1 : idxf_get_max_chains(encoder->form.block_size),
        .offset_bits = 0,
    };
    size_t bits = encoder->totals[count - 1];
    for (unsigned i = 1; i < choice->chains; i++) {
        size_t start = get_chain_start(choice, i); /* The difference across a cut is not written. */
        bits -= encoder->totals[start] - encoder->totals[start - 1];
    }
    if (choice->chains > 1)
        choice->offset_bits = idxf_bit_length(numbers[count - 1] - numbers[get_chain_start(choice, 1) - 1]);
    return choice->offset_bits < 1u << OFFSET_WIDTH_BITS &&
           bits + get_header_bits(encoder, choice) <= encoder->form.block_size * 8;
}

/* Sets encoder->numbers and encoder->totals for as many of `count` fingerprints as have differences of at most
 * `max_bits` bits together, but at least for the first one. Returns how many these are. */
static size_t set_numbers_and_totals(struct idxf_encoder *encoder, const uint64_t *fingerprints, size_t count,
                                     size_t max_bits) {
    unsigned align_bits = 64 - encoder->form.bits;
    size_t max_count = count < IDXF_MAX_BLOCK_FINGERPRINTS ? count : IDXF_MAX_BLOCK_FINGERPRINTS, fit_count = 1;
    encoder->numbers[0] = fingerprints[0] >> align_bits;
    encoder->totals[0] = 0;
    for (; fit_count < max_count; fit_count++) {
        encoder->numbers[fit_count] = fingerprints[fit_count] >> align_bits;
        unsigned length = idxf_bit_length(encoder->numbers[fit_count] - encoder->numbers[fit_count - 1]);
        encoder->totals[fit_count] = encoder->totals[fit_count - 1] + (uint32_t)get_all_bits(encoder->costs[length]);
        if (encoder->totals[fit_count] > max_bits) break;
    }
    return fit_count;
}

/* Sets *choice to as many of `count` fingerprints as fit, cut into chains. Each cut saves the code and the tail of a
 * difference, so the first count tried is what would fit with the most that cuts can save. One fingerprint always
 * fits. */
static void choose_several_chains(struct idxf_encoder *encoder, const uint64_t *fingerprints, size_t count,
                                  struct choice *choice) {
    size_t max_bits = encoder->form.block_size * 8 + IDXF_MAX_CHAINS * (IDXF_MAX_CODE_LENGTH + IDXF_MAX_TAIL_BITS);
    size_t fit_count = set_numbers_and_totals(encoder, fingerprints, count, max_bits);
    while (!choose_chains_for_count(encoder, fit_count, choice)) fit_count--;
}

/* Writes the list of chains, and then the chains from the highest to the lowest. The lowest one has no entry in the
 * list, and its tails are at the block's end. */
static void write_several_chains(const struct idxf_encoder *encoder, const uint64_t *fingerprints,
                                 const struct choice *choice, uint8_t *block) {
    size_t size = encoder->form.block_size, begin = get_header_bits(encoder, choice);
    unsigned chain_begin_bits = get_chain_begin_bits(encoder->form.block_size), offset_bits = choice->offset_bits;
    size_t entry_bit = begin - (idxf_get_max_chains(encoder->form.block_size) - 1) * (offset_bits + chain_begin_bits);
    uint64_t key = encoder->numbers[choice->count - 1];
    write_bits(block, size, entry_bit - OFFSET_WIDTH_BITS, offset_bits, OFFSET_WIDTH_BITS);
    for (unsigned i = choice->chains; i-- > 0; entry_bit += offset_bits + chain_begin_bits) {
        size_t start = get_chain_start(choice, i), end = get_chain_start(choice, i + 1);
        size_t bits = encoder->totals[end - 1] - encoder->totals[start];
        write_chain(encoder, fingerprints + start, end - start, block, begin, i == 0 ? size * 8 : begin + bits);
        begin += bits;
        if (i == 0) continue;
        write_bits(block, size, entry_bit, key - encoder->numbers[start - 1], offset_bits);
        write_bits(block, size, entry_bit + offset_bits, begin, chain_begin_bits);
    }
}

/* Returns how many bits the codes and tails of these fingerprints' differences take, in one chain. */
static size_t count_difference_bits(const struct idxf_encoder *encoder, const uint64_t *fingerprints, size_t count) {
    unsigned align_bits = 64 - encoder->form.bits;
    uint32_t total_cost = 0;
    for (size_t i = 1; i < count; i++)
        total_cost += encoder->costs[idxf_bit_length((fingerprints[i] - fingerprints[i - 1]) >> align_bits)];
    return get_all_bits(total_cost);
}

/* Sets *choice if `count` fingerprints would fit behind a short anchor, but the last one, the key, is too far from the
 * key before to have one. Either fewer fingerprints get a short anchor, up to the last that is near enough, or as many
 * as fit get a whole anchor: whichever are more. */
static void choose_anchor_and_count(const struct idxf_encoder *encoder, const uint64_t *fingerprints, size_t count,
                                    struct choice *choice) {
    size_t whole_count = count, short_count = count, max_bits = encoder->form.block_size * 8 - 1 - encoder->form.bits;
    unsigned align_bits = 64 - encoder->form.bits;
    while (short_count > 0 && needs_whole_anchor(encoder, fingerprints[short_count - 1] >> align_bits)) short_count--;
    while (count_difference_bits(encoder, fingerprints, whole_count) > max_bits) whole_count--;
    bool is_whole = whole_count > short_count;
    *choice = (struct choice){
        .count = is_whole ? whole_count : short_count, .has_whole_anchor = is_whole, .chains = 1, .offset_bits = 0};
}

/* Sets *choice to as many of `count` fingerprints as fit into one chain behind a short anchor. If their key can't have
 * one, choose_anchor_and_count sets it. Differences are not 0, so __builtin_clzll is defined for them. */
IDXF_INLINE void choose_one_chain(const struct idxf_encoder *encoder, const uint64_t *fingerprints, size_t count,
                                  struct choice *choice) {
    size_t size = encoder->form.block_size, max_bits = size * 8 - 1 - encoder->form.anchor_bits;
    size_t max_code_bits = is_small(&encoder->form) ? IDXF_MAX_CODES_BITS : size * 8;
    size_t max_count = count < IDXF_MAX_BLOCK_FINGERPRINTS ? count : IDXF_MAX_BLOCK_FINGERPRINTS, fit_count = 1;
    unsigned align_bits = 64 - encoder->form.bits;
    uint64_t last_number = fingerprints[0] >> align_bits;
    uint32_t total_cost = 0;
    for (; fit_count < max_count; fit_count++) {
        uint64_t next_number = fingerprints[fit_count] >> align_bits;
        total_cost += encoder->costs[64 - (unsigned)__builtin_clzll(next_number - last_number)];
        if (get_all_bits(total_cost) > max_bits || total_cost / CODE_COST > max_code_bits) break;
        last_number = next_number;
    }
    *choice = (struct choice){.count = fit_count, .has_whole_anchor = false, .chains = 1, .offset_bits = 0};
    if (needs_whole_anchor(encoder, last_number)) choose_anchor_and_count(encoder, fingerprints, fit_count, choice);
}

/* Writes the anchor at the block's beginning: a bit that says whether it is whole, then the key or its low bits. */
static void write_anchor(const struct idxf_encoder *encoder, uint64_t key, bool is_whole, uint8_t *block) {
    write_bits(block, encoder->form.block_size, 0, is_whole, 1);
    write_bits(block, encoder->form.block_size, 1, key, is_whole ? encoder->form.bits : encoder->form.anchor_bits);
}

/* Writes the chain of a small block, as write_chain does, faster: its codes and its tails are gathered in registers. */
IDXF_INLINE void write_small_chain(const struct idxf_encoder *encoder, const uint64_t *fingerprints, size_t count,
                                   size_t begin, uint8_t *block) {
    unsigned align_bits = 64 - encoder->form.bits, code_bits = 0; /* of `codes` */
    unsigned used = 0; /* the highest bits of `tails`, less than 8, which begin the byte before `end` */
    uint64_t codes = 0, tails = 0, upper = fingerprints[count - 1];
    uint8_t *end = block + IDXF_MIN_BLOCK_SIZE;
    for (size_t i = count - 1; i-- > 0;) {
        uint64_t difference = (upper - fingerprints[i]) >> align_bits;
        struct idxf_class class = encoder->class_of[64 - (unsigned)__builtin_clzll(difference)];
        upper = fingerprints[i];
        uint64_t code = class.code;
        codes |= code << code_bits;
        code_bits += class.length;
        if (class.tail == 0) continue;
        tails |= difference << (64 - class.tail) >> used;
        used += class.tail;
        if (end - block >= 8) /* else the word of 8 bytes that ends before `end` would begin before the block */
            idxf_store64(end - 8, tails);
        else
            idxf_store64(block, idxf_load64(block) | tails >> (8 - (end - block)) * 8);
        end -= used / 8;
        tails = used < 64 ? tails << (used & ~7u) : 0; /* only the bits of the byte that is not full yet are left */
        used %= 8;
    }
    write_bits(block, IDXF_MIN_BLOCK_SIZE, begin, codes, code_bits);
}

/* Does what idxf_block_encode says. It is compiled once for each set of instructions. */
IDXF_INLINE size_t encode(struct idxf_encoder *encoder, const uint64_t *fingerprints, size_t count, uint8_t *block) {
    size_t size = encoder->form.block_size;
    struct choice choice;
    memset(block, 0, size);
    if (idxf_get_max_chains(encoder->form.block_size) > 1) {
        choose_several_chains(encoder, fingerprints, count, &choice);
        write_several_chains(encoder, fingerprints, &choice, block);
    } else {
        choose_one_chain(encoder, fingerprints, count, &choice);
        size_t begin = get_header_bits(encoder, &choice);
        if (is_small(&encoder->form))
            write_small_chain(encoder, fingerprints, choice.count, begin, block);
        else
            write_chain(encoder, fingerprints, choice.count, block, begin, size * 8);
    }
    encoder->previous_key = fingerprints[choice.count - 1] >> (64 - encoder->form.bits);
    write_anchor(encoder, encoder->previous_key, choice.has_whole_anchor, block);
    return choice.count;
}

#ifdef IDXF_X86
/* Does what `encode` does, with BMI2. */
IDXF_BMI2 static size_t encode_bmi2(struct idxf_encoder *encoder, const uint64_t *fingerprints, size_t count,
                                    uint8_t *block) {
    return encode(encoder, fingerprints, count, block);
}
#endif

size_t idxf_block_encode(struct idxf_encoder *encoder, const uint64_t *fingerprints, size_t count, uint8_t *block) {
#ifdef IDXF_X86
    if (idxf_has_bmi2()) return encode_bmi2(encoder, fingerprints, count, block);
#endif
    return encode(encoder, fingerprints, count, block);
}

/* ---- Decoding ---- */

void idxf_decoder_init(struct idxf_decoder *decoder, const struct idxf_block_form *form) {
    const struct idxf_decoder_way *ways[IDXF_MAX_WAYS];
    struct idxf_class classes[IDXF_CLASSES];
    unsigned class_count = idxf_code_list_classes(&form->code, form->bits, classes);
    *decoder = (struct idxf_decoder){.way = ways[idxf_list_decoder_ways(ways) - 1],
                                     .bits = form->bits,
                                     .anchor_bits = form->anchor_bits,
                                     .block_size = form->block_size,
                                     .chains = idxf_get_max_chains(form->block_size),
                                     .is_small = is_small(form),
                                     .chain_begin_bits = get_chain_begin_bits(form->block_size)};
    for (unsigned i = 0; i < class_count; i++) {
        const struct idxf_class *class = &classes[i];
        for (unsigned next = class->code; next < IDXF_CLASSES; next += 1u << class->length) {
            decoder->lengths[next] = class->length;
            decoder->tails[next] = class->tail;
            decoder->leads[next] = (uint64_t) class->leads << class->tail;
            decoder->lead_tails[next] = (uint8_t)(class->tail + (class->leads ? 0 : IDXF_NO_LEAD));
        }
    }
}

/* Sets *fault to `found_fault`. Returns 0: a faulty block has no list of chains. */
static unsigned fail_listing(enum idxf_fault *fault, enum idxf_fault found_fault) {
    *fault = found_fault;
    return 0;
}

/* Does what list_chains does for blocks that can have several chains. The block lists them from the second-highest
 * chain down: how far the chain's key is below the block's key (0 ends the list), and the bit at which the chain
 * begins. */
static unsigned list_several_chains(const struct idxf_decoder *decoder, const uint8_t *block, struct idxf_anchor anchor,
                                    uint64_t floor, struct idxf_chain *chains, enum idxf_fault *fault) {
    struct idxf_chain reversed[IDXF_MAX_CHAINS];
    uint32_t size = decoder->block_size, entry_bit = anchor.end + OFFSET_WIDTH_BITS;
    unsigned offset_bits = (unsigned)idxf_get_bits(block, size, anchor.end, OFFSET_WIDTH_BITS), chain_count = 1;
    uint32_t begin = entry_bit + (decoder->chains - 1) * (offset_bits + decoder->chain_begin_bits);
    uint64_t last_offset = 0;
    if (begin > size * 8) return fail_listing(fault, IDXF_FAULT_OVERRUN);
    reversed[0] =
        (struct idxf_chain){.key = anchor.key, .floor = floor, .block = block, .begin = begin, .end = size * 8};
    for (unsigned i = 1; i < decoder->chains; i++, entry_bit += offset_bits + decoder->chain_begin_bits) {
        uint64_t offset = idxf_get_bits(block, size, entry_bit, offset_bits);
        uint32_t begin_bit = (uint32_t)idxf_get_bits(block, size, entry_bit + offset_bits, decoder->chain_begin_bits);
        if (offset == 0) break;
        if (begin_bit < reversed[i - 1].begin) return fail_listing(fault, IDXF_FAULT_OVERRUN);
        if (offset <= last_offset || offset > anchor.key - floor) return fail_listing(fault, IDXF_FAULT_ORDER);
        reversed[i] = (struct idxf_chain){
            .key = anchor.key - offset, .floor = floor, .block = block, .begin = begin_bit, .end = size * 8};
        reversed[i - 1].end = begin_bit;
        reversed[i - 1].floor = reversed[i].key + 1;
        last_offset = offset;
        chain_count++;
    }
    for (unsigned i = 0; i < chain_count; i++) chains[i] = reversed[chain_count - 1 - i];
    return chain_count;
}

bool idxf_are_unused_entries_zero(const struct idxf_decoder *decoder, const uint8_t *block, unsigned count) {
    size_t list_bit = idxf_block_read_anchor(decoder, block, 0).end; /* which does not depend on the bounds */
    unsigned offset_bits = (unsigned)idxf_get_bits(block, decoder->block_size, list_bit, OFFSET_WIDTH_BITS);
    unsigned width = offset_bits + decoder->chain_begin_bits;
    list_bit += OFFSET_WIDTH_BITS; /* Of a block's chains, all but one have an entry. */
    return idxf_are_bits_zero(block, list_bit + (count - 1) * width, list_bit + (decoder->chains - 1) * width);
}

/* Does what idxf_block_list_chains says. It is inlined into the decoding of many blocks. */
static inline unsigned list_chains(const struct idxf_decoder *decoder, const uint8_t *block, struct idxf_bounds bounds,
                                   struct idxf_chain chains[IDXF_MAX_CHAINS], enum idxf_fault *fault) {
    struct idxf_anchor anchor = idxf_block_read_anchor(decoder, block, bounds.above);
    if (bounds.floor > bounds.above) return fail_listing(fault, IDXF_FAULT_ORDER); /* after the greatest key of all */
    if (anchor.key < bounds.above || anchor.key > idxf_low_bits(decoder->bits))
        return fail_listing(fault, IDXF_FAULT_ORDER);
    if (decoder->chains > 1) return list_several_chains(decoder, block, anchor, bounds.floor, chains, fault);
    chains[0] = (struct idxf_chain){
        .key = anchor.key, .floor = bounds.floor, .block = block, .begin = anchor.end, .end = decoder->block_size * 8};
    return 1;
}

unsigned idxf_block_list_chains(const struct idxf_decoder *decoder, const uint8_t *block, struct idxf_bounds bounds,
                                struct idxf_chain chains[IDXF_MAX_CHAINS], enum idxf_fault *fault) {
    return list_chains(decoder, block, bounds, chains, fault);
}

/* Adds the numbers of fingerprints of a block's chains to *total. Returns IDXF_FAULT_ORDER if one of them is 0, by
 * which decoders report a faulty chain, and IDXF_FAULT_COUNT if the block has too many fingerprints. */
static enum idxf_fault add_chain_counts(const size_t *counts, unsigned chain_count, size_t *total) {
    size_t block_count = 0;
    for (unsigned i = 0; i < chain_count; i++) {
        if (counts[i] == 0) return IDXF_FAULT_ORDER;
        block_count += counts[i];
    }
    *total += block_count;
    return block_count > IDXF_MAX_BLOCK_FINGERPRINTS ? IDXF_FAULT_COUNT : IDXF_OK;
}

/* Returns the bounds of the block after the one with this key. Nothing can follow the greatest key of all, so the
 * bounds after it have a floor above `above`, with which no block is valid. */
static struct idxf_bounds get_next_bounds(uint64_t key) {
    if (key == UINT64_MAX) return (struct idxf_bounds){.above = 0, .floor = key};
    return (struct idxf_bounds){.above = key + 1, .floor = key + 1};
}

size_t idxf_blocks_decode(const struct idxf_decoder *decoder, const uint8_t *blocks, size_t count,
                          struct idxf_bounds *bounds, uint64_t *fingerprints, size_t *faulty, enum idxf_fault *fault) {
    struct idxf_chain chains[IDXF_LANES] = {{0}};
    struct idxf_bounds next_bounds = *bounds;
    unsigned chain_counts[IDXF_LANES], chain_count = 0;
    size_t fingerprint_counts[IDXF_LANES], total = 0, listed = 0;
    *fault = IDXF_OK;
    for (; listed < count; listed++) {
        const uint8_t *block = blocks + listed * decoder->block_size;
        if (listed > 0 && next_bounds.above == 0) *fault = IDXF_FAULT_ORDER; /* nothing follows the greatest key */
        if (*fault != IDXF_OK) break;
        chain_counts[listed] = list_chains(decoder, block, next_bounds, chains + chain_count, fault);
        if (chain_counts[listed] == 0) break;
        chain_count += chain_counts[listed];
        next_bounds = get_next_bounds(chains[chain_count - 1].key);
    }
    *bounds = next_bounds;
    *faulty = listed;
    decoder->way->decode(decoder, chains, chain_count, fingerprints, fingerprint_counts);
    for (size_t i = 0, first_chain = 0; i < listed; first_chain += chain_counts[i++]) {
        size_t total_before = total;
        enum idxf_fault chain_fault = add_chain_counts(fingerprint_counts + first_chain, chain_counts[i], &total);
        if (chain_fault == IDXF_OK) continue;
        *fault = chain_fault;
        *faulty = i;
        return total_before;
    }
    return total;
}
