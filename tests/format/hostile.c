/* hostile.c: tests of blocks of any bytes: each way finds the fault that the model finds, or gives what it gives, and
 * reads no byte beside a block. */
#include "format/block.h"

#include "tests/format/blocks.h"
#include "tests/format/hits.h"

static struct model_block model;
static struct idxf_decoder decoder;

/* What came of the blocks, so that a test can see that it had enough of each kind. */
static struct { size_t valid, order, count, overrun, padding, hits; } seen;

static void note(void) {
    seen.valid += model.fault == IDXF_OK;
    seen.order += model.fault == IDXF_FAULT_ORDER;
    seen.count += model.fault == IDXF_FAULT_COUNT;
    seen.overrun += model.fault == IDXF_FAULT_OVERRUN;
    seen.padding += model.fault == IDXF_OK && model.padding != IDXF_OK;
}

/* ---- Decoding ---- */

/* Decodes one block as the model did, in one way. */
static void check_decoding(const uint8_t *block, struct idxf_bounds bounds) {
    uint64_t *decoded = calloc(idxf_get_decoded_capacity(&decoder), sizeof *decoded);
    enum idxf_fault fault;
    size_t faulty;
    assert_non_null(decoded);
    struct idxf_bounds next = bounds;
    size_t count = idxf_blocks_decode(&decoder, block, 1, &next, decoded, &faulty, &fault);
    assert_fault(fault, model.fault);
    assert_int_equal(faulty, fault == IDXF_OK);
    assert_int_equal(count, fault == IDXF_OK ? model.count : 0);
    for (size_t i = 0; i < count; i++) assert_int_equal(decoded[i], model.numbers[i] << (64 - decoder.bits));
    free(decoded);
}

/* The chains of a block are those of the model, and its padding is as there. */
static void check_list(const uint8_t *block, struct idxf_bounds bounds) {
    struct idxf_chain chains[IDXF_MAX_CHAINS];
    enum idxf_fault fault = IDXF_OK;
    unsigned count = idxf_block_list_chains(&decoder, block, bounds, chains, &fault);
    assert_int_equal(count, model.chain_count);
    if (count == 0) assert_fault(fault, model.fault);
    for (unsigned i = 0; i < count; i++) {
        assert_ptr_equal(chains[i].block, block);
        assert_int_equal(chains[i].key, model.chains[i].key);
        assert_int_equal(chains[i].floor, model.chains[i].floor);
        assert_int_equal(chains[i].begin, model.chains[i].begin);
        assert_int_equal(chains[i].end, model.chains[i].end);
    }
    enum idxf_fault padding = idxf_block_check_padding(&decoder, block, bounds);
    if (model.fault == IDXF_OK) assert_fault(padding, model.padding);
}

/* ---- Searching ---- */

static unsigned count_errors(uint64_t a, uint64_t b) {
    unsigned errors = 0;
    for (uint64_t left = a ^ b; left != 0; left &= left - 1) errors++;
    return errors;
}

/* The lanes of a search are the same for each way. */
static void compare_hits(const struct hits *a, const struct hits *b) {
    assert_int_equal(a->count, b->count);
    for (unsigned lane = 0; lane < IDXF_LANES; lane++) {
        size_t at = 0;
        for (size_t i = 0; i < a->count; i++) {
            if (a->lanes[i] != lane) continue;
            while (at < b->count && b->lanes[at] != lane) at++;
            assert_true(at < b->count);
            assert_int_equal(a->fingerprints[i], b->fingerprints[at++]);
        }
    }
}

static void add_model_hits(const struct idxf_block_form *form, const struct idxf_lanes *lanes, unsigned lane,
                           unsigned distance, struct hits *hits) {
    static struct model_walk walk;
    struct model_code code = model_make_code(&form->code, form->bits);
    model_go(form, &code, lanes->blocks[lane], lanes->keys[lane], lanes->begins[lane], lanes->ends[lane], true, &walk);
    for (size_t i = 0; i < walk.count && walk.numbers[i] >= lanes->low[lane]; i++) {
        if (walk.numbers[i] > lanes->high[lane]) continue;
        if (count_errors(walk.numbers[i], lanes->queries[lane]) > distance) continue;
        hits->fingerprints[hits->count] = walk.numbers[i];
        hits->lanes[hits->count++] = (uint8_t)lane;
    }
}

