/* stop_words.c: tests of the lists of stop words. */
#include "libidx/text/stop_words.h"
#include "libidx/text/segmenter.h"

#include <stdio.h>

#include "tests/text/testing.h"

static void assert_holds(const struct idxt_words *words, const char *word, bool holds) {
    if (idxt_words_has(words, word, strlen(word)) != holds) fail_msg("'%s'", word);
}

static void test_languages(void **state) {
    (void)state;
    static const struct {
        const char *code, *word;
    } known[] = {{"de", "während"}, {"en", "don't"}, {"es", "también"}, {"fr", "être"}, {"it", "perché"},
                 {"nl", "het"},     {"pt", "não"},   {"ru", "что"},     {"zh", "的"}};
    enum { KNOWN = sizeof known / sizeof *known };
    for (size_t i = 0; i < KNOWN; i++) {
        struct idxt_words words = {0};
        uint32_t language = idxt_stop_language_bit(known[i].code, 2);
        assert_true(language == UINT32_C(1) << i);
        assert_string_equal(idxt_stop_language_code(language), known[i].code);
        assert_true(idxt_fill_stop_words(&words, language));
        assert_true(words.count >= 50 && words.count < 300);
        for (size_t j = 0; j < KNOWN; j++) assert_holds(&words, known[j].word, i == j);
        assert_holds(&words, "fingerprint", false);
        assert_holds(&words, "", false);
        idxt_words_free(&words);
    }
    assert_int_equal(idxt_stop_language_bit("xx", 2), 0);
    assert_int_equal(idxt_stop_language_bit("en", 1), 0);
    assert_int_equal(idxt_stop_language_bit("eng", 3), 0);
    assert_int_equal(idxt_stop_language_bit("", 0), 0);
}

/* A list is for ever: the number of words and the hash of all of them, in order. */
static void test_lists_do_not_change(void **state) {
    (void)state;
    static const struct {
        size_t count;
        uint64_t hash;
    } expected[] = {
        {172, UINT64_C(0x489c93c9b9205edb)}, {164, UINT64_C(0xd1ddb5d3494eccd2)}, {139, UINT64_C(0x46741a3e09de6f30)},
        {152, UINT64_C(0x61196e02d149708a)}, {167, UINT64_C(0xb75aa84eedd83f9f)}, {121, UINT64_C(0x51a67c403082c3cd)},
        {159, UINT64_C(0xf84d203570720a8e)}, {131, UINT64_C(0x052609793cc58c5d)}, {70, UINT64_C(0xfff8c733e6a67fe3)}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct idxt_words words = {0};
        struct idx_simhash simhash;
        assert_true(idxt_fill_stop_words(&words, UINT32_C(1) << i));
        idx_simhash_init(&simhash);
        idx_simhash_add(&simhash, words.bytes, words.byte_count, 1);
        uint64_t hash = idx_simhash_finish(&simhash, 64);
        if (words.count != expected[i].count || hash != expected[i].hash)
            print_error("{%zu, UINT64_C(0x%016llx)},\n", words.count, (unsigned long long)hash);
        assert_int_equal(words.count, expected[i].count);
        assert_true(hash == expected[i].hash);
        idxt_words_free(&words);
    }
}

static void test_several_and_none(void **state) {
    (void)state;
    struct idxt_words words = {0};
    assert_true(idxt_fill_stop_words(&words, 1 | 2));
    assert_holds(&words, "und", true);
    assert_holds(&words, "and", true);
    assert_holds(&words, "y", false);
    assert_true(idxt_fill_stop_words(&words, 0));
    assert_int_equal(words.count, 0);
    assert_holds(&words, "and", false);
    idxt_words_free(&words);
}

/* Each word is what the segmenter makes of it, but in Chinese, where that hangs on ICU's dictionary. */
static void test_words_are_normalized(void **state) {
    (void)state;
    struct idxt_words words = {0};
    struct idxt_segmenter segmenter = {0};
    assert_int_equal(idxt_segmenter_open(&segmenter), U_ZERO_ERROR);
    assert_true(idxt_fill_stop_words(&words, 0xFF));
    for (size_t i = 0; i < words.count; i++) {
        const char *bytes = words.bytes + words.words[i].start;
        char utf8[128];
        struct idxt_span word;
        assert_int_equal(idxt_segmenter_set_text(&segmenter, bytes, words.words[i].length), U_ZERO_ERROR);
        assert_true(idxt_segmenter_next_word(&segmenter, &word));
        assert_int_equal(idxt_span_write_utf8(word, utf8), words.words[i].length);
        assert_memory_equal(utf8, bytes, words.words[i].length);
        assert_false(idxt_segmenter_next_word(&segmenter, &word));
    }
    idxt_segmenter_close(&segmenter);
    idxt_words_free(&words);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_languages),
        cmocka_unit_test(test_lists_do_not_change),
        cmocka_unit_test(test_several_and_none),
        cmocka_unit_test(test_words_are_normalized),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
