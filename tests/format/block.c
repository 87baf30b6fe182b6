/* block.c: tests of blocks that are right: what is encoded is what SPEC.md says, bit by bit, and decodes again. */
#include "format/block.h"

#include "format/bytes.h"
#include "tests/format/blocks.h"

/* ---- Sets of fingerprints ---- */

enum { MAX_SET = 4000 };

static int compare(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Sorts, drops equal ones and aligns them left. */
static size_t finish_set(uint64_t *set, size_t count, unsigned bits) {
    size_t made = 0;
    qsort(set, count, sizeof *set, compare);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || set[i] << (64 - bits) != set[made - 1]) set[made++] = set[i] << (64 - bits);
    }
    return made;
}

enum shape { DENSE, SPARSE, CLUSTERED, SKEWED, SHAPES };

static size_t make_set(enum shape shape, unsigned bits, uint64_t *random, uint64_t *set) {
    uint64_t all = idxf_low_bits(bits), near = next_random(random);
    size_t count = 1 + (size_t)(next_random(random) % (MAX_SET - 2));
    for (size_t i = 0; i < count; i++) {
        uint64_t any = next_random(random);
        if (shape == DENSE) set[i] = (near + i) & all;
        if (shape == SPARSE) set[i] = any & all;
        if (shape == SKEWED) set[i] = (any >> next_random(random) % 64) & all;
        if (shape != CLUSTERED) continue;
        if (i % 20 == 0) near = any;
        set[i] = (near ^ UINT64_C(1) << any % 64) & all;
    }
    set[count++] = 0;
    set[count++] = all;
    return finish_set(set, count, bits);
}

/* ---- Round trips ---- */

/* Encodes a set, block after block, as the model does, and decodes each. */
static void check_set(const struct block_kind *kind, const uint64_t *set, size_t count) {
    struct model model;
    uint8_t block[IDXF_MAX_BLOCK_SIZE];
    for (size_t done = 0; done < count;) {
        size_t made = encode_block(kind, set + done, count - done, block);
        assert_int_equal(model_encode(&model, kind, set + done, count - done), made);
        assert_memory_equal(block, model.block, kind->block_size);
        check_decodes(kind, block, set + done, made);
        done += made;
    }
}

/* The same with the code that a table of this set has. */
static void check_table(enum idxf_codec codec, unsigned bits, uint32_t block_size, const uint64_t *set, size_t count) {
    struct block_kind kind = {codec, bits, block_size, {0}};
    make_code(&kind, set, count);
    check_set(&kind, set, count);
}

static void test_round_trip(void **state) {
    (void)state;
    static const unsigned widths[] = {1, 2, 7, 8, 31, 32, 33, 63, 64};
    static uint64_t set[MAX_SET];
    uint64_t random = 1;
    for (size_t i = 0; i < COUNT_OF(widths); i++) {
        for (unsigned shape = 0; shape < SHAPES; shape++) {
            size_t count = make_set((enum shape)shape, widths[i], &random, set);
            for (uint32_t size = 128; size <= 4096; size *= 2) {
                check_table(IDXF_CODEC_XOR, widths[i], size, set, count);
                check_table(IDXF_CODEC_DELTA, widths[i], size, set, count);
            }
        }
    }
}

/* Every f, with the few fingerprints that make the longest tails. */
static void test_every_f(void **state) {
    (void)state;
    uint64_t random = 2, set[40];
    for (unsigned bits = 1; bits <= 64; bits++) {
        for (unsigned count = 1; count <= 32; count++) {
            for (unsigned i = 0; i < count; i++) set[i] = next_random(&random) & idxf_low_bits(bits);
            size_t made = finish_set(set, count, bits);
            check_table(IDXF_CODEC_XOR, bits, 256, set, made);
            check_table(IDXF_CODEC_DELTA, bits, 256, set, made);
        }
    }
}

/* Around the borders of the chunks that decoding goes by, and with codes of which several are decoded at once. */
static void test_chunks(void **state) {
    (void)state;
    static const size_t counts[] = {1, 2, 3, 5, 6, 7, 62, 63, 64, 65, 66, 127, 128, 129, 191, 192, 193, 500};
    static const unsigned widths[] = {24, 64};
    uint64_t random = 3, set[500];
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        for (unsigned round = 0; round < 16; round++) {
            unsigned bits = widths[round % 2], widest = round / 2;
            uint64_t x = 0;
            for (size_t j = 0; j < counts[i]; j++)
                set[j] = (x += 1 + next_random(&random) % (1u << widest)) << (64 - bits);
            for (int codec = 0; codec < IDXF_CODEC_COUNT; codec++) {
                struct block_kind kind = {(enum idxf_codec)codec, bits, 1024, {0}};
                make_code(&kind, set, counts[i]);
                check_one_block(&kind, set, counts[i]);
            }
        }
    }
}

