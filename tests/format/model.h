/* model.h: chapters 5 and 6 of SPEC.md once more, one bit at a time, to compare code.c, block.c and chain.c with. */
#ifndef IDX_TESTS_FORMAT_MODEL_H
#define IDX_TESTS_FORMAT_MODEL_H

#include "format/block.h"
#include "tests/format/testing.h"

__extension__ typedef unsigned __int128 wide;

enum { MOST = 1023, MODEL_CLASSES = 64, LONGEST_CODE = 6, LONGEST_TAIL = 57 };

/* ---- Codes ---- */

struct model_class {
    char code[LONGEST_CODE + 1]; /* of the characters 0 and 1, as they are written */
    unsigned length, tail;
    bool leads;
};

struct model_code {
    unsigned count;
    struct model_class classes[MODEL_CLASSES];
};

static inline unsigned model_longest_tail(unsigned bits) { return bits < LONGEST_TAIL ? bits : LONGEST_TAIL; }

/* Adds 1 to a code, from its last bit on. */
static inline void model_next_code(char code[LONGEST_CODE + 1], unsigned length) {
    for (unsigned i = length; i-- > 0;) {
        code[i] = code[i] == '0' ? '1' : '0';
        if (code[i] == '1') return;
    }
}

static inline struct model_code model_make_code(const struct idxf_code *code, unsigned bits) {
    struct model_code made = {0};
    char next[LONGEST_CODE + 1] = "", first[LONGEST_CODE + 1] = "000000";
    while (made.count < MODEL_CLASSES && code->lengths[made.count] != 0) made.count++;
    for (unsigned length = 1; length <= LONGEST_CODE; length++) {
        next[length - 1] = '0';
        for (unsigned i = 0; i < made.count; i++) {
            if (code->lengths[i] != length) continue;
            memcpy(made.classes[i].code, next, length);
            model_next_code(next, length);
        }
    }
    memcpy(first, made.classes[0].code, code->lengths[0]);
    for (unsigned i = 0; i < made.count; i++) {
        struct model_class *class = &made.classes[i];
        class->length = code->lengths[i];
        class->leads = i > 0 && i < made.count - 1;
        class->tail = i == 0 ? code->near_bits : class->leads ? code->near_bits + i - 1 : model_longest_tail(bits);
        for (unsigned bit = 0; bit < class->length; bit++)
            class->code[bit] = class->code[bit] == first[bit] ? '0' : '1';
    }
    return made;
}

/* The lowest class that holds a difference; the number of classes where none does. */
static inline unsigned model_find_class(const struct model_code *code, uint64_t difference) {
    for (unsigned i = 0; i < code->count; i++) {
        const struct model_class *class = &code->classes[i];
        uint64_t rest = difference >> class->tail;
        if (rest == class->leads) return i;
    }
    return code->count;
}

/* ---- Bits ---- */

static inline unsigned get_bit(const uint8_t *block, size_t at) { return block[at / 8] >> at % 8 & 1; }

static inline void flip_bit(uint8_t *block, size_t at) { block[at / 8] ^= (uint8_t)(1u << at % 8); }

static inline uint64_t get_number(const uint8_t *block, size_t at, unsigned width) {
    uint64_t number = 0;
    for (unsigned i = width; i-- > 0;) number = number << 1 | get_bit(block, at + i);
    return number;
}

/* Writes a number where all is 0, within the block. */
static inline void put_number(const struct idxf_block_form *form, uint8_t *block, size_t at, uint64_t number,
                              unsigned width) {
    for (unsigned i = 0; i < width; i++) {
        assert_true(at + i < (size_t)form->block_size * 8);
        assert_int_equal(get_bit(block, at + i), 0);
        if (number >> i & 1) flip_bit(block, at + i);
    }
}

static inline uint64_t get_most(unsigned bits) { return bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1; }

static inline unsigned count_width(uint64_t number) {
    unsigned width = 0;
    for (; number != 0; number /= 2) width++;
    return width;
}

/* ---- Chains ---- */

static inline unsigned model_chains(uint32_t block_size) { return block_size == 4096 ? 4 : block_size >= 1024 ? 2 : 1; }

static inline unsigned model_place_bits(uint32_t block_size) { return count_width((uint64_t)block_size * 8) - 1; }

