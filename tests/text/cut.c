/* cut.c: tests of cut=spaces: words are what white space separates. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/text/testing.h"

static uint64_t fingerprint(const char *recipe, const char *body, size_t length, uint64_t *features) {
    struct idx_text *text = open_by(recipe);
    uint64_t made;
    assert_int_equal(idx_text_fingerprint(text, body, length, 64, &made, features, NULL), IDX_OK);
    idx_text_close(text);
    return made;
}

/* That a recipe makes of `segmented` what another makes of `body`. */
static void assert_same(const char *recipe, const char *segmented, const char *other, const char *body) {
    uint64_t features, expected_features;
    uint64_t made = fingerprint(recipe, segmented, strlen(segmented), &features);
    uint64_t expected = fingerprint(other, body, strlen(body), &expected_features);
    if (made != expected || features != expected_features) fail_msg("%s of '%s'", recipe, segmented);
}

static void test_words_of_a_segmenter(void **state) {
    (void)state;
    static const char segmented[] = "敏捷 的 棕色 狐狸 跳 过 了 懒 狗 。 近似 重复 的 网页 会 浪费 索引 的 空间 。";
    static const char body[] = "敏捷的棕色狐狸跳过了懒狗。近似重复的网页会浪费索引的空间。";
    assert_same("words:1;cut=spaces;v1", segmented, "words:1;v1", body);
    assert_same("words:3;cut=spaces", segmented, "words:3;v1", body);
    assert_same("words:1;cut=spaces;stop=zh", segmented, "words:1;stop=zh;v1", body);
    assert_same("terms:5;cut=spaces", segmented, "terms:5;v1", body);
    assert_same("words:1;cut=spaces", "the  QUICK\n\nbrown\tfox", "words:1", "the quick brown fox");
}

static void test_what_separates(void **state) {
    (void)state;
    static const char recipe[] = "words:1;cut=spaces;w=tf";
    uint64_t features;
    /* all of Unicode's white space; a joiner or a full stop is none */
    assert_same(recipe,
                "a\u00A0b\u3000c\u2028d\xC2\x85"
                "e\rf\fg",
                recipe, "a b c d e f g");
    static const char seven[] = "a.b c\u200Dd e:f g@h i/j C++ 12:30";
    fingerprint(recipe, seven, strlen(seven), &features);
    assert_int_equal(features, 7);
    /* without a letter or a digit */
    assert_same(recipe, "a - -- , \u3002 \U0001F389 + b", recipe, "a b");
    assert_same(recipe, " ! ", recipe, "");
    assert_same(recipe, "", recipe, "\n");
    assert_same(recipe, "\u0661 \u2460 \u00BD", recipe, "\u0661 1 1\u20442");
}

/* Words, and shingles, go on where the text is cut into pieces. */
static void test_long_texts(void **state) {
    (void)state;
    enum { WORDS = 40000 };
    char *bytes = malloc(WORDS * 8);
    assert_non_null(bytes);
    for (int lines = 0; lines < 2; lines++) {
        size_t length = 0;
        uint64_t features;
        for (int i = 0; i < WORDS; i++) length += (size_t)sprintf(bytes + length, "w%d%c", i, lines ? '\n' : ' ');
        fingerprint("words:1;cut=spaces", bytes, length, &features);
        assert_int_equal(features, WORDS);
        assert_true(fingerprint("words:2;cut=spaces", bytes, length, &features) ==
                    fingerprint("words:2", bytes, length, NULL));
        assert_int_equal(features, WORDS - 1);
    }
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_of_a_segmenter),
        cmocka_unit_test(test_what_separates),
        cmocka_unit_test(test_long_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
