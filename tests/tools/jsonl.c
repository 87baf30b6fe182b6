/* jsonl.c: tests of finding the fields of a line of JSON. */
#include "tools/text/extract.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct parsed {
    char *line; /* without a terminating NUL, so that a sanitizer sees a read beyond its bytes */
    struct jsonl jsonl;
    struct fields fields;
    struct bad bad;
    bool good;
};

static struct parsed parse_bytes(const struct jsonl_rules *rules, const char *line, size_t length) {
    struct parsed parsed = {.line = malloc(length > 0 ? length : 1)};
    assert_non_null(parsed.line);
    memcpy(parsed.line, line, length);
    parsed.good = jsonl_parse(rules, parsed.line, length, &parsed.jsonl, &parsed.fields, &parsed.bad);
    return parsed;
}

static void release(struct parsed *parsed) {
    json_decref(parsed->jsonl.object);
    free(parsed->line);
}

static void assert_field(const char *bytes, size_t length, const char *expected) {
    assert_int_equal(length, strlen(expected));
    assert_memory_equal(bytes, expected, length);
}

static void check_text(const char *path, const char *line, const char *text) {
    struct jsonl_rules rules = {.text = path};
    struct parsed parsed = parse_bytes(&rules, line, strlen(line));
    assert_true(parsed.good);
    assert_int_equal(parsed.bad.kind, BAD_NONE);
    assert_field(parsed.fields.body.bytes, parsed.fields.body.length, text);
    assert_null(parsed.fields.id.bytes);
    assert_int_equal(parsed.fields.title.length, 0);
    release(&parsed);
}

static void refuse(const struct jsonl_rules *rules, const char *line, enum bad_kind kind, const char *sentence) {
    struct parsed parsed = parse_bytes(rules, line, strlen(line));
    assert_false(parsed.good);
    assert_int_equal(parsed.bad.kind, kind);
    assert_string_equal(parsed.bad.problem.sentence, sentence);
    release(&parsed);
}

static void refuse_text(const char *path, const char *line, enum bad_kind kind, const char *sentence) {
    struct jsonl_rules rules = {.text = path};
    refuse(&rules, line, kind, sentence);
}

static void test_text(void **state) {
    (void)state;
    check_text("text", "{\"text\":\"a b\"}", "a b");
    check_text("text", " {\"x\":[1,{}],\"text\":\"\"}\r", "");
    check_text("text", "{\"text\":\"\\u00e9\\ud83d\\ude00\\n\\\"\xe4\xb8\xad\"}",
               "\xc3\xa9\xf0\x9f\x98\x80\n\"\xe4\xb8\xad");
    /* Of fields of one name the last one is meant, as everywhere. */
    check_text("text", "{\"text\":1,\"text\":\"b\"}", "b");
    struct jsonl_rules rules = {.text = "text"};
    const char *line = "{\"text\":\"a\\u0000b\"}";
    struct parsed parsed = parse_bytes(&rules, line, strlen(line));
    assert_true(parsed.good);
    assert_int_equal(parsed.fields.body.length, 3);
    assert_memory_equal(parsed.fields.body.bytes, "a\0b", 3);
    release(&parsed);
}

static void test_names_with_dots(void **state) {
    (void)state;
    check_text("a.b.c", "{\"a\":{\"b\":{\"c\":\"x\"}}}", "x");
    check_text("a.1.b", "{\"a\":[{},{\"b\":\"x\"}]}", "x");
    check_text("a.1", "{\"a\":{\"1\":\"x\"}}", "x");
    check_text("", "{\"\":\"x\"}", "x");
    check_text("a.", "{\"a\":{\"\":\"x\"}}", "x");
    check_text("a/b~0", "{\"a/b~0\":\"x\"}", "x");
    refuse_text("a.b", "{\"a.b\":\"x\"}", BAD_FIELD, "the field 'a.b' is missing");
}

static void test_pointers(void **state) {
    (void)state;
    check_text("/a/b", "{\"a\":{\"b\":\"x\"}}", "x");
    check_text("/a.b/0", "{\"a.b\":[\"x\",\"y\"]}", "x");
    check_text("/", "{\"\":\"x\"}", "x");
    check_text("/a~1b~0c", "{\"a/b~c\":\"x\"}", "x");
    check_text("/~01", "{\"~1\":\"x\"}", "x");
    check_text("/a~", "{\"a~\":\"x\"}", "x");
    check_text("/a~2", "{\"a~2\":\"x\"}", "x");
    refuse_text("/a~1b", "{\"a\":{\"b\":\"x\"}}", BAD_FIELD, "the field '/a~1b' is missing");
}

