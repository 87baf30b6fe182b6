/* delta.c: tests of the delta codec: blocks known bit by bit, the writer's choice of a width, all other widths, and
 * what is wrong with differences. */
#include "format/block.h"

#include "tests/format/blocks.h"
#include "tests/format/sets.h"

static struct decoded decoded;

static void check_fault(const struct block_kind *kind, const uint8_t *block, enum idxf_fault fault) {
    decode_block(kind, block, &decoded);
    assert_fault(decoded.fault, fault);
    assert_fault(decoded.padding, IDXF_OK);
}

/* Encodes these fingerprints, of which so many fit, with low parts of this width. */
static void check_choice(const struct block_kind *kind, const uint64_t *set, size_t count, size_t fits,
                         unsigned width) {
    uint8_t block[IDXF_MAX_BLOCK_SIZE];
    assert_int_equal(check_encodes(kind, set, count), fits);
    assert_int_equal(encode_block(kind, set, count, block), fits);
    assert_int_equal(block[0] + 256u * block[1], fits + 1024 * width);
}

/* ---- Putting ---- */

/* Puts what fits, with this width, into a block of exactly this size that is not zeroed. */
static void check_put(const struct block_kind *kind, const uint64_t *set, size_t count, unsigned width) {
    static uint8_t expected[2 * IDXF_MAX_BLOCK_SIZE];
    uint8_t *block = malloc(kind->block_size);
    assert_non_null(block);
    memset(block, 0xA5, kind->block_size);
    memset(expected, 0, sizeof expected);
    model_write_delta(kind, set, count, width, expected);
    idxf_delta_put(set, count, width, 64 - kind->bits, block, kind->block_size);
    assert_memory_equal(block, expected, kind->block_size);
    free(block);
}

/* All widths with which so many fit. Returns their number. */
static unsigned check_puts(const struct block_kind *kind, const uint64_t *set, size_t count) {
    unsigned widths = 0;
    for (unsigned width = 0; width <= IDXF_MAX_LOW_BITS; width++) {
        if (!model_fits(kind, set, count, width)) continue;
        check_put(kind, set, count, width);
        widths++;
    }
    return widths;
}

/* Sizes that are no powers of two, nor multiples of anything; neighbours that are equal; each with all widths. */
static void test_any_size(void **state) {
    (void)state;
    static uint64_t set[MAX_SET];
    uint64_t random = 12;
    unsigned widths = 0;
    for (unsigned round = 0; round < 60 * SHAPES; round++) {
        uint32_t size = 64 + (uint32_t)(next_random(&random) % (round % 4 == 0 ? 6000 : 100));
        struct block_kind kind = {IDXF_CODEC_DELTA, 1 + (unsigned)(next_random(&random) % 64), size, {0}};
        if (round % 3 == 0) kind.bits = 64;
        size_t count = make_set((enum shape)(round % SHAPES), kind.bits, 1000, &random, set), most;
        for (size_t i = 1; i < count; i++) {
            if (round % 2 == 0 && next_random(&random) % 2 == 0) set[i] = set[i - 1];
        }
        model_width(&kind, set, count, &most);
        widths += check_puts(&kind, set, most);
        widths += check_puts(&kind, set, 1 + most / 2);
        widths += check_puts(&kind, set, 1);
    }
    assert_in_range(widths, 10000, 100000);
}

/* One fingerprint as often as can be: 1022 differences of up to 57 bits. */
static void test_all_equal(void **state) {
    (void)state;
    static uint64_t set[MOST_DELTA];
    struct block_kind kind = {IDXF_CODEC_DELTA, 64, 7292, {0}};
    for (size_t i = 0; i < COUNT_OF(set); i++) set[i] = UINT64_MAX;
    assert_int_equal(check_puts(&kind, set, COUNT_OF(set)), 57);
}

/* ---- Known blocks ---- */

static const uint64_t example[] = {UINT64_C(0x12) << 56, UINT64_C(0x15) << 56, UINT64_C(0x16) << 56,
                                   UINT64_C(0x96) << 56, UINT64_C(0x97) << 56};
static const struct block_kind example_kind = {IDXF_CODEC_DELTA, 8, 64, {0}};

