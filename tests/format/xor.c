/* xor.c: tests of the xor codec: blocks known bit by bit, how many fit, long tails, any code, and what is wrong with
 * codes and tails. */
#include "format/block.h"

#include "tests/format/blocks.h"
#include "tests/format/sets.h"

static struct decoded decoded;

/* Decodes blocks of 0 bits but for the header. */
static void check_zeros(const struct block_kind *kind, unsigned count, enum idxf_fault fault) {
    uint8_t block[IDXF_MAX_BLOCK_SIZE] = {0};
    set_header(block, count, 0);
    decode_block(kind, block, &decoded);
    assert_fault(decoded.fault, fault);
    if (fault == IDXF_OK) assert_int_equal(decoded.count, count);
}

/* ---- Known blocks ---- */

static const uint64_t example[] = {UINT64_C(0x12) << 56, UINT64_C(0x15) << 56, UINT64_C(0x16) << 56,
                                   UINT64_C(0x96) << 56, UINT64_C(0x97) << 56};
static const struct block_kind example_kind = {IDXF_CODEC_XOR, 8, 64, {2, 0, 0, 0, 0, 2, 2, 2}};

/* SPEC.md, chapter 7: the example, byte for byte. */
static void test_example(void **state) {
    (void)state;
    static const uint8_t expected[64] = {5, 0, 0, 0, 0, 0, 0, 0, 0, 0x12, [10] = 0x5E, [11] = 0x00, [12] = 0x03};
    struct block_kind kind = {IDXF_CODEC_XOR, 8, 64, {0}};
    uint8_t block[64];
    make_code(&kind, example, COUNT_OF(example));
    assert_memory_equal(kind.lengths, example_kind.lengths, sizeof kind.lengths);
    assert_int_equal(encode_block(&kind, example, COUNT_OF(example), block), COUNT_OF(example));
    assert_memory_equal(block, expected, sizeof block);
    check_decodes(&kind, expected, example, COUNT_OF(example));
}

/* `11011011` and `11011001` differ at position 6, counted from 0 at the most significant bit. */
static void test_position(void **state) {
    (void)state;
    assert_int_equal(idxf_position(UINT64_C(0xD9) << 56, UINT64_C(0xDB) << 56), 6);
    assert_int_equal(idxf_position(0, 1), 63);
    assert_int_equal(idxf_position(0, UINT64_MAX), 0);
    assert_int_equal(idxf_position(UINT64_C(0x7FFFFFFFFFFFFFFF), UINT64_C(0x8000000000000000)), 0);
}

/* ---- How many fit ---- */

/* Codes with which the differences of a counter up to 127 take eight bits each, and one that changes bit 7 takes nine.
 */
static const uint8_t eight_bits[IDXF_SYMBOLS] = {
    [63] = 8, [62] = 7, [61] = 6, [60] = 5, [59] = 4, [58] = 3, [57] = 2, [56] = 2, [55] = 2, [54] = 8};

static void test_what_fits_exactly(void **state) {
    (void)state;
    for (uint32_t size = 64; size <= 128; size *= 2) {
        struct block_kind kind = {IDXF_CODEC_XOR, 64, size, {0}};
        uint64_t set[128];
        size_t full = size - 10 + 1;
        memcpy(kind.lengths, eight_bits, sizeof eight_bits);
        for (size_t i = 0; i < COUNT_OF(set); i++) set[i] = i;
        assert_int_equal(check_encodes(&kind, set, COUNT_OF(set)), full);
        assert_int_equal(check_encodes(&kind, set, full), full);
        assert_int_equal(check_encodes(&kind, set, full - 1), full - 1);
        set[full - 1] = 128;
        assert_int_equal(check_encodes(&kind, set, full), full - 1);
    }
}

/* ---- Long tails and any codes ---- */

/* Tails of 58 to 63 bits don't lie within 8 bytes where they begin within one: at every offset. */
static void check_long_tail(unsigned tail, unsigned before, uint64_t bits_of_tail) {
    uint64_t set[20] = {0};
    size_t count = before + 2;
    for (size_t i = 1; i < count - 1; i++) set[i] = set[i - 1] + 2;
    set[count - 1] = set[count - 2] ^ (UINT64_C(1) << tail | (bits_of_tail & idxf_low_bits(tail)));
    struct block_kind kind = {IDXF_CODEC_XOR, 64, 128, {0}};
    make_code(&kind, set, count);
    assert_int_equal(check_encodes(&kind, set, count), count);
}

static void test_long_tails(void **state) {
    (void)state;
    uint64_t random = 4;
    for (unsigned tail = 58; tail <= 63; tail++) {
        for (unsigned before = 0; before < 17; before++) {
            check_long_tail(tail, before, 0);
            check_long_tail(tail, before, UINT64_MAX);
            for (int round = 0; round < 8; round++) check_long_tail(tail, before, next_random(&random));
        }
    }
}

