/* notation.c: tests of reading and writing fingerprints. */
#include "tools/shared/wording.h"

#include "tests/testing.h"

static void check(enum notation notation, unsigned bits, const char *text, uint64_t expected) {
    uint64_t value = ~expected;
    struct problem problem = {""};
    if (!notation_parse_fingerprint(notation, bits, text, strlen(text), &value, &problem))
        fail_msg("'%s' was refused: %s", text, problem.sentence);
    if (value != expected) fail_msg("'%s' gave %llx", text, (unsigned long long)value);
}

/* Refused, with this sentence. */
static void refuse(enum notation notation, unsigned bits, const char *text, const char *sentence) {
    uint64_t value;
    struct problem problem = {""};
    if (notation_parse_fingerprint(notation, bits, text, strlen(text), &value, &problem))
        fail_msg("'%s' was accepted", text);
    assert_string_equal(problem.sentence, sentence);
}

static void check_print(enum notation notation, unsigned bits, uint64_t fingerprint, const char *expected) {
    char text[NOTATION_MAX_LENGTH + 1];
    text[notation_format_fingerprint(notation, bits, fingerprint, text)] = '\0';
    assert_string_equal(text, expected);
}

static void test_hex(void **state) {
    (void)state;
    check(NOTATION_HEX, 64, "0123456789abcdef", UINT64_C(0x0123456789abcdef));
    check(NOTATION_HEX, 64, "0x0123456789ABCDEF", UINT64_C(0x0123456789abcdef));
    check(NOTATION_HEX, 64, "0Xffffffffffffffff", UINT64_MAX);
    check(NOTATION_HEX, 63, "7fffffffffffffff", UINT64_MAX >> 1);
    check(NOTATION_HEX, 32, "deadBEEF", 0xdeadbeef);
    check(NOTATION_HEX, 5, "1f", 0x1f);
    check(NOTATION_HEX, 1, "1", 1);
    check(NOTATION_HEX, 1, "0x0", 0);
}

static void test_hex_refused(void **state) {
    (void)state;
    refuse(NOTATION_HEX, 64, "", "the fingerprint is missing");
    refuse(NOTATION_HEX, 64, "abc", "a fingerprint of 64 bits has 16 hex digits, but this one has 3");
    refuse(NOTATION_HEX, 64, "0x", "a fingerprint of 64 bits has 16 hex digits, but this one has 0");
    refuse(NOTATION_HEX, 64, "00123456789abcdef", "a fingerprint of 64 bits has 16 hex digits, but this one has 17");
    refuse(NOTATION_HEX, 64, "-5",
           "a fingerprint of 64 bits has 16 hex digits, but this one has 2 (--fingerprints dec or signed reads decimal "
           "numbers)");
    refuse(NOTATION_HEX, 64, "0123456789abcdeg", "'g' is not a hex digit; a fingerprint of 64 bits has 16 of them");
    refuse(NOTATION_HEX, 64, "0123456789abcde ",
           "byte 0x20 is not a hex digit; a fingerprint of 64 bits has 16 of them");
    refuse(NOTATION_HEX, 64, "0123456789abcdef\r",
           "the fingerprint ends in a carriage return; lines must end in \\n alone");
    refuse(NOTATION_HEX, 63, "8000000000000000", "the fingerprint is not below 2^63: it has more than 63 bits");
    refuse(NOTATION_HEX, 1, "2", "the fingerprint is not below 2^1: it has more than 1 bits");
}

static void test_decimal(void **state) {
    (void)state;
    check(NOTATION_DEC, 64, "18446744073709551615", UINT64_MAX);
    check(NOTATION_DEC, 64, "000", 0);
    check(NOTATION_DEC, 32, "851459198", 851459198);
    check(NOTATION_DEC, 32, "4294967295", 0xffffffff);
    refuse(NOTATION_DEC, 32, "4294967296", "the fingerprint is not below 2^32: it has more than 32 bits");
    refuse(NOTATION_DEC, 64, "18446744073709551616", "the fingerprint is not below 2^64: it has more than 64 bits");
    refuse(NOTATION_DEC, 64, "-1", "the fingerprint is negative (--fingerprints signed reads such numbers)");
    refuse(NOTATION_DEC, 64, "+1", "the fingerprint is not a decimal number");
    refuse(NOTATION_DEC, 64, "1.0", "the fingerprint is not a decimal number");
    refuse(NOTATION_DEC, 64, "ff", "the fingerprint is not a decimal number");
}

static void test_signed(void **state) {
    (void)state;
    check(NOTATION_SIGNED, 64, "-1", UINT64_MAX);
    check(NOTATION_SIGNED, 64, "-0", 0);
    check(NOTATION_SIGNED, 64, "-9223372036854775808", UINT64_C(1) << 63);
    check(NOTATION_SIGNED, 64, "9223372036854775807", UINT64_MAX >> 1);
    check(NOTATION_SIGNED, 32, "-2147483648", 0x80000000);
    check(NOTATION_SIGNED, 32, "-2", 0xfffffffe);
    check(NOTATION_SIGNED, 1, "-1", 1);
    check(NOTATION_SIGNED, 1, "0", 0);
    refuse(NOTATION_SIGNED, 64, "9223372036854775808",
           "a signed fingerprint of 64 bits must be from -2^63 to 2^63-1, but this one is not");
    refuse(NOTATION_SIGNED, 64, "-9223372036854775809",
           "a signed fingerprint of 64 bits must be from -2^63 to 2^63-1, but this one is not");
    refuse(NOTATION_SIGNED, 1, "1", "a signed fingerprint of 1 bits must be from -2^0 to 2^0-1, but this one is not");
    refuse(NOTATION_SIGNED, 64, "-", "the fingerprint is not a decimal number");
    refuse(NOTATION_SIGNED, 64, "--1", "the fingerprint is not a decimal number");
}

static void test_print(void **state) {
    (void)state;
    check_print(NOTATION_HEX, 64, 0xab, "00000000000000ab");
    check_print(NOTATION_HEX, 5, 0x1f, "1f");
    check_print(NOTATION_HEX, 1, 1, "1");
    check_print(NOTATION_DEC, 64, 0, "0");
    check_print(NOTATION_DEC, 64, UINT64_MAX, "18446744073709551615");
    check_print(NOTATION_SIGNED, 64, UINT64_MAX, "-1");
    check_print(NOTATION_SIGNED, 64, UINT64_C(1) << 63, "-9223372036854775808");
    check_print(NOTATION_SIGNED, 64, 12, "12");
    check_print(NOTATION_SIGNED, 32, 0x80000000, "-2147483648");
    check_print(NOTATION_SIGNED, 1, 1, "-1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hex),    cmocka_unit_test(test_hex_refused), cmocka_unit_test(test_decimal),
        cmocka_unit_test(test_signed), cmocka_unit_test(test_print),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
