/* number.c: tests of the numbers that options take. */
#include "tools/shared/wording.h"

#include "tests/testing.h"

static void check(const char *text, uint64_t expected) {
    uint64_t value = 0;
    if (!number_parse(text, &value)) fail_msg("'%s' was refused", text);
    if (value != expected) fail_msg("'%s' gave %llu", text, (unsigned long long)value);
}

static void refuse(const char *text) {
    uint64_t value;
    if (number_parse(text, &value)) fail_msg("'%s' was accepted", text);
}

static void test_numbers(void **state) {
    (void)state;
    check("0", 0);
    check("007", 7);
    check("18446744073709551615", UINT64_MAX);
    check("9999999999999999999", UINT64_C(9999999999999999999));
    check("000000000000000000000000000018446744073709551615", UINT64_MAX);
    check("1K", 1024);
    check("3M", UINT64_C(3) << 20);
    check("2G", UINT64_C(2) << 30);
    check("1T", UINT64_C(1) << 40);
    check("16777215T", UINT64_C(16777215) << 40);
    check("1e9", 1000000000);
    check("12e0", 12);
    check("0e99999", 0);
    check("2^34", UINT64_C(1) << 34);
    check("2^63", UINT64_C(1) << 63);
    check("10^19", UINT64_C(10000000000000000000));
    check("0^0", 1);
    check("0^9", 0);
    check("1^18446744073709551615", 1);
    check("5^1", 5);
    check("1.5e9", 1500000000);
    check("8e9", UINT64_C(8000000000));
    check("0.25e2", 25);
    check("1.50000000000000000000000e1", 15);
    check("18.446744073709551615e18", UINT64_MAX);
    check("1.5K", 1536);
    check("0.5T", UINT64_C(1) << 39);
    check("16777215.5T", UINT64_C(33554431) << 39);
    check("3.0", 3);
}

static void test_what_is_none(void **state) {
    (void)state;
    refuse("");
    refuse("-1");
    refuse("+1");
    refuse(" 1");
    refuse("1 ");
    refuse("1.5");
    refuse("0x10");
    refuse("1.");
    refuse(".5e1");
    refuse("1.e3");
    refuse("1.5e0");
    refuse("1.25e1");
    refuse("1.55K");
    refuse("1.1K");
    refuse("1.5.5e9");
    refuse("1.5^2");
    refuse("1,5e9");
    refuse("1.5e9.5");
    refuse("18.446744073709551616e18");
    refuse("0.18446744073709551616e19");
    refuse("18446744073709551616");
    refuse("18446744073709551620");
    refuse("99999999999999999999");
    refuse("00000000000000000000000/");
    refuse("18446744073709551615K");
    refuse("16777216T");
    refuse("2^64");
    refuse("10^20");
    refuse("1e20");
    refuse("1e");
    refuse("2^");
    refuse("K");
    refuse("1k");
    refuse("1KB");
    refuse("1P");
    refuse("e9");
}

static void test_digits_end_where_told(void **state) {
    uint64_t value;
    (void)state;
    assert_true(number_parse_digits("123456", 3, &value));
    assert_int_equal(value, 123);
    assert_false(number_parse_digits("12\0"
                                     "4",
                                     4, &value));
    assert_false(number_parse_digits("1K", 2, &value));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_what_is_none),
        cmocka_unit_test(test_digits_end_where_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
