/* jsonl.c: tests of finding the fields of a line of JSON. */
#include "tools/formats/jsonl.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/testing.h"

struct parsed {
    char *line; /* without a terminating NUL, so that a sanitizer sees a read beyond its bytes */
    struct jsonl jsonl;
    struct fields fields;
    struct bad bad;
    bool ok;
};

static struct parsed parse_bytes(const struct jsonl_rules *rules, const char *line, size_t length) {
    struct parsed parsed = {.line = malloc(length > 0 ? length : 1), .jsonl = JSONL_INIT};
    assert_non_null(parsed.line);
    memcpy(parsed.line, line, length);
    struct span span = {parsed.line, length};
    parsed.ok = jsonl_parse(rules, span, &parsed.jsonl, &parsed.fields, &parsed.bad);
    return parsed;
}

static void release(struct parsed *parsed) {
    jsonl_free(&parsed->jsonl);
    free(parsed->line);
}

static void assert_field(const char *bytes, size_t length, const char *expected) {
    assert_int_equal(length, strlen(expected));
    assert_memory_equal(bytes, expected, length);
}

static void check_text(const char *path, const char *line, const char *text) {
    struct jsonl_rules rules = {.text = path};
    struct parsed parsed = parse_bytes(&rules, line, strlen(line));
    assert_true(parsed.ok);
    assert_int_equal(parsed.bad.kind, BAD_NONE);
    assert_field(parsed.fields.body.bytes, parsed.fields.body.length, text);
    assert_null(parsed.fields.id.bytes);
    assert_int_equal(parsed.fields.title.length, 0);
    release(&parsed);
}

