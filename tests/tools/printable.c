/* printable.c: tests of what is printed of text from outside. */
#include "tools/shared/wording.h"

#include <stdio.h>

#include "tests/testing.h"

static void check(const char *text, const char *expected) {
    char printed[256] = "", piece[PRINTABLE_PIECE_BYTES];
    while (*text != '\0') {
        text += printable_write_piece(text, piece);
        strcat(printed, piece);
    }
    assert_string_equal(printed, expected);
}

static void test_text_stays(void **state) {
    (void)state;
    check("a b~\\x1b \"'", "a b~\\x1b \"'");
    check("na\u00efve \u8fd1\u4f3c \U0001f468\u200d\U0001f469 \u00a0\u07ff\u0800\uffff\U0010ffff",
          "na\u00efve \u8fd1\u4f3c \U0001f468\u200d\U0001f469 \u00a0\u07ff\u0800\uffff\U0010ffff");
}

static void test_controls(void **state) {
    (void)state;
    check("a\nidx: b\r\t\x1b[2J\x07\x7f", "a\\x0aidx: b\\x0d\\x09\\x1b[2J\\x07\\x7f");
    check("\xc2\x80\xc2\x9b"
          "31m\xc2\x9f",
          "\\xc2\\x80\\xc2\\x9b31m\\xc2\\x9f");
    check("\u2028\u2029\u202e\u2066\u200f\u061c",
          "\\xe2\\x80\\xa8\\xe2\\x80\\xa9\\xe2\\x80\\xae\\xe2\\x81\\xa6\\xe2\\x80\\x8f\\xd8\\x9c");
}

static void test_ill_formed(void **state) {
    (void)state;
    check("\x80z\xff", "\\x80z\\xff");
    check("\x9b"
          "31m",
          "\\x9b31m");
    check("\xc3", "\\xc3");
    check("\xe8\xbf", "\\xe8\\xbf");
    check("\xf0\x9f\x91z", "\\xf0\\x9f\\x91z");
    check("\xc0\x8a\xc1\xbf", "\\xc0\\x8a\\xc1\\xbf"); /* longer than need be */
    check("\xe0\x9f\xbf\xf0\x8f\xbf\xbf", "\\xe0\\x9f\\xbf\\xf0\\x8f\\xbf\\xbf");
    check("\xed\xa0\x80", "\\xed\\xa0\\x80"); /* a surrogate */
    check("\xf4\x90\x80\x80\xf8\x88\x80\x80\x80", "\\xf4\\x90\\x80\\x80\\xf8\\x88\\x80\\x80\\x80");
}

/* Every byte, before the end and before another one: no byte of the output is a control. */
static void test_all_pairs(void **state) {
    (void)state;
    for (int first = 1; first < 256; first++) {
        for (int second = 0; second < 256; second++) {
            char text[3] = {(char)first, (char)second, '\0'}, piece[PRINTABLE_PIECE_BYTES];
            size_t length = printable_write_piece(text, piece);
            assert_true(length >= 1 && length <= strlen(text) && strlen(piece) < PRINTABLE_PIECE_BYTES);
            for (const char *at = piece; *at != '\0'; at++) assert_true((unsigned char)*at >= ' ' && *at != 0x7f);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_stays),
        cmocka_unit_test(test_controls),
        cmocka_unit_test(test_ill_formed),
        cmocka_unit_test(test_all_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
