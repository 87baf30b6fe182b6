/* tsv.c: tests of the lines that `idx build` and `idx lookup` read. */
#include "tools/input/tsv.h"
#include "tools/shared/wording.h"

#include <stdlib.h>

#include "tests/testing.h"

#define FINGERPRINT "0123456789abcdef"
#define VALUE UINT64_C(0x0123456789abcdef)

/* The line's bytes alone, without the terminating NUL, so that a sanitizer sees a read beyond them. */
struct parsed {
    char *line;
    struct tsv_record record;
    struct problem problem;
    enum tsv_kind kind;
};

static struct parsed parse(enum tsv_ids ids, const char *text, size_t length) {
    struct tsv_rules rules = {64, NOTATION_HEX, ids};
    struct parsed parsed = {.line = malloc(length > 0 ? length : 1)};
    assert_non_null(parsed.line);
    memcpy(parsed.line, text, length);
    parsed.kind = tsv_parse_line(&rules, parsed.line, length, &parsed.record, &parsed.problem);
    return parsed;
}

static void check_id(enum tsv_ids ids, const char *text, size_t length, const char *id, size_t id_length) {
    struct parsed parsed = parse(ids, text, length);
    assert_int_equal(parsed.kind, TSV_RECORD);
    assert_true(parsed.record.fingerprint == VALUE);
    assert_int_equal(parsed.record.id_length, id_length);
    if (id != NULL)
        assert_memory_equal(parsed.record.id, id, id_length);
    else
        assert_null(parsed.record.id);
    free(parsed.line);
}

static void refuse(enum tsv_ids ids, const char *text, const char *sentence) {
    struct parsed parsed = parse(ids, text, strlen(text));
    assert_int_equal(parsed.kind, TSV_BAD);
    assert_string_equal(parsed.problem.sentence, sentence);
    free(parsed.line);
}

#define LITERAL(text) (text), sizeof(text) - 1

static void check_alone(enum tsv_ids ids, const char *text, size_t length, uint64_t number) {
    struct parsed parsed = parse(ids, text, length);
    assert_int_equal(parsed.kind, TSV_RECORD);
    assert_true(parsed.record.fingerprint == 0);
    assert_true(parsed.record.number == number);
    assert_int_equal(parsed.record.id_length, length);
    assert_memory_equal(parsed.record.id, parsed.line, length);
    free(parsed.line);
}

static void test_ids_alone(void **state) {
    (void)state;
    check_alone(TSV_ID_TEXT_ALONE, LITERAL("a"), 0);
    check_alone(TSV_ID_TEXT_ALONE, LITERAL("# a\0\xff\r"), 0);
    check_alone(TSV_ID_U64_ALONE, LITERAL("18446744073709551615"), UINT64_MAX);
    refuse(TSV_ID_TEXT_ALONE, "", "the ID is missing");
    refuse(TSV_ID_TEXT_ALONE, "a\tb", "the line has a tab, which an ID can't contain");
    refuse(TSV_ID_TEXT_ALONE, "\ta\tb", "the line has a second tab, which an ID can't contain");
    refuse(TSV_ID_TEXT_ALONE, "\ta\\",
           "after a tab, an ID is escaped: a backslash must be followed by t, n, another backslash, or x and two "
           "lower-case hex digits");
    refuse(TSV_ID_U64_ALONE, "\t1", "the line has a tab, which an ID can't contain");
    refuse(TSV_ID_U64_ALONE, "#1", "the ID is not a decimal number below 2^64, as --id-type u64 requires");
}

