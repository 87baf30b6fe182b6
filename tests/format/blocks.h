/* blocks.h: what the tests of blocks share: forms of any kind, tables of blocks, and memory beside which nothing may be
 * read. */
#ifndef IDX_TESTS_FORMAT_BLOCKS_H
#define IDX_TESTS_FORMAT_BLOCKS_H

#include <sys/mman.h>

#include "tests/format/model.h"
#include "tests/format/sets.h"

/* ---- Memory ---- */

/* Stretches of memory, one a lane, each with the room of the blocks that are decoded at once, before and after which
 * nothing may be read. */
enum { STRETCH = 8192, GUARD = 65536 };

static uint8_t *stretches[IDXF_LANES];

static inline int map_stretches(void **state) {
    (void)state;
    size_t size = IDXF_LANES * (size_t)(STRETCH + GUARD) + GUARD;
    uint8_t *area = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(area, MAP_FAILED);
    for (size_t i = 0; i < IDXF_LANES; i++) {
        stretches[i] = area + GUARD + i * (STRETCH + GUARD);
        assert_int_equal(mprotect(stretches[i], STRETCH, PROT_READ | PROT_WRITE), 0);
    }
    return 0;
}

/* Copies bytes to the beginning of a stretch, or its end. */
static inline uint8_t *place_bytes(size_t lane, const uint8_t *bytes, size_t size, bool is_last) {
    uint8_t *place = is_last ? stretches[lane] + STRETCH - size : stretches[lane];
    memcpy(place, bytes, size);
    return place;
}

/* ---- Forms ---- */

/* A valid code of any kind for fingerprints of so many bits. */
static inline void make_any_code(struct idxf_code *code, unsigned bits, uint64_t *random) {
    unsigned longest = model_longest_tail(bits), count = 2;
    unsigned most = 2 + (unsigned)(next_random(random) % (longest + 1));
    *code = (struct idxf_code){.lengths = {1, 1}};
    for (unsigned tries = 0; count < most && tries < 1000; tries++) {
        unsigned split = (unsigned)(next_random(random) % count);
        if (code->lengths[split] == LONGEST_CODE) continue;
        code->lengths[count++] = ++code->lengths[split];
    }
    for (unsigned i = 0; i < count; i++) {
        unsigned other = (unsigned)(next_random(random) % count);
        uint8_t length = code->lengths[i];
        code->lengths[i] = code->lengths[other];
        code->lengths[other] = length;
    }
    code->near_bits = (uint8_t)(next_random(random) % (longest + 3 - count));
    assert_fault(idxf_code_check(code, bits), IDXF_OK);
}

/* The code and the anchor's bits that a table of these left-aligned fingerprints has; or any others. */
static inline struct idxf_block_form make_form(unsigned bits, uint32_t block_size, const uint64_t *fingerprints,
                                               size_t count, bool is_own, uint64_t *random) {
    struct idxf_block_form form = {.bits = bits, .block_size = block_size};
    form.long_codes = block_size == IDXF_MIN_BLOCK_SIZE && next_random(random) % 2;
    struct idxf_difference_counts counts = {{0}};
    if (is_own) {
        idxf_count_differences(&counts, 0, fingerprints, count, bits);
        idxf_code_choose(&form.code, &counts, bits);
        form.anchor_bits = idxf_choose_anchor_bits(count, bits, block_size);
    } else {
        make_any_code(&form.code, bits, random);
        form.anchor_bits = 1 + (unsigned)(next_random(random) % (bits < 63 ? bits : 63));
    }
    assert_fault(idxf_code_check(&form.code, bits), IDXF_OK);
    return form;
}

/* ---- Tables ---- */

enum { MOST_BLOCKS = MAX_SET };

/* Blocks one after the other, as the writer makes them. */
struct blocks {
    struct idxf_block_form form;
    size_t count, fingerprint_count;
    const uint64_t *fingerprints;   /* left-aligned */
    size_t begins[MOST_BLOCKS + 1]; /* the first fingerprint of each */
    uint8_t bytes[1 << 20];
};

static inline const uint8_t *get_block(const struct blocks *blocks, size_t i) {
    return blocks->bytes + i * blocks->form.block_size;
}

/* The key of a block, a number of `bits` bits. */
static inline uint64_t get_key(const struct blocks *blocks, size_t i) {
    return blocks->fingerprints[blocks->begins[i + 1] - 1] >> (64 - blocks->form.bits);
}

/* Encodes all fingerprints. */
static inline void encode_all(struct blocks *blocks, const struct idxf_block_form *form, const uint64_t *fingerprints,
                              size_t count) {
    static struct idxf_encoder encoder;
    blocks->form = *form;
    blocks->fingerprints = fingerprints;
    blocks->fingerprint_count = count;
    blocks->count = 0;
    idxf_encoder_init(&encoder, form);
    for (size_t done = 0; done < count;) {
        uint8_t *block = malloc(form->block_size);
        assert_non_null(block);
        assert_true((blocks->count + 1) * form->block_size <= sizeof blocks->bytes);
        memset(block, 0xA5, form->block_size);
        size_t made = idxf_block_encode(&encoder, fingerprints + done, count - done, block);
        assert_in_range(made, 1, count - done < MOST ? count - done : MOST);
        memcpy(blocks->bytes + blocks->count * form->block_size, block, form->block_size);
        free(block);
        blocks->begins[blocks->count++] = done;
        done += made;
    }
    blocks->begins[blocks->count] = count;
}

#endif
