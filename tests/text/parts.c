/* parts.c: tests of dividing texts: what the parts are, that they are the whole text, and what is compared of them. */
#include <stdio.h>

#include "tests/text/testing.h"

/* The expected parts follow each other, each in brackets. */
static void check(enum idx_text_part part, bool escaped, const char *text, const char *expected) {
    char found[256];
    size_t length = 0, left = strlen(text), taken;
    for (; (taken = idx_text_find_part(text, left, part, escaped)) > 0; text += taken, left -= taken) {
        found[length++] = '[';
        memcpy(found + length, text, taken);
        length += taken;
        found[length++] = ']';
    }
    found[length] = '\0';
    assert_int_equal(left, 0);
    assert_string_equal(found, expected);
}

static void test_lines(void **state) {
    (void)state;
    check(IDX_TEXT_LINE, false, "", "");
    check(IDX_TEXT_LINE, false, "a", "[a]");
    check(IDX_TEXT_LINE, false, "a\n\nb\r\n", "[a\n][\n][b\r\n]");
    check(IDX_TEXT_LINE, true, "a\\n\\nb\\r\\n", "[a\\n][\\n][b\\r\\n]");
    check(IDX_TEXT_LINE, true, "a\\u000Ab\\u000a\\u000d", "[a\\u000A][b\\u000a][\\u000d]");
    check(IDX_TEXT_LINE, true, "a\\\\nb\\\\\\nc", "[a\\\\nb\\\\\\n][c]");
    check(IDX_TEXT_LINE, true, "\\ud83d\\ude00\\n\\u00e9", "[\\ud83d\\ude00\\n][\\u00e9]");
    check(IDX_TEXT_LINE, false, "a\\nb", "[a\\nb]");
}

static void test_paragraphs(void **state) {
    (void)state;
    check(IDX_TEXT_PARAGRAPH, false, "", "");
    check(IDX_TEXT_PARAGRAPH, false, "\n \t\n", "[\n \t\n]");
    check(IDX_TEXT_PARAGRAPH, false, "a\nb\n\nc", "[a\nb\n\n][c]");
    check(IDX_TEXT_PARAGRAPH, false, "\n\na\n\n\n  b\nc\n\n", "[\n\na\n\n\n][  b\nc\n\n]");
    check(IDX_TEXT_PARAGRAPH, false, "a\r\n\r\nb\r\n \r\n\v\f\r\nc", "[a\r\n\r\n][b\r\n \r\n\v\f\r\n][c]");
    check(IDX_TEXT_PARAGRAPH, true, "a\\n\\nb", "[a\\n\\n][b]");
    check(IDX_TEXT_PARAGRAPH, true, "a\\r\\n \\t\\u0020\\u0009\\f\\r\\nb\\nc\\n",
          "[a\\r\\n \\t\\u0020\\u0009\\f\\r\\n][b\\nc\\n]");
    check(IDX_TEXT_PARAGRAPH, true, "a\\n\\u00a0\\nb\\n\\b\\nc", "[a\\n\\u00a0\\n][b\\n\\b\\nc]");
    check(IDX_TEXT_PARAGRAPH, false, "a\n>\nb\n> > \n>c\n\u3000>\u00a0\n> d",
          "[a\n>\n][b\n> > \n][>c\n\u3000>\u00a0\n][> d]");
    check(IDX_TEXT_PARAGRAPH, false, ">\na\n\u2028\n", "[>\na\n\u2028\n]");
    check(IDX_TEXT_PARAGRAPH, true, "a\\n\\u003e\\u3000\\u003E\\nb", "[a\\n\\u003e\\u3000\\u003E\\n][b]");
    check(IDX_TEXT_PARAGRAPH, false, "a\n\xc2\nb\n\xe3\x80\nc\n\xe0\x80\xa0\nd\n\xa0\ne\n\xc2",
          "[a\n\xc2\nb\n\xe3\x80\nc\n\xe0\x80\xa0\nd\n\xa0\ne\n\xc2]");
}

/* White space, by Unicode's list of it, but for the line feed; and the mark of quotation. */
static bool is_blank(uint32_t c) {
    static const uint32_t blanks[] = {0x9,    0xb,    0xc,    0xd,    0x20,   '>',    0x85,   0xa0,   0x1680,
                                      0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008,
                                      0x2009, 0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000};
    for (size_t i = 0; i < sizeof blanks / sizeof *blanks; i++) {
        if (blanks[i] == c) return true;
    }
    return false;
}