static void test_text_ids(void **state) {
    (void)state;
    check_id(TSV_ID_TEXT, LITERAL(FINGERPRINT "\ta"), "a", 1);
    check_id(TSV_ID_TEXT, LITERAL("0x" FINGERPRINT "\thttp://x/ y"), LITERAL("http://x/ y"));
    check_id(TSV_ID_TEXT, LITERAL(FINGERPRINT "\ta\r"), LITERAL("a\r"));
    check_id(TSV_ID_TEXT, LITERAL(FINGERPRINT "\ta\0b\xff"), LITERAL("a\0b\xff"));
    check_id(TSV_ID_TEXT, LITERAL(FINGERPRINT "\t#"), LITERAL("#"));
    refuse(TSV_ID_TEXT, FINGERPRINT, "the ID is missing; a line is a fingerprint, a tab and an ID");
    refuse(TSV_ID_TEXT, FINGERPRINT "\t", "the ID after the tab is empty");
    refuse(TSV_ID_TEXT, FINGERPRINT "\ta\tb", "the line has a second tab, which an ID can't contain");
    refuse(TSV_ID_TEXT, "", "the fingerprint is missing");
    refuse(TSV_ID_TEXT, "\ta", "the fingerprint is missing");
    refuse(TSV_ID_TEXT, "01f\ta", "a fingerprint of 64 bits has 16 hex digits, but this one has 3");
}

static void check_escaped_by(enum tsv_ids ids, const char *line, const char *expected, size_t length) {
    struct parsed parsed = parse(ids, line, strlen(line));
    assert_int_equal(parsed.kind, TSV_RECORD);
    assert_true(parsed.record.escaped);
    char *id = parsed.line + (parsed.record.id - parsed.line);
    assert_int_equal(escape_decode_id(id, parsed.record.id_length), length);
    if (length > 0) assert_memory_equal(id, expected, length);
    free(parsed.line);
}

/* A line that ends in an escaped ID, which follows a second tab; a line of the ID alone begins with that tab. */
static void check_escaped(const char *line, const char *expected, size_t length) {
    check_escaped_by(TSV_ID_TEXT, line, expected, length);
    check_escaped_by(TSV_ID_OPTIONAL, line, expected, length);
    check_escaped_by(TSV_ID_TEXT_ALONE, line + sizeof FINGERPRINT, expected, length);
}

static void test_escaped_ids(void **state) {
    (void)state;
    check_escaped(FINGERPRINT "\t\t", "", 0);
    check_escaped(FINGERPRINT "\t\ta", "a", 1);
    check_escaped(FINGERPRINT "\t\t\\t\\n\\\\n\\\\", LITERAL("\t\n\\n\\"));
    check_escaped(FINGERPRINT "\t\t\\x00\\x1b[m\\xff\\\\x00", LITERAL("\0\33[m\xff\\x00"));
    refuse(TSV_ID_TEXT, FINGERPRINT "\t\ta\tb", "the line has a third tab, which an ID can't contain");
    static const char escape[] =
        "after a second tab, an ID is escaped: a backslash must be followed by t, n, another backslash, or x and two "
        "lower-case hex digits";
    refuse(TSV_ID_TEXT, FINGERPRINT "\t\t\\", escape);
    refuse(TSV_ID_TEXT, FINGERPRINT "\t\t\\\\\\", escape);
    refuse(TSV_ID_TEXT, FINGERPRINT "\t\t\\x", escape);
    refuse(TSV_ID_TEXT, FINGERPRINT "\t\t\\x1", escape);
    refuse(TSV_ID_TEXT, FINGERPRINT "\t\t\\x1B", escape);
    refuse(TSV_ID_TEXT, FINGERPRINT "\t\t\\X1b", escape);
    refuse(TSV_ID_U64, FINGERPRINT "\t\t1", "the line has a second tab, which an ID can't contain");
}

/* Each byte at each place of IDs of some lengths; and what is written is read. */
static void test_escaping(void **state) {
    char id[24], text[sizeof id * ESCAPE_MAX_BYTES];
    (void)state;
    for (size_t length = 1; length <= sizeof id; length++) {
        for (size_t i = 0; i < 256 * length; i++) {
            unsigned char byte = (unsigned char)(i % 256);
            memset(id, i % 2 == 0 ? '~' : '\xa0', sizeof id);
            id[i / 256] = (char)byte;
            assert_int_equal(escape_is_needed(id, length), byte < ' ' || byte == 0x7f);
            size_t written = 0;
            for (size_t at = 0; at < length; at++) written += escape_byte(id[at], text + written);
            assert_false(escape_is_needed(text, written));
            assert_int_equal(escape_decode_id(text, written), length);
            assert_memory_equal(text, id, length);
        }
    }
    assert_true(escape_is_needed("", 0));
}

