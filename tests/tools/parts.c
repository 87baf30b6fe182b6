/* parts.c: tests of dividing texts: what the parts are, that they are the whole text, and that a string of JSON is
 * divided where its text is. */
#include "tools/formats/parts.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/random.h"
#include "tests/testing.h"
#include "tools/formats/scan.h"

/* The expected parts follow each other, each in brackets. */
static void check(enum parts_by by, bool escaped, const char *text, const char *expected) {
    char found[256];
    struct parts parts = {{text, strlen(text)}, by, escaped};
    struct span part;
    size_t length = 0;
    while (parts_next(&parts, &part)) {
        found[length++] = '[';
        memcpy(found + length, part.bytes, part.length);
        length += part.length;
        found[length++] = ']';
    }
    found[length] = '\0';
    assert_string_equal(found, expected);
}

static void test_lines(void **state) {
    (void)state;
    check(PARTS_LINE, false, "", "");
    check(PARTS_LINE, false, "a", "[a]");
    check(PARTS_LINE, false, "a\n\nb\r\n", "[a\n][\n][b\r\n]");
    check(PARTS_LINE, true, "a\\n\\nb\\r\\n", "[a\\n][\\n][b\\r\\n]");
    check(PARTS_LINE, true, "a\\u000Ab\\u000a\\u000d", "[a\\u000A][b\\u000a][\\u000d]");
    check(PARTS_LINE, true, "a\\\\nb\\\\\\nc", "[a\\\\nb\\\\\\n][c]");
    check(PARTS_LINE, true, "\\ud83d\\ude00\\n\\u00e9", "[\\ud83d\\ude00\\n][\\u00e9]");
    check(PARTS_LINE, false, "a\\nb", "[a\\nb]");
    check(PARTS_DOCUMENT, false, "a\n\nb", "[a\n\nb]");
}

