/* charset.c: tests of character sets: byte order marks, names, and what bytes become in UTF-8. */
#include "tools/formats/charset.h"
#include "tests/testing.h"
#include "tests/tools/exactly.h"

#include <stdlib.h>

static void assert_span(struct span span, const char *bytes, size_t length) {
    assert_int_equal(span.length, length);
    if (length > 0) assert_memory_equal(span.bytes, bytes, length);
}

/* ---- Byte order marks ---- */

static void check_mark(const char *bytes, size_t length, size_t taken, const char *expected) {
    char *copy = copy_exactly(bytes, length), name[CHARSET_NAME_SIZE] = "said";
    struct span text = {copy, length};
    charset_remove_mark(&text, name);
    assert_string_equal(name, expected);
    assert_span(text, bytes + taken, length - taken);
    free(copy);
}

static void test_marks(void **state) {
    (void)state;
    check_mark(LITERAL("\xef\xbb\xbf"), 3, "utf-8");
    check_mark(LITERAL("\xef\xbb\xbf\xef\xbb\xbf"), 3, "utf-8");
    check_mark(LITERAL("\xff\xfe"
                       "a\0"),
               2, "utf-16le");
    check_mark(LITERAL("\xff\xfe"), 2, "utf-16le");
    check_mark(LITERAL("\xff\xfe\0"), 2, "utf-16le");
    check_mark(LITERAL("\xfe\xff\0a"), 2, "utf-16be");
    check_mark(LITERAL("\xff\xfe\0\0a\0\0\0"), 4, "utf-32le");
    check_mark(LITERAL("\0\0\xfe\xff\0\0\0a"), 4, "utf-32be");
    check_mark(LITERAL(""), 0, "said");
    check_mark(LITERAL("\xef\xbb"), 0, "said");
    check_mark(LITERAL("\xff"), 0, "said");
    check_mark(LITERAL("\0\0\xfe"), 0, "said");
    check_mark(LITERAL("a\xef\xbb\xbf"), 0, "said");
}

/* ---- Decoding ---- */

static void check(const char *name, const char *bytes, size_t length, const char *expected, size_t expected_length) {
    char *copy = copy_exactly(bytes, length);
    struct span text = {copy, length};
    struct output buffer = OUTPUT_BUFFER;
    struct bad bad = {0};
    assert_true(charset_decode(&text, name, &buffer, &bad));
    assert_int_equal(bad.kind, BAD_NONE);
    assert_span(text, expected, expected_length);
    free(buffer.bytes);
    free(copy);
}

static void refuse(const char *name, const char *sentence) {
    struct span text = {"a", 1};
    struct output buffer = OUTPUT_BUFFER;
    struct bad bad = {0};
    assert_false(charset_decode(&text, name, &buffer, &bad));
    assert_int_equal(bad.kind, BAD_CHARSET);
    assert_string_equal(bad.problem.sentence, sentence);
    free(buffer.bytes);
}