static void test_fields_that_are_not_there(void **state) {
    (void)state;
    refuse_text("text", "{}", BAD_FIELD, "the field 'text' is missing");
    refuse_text("text", "{\"Text\":\"x\"}", BAD_FIELD, "the field 'text' is missing");
    refuse_text("a.b", "{\"a\":\"b\"}", BAD_FIELD, "the field 'a.b' is missing");
    static const char *const places[] = {"a.2", "a.-1", "a.+1", "a. 1", "a.1x", "a.", "a.18446744073709551616"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char sentence[100];
        snprintf(sentence, sizeof sentence, "the field '%s' is missing", places[i]);
        refuse_text(places[i], "{\"a\":[\"x\",\"y\"]}", BAD_FIELD, sentence);
    }
    /* The longest name that there is room for, and the next. */
    char name[257], line[300], sentence[200];
    memset(name, 'n', 255);
    name[255] = '\0';
    snprintf(line, sizeof line, "{\"%s\":\"x\"}", name);
    check_text(name, line, "x");
    strcpy(name + 255, "n");
    snprintf(line, sizeof line, "{\"%s\":\"x\"}", name);
    snprintf(sentence, sizeof sentence, "the field '%.100s' is missing", name);
    refuse_text(name, line, BAD_FIELD, sentence);
}

static void test_fields_of_other_types(void **state) {
    (void)state;
    static const char *const values[] = {"1", "1.5", "null", "true", "[\"x\"]", "{\"text\":\"x\"}"};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char line[100];
        snprintf(line, sizeof line, "{\"text\":%s}", values[i]);
        refuse_text("text", line, BAD_FIELD, "the field 'text' is not a string");
    }
}

static void test_what_is_no_object(void **state) {
    (void)state;
    refuse_text("text", "[\"text\"]", BAD_JSON, "it is not a JSON object");
    refuse_text("text", "", BAD_JSON, "it is not JSON: '[' or '{' expected near end of file");
    refuse_text("text", "\"text\"", BAD_JSON, "it is not JSON: '[' or '{' expected near '\"text\"'");
    refuse_text("text", "{\"text\":\"x\"", BAD_JSON, "it is not JSON: '}' expected near end of file");
    refuse_text("text", "{\"text\":\"x\"} {}", BAD_JSON, "it is not JSON: end of file expected near '{'");
    refuse_text("text", "{\"text\":\"\xff\"}", BAD_JSON, "it is not JSON: unable to decode byte 0xff near '\"'");
    refuse_text("text", "{\"text\":\"\\ud800\"}", BAD_JSON,
                "it is not JSON: invalid Unicode '\\uD800' near '\"\\ud800\"'");
    char deep[5001];
    memset(deep, '[', 5000);
    deep[5000] = '\0';
    refuse_text("text", deep, BAD_JSON, "it is not JSON: maximum parsing depth reached near '['");
}

static void check_id(const char *value, const char *id) {
    struct jsonl_rules rules = {.text = "text", .id = "id"};
    char line[100];
    snprintf(line, sizeof line, "{\"text\":\"x\",\"id\":%s}", value);
    struct parsed parsed = parse_bytes(&rules, line, strlen(line));
    assert_true(parsed.good);
    assert_field(parsed.fields.id.bytes, parsed.fields.id.length, id);
    release(&parsed);
}

static void test_ids(void **state) {
    (void)state;
    check_id("\"a b\"", "a b");
    check_id("\"\"", "");
    check_id("0", "0");
    check_id("-7", "-7");
    check_id("9223372036854775807", "9223372036854775807");
    check_id("-9223372036854775808", "-9223372036854775808");
    struct jsonl_rules rules = {.text = "text", .id = "id"};
    refuse(&rules, "{\"text\":\"x\"}", BAD_FIELD, "the field 'id' is missing");
    refuse(&rules, "{\"text\":\"x\",\"id\":1.0}", BAD_FIELD, "the field 'id' is neither a string nor an integer");
    refuse(&rules, "{\"text\":\"x\",\"id\":true}", BAD_FIELD, "the field 'id' is neither a string nor an integer");
    refuse(&rules, "{\"text\":\"x\",\"id\":9223372036854775808}", BAD_JSON,
           "it is not JSON: too big integer near '9223372036854775808'");
}

static void test_titles(void **state) {
    (void)state;
    struct jsonl_rules rules = {.text = "text", .title = "t"};
    const char *line = "{\"text\":\"x\",\"t\":\"title\"}";
    struct parsed parsed = parse_bytes(&rules, line, strlen(line));
    assert_true(parsed.good);
    assert_field(parsed.fields.title.bytes, parsed.fields.title.length, "title");
    assert_field(parsed.fields.body.bytes, parsed.fields.body.length, "x");
    release(&parsed);
    parsed = parse_bytes(&rules, "{\"text\":\"x\"}", 12); /* it may be missing */
    assert_true(parsed.good);
    assert_int_equal(parsed.fields.title.length, 0);
    release(&parsed);
    refuse(&rules, "{\"text\":\"x\",\"t\":7}", BAD_FIELD, "the field 't' is not a string");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_names_with_dots),
        cmocka_unit_test(test_pointers),
        cmocka_unit_test(test_fields_that_are_not_there),
        cmocka_unit_test(test_fields_of_other_types),
        cmocka_unit_test(test_what_is_no_object),
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_titles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