/* SPEC.md, chapter 7: the example as the writer has it. High parts 3, 4, 132, 133: bits 83, 85, 214 and 216. */
static void test_example(void **state) {
    (void)state;
    static const uint8_t expected[64] = {5, 0, 0, 0, 0, 0, 0, 0, 0, 0x12, [10] = 0x28, [26] = 0x40, [27] = 0x01};
    uint8_t block[64];
    assert_int_equal(encode_block(&example_kind, example, COUNT_OF(example), block), COUNT_OF(example));
    assert_memory_equal(block, expected, sizeof block);
    check_decodes(&example_kind, expected, example, COUNT_OF(example));
}

/* And with low parts of six bits, byte for byte. */
static void test_example_of_width_6(void **state) {
    (void)state;
    static const uint8_t expected[64] = {5, 0x18, 0, 0, 0, 0, 0, 0, 0, 0x12, [10] = 0x33, [61] = 0x05, 0x41, 0x0C};
    uint8_t block[IDXF_MAX_BLOCK_SIZE] = {0};
    model_write_delta(&example_kind, example, COUNT_OF(example), 6, block);
    assert_memory_equal(block, expected, sizeof expected);
    check_decodes(&example_kind, expected, example, COUNT_OF(example));
}

static void test_one(void **state) {
    (void)state;
    static const uint8_t expected[64] = {1, 0, 0xF0, 0xDE, 0xBC, 0x9A, 0x78, 0x56, 0x34, 0x12};
    static const uint64_t one = UINT64_C(0x123456789ABCDEF0);
    struct block_kind kind = {IDXF_CODEC_DELTA, 60, 64, {0}};
    uint8_t block[64];
    assert_int_equal(encode_block(&kind, &one, 1, block), 1);
    assert_memory_equal(block, expected, sizeof block);
    check_decodes(&kind, expected, &one, 1);
}

/* A low part of 56 bits, at the last byte but one of a word's offsets: f = 64, differences 0xFEDCBA9876543210, of which
 * the high part is 0xFE = 254, and 2^64 - 1, of which it is 255: bits 80 + 254 and 80 + 255 + 1. */
static void test_widest_low_part(void **state) {
    (void)state;
    static const uint64_t set[] = {0, UINT64_C(0xFEDCBA9876543210), UINT64_MAX};
    static const uint8_t expected[64] = {3,    56 * 4, [41] = 0x40, [42] = 0x01, [50] = 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                                         0xFF, 0xFF,   0x10,        0x32,        0x54,        0x76, 0x98, 0xBA, 0xDC};
    struct block_kind kind = {IDXF_CODEC_DELTA, 64, 64, {0}};
    uint8_t block[64];
    assert_int_equal(encode_block(&kind, set, COUNT_OF(set), block), COUNT_OF(set));
    assert_memory_equal(block, expected, sizeof block);
    check_decodes(&kind, expected, set, COUNT_OF(set));
}

/* ---- The writer's choice ---- */

/* One apart: with width 0, each takes two bits, of 8 (size - 10); the count ends at 1023. */
static void test_neighbours(void **state) {
    (void)state;
    static const struct {
        uint32_t size;
        size_t fits;
    } cases[] = {{64, 217}, {128, 473}, {256, 985}, {512, 1023}, {1024, 1023}, {2048, 1023}, {4096, 1023}};
    static uint64_t set[1100];
    for (size_t i = 0; i < COUNT_OF(set); i++) set[i] = (uint64_t)(i + 3) << 48;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct block_kind kind = {IDXF_CODEC_DELTA, 16, cases[i].size, {0}};
        check_choice(&kind, set, COUNT_OF(set), cases[i].fits, 0);
        check_choice(&kind, set, cases[i].fits, cases[i].fits, 0);
        check_choice(&kind, set, cases[i].fits - 1, cases[i].fits - 1, 0);
        check_choice(&kind, set, 1, 1, 0);
    }
}