/* Searches in all ways what the lanes have. */
static void check_search(const struct idxf_block_form *form, const struct idxf_lanes *lanes, unsigned count,
                         unsigned distance) {
    static struct hits expected;
    const struct idxf_decoder_way *ways[IDXF_MAX_WAYS];
    size_t way_count = idxf_list_decoder_ways(ways);
    expected.count = 0;
    for (unsigned lane = 0; lane < count; lane++) add_model_hits(form, lanes, lane, distance, &expected);
    seen.hits += expected.count;
    for (size_t way = 0; way < way_count; way++) {
        struct hits *hits = malloc(sizeof *hits);
        assert_non_null(hits);
        decoder.way = ways[way];
        search_all(&decoder, lanes, count, distance, hits);
        compare_hits(&expected, hits);
        free(hits);
    }
}

/* ---- Blocks ---- */

/* Checks blocks in up to eight stretches, each alone when decoded, all together when searched. */
static void check_blocks(const struct idxf_block_form *form, const uint8_t *const *blocks, unsigned count,
                         uint64_t *random) {
    const struct idxf_decoder_way *ways[IDXF_MAX_WAYS];
    size_t way_count = idxf_list_decoder_ways(ways);
    struct idxf_lanes lanes;
    unsigned used = 0;
    memset(&lanes, 0xFF, sizeof lanes);
    for (unsigned i = 0; i < count; i++) {
        uint64_t any = next_random(random), most = get_most(form->bits);
        uint64_t above = any % 2 ? 0 : next_random_of_any_size(random) & most;
        struct idxf_bounds bounds = {above, any / 2 % 2 ? above : 0};
        model_decode(form, blocks[i], bounds, &model);
        note();
        check_list(blocks[i], bounds);
        for (size_t way = 0; way < way_count; way++) {
            decoder.way = ways[way];
            check_decoding(blocks[i], bounds);
        }
        if (model.chain_count == 0) continue;
        const struct model_chain *chain = &model.chains[any / 16 % model.chain_count];
        lanes.blocks[used] = blocks[i];
        lanes.keys[used] = chain->key;
        lanes.begins[used] = chain->begin;
        lanes.ends[used] = chain->end;
        lanes.low[used] = any / 64 % 2 ? 0 : next_random(random) & chain->key;
        lanes.high[used] = any / 128 % 2 ? most : lanes.low[used] | (next_random(random) & most);
        lanes.queries[used] = any / 256 % 2 ? chain->key : next_random(random) & most;
        used++;
    }
    if (used > 0) check_search(form, &lanes, used, *random % 4 == 0 ? 64 : (unsigned)(*random % 11));
}

enum body { RANDOM, ZEROS, ONES, FEW_ONES, FEW_ZEROS, ONES_LATE, BODIES };

static void fill_body(uint8_t *bytes, size_t size, enum body body, uint64_t *random) {
    for (size_t at = 0; at < size; at += 8) {
        uint64_t a = next_random(random), few = a & next_random(random) & next_random(random) & next_random(random);
        const uint64_t words[BODIES] = {a, 0, UINT64_MAX, few, ~few, at < size / 2 ? 0 : a};
        idxf_store64(bytes + at, words[body]);
    }
}

/* Narrow offsets, and places in the block, so that lists are not faulty at once. */
static void mend_list(const struct idxf_block_form *form, uint8_t *block, uint64_t *random) {
    size_t at = 1 + (get_bit(block, 0) ? form->bits : form->anchor_bits);
    unsigned width = (unsigned)(next_random(random) % 12), chains = model_chains(form->block_size);
    if (chains == 1 || next_random(random) % 8 == 0) return;
    for (unsigned i = 0; i < 6; i++) {
        if (get_bit(block, at + i) != (width >> i & 1)) flip_bit(block, at + i);
    }
    at += 6 + (chains - 1) * (width + model_place_bits(form->block_size));
    uint64_t place = at, offset = 0;
    for (unsigned chain = chains - 1; chain > 0; chain--) {
        size_t entry = at - chain * (width + model_place_bits(form->block_size));
        place += next_random(random) % (form->block_size * 2);
        offset += next_random(random) % 4;
        for (unsigned i = 0; i < width + model_place_bits(form->block_size); i++) {
            unsigned bit = (i < width ? offset >> i : place >> (i - width)) & 1;
            if (get_bit(block, entry + i) != bit) flip_bit(block, entry + i);
        }
    }
}

