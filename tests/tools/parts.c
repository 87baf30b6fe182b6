/* parts.c: tests of dividing documents: a string of JSON is divided where its text is. What the parts of texts are,
 * tests/text/parts.c has. */
#include "tools/formats/parts.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/random.h"
#include "tests/testing.h"
#include "tools/formats/scan.h"

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
        struct output buffer = OUTPUT_BUFFER, part_buffer = OUTPUT_BUFFER;
        struct bad bad;
        for (uint64_t i = next_random(&seed) % 30; i > 0; i--) strcat(string, pieces[next_random(&seed) % PIECES]);
        strcat(string, "\"");
        struct span value = {string, strlen(string)}, text, part, of_text, decoded;
        assert_true(scan_string(value, &buffer, &text, &bad));
        enum parts_by by = trial % 2 == 0 ? PARTS_LINE : PARTS_PARAGRAPH;
        struct parts parts = {{value.bytes + 1, value.length - 2}, by, true}, of_texts = {text, by, false};
        const char *end = value.bytes + 1;
        while (parts_cut_next(&parts, &part)) {
            char copy[512] = "\"";
            assert_ptr_equal(part.bytes, end);
            end += part.length;
            strncat(copy, part.bytes, part.length);
            strcat(copy, "\"");
            assert_true(scan_string((struct span){copy, strlen(copy)}, &part_buffer, &decoded, &bad));
            assert_true(parts_cut_next(&of_texts, &of_text));
            assert_int_equal(decoded.length, of_text.length);
            assert_memory_equal(decoded.bytes, of_text.bytes, decoded.length);
        }
        assert_ptr_equal(end, value.bytes + value.length - 1);
        assert_false(parts_cut_next(&of_texts, &of_text));
        free(buffer.bytes);
        free(part_buffer.bytes);
    }
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_escaped), cmocka_unit_test(test_texts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