/* Steps of 2^20 in 432 bits: width 20 takes 22 a difference, 19 too, 18 takes 23, 21 takes 22 and a half. */
static void test_the_smallest_of_equal_widths(void **state) {
    (void)state;
    struct block_kind kind = {IDXF_CODEC_DELTA, 64, 64, {0}};
    uint64_t set[40];
    for (size_t i = 0; i < COUNT_OF(set); i++) set[i] = (uint64_t)i << 20;
    check_choice(&kind, set, COUNT_OF(set), 20, 19);
    check_choice(&kind, set, 20, 20, 19);
    check_choice(&kind, set, 19, 19, 18); /* 18 · 23 = 414 */
    check_choice(&kind, set, 2, 2, 12);   /* 13 + 2^8 bits fit, 12 + 2^9 don't */
}

/* Two as far apart as can be want the widest low parts. Five of which the last has a high part of 204 fill 64 bytes to
 * the last bit, 4 · 57 + 204 = 432; with 205, only four fit. */
static void test_the_widest(void **state) {
    (void)state;
    struct block_kind kind = {IDXF_CODEC_DELTA, 64, 64, {0}};
    uint64_t set[6] = {0, 0, 0, 0, 0, UINT64_MAX};
    check_choice(&kind, set + 4, 2, 2, 56);
    for (uint64_t i = 1; i < 5; i++) set[i] = i * (UINT64_MAX / 5);
    check_choice(&kind, set, COUNT_OF(set), 5, 56);
    set[4] += UINT64_C(1) << 56;
    check_choice(&kind, set, COUNT_OF(set), 4, 56);
}

/* The last high part stands at the last bit there is, or one further on, where it does not fit. */
static void test_what_fits_exactly(void **state) {
    (void)state;
    struct block_kind kind = {IDXF_CODEC_DELTA, 64, 64, {0}};
    const uint64_t fits[] = {0, 431}, too_far[] = {0, 432}, high_fits[] = {0, 430 * 2 + 1}, far[] = {0, 430 * 2 + 2};
    check_choice(&kind, fits, 2, 2, 0);
    check_choice(&kind, too_far, 2, 2, 1);
    check_choice(&kind, high_fits, 2, 2, 1);
    check_choice(&kind, far, 2, 2, 2);
}

/* A run of near ones, then far ones: taking these too would take a wider low part, with which fewer fit in all. */
static void test_a_jump_ends_a_block(void **state) {
    (void)state;
    struct block_kind kind = {IDXF_CODEC_DELTA, 64, 64, {0}};
    uint64_t set[150];
    for (size_t i = 0; i < COUNT_OF(set); i++) set[i] = i < 100 ? i : (i << 40);
    check_choice(&kind, set, COUNT_OF(set), 100, 0); /* 99 · (w + 1) ≤ 432 for w up to 3 alone */
}

static void test_writer_finds_the_best(void **state) {
    (void)state;
    static uint64_t set[MAX_SET];
    uint64_t random = 1;
    unsigned widths = 0, seen[WIDEST_LOW_PART + 1] = {0};
    for (unsigned round = 0; round < 64 * SHAPES; round++) {
        struct block_kind kind = {IDXF_CODEC_DELTA, 1 + round / SHAPES, 64u << next_random(&random) % 7, {0}};
        size_t count = make_set((enum shape)(round % SHAPES), kind.bits, 1200, &random, set);
        for (size_t done = 0; done < count;) {
            uint8_t block[IDXF_MAX_BLOCK_SIZE];
            encode_block(&kind, set + done, count - done, block);
            widths += seen[block[1] / 4]++ == 0;
            done += check_encodes(&kind, set + done, count - done);
        }
    }
    assert_in_range(widths, 50, 57);
}

/* ---- Every width ---- */

/* A writer may take any width with which they fit. */
static void test_every_width_that_fits(void **state) {
    (void)state;
    static uint64_t set[MAX_SET];
    uint64_t random = 2;
    unsigned tried[WIDEST_LOW_PART + 1] = {0};
    for (unsigned round = 0; round < 40 * SHAPES; round++) {
        struct block_kind kind = {IDXF_CODEC_DELTA, 1 + (unsigned)(next_random(&random) % 64), 64u << round % 7, {0}};
        size_t count = make_set((enum shape)(round % SHAPES), kind.bits, 3 + round * 3, &random, set);
        for (unsigned width = 0; width <= WIDEST_LOW_PART; width++) {
            uint8_t block[IDXF_MAX_BLOCK_SIZE] = {0};
            size_t fits = count < MOST_DELTA ? count : MOST_DELTA;
            while (!model_fits(&kind, set, fits, width)) fits--;
            model_write_delta(&kind, set, fits, width, block);
            check_decodes(&kind, block, set, fits);
            tried[width] += fits > 1;
        }
    }
    for (unsigned width = 0; width <= WIDEST_LOW_PART; width++) assert_in_range(tried[width], 20, 1000);
}

