/* bytes.c: tests of little-endian integers and bit fields, against a model that reads one bit at a time. */
#include "format/bytes.h"

#include "tests/format/testing.h"

enum { SIZE = 24 };

static unsigned get_bit(const uint8_t *bytes, size_t position) { return bytes[position / 8] >> position % 8 & 1; }

static void test_integers_are_little_endian(void **state) {
    (void)state;
    static const uint8_t bytes[9] = {0xFF, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x88};
    uint8_t stored[9] = {0xFF};
    assert_true(idxf_load64(bytes + 1) == UINT64_C(0x8807060504030201));
    assert_true(idxf_load32(bytes + 1) == UINT32_C(0x04030201));
    idxf_store64(stored + 1, UINT64_C(0x8807060504030201));
    assert_memory_equal(stored, bytes, sizeof bytes);
    idxf_store32(stored + 5, UINT32_C(0xA1B2C3D4));
    static const uint8_t last[4] = {0xD4, 0xC3, 0xB2, 0xA1};
    assert_memory_equal(stored, bytes, 5);
    assert_memory_equal(stored + 5, last, sizeof last);
}

static void test_low_bits(void **state) {
    (void)state;
    uint64_t expected = 0;
    for (unsigned count = 0; count <= 64; count++) {
        assert_true(idxf_low_bits(count) == expected);
        expected = expected << 1 | 1;
    }
}

static void test_get_at_every_offset_and_length(void **state) {
    (void)state;
    uint64_t random = 2;
    for (size_t size = 8; size <= SIZE; size++) {
        uint8_t *bytes = malloc(size); /* exactly, so that a sanitizer sees a read beyond them */
        assert_non_null(bytes);
        for (size_t i = 0; i < size; i++) bytes[i] = (uint8_t)next_random(&random);
        for (unsigned length = 0; length <= 64; length++) {
            for (size_t position = 0; position + length <= size * 8; position++) {
                uint64_t expected = 0;
                for (unsigned i = length; i-- > 0;) expected = expected << 1 | get_bit(bytes, position + i);
                assert_true(idxf_get_bits(bytes, size, position, length) == expected);
            }
        }
        free(bytes);
    }
}

/* At least 57 bits, those beyond the end 0. */
static void test_peek_up_to_the_end(void **state) {
    (void)state;
    uint64_t random = 3;
    for (size_t size = 8; size <= SIZE; size++) {
        uint8_t *bytes = malloc(size);
        assert_non_null(bytes);
        for (size_t i = 0; i < size; i++) bytes[i] = (uint8_t)(next_random(&random) | 0x81);
        for (size_t position = 0; position <= size * 8; position++) {
            uint64_t bits = idxf_peek_bits(bytes, size, position);
            for (size_t i = 0; i < 64; i++) {
                unsigned bit = (unsigned)(bits >> i & 1);
                if (position + i >= size * 8)
                    assert_int_equal(bit, 0);
                else if (i < 57)
                    assert_int_equal(bit, get_bit(bytes, position + i));
            }
        }
        free(bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers_are_little_endian),
        cmocka_unit_test(test_low_bits),
        cmocka_unit_test(test_get_at_every_offset_and_length),
        cmocka_unit_test(test_peek_up_to_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
