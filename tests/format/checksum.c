/* checksum.c: tests that checksums are XXH3, 64 bits, seed 0. The values were made by xxhsum -H3. */
#include "format/checksum.h"

#include <xxhash.h>

#include "tests/format/testing.h"

static void test_known_checksums(void **state) {
    (void)state;
    uint8_t page[4096];
    for (size_t i = 0; i < sizeof page; i++) page[i] = (uint8_t)i;
    assert_true(idxf_checksum("", 0) == UINT64_C(0x2d06800538d394c2));
    assert_true(idxf_checksum("abc", 3) == UINT64_C(0x78af5f94892f3950));
    assert_true(idxf_checksum("idx-index 0\n", 12) == UINT64_C(0x83d5886474b9e52f));
    assert_true(idxf_checksum(page, 200) == UINT64_C(0xf42a8864feaf0703));
    assert_true(idxf_checksum(page, sizeof page) == UINT64_C(0xeb4b7c3707879151));
}

/* Wide instructions or none: of every length, at every alignment, what xxHash says. */
static void test_long_checksums(void **state) {
    (void)state;
    static uint8_t bytes[9000];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(i * i >> 3);
    for (size_t size = 0; size + 64 < sizeof bytes; size++)
        assert_true(idxf_checksum(bytes + size % 64, size) == XXH3_64bits(bytes + size % 64, size));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_known_checksums), cmocka_unit_test(test_long_checksums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
