/* recipe.c: tests of comparing recipes. */
#include <idx.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_matches)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
