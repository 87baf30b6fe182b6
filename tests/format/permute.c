/* permute.c: tests of the permutation, against a model that moves one bit at a time. */
#include "format/permute.h"

#include "format/bytes.h"
#include "tests/format/testing.h"

/* The bits of the mask first, from the most significant on, then the others; left-aligned. */
static uint64_t model(uint64_t mask, unsigned f, uint64_t fingerprint) {
    uint64_t permuted = 0;
    unsigned made = 0;
    for (unsigned part = 0; part < 2; part++) {
        for (unsigned i = f; i-- > 0;) {
            if ((mask >> i & 1) == part) continue;
            permuted = permuted << 1 | (fingerprint >> i & 1);
            made++;
        }
    }
    return made == 0 ? 0 : permuted << (64 - made);
}

static void check(const struct idxf_permutation *permutation, uint64_t mask, unsigned f, uint64_t fingerprint) {
    uint64_t permuted = idxf_permute(permutation, fingerprint);
    assert_true(permuted == model(mask, f, fingerprint));
    assert_true(idxf_unpermute(permutation, permuted) == fingerprint);
}

static void check_mask(uint64_t mask, unsigned f, uint64_t *random) {
    struct idxf_permutation permutation;
    uint64_t moved = 0;
    idxf_permutation_init(&permutation, mask, f);
    assert_in_range(permutation.move_count, 1, f);
    for (unsigned i = 0; i < permutation.move_count; i++) {
        assert_in_range(permutation.moves[i].rotation, 0, 63);
        assert_true((moved & permutation.moves[i].bits) == 0);
        moved |= permutation.moves[i].bits;
    }
    assert_true(moved == idxf_low_bits(f));
    check(&permutation, mask, f, 0);
    check(&permutation, mask, f, idxf_low_bits(f));
    for (unsigned i = 0; i < f; i++) check(&permutation, mask, f, UINT64_C(1) << i);
    for (int round = 0; round < 4; round++) check(&permutation, mask, f, next_random(random) & idxf_low_bits(f));
}

static void test_every_f_with_regular_masks(void **state) {
    (void)state;
    uint64_t random = 1;
    for (unsigned f = 1; f <= 64; f++) {
        check_mask(idxf_low_bits(f), f, &random);
        for (unsigned i = 0; i < f; i++) {
            check_mask(UINT64_C(1) << i, f, &random);
            check_mask(idxf_low_bits(i + 1), f, &random);
            check_mask(idxf_low_bits(f) & ~idxf_low_bits(i), f, &random);
        }
        check_mask(UINT64_C(0x5555555555555555) & idxf_low_bits(f), f, &random);
        if (f > 1) check_mask(UINT64_C(0xAAAAAAAAAAAAAAAA) & idxf_low_bits(f), f, &random);
    }
}

static void test_every_f_with_random_masks(void **state) {
    (void)state;
    uint64_t random = 2;
    for (unsigned f = 1; f <= 64; f++) {
        for (int round = 0; round < 100; round++) {
            uint64_t mask = next_random(&random) & idxf_low_bits(f);
            if (round % 2) mask &= next_random(&random);
            if (mask != 0) check_mask(mask, f, &random);
        }
    }
}

/* SPEC.md's: for f = 8 and mask 3c, abcdefgh becomes cdefabgh. */
static void test_example(void **state) {
    (void)state;
    static const char *const before = "abcdefgh", *const after = "cdefabgh";
    struct idxf_permutation permutation;
    idxf_permutation_init(&permutation, 0x3C, 8);
    for (unsigned i = 0; i < 8; i++) {
        uint64_t expected = UINT64_C(1) << (63 - (strchr(after, before[i]) - after));
        assert_true(idxf_permute(&permutation, UINT64_C(0x80) >> i) == expected);
    }
}

/* A table's order is that of a stable sort by the prefix of fingerprints that ascend. */
static void test_order_is_that_of_a_stable_sort(void **state) {
    (void)state;
    struct idxf_permutation permutation;
    for (uint64_t mask = 1; mask < 64; mask++) {
        idxf_permutation_init(&permutation, mask, 6);
        for (uint64_t a = 0; a < 64; a++) {
            for (uint64_t b = a + 1; b < 64; b++) {
                bool is_below = idxf_permute(&permutation, a) < idxf_permute(&permutation, b);
                assert_int_equal(is_below, (a & mask) <= (b & mask));
            }
        }
    }
}

static void test_rotate_left(void **state) {
    (void)state;
    assert_true(idxf_rotate_left(UINT64_C(0x8000000000000001), 0) == UINT64_C(0x8000000000000001));
    assert_true(idxf_rotate_left(UINT64_C(0x8000000000000001), 1) == 3);
    assert_true(idxf_rotate_left(UINT64_C(0x8000000000000001), 63) == UINT64_C(0xC000000000000000));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_f_with_regular_masks),
        cmocka_unit_test(test_every_f_with_random_masks),
        cmocka_unit_test(test_example),
        cmocka_unit_test(test_order_is_that_of_a_stable_sort),
        cmocka_unit_test(test_rotate_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