/* ---- Faults ---- */

/* Every value of the header's two bytes, before bits of several kinds. */
static void check_every_header(const struct block_kind *kind, const uint8_t *block) {
    uint8_t copy[IDXF_MAX_BLOCK_SIZE];
    memcpy(copy, block, sizeof copy);
    for (unsigned head = 0; head < 65536; head++) {
        unsigned count = head % 1024, width = head / 1024;
        copy[0] = (uint8_t)head;
        copy[1] = (uint8_t)(head / 256);
        decode_block(kind, copy, &decoded);
        if (count == 0)
            assert_fault(decoded.fault, IDXF_FAULT_COUNT);
        else if (width > 56 || (count - 1) * (width + 1) > get_room(kind))
            assert_fault(decoded.fault, IDXF_FAULT_OVERRUN);
        else if (count == 1)
            assert_fault(decoded.fault, IDXF_OK);
    }
}

static void test_every_header(void **state) {
    (void)state;
    struct block_kind kind = {IDXF_CODEC_DELTA, 64, 64, {0}};
    uint8_t block[IDXF_MAX_BLOCK_SIZE] = {0};
    uint64_t random = 3;
    check_every_header(&kind, block);
    memset(block, 0xFF, sizeof block);
    check_every_header(&kind, block);
    for (size_t i = 0; i < sizeof block; i++) block[i] = (uint8_t)next_random(&random);
    check_every_header(&kind, block);
    kind.block_size = 4096;
    memset(block, 0xAA, sizeof block);
    check_every_header(&kind, block);
}

/* 433 fingerprints of one bit each are all that 432 bits hold; of two bits each, 217. */
static void test_most_for_a_width(void **state) {
    (void)state;
    struct block_kind kind = {IDXF_CODEC_DELTA, 64, 64, {0}};
    for (unsigned width = 0; width < 64; width++) {
        uint8_t block[64];
        unsigned most = 432 / (width + 1) + 1;
        memset(block, 0xFF, sizeof block);
        set_header(block, most + 1024 * width, 0);
        check_fault(&kind, block, width > 56 ? IDXF_FAULT_OVERRUN : most == 1 ? IDXF_OK : IDXF_FAULT_ORDER);
        set_header(block, most + 1 + 1024 * width, 0);
        check_fault(&kind, block, IDXF_FAULT_OVERRUN);
    }
}

/* One fingerprint has no differences, but its header says a width all the same. */
static void test_width_of_one(void **state) {
    (void)state;
    struct block_kind kind = {IDXF_CODEC_DELTA, 64, 64, {0}};
    for (unsigned width = 0; width < 64; width++) {
        uint8_t block[64] = {0};
        set_header(block, 1 + 1024 * width, 5);
        check_fault(&kind, block, width > 56 ? IDXF_FAULT_OVERRUN : IDXF_OK);
    }
}

/* Without any one of its high parts' bits, a block has too few; with one more before the last, it has padding. */
static void test_each_high_part(void **state) {
    (void)state;
    for (unsigned width = 0; width <= 6; width++) {
        uint8_t block[IDXF_MAX_BLOCK_SIZE] = {0};
        size_t ones = 0, end = 512 - 4 * width;
        model_write_delta(&example_kind, example, COUNT_OF(example), width, block);
        for (size_t bit = 80; bit < end; bit++) {
            bool is_one = get_bit(block, bit) == 1;
            ones += is_one;
            flip_bit(block, bit);
            decode_block(&example_kind, block, &decoded);
            if (is_one) assert_fault(decoded.fault, IDXF_FAULT_OVERRUN);
            if (!is_one && ones == 4) assert_fault(decoded.padding, IDXF_FAULT_PADDING);
            if (decoded.fault == IDXF_OK) assert_fault(decoded.padding, IDXF_FAULT_PADDING);
            flip_bit(block, bit);
        }
        assert_int_equal(ones, 4);
        check_decodes(&example_kind, block, example, COUNT_OF(example));
    }
}