/* A chain gone along. */
struct model_walk {
    size_t count;
    bool wraps;                 /* a difference leads below 0: it is the last one looked at */
    size_t codes, tails;        /* bits of the padding, from `codes` on */
    uint64_t numbers[MOST + 1]; /* the greatest first */
};

/* The class whose code stands at a bit; all bits from `limit` on count as 0. */
static inline const struct model_class *model_read_class(const struct model_code *code, const uint8_t *block, size_t at,
                                                         size_t limit) {
    for (unsigned i = 0; i < code->count; i++) {
        const struct model_class *class = &code->classes[i];
        unsigned same = 0;
        while (same < class->length &&
               (at + same < limit ? get_bit(block, at + same) : 0u) == (unsigned)(class->code[same] - '0'))
            same++;
        if (same == class->length) return class;
    }
    fail_msg("the code is not complete");
    return NULL;
}

/* Whether all codes of a block are in 64 bits. */
static inline bool model_has_short_codes(const struct idxf_block_form *form) {
    return form->block_size == 64 && !form->long_codes;
}

/* A search passes over some faults: where codes are short it takes those that are too many for 0 bits, and goes on
 * where a difference leads below 0, modulo 2^64. */
static inline void model_go(const struct idxf_block_form *form, const struct model_code *code, const uint8_t *block,
                            uint64_t key, size_t begin, size_t end, bool searches, struct model_walk *walk) {
    bool is_short = model_has_short_codes(form);
    size_t limit = is_short && searches ? begin + 64 : (size_t)form->block_size * 8;
    *walk = (struct model_walk){.codes = begin, .tails = end, .count = 1, .numbers = {key}};
    while (walk->count <= MOST) {
        const struct model_class *class = model_read_class(code, block, walk->codes, limit);
        if (walk->codes + class->length + class->tail > walk->tails) return;
        if (is_short && !searches && walk->codes + class->length > begin + 64) return;
        uint64_t difference = get_number(block, walk->tails - class->tail, class->tail);
        if (class->leads) difference += UINT64_C(1) << class->tail;
        if (difference == 0) return;
        walk->codes += class->length;
        walk->tails -= class->tail;
        uint64_t last = walk->numbers[walk->count - 1];
        walk->wraps = difference > last && !searches;
        if (walk->wraps) return;
        walk->numbers[walk->count++] = last - difference;
    }
}

/* ---- Decoding ---- */

struct model_chain {
    uint64_t key, floor;
    size_t begin, end;
};

struct model_block {
    enum idxf_fault fault;        /* the first that a reader reports, but for padding */
    enum idxf_fault padding;      /* where that is IDXF_OK */
    unsigned chain_count;         /* 0 where the anchor or the list is faulty */
    struct model_chain chains[4]; /* the lowest first */
    bool is_whole;
    size_t count;
    uint64_t numbers[4 * (MOST + 1)]; /* ascending */
};

/* The key, and the bit behind the anchor. */
static inline enum idxf_fault model_read_key(const struct idxf_block_form *form, const uint8_t *block, uint64_t above,
                                             uint64_t *key, size_t *end) {
    bool is_whole = get_bit(block, 0);
    unsigned width = is_whole ? form->bits : form->anchor_bits;
    uint64_t number = get_number(block, 1, width);
    wide full = number;
    *end = 1 + width;
    if (!is_whole) {
        full = (wide)(above >> width) << width | number;
        if (full < above) full += (wide)1 << width;
    }
    *key = (uint64_t)full;
    return full < above || full > get_most(form->bits) ? IDXF_FAULT_ORDER : IDXF_OK;
}

/* Reads the list of chains into made->chains, the highest first; sets *clear to whether what it says of no chain is 0.
 */
