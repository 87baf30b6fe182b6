/* compare.c: tests of the comparison of a chunk of fingerprints, portable and as this processor has it. */
#include "libidx/compare.h"

#include <string.h>

#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

static void check(idxi_compare compare, const uint64_t *fingerprints, size_t count, uint64_t query, unsigned distance) {
    uint8_t near[256];
    size_t found = compare(fingerprints, count, query, distance, near), expected = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned differing = 0;
        for (unsigned bit = 0; bit < 64; bit++) differing += (fingerprints[i] ^ query) >> bit & 1;
        if (differing > distance) continue;
        assert_true(expected < found);
        assert_int_equal(near[expected++], i);
    }
    assert_int_equal(found, expected);
}

static void check_both(const uint64_t *fingerprints, size_t count, uint64_t query, unsigned distance) {
    check(idxi_compare_portable, fingerprints, count, query, distance);
    check(idxi_choose_compare(), fingerprints, count, query, distance);
}

/* Chunks of every size, of fingerprints at every distance. */
static void test_every_size(void **state) {
    (void)state;
    uint64_t seed = 1, fingerprints[256];
    for (size_t count = 0; count <= LENGTH(fingerprints); count++) {
        uint64_t query = next_random(&seed);
        for (size_t i = 0; i < count; i++)
            fingerprints[i] = turn_bits(query, 64, (unsigned)(next_random(&seed) % 65), &seed);
        check_both(fingerprints, count, query, (unsigned)(count % 65));
        check_both(fingerprints, count, query, 0);
        check_both(fingerprints, count, query, 16);
    }
}

static void test_all_and_none(void **state) {
    (void)state;
    uint64_t fingerprints[256];
    memset(fingerprints, 0, sizeof fingerprints);
    check_both(fingerprints, LENGTH(fingerprints), 0, 0);
    check_both(fingerprints, LENGTH(fingerprints), UINT64_MAX, 64);
    check_both(fingerprints, LENGTH(fingerprints), UINT64_MAX, 63);
    check_both(fingerprints, LENGTH(fingerprints), UINT64_C(1) << 63, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_size),
        cmocka_unit_test(test_all_and_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