/* Bits of low parts are no high parts: the last high part stands right before them, or among them, for each width and
 * count, so that there is one in each place of a group of eight. */
static void test_high_parts_among_low_parts(void **state) {
    (void)state;
    struct block_kind kind = {IDXF_CODEC_DELTA, 64, 128, {0}};
    for (unsigned width = 1; width <= 20; width++) {
        for (unsigned count = 2; count <= 34; count++) {
            uint8_t block[IDXF_MAX_BLOCK_SIZE] = {0};
            size_t end = 1024 - (count - 1) * width;
            set_header(block, count + 1024 * width, 0);
            for (size_t bit = end; bit < 1024; bit++) flip_bit(block, bit);
            for (unsigned i = 0; i + 2 < count; i++) flip_bit(block, 80 + 2 * i);
            check_fault(&kind, block, IDXF_FAULT_OVERRUN);
            flip_bit(block, end - 1);
            check_fault(&kind, block, IDXF_OK);
        }
    }
}

/* Equal differences, or smaller ones, and none at all after x0. */
static void test_order(void **state) {
    (void)state;
    struct block_kind kind = {IDXF_CODEC_DELTA, 64, 64, {0}};
    uint8_t block[64] = {0};
    set_header(block, 2, 7); /* difference 0 */
    flip_bit(block, 80);
    check_fault(&kind, block, IDXF_FAULT_ORDER);
    for (unsigned second = 0; second < 16; second++) {
        memset(block, 0, sizeof block);
        set_header(block, 3 + 1024 * 4, 7);
        flip_bit(block, 80 + 1);
        flip_bit(block, 80 + 2);
        put_number(&kind, block, 512 - 4, 9, 4);
        put_number(&kind, block, 512 - 8, second, 4);
        check_fault(&kind, block, second > 9 ? IDXF_OK : IDXF_FAULT_ORDER);
    }
}

/* Two differences, high part and low part each. */
static void check_two(unsigned bits, uint64_t first, unsigned width, const uint64_t parts[4], enum idxf_fault fault) {
    struct block_kind kind = {IDXF_CODEC_DELTA, bits, 4096, {0}};
    uint8_t block[IDXF_MAX_BLOCK_SIZE] = {0};
    set_header(block, 3 + 1024 * width, first << (64 - bits));
    for (unsigned i = 0; i < 2; i++) {
        put_bit(&kind, block, 80 + (size_t)parts[2 * i] + i, 1);
        put_number(&kind, block, 4096 * 8 - (i + 1) * width, parts[2 * i + 1], width);
    }
    check_fault(&kind, block, fault);
}

