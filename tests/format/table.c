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
        .anchor_bits = 38,
        .code = {47, {6, 6, 5, 4, 3, 3, 3, 3, 3, 3, 3}},
        .statistics = {UINT64_C(0xB0B1B2B3B4B5B6B7), UINT64_C(0xC0C1C2C3C4C5C6C7), UINT64_C(0xD0D1D2D3D4D5D6D7),
                       UINT64_C(0xE0E1E2E3E4E5E6E7)},
        .list_bytes = UINT64_C(0x8899),
    };
    return header;
}

/* A valid one of a table without fingerprints. */
static struct idxf_table_header make_empty_header(unsigned bits) {
    return (struct idxf_table_header){
        .bits = (uint8_t)bits, .anchor_bits = 1, .mask = 1, .block_size = 128, .code = {0, {1, 1}}};
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

/* SPEC.md, chapter 4, row by row; all else is 0. */
static const struct {
    size_t at, size;
    const char *bytes;
} fields[] = {
    {0, 8, "idxtable"},
    {8, 4, "\x01\x00\x00\x00"},
    {12, 4, "\x04\x03\x02\x01"},
    {16, 16, "\xA0\xA1\xA2\xA3\xA4\xA5\xA6\xA7\xA8\xA9\xAA\xAB\xAC\xAD\xAE\xAF"},
    {32, 8, "\xEF\xCD\xAB\x89\x67\x45\x23\x01"},
    {40, 1, "\x39"},
    {41, 1, "\x02"},
    {42, 1, "\x26"},
    {43, 1, "\x2F"},
    {44, 4, "\x00\x02\x00\x00"},
    {48, 8, "\x33\x22\x11\x00\x00\x00\x00\x00"},
    {56, 8, "\x55\x44\x00\x00\x00\x00\x00\x00"},
    {64, 11, "\x06\x06\x05\x04\x03\x03\x03\x03\x03\x03\x03"},
    {128, 8, "\xB7\xB6\xB5\xB4\xB3\xB2\xB1\xB0"},
    {136, 8, "\xC7\xC6\xC5\xC4\xC3\xC2\xC1\xC0"},
    {144, 8, "\xD7\xD6\xD5\xD4\xD3\xD2\xD1\xD0"},
    {152, 8, "\xE7\xE6\xE5\xE4\xE3\xE2\xE1\xE0"},
    {160, 8, "\x99\x88\x00\x00\x00\x00\x00\x00"},
};

static void compare_headers(const struct idxf_table_header *a, const struct idxf_table_header *b) {
    assert_memory_equal(a->uuid, b->uuid, sizeof a->uuid);
    assert_int_equal(a->mask, b->mask);
    assert_int_equal(a->fingerprints, b->fingerprints);
    assert_int_equal(a->blocks, b->blocks);
    assert_int_equal(a->number, b->number);
    assert_int_equal(a->block_size, b->block_size);
    assert_int_equal(a->bits, b->bits);
    assert_int_equal(a->radius, b->radius);
    assert_int_equal(a->anchor_bits, b->anchor_bits);
    assert_int_equal(a->list_bytes, b->list_bytes);
    assert_int_equal(a->long_codes, b->long_codes);
    assert_int_equal(a->code.near_bits, b->code.near_bits);
    assert_memory_equal(a->code.lengths, b->code.lengths, sizeof a->code.lengths);
    assert_memory_equal(&a->statistics, &b->statistics, sizeof a->statistics);
}

static void test_every_field_has_its_place(void **state) {
    (void)state;
    struct idxf_table_header header = make_header(), again;
    uint8_t page[IDXF_PAGE_SIZE], expected[IDXF_PAGE_SIZE] = {0};
    uint32_t version = 99;
    for (size_t i = 0; i < COUNT_OF(fields); i++) memcpy(expected + fields[i].at, fields[i].bytes, fields[i].size);
    set_checksum(expected);
    memset(page, 0xFF, sizeof page);
    idxf_table_header_write(&header, page);
    assert_memory_equal(page, expected, sizeof page);
    assert_fault(read_bytes(expected, sizeof expected, &again, &version), IDXF_OK);
    compare_headers(&again, &header);
    assert_int_equal(version, 1);
    struct idxf_block_form form = idxf_table_get_block_form(&header);
    assert_int_equal(form.bits, 57);
    assert_int_equal(form.anchor_bits, 38);
    assert_int_equal(form.block_size, 512);
    assert_false(form.long_codes);
    assert_memory_equal(&form.code, &header.code, sizeof form.code);
}

/* ---- Faults ---- */

static void break_magic(uint8_t *page) { page[7] = 'x'; }
static void break_version(uint8_t *page) { page[8] = 0; }
static void break_reserved(uint8_t *page) { page[169] = 1; }
static void break_bits(uint8_t *page) { page[40] = 65; }
static void break_mask(uint8_t *page) { idxf_store64(page + 32, 0); }
static void break_radius(uint8_t *page) { page[41] = 4; }
static void break_anchor(uint8_t *page) { page[42] = 58; }
static void break_block_size(uint8_t *page) { idxf_store32(page + 44, 384); }
static void break_count(uint8_t *page) { idxf_store64(page + 48, 1); }
static void break_list_bytes(uint8_t *page) { idxf_store64(page + 160, 0x4455 * 8 + 1); }
static void break_long_codes(uint8_t *page) { page[168] = 1; }
static void break_near_bits(uint8_t *page) { page[43] = 49; }
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
    {break_anchor, IDXF_FAULT_ANCHOR},
    {break_block_size, IDXF_FAULT_BLOCK_SIZE},
    {break_count, IDXF_FAULT_COUNT},
    {break_list_bytes, IDXF_FAULT_COUNT},
    {break_long_codes, IDXF_FAULT_CODE},
    {break_near_bits, IDXF_FAULT_CODE},
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
        if (expected == IDXF_FAULT_VERSION) assert_int_equal(version, 1u ^ 1u << (bit - 64));
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
    for (size_t i = 169; i < 4088; i++) {
        if (i == 172) i += 4; /* extra */
        page[i] = 0x80;
        set_checksum(page);
        assert_fault(idxf_table_header_read(&again, page, sizeof page, &version), IDXF_FAULT_RESERVED);
        page[i] = 0;
    }
    set_checksum(page);
    assert_fault(idxf_table_header_read(&again, page, sizeof page, &version), IDXF_OK);
}