static void refuse(const struct jsonl_rules *rules, const char *line, enum bad_kind kind, const char *sentence) {
    struct parsed parsed = parse_bytes(rules, line, strlen(line));
    assert_false(parsed.ok);
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
    check_text("text", "{\"text\":\"a\",\"t\\u0065xt\":\"b\"}", "b");
    check_text("a.b", "{\"a\":{\"b\":1,\"b\":\"x\"},\"c\":1}", "x");
    refuse_text("a.b", "{\"a\":{\"b\":\"x\"},\"a\":{}}", BAD_FIELD, "the field 'a.b' is missing");
    struct jsonl_rules rules = {.text = "text"};
    const char *line = "{\"text\":\"a\\u0000b\"}";
    struct parsed parsed = parse_bytes(&rules, line, strlen(line));
    assert_true(parsed.ok);
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
    static const char *const others[] = {"[\"text\"]", "", " ", "\"text\"", "7", "text", "[[[[", "}"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        refuse_text("text", others[i], BAD_JSON, "it is not a JSON object");
    static const struct {
        const char *line, *sentence;
    } lines[] = {
        {"{", "the object does not end"},
        {"{\"text\":\"x\"", "the object does not end"},
        {"{\"text\":\"x\",", "the object does not end"},
        {"{\"text\":", "the object does not end"},
        {"{\"text", "the object does not end"},
        {"{\"text\":\"x", "the object does not end"},
        {"{\"text\":\"x\\\"}", "the object does not end"},
        {"{\"text\":\"x\",\"y\":[{\"z\":1}", "the object does not end"},
        {"{\"text\":\"x\"} {}", "something else follows at byte 14 of the object"},
        {"{}}", "something else follows at byte 3 of the object"},
        {"{text:\"x\"}", "a name in quotes is missing at byte 2 of the object"},
        {"{\"text\":\"x\",}", "a name in quotes is missing at byte 13 of the object"},
        {"{\"text\" \"x\"}", "a colon is missing at byte 9 of the object"},
        {"{\"text\":,}", "a value is missing at byte 9 of the object"},
        {"{\"y\":1 2,\"text\":\"x\"}", "a comma or a closing brace is missing at byte 8 of the object"},
        {"{\"text\":\"x\" \"y\":1}", "a comma or a closing brace is missing at byte 13 of the object"},
        {"{\"text\":\"x\"]", "a comma or a closing brace is missing at byte 12 of the object"},
        {"{\"text\":\"\\x\"}", "a string has an escape that is none"},
        {"{\"text\":\"\\u12g4\"}", "a string has an escape that is none"},
        {"{\"text\":\"\\u123\"}", "a string has an escape that is none"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char sentence[100];
        snprintf(sentence, sizeof sentence, "it is not JSON: %s", lines[i].sentence);
        refuse_text("text", lines[i].line, BAD_JSON, sentence);
    }
    refuse_text("a.text", "{\"a\":{\"text\" 1}}", BAD_JSON,
                "it is not JSON: a colon is missing at byte 9 of the object");
}

/* What is in a field that nobody asks for does not matter: each of these is refused by some parser. */
static void test_other_fields(void **state) {
    (void)state;
    static const char *const values[] = {
        "NaN",
        "Infinity",
        "-Infinity",
        "1e400",
        "-1e-400",
        "18446744073709551616",
        "-9223372036854775809",
        "0123",
        "\"\\ud800\"",
        "\"\\udc00\\ud800\"",
        "\"\\u0000\"",
        "\"\\x\"",
        "\"\xff\xc0\"",
        "\"\xed\xa0\x80\"",
        "\"\t\x01\"",
        "{\"\\u0000\":1,\"a\":2,\"a\":3}",
        "[\"]\",\"}\",\"\\\\\",\"\\\"]\"]",
        "{\"text\":\"not this\"}",
    };
    char line[20200];
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        snprintf(line, sizeof line, "{\"y\":%s,\"text\":\"x\",\"z\":[%s]}", values[i], values[i]);
        check_text("text", line, "x");
    }
    check_text("text", "{\"\\u0000\":1,\"\xff\":1,\"\\ud800\":1,\"\\x\":1,\"text\\u0000\":\"y\",\"text\":\"x\"}", "x");
    enum { DEEP = 10000 };
    strcpy(line, "{\"y\":");
    memset(line + 5, '[', DEEP);
    memset(line + 5 + DEEP, ']', DEEP);
    strcpy(line + 5 + 2 * DEEP, ",\"text\":\"x\"}");
    check_text("text", line, "x");
}

static void test_strings(void **state) {
    (void)state;
    check_text("text", "{\"text\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"}", "\"\\/\b\f\n\r\t");
    check_text("text", "{\"text\":\"\\u007f\\u0080\\u07FF\\u0800\\uffff\\udbff\\udfff\"}",
               "\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf4\x8f\xbf\xbf");
    /* A surrogate without the other one of its pair. */
    check_text("text", "{\"text\":\"\\ud800\"}", "\xef\xbf\xbd");
    check_text("text", "{\"text\":\"a\\udc00b\"}",
               "a\xef\xbf\xbd"
               "b");
    check_text("text", "{\"text\":\"\\ud83d\\ud83d\\ude00\"}", "\xef\xbf\xbd\xf0\x9f\x98\x80");
    check_text("text", "{\"text\":\"\\ud83d\\n\\ude00\"}", "\xef\xbf\xbd\n\xef\xbf\xbd");
    check_text("text", "{\"text\":\"\\ud83d\\u0041\"}",
               "\xef\xbf\xbd"
               "A");
    /* Bytes that are not UTF-8 are left to those who read the text. */
    check_text("text", "{\"text\":\"a\xff\\u0041\xe4\"}",
               "a\xff"
               "A\xe4");
    check_text("a\"b", "{\"a\\\"b\":\"x\"}", "x");
    check_text("a\\b", "{\"a\\b\":\"y\",\"a\\\\b\":\"x\"}", "x");
    check_text("\xc3\xa9", "{\"\\u00e9\":\"x\"}", "x");
}