static void test_long_id(void **state) {
    enum { LENGTH = 100000 };
    char *line = malloc(LENGTH);
    (void)state;
    assert_non_null(line);
    memset(line, 'u', LENGTH);
    memcpy(line, FINGERPRINT "\t", 17);
    check_id(TSV_ID_TEXT, line, LENGTH, line + 17, LENGTH - 17);
    free(line);
}

static void check_number(const char *text, uint64_t number) {
    struct parsed parsed = parse(TSV_ID_U64, text, strlen(text));
    assert_int_equal(parsed.kind, TSV_RECORD);
    assert_true(parsed.record.number == number);
    free(parsed.line);
}

static void test_number_ids(void **state) {
    (void)state;
    check_number(FINGERPRINT "\t0", 0);
    check_number(FINGERPRINT "\t18446744073709551615", UINT64_MAX);
    refuse(TSV_ID_U64, FINGERPRINT "\t18446744073709551616",
           "the ID is not a decimal number below 2^64, as --id-type u64 requires");
    refuse(TSV_ID_U64, FINGERPRINT "\t-1", "the ID is not a decimal number below 2^64, as --id-type u64 requires");
    refuse(TSV_ID_U64, FINGERPRINT "\t1\r", "the ID ends in a carriage return; lines must end in \\n alone");
    refuse(TSV_ID_U64, FINGERPRINT, "the ID is missing; a line is a fingerprint, a tab and an ID");
}

static void test_no_ids(void **state) {
    (void)state;
    check_id(TSV_ID_NONE, LITERAL(FINGERPRINT), NULL, 0);
    refuse(TSV_ID_NONE, FINGERPRINT "\t",
           "the line has a tab, but with --id-type none or --by-fingerprint it must be a fingerprint alone");
}

static void test_optional_ids(void **state) {
    (void)state;
    check_id(TSV_ID_OPTIONAL, LITERAL(FINGERPRINT), NULL, 0);
    check_id(TSV_ID_OPTIONAL, LITERAL(FINGERPRINT "\tq 1"), LITERAL("q 1"));
    refuse(TSV_ID_OPTIONAL, FINGERPRINT "\t", "the ID after the tab is empty");
    refuse(TSV_ID_OPTIONAL, FINGERPRINT "\r", "the fingerprint ends in a carriage return; lines must end in \\n alone");
}

static void check_comment(const char *text, enum tsv_kind kind, const char *recipe) {
    struct parsed parsed = parse(TSV_ID_TEXT, text, strlen(text));
    assert_int_equal(parsed.kind, kind);
    if (recipe != NULL) {
        assert_int_equal(parsed.record.id_length, strlen(recipe));
        assert_memory_equal(parsed.record.id, recipe, strlen(recipe));
    }
    free(parsed.line);
}

static void test_comments(void **state) {
    (void)state;
    check_comment("#", TSV_COMMENT, NULL);
    check_comment("# a\tb", TSV_COMMENT, NULL);
    check_comment("#recipe", TSV_COMMENT, NULL);
    check_comment("#recipes\tx", TSV_COMMENT, NULL);
    check_comment("#recipe\t", TSV_RECIPE, "");
    check_comment("#recipe\twords:1;v1", TSV_RECIPE, "words:1;v1");
    refuse(TSV_ID_TEXT, " #", "byte 0x20 is not a hex digit; a fingerprint of 64 bits has 16 of them");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ids_alone), cmocka_unit_test(test_text_ids),     cmocka_unit_test(test_escaped_ids),
        cmocka_unit_test(test_escaping),  cmocka_unit_test(test_long_id),      cmocka_unit_test(test_number_ids),
        cmocka_unit_test(test_no_ids),    cmocka_unit_test(test_optional_ids), cmocka_unit_test(test_comments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