/* Tails of 58 to 63 bits don't lie within 8 bytes where they begin within one: at every offset. */
static void check_long_tail(unsigned tail, unsigned before, uint64_t bits_of_tail) {
    uint64_t set[20] = {UINT64_C(1) << 20};
    size_t count = 1;
    for (; count <= before; count++) set[count] = set[count - 1] + 2 + count % 2; /* tails of one bit */
    uint64_t difference = UINT64_C(1) << tail | (bits_of_tail & idxf_low_bits(tail));
    if (difference > UINT64_MAX - set[count - 1]) difference = UINT64_MAX - set[count - 1];
    set[count] = set[count - 1] + difference;
    count++;
    struct block_kind kind = {IDXF_CODEC_DELTA, 64, 128, {0}};
    make_code(&kind, set, count);
    check_one_block(&kind, set, count);

    set[0] = 0;
    for (size_t i = 1; i < count - 1; i++) set[i] = set[i - 1] + 2;
    set[count - 1] = set[count - 2] ^ (UINT64_C(1) << tail | (bits_of_tail & idxf_low_bits(tail)));
    kind.codec = IDXF_CODEC_XOR;
    make_code(&kind, set, count);
    check_one_block(&kind, set, count);
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

/* The first and the last values there are, next to each other. */
static void test_first_and_last_value(void **state) {
    (void)state;
    for (unsigned bits = 1; bits <= 64; bits++) {
        uint64_t set[2] = {0, UINT64_MAX << (64 - bits)};
        for (int codec = 0; codec < IDXF_CODEC_COUNT; codec++) {
            struct block_kind kind = {(enum idxf_codec)codec, bits, 128, {0}};
            make_code(&kind, set, 2);
            assert_int_equal(kind.lengths[0], 1);
            check_one_block(&kind, set, 2);
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
    for (unsigned round = 0; round < 240; round++) {
        struct block_kind kind = {(enum idxf_codec)(round % 2), widths[round % COUNT_OF(widths)], 512, {0}};
        size_t count = make_set((enum shape)(round / 6 % SHAPES), kind.bits, &random, set);
        make_random_code(&kind, round / 24 % 2, &random);
        check_set(&kind, set, count);
    }
}

/* Decoding ends after the first fingerprint above the range looked for, which may stand anywhere. */
static void test_high(void **state) {
    (void)state;
    static const unsigned widths[] = {30, 64};
    uint64_t random = 7, set[200];
    for (unsigned round = 0; round < 8; round++) {
        struct block_kind kind = {(enum idxf_codec)(round % 2), widths[round / 2 % 2], 1024, {0}};
        unsigned align = 64 - kind.bits;
        uint8_t block[1024];
        uint64_t x = 0;
        for (size_t i = 0; i < COUNT_OF(set); i++) set[i] = (x += 2 + next_random(&random) % 60) << align;
        make_code(&kind, set, COUNT_OF(set));
        assert_int_equal(encode_block(&kind, set, COUNT_OF(set), block), COUNT_OF(set));
        for (size_t i = 0; i < COUNT_OF(set); i++) {
            check_decodes_to(&kind, block, set, COUNT_OF(set), set[i] - 1);
            check_decodes_to(&kind, block, set, COUNT_OF(set), set[i]);
            check_decodes_to(&kind, block, set, COUNT_OF(set), set[i] + 1);
        }
        check_decodes_to(&kind, block, set, COUNT_OF(set), 0);
        check_decodes_to(&kind, block, set, COUNT_OF(set), UINT64_MAX);
    }
}

/* ---- How many fit ---- */

/* With a code of one bit and no tails, a block is full to the last bit. */
static void test_full_blocks(void **state) {
    (void)state;
    static uint64_t set[IDXF_MAX_BLOCK_FINGERPRINTS + 10];
    static uint8_t block[IDXF_MAX_BLOCK_SIZE];
    for (size_t i = 0; i < COUNT_OF(set); i++) set[i] = (uint64_t)(i + 3) << 48;
    for (uint32_t size = 128; size <= 4096; size *= 2) {
        struct block_kind kind = {IDXF_CODEC_DELTA, 16, size, {0}};
        size_t full = (size - 10) * 8 + 1;
        kind.lengths[15] = 1;
        assert_int_equal(encode_block(&kind, set, COUNT_OF(set), block), full);
        check_decodes(&kind, block, set, full);
        assert_int_equal(encode_block(&kind, set, full, block), full);
        assert_int_equal(encode_block(&kind, set, full - 1, block), full - 1);
        check_decodes(&kind, block, set, full - 1);
    }
    assert_int_equal(IDXF_MAX_BLOCK_FINGERPRINTS, 32689);
}

/* Differences of 8 bits fill a block to the last bit; one of 9 as the last does not fit. */
static void test_what_fits_exactly(void **state) {
    (void)state;
    uint64_t set[200];
    uint8_t block[128];
    struct block_kind kind = {IDXF_CODEC_DELTA, 64, 128, {0}};
    size_t full = 128 - 10 + 1;
    set[0] = 5;
    for (size_t i = 1; i < COUNT_OF(set); i++) set[i] = set[i - 1] + 0x40 + i % 0x40; /* tails of 6 bits */
    kind.lengths[57] = 2;
    kind.lengths[56] = 2; /* tail of 7: 9 bits in all */
    kind.lengths[55] = 1;
    assert_int_equal(encode_block(&kind, set, COUNT_OF(set), block), full);
    check_decodes(&kind, block, set, full);
    set[full - 1] = set[full - 2] + 0x80;
    assert_int_equal(encode_block(&kind, set, full, block), full - 1);
    check_decodes(&kind, block, set, full - 1);
}

/* ---- Known blocks ---- */

/* `11011011` and `11011001` differ at position 6, counted from 0 at the most significant bit. */
static void test_position(void **state) {
    (void)state;
    uint64_t high = UINT64_C(0xDB) << 56, low = UINT64_C(0xD9) << 56;
    assert_int_equal(idxf_position(IDXF_CODEC_XOR, low, high), 6);
    assert_int_equal(idxf_position(IDXF_CODEC_DELTA, low, high), 6);
    assert_int_equal(idxf_position(IDXF_CODEC_XOR, 0, 1), 63);
    assert_int_equal(idxf_position(IDXF_CODEC_DELTA, 0, 1), 63);
    assert_int_equal(idxf_position(IDXF_CODEC_XOR, 0, UINT64_MAX), 0);
    assert_int_equal(idxf_position(IDXF_CODEC_DELTA, 0, UINT64_MAX), 0);
    /* One apart, and all bits but the first change. */
    assert_int_equal(idxf_position(IDXF_CODEC_XOR, UINT64_C(0x7FFFFFFFFFFFFFFF), UINT64_C(0x8000000000000000)), 0);
    assert_int_equal(idxf_position(IDXF_CODEC_DELTA, UINT64_C(0x7FFFFFFFFFFFFFFF), UINT64_C(0x8000000000000000)), 63);
}

static const uint64_t example[] = {UINT64_C(0x12) << 56, UINT64_C(0x15) << 56, UINT64_C(0x16) << 56,
                                   UINT64_C(0x96) << 56, UINT64_C(0x97) << 56};

/* SPEC.md, chapter 7: the example, byte for byte. */
static void check_example(enum idxf_codec codec, const uint8_t lengths[8], const uint8_t expected[128]) {
    struct block_kind kind = {codec, 8, 128, {0}};
    uint8_t block[128];
    make_code(&kind, example, COUNT_OF(example));
    assert_memory_equal(kind.lengths, lengths, 8);
    assert_int_equal(encode_block(&kind, example, COUNT_OF(example), block), COUNT_OF(example));
    assert_memory_equal(block, expected, sizeof block);
    check_decodes(&kind, expected, example, COUNT_OF(example));
}

static void test_example_delta(void **state) {
    (void)state;
    static const uint8_t lengths[8] = {2, 0, 0, 0, 0, 0, 2, 1};
    static const uint8_t block[128] = {5, 0, 0, 0, 0, 0, 0, 0, 0, 0x12, [10] = 0x0B, [127] = 0x80};
    check_example(IDXF_CODEC_DELTA, lengths, block);
}

static void test_example_xor(void **state) {
    (void)state;
    static const uint8_t lengths[8] = {2, 0, 0, 0, 0, 2, 2, 2};
    static const uint8_t block[128] = {5, 0, 0, 0, 0, 0, 0, 0, 0, 0x12, [10] = 0x5E, [11] = 0x00, [12] = 0x03};
    check_example(IDXF_CODEC_XOR, lengths, block);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_every_f),
        cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_long_tails),
        cmocka_unit_test(test_first_and_last_value),
        cmocka_unit_test(test_any_code),
        cmocka_unit_test(test_high),
        cmocka_unit_test(test_full_blocks),
        cmocka_unit_test(test_what_fits_exactly),
        cmocka_unit_test(test_position),
        cmocka_unit_test(test_example_delta),
        cmocka_unit_test(test_example_xor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