static void check_id(const char *value, const char *id) {
    struct jsonl_rules rules = {.text = "text", .id = "id"};
    char line[100];
    snprintf(line, sizeof line, "{\"text\":\"x\",\"id\":%s}", value);
    struct parsed parsed = parse_bytes(&rules, line, strlen(line));
    assert_true(parsed.ok);
    assert_field(parsed.fields.id.bytes, parsed.fields.id.length, id);
    release(&parsed);
}

static void test_ids(void **state) {
    (void)state;
    check_id("\"a b\"", "a b");
    check_id("\"\\u00e9\"", "\xc3\xa9");
    check_id("\"\"", "");
    static const char *const numbers[] = {"0",
                                          "-7",
                                          "9223372036854775807",
                                          "-9223372036854775808",
                                          "18446744073709551615",
                                          "100000000000000000000000000",
                                          "1.0",
                                          "1.50",
                                          "1E+400",
                                          "-0"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) check_id(numbers[i], numbers[i]);
    struct jsonl_rules rules = {.text = "text", .id = "id"};
    refuse(&rules, "{\"text\":\"x\"}", BAD_FIELD, "the field 'id' is missing");
    static const char *const others[] = {"true", "null", "NaN", "-Infinity", "01",  "1.",
                                         ".5",   "1e",   "+1",  "-",         "[1]", "{}"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char line[100];
        snprintf(line, sizeof line, "{\"text\":\"x\",\"id\":%s}", others[i]);
        refuse(&rules, line, BAD_FIELD, "the field 'id' is neither a string nor a number");
    }
}

/* The ID of a record that is bad for another reason, if it has one. */
static void test_ids_of_bad_records(void **state) {
    (void)state;
    static const struct {
        const char *line, *id;
    } lines[] = {
        {"{\"id\":\"a\"}", "a"},
        {"{\"text\":[],\"id\":1.50}", "1.50"},
        {"{\"text\":\"\\x\",\"id\":\"\\u0061\"}", "a"},
        {"{\"text\":{\"x\" 1},\"id\":\"a\"}", "a"},
        {"{\"id\":\"\\x\"}", NULL},
        {"{\"id\":[1]}", NULL},
        {"{\"id\":\"a\"", NULL},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct jsonl_rules rules = {.text = "text.x", .id = "id"};
        struct parsed parsed = parse_bytes(&rules, lines[i].line, strlen(lines[i].line));
        assert_false(parsed.ok);
        if (lines[i].id == NULL)
            assert_null(parsed.fields.id.bytes);
        else
            assert_field(parsed.fields.id.bytes, parsed.fields.id.length, lines[i].id);
        release(&parsed);
    }
}

static void check_date(const char *value, int64_t date) {
    struct jsonl_rules rules = {.text = "text", .date = "date"};
    char line[200];
    snprintf(line, sizeof line, "{\"date\":%s,\"text\":\"x\"}", value);
    struct parsed parsed = parse_bytes(&rules, line, strlen(line));
    assert_true(parsed.ok);
    assert_int_equal(parsed.jsonl.date, date);
    release(&parsed);
}

static void test_dates(void **state) {
    (void)state;
    check_date("\"1970-01-02\"", INT64_C(86400000000));
    check_date("\"1970\\u002d01\\u002d02\"", INT64_C(86400000000));
    check_date("1.5", 1500000);
    check_date("-1e3", -1000000000);
    static const char *const none[] = {"NaN", "1e400", "null", "\"\"", "[1]", "100000000000000000000", "01"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) check_date(none[i], DATE_NONE);
}

/* Fields that are one and the same, with an escape. */
static void test_one_value_for_all(void **state) {
    (void)state;
    struct jsonl_rules rules = {.text = "a", .id = "a", .title = "/a", .date = "a"};
    const char *line = "{\"a\":\"\\\\\\u0041\"}";
    struct parsed parsed = parse_bytes(&rules, line, strlen(line));
    assert_true(parsed.ok);
    assert_field(parsed.fields.body.bytes, parsed.fields.body.length, "\\A");
    assert_field(parsed.fields.id.bytes, parsed.fields.id.length, "\\A");
    assert_field(parsed.fields.title.bytes, parsed.fields.title.length, "\\A");
    release(&parsed);
}