static void test_utf8_is_left_alone(void **state) {
    (void)state;
    static const char *const names[] = {"", "utf-8", "UTF-8", "utf8", "UTF8"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        check(names[i], LITERAL("a\xff\0\xe4\xb8\xad"), LITERAL("a\xff\0\xe4\xb8\xad"));
    /* Under ICU's other name for it, what is ill-formed is replaced. */
    check("ibm-1208", LITERAL("a\xff\xe4\xb8z"), LITERAL("a\xef\xbf\xbd\xef\xbf\xbdz"));
}

static void test_character_sets(void **state) {
    (void)state;
    check("utf-16le", LITERAL("a\0-N\x3d\xd8\x00\xde"), LITERAL("a\xe4\xb8\xad\xf0\x9f\x98\x80"));
    check("utf-16be", LITERAL("\0aN-\xd8\x3d\xde\x00"), LITERAL("a\xe4\xb8\xad\xf0\x9f\x98\x80"));
    check("utf-32le", LITERAL("-N\0\0\x00\xf6\x01\0"), LITERAL("\xe4\xb8\xad\xf0\x9f\x98\x80"));
    check("utf-32be", LITERAL("\0\0N-"), LITERAL("\xe4\xb8\xad"));
    check("iso-8859-2", LITERAL("\xb1"), LITERAL("\xc4\x85"));
    check("koi8-r", LITERAL("\xcd\xc9\xd2"), LITERAL("\xd0\xbc\xd0\xb8\xd1\x80"));
    check("windows-1251", LITERAL("\xec\xe8\xf0"), LITERAL("\xd0\xbc\xd0\xb8\xd1\x80"));
    check("euc-jp", LITERAL("\xc6\xfc\xcb\xdc"), LITERAL("\xe6\x97\xa5\xe6\x9c\xac"));
    check("iso-2022-jp", LITERAL("\x1b$BF|K\\\x1b(Ba"),
          LITERAL("\xe6\x97\xa5\xe6\x9c\xac"
                  "a"));
    check("utf-16le", LITERAL(""), LITERAL(""));
    check("ascii", LITERAL("a\0b"), LITERAL("a\0b"));
}

/* Names stand for what browsers take them for, in any case. */
static void test_labels_of_the_web(void **state) {
    (void)state;
    static const char *const latin[] = {"iso-8859-1", "ISO8859-1", "latin1", "l1", "us-ascii", "windows-1252"};
    for (size_t i = 0; i < sizeof latin / sizeof *latin; i++)
        check(latin[i], LITERAL("\x93\xe9\x94"), LITERAL("\xe2\x80\x9c\xc3\xa9\xe2\x80\x9d"));
    check("iso-8859-9", LITERAL("\x80\xfe"), LITERAL("\xe2\x82\xac\xc5\x9f"));
    check("tis-620", LITERAL("\x80\xa1"), LITERAL("\xe2\x82\xac\xe0\xb8\x81"));
    /* U+93E2, in GBK alone, and U+1F600, in GB 18030 alone. */
    static const char *const chinese[] = {"gb2312", "GB_2312-80", "gbk", "x-gbk", "gb18030"};
    for (size_t i = 0; i < sizeof chinese / sizeof *chinese; i++)
        check(chinese[i], LITERAL("\xd6\xd0\xe7\x53\x94\x39\xfc\x36"),
              LITERAL("\xe4\xb8\xad\xe9\x8f\xa2\xf0\x9f\x98\x80"));
    check("big5", LITERAL("\xa4\xa4\xfa\x41"), LITERAL("\xe4\xb8\xad\xe9\x8b\x9b"));
    check("shift_jis", LITERAL("\x93\xfa\x87\x40\\~\x81\x60"), LITERAL("\xe6\x97\xa5\xe2\x91\xa0\\~\xef\xbd\x9e"));
    check("euc-kr", LITERAL("\xc7\xd1\x81\x41"), LITERAL("\xed\x95\x9c\xea\xb0\x82"));
}

static void test_ill_formed_is_replaced(void **state) {
    (void)state;
    check("utf-16le", LITERAL("\x3d\xd8z\0"), LITERAL("\xef\xbf\xbdz"));
    check("utf-16le", LITERAL("a\0b"), LITERAL("a\xef\xbf\xbd"));
    check("gb18030", LITERAL("a\xd6"), LITERAL("a\xef\xbf\xbd"));
    check("shift_jis", LITERAL("a\x93"), LITERAL("a\xef\xbf\xbd"));
    check("utf-32le", LITERAL("\0\0\x11\0a\0\0\0"),
          LITERAL("\xef\xbf\xbd"
                  "a"));
}

/* Three bytes for each, which is more than was reckoned with at first. */
static void test_text_that_grows(void **state) {
    (void)state;
    enum { COUNT = 100000 };
    static char euros[COUNT], expected[3 * COUNT];
    memset(euros, 0x80, sizeof euros);
    for (size_t i = 0; i < COUNT; i++) memcpy(expected + 3 * i, "\xe2\x82\xac", 3);
    for (size_t length = 1; length <= COUNT; length *= 10) check("windows-1252", euros, length, expected, 3 * length);
}

static void test_room_is_used_again(void **state) {
    (void)state;
    struct output buffer = OUTPUT_BUFFER;
    struct bad bad = {0};
    struct span first = {"\xe9\xe9\xe9", 3}, second = {"\xe8", 1};
    assert_true(charset_decode(&first, "latin1", &buffer, &bad));
    assert_span(first, LITERAL("\xc3\xa9\xc3\xa9\xc3\xa9"));
    assert_true(charset_decode(&second, "latin1", &buffer, &bad));
    assert_span(second, LITERAL("\xc3\xa8"));
    free(buffer.bytes);
}

static void test_unknown_names(void **state) {
    (void)state;
    refuse("klingon", "the character set 'klingon' is unknown");
    refuse("0123456789012345678901234567890123456789abc",
           "the character set '0123456789012345678901234567890123456789' is unknown");
    /* ICU takes what follows a comma as options, and looks for tables in files: neither is for a document to say. */
    refuse("utf-8,version=1", "the character set 'utf-8,version=1' is unknown");
    refuse("iso-2022,locale=ja,version=0", "the character set 'iso-2022,locale=ja,version=0' is unknown");
    refuse("../../tmp/table", "the character set '../../tmp/table' is unknown");
    refuse("/tmp/table", "the character set '/tmp/table' is unknown");
    refuse(".latin1", "the character set '.latin1' is unknown");
    refuse("\xe9", "the character set '\xe9' is unknown");
    static const char *const known[] = {"", "utf-8", "UTF8", "latin1", "x-sjis", "koi8-r", "utf-16le"};
    static const char *const unknown[] = {"klingon", "utf-8,version=1", "/tmp/table", ".latin1", "\xe9", " utf-8"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) assert_true(charset_is_known(known[i]));
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) assert_false(charset_is_known(unknown[i]));
}

