/* text.c: tests of the public functions of libidxtext. */
#include <stdio.h>
#include <stdlib.h>

#include <unicode/uloc.h>
#include <unicode/uversion.h>

#include "libidx/text/document.h"
#include "tests/text/testing.h"

static int open_text(void **state) { return idx_text_open((struct idx_text **)state, NULL, NULL) == IDX_OK ? 0 : -1; }

static int close_text(void **state) {
    idx_text_close(*state);
    return 0;
}

static uint64_t fingerprint_bytes(struct idx_text *text, const void *bytes, size_t length, uint64_t *features) {
    uint64_t fingerprint;
    struct idx_error error;
    if (idx_text_fingerprint(text, bytes, length, 64, &fingerprint, features, &error) != IDX_OK) {
        fail_msg("%s", error.sentence);
    }
    return fingerprint;
}

static uint64_t fingerprint_string(struct idx_text *text, const char *string, uint64_t *features) {
    return fingerprint_bytes(text, string, strlen(string), features);
}

static enum idx_status try_to_open(struct idx_text **text, const char *recipe, struct idx_error *error) {
    struct idx_text_options options = IDX_TEXT_OPTIONS_INIT;
    options.recipe = recipe;
    return idx_text_open(text, &options, error);
}

/* Texts that differ in forms of one word alone have the same fingerprint by version 2, and others by version 1. */
static void test_forms(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"\u0639\u0640\u0645\u0640\u0631 one", "\u0639\u0645\u0631 one"},
        {"\u0639\ufe77\u0645 one", "\u0639\u064e\u0645 one"},
        {"\u0627\u0640\u0653\u0628 one", "\u0622\u0628 one"},
        {"\u0d05\u0d35\u0d7b one", "\u0d05\u0d35\u0d28\u0d4d\u200d one"},
        {"\u0d05\u0d54 one", "\u0d05\u0d2e\u0d4d\u200d one"},
        {"x\u1f8a\u0301 one", "x\u0391\u0313\u0300\u0301\u0345 one"},
    };
    static const char *const recipes[] = {"words:1", "words:2", "words:1;cut=spaces", "segments:2", "terms:2;w=tf"};
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
        for (size_t j = 0; j < 2 * sizeof pairs / sizeof *pairs; j++) {
            const char *const *pair = pairs[j / 2];
            uint64_t made[2][IDX_TEXT_MAX_FINGERPRINTS];
            char recipe[60];
            size_t counts[2];
            snprintf(recipe, sizeof recipe, "%s;v%zu", recipes[i], 1 + j % 2);
            struct idx_text *text = open_by(recipe);
            for (int k = 0; k < 2; k++) {
                const struct idx_text_field field = {"body", pair[k], strlen(pair[k])};
                assert_int_equal(idx_text_fingerprints(text, &field, 1, 64, made[k], IDX_TEXT_MAX_FINGERPRINTS,
                                                       &counts[k], NULL, NULL),
                                 IDX_OK);
            }
            assert_int_equal(counts[0], counts[1]);
            assert_int_equal(memcmp(made[0], made[1], counts[0] * sizeof made[0][0]) == 0, j % 2 == 1);
            idx_text_close(text);
        }
    }
}