static void test_titles(void **state) {
    (void)state;
    struct jsonl_rules rules = {.text = "text", .title = "t"};
    const char *line = "{\"text\":\"x\",\"t\":\"title\"}";
    struct parsed parsed = parse_bytes(&rules, line, strlen(line));
    assert_true(parsed.ok);
    assert_field(parsed.fields.title.bytes, parsed.fields.title.length, "title");
    assert_field(parsed.fields.body.bytes, parsed.fields.body.length, "x");
    release(&parsed);
    parsed = parse_bytes(&rules, "{\"text\":\"x\"}", 12); /* it may be missing */
    assert_true(parsed.ok);
    assert_int_equal(parsed.fields.title.length, 0);
    release(&parsed);
    parsed = parse_bytes(&rules, "{\"text\":\"x\",\"t\":null}", 21);
    assert_true(parsed.ok);
    assert_int_equal(parsed.fields.title.length, 0);
    release(&parsed);
    refuse(&rules, "{\"text\":\"x\",\"t\":7}", BAD_FIELD, "the field 't' is not a string");
}

/* What is expected of bytes: 'l'ines or an 'a'rray, which 'h'as the field, and a 's'econd line. */
static void check_look(const char *bytes, const char *expected) {
    struct span begin = {bytes, strlen(bytes)};
    struct jsonl_beginning found = jsonl_look_at_beginning(begin, "text.a");
    assert_int_equal(found.is_lines, strchr(expected, 'l') != NULL);
    assert_int_equal(found.is_array, strchr(expected, 'a') != NULL);
    assert_int_equal(found.has_text, strchr(expected, 'h') != NULL);
    assert_int_equal(found.has_second, strchr(expected, 's') != NULL);
}

static void test_beginnings(void **state) {
    (void)state;
    check_look("{\"text\":1}", "lh");
    check_look(" { \"text\" : 1 } \r\n", "lh");
    check_look("\xef\xbb\xbf{\"x\":[NaN,1e400,\"\xff\"],\"id\":1}\n\n  {", "ls");
    check_look("\n{}\n{\"text\":1}", "ls");
    check_look("{\"text\":\"as long as", "lh");
    check_look("{\"x\":\"as long as", "l");
    check_look("{\"text", "l");
    check_look("[{\"text\":1},\n{}]", "ah");
    check_look(" [ \n {\n\"x\":1", "a");
    /* JSON over several lines, and what is none. */
    static const char *const others[] = {"",
                                         "{\n\"text\":1}",
                                         "{\"text\":1,\n\"x\":\"as long as",
                                         "{text}",
                                         "{{\"text\":1}}",
                                         "{\"text\"}",
                                         "{\"text\":1} and more",
                                         "{ \"a\", \"b\" };",
                                         "[]",
                                         "[1,{\"text\":1}]",
                                         "[section]\nkey = {}",
                                         "[{]",
                                         "[link](there)",
                                         "text {\"text\":1}",
                                         "\"text\""};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct jsonl_beginning found = jsonl_look_at_beginning((struct span){others[i], strlen(others[i])}, "text");
        assert_false(found.is_lines || found.is_array);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_names_with_dots),
        cmocka_unit_test(test_pointers),
        cmocka_unit_test(test_fields_that_are_not_there),
        cmocka_unit_test(test_fields_of_other_types),
        cmocka_unit_test(test_what_is_no_object),
        cmocka_unit_test(test_other_fields),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_ids_of_bad_records),
        cmocka_unit_test(test_dates),
        cmocka_unit_test(test_one_value_for_all),
        cmocka_unit_test(test_titles),
        cmocka_unit_test(test_beginnings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
