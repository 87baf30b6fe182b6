/* weight.c: tests of the weight 1 + log2 of a count. */
#include "libidx/text/table.h"

#include <math.h>

#include "tests/text/testing.h"

static void test_powers_of_two_are_exact(void **state) {
    (void)state;
    for (int exponent = 0; exponent < 64; exponent++) {
        assert_int_equal(idxt_log_weight(UINT64_C(1) << exponent), 65536 * (exponent + 1));
    }
}

/* Just below a power of two, where rounding must not reach it. Above 2^15 or so log2(2^n + 1) rounds down to n. */
static void test_neighbours_of_powers_of_two(void **state) {
    (void)state;
    for (int exponent = 2; exponent < 32; exponent++) {
        uint64_t power = UINT64_C(1) << exponent;
        assert_true(idxt_log_weight(power - 1) < 65536 * (exponent + 1));
        assert_true(idxt_log_weight(power + 1) >= 65536 * (exponent + 1));
    }
    assert_int_equal(idxt_log_weight((1 << 20) + 1), 65536 * 21);
}

/* Every count up to 2^20 against the logarithm of the C library, where its error can't matter: no logarithm but those
 * of powers of two comes near a multiple of 1/65536. */
static void test_every_count_against_floating_point(void **state) {
    (void)state;
    for (uint64_t count = 1; count <= 1 << 20; count++) {
        if ((count & (count - 1)) == 0) continue;
        long double exact = log2l((long double)count) * 65536;
        assert_true(fabsl(exact - roundl(exact)) > 1e-8L);
        if (idxt_log_weight(count) != 65536 + (int64_t)floorl(exact)) fail_msg("count %llu", (unsigned long long)count);
    }
}

/* Made by Python's integers, which have no limit: 65536 + (count**65536).bit_length() - 1. */
static void test_against_exact_powers(void **state) {
    (void)state;
    static const struct {
        uint64_t count;
        int64_t weight;
    } cases[] = {
        {3, 169408},          {5, 217705},           {7, 249518},           {10, 283241},          {100, 500947},
        {1000, 718653},       {12345, 956277},       {65535, 1114110},      {65537, 1114113},      {1048575, 1376255},
        {999999937, 2024888}, {2147483647, 2097151}, {4294967291, 2162687}, {4294967295, 2162687},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(idxt_log_weight(cases[i].count), cases[i].weight);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_powers_of_two_are_exact),
        cmocka_unit_test(test_neighbours_of_powers_of_two),
        cmocka_unit_test(test_every_count_against_floating_point),
        cmocka_unit_test(test_against_exact_powers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
