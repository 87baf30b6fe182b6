/* block.c: tests of blocks: those that the writer makes are the model's, bit for bit, and each way to decode them gives
 * what the model gives. */
#include "format/block.h"

#include "format/processor.h"
#include "tests/format/blocks.h"

static struct blocks blocks;

/* ---- Encoding ---- */

/* Each block is the one that the model makes behind the key of the one before. */
static void compare_encoding(void) {
    static uint64_t numbers[MAX_SET];
    static uint8_t expected[IDXF_MAX_BLOCK_SIZE];
    const struct idxf_block_form *form = &blocks.form;
    for (size_t i = 0; i < blocks.fingerprint_count; i++) numbers[i] = blocks.fingerprints[i] >> (64 - form->bits);
    for (size_t i = 0; i < blocks.count; i++) {
        size_t begin = blocks.begins[i];
        uint64_t before = i == 0 ? 0 : get_key(&blocks, i - 1);
        assert_int_equal(model_encode(form, before, numbers + begin, blocks.fingerprint_count - begin, expected),
                         blocks.begins[i + 1] - begin);
        assert_memory_equal(get_block(&blocks, i), expected, form->block_size);
    }
}

/* ---- Decoding ---- */

static uint64_t next_up_to(uint64_t most, uint64_t *random) {
    uint64_t any = next_random(random);
    return most == UINT64_MAX ? any : any % (most + 1);
}

/* Decodes up to so many blocks at a time, in one way; all come back. */
static void decode_all(const struct idxf_decoder *decoder, size_t at_once) {
    size_t room = idxf_get_decoded_capacity(decoder), done = 0;
    uint32_t size = decoder->block_size;
    uint64_t *decoded = calloc(room, sizeof *decoded);
    struct idxf_bounds bounds = {0, 0};
    assert_non_null(decoded);
    for (size_t i = 0, some; i < blocks.count; i += some) {
        size_t faulty = 99;
        enum idxf_fault fault = IDXF_FAULT_MAGIC;
        some = blocks.count - i < at_once ? blocks.count - i : at_once;
        const uint8_t *placed = place_bytes(0, get_block(&blocks, i), some * size, i / at_once % 2);
        size_t count = idxf_blocks_decode(decoder, placed, some, &bounds, decoded, &faulty, &fault);
        assert_fault(fault, IDXF_OK);
        assert_int_equal(faulty, some);
        assert_int_equal(count, blocks.begins[i + some] - done);
        assert_memory_equal(decoded, blocks.fingerprints + done, count * sizeof *decoded);
        done += count;
        uint64_t key = get_key(&blocks, i + some - 1);
        if (key < UINT64_MAX) assert_int_equal(bounds.above, key + 1);
        if (key < UINT64_MAX) assert_int_equal(bounds.floor, key + 1);
    }
    free(decoded);
}

/* Whatever is known of where a block's key lies, it is read the same. */
static void check_anchors(const struct idxf_decoder *decoder, uint64_t *random) {
    for (size_t i = 0; i < blocks.count; i++) {
        uint64_t before = i == 0 ? 0 : get_key(&blocks, i - 1), key = get_key(&blocks, i);
        const uint64_t all[] = {before, before + (key > before), key, before + next_up_to(key - before, random)};
        for (size_t j = 0; j < COUNT_OF(all); j++) {
            static struct model_block model;
            struct idxf_bounds bounds = {all[j], 0};
            const uint8_t *block = get_block(&blocks, i);
            struct idxf_anchor anchor = idxf_block_read_anchor(decoder, block, all[j]);
            assert_int_equal(anchor.key, key);
            assert_int_equal(anchor.end, 1 + (block[0] % 2 ? decoder->bits : decoder->anchor_bits));
            if (i % 16 > 0) continue;
            model_decode(&blocks.form, block, bounds, &model);
            assert_fault(model.fault, IDXF_OK);
            assert_fault(model.padding, IDXF_OK);
            assert_int_equal(model.count, blocks.begins[i + 1] - blocks.begins[i]);
            assert_fault(idxf_block_check_padding(decoder, block, bounds), IDXF_OK);
        }
    }
}

