/* checksum.c: tests that checksums are XXH3, 64 bits, seed 0. The values were made by xxhsum -H3. */
#include "format/checksum.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_known_checksums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
