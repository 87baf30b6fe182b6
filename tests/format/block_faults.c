/* block_faults.c: tests of blocks that break a rule of SPEC.md, chapter 7, each with the fault that must come back. */
#include "format/bytes.h"
#include "tests/format/blocks.h"

static struct decoded decoded;

static const enum idxf_codec codecs[] = {IDXF_CODEC_XOR, IDXF_CODEC_DELTA};

static void set_header(uint8_t *block, size_t count, uint64_t first) {
    block[0] = (uint8_t)(count % 256);
    block[1] = (uint8_t)(count / 256);
    idxf_store64(block + 2, first);
}

static void flip_bit(uint8_t *block, size_t bit) { block[bit / 8] ^= (uint8_t)(1u << bit % 8); }

/* Decodes blocks of 0 bits but for the header. */
static void check_zeros(const struct block_kind *kind, size_t count, enum idxf_fault fault) {
    uint8_t block[IDXF_MAX_BLOCK_SIZE] = {0};
    set_header(block, count, 0);
    decode_block(kind, block, &decoded);
    assert_fault(decoded.fault, fault);
    if (fault == IDXF_OK) assert_int_equal(decoded.count, count);
}

/* ---- The header ---- */

static void check_begin(const struct block_kind *kind, size_t count, uint64_t first, enum idxf_fault fault) {
    static struct idxf_decoder decoder;
    struct idxf_block_cursor cursor;
    uint64_t chunk[IDXF_CHUNK];
    uint8_t block[IDXF_MAX_BLOCK_SIZE] = {0};
    set_header(block, count, first);
    idxf_decoder_init(&decoder, kind->codec, kind->bits, kind->block_size, kind->lengths);
    assert_int_equal(idxf_block_begin(&cursor, &decoder, block), fault == IDXF_OK ? count : 0);
    assert_fault(cursor.fault, fault);
    if (fault == IDXF_OK) return;
    assert_int_equal(idxf_block_next(&cursor, chunk), 0);
    assert_fault(cursor.fault, fault);
}

static void test_count_out_of_range(void **state) {
    (void)state;
    for (uint32_t size = 128; size <= 4096; size *= 2) {
        for (size_t i = 0; i < COUNT_OF(codecs); i++) {
            struct block_kind kind = {codecs[i], 64, size, {[63] = 1}};
            size_t most = (size - 10) * 8 + 1;
            check_begin(&kind, 0, 7, IDXF_FAULT_COUNT);
            check_begin(&kind, 1, 7, IDXF_OK);
            check_begin(&kind, most, 7, IDXF_OK);
            check_begin(&kind, most + 1, 7, IDXF_FAULT_COUNT);
            check_begin(&kind, 65535, 7, IDXF_FAULT_COUNT);
            check_zeros(&kind, most, IDXF_OK);
        }
    }
}

static void test_bits_below_the_fingerprint(void **state) {
    (void)state;
    for (unsigned bits = 1; bits <= 64; bits++) {
        for (unsigned bit = 0; bit < 64; bit++) {
            struct block_kind kind = {IDXF_CODEC_DELTA, bits, 128, {1}};
            check_begin(&kind, 1, UINT64_C(1) << bit, bit < 64 - bits ? IDXF_FAULT_BITS : IDXF_OK);
        }
    }
}

static void test_count_comes_before_bits(void **state) {
    (void)state;
    struct block_kind kind = {IDXF_CODEC_DELTA, 8, 128, {1}};
    check_begin(&kind, 0, 1, IDXF_FAULT_COUNT);
    check_begin(&kind, 946, 1, IDXF_FAULT_COUNT);
    check_begin(&kind, 945, 1, IDXF_FAULT_BITS);
}

/* ---- Codes ---- */

/* Where one position alone has a code, the bit 1 is none: in place of any code, at the borders of chunks too. */
static void test_code_not_assigned(void **state) {
    (void)state;
    static const size_t places[] = {0, 1, 61, 62, 63, 64, 126, 127, 128, 198};
    enum { COUNT = 200, TAIL = 3 };
    for (size_t i = 0; i < COUNT_OF(codecs); i++) {
        struct block_kind kind = {codecs[i], 32, 128, {0}};
        kind.lengths[31 - TAIL] = 1;
        check_zeros(&kind, COUNT, IDXF_OK);
        for (size_t j = 0; j < COUNT_OF(places); j++) {
            uint8_t block[128] = {0};
            set_header(block, COUNT, 0);
            flip_bit(block, 80 + places[j] * (kind.codec == IDXF_CODEC_XOR ? 1 + TAIL : 1));
            decode_block(&kind, block, &decoded);
            assert_fault(decoded.fault, IDXF_FAULT_CODE);
            assert_in_range(decoded.count, 0, places[j] + 1);
        }
    }
}