static inline enum idxf_fault model_read_list(const struct idxf_block_form *form, const uint8_t *block, uint64_t key,
                                              uint64_t floor, size_t at, struct model_block *made, bool *clear) {
    unsigned most = model_chains(form->block_size), place_bits = model_place_bits(form->block_size);
    size_t end = (size_t)form->block_size * 8;
    *clear = true;
    made->chains[0] = (struct model_chain){key, floor, at, end};
    made->chain_count = 1;
    if (most == 1) return IDXF_OK;
    unsigned width = (unsigned)get_number(block, at, 6);
    size_t entry = at + 6, begin = entry + (most - 1) * (width + place_bits);
    if (begin > end) return IDXF_FAULT_OVERRUN;
    made->chains[0].begin = begin;
    bool ended = false;
    for (uint64_t last = 0; entry < begin; entry += width + place_bits) {
        uint64_t offset = get_number(block, entry, width), place = get_number(block, entry + width, place_bits);
        ended = ended || offset == 0;
        if (ended) {
            *clear = *clear && offset == 0 && place == 0;
            continue;
        }
        struct model_chain *above = &made->chains[made->chain_count - 1];
        if (place < above->begin) return IDXF_FAULT_OVERRUN;
        if (offset <= last || offset > key - floor) return IDXF_FAULT_ORDER;
        made->chains[made->chain_count++] = (struct model_chain){key - offset, floor, place, end};
        above->end = place;
        above->floor = key - offset + 1;
        last = offset;
    }
    return IDXF_OK;
}

/* Goes along the chains. Returns whether padding is 0. */
static inline bool model_read_chains(const struct idxf_block_form *form, const uint8_t *block,
                                     struct model_block *made) {
    static struct model_walk walk;
    struct model_code code = model_make_code(&form->code, form->bits);
    bool clear = true;
    for (unsigned i = 0; i < made->chain_count; i++) {
        const struct model_chain *chain = &made->chains[i];
        model_go(form, &code, block, chain->key, chain->begin, chain->end, false, &walk);
        if (walk.wraps || walk.numbers[walk.count - 1] < chain->floor) made->fault = IDXF_FAULT_ORDER;
        for (size_t at = walk.codes; at < walk.tails; at++) clear = clear && get_bit(block, at) == 0;
        for (size_t number = walk.count; number-- > 0;) made->numbers[made->count++] = walk.numbers[number];
    }
    if (made->fault == IDXF_OK && made->count > MOST) made->fault = IDXF_FAULT_COUNT;
    return clear;
}

/* Decodes a block. A chain of more than 1023 is not followed further. */
static inline void model_decode(const struct idxf_block_form *form, const uint8_t *block, struct idxf_bounds bounds,
                                struct model_block *made) {
    uint64_t key;
    size_t end;
    bool clear = true;
    made->count = made->chain_count = 0;
    made->padding = IDXF_OK;
    made->is_whole = get_bit(block, 0);
    made->fault = model_read_key(form, block, bounds.above, &key, &end);
    if (made->fault == IDXF_OK) made->fault = model_read_list(form, block, key, bounds.floor, end, made, &clear);
    if (made->fault != IDXF_OK) {
        made->chain_count = 0;
        return;
    }
    for (unsigned i = 0; i < made->chain_count / 2; i++) {
        struct model_chain other = made->chains[i];
        made->chains[i] = made->chains[made->chain_count - 1 - i];
        made->chains[made->chain_count - 1 - i] = other;
    }
    clear = model_read_chains(form, block, made) && clear;
    if (made->fault == IDXF_OK && !clear) made->padding = IDXF_FAULT_PADDING;
}

/* ---- Encoding ---- */

/* Numbers to be written, and how. */
struct model_plan {
    const uint64_t *numbers;
    size_t count;
    bool is_whole;
    unsigned chains, offset_bits;
};

/* Where chain `i` of a plan, from the lowest, begins. */
static inline size_t model_cut(const struct model_plan *plan, unsigned i) { return plan->count * i / plan->chains; }

static inline size_t model_header_bits(const struct idxf_block_form *form, const struct model_plan *plan) {
    unsigned most = model_chains(form->block_size);
    size_t anchor = 1 + (plan->is_whole ? form->bits : form->anchor_bits);
    return most == 1 ? anchor : anchor + 6 + (most - 1) * (plan->offset_bits + model_place_bits(form->block_size));
}

/* Whether a plan fits into a block. Sets offset_bits. */
static inline bool model_fits(const struct idxf_block_form *form, const struct model_code *code, uint64_t before,
                              struct model_plan *plan) {
    const uint64_t *numbers = plan->numbers;
    uint64_t key = numbers[plan->count - 1];
    size_t bits = 0, codes = 0;
    if (!plan->is_whole && key - before > get_most(form->anchor_bits)) return false;
    for (size_t i = 1; i < plan->count; i++) {
        unsigned class = model_find_class(code, numbers[i] - numbers[i - 1]);
        bool is_cut = false;
        for (unsigned chain = 1; chain < plan->chains; chain++) is_cut |= i == model_cut(plan, chain);
        if (class == code->count) return false;
        if (is_cut) continue;
        codes += code->classes[class].length;
        bits += code->classes[class].length + code->classes[class].tail;
    }
    if (model_has_short_codes(form) && codes > 64) return false;
    plan->offset_bits = plan->chains == 1 ? 0 : count_width(key - numbers[model_cut(plan, 1) - 1]);
    return plan->offset_bits < 64 && bits + model_header_bits(form, plan) <= (size_t)form->block_size * 8;
}