/* Encodes fingerprints, compares, and decodes in all ways. */
static void check_table(const struct idxf_block_form *form, const uint64_t *fingerprints, size_t count,
                        uint64_t *random) {
    struct idxf_decoder decoder;
    const struct idxf_decoder_way *ways[IDXF_MAX_WAYS];
    size_t way_count = idxf_list_decoder_ways(ways);
    encode_all(&blocks, form, fingerprints, count);
    compare_encoding();
    idxf_decoder_init(&decoder, form);
    assert_int_equal(decoder.chains, model_chains(form->block_size));
    assert_ptr_equal(decoder.way, ways[way_count - 1]);
    size_t most = idxf_get_blocks_at_once(&decoder), some = 1 + (size_t)(next_random(random) % most);
    check_anchors(&decoder, random);
    for (size_t way = 0; way < way_count; way++) {
        decoder.way = ways[way];
        decode_all(&decoder, some);
        decode_all(&decoder, most);
    }
}

/* Every f, shape and block size, with codes made for the fingerprints and any others. */
static void test_all_kinds_of_tables(void **state) {
    (void)state;
    static uint64_t set[MAX_SET];
    uint64_t random = 1;
    for (unsigned round = 0; round < 64 * SHAPES * 2; round++) {
        unsigned bits = 1 + round / SHAPES % 64;
        uint32_t block_size = (uint32_t)IDXF_MIN_BLOCK_SIZE << next_random(&random) % 7;
        size_t most = block_size < 256 ? 300 : block_size < 1024 ? 1000 : 2500;
        size_t count = make_set((enum shape)(round % SHAPES), bits, most, &random, set);
        bool is_own = round / SHAPES / 64 % 2 == 0;
        struct idxf_block_form form = make_form(bits, block_size, set, count, is_own, &random);
        check_table(&form, set, count, &random);
    }
}

/* Every f with every size, dense. */
static void test_dense_tables(void **state) {
    (void)state;
    static uint64_t set[MAX_SET];
    uint64_t random = 2;
    for (unsigned bits = 1; bits <= 64; bits++) {
        for (uint32_t block_size = 64; block_size <= 4096; block_size *= 2) {
            size_t count = 0, most = block_size < 512 ? 200 : 2100;
            while (count < most && count <= get_most(bits)) {
                set[count] = (uint64_t)count << (64 - bits);
                count++;
            }
            struct idxf_block_form form = make_form(bits, block_size, set, count, true, &random);
            check_table(&form, set, count, &random);
        }
    }
}

/* ---- Limits ---- */

/* Neighbours of which each takes two bits: 1023 end a block. */
static void test_count_limit(void **state) {
    (void)state;
    static uint64_t set[MAX_SET];
    uint64_t random = 3;
    for (uint32_t block_size = 512; block_size <= 4096; block_size *= 2) {
        for (unsigned near_bits = 0; near_bits <= 1; near_bits++) {
            struct idxf_block_form form = {64, 20, block_size, {(uint8_t)near_bits, {1, 2, 2}}, false};
            if (near_bits == 0) form.code = (struct idxf_code){0, {2, 1, 2}};
            for (size_t i = 0; i < 3000; i++) set[i] = UINT64_C(0x123456789ABCDE) + i;
            check_table(&form, set, 3000, &random);
            assert_int_equal(blocks.begins[2] - blocks.begins[1], 1023);
        }
    }
}

/* A code of one bit for each of 64 differences of one, and no room for more codes. */
static void test_codes_of_64_bits(void **state) {
    (void)state;
    static uint64_t set[MAX_SET];
    static const struct {
        uint8_t near_bits, lengths[3];
        size_t held;
    } cases[] = {{0, {2, 1, 2}, 65}, {1, {1, 2, 2}, 65}, {2, {2, 1, 2}, 33}, {4, {2, 2, 1}, 33}};
    uint64_t random = 4;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        for (unsigned anchor_bits = 1; anchor_bits <= 63; anchor_bits++) {
            struct idxf_block_form form = {64, anchor_bits, 64, {cases[i].near_bits, {0}}, false};
            memcpy(form.code.lengths, cases[i].lengths, 3);
            for (size_t j = 0; j < 300; j++) set[j] = UINT64_C(0x123456789ABCDE) + j;
            check_table(&form, set, 300, &random);
            assert_int_equal(blocks.begins[2] - blocks.begins[1], cases[i].held);
        }
    }
    for (unsigned round = 0; round < 300; round++) { /* codes that reach 64 bits in steps of any size */
        size_t count = make_set(round % 2 ? DENSE : JUMPS, 64, 300, &random, set);
        struct idxf_block_form form = make_form(64, 64, set, count, false, &random);
        form.code.near_bits = 0;
        check_table(&form, set, count, &random);
    }
}