static void test_no_code_at_all(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(codecs); i++) {
        for (uint32_t size = 128; size <= 4096; size *= 2) {
            struct block_kind kind = {codecs[i], 64, size, {0}};
            check_zeros(&kind, 1, IDXF_OK);
            check_zeros(&kind, 2, IDXF_FAULT_CODE);
            check_zeros(&kind, 65, IDXF_FAULT_CODE);
            check_zeros(&kind, (size - 10) * 8 + 1, IDXF_FAULT_CODE);
        }
    }
}

/* ---- Codes and tails that don't fit ---- */

/* Differences of 8 bits each fill a block to its last bit; one more is too many. */
static void test_one_difference_too_many(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(codecs); i++) {
        for (uint32_t size = 128; size <= 4096; size *= 2) {
            struct block_kind kind = {codecs[i], 64, size, {[56] = 1}};
            size_t full = size - 10 + 1;
            check_zeros(&kind, full, IDXF_OK);
            check_zeros(&kind, full + 1, IDXF_FAULT_OVERRUN);
            check_zeros(&kind, full + 64, IDXF_FAULT_OVERRUN);
            check_zeros(&kind, (size - 10) * 8 + 1, IDXF_FAULT_OVERRUN);
        }
    }
}

/* 118 bytes have 944 bits: 104 differences of 9 bits, and one more lacks a single bit. */
static void test_one_bit_too_many(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(codecs); i++) {
        struct block_kind kind = {codecs[i], 64, 128, {[56] = 2, [57] = 2, [58] = 2, [59] = 2}};
        check_zeros(&kind, 105, IDXF_OK);
        check_zeros(&kind, 106, IDXF_FAULT_OVERRUN);
    }
}

/* Tails whose bits are no codes: after 118 differences of 8 bits codes and tails meet, at bit 198. Beyond that bit,
 * codes run into tails, and either fault is right. */
static void test_codes_that_run_into_tails(void **state) {
    (void)state;
    struct block_kind kind = {IDXF_CODEC_DELTA, 64, 128, {[56] = 1}};
    for (size_t bit = 190; bit <= 210; bit++) {
        uint8_t block[128] = {0};
        set_header(block, 130, 0);
        for (size_t i = bit; i < 1024; i++) flip_bit(block, i);
        decode_block(&kind, block, &decoded);
        if (bit < 198 || decoded.fault != IDXF_FAULT_OVERRUN) assert_fault(decoded.fault, IDXF_FAULT_CODE);
    }
}

/* Codes alone may go beyond the end as well: the last ones of 11 bits begin in it. */
static void test_codes_beyond_the_end(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(codecs); i++) {
        struct block_kind kind = {codecs[i], 64, 128, {0}};
        uint8_t block[128];
        for (unsigned j = 0; j < 11; j++) kind.lengths[63 - j] = (uint8_t)(11 - j);
        kind.lengths[52] =
            11; /* the last code of its length is that of position 63, without tail: all its bits are 1 */
        memset(block, 0xFF, sizeof block);
        for (size_t count = 2; count <= 945; count++) {
            set_header(block, count, 0);
            decode_block(&kind, block, &decoded);
            assert_fault(decoded.fault, (count - 1) * 11 <= 944 ? IDXF_OK : IDXF_FAULT_OVERRUN);
        }
    }
}

/* Codes of one bit, tails of 63. */
static void test_long_tails_beyond_the_end(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(codecs); i++) {
        struct block_kind kind = {codecs[i], 64, 128, {[0] = 1, [63] = 1}};
        uint8_t block[128];
        memset(block, 0, sizeof block);
        for (size_t count = 2; count <= 945; count++) {
            set_header(block, count, 0);
            decode_block(&kind, block, &decoded);
            assert_fault(decoded.fault, (count - 1) * 64 <= 944 ? IDXF_OK : IDXF_FAULT_OVERRUN);
        }
    }
}

/* ---- Padding ---- */

/* Each bit between codes and tails. */
static void test_padding(void **state) {
    (void)state;
    static const uint64_t example[] = {UINT64_C(0x12) << 56, UINT64_C(0x15) << 56, UINT64_C(0x16) << 56,
                                       UINT64_C(0x96) << 56, UINT64_C(0x97) << 56};
    static const size_t begins[] = {98, 86}, ends[] = {1024, 1016};
    for (size_t i = 0; i < COUNT_OF(codecs); i++) {
        struct block_kind kind = {codecs[i], 8, 128, {0}};
        uint8_t block[128];
        make_code(&kind, example, COUNT_OF(example));
        encode_block(&kind, example, COUNT_OF(example), block);
        for (size_t bit = begins[i]; bit < ends[i]; bit++) {
            flip_bit(block, bit);
            decode_block(&kind, block, &decoded);
            assert_fault(decoded.fault, IDXF_OK);
            assert_fault(decoded.padding, IDXF_FAULT_PADDING);
            flip_bit(block, bit);
        }
        check_decodes(&kind, block, example, COUNT_OF(example));
    }
}