/* The most that fit, with this anchor; 0 where none do. */
static inline struct model_plan model_most(const struct idxf_block_form *form, const struct model_code *code,
                                           uint64_t before, const uint64_t *numbers, size_t count, bool is_whole) {
    unsigned chains = model_chains(form->block_size);
    struct model_plan plan = {numbers, count < MOST ? count : MOST, is_whole, 1, 0};
    for (; plan.count > 0; plan.count--) {
        plan.chains = plan.count < 64 ? 1 : chains;
        bool is_short = numbers[plan.count - 1] - before <= get_most(form->anchor_bits);
        if (chains > 1 && is_whole == is_short) continue; /* where it can be short, it is */
        if (model_fits(form, code, before, &plan)) break;
    }
    return plan;
}

static inline size_t model_chain_bits(const struct model_code *code, const struct model_plan *plan, unsigned chain) {
    size_t bits = 0;
    for (size_t i = model_cut(plan, chain) + 1; i < model_cut(plan, chain + 1); i++) {
        const struct model_class *class =
            &code->classes[model_find_class(code, plan->numbers[i] - plan->numbers[i - 1])];
        bits += class->length + class->tail;
    }
    return bits;
}

/* Writes a chain from bit `begin` on, its tails up to `end`. */
static inline void model_put_chain(const struct idxf_block_form *form, const struct model_code *code,
                                   const struct model_plan *plan, unsigned chain, uint8_t *block, size_t begin,
                                   size_t end) {
    for (size_t i = model_cut(plan, chain + 1) - 1; i > model_cut(plan, chain); i--) {
        uint64_t difference = plan->numbers[i] - plan->numbers[i - 1];
        const struct model_class *class = &code->classes[model_find_class(code, difference)];
        for (unsigned bit = 0; bit < class->length; bit++)
            put_number(form, block, begin++, (uint64_t)(class->code[bit] - '0'), 1);
        end -= class->tail;
        put_number(form, block, end, difference, class->tail);
    }
}

static inline void model_write(const struct idxf_block_form *form, const struct model_code *code,
                               const struct model_plan *plan, uint8_t *block) {
    uint64_t key = plan->numbers[plan->count - 1];
    unsigned anchor = plan->is_whole ? form->bits : form->anchor_bits, place_bits = model_place_bits(form->block_size);
    size_t at = model_header_bits(form, plan), entry = 1 + anchor + 6;
    memset(block, 0, form->block_size);
    put_number(form, block, 0, plan->is_whole, 1);
    put_number(form, block, 1, key, anchor);
    if (model_chains(form->block_size) > 1) put_number(form, block, 1 + anchor, plan->offset_bits, 6);
    for (unsigned chain = plan->chains; chain-- > 0;) {
        size_t end = chain == 0 ? (size_t)form->block_size * 8 : at + model_chain_bits(code, plan, chain);
        model_put_chain(form, code, plan, chain, block, at, end);
        at = end;
        if (chain == 0) continue;
        put_number(form, block, entry, key - plan->numbers[model_cut(plan, chain) - 1], plan->offset_bits);
        put_number(form, block, entry + plan->offset_bits, at, place_bits);
        entry += plan->offset_bits + place_bits;
    }
}

/* Encodes as many numbers as the writer puts into a block behind the key `before`, and returns how many. */
static inline size_t model_encode(const struct idxf_block_form *form, uint64_t before, const uint64_t *numbers,
                                  size_t count, uint8_t *block) {
    struct model_code code = model_make_code(&form->code, form->bits);
    struct model_plan brief = model_most(form, &code, before, numbers, count, false);
    struct model_plan whole = model_most(form, &code, before, numbers, count, true);
    const struct model_plan *plan = whole.count > brief.count ? &whole : &brief;
    assert_in_range(plan->count, 1, count);
    model_write(form, &code, plan, block);
    return plan->count;
}

#endif
