/* block.c: writes blocks, and reads their anchors and lists of chains (SPEC.md, chapter 6). */
#include "format/block.h"

#include "format/processor.h"

#define OFFSET_WIDTH_BITS 6 /* of the number that says how wide offsets of chains are */

#define LEAST_CHAINED 64 /* blocks with fewer fingerprints have one chain */

/* Returns how many bits say at which bit of a block a chain begins. Sizes are powers of two. */
static unsigned get_position_bits(uint32_t block_size) { return idxf_bit_length(block_size) + 2; }

/* ---- The anchor ---- */

/* A difference takes about one bit more than the mean difference has, so a block holds about `held` fingerprints, and
 * the mean distance of keys follows. Anchors have as many bits as 1.6 times that distance, which is enough for 1.6 to
 * 3.2 times the distance: for all but a few blocks in a hundred. */
unsigned idxf_choose_anchor_bits(uint64_t fingerprints, unsigned bits, uint32_t block_size) {
    uint64_t mean = idxf_low_bits(bits) / (fingerprints > 0 ? fingerprints : 1);
    uint64_t held = (block_size * 8 - bits) / (idxf_bit_length(mean) + 1), distance;
    unsigned most = bits < IDXF_MAX_ANCHOR_BITS ? bits : IDXF_MAX_ANCHOR_BITS;
    if (__builtin_mul_overflow(mean, held * 8 / 5, &distance)) return most;
    unsigned wanted = idxf_bit_length(distance);
    return wanted < 1 ? 1 : wanted < most ? wanted : most;
}

bool idxf_needs_long_codes(const struct idxf_block_form *form, const struct idxf_difference_counts *counts) {
    struct idxf_code_cost cost = idxf_code_cost(&form->code, counts, form->bits);
    uint64_t room = form->block_size * UINT64_C(8) - form->anchor_bits;
    /* The codes' share of all bits, times the room. */
    return form->block_size == IDXF_MIN_BLOCK_SIZE &&
           room * cost.codes > (cost.codes + cost.tails) * IDXF_MAX_CODES_BITS;
}

/* ---- Encoding ---- */

/* A small block has the least size and no long codes: its codes fit one word. */
static inline bool is_small(const struct idxf_block_form *form) {
    return form->block_size == IDXF_MIN_BLOCK_SIZE && !form->long_codes;
}

/* A cost counts code bits in units of CODE_COST, and all bits in units of 1, so that one sum has both. NO_CODE is more
 * bits than a block has: a difference without a code ends each block that it is added to. */
#define CODE_COST ((uint32_t)1 << 18)
#define NO_CODE ((uint32_t)1 << 16)

static inline size_t all_bits_of(uint32_t cost) { return cost % CODE_COST; }

void idxf_encoder_init(struct idxf_encoder *encoder, const struct idxf_block_form *form) {
    struct idxf_class classes[IDXF_CLASSES];
    unsigned class_count = idxf_code_classes(&form->code, form->bits, classes), near_bits = form->code.near_bits;
    encoder->form = *form;
    encoder->before = 0;
    for (unsigned length = 0; length <= IDXF_MAX_BITS; length++) {
        struct idxf_class class = classes[idxf_class_of(length, near_bits, class_count)];
        bool has_code = length <= idxf_longest_tail(form->bits);
        encoder->class_of[length] = class;
        encoder->costs[length] = has_code ? class.length * CODE_COST + class.length + class.tail : NO_CODE;
    }
}

/* Writes `bits`, a number of `length` (0 to 64) bits, from bit `at` of a block on, where all bits are 0. Writes at most
 * 32 bits at a time: the word of 8 bytes that begins with their first byte may have up to 7 bits before them, so it has
 * no room for 64. At the block's end, the word ends with the block instead. */
static void put_bits(uint8_t *block, size_t size, size_t at, uint64_t bits, unsigned length) {
    for (unsigned done = 0; done < length; done += 32) {
        unsigned width = length - done < 32 ? length - done : 32;
        size_t byte = (at + done) / 8, shift = (at + done) % 8;
        if (byte + 8 > size) {
            shift += (byte + 8 - size) * 8;
            byte = size - 8;
        }
        uint64_t field = bits >> done & idxf_low_bits(width);
        idxf_store64(block + byte, idxf_load64(block + byte) | field << shift);
    }
}