static size_t count_paragraphs(const char *text, size_t length, bool escaped) {
    size_t count = 0, taken;
    for (; (taken = idx_text_find_part(text, length, IDX_TEXT_PARAGRAPH, escaped)) > 0; text += taken, length -= taken)
        count++;
    return count;
}

/* Every character, in UTF-8, as it is and in a string of JSON, and escaped there: a line of it ends a paragraph if it
 * is blank, and not otherwise. */
static void test_every_character(void **state) {
    (void)state;
    for (uint32_t c = 1; c < 0x110000; c++) {
        if (c == '\n' || (c >= 0xd800 && c < 0xe000)) continue;
        char text[24] = "a\n ", escaped[48];
        size_t length = 3;
        if (c < 0x80) text[length++] = (char)c;
        if (c >= 0x10000) text[length++] = (char)(0xf0 | c >> 18);
        if (c >= 0x800) text[length++] = (char)((c >= 0x10000 ? 0x80 : 0xe0) | (c >> 12 & (c >= 0x10000 ? 0x3f : 0xf)));
        if (c >= 0x80) text[length++] = (char)((c >= 0x800 ? 0x80 : 0xc0) | (c >> 6 & (c >= 0x800 ? 0x3f : 0x1f)));
        if (c >= 0x80) text[length++] = (char)(0x80 | (c & 0x3f));
        memcpy(text + length, "\nb", 2);
        const size_t expected = is_blank(c) ? 2 : 1;
        if (count_paragraphs(text, length + 2, false) != expected) fail_msg("U+%04X", (unsigned)c);
        snprintf(escaped, sizeof escaped, "a\\n%.*s\\nb", (int)length - 2, text + 2);
        if (c != '"' && c != '\\' && count_paragraphs(escaped, strlen(escaped), true) != expected)
            fail_msg("U+%04X in JSON", (unsigned)c);
        for (int form = 0; form < 2 && c < 0x10000; form++) {
            snprintf(escaped, sizeof escaped, form == 0 ? "a\\n\\u%04x\\nb" : "a\\u000a\\u%04X\\u000Ab", (unsigned)c);
            if (count_paragraphs(escaped, strlen(escaped), true) != expected) fail_msg("U+%04X escaped", (unsigned)c);
        }
    }
}

/* What is compared of a part has no marks of quotation at the beginning of its lines; other bytes are as they were. The
 * answer may take the place of the part. */
static void test_quotations(void **state) {
    static const char *const texts[][2] = {{"", ""},
                                           {"a > b\n", "a > b\n"},
                                           {">a", "a"},
                                           {"> a\n> b\n", "a\nb\n"},
                                           {"a\n> > b\n\t>\u00a0>c", "a\nb\nc"},
                                           {"  a\n>\n>> b > c>", "  a\n\nb > c>"},
                                           {"x>\n>", "x>\n\n"},
                                           {"\xc2>\n", "\xc2>\n"}};
    char unquoted[32];
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const size_t length = strlen(texts[i][0]), expected = strlen(texts[i][1]);
        assert_int_equal(idx_text_unquote(texts[i][0], length, unquoted), expected);
        assert_memory_equal(unquoted, texts[i][1], expected);
        memcpy(unquoted, texts[i][0], length);
        assert_int_equal(idx_text_unquote(unquoted, length, unquoted), expected);
        assert_memory_equal(unquoted, texts[i][1], expected);
    }
}

/* A line of 64 MiB, and as many line ends. */
static void test_large(void **state) {
    const size_t size = (size_t)64 << 20;
    char *text = malloc(size);
    (void)state;
    assert_non_null(text);
    memset(text, 'a', size);
    assert_int_equal(idx_text_find_part(text, size, IDX_TEXT_PARAGRAPH, false), size);
    assert_int_equal(idx_text_find_part(text, size, IDX_TEXT_LINE, true), size);
    memset(text, '\n', size);
    assert_int_equal(idx_text_find_part(text, size, IDX_TEXT_PARAGRAPH, false), size);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines), cmocka_unit_test(test_paragraphs),
                                       cmocka_unit_test(test_every_character), cmocka_unit_test(test_quotations),
                                       cmocka_unit_test(test_large)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