static void test_a_full_block_has_no_padding(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(codecs); i++) {
        struct block_kind kind = {codecs[i], 64, 128, {[56] = 1}};
        uint8_t block[128] = {0};
        set_header(block, 119, 0);
        decode_block(&kind, block, &decoded);
        assert_fault(decoded.fault, IDXF_OK);
        assert_fault(decoded.padding, IDXF_OK);
        flip_bit(block, 1023); /* belongs to a tail */
        decode_block(&kind, block, &decoded);
        assert_fault(decoded.fault, IDXF_OK);
        assert_fault(decoded.padding, IDXF_OK);
    }
}

/* ---- Any bytes ---- */

static size_t make_ascending(unsigned bits, size_t count, uint64_t *random, uint64_t *set) {
    uint64_t x = 0;
    size_t made = 0;
    for (; made < count && x <= idxf_low_bits(bits); x += 1 + (next_random(random) >> next_random(random) % 10) % 4000)
        set[made++] = x << (64 - bits);
    return made;
}

/* Each bit of a block counts: turned, it is a fault, or gives other fingerprints. */
static void test_no_flipped_bit_goes_unseen(void **state) {
    (void)state;
    uint64_t random = 1, set[80];
    for (unsigned round = 0; round < 20; round++) {
        struct block_kind kind = {codecs[round % 2], 20 + 2 * round, 128, {0}};
        uint8_t block[128];
        size_t count = make_ascending(kind.bits, COUNT_OF(set), &random, set);
        make_code(&kind, set, count);
        count = encode_block(&kind, set, count, block);
        for (size_t bit = 0; bit < sizeof block * 8; bit++) {
            flip_bit(block, bit);
            decode_block(&kind, block, &decoded);
            if (decoded.fault == IDXF_OK && decoded.padding == IDXF_OK && decoded.count == count)
                assert_memory_not_equal(decoded.fingerprints, set, count * sizeof *set);
            flip_bit(block, bit);
        }
        check_decodes(&kind, block, set, count);
    }
}

/* Whatever the bytes are, all ways to decode agree, and none reads beyond them. */
static void test_any_bytes(void **state) {
    (void)state;
    uint64_t random = 2;
    unsigned seen[IDXF_FAULT_COUNT_OF_FAULTS] = {0};
    for (unsigned round = 0; round < 4000; round++) {
        struct block_kind kind = {codecs[round % 2], 64 - (unsigned)(next_random(&random) % 3), 128, {0}};
        uint64_t counts[IDXF_SYMBOLS] = {0};
        uint8_t block[128];
        unsigned symbols = (unsigned)(next_random(&random) % kind.bits);
        for (unsigned i = 0; i <= symbols; i++)
            counts[next_random(&random) % kind.bits] = 1 + next_random(&random) % 999;
        if (round % 16 == 0) memset(counts, 0, sizeof counts);
        idxf_code_lengths(counts, kind.lengths);
        for (size_t i = 0; i < sizeof block; i++) block[i] = (uint8_t)next_random(&random);
        set_header(block, 1 + next_random(&random) % 80, idxf_load64(block + 2) & ~idxf_low_bits(64 - kind.bits));
        decode_block(&kind, block, &decoded);
        seen[decoded.fault]++;
    }
    assert_in_range(seen[IDXF_OK], 100, 3800);
    assert_in_range(seen[IDXF_FAULT_CODE], 100, 3800);
    assert_in_range(seen[IDXF_FAULT_OVERRUN], 100, 3800);
    assert_int_equal(seen[IDXF_OK] + seen[IDXF_FAULT_CODE] + seen[IDXF_FAULT_OVERRUN], 4000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_count_out_of_range),
        cmocka_unit_test(test_bits_below_the_fingerprint),
        cmocka_unit_test(test_count_comes_before_bits),
        cmocka_unit_test(test_code_not_assigned),
        cmocka_unit_test(test_no_code_at_all),
        cmocka_unit_test(test_one_difference_too_many),
        cmocka_unit_test(test_one_bit_too_many),
        cmocka_unit_test(test_codes_that_run_into_tails),
        cmocka_unit_test(test_codes_beyond_the_end),
        cmocka_unit_test(test_long_tails_beyond_the_end),
        cmocka_unit_test(test_padding),
        cmocka_unit_test(test_a_full_block_has_no_padding),
        cmocka_unit_test(test_no_flipped_bit_goes_unseen),
        cmocka_unit_test(test_any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