/* A complete code for all positions, made by splitting codes at random: some of them, or with `deep` many, of 11 bits.
 */
static void make_random_code(struct block_kind *kind, bool deep, uint64_t *random) {
    unsigned made = 1;
    memset(kind->lengths, 0, sizeof kind->lengths);
    if (kind->bits == 1) kind->lengths[0] = 1;
    while (made < kind->bits) {
        unsigned split = deep ? made - 1 : (unsigned)(next_random(random) % made);
        while (kind->lengths[split] == IDXF_MAX_CODE_LENGTH) split = (unsigned)(next_random(random) % made);
        kind->lengths[made++] = ++kind->lengths[split];
    }
    for (unsigned i = kind->bits; i > 1; i--) { /* shuffled */
        unsigned other = (unsigned)(next_random(random) % i);
        uint8_t length = kind->lengths[i - 1];
        kind->lengths[i - 1] = kind->lengths[other];
        kind->lengths[other] = length;
    }
    assert_fault(idxf_code_check(kind->lengths, kind->bits), IDXF_OK);
}

/* Valid codes that don't fit the fingerprints: long ones are frequent. */
static void test_any_code(void **state) {
    (void)state;
    static const unsigned widths[] = {1, 2, 12, 13, 32, 64};
    static uint64_t set[MAX_SET];
    uint64_t random = 6;
    for (unsigned round = 0; round < 40 * SHAPES; round++) {
        struct block_kind kind = {IDXF_CODEC_XOR, widths[round / SHAPES % COUNT_OF(widths)], 512, {0}};
        size_t count = make_set((enum shape)(round % SHAPES), kind.bits, MAX_SET, &random, set);
        make_random_code(&kind, next_random(&random) % 2, &random);
        for (size_t done = 0; done < count;) done += check_encodes(&kind, set + done, count - done);
    }
}

/* ---- Codes that are not assigned ---- */

/* Where one position alone has a code, the bit 1 is none: in place of any code, at the borders of chunks too. Blocks
 * are decoded whole before their order is looked at, so that this fault comes before that of the 0 bits behind. */
static void test_code_not_assigned(void **state) {
    (void)state;
    static const size_t places[] = {0, 1, 61, 62, 63, 64, 126, 127, 128, 198};
    enum { COUNT = 200, TAIL = 3 };
    struct block_kind kind = {IDXF_CODEC_XOR, 32, 128, {[31 - TAIL] = 1}};
    check_zeros(&kind, COUNT, IDXF_FAULT_ORDER);
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        uint8_t block[128] = {0};
        set_header(block, COUNT, 0);
        flip_bit(block, 80 + places[i] * (1 + TAIL));
        decode_block(&kind, block, &decoded);
        assert_fault(decoded.fault, IDXF_FAULT_CODE);
        assert_int_equal(decoded.count, places[i] + 1);
    }
}

static void test_no_code_at_all(void **state) {
    (void)state;
    for (uint32_t size = 64; size <= 4096; size *= 2) {
        struct block_kind kind = {IDXF_CODEC_XOR, 64, size, {0}};
        check_zeros(&kind, 1, IDXF_OK);
        check_zeros(&kind, 2, IDXF_FAULT_CODE);
        check_zeros(&kind, 65, IDXF_FAULT_CODE);
        check_zeros(&kind, (size - 10) * 8 + 1, IDXF_FAULT_CODE);
    }
}

/* ---- Codes and tails that don't fit ---- */

/* Differences of 8 bits each fill a block to its last bit; one more is too many. */
static void test_one_difference_too_many(void **state) {
    (void)state;
    for (uint32_t size = 64; size <= 4096; size *= 2) {
        struct block_kind kind = {IDXF_CODEC_XOR, 64, size, {[56] = 1}};
        unsigned full = size - 10 + 1;
        check_zeros(&kind, full, IDXF_FAULT_ORDER);
        check_zeros(&kind, full + 1, IDXF_FAULT_OVERRUN);
        check_zeros(&kind, full + 64, IDXF_FAULT_OVERRUN);
        check_zeros(&kind, (size - 10) * 8 + 1, IDXF_FAULT_OVERRUN);
    }
}

/* As many as there can be: each but the first in one bit. */
static void test_most(void **state) {
    (void)state;
    for (uint32_t size = 64; size <= 4096; size *= 2) {
        struct block_kind kind = {IDXF_CODEC_XOR, 64, size, {[63] = 1}};
        unsigned most = (size - 10) * 8 + 1;
        check_zeros(&kind, most, IDXF_FAULT_ORDER);
        assert_int_equal(decoded.count, most);
        check_zeros(&kind, most + 1, IDXF_FAULT_COUNT);
    }
}