static void test_any_bytes(void **state) {
    (void)state;
    static uint8_t bytes[IDXF_MAX_BLOCK_SIZE];
    uint64_t random = 1;
    memset(&seen, 0, sizeof seen);
    for (unsigned round = 0; round < 4000; round++) {
        struct idxf_block_form form = {1 + round % 64, 0, 64u << round / 64 % 7, {0, {0}}, false};
        const uint8_t *blocks[IDXF_LANES];
        unsigned count = 1 + (unsigned)(next_random(&random) % IDXF_LANES);
        form.anchor_bits = 1 + (unsigned)(next_random(&random) % (form.bits < 63 ? form.bits : 63));
        form.long_codes = form.block_size == 64 && next_random(&random) % 2;
        make_any_code(&form.code, form.bits, &random);
        idxf_decoder_init(&decoder, &form);
        for (unsigned i = 0; i < count; i++) {
            fill_body(bytes, form.block_size, (enum body)(next_random(&random) % BODIES), &random);
            mend_list(&form, bytes, &random);
            blocks[i] = place_bytes(i, bytes, form.block_size, next_random(&random) % 2);
        }
        check_blocks(&form, blocks, count, &random);
    }
    assert_true(seen.valid > 1000 && seen.order > 1000 && seen.count > 30 && seen.overrun > 15 && seen.padding > 1000);
    assert_true(seen.hits > 5000);
}

/* Chains of more fingerprints than there may be, at keys around their number: some lead below 0. */
static void test_too_many(void **state) {
    (void)state;
    static uint8_t bytes[IDXF_MAX_BLOCK_SIZE];
    uint64_t random = 2;
    memset(&seen, 0, sizeof seen);
    for (unsigned round = 0; round < 500; round++) {
        bool is_least = round >= 400; /* as many as there may be, and fewer: long codes */
        struct idxf_block_form form = {64, 40, is_least ? 64 : 512u << round % 4, {0, {2, 1, 2}}, is_least};
        uint64_t key = round % 3 == 0 ? (is_least ? 462 : 1015) + round / 4 % 20 : next_random(&random) >> 25;
        unsigned anchor = 1 + form.anchor_bits, chains = model_chains(form.block_size);
        unsigned list = chains == 1 ? 0 : 6 + (chains - 1) * model_place_bits(form.block_size);
        memset(bytes, 0, sizeof bytes);
        put_number(&form, bytes, 1, key, form.anchor_bits);
        /* Differences of 1 have the code 1, with no tail; at times some are other ones. */
        for (size_t at = anchor + list; at < form.block_size * 8u; at++) {
            if (!get_bit(bytes, at)) flip_bit(bytes, at);
        }
        if (round % 2) flip_bit(bytes, anchor + list + (size_t)(next_random(&random) % (is_least ? 400 : 2000)));
        idxf_decoder_init(&decoder, &form);
        const uint8_t *blocks[1] = {place_bytes(0, bytes, form.block_size, round % 5 > 1)};
        check_blocks(&form, blocks, 1, &random);
    }
    assert_true(seen.count > 100 && seen.order > 50);
}

/* ---- Blocks that were valid ---- */

/* Each bit of a block flipped, alone and with others. */
static void check_flipped(const struct blocks *blocks, size_t number, uint64_t *random) {
    static uint8_t bytes[IDXF_MAX_BLOCK_SIZE];
    size_t bits = (size_t)blocks->form.block_size * 8, step = bits / 512;
    const uint8_t *placed[IDXF_LANES];
    for (size_t bit = 0; bit < bits; bit += (bit < 160 ? 1 : 1 + next_random(random) % (8 * step)) + 7) {
        for (unsigned i = 0; i < IDXF_LANES; i++) {
            memcpy(bytes, get_block(blocks, number), blocks->form.block_size);
            flip_bit(bytes, (bit + i) % bits);
            while (next_random(random) % 4 == 0) flip_bit(bytes, (size_t)(next_random(random) % bits));
            placed[i] = place_bytes(i, bytes, blocks->form.block_size, next_random(random) % 2);
        }
        check_blocks(&blocks->form, placed, IDXF_LANES, random);
    }
}

static void test_flipped_bits(void **state) {
    (void)state;
    static struct blocks blocks;
    static uint64_t set[MAX_SET];
    uint64_t random = 3;
    memset(&seen, 0, sizeof seen);
    for (unsigned round = 0; round < 35; round++) {
        unsigned bits = round % 2 ? 64 : 1 + (unsigned)(next_random(&random) % 64);
        uint32_t block_size = 64u << round % 7;
        size_t count = make_set((enum shape)(next_random(&random) % SHAPES), bits, 2000, &random, set);
        struct idxf_block_form form = make_form(bits, block_size, set, count, round % 4 > 0, &random);
        form.long_codes = block_size == 64 && round / 7 % 2;
        encode_all(&blocks, &form, set, count);
        idxf_decoder_init(&decoder, &form);
        check_flipped(&blocks, 0, &random);
        check_flipped(&blocks, (size_t)(next_random(&random) % blocks.count), &random);
    }
    assert_true(seen.valid > 1000 && seen.order > 1000 && seen.overrun > 30 && seen.padding > 1000);
}

