/* table.c: tests of a table file's header, field by field and fault by fault, and of where its sections stand. */
#include "format/table.h"

#include <stdbool.h>

#include "format/bytes.h"
#include "format/checksum.h"
#include "format/limits.h"
#include "tests/format/testing.h"

/* A header that fills each field with something else. */
static struct idxf_table_header make_header(void) {
    struct idxf_table_header header = {
        .uuid = {0xA0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0xA6, 0xA7, 0xA8, 0xA9, 0xAA, 0xAB, 0xAC, 0xAD, 0xAE, 0xAF},
        .mask = UINT64_C(0x0123456789ABCDEF),
        .fingerprints = UINT64_C(0x112233),
        .blocks = UINT64_C(0x4455),
        .number = 0x01020304,
        .block_size = 512,
        .bits = 57,
        .radius = 2,
        .codec = IDXF_CODEC_DELTA,
        .directory_bits = 14,
        .lengths = {[0] = 11,
                    [1] = 11,
                    [2] = 10,
                    [3] = 9,
                    [4] = 8,
                    [5] = 7,
                    [6] = 6,
                    [7] = 5,
                    [8] = 4,
                    [9] = 3,
                    [10] = 2,
                    [56] = 1},
    };
    return header;
}

static void set_checksum(uint8_t *page) { idxf_store64(page + 4088, idxf_checksum(page, 4088)); }

static enum idxf_fault read_bytes(const uint8_t *bytes, size_t size, struct idxf_table_header *header,
                                  uint32_t *version) {
    uint8_t *copy = copy_exactly(bytes, size);
    enum idxf_fault fault = idxf_table_header_read(header, copy, size, version);
    free(copy);
    return fault;
}

/* Writes a header and reads it. */
static enum idxf_fault read_back(const struct idxf_table_header *header) {
    struct idxf_table_header again;
    uint8_t page[IDXF_PAGE_SIZE];
    uint32_t version;
    idxf_table_header_write(header, page);
    return read_bytes(page, sizeof page, &again, &version);
}

/* ---- Fields ---- */

static void test_every_field_has_its_place(void **state) {
    (void)state;
    static const uint8_t begin[128] = {
        'i',
        'd',
        'x',
        't',
        'a',
        'b',
        'l',
        'e', /* magic */
        0x00,
        0x00,
        0x00,
        0x00, /* version */
        0x04,
        0x03,
        0x02,
        0x01, /* number */
        0xA0,
        0xA1,
        0xA2,
        0xA3,
        0xA4,
        0xA5,
        0xA6,
        0xA7,
        0xA8,
        0xA9,
        0xAA,
        0xAB,
        0xAC,
        0xAD,
        0xAE,
        0xAF, /* uuid */
        0xEF,
        0xCD,
        0xAB,
        0x89,
        0x67,
        0x45,
        0x23,
        0x01, /* mask */
        57,   /* f */
        2,    /* radius */
        1,    /* codec */
        14,   /* directory bits */
        0x00,
        0x02,
        0x00,
        0x00, /* block size */
        0x33,
        0x22,
        0x11,
        0x00,
        0x00,
        0x00,
        0x00,
        0x00, /* fingerprints */
        0x55,
        0x44,
        0x00,
        0x00,
        0x00,
        0x00,
        0x00,
        0x00, /* blocks */
        11,
        11,
        10,
        9,
        8,
        7,
        6,
        5,
        4,
        3,
        2, /* lengths */
        [64 + 56] = 1,
    };
    struct idxf_table_header header = make_header(), again;
    uint8_t page[IDXF_PAGE_SIZE], expected[IDXF_PAGE_SIZE] = {0};
    uint32_t version = 99;
    memcpy(expected, begin, sizeof begin);
    set_checksum(expected);
    memset(page, 0xFF, sizeof page);
    idxf_table_header_write(&header, page);
    assert_memory_equal(page, expected, sizeof page);

    assert_fault(read_bytes(expected, sizeof expected, &again, &version), IDXF_OK);
    assert_memory_equal(again.uuid, header.uuid, sizeof again.uuid);
    assert_true(again.mask == header.mask);
    assert_int_equal(again.fingerprints, header.fingerprints);
    assert_int_equal(again.blocks, header.blocks);
    assert_int_equal(again.number, header.number);
    assert_int_equal(again.block_size, header.block_size);
    assert_int_equal(again.bits, header.bits);
    assert_int_equal(again.radius, header.radius);
    assert_int_equal(again.codec, header.codec);
    assert_int_equal(again.directory_bits, header.directory_bits);
    assert_memory_equal(again.lengths, header.lengths, sizeof again.lengths);
    assert_int_equal(version, 0);
}

