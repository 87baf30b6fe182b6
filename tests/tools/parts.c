/* parts.c: tests of dividing texts: what the parts are, that they are the whole text, and that a string of JSON is
 * divided where its text is. */
#include "tools/text/parts.h"

#include <stdlib.h>

#include "tests/random.h"
#include "tests/testing.h"
#include "tools/text/scan.h"

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
    check(PARTS_PARAGRAPH, true, "a\\n\\u00a0\\nb\\n\\b\\nc", "[a\\n\\u00a0\\nb\\n\\b\\nc]");
}

/* Random texts of what could end a part, or seem to. The text of each part of a string is a part of the string's text.
 */
static void test_escaped(void **state) {
    static const char *const pieces[] = {"a",        "b",       " ",       "\\n",     "\\n",     "\\r",
                                         "\\\\",     "\\\"",    "\\/",     "\\u000a", "\\u000A", "\\u0020",
                                         "\\u00a0",  "\\u000d", "\\u001a", "\\ud83d", "\\ude00", "\\ud83d\\ude00",
                                         "\xc3\xa9", "\\t",     "n",       "\\\\n",   "u000a",   "\\b"};
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines), cmocka_unit_test(test_paragraphs),
                                       cmocka_unit_test(test_escaped), cmocka_unit_test(test_large),
                                       cmocka_unit_test(test_texts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