/* ---- Several blocks ---- */

/* Of blocks decoded at once, one is faulty: those before it are given. */
static void test_faulty_among_others(void **state) {
    (void)state;
    static struct blocks blocks;
    static uint64_t set[MAX_SET];
    uint64_t random = 4;
    const struct idxf_decoder_way *ways[IDXF_MAX_WAYS];
    size_t way_count = idxf_list_decoder_ways(ways), faults = 0;
    for (unsigned round = 0; round < 700; round++) {
        uint32_t block_size = 64u << round % 7;
        static uint8_t bytes[STRETCH];
        size_t count = make_set((enum shape)(round % SHAPES), 64, MAX_SET, &random, set), valid = 0, expected = 0;
        struct idxf_block_form form = make_form(64, block_size, set, count, round % 4 > 0, &random);
        encode_all(&blocks, &form, set, count);
        idxf_decoder_init(&decoder, &form);
        size_t some =
            idxf_get_blocks_at_once(&decoder) < blocks.count ? idxf_get_blocks_at_once(&decoder) : blocks.count;
        memcpy(bytes, blocks.bytes, some * block_size);
        for (unsigned flips = 0; flips < 3; flips++)
            flip_bit(bytes, (size_t)(next_random(&random) % (some * block_size * 8)));
        struct idxf_bounds bounds = {0, 0};
        uint64_t *decoded = calloc(idxf_get_decoded_capacity(&decoder), sizeof *decoded);
        enum idxf_fault first = IDXF_OK;
        for (; valid < some && first == IDXF_OK; valid += first == IDXF_OK) {
            model_decode(&form, bytes + valid * block_size, bounds, &model);
            first = model.fault;
            if (first != IDXF_OK) break;
            expected += model.count;
            bounds.above = bounds.floor = model.numbers[model.count - 1] + 1;
        }
        faults += first != IDXF_OK;
        for (size_t way = 0; way < way_count; way++) {
            enum idxf_fault fault;
            size_t faulty;
            struct idxf_bounds given = {0, 0};
            decoder.way = ways[way];
            const uint8_t *placed = place_bytes(0, bytes, some * block_size, round % 2);
            assert_int_equal(idxf_blocks_decode(&decoder, placed, some, &given, decoded, &faulty, &fault), expected);
            assert_fault(fault, first);
            assert_int_equal(faulty, valid);
        }
        free(decoded);
    }
    assert_in_range(faults, 100, 690);
}

/* Behind the greatest key there is no block. */
static void test_nothing_behind_the_greatest_key(void **state) {
    (void)state;
    for (unsigned bits = 1; bits <= 64; bits++) {
        uint64_t *decoded = calloc(IDXF_MAX_DECODED_WORDS, sizeof *decoded);
        struct idxf_block_form form = {bits, bits < 63 ? bits : 63, 64, {0, {1, 1}}, false};
        idxf_decoder_init(&decoder, &form);
        for (uint64_t second = 0; second < 4; second++) {
            uint8_t bytes[2 * 64 + 8] = {0};
            uint64_t key = second < 2 ? second : get_most(bits) - (second - 2);
            for (unsigned i = 0; i < bits; i++) flip_bit(bytes, 1 + i);
            put_number(&form, bytes + 64, 1, key & get_most(bits), bits);
            bytes[0] |= 1;
            if (second % 2) bytes[64] |= 1;
            for (size_t at_once = 1; at_once <= 2; at_once++) {
                struct idxf_bounds bounds = {0, 0};
                enum idxf_fault fault;
                size_t faulty;
                assert_int_equal(idxf_blocks_decode(&decoder, bytes, at_once, &bounds, decoded, &faulty, &fault), 1);
                if (at_once == 2) assert_fault(fault, IDXF_FAULT_ORDER);
                if (at_once == 2) continue;
                assert_int_equal(idxf_blocks_decode(&decoder, bytes + 64, 1, &bounds, decoded, &faulty, &fault), 0);
                assert_fault(fault, IDXF_FAULT_ORDER);
            }
        }
        free(decoded);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_bytes),
        cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_flipped_bits),
        cmocka_unit_test(test_faulty_among_others),
        cmocka_unit_test(test_nothing_behind_the_greatest_key),
    };
    return cmocka_run_group_tests(tests, map_stretches, NULL);
}
