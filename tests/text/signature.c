/* signature.c: tests of recipes that hash sentences and descriptions, of fields, and of what the hash is made of. */
#include <stdlib.h>

#include "tests/text/testing.h"

static uint64_t hash_of(const char *bytes, size_t length) {
    struct idx_simhash simhash;
    idx_simhash_init(&simhash);
    idx_simhash_add(&simhash, bytes, length, 1);
    return idx_simhash_finish(&simhash, 64);
}

/* That a document's signature is `expected`, its hash the fingerprint, and `features` are counted. */
static void assert_signature_of(struct idx_text *text, const struct idx_text_field *fields, size_t field_count,
                                const char *expected, uint64_t features) {
    uint64_t fingerprint, low;
    size_t count, length, expected_length = strlen(expected);
    struct idx_text_counts counts;
    static const uint64_t zeros[8] = {0};
    memset(&counts, 0xff, sizeof counts);
    assert_int_equal(idx_text_fingerprints(text, fields, field_count, 13, &low, 1, &count, NULL, NULL), IDX_OK);
    assert_int_equal(idx_text_fingerprints(text, fields, field_count, 64, &fingerprint, 1, &count, &counts, NULL),
                     IDX_OK);
    const char *signature = idx_text_signature(text, &length);
    assert_int_equal(length, expected_length);
    assert_memory_equal(signature, expected, length);
    assert_int_equal(count, 1);
    assert_true(fingerprint == (length == 0 ? 0 : hash_of(expected, expected_length)));
    assert_true(low == (fingerprint & 0x1FFF));
    assert_true(counts.features == features);
    assert_true(counts.weight == 0);
    assert_memory_equal(counts.reserved, zeros, sizeof zeros);
}

static void assert_signature(struct idx_text *text, const char *body, const char *expected, uint64_t features) {
    struct idx_text_field field = {"body", body, strlen(body)};
    assert_signature_of(text, &field, 1, expected, features);
}

static void test_sentences(void **state) {
    (void)state;
    struct idx_text *text = open_by("sentences:3");
    assert_signature(text, "", "", 0);
    assert_signature(text, " \n\t ", "", 0);
    assert_signature(text, "One", "one", 1);
    assert_signature(text, "Short. A Longer one here!  The very\nlongest of  them all?\r\n\r\nNo. Middle sized one. ",
                     "a longer one here!\nthe very longest of them all?\nmiddle sized one.", 5);
    /* of equal ones the first are longer */
    assert_signature(text, "Aa a. Bb b. Cc c. Dd d. Ee e.", "aa a.\nbb b.\ncc c.", 5);
    assert_signature(text, "Aa a. Bb b. Cc c. Dd dd. Ee e.", "aa a.\nbb b.\ndd dd.", 5);
    /* length is in characters, not in units or bytes: seven emoji against nine letters */
    idx_text_close(text);
    text = open_by("sentences:1");
    assert_signature(text, "🎉🎉🎉🎉🎉🎉🎉. Abcdefghi.", "abcdefghi.", 2);
    assert_signature(text, "敏捷的狐狸跳过了懒狗。是。", "敏捷的狐狸跳过了懒狗。", 2);
    idx_text_close(text);
}

/* A text of many pieces is one text: lines may break anywhere. */
static void test_sentences_of_a_long_text(void **state) {
    (void)state;
    enum { TIMES = 20000 };
    struct idx_text *text = open_by("sentences:2");
    char *bytes = malloc(TIMES * 10 + 200), *expected = malloc(TIMES * 10 + 200);
    assert_non_null(bytes);
    assert_non_null(expected);
    size_t length = 0;
    for (size_t i = 0; i < TIMES; i++, length += 10) {
        memcpy(bytes + length, "abcd efgh\n", 10);
        memcpy(expected + length, "abcd efgh ", 10);
    }
    strcpy(bytes + length, "end. Another.\nAnd a third. ");
    strcpy(expected + length, "end.\nand a third.");
    assert_signature(text, bytes, expected, 3);
    free(bytes);
    free(expected);
    idx_text_close(text);
}

static void test_description(void **state) {
    (void)state;
    struct idx_text *text = open_by("description");
    char bytes[1200], expected[513];
    assert_signature(text, "", "", 0);
    assert_signature(text, "  A  Short\ntext. ", "a short text.", 1);
    /* 512 bytes and more, all, and the first of them */
    memset(bytes, 'x', sizeof bytes);
    memset(expected, 'x', sizeof expected);
    bytes[512] = expected[512] = '\0';
    assert_signature(text, bytes, expected, 1);
    bytes[512] = 'y';
    bytes[513] = '\0';
    assert_signature(text, bytes, expected, 1);
    /* characters of 2, 3 and 4 bytes across the end are left out; those that end at it stay */
    static const char *const wide[] = {"é", "中", "𐐨"};
    for (size_t i = 0; i < 3; i++) {
        size_t size = strlen(wide[i]);
        for (size_t before = 512 - size; before <= 512; before++) {
            memset(bytes, 'x', before);
            strcpy(bytes + before, wide[i]);
            strcat(bytes, "zzzzzz");
            memcpy(expected, bytes, 512);
            expected[before == 512 - size ? 512 : before] = '\0';
            assert_signature(text, bytes, expected, 1);
        }
    }
    /* a text of characters that are two units each */
    for (size_t i = 0; i < 300; i++) memcpy(bytes + 4 * i, "𐐨", 4);
    bytes[1199] = '\0';
    memcpy(expected, bytes, 512);
    assert_signature(text, bytes, expected, 1);
    idx_text_close(text);
}