/* Long codes: neighbours of one bit and of two fill a block, whatever its anchor. */
static void test_long_codes(void **state) {
    (void)state;
    static uint64_t set[MAX_SET];
    uint64_t random = 11;
    for (size_t j = 0; j < 1500; j++) set[j] = UINT64_C(0x123456789ABCDE) + j;
    for (unsigned anchor_bits = 1; anchor_bits <= 63; anchor_bits++) {
        for (unsigned cost = 1; cost <= 2; cost++) {
            struct idxf_block_form form = {64, anchor_bits, 64, {0, {2, 1, 2}}, true};
            if (cost == 2) form.code = (struct idxf_code){1, {1, 2, 2}};
            size_t brief = (511 - anchor_bits) / cost + 1, whole = 447 / cost + 1, near = brief;
            if (get_most(anchor_bits) < near) near = (size_t)get_most(anchor_bits);
            if (near < brief && whole < brief && near < whole) near = whole;
            if (near < brief && whole >= brief) near = brief;
            check_table(&form, set, 1500, &random);
            assert_int_equal(blocks.begins[2] - blocks.begins[1], near);
        }
    }
}

static void check_long_codes(unsigned rounds, uint64_t random) {
    static uint64_t set[MAX_SET];
    for (unsigned round = 0; round < rounds; round++) {
        size_t count = make_set((enum shape)(round % SHAPES), 64, 900, &random, set);
        struct idxf_block_form form = make_form(64, 64, set, count, round % 12 < 6, &random);
        form.long_codes = true;
        check_table(&form, set, count, &random);
    }
}

static void test_long_codes_of_all_kinds(void **state) {
    (void)state;
    check_long_codes(60, 12);
}

static void test_more_long_codes(void **state) {
    (void)state;
    check_long_codes(540, 13);
}

/* Differences of 57 bits fit, those of 58 begin a block. */
static void test_largest_differences(void **state) {
    (void)state;
    uint64_t random = 5;
    const uint64_t end = UINT64_C(1) << 57;
    for (uint32_t block_size = 64; block_size <= 4096; block_size *= 2) {
        for (unsigned round = 0; round < 100; round++) {
            uint64_t set[200], x = next_random(&random) >> 40;
            size_t count = 0;
            const uint64_t steps[] = {end - 1, end, end + 1, 1, end / 2, end - 2, 3, end * 2};
            bool small = round % 2;
            for (; count < 90 && x < UINT64_MAX - 2 * end; count++) {
                set[count] = x;
                x += steps[next_random(&random) % (small ? 1 + round % 4 : COUNT_OF(steps))];
            }
            struct idxf_block_form form = make_form(64, block_size, set, count, round % 3 == 0, &random);
            check_table(&form, set, count, &random);
            for (size_t i = 1, at = 1; i < count; i++) {
                if (set[i] - set[i - 1] < end) continue;
                while (at < blocks.count && blocks.begins[at] < i) at++;
                assert_int_equal(blocks.begins[at], i);
            }
        }
    }
}

static void test_alone(void **state) {
    (void)state;
    uint64_t random = 6;
    for (unsigned bits = 1; bits <= 64; bits++) {
        const uint64_t all[] = {0, 1, get_most(bits), get_most(bits) / 2 + 1, next_random(&random) & get_most(bits)};
        for (size_t i = 0; i < COUNT_OF(all); i++) {
            uint64_t set[2] = {all[i] << (64 - bits), get_most(bits) << (64 - bits)};
            for (uint32_t block_size = 64; block_size <= 4096; block_size *= 2) {
                for (unsigned is_own = 0; is_own < 2; is_own++) {
                    struct idxf_block_form form = make_form(bits, block_size, set, 1, is_own, &random);
                    check_table(&form, set, 1, &random);
                    if (set[1] > set[0]) check_table(&form, set, 2, &random);
                }
            }
        }
    }
}

/* A short anchor is for keys less than 2^A above the one before: exactly there it becomes a whole one. */
static void test_short_and_whole_anchors(void **state) {
    (void)state;
    uint64_t random = 7;
    for (uint32_t block_size = 64; block_size <= 4096; block_size *= 8) {
        for (unsigned anchor_bits = 1; anchor_bits <= 56; anchor_bits++) {
            struct idxf_block_form form = {64, anchor_bits, block_size, {0, {1, 1}}, false};
            for (unsigned more = 0; more < 3; more++) {
                uint64_t first = get_most(anchor_bits) + more - 1, set[] = {first, first * 2 + 1};
                if (first == 0) continue;
                check_table(&form, set, 1, &random);
                assert_int_equal(get_block(&blocks, 0)[0] % 2, more == 2);
            }
        }
    }
}