static void test_recipes(void **state) {
    (void)state;
    struct idx_text *text;
    struct idx_error error;
    char expected[64];
    UVersionInfo version;
    u_getVersion(version);
    assert_int_equal(try_to_open(&text, IDX_TEXT_DEFAULT_RECIPE, &error), IDX_OK);
    assert_string_equal(idx_text_recipe(text), IDX_TEXT_DEFAULT_RECIPE);
    idx_text_close(text);
    /* Dictionaries cut words by version 1 alone. */
    assert_int_equal(try_to_open(&text, "words:1;v1", &error), IDX_OK);
    snprintf(expected, sizeof expected, "words:1;nfkc-cf;w=logtf;v1;icu=%d", version[0]);
    assert_string_equal(idx_text_recipe(text), expected);
    idx_text_close(text);
    static const char *const others[] = {"words:1;nfkc-cf;cut=spaces;w=logtf;v1", "chars:4;nfkc-cf;w=logtf;v1",
                                         "sentences:3;nfkc-cf;v1", "description;nfkc-cf;v1"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_int_equal(try_to_open(&text, others[i], &error), IDX_OK);
        assert_string_equal(idx_text_recipe(text), others[i]);
        idx_text_close(text);
    }

    static const char *const unknown[] = {"", "words", "words:1;nfkc-cf;w=logtf;v3", "words:1;nfkc-cf;w=logtf;v2 "};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        memset(&error, 0x55, sizeof error);
        assert_int_equal(try_to_open(&text, unknown[i], &error), IDX_BAD_RECIPE);
        assert_int_equal(error.status, IDX_BAD_RECIPE);
        assert_int_equal(error.system_errno, 0);
        assert_int_equal(error.reserved[0] | error.reserved[7], 0);
        assert_true(error.offset == 0);
        assert_string_equal(error.file, "");
        assert_non_null(strstr(error.sentence, unknown[i]));
        assert_non_null(strstr(error.sentence, "'" IDX_TEXT_DEFAULT_RECIPE "'"));
        assert_int_equal(try_to_open(&text, unknown[i], NULL), IDX_BAD_RECIPE);
    }
    assert_int_equal(idx_text_open(NULL, NULL, &error), IDX_INVALID_ARGUMENT);
    struct idx_text_options sizeless = {0};
    assert_int_equal(idx_text_open(&text, &sizeless, &error), IDX_INVALID_ARGUMENT);
    idx_text_close(NULL);
}

static void test_arguments(void **state) {
    struct idx_text *text = *state;
    uint64_t fingerprint = 7;
    struct idx_error error;
    assert_int_equal(idx_text_fingerprint(text, "a", 1, 0, &fingerprint, NULL, &error), IDX_INVALID_ARGUMENT);
    assert_int_equal(error.status, IDX_INVALID_ARGUMENT);
    assert_int_equal(idx_text_fingerprint(text, "a", 1, 65, &fingerprint, NULL, &error), IDX_INVALID_ARGUMENT);
    assert_non_null(strstr(error.sentence, "65"));
    assert_int_equal(idx_text_fingerprint(text, NULL, 1, 64, &fingerprint, NULL, &error), IDX_INVALID_ARGUMENT);
    assert_int_equal(idx_text_fingerprint(NULL, "a", 1, 64, &fingerprint, NULL, &error), IDX_INVALID_ARGUMENT);
    assert_int_equal(idx_text_fingerprint(text, "a", 1, 64, NULL, NULL, &error), IDX_INVALID_ARGUMENT);
    assert_true(fingerprint == 7);
    /* Refused before a byte is read. */
    assert_int_equal(idx_text_fingerprint(text, "a", (size_t)1 << 30, 64, &fingerprint, NULL, &error), IDX_LIMIT);
    assert_int_equal(error.status, IDX_LIMIT);
    assert_int_equal(idx_text_fingerprint(text, "a", SIZE_MAX, 64, &fingerprint, NULL, NULL), IDX_LIMIT);
    assert_true(fingerprint == 7);
    assert_int_equal(idx_text_fingerprint(text, "a", 1, 64, &fingerprint, NULL, NULL), IDX_OK);
}

static void test_fewer_bits_are_the_low_ones(void **state) {
    struct idx_text *text = *state;
    const char *string = "fingerprints of fewer bits";
    uint64_t whole = fingerprint_string(text, string, NULL);
    for (unsigned bits = 1; bits < 64; bits++) {
        uint64_t fingerprint;
        assert_int_equal(idx_text_fingerprint(text, string, strlen(string), bits, &fingerprint, NULL, NULL), IDX_OK);
        assert_true(fingerprint == (whole & ((UINT64_C(1) << bits) - 1)));
    }
}

static void test_texts_without_features(void **state) {
    struct idx_text *text = *state;
    static const char *const empty[] = {"", " ", "\n\n", "...!", "\xFF\xFE", "\u00ad", "🎉 →"};
    uint64_t features = 7;
    assert_true(fingerprint_bytes(text, NULL, 0, &features) == 0);
    assert_true(features == 0);
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
        features = 7;
        assert_true(fingerprint_string(text, empty[i], &features) == 0);
        assert_true(features == 0);
    }
}

