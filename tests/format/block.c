/* block.c: tests of what blocks of both codecs share: they are encoded as SPEC.md says, bit by bit, and decode again;
 * and what is wrong with one is found, in its header first, whatever its bytes are. */
#include "format/block.h"

#include "tests/format/blocks.h"
#include "tests/format/sets.h"

static const enum idxf_codec codecs[] = {IDXF_CODEC_XOR, IDXF_CODEC_DELTA};

/* ---- Round trips ---- */

static void check_set(const struct block_kind *kind, const uint64_t *set, size_t count) {
    for (size_t done = 0; done < count;) done += check_encodes(kind, set + done, count - done);
}

/* The set, block after block, with the code that its table has. */
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
            size_t count = make_set((enum shape)shape, widths[i], MAX_SET, &random, set);
            for (uint32_t size = 64; size <= 4096; size *= 2) {
                check_table(IDXF_CODEC_XOR, widths[i], size, set, count);
                check_table(IDXF_CODEC_DELTA, widths[i], size, set, count);
            }
        }
    }
}

/* Every f, with the few fingerprints that make the longest tails and low parts. */
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

/* Around the borders of the chunks that decoding goes by, and of the groups that make them. */
static void test_chunks(void **state) {
    (void)state;
    static const size_t counts[] = {1, 2, 3, 7, 8, 9, 10, 56, 57, 58, 62, 63, 64, 65, 66, 127, 128, 129, 192, 193, 500};
    static const unsigned widths[] = {24, 64};
    uint64_t random = 3, set[500];
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        for (unsigned round = 0; round < 16; round++) {
            unsigned bits = widths[round % 2], widest = round / 2;
            uint64_t x = 0;
            for (size_t j = 0; j < counts[i]; j++)
                set[j] = (x += 1 + next_random(&random) % (1u << widest)) << (64 - bits);
            check_table(IDXF_CODEC_XOR, bits, 1024, set, counts[i]);
            check_table(IDXF_CODEC_DELTA, bits, 1024, set, counts[i]);
        }
    }
}

/* The first and the last values there are, next to each other. */
static void test_first_and_last_value(void **state) {
    (void)state;
    for (unsigned bits = 1; bits <= 64; bits++) {
        uint64_t set[2] = {0, UINT64_MAX << (64 - bits)};
        for (size_t i = 0; i < COUNT_OF(codecs); i++) {
            struct block_kind kind = {codecs[i], bits, 64, {0}};
            make_code(&kind, set, 2);
            assert_int_equal(check_encodes(&kind, set, 2), 2);
        }
    }
}

/* Every set of fingerprints of three bits. */
static void test_all_sets_of_three_bits(void **state) {
    (void)state;
    for (unsigned members = 1; members < 256; members++) {
        uint64_t set[8];
        size_t count = 0;
        for (uint64_t x = 0; x < 8; x++) {
            if (members >> x & 1) set[count++] = x << 61;
        }
        check_table(IDXF_CODEC_XOR, 3, 64, set, count);
        check_table(IDXF_CODEC_DELTA, 3, 64, set, count);
    }
}

static void test_ways(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(codecs); i++) {
        const struct idxf_way *ways[IDXF_MAX_WAYS];
        size_t count = idxf_decoder_ways(codecs[i], ways);
        assert_in_range(count, 1, IDXF_MAX_WAYS);
        assert_string_equal(ways[0]->name, "portable");
        for (size_t a = 0; a < count; a++) {
            for (size_t b = 0; b < a; b++) assert_string_not_equal(ways[a]->name, ways[b]->name);
        }
    }
}

/* ---- The header ---- */

static void check_begin(const struct block_kind *kind, unsigned head, uint64_t first, enum idxf_fault fault) {
    static struct idxf_decoder decoder;
    struct idxf_block_cursor cursor;
    const struct idxf_way *ways[IDXF_MAX_WAYS];
    uint64_t chunk[IDXF_CHUNK];
    uint8_t block[IDXF_MAX_BLOCK_SIZE] = {0};
    unsigned count = kind->codec == IDXF_CODEC_DELTA ? head % 1024 : head;
    set_header(block, head, first);
    init_decoder(&decoder, kind);
    assert_int_equal(idxf_block_begin(&cursor, &decoder, block), fault == IDXF_OK ? count : 0);
    assert_fault(cursor.fault, fault);
    for (size_t i = idxf_decoder_ways(kind->codec, ways); fault != IDXF_OK && i-- > 0;) {
        decoder.way = ways[i];
        idxf_block_begin(&cursor, &decoder, block);
        assert_int_equal(idxf_block_next(&cursor, chunk), 0);
        assert_fault(cursor.fault, fault);
        idxf_block_seek(&cursor, &decoder, block, 0, UINT64_MAX);
        assert_int_equal(idxf_block_find(&cursor, first, 64, chunk), 0);
        assert_fault(cursor.fault, fault);
    }
}

