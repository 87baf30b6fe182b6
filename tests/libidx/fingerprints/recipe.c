/* recipe.c: tests of comparing recipes, and of what they say. */
#include <idx.h>

#include "tests/testing.h"

static void test_matches(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
        bool matches, same_icu;
    } cases[] = {
        {"", "", true, true},
        {"words", "words", true, true},
        {"words", "letters", false, true},
        {"words", "word", false, true},
        {"words", "", false, true},
        {"words;icu=72", "words;icu=72", true, true},
        {"words;icu=72", "words;icu=7", true, false},
        {"words;icu=72", "words;icu=74", true, false},
        {"words;icu=72", "words", true, true},
        {"words;icu=72", "letters;icu=72", false, true},
        {"words;icu=", "words", false, true},
        {"words;icu=72 ", "words", false, true},
        {"words;icu=7a", "words", false, true},
        {"words;icu=72;v2", "words;v2", false, true},
        {"words72", "words", false, true},
        {"icu=72", "", false, true},
        {";icu=72", "", true, true},
        {"words;icu=72;icu=72", "words;icu=72", false, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool same_icu = true;
        if (idx_recipe_matches(cases[i].a, cases[i].b, &same_icu) != cases[i].matches) fail_msg("case %zu", i);
        assert_int_equal(same_icu, cases[i].same_icu);
        assert_int_equal(idx_recipe_matches(cases[i].b, cases[i].a, &same_icu), cases[i].matches);
        assert_int_equal(same_icu, cases[i].same_icu);
        assert_int_equal(idx_recipe_matches(cases[i].a, cases[i].b, NULL), cases[i].matches);
    }
}

static bool are_equal(const struct idx_recipe_properties *a, const struct idx_recipe_properties *b) {
    return a->method == b->method && a->number == b->number && a->fingerprints == b->fingerprints &&
           a->max_k == b->max_k && a->shingle_width == b->shingle_width && a->by_characters == b->by_characters &&
           a->by_table == b->by_table && a->version == b->version && a->manuals == b->manuals && a->icu == b->icu &&
           a->hash == b->hash && a->ties == b->ties;
}

static void test_properties(void **state) {
    (void)state;
    static const struct {
        const char *recipe;
        struct idx_recipe_properties expected;
    } cases[] = {
        {"", {.max_k = 16, .fingerprints = 1}},
        {";", {.max_k = 16, .fingerprints = 1}},
        {"words:1", {.method = IDX_RECIPE_WORDS, .number = 1, .fingerprints = 1, .max_k = 16}},
        {"words:3,stop=en;w=tfidf:0000000000000000;man=2;v1;icu=72",
         {IDX_RECIPE_WORDS, 3, 1, 16, 0, false, true, 1, 2, 72, 0, 0, {0}}},
        {"chars:4;w=idf", {.method = IDX_RECIPE_CHARS, .number = 4, .fingerprints = 1, .max_k = 16, .by_table = true}},
        {"chars:4;man=1;man=2", {IDX_RECIPE_CHARS, 4, 1, 16, 0, false, false, 0, 2, 0, 0, 0, {0}}},
        {"segments:4;v1", {IDX_RECIPE_SEGMENTS, 4, 4, 16, 0, false, false, 1, 0, 0, 0, 0, {0}}},
        {"sentences:3;nfkc-cf;v1", {IDX_RECIPE_SENTENCES, 3, 1, 0, 0, false, false, 1, 0, 0, 0, 0, {0}}},
        {"description", {.method = IDX_RECIPE_DESCRIPTION, .fingerprints = 1}},
        {"description;v1;icu=72", {IDX_RECIPE_DESCRIPTION, 0, 1, 0, 0, false, false, 1, 0, 72, 0, 0, {0}}},
        {"terms:10;v1", {IDX_RECIPE_TERMS, 10, 1, 0, 0, false, false, 1, 0, 0, 0, 0, {0}}},
        {"idf:70", {.method = IDX_RECIPE_IDF, .number = 70, .fingerprints = 1, .by_table = true}},
        {"my;hash=md5;ties=1;v2", {.fingerprints = 1, .max_k = 16, .version = 2, .hash = IDX_HASH_MD5, .ties = 1}},
        {"chars:4;hash=fnv1a;ties=0", {IDX_RECIPE_CHARS, 4, 1, 16, 0, false, false, 0, 0, 0, IDX_HASH_FNV1A, 0, {0}}},
        {"my;hash=fnv1;hash=fnv;rehash=md5;ties=x", {.fingerprints = 1, .max_k = 16, .hash = IDX_HASH_FNV1}},
        {"minhash:8", {IDX_RECIPE_MINHASH, 8, 8, 0, 5, false, false, 0, 0, 0, 0, 0, {0}}},
        {"minhash:64;chars=3;v9", {IDX_RECIPE_MINHASH, 64, 64, 0, 3, true, false, 9, 0, 0, 0, 0, {0}}},
    };
    static const char *const others[] = {"descriptions", "description:1", "sentences",   "sentences:",  "terms:x10",
                                         "idf:70 ",      "minhash",       "minhash:8,a", "my;minhash:8"};
    struct idx_recipe_properties properties;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        idx_recipe_read(cases[i].recipe, &properties);
        if (!are_equal(&properties, &cases[i].expected)) fail_msg("'%s'", cases[i].recipe);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        idx_recipe_read(others[i], &properties);
        assert_int_equal(properties.method, IDX_RECIPE_OTHER);
        assert_int_equal(properties.max_k, IDX_MAX_K);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_matches), cmocka_unit_test(test_properties)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