/* A NUL, and whatever is no UTF-8, separates words; it does not end the text. */
static void test_bytes_that_are_no_text(void **state) {
    struct idx_text *text = *state;
    static const struct {
        const char *bytes;
        size_t length;
    } cases[] = {
        {"one\0two", 7},
        {"\0one\0two\0", 9},
        {"one\xFFtwo", 7},              /* never in UTF-8 */
        {"one\x80two\xBF", 8},          /* nothing to continue */
        {"one\xC0\xAFtwo", 8},          /* overlong */
        {"one\xED\xA0\x80two", 9},      /* a surrogate */
        {"one\xF4\x90\x80\x80two", 10}, /* above U+10FFFF */
        {"one\xE2\x82two", 8},          /* cut short */
        {"one two\xF0\x9F", 9},         /* cut short by the end */
    };
    uint64_t features, expected = fingerprint_string(text, "one two", NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        /* In a buffer of its own, so that reading past it is seen. */
        char *copy = malloc(cases[i].length);
        assert_non_null(copy);
        memcpy(copy, cases[i].bytes, cases[i].length);
        assert_true(fingerprint_bytes(text, copy, cases[i].length, &features) == expected);
        assert_true(features == 2);
        free(copy);
    }
}

/* `@` joins letters in ICU 72 and `:` from ICU 77 on, and neither does here. */
static void test_separators(void **state) {
    struct idx_text *text = *state;
    uint64_t features;
    assert_true(fingerprint_string(text, "a@b", &features) == fingerprint_string(text, "b a", NULL));
    assert_true(features == 2);
    assert_true(fingerprint_string(text, "a:b", &features) == fingerprint_string(text, "b a", NULL));
    assert_true(features == 2);
    /* full-width forms become those by normalisation */
    assert_true(fingerprint_string(text, "a＠b：c", &features) == fingerprint_string(text, "a b c", NULL));
    assert_true(features == 3);
}

static void test_the_users_locale_does_not_matter(void **state) {
    struct idx_text *text = *state;
    const char *string = "TITLE İI ıi a.b 1,5 x:y 日本語 ภาษาไทย";
    uint64_t expected = fingerprint_string(text, string, NULL);
    static const char *const locales[] = {"tr_TR", "en_US_POSIX", "sv_SE", "ja_JP", "th_TH"};
    char before[64];
    snprintf(before, sizeof before, "%s", uloc_getDefault());
    for (size_t i = 0; i < sizeof locales / sizeof *locales; i++) {
        UErrorCode code = U_ZERO_ERROR;
        uloc_setDefault(locales[i], &code);
        struct idx_text *other;
        assert_int_equal(idx_text_open(&other, NULL, NULL), IDX_OK);
        assert_true(fingerprint_string(other, string, NULL) == expected);
        idx_text_close(other);
    }
    UErrorCode code = U_ZERO_ERROR;
    uloc_setDefault(before, &code);
}

/* Writes the words from `first` by `step` modulo `count`, so that a step prime to it gives each once. */
static size_t write_words(char *to, size_t count, size_t first, size_t step, char separator) {
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        length += (size_t)sprintf(to + length, "w%zu%c", (first + i * step) % count, separator);
    }
    return length;
}

/* A million distinct words on one line, which is one piece; as many in another order, a line each; then a small text.
 */
static void test_large_texts(void **state) {
    struct idx_text *text = *state;
    enum { WORDS = 1000000 };
    char *large = malloc((size_t)WORDS * 16);
    assert_non_null(large);
    uint64_t small = fingerprint_string(text, "a small text", NULL), features;
    uint64_t line = fingerprint_bytes(text, large, write_words(large, WORDS, 0, 1, ' '), &features);
    assert_true(features == WORDS);
    assert_true(fingerprint_string(text, "a small text", &features) == small);
    assert_true(features == 3);
    assert_true(fingerprint_bytes(text, large, write_words(large, WORDS, 77, 7919, '\n'), &features) == line);
    assert_true(features == WORDS);
    assert_true(fingerprint_string(text, "a small text", &features) == small);
    free(large);
}