static void test_count_out_of_range(void **state) {
    (void)state;
    for (uint32_t size = 64; size <= 4096; size *= 2) {
        struct block_kind xor = {IDXF_CODEC_XOR, 64, size, {[63] = 1}}, delta = {IDXF_CODEC_DELTA, 64, size, {0}};
        unsigned most = (size - 10) * 8 + 1, most_delta = most < 1023 ? most : 1023;
        check_begin(&xor, 0, 7, IDXF_FAULT_COUNT);
        check_begin(&xor, 1, 7, IDXF_OK);
        check_begin(&xor, most, 7, IDXF_OK);
        check_begin(&xor, most + 1, 7, IDXF_FAULT_COUNT);
        check_begin(&xor, 65535, 7, IDXF_FAULT_COUNT);
        check_begin(&delta, 0, 7, IDXF_FAULT_COUNT);
        check_begin(&delta, 1, 7, IDXF_OK);
        check_begin(&delta, most_delta, 7, IDXF_OK);
        if (most < 1023) check_begin(&delta, most + 1, 7, IDXF_FAULT_OVERRUN);
    }
    assert_int_equal(IDXF_MAX_BLOCK_FINGERPRINTS, 32689);
}

static void test_bits_below_the_fingerprint(void **state) {
    (void)state;
    for (unsigned bits = 1; bits <= 64; bits++) {
        for (unsigned bit = 0; bit < 64; bit++) {
            for (size_t i = 0; i < COUNT_OF(codecs); i++) {
                struct block_kind kind = {codecs[i], bits, 128, {0}};
                check_begin(&kind, 1, UINT64_C(1) << bit, bit < 64 - bits ? IDXF_FAULT_BITS : IDXF_OK);
            }
        }
    }
}

/* Bits come before the count, and both before what delta says of widths. */
static void test_the_first_fault_of_a_header(void **state) {
    (void)state;
    struct block_kind xor = {IDXF_CODEC_XOR, 8, 128, {1}}, delta = {IDXF_CODEC_DELTA, 8, 128, {0}};
    check_begin(&xor, 0, 1, IDXF_FAULT_BITS);
    check_begin(&xor, 946, 1, IDXF_FAULT_BITS);
    check_begin(&xor, 945, 1, IDXF_FAULT_BITS);
    check_begin(&delta, 0, 1, IDXF_FAULT_BITS);
    check_begin(&delta, 1024 * 57, 1, IDXF_FAULT_BITS);
    check_begin(&delta, 1024 * 57, 0, IDXF_FAULT_COUNT);
    check_begin(&delta, 1024 * 57 + 1, 1, IDXF_FAULT_BITS);
    check_begin(&delta, 1024 * 57 + 1, 0, IDXF_FAULT_OVERRUN);
}

/* ---- Any bytes ---- */

/* Each bit of a block counts: turned, it is a fault, or gives other fingerprints. */
static void test_no_flipped_bit_goes_unseen(void **state) {
    (void)state;
    static struct decoded decoded;
    uint64_t random = 4, set[80];
    for (unsigned round = 0; round < 40; round++) {
        struct block_kind kind = {codecs[round % 2], 20 + round, round % 4 < 2 ? 64 : 128, {0}};
        uint8_t block[IDXF_MAX_BLOCK_SIZE];
        size_t count = make_set((enum shape)(round / 2 % SHAPES), kind.bits, COUNT_OF(set), &random, set);
        make_code(&kind, set, count);
        count = encode_block(&kind, set, count, block);
        for (size_t bit = 0; bit < (size_t)kind.block_size * 8; bit++) {
            flip_bit(block, bit);
            decode_block(&kind, block, &decoded);
            if (decoded.fault == IDXF_OK && decoded.padding == IDXF_OK && decoded.count == count && count > 1)
                assert_memory_not_equal(decoded.fingerprints, set, count * sizeof *set);
            flip_bit(block, bit);
        }
        check_decodes(&kind, block, set, count);
    }
}

/* Searches a block that may be damaged in all ways: nothing is read beyond it (a sanitizer sees), no more comes than
 * there is, it ends, and what is wrong with the header is found. */