/* Writes the differences of fingerprints, the last one first: codes from bit `begin` up, tails from bit `end` down. */
static void put_chain(const struct idxf_encoder *encoder, const uint64_t *fingerprints, size_t count, uint8_t *block,
                      size_t begin, size_t end) {
    unsigned align = 64 - encoder->form.bits;
    for (size_t i = count - 1; i > 0; i--) {
        uint64_t difference = (fingerprints[i] - fingerprints[i - 1]) >> align;
        struct idxf_class class = encoder->class_of[idxf_bit_length(difference)];
        put_bits(block, encoder->form.block_size, begin, class.code, class.length);
        begin += class.length;
        end -= class.tail;
        put_bits(block, encoder->form.block_size, end, difference & idxf_low_bits(class.tail), class.tail);
    }
}

/* What the next block is to have. */
struct choice {
    size_t count;         /* of its fingerprints */
    bool whole;           /* the anchor is the whole key */
    unsigned chains;      /* 1, or as many as the block can have */
    unsigned offset_bits; /* of how far a chain's key is below the block's key */
};

/* Returns the number of the fingerprint that chain i begins with; chain 0 has the lowest ones. */
static size_t chain_start(const struct choice *choice, unsigned i) { return choice->count * i / choice->chains; }

/* Whether a key is too far from the key before to be written by its low bits alone. */
static bool needs_whole_anchor(const struct idxf_encoder *encoder, uint64_t key) {
    return key - encoder->before > idxf_low_bits(encoder->form.anchor_bits);
}

/* Returns how many bits of the block precede its differences: those of the anchor and of the list of chains. */
static size_t get_header_bits(const struct idxf_encoder *encoder, const struct choice *choice) {
    unsigned chains = idxf_block_most_chains(encoder->form.block_size);
    size_t anchor = 1 + (choice->whole ? encoder->form.bits : encoder->form.anchor_bits);
    if (chains == 1) return anchor;
    return anchor + OFFSET_WIDTH_BITS +
           (chains - 1) * (choice->offset_bits + get_position_bits(encoder->form.block_size));
}

/* Sets *choice for the first `count` of encoder->numbers, cut into chains. Returns whether they fit a block. */
static bool choose_for_count(const struct idxf_encoder *encoder, size_t count, struct choice *choice) {
    const uint64_t *numbers = encoder->numbers;
    *choice = (struct choice){
        .count = count,
        .whole = needs_whole_anchor(encoder, numbers[count - 1]),
        .chains = count < LEAST_CHAINED ? 1 : idxf_block_most_chains(encoder->form.block_size),
        .offset_bits = 0,
    };
    size_t bits = encoder->totals[count - 1];
    for (unsigned i = 1; i < choice->chains; i++) {
        size_t start = chain_start(choice, i); /* The difference across a cut is not written. */
        bits -= encoder->totals[start] - encoder->totals[start - 1];
    }
    if (choice->chains > 1)
        choice->offset_bits = idxf_bit_length(numbers[count - 1] - numbers[chain_start(choice, 1) - 1]);
    return choice->offset_bits < 1u << OFFSET_WIDTH_BITS &&
           bits + get_header_bits(encoder, choice) <= encoder->form.block_size * 8;
}

/* Sets encoder->numbers and totals for the first fingerprint, and for those after it whose differences fit `room` bits.
 * Returns how many these are. */
static size_t fill_numbers(struct idxf_encoder *encoder, const uint64_t *fingerprints, size_t count, size_t room) {
    unsigned align = 64 - encoder->form.bits;
    size_t most = count < IDXF_MAX_BLOCK_FINGERPRINTS ? count : IDXF_MAX_BLOCK_FINGERPRINTS, taken = 1;
    encoder->numbers[0] = fingerprints[0] >> align;
    encoder->totals[0] = 0;
    for (; taken < most; taken++) {
        encoder->numbers[taken] = fingerprints[taken] >> align;
        unsigned length = idxf_bit_length(encoder->numbers[taken] - encoder->numbers[taken - 1]);
        encoder->totals[taken] = encoder->totals[taken - 1] + (uint32_t)all_bits_of(encoder->costs[length]);
        if (encoder->totals[taken] > room) break;
    }
    return taken;
}

/* Chooses as many fingerprints as fit, cut into chains. Each cut saves the code and the tail of a difference, so more
 * are tried than fit into one chain. One fingerprint always fits. */
static void choose_several_chains(struct idxf_encoder *encoder, const uint64_t *fingerprints, size_t count,
                                  struct choice *choice) {
    size_t room = encoder->form.block_size * 8 + IDXF_MAX_CHAINS * (IDXF_MAX_CODE_LENGTH + IDXF_MAX_TAIL_BITS);
    size_t taken = fill_numbers(encoder, fingerprints, count, room);
    while (!choose_for_count(encoder, taken, choice)) taken--;
}

/* Writes the list of chains, and then the chains from the highest to the lowest. The lowest one has no entry in the
 * list, and its tails are at the block's end. */