/* ---- Legal values ---- */

static void test_bits_and_mask(void **state) {
    (void)state;
    for (unsigned bits = 0; bits < 256; bits++) {
        struct idxf_table_header header = make_empty_header(bits);
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

static void test_radius_anchor_block_size(void **state) {
    (void)state;
    for (unsigned value = 0; value < 256; value++) {
        struct idxf_table_header header = make_header();
        header.radius = (uint8_t)value;
        assert_fault(read_back(&header), value <= 3 ? IDXF_OK : IDXF_FAULT_RADIUS);
        for (unsigned bits = 1; bits <= 64; bits++) {
            header = make_empty_header(bits);
            header.anchor_bits = (uint8_t)value;
            bool legal = value >= 1 && value <= bits && value <= 63;
            assert_fault(read_back(&header), legal ? IDXF_OK : IDXF_FAULT_ANCHOR);
        }
    }
    struct idxf_table_header header = make_empty_header(64);
    for (uint32_t size = 0; size < 9000; size++) {
        bool legal =
            size == 64 || size == 128 || size == 256 || size == 512 || size == 1024 || size == 2048 || size == 4096;
        header.block_size = size;
        assert_fault(read_back(&header), legal ? IDXF_OK : IDXF_FAULT_BLOCK_SIZE);
    }
    header.block_size = UINT32_C(1) << 31;
    assert_fault(read_back(&header), IDXF_FAULT_BLOCK_SIZE);
}

static void test_counts(void **state) {
    (void)state;
    static const struct {
        unsigned bits;
        uint64_t fingerprints, blocks, list_bytes;
        enum idxf_fault fault;
    } cases[] = {
        {64, 0, 0, 0, IDXF_OK},
        {64, 1, 0, 0, IDXF_FAULT_COUNT},
        {64, 0, 1, 0, IDXF_FAULT_COUNT},
        {64, 1, 1, 0, IDXF_OK},
        {64, 1023, 1, 0, IDXF_OK},
        {64, 1024, 1, 0, IDXF_FAULT_COUNT},
        {64, 3 * 1023, 3, 0, IDXF_OK},
        {64, 3 * 1023 + 1, 3, 0, IDXF_FAULT_COUNT},
        {64, 2, 3, 0, IDXF_FAULT_COUNT},
        {1, 2, 1, 0, IDXF_OK},
        {1, 3, 1, 0, IDXF_FAULT_COUNT}, /* more than 2^f */
        {9, 512, 1, 0, IDXF_OK},
        {9, 513, 1, 0, IDXF_FAULT_COUNT},
        {40, UINT64_C(1) << 40, 4294967295, 0, IDXF_OK},
        {40, (UINT64_C(1) << 40) + 1, 4294967295, 0, IDXF_FAULT_COUNT},
        {63, 4294967295, 4294967295, 0, IDXF_OK},
        {64, 4294967295 * UINT64_C(1023), 4294967295, 0, IDXF_OK},
        {64, 4294967295 * UINT64_C(1023) + 1, 4294967295, 0, IDXF_FAULT_COUNT},
        {64, 4294967296, 4294967296, 0, IDXF_FAULT_COUNT},
        {64, UINT64_MAX, UINT64_MAX, 0, IDXF_FAULT_COUNT},
        {64, UINT64_MAX, 1, 0, IDXF_FAULT_COUNT},
        {64, 0, 0, 1, IDXF_FAULT_COUNT},
        {64, 9, 9, 72, IDXF_OK},
        {64, 9, 9, 73, IDXF_FAULT_COUNT},
        {64, 4294967295, 4294967295, UINT64_C(34359738360), IDXF_OK},
        {64, 4294967295, 4294967295, UINT64_C(34359738361), IDXF_FAULT_COUNT},
        {64, 9, 9, UINT64_MAX, IDXF_FAULT_COUNT},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct idxf_table_header header = make_empty_header(cases[i].bits);
        header.fingerprints = cases[i].fingerprints;
        header.blocks = cases[i].blocks;
        header.list_bytes = cases[i].list_bytes;
        assert_fault(read_back(&header), cases[i].fault);
    }
}

/* A header's code is checked with its bits. */
static void test_code_of_a_header(void **state) {
    (void)state;
    struct idxf_table_header header = make_header();
    header.code.near_bits = 48;
    assert_fault(read_back(&header), IDXF_OK);
    header.bits = 56;
    assert_fault(read_back(&header), IDXF_FAULT_MASK);
    header.mask = 1;
    assert_fault(read_back(&header), IDXF_FAULT_CODE);
    header.code.near_bits = 47;
    assert_fault(read_back(&header), IDXF_OK);
    header.code.lengths[63] = 1;
    assert_fault(read_back(&header), IDXF_FAULT_CODE);
    header.code.lengths[63] = 0;
    header.code.lengths[10] = 2;
    assert_fault(read_back(&header), IDXF_FAULT_CODE);
}

/* Blocks of 64 bytes alone have them. */
static void test_long_codes(void **state) {
    (void)state;
    for (uint32_t size = 64; size <= 4096; size *= 2) {
        for (unsigned value = 0; value < 256; value++) {
            struct idxf_table_header header = make_empty_header(64), again;
            uint8_t page[IDXF_PAGE_SIZE];
            uint32_t version;
            header.block_size = size;
            header.long_codes = (uint8_t)value;
            idxf_table_header_write(&header, page);
            assert_int_equal(page[168], value);
            bool legal = value == 0 || (value == 1 && size == 64);
            assert_fault(read_bytes(page, sizeof page, &again, &version), legal ? IDXF_OK : IDXF_FAULT_CODE);
            if (!legal) continue;
            compare_headers(&again, &header);
            assert_int_equal(idxf_table_get_block_form(&again).long_codes, value);
        }
    }
}

/* A reader answers without them: any will do. */
static void test_any_statistics(void **state) {
    (void)state;
    struct idxf_table_header header = make_header();
    memset(&header.statistics, 0xFF, sizeof header.statistics);
    assert_fault(read_back(&header), IDXF_OK);
    memset(&header.statistics, 0, sizeof header.statistics);
    assert_fault(read_back(&header), IDXF_OK);
}

/* ---- Layout ---- */

/* Some known files: blocks, block size, bytes of lists. */
static const struct {
    uint64_t blocks;
    uint32_t block_size;
    uint64_t list_bytes;
    struct idxf_table_layout layout; /* blocks, directory, lines, lists, checksums, pages, size */
} layouts[] = {
    {0, 64, 0, {4096, 4096, 0, 4096, 4096, 0, 4096}},
    {1, 64, 0, {4096, 8192, 1, 8256, 12288, 2, 12304}},
    {1, 4096, 0, {4096, 8192, 1, 8256, 12288, 2, 12304}},
    {2, 4096, 0, {4096, 12288, 1, 12352, 16384, 3, 16408}},
    {56, 64, 0, {4096, 8192, 1, 8256, 12288, 2, 12304}},
    {57, 64, 0, {4096, 8192, 2, 8320, 12288, 2, 12304}},
    {64, 64, 0, {4096, 8192, 2, 8320, 12288, 2, 12304}},
    {65, 64, 0, {4096, 12288, 2, 12416, 16384, 3, 16408}},
    {32, 128, 0, {4096, 8192, 1, 8256, 12288, 2, 12304}},
    {33, 128, 0, {4096, 12288, 1, 12352, 16384, 3, 16408}},
    {3584, 64, 0, {4096, 233472, 64, 237568, 237568, 57, 238024}}, /* 56 pages of blocks, a full page of 64 lines */
    {3584, 64, 1, {4096, 233472, 64, 237568, 241664, 58, 242128}}, /* a byte of lists takes another page */
    {3584, 64, 4096, {4096, 233472, 64, 237568, 241664, 58, 242128}},
    {3584, 64, 4097, {4096, 233472, 64, 237568, 245760, 59, 246232}},
    {3585, 64, 0, {4096, 237568, 65, 241728, 245760, 59, 246232}}, /* a line more takes another page */
    {512, 64, 4096 - 640, {4096, 36864, 10, 37504, 40960, 9, 41032}},
    {512, 64, 4096 - 639, {4096, 36864, 10, 37504, 45056, 10, 45136}},
};

static void test_layout(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(layouts); i++) {
        struct idxf_table_header header = {.blocks = layouts[i].blocks, .block_size = layouts[i].block_size};
        const struct idxf_table_layout *expected = &layouts[i].layout;
        header.list_bytes = layouts[i].list_bytes;
        struct idxf_table_layout layout = idxf_table_lay_out(&header);
        assert_int_equal(layout.blocks, expected->blocks);
        assert_int_equal(layout.directory, expected->directory);
        assert_int_equal(layout.directory_lines, expected->directory_lines);
        assert_int_equal(layout.lists, expected->lists);
        assert_int_equal(layout.checksums, expected->checksums);
        assert_int_equal(layout.pages, expected->pages);
        assert_int_equal(layout.file_size, expected->file_size);
    }
}

/* The largest table of all: sums, one after the other. */
static void test_largest_layout(void **state) {
    (void)state;
    for (uint32_t block_size = 64; block_size <= 4096; block_size *= 2) {
        struct idxf_table_header header = {.blocks = 4294967295, .block_size = block_size};
        header.list_bytes = header.blocks * 8;
        struct idxf_table_layout layout = idxf_table_lay_out(&header);
        uint64_t block_pages = (header.blocks * block_size + 4095) / 4096;
        uint64_t directory_pages = (UINT64_C(76695845) * 64 + header.list_bytes + 4095) / 4096;
        assert_int_equal(layout.directory, 4096 * (1 + block_pages));
        assert_int_equal(layout.directory_lines, 76695845);
        assert_int_equal(layout.lists, layout.directory + UINT64_C(76695845) * 64);
        assert_int_equal(layout.pages, block_pages + directory_pages);
        assert_int_equal(layout.checksums, 4096 * (1 + layout.pages));
        assert_int_equal(layout.file_size, layout.checksums + 8 * layout.pages);
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
        cmocka_unit_test(test_radius_anchor_block_size),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_code_of_a_header),
        cmocka_unit_test(test_long_codes),
        cmocka_unit_test(test_any_statistics),
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_largest_layout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