static void test_paragraphs(void **state) {
    (void)state;
    check(PARTS_PARAGRAPH, false, "", "");
    check(PARTS_PARAGRAPH, false, "\n \t\n", "[\n \t\n]");
    check(PARTS_PARAGRAPH, false, "a\nb\n\nc", "[a\nb\n\n][c]");
    check(PARTS_PARAGRAPH, false, "\n\na\n\n\n  b\nc\n\n", "[\n\na\n\n\n][  b\nc\n\n]");
    check(PARTS_PARAGRAPH, false, "a\r\n\r\nb\r\n \r\n\v\f\r\nc", "[a\r\n\r\n][b\r\n \r\n\v\f\r\n][c]");
    check(PARTS_PARAGRAPH, true, "a\\n\\nb", "[a\\n\\n][b]");
    check(PARTS_PARAGRAPH, true, "a\\r\\n \\t\\u0020\\u0009\\f\\r\\nb\\nc\\n",
          "[a\\r\\n \\t\\u0020\\u0009\\f\\r\\n][b\\nc\\n]");
    check(PARTS_PARAGRAPH, true, "a\\n\\u00a0\\nb\\n\\b\\nc", "[a\\n\\u00a0\\n][b\\n\\b\\nc]");
    check(PARTS_PARAGRAPH, false, "a\n>\nb\n> > \n>c\n\u3000>\u00a0\n> d",
          "[a\n>\n][b\n> > \n][>c\n\u3000>\u00a0\n][> d]");
    check(PARTS_PARAGRAPH, false, ">\na\n\u2028\n", "[>\na\n\u2028\n]");
    check(PARTS_PARAGRAPH, true, "a\\n\\u003e\\u3000\\u003E\\nb", "[a\\n\\u003e\\u3000\\u003E\\n][b]");
    check(PARTS_PARAGRAPH, false, "a\n\xc2\nb\n\xe3\x80\nc\n\xe0\x80\xa0\nd\n\xa0\ne\n\xc2",
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
    struct parts parts = {{text, length}, PARTS_PARAGRAPH, escaped};
    struct span part;
    size_t count = 0;
    while (parts_next(&parts, &part)) count++;
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

/* What is compared of a part has no marks of quotation at the beginning of its lines; other bytes are as they were. */
static void test_quotations(void **state) {
    static const char *const texts[][2] = {{"", ""},
                                           {"a > b\n", "a > b\n"},
                                           {">a", "a"},
                                           {"> a\n> b\n", "a\nb\n"},
                                           {"a\n> > b\n\t>\u00a0>c", "a\nb\nc"},
                                           {"  a\n>\n>> b > c>", "  a\n\nb > c>"},
                                           {"x>\n>", "x>\n\n"},
                                           {"\xc2>\n", "\xc2>\n"}};
    struct output kept = OUTPUT_KEPT;
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct span part = {texts[i][0], strlen(texts[i][0])};
        assert_true(parts_unquote(&part, &kept));
        assert_int_equal(part.length, strlen(texts[i][1]));
        assert_memory_equal(part.bytes, texts[i][1], part.length);
    }
    free(kept.bytes);
}

/* Random texts of what could end a part, or seem to. The text of each part of a string is a part of the string's text.
 */
static void test_escaped(void **state) {
    static const char *const pieces[] = {"a",        "b",       " ",       "\\n",     "\\n",     "\\r",
                                         "\\\\",     "\\\"",    "\\/",     "\\u000a", "\\u000A", "\\u0020",
                                         "\\u00a0",  "\\u000d", "\\u001a", "\\ud83d", "\\ude00", "\\ud83d\\ude00",
                                         "\xc3\xa9", "\\t",     "n",       "\\\\n",   "u000a",   "\\b",
                                         ">",        "\\u003e", "\u3000",  "\\u3000", "\u00a0",  "\\u2028"};
    enum { PIECES = sizeof pieces / sizeof *pieces };
    uint64_t seed = 1;
    (void)state;
    for (int trial = 0; trial < 20000; trial++) {
        char string[512] = "\"";
        struct output kept = OUTPUT_KEPT, kept_part = OUTPUT_KEPT;
        struct bad bad;
        for (uint64_t i = next_random(&seed) % 30; i > 0; i--) strcat(string, pieces[next_random(&seed) % PIECES]);
        strcat(string, "\"");
        struct span value = {string, strlen(string)}, text, part, of_text, decoded;
        assert_true(scan_string(value, &kept, &text, &bad));
        enum parts_by by = trial % 2 == 0 ? PARTS_LINE : PARTS_PARAGRAPH;
        struct parts parts = {{value.bytes + 1, value.length - 2}, by, true}, of_texts = {text, by, false};
        const char *end = value.bytes + 1;
        while (parts_next(&parts, &part)) {
            char copy[512] = "\"";
            assert_ptr_equal(part.bytes, end);
            end += part.length;
            strncat(copy, part.bytes, part.length);
            strcat(copy, "\"");
            assert_true(scan_string((struct span){copy, strlen(copy)}, &kept_part, &decoded, &bad));
            assert_true(parts_next(&of_texts, &of_text));
            assert_int_equal(decoded.length, of_text.length);
            assert_memory_equal(decoded.bytes, of_text.bytes, decoded.length);
        }
        assert_ptr_equal(end, value.bytes + value.length - 1);
        assert_false(parts_next(&of_texts, &of_text));
        free(kept.bytes);
        free(kept_part.bytes);
    }
}

/* A line of 64 MiB, the longest document that is read, and as many line ends. */
static void test_large(void **state) {
    const size_t size = (size_t)64 << 20;
    char *text = malloc(size);
    struct span part;
    (void)state;
    assert_non_null(text);
    memset(text, 'a', size);
    for (enum parts_by by = PARTS_PARAGRAPH; by <= PARTS_LINE; by++) {
        struct parts parts = {{text, size}, by, by == PARTS_LINE};
        assert_true(parts_next(&parts, &part));
        assert_int_equal(part.length, size);
        assert_false(parts_next(&parts, &part));
    }
    memset(text, '\n', size);
    struct parts parts = {{text, size}, PARTS_PARAGRAPH, false};
    assert_true(parts_next(&parts, &part));
    assert_int_equal(part.length, size);
    assert_false(parts_next(&parts, &part));
    free(text);
}

static void check_text(enum document_format format, const char *document, const char *expected) {
    const struct extract_rules rules = {.json.text = "text"};
    struct bad bad = {.kind = BAD_NONE};
    struct span text;
    bool escaped;
    bool found = parts_find_text(&rules, format, (struct span){document, strlen(document)}, &text, &escaped, &bad);
    assert_int_equal(found, expected != NULL);
    assert_int_equal(bad.kind != BAD_NONE, expected == NULL);
    if (!found) return;
    assert_int_equal(text.length, strlen(expected));
    assert_memory_equal(text.bytes, expected, text.length);
    assert_int_equal(escaped, format == FORMAT_JSONL);
    assert_true(text.bytes >= document && text.bytes + text.length <= document + strlen(document));
}

static void test_texts(void **state) {
    (void)state;
    check_text(FORMAT_PLAIN, "a\nb", "a\nb");
    check_text(FORMAT_PLAIN, "", "");
    check_text(FORMAT_PLAIN,
               "\xef\xbb\xbf"
               "a",
               "a");
    check_text(FORMAT_PLAIN,
               "\xff\xfe"
               "a",
               NULL);
    check_text(FORMAT_TSV, "id\ta\tb", "a\tb");
    check_text(FORMAT_TSV, "id", NULL);
    check_text(FORMAT_JSONL, "{\"id\": 1, \"text\" : \"a\\u00e9\\n\" }", "a\\u00e9\\n");
    check_text(FORMAT_JSONL, "{\"text\": \"a\", \"text\": \"\"}", "");
    check_text(FORMAT_JSONL, "{\"text\": null}", NULL);
    check_text(FORMAT_JSONL, "{}", NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines),     cmocka_unit_test(test_paragraphs),
                                       cmocka_unit_test(test_escaped),   cmocka_unit_test(test_large),
                                       cmocka_unit_test(test_texts),     cmocka_unit_test(test_every_character),
                                       cmocka_unit_test(test_quotations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