static void put_several_chains(const struct idxf_encoder *encoder, const uint64_t *fingerprints,
                               const struct choice *choice, uint8_t *block) {
    size_t size = encoder->form.block_size, at = get_header_bits(encoder, choice);
    unsigned position_bits = get_position_bits(encoder->form.block_size), offset_bits = choice->offset_bits;
    size_t entry = at - (idxf_block_most_chains(encoder->form.block_size) - 1) * (offset_bits + position_bits);
    uint64_t key = encoder->numbers[choice->count - 1];
    put_bits(block, size, entry - OFFSET_WIDTH_BITS, offset_bits, OFFSET_WIDTH_BITS);
    for (unsigned i = choice->chains; i-- > 0; entry += offset_bits + position_bits) {
        size_t first = chain_start(choice, i), end = chain_start(choice, i + 1);
        size_t bits = encoder->totals[end - 1] - encoder->totals[first];
        put_chain(encoder, fingerprints + first, end - first, block, at, i == 0 ? size * 8 : at + bits);
        at += bits;
        if (i == 0) continue;
        put_bits(block, size, entry, key - encoder->numbers[first - 1], offset_bits);
        put_bits(block, size, entry + offset_bits, at, position_bits);
    }
}

/* Returns how many bits the codes and tails of these fingerprints' differences take, in one chain. */
static size_t count_difference_bits(const struct idxf_encoder *encoder, const uint64_t *fingerprints, size_t count) {
    unsigned align = 64 - encoder->form.bits;
    uint32_t total = 0;
    for (size_t i = 1; i < count; i++)
        total += encoder->costs[idxf_bit_length((fingerprints[i] - fingerprints[i - 1]) >> align)];
    return all_bits_of(total);
}

/* Is for `taken` fingerprints that fit behind a short anchor, but whose last one, the key, is too far from the key
 * before to have one. Chooses so few that their key is near enough, or so few that they fit behind a whole anchor,
 * whichever are more. */
static void choose_anchor(const struct idxf_encoder *encoder, const uint64_t *fingerprints, size_t taken,
                          struct choice *choice) {
    size_t with_whole = taken, with_short = taken, room = encoder->form.block_size * 8 - 1 - encoder->form.bits;
    unsigned align = 64 - encoder->form.bits;
    while (with_short > 0 && needs_whole_anchor(encoder, fingerprints[with_short - 1] >> align)) with_short--;
    while (count_difference_bits(encoder, fingerprints, with_whole) > room) with_whole--;
    bool whole = with_whole > with_short;
    *choice = (struct choice){.count = whole ? with_whole : with_short, .whole = whole, .chains = 1, .offset_bits = 0};
}

/* Chooses as many fingerprints as fit into one chain behind a short anchor, or those of choose_anchor. Differences are
 * not 0, so their bits can be counted by the instruction alone. */
IDXF_INLINE void choose_one_chain(const struct idxf_encoder *encoder, const uint64_t *fingerprints, size_t count,
                                  struct choice *choice) {
    size_t size = encoder->form.block_size, room = size * 8 - 1 - encoder->form.anchor_bits;
    size_t codes = is_small(&encoder->form) ? IDXF_MAX_CODES_BITS : size * 8;
    size_t most = count < IDXF_MAX_BLOCK_FINGERPRINTS ? count : IDXF_MAX_BLOCK_FINGERPRINTS, taken = 1;
    unsigned align = 64 - encoder->form.bits;
    uint64_t number = fingerprints[0] >> align;
    uint32_t total = 0;
    for (; taken < most; taken++) {
        uint64_t next = fingerprints[taken] >> align;
        total += encoder->costs[64 - (unsigned)__builtin_clzll(next - number)];
        if (all_bits_of(total) > room || total / CODE_COST > codes) break;
        number = next;
    }
    *choice = (struct choice){.count = taken, .whole = false, .chains = 1, .offset_bits = 0};
    if (needs_whole_anchor(encoder, number)) choose_anchor(encoder, fingerprints, taken, choice);
}

static void put_anchor(const struct idxf_encoder *encoder, uint64_t key, bool whole, uint8_t *block) {
    put_bits(block, encoder->form.block_size, 0, whole, 1);
    put_bits(block, encoder->form.block_size, 1, key, whole ? encoder->form.bits : encoder->form.anchor_bits);
}