/* A fingerprint of 2^64 and more breaks the order, also where, modulo 2^64, it would ascend again. */
static void test_sums_that_wrap(void **state) {
    (void)state;
    static const struct {
        unsigned bits;
        uint64_t first;
        unsigned width;
        uint64_t parts[4];
        enum idxf_fault fault;
    } cases[] = {
        {8, 0xF0, 0, {1, 0, 15, 0}, IDXF_OK},
        {8, 0xF0, 0, {1, 0, 16, 0}, IDXF_FAULT_ORDER},
        {8, 0xF0, 0, {1, 0, 256 + 2, 0}, IDXF_FAULT_ORDER},
        {8, 0, 0, {1, 0, 255, 0}, IDXF_OK},
        {8, 0, 0, {1, 0, 256, 0}, IDXF_FAULT_ORDER},
        {8, 0, 0, {1, 0, 256 + 2, 0}, IDXF_FAULT_ORDER},
        {8, 0, 0, {256 + 1, 0, 256 + 2, 0}, IDXF_FAULT_ORDER},
        {8, 0, 0, {256 + 1, 0, 2 * 256 + 2, 0}, IDXF_FAULT_ORDER},
        {8, 0, 12, {0, 1, 0, 256 + 2}, IDXF_FAULT_ORDER},
        {8, 0, 12, {0, 256 + 1, 0, 2}, IDXF_FAULT_ORDER},
        {8, 0, 56, {0, 1, 0, UINT64_C(1) << 55 | 2}, IDXF_FAULT_ORDER},
        {8, 0, 56, {0, UINT64_C(1) << 55 | 1, 0, 2}, IDXF_FAULT_ORDER},
        {1, 0, 0, {1, 0, 3, 0}, IDXF_FAULT_ORDER},
        {64, 0, 56, {0, 1, 255, 2}, IDXF_OK},
        {64, 0, 56, {0, 1, 256, 2}, IDXF_FAULT_ORDER},
        {64, 0, 56, {256, 1, 256, 2}, IDXF_FAULT_ORDER},
        {64, 0, 56, {0, 1, 1024, 2}, IDXF_FAULT_ORDER},
        {64, 0, 50, {0, 1, (1 << 14) - 1, 2}, IDXF_OK},
        {64, 0, 50, {0, 1, 1 << 14, 2}, IDXF_FAULT_ORDER},
        {64, UINT64_MAX - 2, 0, {1, 0, 2, 0}, IDXF_OK},
        {64, UINT64_MAX - 2, 0, {1, 0, 3, 0}, IDXF_FAULT_ORDER},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        check_two(cases[i].bits, cases[i].first, cases[i].width, cases[i].parts, cases[i].fault);
}

/* ---- Padding ---- */

/* Each bit between the last high part and the last low part. */
static void test_padding(void **state) {
    (void)state;
    static const size_t begins[] = {217, 86}, ends[] = {512, 488};
    for (unsigned i = 0; i < 2; i++) {
        uint8_t block[IDXF_MAX_BLOCK_SIZE] = {0};
        model_write_delta(&example_kind, example, COUNT_OF(example), i * 6, block);
        for (size_t bit = begins[i]; bit < ends[i]; bit++) {
            flip_bit(block, bit);
            decode_block(&example_kind, block, &decoded);
            assert_fault(decoded.fault, IDXF_OK);
            assert_fault(decoded.padding, IDXF_FAULT_PADDING);
            flip_bit(block, bit);
        }
        check_decodes(&example_kind, block, example, COUNT_OF(example));
    }
}

/* A block full to the last bit: 18 · 23 + 18 = 432. */
static void test_a_full_block_has_no_padding(void **state) {
    (void)state;
    struct block_kind kind = {IDXF_CODEC_DELTA, 64, 64, {0}};
    uint8_t block[IDXF_MAX_BLOCK_SIZE] = {0};
    uint64_t set[19] = {0};
    for (size_t i = 1; i < COUNT_OF(set); i++) set[i] = i << 22 | idxf_low_bits(22);
    model_write_delta(&kind, set, COUNT_OF(set), 22, block);
    assert_int_equal(get_bit(block, 80 + 18 + 17), 1);
    assert_int_equal(80 + 18 + 17 + 1, 512 - 18 * 22);
    check_decodes(&kind, block, set, COUNT_OF(set));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_size),
        cmocka_unit_test(test_all_equal),
        cmocka_unit_test(test_example),
        cmocka_unit_test(test_example_of_width_6),
        cmocka_unit_test(test_one),
        cmocka_unit_test(test_widest_low_part),
        cmocka_unit_test(test_neighbours),
        cmocka_unit_test(test_the_smallest_of_equal_widths),
        cmocka_unit_test(test_the_widest),
        cmocka_unit_test(test_what_fits_exactly),
        cmocka_unit_test(test_a_jump_ends_a_block),
        cmocka_unit_test(test_writer_finds_the_best),
        cmocka_unit_test(test_every_width_that_fits),
        cmocka_unit_test(test_every_header),
        cmocka_unit_test(test_most_for_a_width),
        cmocka_unit_test(test_width_of_one),
        cmocka_unit_test(test_each_high_part),
        cmocka_unit_test(test_high_parts_among_low_parts),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_sums_that_wrap),
        cmocka_unit_test(test_padding),
        cmocka_unit_test(test_a_full_block_has_no_padding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