static void test_fields(void **state) {
    (void)state;
    const struct idx_text_field fields[] = {{"title", "Title", 5}, {NULL, "First body.", 11}, {"body", "Second", 6}};
    const struct idx_text_field described[] = {
        {"body", "Body", 4}, {"description", "This  page", 10}, {"title", "Title", 5}};
    const struct idx_text_field described_twice[] = {
        {"body", "Body", 4}, {"description", "First", 5}, {"description", "Second", 6}};
    const struct idx_text_field undescribed[] = {
        {"body", "Body", 4}, {"description", NULL, 0}, {"description", "Second", 6}};
    struct idx_text *text = open_by("description");
    assert_signature_of(text, fields, 3, "first body. second", 1);
    assert_signature_of(text, described, 3, "this page", 1);
    assert_signature_of(text, described_twice, 3, "first", 1);
    /* an empty description is one, too: neither the body nor a later description takes its place */
    assert_signature_of(text, undescribed, 2, "", 0);
    assert_signature_of(text, undescribed, 3, "", 0);
    assert_signature_of(text, NULL, 0, "", 0);
    idx_text_close(text);
    text = open_by("sentences:1");
    assert_signature_of(text, fields, 3, "first body.", 2);
    idx_text_close(text);
}

static void test_arguments(void **state) {
    (void)state;
    struct idx_text *text = open_by("segments:4");
    struct idx_error error;
    uint64_t fingerprints[5] = {7, 7, 7, 7, 7};
    size_t count = 9, length;
    const struct idx_text_field unknown = {"headline", "a", 1}, missing = {"body", NULL, 1};
    const struct idx_text_field large[] = {{"body", "a", (size_t)1 << 29}, {"title", "a", (size_t)1 << 29}};
    const struct idx_text_field words = {"body", "one two three", 13};
    assert_int_equal(idx_text_fingerprints(text, &words, 1, 64, fingerprints, 3, &count, NULL, &error),
                     IDX_INVALID_ARGUMENT);
    assert_non_null(strstr(error.sentence, "needs room for 4 fingerprints"));
    assert_int_equal(idx_text_fingerprints(text, &unknown, 1, 64, fingerprints, 4, &count, NULL, &error),
                     IDX_INVALID_ARGUMENT);
    assert_non_null(strstr(error.sentence, "'headline'"));
    assert_int_equal(idx_text_fingerprints(text, &missing, 1, 64, fingerprints, 4, &count, NULL, &error),
                     IDX_INVALID_ARGUMENT);
    assert_int_equal(idx_text_fingerprints(text, NULL, 1, 64, fingerprints, 4, &count, NULL, &error),
                     IDX_INVALID_ARGUMENT);
    assert_int_equal(idx_text_fingerprints(text, large, 2, 64, fingerprints, 4, &count, NULL, &error), IDX_LIMIT);
    assert_int_equal(idx_text_fingerprint(text, "a", 1, 64, fingerprints, NULL, &error), IDX_INVALID_ARGUMENT);
    assert_true(count == 9 && fingerprints[0] == 7);
    /* three words in four parts: the first word is of part 0, then 1, then 2 */
    assert_int_equal(idx_text_fingerprints(text, &words, 1, 64, fingerprints, 5, &count, NULL, &error), IDX_OK);
    assert_int_equal(count, 3);
    assert_true(fingerprints[0] == hash_of("one", 3) && fingerprints[1] == hash_of("two", 3) &&
                fingerprints[2] == hash_of("three", 5) && fingerprints[3] == 7);
    assert_int_equal(idx_text_fingerprints(text, NULL, 0, 64, fingerprints, 5, &count, NULL, &error), IDX_OK);
    assert_int_equal(count, 0);
    assert_null(idx_text_signature(text, &length));
    idx_text_close(text);
    /* one part is one fingerprint, also of nothing */
    text = open_by("segments:1");
    assert_int_equal(idx_text_fingerprint(text, "", 0, 64, fingerprints, NULL, NULL), IDX_OK);
    assert_true(fingerprints[0] == 0);
    idx_text_close(text);
}

static void test_weight_distance(void **state) {
    (void)state;
    assert_true(idx_text_weight_distance(0, 0) == 0);
    assert_true(idx_text_weight_distance(100, 100) == 0);
    assert_true(idx_text_weight_distance(3 << 16, 4 << 16) == 1.0 / 25);
    assert_true(idx_text_weight_distance(4 << 16, 3 << 16) == 1.0 / 25);
    assert_true(idx_text_weight_distance(0, 1) == 1);
    assert_true(idx_text_weight_distance(INT64_MAX, INT64_MAX / 2) > 0.19999);
    assert_true(idx_text_weight_distance(INT64_MAX, INT64_MAX / 2) < 0.20001);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sentences),   cmocka_unit_test(test_sentences_of_a_long_text),
        cmocka_unit_test(test_description), cmocka_unit_test(test_fields),
        cmocka_unit_test(test_arguments),   cmocka_unit_test(test_weight_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