/* Writes the chain of a small block, as put_chain does, faster: its codes and its tails are gathered in registers. */
IDXF_INLINE void put_small_chain(const struct idxf_encoder *encoder, const uint64_t *fingerprints, size_t count,
                                 size_t begin, uint8_t *block) {
    unsigned align = 64 - encoder->form.bits, length = 0; /* of `codes` */
    unsigned used = 0; /* the highest bits of `tails`, less than 8, which begin the byte before `end` */
    uint64_t codes = 0, tails = 0, last = fingerprints[count - 1];
    uint8_t *end = block + IDXF_MIN_BLOCK_SIZE;
    for (size_t i = count - 1; i-- > 0;) {
        uint64_t difference = (last - fingerprints[i]) >> align;
        struct idxf_class class = encoder->class_of[64 - (unsigned)__builtin_clzll(difference)];
        last = fingerprints[i];
        uint64_t code = class.code;
        codes |= code << length;
        length += class.length;
        if (class.tail == 0) continue;
        tails |= difference << (64 - class.tail) >> used;
        used += class.tail;
        if (end - block >= 8)
            idxf_store64(end - 8, tails);
        else
            idxf_store64(block, idxf_load64(block) | tails >> (8 - (end - block)) * 8);
        end -= used / 8;
        tails = used < 64 ? tails << (used & ~7u) : 0;
        used %= 8;
    }
    put_bits(block, IDXF_MIN_BLOCK_SIZE, begin, codes, length);
}

IDXF_INLINE size_t encode(struct idxf_encoder *encoder, const uint64_t *fingerprints, size_t count, uint8_t *block) {
    size_t size = encoder->form.block_size;
    struct choice choice;
    memset(block, 0, size);
    if (idxf_block_most_chains(encoder->form.block_size) > 1) {
        choose_several_chains(encoder, fingerprints, count, &choice);
        put_several_chains(encoder, fingerprints, &choice, block);
    } else {
        choose_one_chain(encoder, fingerprints, count, &choice);
        size_t begin = get_header_bits(encoder, &choice);
        if (is_small(&encoder->form))
            put_small_chain(encoder, fingerprints, choice.count, begin, block);
        else
            put_chain(encoder, fingerprints, choice.count, block, begin, size * 8);
    }
    encoder->before = fingerprints[choice.count - 1] >> (64 - encoder->form.bits);
    put_anchor(encoder, encoder->before, choice.whole, block);
    return choice.count;
}

#ifdef IDXF_X86
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
    unsigned class_count = idxf_code_classes(&form->code, form->bits, classes);
    *decoder = (struct idxf_decoder){.way = ways[idxf_decoder_ways(ways) - 1],
                                     .bits = form->bits,
                                     .anchor_bits = form->anchor_bits,
                                     .block_size = form->block_size,
                                     .chains = idxf_block_most_chains(form->block_size),
                                     .is_small = is_small(form),
                                     .position_bits = get_position_bits(form->block_size)};
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

/* Sets *fault, and returns 0, the number of chains that are listed for a faulty block. */
static unsigned list_none(enum idxf_fault *fault, enum idxf_fault found) {
    *fault = found;
    return 0;
}

/* Lists the chains of a block that can have several. From the second-highest chain down, the block has how far the
 * chain's key is below the block's key, and the bit at which the chain begins. */
static unsigned list_several_chains(const struct idxf_decoder *decoder, const uint8_t *block, struct idxf_anchor anchor,
                                    uint64_t floor, struct idxf_chain *chains, enum idxf_fault *fault) {
    struct idxf_chain reversed[IDXF_MAX_CHAINS];
    uint32_t size = decoder->block_size, at = anchor.end + OFFSET_WIDTH_BITS;
    unsigned offset_bits = (unsigned)idxf_get_bits(block, size, anchor.end, OFFSET_WIDTH_BITS), made = 1;
    uint32_t begin = at + (decoder->chains - 1) * (offset_bits + decoder->position_bits);
    uint64_t last = 0;
    if (begin > size * 8) return list_none(fault, IDXF_FAULT_OVERRUN);
    reversed[0] =
        (struct idxf_chain){.key = anchor.key, .floor = floor, .block = block, .begin = begin, .end = size * 8};
    for (unsigned i = 1; i < decoder->chains; i++, at += offset_bits + decoder->position_bits) {
        uint64_t offset = idxf_get_bits(block, size, at, offset_bits);
        uint32_t next = (uint32_t)idxf_get_bits(block, size, at + offset_bits, decoder->position_bits);
        if (offset == 0) break;
        if (next < reversed[i - 1].begin) return list_none(fault, IDXF_FAULT_OVERRUN);
        if (offset <= last || offset > anchor.key - floor) return list_none(fault, IDXF_FAULT_ORDER);
        reversed[i] = (struct idxf_chain){
            .key = anchor.key - offset, .floor = floor, .block = block, .begin = next, .end = size * 8};
        reversed[i - 1].end = next;
        reversed[i - 1].floor = reversed[i].key + 1;
        last = offset;
        made++;
    }
    for (unsigned i = 0; i < made; i++) chains[i] = reversed[made - 1 - i];
    return made;
}

