/* document_sums.c: tests of docs.sum's header. */
#include "format/document_sums.h"

#include "format/bytes.h"
#include "format/checksum.h"
#include "tests/format/testing.h"

enum { HEADER = IDXF_DOCUMENT_SUMS_HEADER_BYTES };

static const struct idxf_document_sums some = {
    {0xA0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0xA6, 0xA7, 0xA8, 0xA9, 0xAA, 0xAB, 0xAC, 0xAD, 0xAE, 0xAF}, 0x3001, 0};
enum { SOME_SIZE = HEADER + 4 * 8 }; /* three pages and a byte */

static void set_checksum(uint8_t *header) { idxf_store64(header + 56, idxf_checksum(header, 56)); }

/* Reads a file of `size` bytes by its header. */
static enum idxf_fault read_header(const uint8_t *header, uint64_t size, struct idxf_document_sums *sums,
                                   uint32_t *version) {
    uint8_t *copy = copy_exactly(header, size < HEADER ? (size_t)size : HEADER);
    enum idxf_fault fault = idxf_document_sums_header_read(sums, copy, size, version);
    free(copy);
    return fault;
}

static void test_every_field_has_its_place(void **state) {
    (void)state;
    static const uint8_t begin[56] = {
        'i',  'd',  'x',  'd',  's',  'u',  'm',  's',                                                  /* magic */
        0x01, 0x00, 0x00, 0x00,                                                                         /* version */
        0x00, 0x00, 0x00, 0x00,                                                                         /* extra */
        0xA0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0xA6, 0xA7, 0xA8, 0xA9, 0xAA, 0xAB, 0xAC, 0xAD, 0xAE, 0xAF, /* uuid */
        0x01, 0x30, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,                                                 /* length */
    };
    struct idxf_document_sums again;
    uint8_t header[HEADER], expected[HEADER];
    uint32_t version = 99;
    memcpy(expected, begin, sizeof begin);
    set_checksum(expected);
    memset(header, 0xFF, sizeof header);
    idxf_document_sums_header_write(&some, header);
    assert_memory_equal(header, expected, sizeof header);
    assert_fault(read_header(expected, SOME_SIZE, &again, &version), IDXF_OK);
    assert_memory_equal(again.uuid, some.uuid, sizeof again.uuid);
    assert_int_equal(again.length, some.length);
    assert_int_equal(version, 1);
}

static void test_pages(void **state) {
    (void)state;
    static const uint64_t cases[][2] = {{0, 0},
                                        {1, 1},
                                        {4095, 1},
                                        {4096, 1},
                                        {4097, 2},
                                        {8192, 2},
                                        {UINT64_C(1) << 40, UINT64_C(1) << 28},
                                        {UINT64_MAX, UINT64_C(1) << 52}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct idxf_document_sums sums = {.length = cases[i][0]}, again;
        uint8_t header[HEADER];
        uint32_t version;
        uint64_t size = HEADER + cases[i][1] * 8;
        assert_true(idxf_document_sums_count_pages(&sums) == cases[i][1]);
        idxf_document_sums_header_write(&sums, header);
        assert_fault(read_header(header, size, &again, &version), IDXF_OK);
        assert_true(again.length == sums.length);
        assert_fault(read_header(header, size - 1, &again, &version), IDXF_FAULT_SIZE);
        assert_fault(read_header(header, size + 1, &again, &version), IDXF_FAULT_SIZE);
        assert_fault(read_header(header, size + 8, &again, &version), IDXF_FAULT_SIZE);
    }
}

static void test_every_shorter_size(void **state) {
    (void)state;
    struct idxf_document_sums again;
    uint8_t header[HEADER];
    uint32_t version;
    idxf_document_sums_header_write(&some, header);
    for (uint64_t size = 0; size < SOME_SIZE; size++)
        assert_fault(read_header(header, size, &again, &version), size < 8 ? IDXF_FAULT_MAGIC : IDXF_FAULT_SIZE);
    header[11] = 3; /* a newer version may have a shorter header: named all the same */
    assert_fault(read_header(header, 12, &again, &version), IDXF_FAULT_VERSION);
    assert_int_equal(version, 1 | 3u << 24);
    header[0] = 'I';
    assert_fault(read_header(header, 12, &again, &version), IDXF_FAULT_MAGIC);
}

static void test_every_flipped_bit(void **state) {
    (void)state;
    struct idxf_document_sums again;
    uint8_t header[HEADER];
    idxf_document_sums_header_write(&some, header);
    for (size_t bit = 0; bit < HEADER * 8; bit++) {
        enum idxf_fault expected = bit < 64 ? IDXF_FAULT_MAGIC : bit < 96 ? IDXF_FAULT_VERSION : IDXF_FAULT_CHECKSUM;
        uint32_t version = 0;
        header[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_fault(read_header(header, SOME_SIZE, &again, &version), expected);
        if (expected == IDXF_FAULT_VERSION) assert_int_equal(version, 1u ^ 1u << (bit - 64));
        header[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

static void test_every_reserved_byte(void **state) {
    (void)state;
    for (size_t i = 40; i < 56; i++) {
        struct idxf_document_sums again;
        uint8_t header[HEADER];
        uint32_t version;
        idxf_document_sums_header_write(&some, header);
        header[i] = 0x80;
        set_checksum(header);
        assert_fault(read_header(header, SOME_SIZE, &again, &version), IDXF_FAULT_RESERVED);
        assert_fault(read_header(header, SOME_SIZE + 8, &again, &version), IDXF_FAULT_RESERVED);
    }
}

/* What a later release writes behind the checksums is passed over, if the file has exactly as much. */
static void test_extra_bytes(void **state) {
    (void)state;
    static const uint32_t extras[] = {1, 8, 4096, UINT32_MAX};
    for (size_t i = 0; i < COUNT_OF(extras); i++) {
        struct idxf_document_sums again;
        uint8_t header[HEADER];
        uint32_t version;
        idxf_document_sums_header_write(&some, header);
        idxf_store32(header + 12, extras[i]);
        set_checksum(header);
        assert_fault(read_header(header, SOME_SIZE + (uint64_t)extras[i], &again, &version), IDXF_OK);
        assert_int_equal(again.length, some.length);
        assert_fault(read_header(header, SOME_SIZE + (uint64_t)extras[i] - 1, &again, &version), IDXF_FAULT_SIZE);
        assert_fault(read_header(header, SOME_SIZE + (uint64_t)extras[i] + 1, &again, &version), IDXF_FAULT_SIZE);
        assert_fault(read_header(header, SOME_SIZE, &again, &version), IDXF_FAULT_SIZE);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_field_has_its_place), cmocka_unit_test(test_pages),
        cmocka_unit_test(test_every_shorter_size),        cmocka_unit_test(test_every_flipped_bit),
        cmocka_unit_test(test_every_reserved_byte),       cmocka_unit_test(test_extra_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