/* ---- Faults ---- */

static void break_magic(uint8_t *page) { page[7] = 'x'; }
static void break_version(uint8_t *page) { page[8] = 1; }
static void break_reserved(uint8_t *page) { page[128] = 1; }
static void break_bits(uint8_t *page) { page[40] = 65; }
static void break_mask(uint8_t *page) { idxf_store64(page + 32, 0); }
static void break_radius(uint8_t *page) { page[41] = 4; }
static void break_codec(uint8_t *page) { page[42] = 2; }
static void break_block_size(uint8_t *page) { idxf_store32(page + 44, 384); }
static void break_count(uint8_t *page) { idxf_store64(page + 48, 1); }
static void break_directory(uint8_t *page) { page[43] = 15; }
static void break_code(uint8_t *page) { page[64 + 20] = 5; }
static void break_checksum(uint8_t *page) { page[4095] ^= 1; }

/* In the order in which they are to be found. */
static const struct {
    void (*apply)(uint8_t *page);
    enum idxf_fault fault;
} damages[] = {
    {break_magic, IDXF_FAULT_MAGIC},
    {break_version, IDXF_FAULT_VERSION},
    {break_checksum, IDXF_FAULT_CHECKSUM},
    {break_reserved, IDXF_FAULT_RESERVED},
    {break_bits, IDXF_FAULT_BITS},
    {break_mask, IDXF_FAULT_MASK},
    {break_radius, IDXF_FAULT_RADIUS},
    {break_codec, IDXF_FAULT_CODEC},
    {break_block_size, IDXF_FAULT_BLOCK_SIZE},
    {break_count, IDXF_FAULT_COUNT},
    {break_directory, IDXF_FAULT_DIRECTORY},
    {break_code, IDXF_FAULT_CODE},
};

/* Of two faults, the one reported is the first in SPEC.md's order. */
static void test_the_first_fault_is_reported(void **state) {
    (void)state;
    struct idxf_table_header header = make_header();
    uint32_t version;
    for (size_t first = 0; first < COUNT_OF(damages); first++) {
        for (size_t second = first; second < COUNT_OF(damages); second++) {
            uint8_t page[IDXF_PAGE_SIZE];
            bool breaks_checksum = damages[first].apply == break_checksum || damages[second].apply == break_checksum;
            idxf_table_header_write(&header, page);
            damages[second].apply(page);
            if (first != second) damages[first].apply(page);
            set_checksum(page);
            if (breaks_checksum) break_checksum(page);
            assert_fault(read_bytes(page, sizeof page, &header, &version), damages[first].fault);
            header = make_header();
        }
    }
}