/* Characters that grow 18-fold by normalisation, and a word of 3 MB. */
static void test_growth(void **state) {
    struct idx_text *text = *state;
    enum { TIMES = 1000000 };
    char *large = malloc((size_t)TIMES * 3);
    assert_non_null(large);
    uint64_t features, expected = fingerprint_string(text, "\uFDFA", &features); /* four words and three spaces */
    assert_true(features == 4);
    for (size_t i = 0; i < TIMES / 10; i++) memcpy(large + 4 * i, "\uFDFA ", 4);
    assert_true(fingerprint_bytes(text, large, (size_t)TIMES / 10 * 4, &features) == expected);
    assert_true(features == 4);
    for (size_t i = 0; i < TIMES; i++) memcpy(large + 3 * i, "abc", 3);
    fingerprint_bytes(text, large, (size_t)TIMES * 3, &features);
    assert_true(features == 1);
    free(large);
}

/* Accents that normalisation has to put in order: a run of them as a whole, and two million in a time that is not
 * quadratic (hours). */
static void test_runs_of_accents(void **state) {
    struct idx_text *text = *state;
    enum { RUN = 100, TIMES = 1000000 };
    char mixed[1 + 4 * RUN], sorted[1 + 4 * RUN];
    mixed[0] = sorted[0] = 'a';
    for (size_t i = 0; i < RUN; i++) {
        memcpy(mixed + 1 + 4 * i, "\u0301\u0316", 4);
        memcpy(sorted + 1 + 2 * i, "\u0316", 2);
        memcpy(sorted + 1 + 2 * (RUN + i), "\u0301", 2);
    }
    uint64_t features;
    assert_true(fingerprint_bytes(text, mixed, sizeof mixed, &features) ==
                fingerprint_bytes(text, sorted, sizeof sorted, NULL));
    assert_true(features == 1);
    char *large = malloc((size_t)TIMES * 4);
    assert_non_null(large);
    for (size_t i = 0; i < TIMES; i++) memcpy(large + 4 * i, "\u0301\u0316", 4);
    fingerprint_bytes(text, large, (size_t)TIMES * 4, &features);
    free(large);
}

/* The fingerprint of a text of one feature is the hash of that, and features weigh what the recipe says. */
static void test_features(void **state) {
    (void)state;
    static const char *const shingles[] = {"a b", "b c", "c a"};
    const struct idx_text_field body = {"body", "A b c a b", 9};
    struct idx_text *text = open_by("words:2;w=tf");
    uint64_t hashes[3];
    for (size_t i = 0; i < 3; i++) hashes[i] = fingerprint_string(text, shingles[i], NULL);
    assert_int_equal(idxt_find_document_features(text, &body, 1, NULL), IDX_OK);
    assert_int_equal(text->features.words.count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_true(text->features.words.words[i].hash == hashes[i]);
        assert_true(text->features.words.words[i].weight == (i == 0 ? 2 : 1) * IDX_WEIGHT_ONE);
    }
    assert_int_equal(idxt_find_document_features(text, NULL, 0, NULL), IDX_OK);
    assert_int_equal(text->features.words.count, 0);
    idx_text_close(text);

    text = open_by("words:1;w=tf;top=1");
    assert_true(fingerprint_string(text, "a b b c", NULL) == fingerprint_string(text, "b", NULL));
    idx_text_close(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_features),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_recipes),
        cmocka_unit_test_setup_teardown(test_arguments, open_text, close_text),
        cmocka_unit_test_setup_teardown(test_fewer_bits_are_the_low_ones, open_text, close_text),
        cmocka_unit_test_setup_teardown(test_texts_without_features, open_text, close_text),
        cmocka_unit_test_setup_teardown(test_bytes_that_are_no_text, open_text, close_text),
        cmocka_unit_test_setup_teardown(test_separators, open_text, close_text),
        cmocka_unit_test_setup_teardown(test_the_users_locale_does_not_matter, open_text, close_text),
        cmocka_unit_test_setup_teardown(test_large_texts, open_text, close_text),
        cmocka_unit_test_setup_teardown(test_growth, open_text, close_text),
        cmocka_unit_test_setup_teardown(test_runs_of_accents, open_text, close_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