/* The second fingerprint is too far for a short anchor, and there is room for it with a whole one, or just not. */
static void test_choice_of_anchor(void **state) {
    (void)state;
    uint64_t random = 8;
    unsigned whole = 0, brief = 0;
    for (unsigned round = 0; round < 2000; round++) {
        static uint64_t set[MAX_SET];
        unsigned bits = 20 + (unsigned)(next_random(&random) % 45);
        size_t count = make_set(round % 2 ? SPARSE : JUMPS, bits, 100, &random, set);
        struct idxf_block_form form = make_form(bits, 64u << round % 4, set, count, true, &random);
        if (form.anchor_bits > round % 6) form.anchor_bits -= round % 6;
        check_table(&form, set, count, &random);
        for (size_t i = 0; i < blocks.count; i++) {
            whole += get_block(&blocks, i)[0] % 2;
            brief += get_block(&blocks, i)[0] % 2 == 0;
        }
    }
    assert_in_range(whole, 1000, 100000);
    assert_in_range(brief, 1000, 100000);
}

/* ---- The anchor's bits ---- */

static unsigned model_anchor_bits(uint64_t fingerprints, unsigned bits, uint32_t block_size) {
    uint64_t mean = get_most(bits) / (fingerprints == 0 ? 1 : fingerprints);
    uint64_t held = (block_size * 8 - bits) / (count_width(mean) + 1) * 8 / 5;
    wide distance = (wide)mean * held;
    unsigned width = distance >> 64 != 0 ? 64 : count_width((uint64_t)distance), most = bits < 63 ? bits : 63;
    return width < 1 ? 1 : width > most ? most : width;
}

static void test_anchor_bits(void **state) {
    (void)state;
    uint64_t random = 9;
    for (unsigned round = 0; round < 100000; round++) {
        unsigned bits = 1 + round % 64;
        uint32_t block_size = 64u << next_random(&random) % 7;
        uint64_t count = next_random_of_any_size(&random) & get_most(bits);
        assert_int_equal(idxf_choose_anchor_bits(count, bits, block_size), model_anchor_bits(count, bits, block_size));
    }
    assert_int_equal(idxf_choose_anchor_bits(0, 64, 64), 63);
    assert_int_equal(idxf_choose_anchor_bits(2, 1, 4096), 1);
}

/* ---- The example of SPEC.md ---- */

static void test_example(void **state) {
    (void)state;
    const uint64_t set[] = {UINT64_C(0x12) << 56, UINT64_C(0x15) << 56, UINT64_C(0x16) << 56, UINT64_C(0x96) << 56,
                            UINT64_C(0x97) << 56};
    const struct idxf_block_form form = {8, 8, 64, {2, {2, 2, 2, 2}}, false};
    static const uint8_t expected[64] = {0x2E, 0x19, [62] = 0x1C, 0x60};
    uint64_t random = 10;
    check_table(&form, set, 5, &random);
    assert_int_equal(blocks.count, 1);
    assert_memory_equal(get_block(&blocks, 0), expected, 64);
}

/* ---- Ways ---- */

static void test_ways(void **state) {
    (void)state;
    const struct idxf_decoder_way *ways[IDXF_MAX_WAYS];
    static const char *const names[] = {"portable", "bmi2", "avx512"};
    size_t count = idxf_list_decoder_ways(ways);
    assert_in_range(count, 1, IDXF_MAX_WAYS);
    for (size_t i = 0; i < count; i++) assert_string_equal(ways[i]->name, names[i]);
    assert_string_equal(ways[count - 1]->name, idxf_get_instructions_name());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_kinds_of_tables),
        cmocka_unit_test(test_dense_tables),
        cmocka_unit_test(test_count_limit),
        cmocka_unit_test(test_codes_of_64_bits),
        cmocka_unit_test(test_long_codes),
        cmocka_unit_test(test_long_codes_of_all_kinds),
        cmocka_unit_test(test_more_long_codes),
        cmocka_unit_test(test_largest_differences),
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_short_and_whole_anchors),
        cmocka_unit_test(test_choice_of_anchor),
        cmocka_unit_test(test_anchor_bits),
        cmocka_unit_test(test_example),
        cmocka_unit_test(test_ways),
    };
    return cmocka_run_group_tests(tests, map_stretches, NULL);
}