static void test_every_flipped_bit(void **state) {
    (void)state;
    struct idxf_table_header header = make_header(), again;
    uint8_t page[IDXF_PAGE_SIZE];
    idxf_table_header_write(&header, page);
    for (size_t bit = 0; bit < sizeof page * 8; bit++) {
        enum idxf_fault expected = bit < 64 ? IDXF_FAULT_MAGIC : bit < 96 ? IDXF_FAULT_VERSION : IDXF_FAULT_CHECKSUM;
        uint32_t version = 0;
        page[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_fault(idxf_table_header_read(&again, page, sizeof page, &version), expected);
        if (expected == IDXF_FAULT_VERSION) assert_int_equal(version, 1u << (bit - 64));
        page[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

static void test_every_shorter_size(void **state) {
    (void)state;
    struct idxf_table_header header = make_header(), again;
    uint8_t page[IDXF_PAGE_SIZE];
    uint32_t version;
    idxf_table_header_write(&header, page);
    for (size_t size = 0; size < sizeof page; size++)
        assert_fault(read_bytes(page, size, &again, &version), size < 8 ? IDXF_FAULT_MAGIC : IDXF_FAULT_SIZE);
    page[8] = 3; /* a newer version may have a shorter header: named all the same */
    assert_fault(read_bytes(page, 12, &again, &version), IDXF_FAULT_VERSION);
    assert_int_equal(version, 3);
    page[0] = 'I';
    assert_fault(read_bytes(page, 12, &again, &version), IDXF_FAULT_MAGIC);
}

static void test_every_reserved_byte(void **state) {
    (void)state;
    struct idxf_table_header header = make_header(), again;
    uint8_t page[IDXF_PAGE_SIZE];
    uint32_t version;
    idxf_table_header_write(&header, page);
    for (size_t i = 128; i < 4088; i++) {
        page[i] = 0x80;
        set_checksum(page);
        assert_fault(idxf_table_header_read(&again, page, sizeof page, &version), IDXF_FAULT_RESERVED);
        page[i] = 0;
    }
}

/* ---- Legal values ---- */

static void test_bits_and_mask(void **state) {
    (void)state;
    for (unsigned bits = 0; bits < 256; bits++) {
        struct idxf_table_header header = {.bits = (uint8_t)bits, .mask = 1, .block_size = 128};
        assert_fault(read_back(&header), bits >= 1 && bits <= 64 ? IDXF_OK : IDXF_FAULT_BITS);
        if (bits < 1 || bits > 64) continue;
        header.mask = 0;
        assert_fault(read_back(&header), IDXF_FAULT_MASK);
        header.mask = idxf_low_bits(bits);
        assert_fault(read_back(&header), IDXF_OK);
        for (unsigned bit = bits; bit < 64; bit++) {
            header.mask = UINT64_C(1) << bit | 1;
            assert_fault(read_back(&header), IDXF_FAULT_MASK);
        }
    }
}

static void test_radius_codec_block_size(void **state) {
    (void)state;
    for (unsigned value = 0; value < 256; value++) {
        struct idxf_table_header header = make_header();
        header.radius = (uint8_t)value;
        assert_fault(read_back(&header), value <= 3 ? IDXF_OK : IDXF_FAULT_RADIUS);
        header = make_header();
        header.codec = (uint8_t)value;
        assert_fault(read_back(&header), value <= 1 ? IDXF_OK : IDXF_FAULT_CODEC);
    }
    for (uint32_t size = 0; size < 9000; size++) {
        struct idxf_table_header header = {.bits = 64, .mask = 1, .block_size = size};
        bool legal = size == 128 || size == 256 || size == 512 || size == 1024 || size == 2048 || size == 4096;
        assert_fault(read_back(&header), legal ? IDXF_OK : IDXF_FAULT_BLOCK_SIZE);
    }
    struct idxf_table_header header = {.bits = 64, .mask = 1, .block_size = UINT32_C(1) << 31};
    assert_fault(read_back(&header), IDXF_FAULT_BLOCK_SIZE);
}

static void test_counts(void **state) {
    (void)state;
    static const struct {
        unsigned bits;
        uint32_t block_size;
        uint64_t fingerprints, blocks;
        enum idxf_fault fault;
    } cases[] = {
        {64, 128, 0, 0, IDXF_OK},
        {64, 128, 1, 0, IDXF_FAULT_COUNT},
        {64, 128, 0, 1, IDXF_FAULT_COUNT},
        {64, 128, 1, 1, IDXF_OK},
        {64, 128, 8 * 118 + 1, 1, IDXF_OK},
        {64, 128, 8 * 118 + 2, 1, IDXF_FAULT_COUNT},
        {64, 4096, 32689, 1, IDXF_OK},
        {64, 4096, 32690, 1, IDXF_FAULT_COUNT},
        {64, 4096, 3 * 32689, 3, IDXF_OK},
        {64, 4096, 3 * 32689 + 1, 3, IDXF_FAULT_COUNT},
        {64, 128, 2, 3, IDXF_FAULT_COUNT},
        {1, 128, 2, 1, IDXF_OK},
        {1, 128, 3, 1, IDXF_FAULT_COUNT}, /* more than 2^f */
        {9, 128, 512, 1, IDXF_OK},
        {9, 128, 513, 1, IDXF_FAULT_COUNT},
        {46, 4096, UINT64_C(1) << 46, 4294967295, IDXF_OK},
        {46, 4096, (UINT64_C(1) << 46) + 1, 4294967295, IDXF_FAULT_COUNT},
        {63, 128, 4294967295, 4294967295, IDXF_OK},
        {64, 4096, 4294967295 * UINT64_C(32689), 4294967295, IDXF_OK},
        {64, 4096, 4294967295 * UINT64_C(32689) + 1, 4294967295, IDXF_FAULT_COUNT},
        {64, 128, 4294967296, 4294967296, IDXF_FAULT_COUNT},
        {64, 128, UINT64_MAX, UINT64_MAX, IDXF_FAULT_COUNT},
        {64, 4096, UINT64_MAX, 1, IDXF_FAULT_COUNT},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct idxf_table_header header = {.bits = (uint8_t)cases[i].bits,
                                           .mask = 1,
                                           .block_size = cases[i].block_size,
                                           .fingerprints = cases[i].fingerprints,
                                           .blocks = cases[i].blocks};
        assert_fault(read_back(&header), cases[i].fault);
    }
}

static void test_directory_bits_of_a_header(void **state) {
    (void)state;
    for (unsigned bits = 0; bits < 256; bits++) {
        struct idxf_table_header header = {.bits = 64, .mask = 1, .block_size = 128};
        header.directory_bits = (uint8_t)bits;
        header.blocks = header.fingerprints = 4294967295;
        assert_fault(read_back(&header), bits <= 31 ? IDXF_OK : IDXF_FAULT_DIRECTORY);
        if (bits < 1 || bits > 31) continue;
        header.blocks = header.fingerprints = UINT64_C(1) << bits;
        assert_fault(read_back(&header), IDXF_OK);
        header.bits = (uint8_t)bits;
        assert_fault(read_back(&header), IDXF_OK);
        header.blocks--;
        assert_fault(read_back(&header), IDXF_FAULT_DIRECTORY);
    }
}

static void test_code_lengths_of_a_header(void **state) {
    (void)state;
    struct idxf_table_header header = make_header();
    header.lengths[56] = 0;
    header.lengths[57] = 1;
    assert_fault(read_back(&header), IDXF_FAULT_CODE); /* complete, but a position beyond f */
    header.bits = 58;
    assert_fault(read_back(&header), IDXF_OK);
    header.lengths[0] = 12;
    assert_fault(read_back(&header), IDXF_FAULT_CODE);
}

/* ---- Layout ---- */

static void test_layout(void **state) {
    (void)state;
    static const struct {
        uint64_t blocks;
        uint32_t block_size;
        unsigned directory_bits;
        struct idxf_table_layout layout;
    } cases[] = {
        {0, 128, 0, {4096, 4096, 4096, 4096, 0, 4096}},
        {1, 128, 0, {4096, 8192, 8200, 12288, 2, 12304}},
        {1, 4096, 0, {4096, 8192, 8200, 12288, 2, 12304}},
        {2, 4096, 1, {4096, 12288, 12304, 16384, 3, 16408}},
        {32, 128, 5, {4096, 8192, 8448, 12288, 2, 12304}},
        {33, 128, 5, {4096, 12288, 12552, 16384, 3, 16408}},
        {512, 256, 0, {4096, 135168, 139264, 139264, 33, 139528}}, /* a full page of keys */
        {512, 256, 9, {4096, 135168, 139264, 143360, 34, 143632}}, /* 2052 bytes of directory */
        {383, 128, 8, {4096, 53248, 56312, 57344, 13, 57448}},     /* 3064 + 1028 bytes in one page */
        {384, 128, 8, {4096, 53248, 56320, 61440, 14, 61552}},     /* 3072 + 1028: four bytes too many */
        {4294967295, 4096, 31, {4096, 17592186044416, 17626545782776, 17635135717376, 4305453055, 17669579341816}},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct idxf_table_header header = {.blocks = cases[i].blocks,
                                           .block_size = cases[i].block_size,
                                           .directory_bits = (uint8_t)cases[i].directory_bits};
        struct idxf_table_layout layout = idxf_table_layout(&header);
        assert_int_equal(layout.blocks, cases[i].layout.blocks);
        assert_int_equal(layout.keys, cases[i].layout.keys);
        assert_int_equal(layout.directory, cases[i].layout.directory);
        assert_int_equal(layout.checksums, cases[i].layout.checksums);
        assert_int_equal(layout.pages, cases[i].layout.pages);
        assert_int_equal(layout.file_size, cases[i].layout.file_size);
    }
}

static void test_directory_bits(void **state) {
    (void)state;
    assert_int_equal(idxf_directory_bits(0), 0);
    assert_int_equal(idxf_directory_bits(1), 0);
    for (unsigned bits = 1; bits < 32; bits++) {
        uint64_t least = UINT64_C(1) << bits;
        assert_int_equal(idxf_directory_bits(least), bits);
        assert_int_equal(idxf_directory_bits(least + 1), bits);
        assert_int_equal(idxf_directory_bits(2 * least - 1), bits);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_field_has_its_place),
        cmocka_unit_test(test_the_first_fault_is_reported),
        cmocka_unit_test(test_every_flipped_bit),
        cmocka_unit_test(test_every_shorter_size),
        cmocka_unit_test(test_every_reserved_byte),
        cmocka_unit_test(test_bits_and_mask),
        cmocka_unit_test(test_radius_codec_block_size),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_directory_bits_of_a_header),
        cmocka_unit_test(test_code_lengths_of_a_header),
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_directory_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