/* ---- Well-formed or not ---- */

static bool is_utf8(const char *bytes, size_t length) {
    char *copy = copy_exactly(bytes, length);
    bool is = bytes_are_utf8(copy, length);
    free(copy);
    return is;
}

/* What is cut does not end within a character, and is not much shorter, whatever the bytes are. */
static void test_cut(void **state) {
    (void)state;
    assert_int_equal(printable_find_cut("abc", 3, 3), 3);
    assert_int_equal(printable_find_cut("abc", 3, 2), 2);
    assert_int_equal(printable_find_cut("a\xf0\x90\x80\x80z", 6, 5), 5);
    for (size_t most = 1; most < 5; most++) assert_int_equal(printable_find_cut("a\xf0\x90\x80\x80z", 6, most), 1);
    assert_int_equal(printable_find_cut("\x80\x80\x80\x80\x80\x80", 6, 5), 2);
    assert_int_equal(printable_find_cut("\x80\x80", 2, 1), 0);
}

static void test_well_formed_utf8(void **state) {
    (void)state;
    assert_true(is_utf8(LITERAL("")));
    assert_true(is_utf8(LITERAL("a\0b")));
    assert_true(is_utf8(LITERAL("\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf")));
    static const char *const wrong[] = {"\x80",
                                        "\xbf",
                                        "\xc0\x80",
                                        "\xc1\xbf",
                                        "\xe0\x9f\xbf",
                                        "\xed\xa0\x80",
                                        "\xf0\x8f\xbf\xbf",
                                        "\xf4\x90\x80\x80",
                                        "\xf5\x80\x80",
                                        "\xff",
                                        "\xc3",
                                        "\xe4\xb8",
                                        "\xf0\x9f\x98",
                                        "\xc3z",
                                        "\xe4\xb8z"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) assert_false(is_utf8(wrong[i], strlen(wrong[i])));
    /* Wherever it stands among bytes that are looked at eight at a time. */
    for (size_t at = 0; at < 40; at++) {
        char text[40];
        memset(text, 'a', sizeof text);
        text[at] = '\xff';
        assert_false(is_utf8(text, sizeof text));
        assert_true(is_utf8(text, at));
        if (at + 1 == sizeof text) continue;
        memcpy(text + at, "\xc3\xa9", 2);
        assert_true(is_utf8(text, sizeof text));
        assert_false(is_utf8(text, at + 1));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_marks),
        cmocka_unit_test(test_utf8_is_left_alone),
        cmocka_unit_test(test_character_sets),
        cmocka_unit_test(test_labels_of_the_web),
        cmocka_unit_test(test_ill_formed_is_replaced),
        cmocka_unit_test(test_text_that_grows),
        cmocka_unit_test(test_room_is_used_again),
        cmocka_unit_test(test_unknown_names),
        cmocka_unit_test(test_well_formed_utf8),
        cmocka_unit_test(test_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