/* 118 bytes have 944 bits: 104 differences of 9 bits, and one more lacks a single bit. */
static void test_one_bit_too_many(void **state) {
    (void)state;
    struct block_kind kind = {IDXF_CODEC_XOR, 64, 128, {[56] = 2, [57] = 2, [58] = 2, [59] = 2}};
    check_zeros(&kind, 105, IDXF_FAULT_ORDER);
    check_zeros(&kind, 106, IDXF_FAULT_OVERRUN);
}

/* Codes alone may go beyond the end as well: the last ones of 11 bits begin in it. */
static void test_codes_beyond_the_end(void **state) {
    (void)state;
    struct block_kind kind = {IDXF_CODEC_XOR, 64, 128, {0}};
    uint8_t block[128];
    for (unsigned j = 0; j < 11; j++) kind.lengths[63 - j] = (uint8_t)(11 - j);
    kind.lengths[52] = 11; /* the last code of its length is that of position 63, without tail: all its bits are 1 */
    memset(block, 0xFF, sizeof block);
    for (unsigned count = 2; count <= 945; count++) {
        enum idxf_fault fits = count == 2 ? IDXF_OK : IDXF_FAULT_ORDER;
        set_header(block, count, 0);
        decode_block(&kind, block, &decoded);
        assert_fault(decoded.fault, (count - 1) * 11 <= 944 ? fits : IDXF_FAULT_OVERRUN);
    }
}

/* Codes of one bit, tails of 63. */
static void test_long_tails_beyond_the_end(void **state) {
    (void)state;
    struct block_kind kind = {IDXF_CODEC_XOR, 64, 128, {[0] = 1, [63] = 1}};
    check_zeros(&kind, 2, IDXF_OK);
    for (unsigned count = 3; count <= 945; count++)
        check_zeros(&kind, count, (count - 1) * 64 <= 944 ? IDXF_FAULT_ORDER : IDXF_FAULT_OVERRUN);
}

/* ---- Padding ---- */

static void test_padding(void **state) {
    (void)state;
    uint8_t block[64];
    encode_block(&example_kind, example, COUNT_OF(example), block);
    for (size_t bit = 98; bit < 512; bit++) {
        flip_bit(block, bit);
        decode_block(&example_kind, block, &decoded);
        assert_fault(decoded.fault, IDXF_OK);
        assert_fault(decoded.padding, IDXF_FAULT_PADDING);
        flip_bit(block, bit);
    }
    check_decodes(&example_kind, block, example, COUNT_OF(example));
}

/* The last bit belongs to a tail, or is the only padding. */
static void test_padding_of_one_bit_or_none(void **state) {
    (void)state;
    struct block_kind kind = {IDXF_CODEC_XOR, 64, 64, {0}};
    uint64_t set[64];
    uint8_t block[64];
    memcpy(kind.lengths, eight_bits, sizeof eight_bits);
    for (size_t i = 0; i < COUNT_OF(set); i++) set[i] = i < 40 ? 88 + i : 128 + i - 40;
    assert_int_equal(encode_block(&kind, set, COUNT_OF(set), block), 54); /* 52 · 8 + 9 bits, and 7 are left */
    for (size_t bit = 505; bit < 512; bit++) {
        flip_bit(block, bit);
        decode_block(&kind, block, &decoded);
        assert_fault(decoded.padding, IDXF_FAULT_PADDING);
        flip_bit(block, bit);
    }
    flip_bit(block, 504);
    decode_block(&kind, block, &decoded);
    assert_fault(decoded.padding, IDXF_OK);
    for (size_t i = 0; i < COUNT_OF(set); i++) set[i] = i;
    assert_int_equal(encode_block(&kind, set, COUNT_OF(set), block), 55);
    check_decodes(&kind, block, set, 55);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_example),
        cmocka_unit_test(test_position),
        cmocka_unit_test(test_what_fits_exactly),
        cmocka_unit_test(test_long_tails),
        cmocka_unit_test(test_any_code),
        cmocka_unit_test(test_code_not_assigned),
        cmocka_unit_test(test_no_code_at_all),
        cmocka_unit_test(test_one_difference_too_many),
        cmocka_unit_test(test_most),
        cmocka_unit_test(test_one_bit_too_many),
        cmocka_unit_test(test_codes_beyond_the_end),
        cmocka_unit_test(test_long_tails_beyond_the_end),
        cmocka_unit_test(test_padding),
        cmocka_unit_test(test_padding_of_one_bit_or_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