bool idxf_block_has_clear_list(const struct idxf_decoder *decoder, const uint8_t *block, unsigned count) {
    size_t at = idxf_block_read_anchor(decoder, block, 0).end; /* which does not depend on the bounds */
    unsigned offset_bits = (unsigned)idxf_get_bits(block, decoder->block_size, at, OFFSET_WIDTH_BITS);
    unsigned entry_bits = offset_bits + decoder->position_bits;
    at += OFFSET_WIDTH_BITS;
    return idxf_are_clear(block, at + (count - 1) * entry_bits, at + (decoder->chains - 1) * entry_bits);
}

/* Does what idxf_block_list_chains says, and is inlined into the decoding of many blocks. */
static inline unsigned list_chains(const struct idxf_decoder *decoder, const uint8_t *block, struct idxf_bounds bounds,
                                   struct idxf_chain chains[IDXF_MAX_CHAINS], enum idxf_fault *fault) {
    struct idxf_anchor anchor = idxf_block_read_anchor(decoder, block, bounds.above);
    if (bounds.floor > bounds.above) return list_none(fault, IDXF_FAULT_ORDER); /* behind the greatest of all keys */
    if (anchor.key < bounds.above || anchor.key > idxf_low_bits(decoder->bits))
        return list_none(fault, IDXF_FAULT_ORDER);
    if (decoder->chains > 1) return list_several_chains(decoder, block, anchor, bounds.floor, chains, fault);
    chains[0] = (struct idxf_chain){
        .key = anchor.key, .floor = bounds.floor, .block = block, .begin = anchor.end, .end = decoder->block_size * 8};
    return 1;
}

unsigned idxf_block_list_chains(const struct idxf_decoder *decoder, const uint8_t *block, struct idxf_bounds bounds,
                                struct idxf_chain chains[IDXF_MAX_CHAINS], enum idxf_fault *fault) {
    return list_chains(decoder, block, bounds, chains, fault);
}

/* Adds the counts of a block's chains to *total, unless a chain is faulty, whose count is 0. */
static enum idxf_fault add_counts(const size_t *counts, unsigned chains, size_t *total) {
    size_t sum = 0;
    for (unsigned i = 0; i < chains; i++) {
        if (counts[i] == 0) return IDXF_FAULT_ORDER;
        sum += counts[i];
    }
    *total += sum;
    return sum > IDXF_MAX_BLOCK_FINGERPRINTS ? IDXF_FAULT_COUNT : IDXF_OK;
}

/* Returns the bounds of the block after the one with this key. Nothing can follow the greatest key of all: no block is
 * valid with the bounds after that. */
static struct idxf_bounds get_next_bounds(uint64_t key) {
    if (key == UINT64_MAX) return (struct idxf_bounds){.above = 0, .floor = key};
    return (struct idxf_bounds){.above = key + 1, .floor = key + 1};
}

size_t idxf_blocks_decode(const struct idxf_decoder *decoder, const uint8_t *blocks, size_t count,
                          struct idxf_bounds *bounds, uint64_t *fingerprints, size_t *faulty, enum idxf_fault *fault) {
    struct idxf_chain chains[IDXF_LANES] = {{0}};
    struct idxf_bounds next = *bounds;
    unsigned chain_counts[IDXF_LANES], made = 0;
    size_t counts[IDXF_LANES], total = 0, listed = 0;
    *fault = IDXF_OK;
    for (; listed < count; listed++) {
        const uint8_t *block = blocks + listed * decoder->block_size;
        if (listed > 0 && next.above == 0) *fault = IDXF_FAULT_ORDER; /* the key before is the greatest there is */
        if (*fault != IDXF_OK) break;
        chain_counts[listed] = list_chains(decoder, block, next, chains + made, fault);
        if (chain_counts[listed] == 0) break;
        made += chain_counts[listed];
        next = get_next_bounds(chains[made - 1].key);
    }
    *bounds = next;
    *faulty = listed;
    decoder->way->decode(decoder, chains, made, fingerprints, counts);
    for (size_t i = 0, first_chain = 0; i < listed; first_chain += chain_counts[i++]) {
        size_t before = total;
        enum idxf_fault found = add_counts(counts + first_chain, chain_counts[i], &total);
        if (found == IDXF_OK) continue;
        *fault = found;
        *faulty = i;
        return before;
    }
    return total;
}