static void search_any(const struct block_kind *kind, const uint8_t *block, uint64_t *random) {
    static struct idxf_decoder decoder;
    static struct found found;
    const struct idxf_way *ways[IDXF_MAX_WAYS];
    size_t way_count = idxf_decoder_ways(kind->codec, ways);
    uint64_t any = next_random_of_any_size(random), low = next_random(random), high = next_random(random);
    uint64_t aligned = ~idxf_low_bits(64 - kind->bits);
    const struct wanted wanted[] = {
        {0, UINT64_MAX, any, 64},
        {any & aligned, any | high >> any % 64, any & aligned, (unsigned)(any % 40)},
        {low & aligned, high, any, 32},
    };
    size_t count;
    unsigned width;
    enum idxf_fault fault = model_read_header(kind, block, &count, &width);
    uint8_t *copy = copy_exactly(block, kind->block_size);
    init_decoder(&decoder, kind);
    for (size_t i = 0; i < COUNT_OF(wanted) * way_count; i++) {
        decoder.way = ways[i % way_count];
        find_with(&decoder, copy, &wanted[i / way_count], &found);
        if (fault != IDXF_OK) assert_fault(found.fault, fault);
    }
    free(copy);
}

static void make_any_code(struct block_kind *kind, uint64_t *random) {
    uint64_t counts[IDXF_SYMBOLS] = {0};
    unsigned symbols = (unsigned)(next_random(random) % kind->bits);
    if (kind->codec == IDXF_CODEC_DELTA || next_random(random) % 16 == 0) return;
    for (unsigned i = 0; i <= symbols; i++) {
        uint64_t any = next_random(random);
        counts[any % kind->bits] = 1 + any / 64 % 999;
    }
    idxf_code_lengths(counts, kind->lengths);
}

/* A block of random bytes, with a header that is often right, and more 0 bits or more 1 bits in some rounds. */
static void make_any_block(const struct block_kind *kind, unsigned round, uint8_t *block, uint64_t *random) {
    uint64_t first = next_random_of_any_size(random) & ~idxf_low_bits(64 - kind->bits);
    unsigned width = kind->codec == IDXF_CODEC_DELTA ? (unsigned)(next_random(random) % 64) : 0;
    uint64_t most = kind->codec == IDXF_CODEC_DELTA ? get_room(kind) / (width + 1) + 3 : 80;
    unsigned count = (unsigned)(1 + next_random(random) % most);
    for (size_t i = 0; i < kind->block_size; i++) {
        uint64_t byte = next_random(random);
        if (round % 4 == 1) byte &= next_random(random);
        if (round % 4 == 2) byte |= next_random(random);
        block[i] = (uint8_t)byte;
    }
    set_header(block, (count < 1024 ? count : 1023) + 1024 * width, first);
}

static void try_any_bytes(enum idxf_codec codec, unsigned rounds, uint64_t seed,
                          unsigned seen[IDXF_FAULT_COUNT_OF_FAULTS]) {
    static struct decoded decoded;
    uint64_t random = seed;
    for (unsigned round = 0; round < rounds; round++) {
        unsigned bits =
            round % 8 == 0 ? 1 + (unsigned)(next_random(&random) % 64) : 64 - (unsigned)(next_random(&random) % 3);
        struct block_kind kind = {codec, bits, round % 32 ? 64 << next_random(&random) % 2 : 4096, {0}};
        uint8_t block[IDXF_MAX_BLOCK_SIZE];
        make_any_code(&kind, &random);
        make_any_block(&kind, round, block, &random);
        decode_block(&kind, block, &decoded);
        search_any(&kind, block, &random);
        seen[decoded.fault]++;
    }
}

static void test_any_bytes_xor(void **state) {
    (void)state;
    unsigned seen[IDXF_FAULT_COUNT_OF_FAULTS] = {0};
    try_any_bytes(IDXF_CODEC_XOR, 4000, 5, seen);
    assert_in_range(seen[IDXF_OK], 50, 3800);
    assert_in_range(seen[IDXF_FAULT_CODE], 50, 3800);
    assert_in_range(seen[IDXF_FAULT_OVERRUN], 50, 3800);
    assert_in_range(seen[IDXF_FAULT_ORDER], 50, 3800);
}

static void test_any_bytes_delta(void **state) {
    (void)state;
    unsigned seen[IDXF_FAULT_COUNT_OF_FAULTS] = {0};
    try_any_bytes(IDXF_CODEC_DELTA, 20000, 6, seen);
    assert_in_range(seen[IDXF_OK], 50, 19000);
    assert_in_range(seen[IDXF_FAULT_OVERRUN], 50, 19000);
    assert_in_range(seen[IDXF_FAULT_ORDER], 50, 19000);
    assert_int_equal(seen[IDXF_OK] + seen[IDXF_FAULT_OVERRUN] + seen[IDXF_FAULT_ORDER], 20000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_every_f),
        cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_first_and_last_value),
        cmocka_unit_test(test_all_sets_of_three_bits),
        cmocka_unit_test(test_ways),
        cmocka_unit_test(test_count_out_of_range),
        cmocka_unit_test(test_bits_below_the_fingerprint),
        cmocka_unit_test(test_the_first_fault_of_a_header),
        cmocka_unit_test(test_no_flipped_bit_goes_unseen),
        cmocka_unit_test(test_any_bytes_xor),
        cmocka_unit_test(test_any_bytes_delta),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
