/* words.c: tests of the set of distinct words. */
#include "libidx/text/words.h"

#include <stdio.h>

#include "tests/text/testing.h"

static void count(struct idxt_words *words, const char *bytes, size_t length) {
    char *room = idxt_words_reserve_bytes(words, length);
    assert_non_null(room);
    memcpy(room, bytes, length);
    assert_true(idxt_words_count_reserved(words, length, 0));
}

static void assert_word(const struct idxt_words *words, size_t number, const char *bytes, size_t length,
                        uint64_t occurrences) {
    const struct idxt_word *word = &words->words[number];
    assert_int_equal(word->length, length);
    assert_memory_equal(words->bytes + word->start, bytes, length);
    assert_true(word->count == occurrences);
}

static void test_counts_each_distinct_word(void **state) {
    (void)state;
    struct idxt_words words = {0};
    assert_true(idxt_words_begin(&words));
    assert_int_equal(words.count, 0);
    count(&words, "b", 1);
    count(&words, "a", 1);
    count(&words, "ab", 2);
    count(&words, "a", 1);
    count(&words, "a\0b", 3); /* words of one beginning, or with a NUL byte, differ */
    count(&words, "a\0c", 3);
    count(&words, "a", 1);
    assert_int_equal(words.count, 5);
    assert_word(&words, 0, "b", 1, 1);
    assert_word(&words, 1, "a", 1, 3);
    assert_word(&words, 2, "ab", 2, 1);
    assert_word(&words, 3, "a\0b", 3, 1);
    assert_word(&words, 4, "a\0c", 3, 1);
    idxt_words_free(&words);
}

static void test_beginning_forgets_and_keeps_buffers(void **state) {
    (void)state;
    struct idxt_words words = {0};
    for (int text = 0; text < 3; text++) {
        assert_true(idxt_words_begin(&words));
        assert_int_equal(words.count, 0);
        assert_int_equal(words.byte_count, 0);
        count(&words, "again", 5);
        count(&words, "again", 5);
        assert_int_equal(words.count, 1);
        assert_word(&words, 0, "again", 5, 2);
    }
    idxt_words_free(&words);
    assert_null(words.words);
    idxt_words_free(&words);
}

static void test_a_million_words_twice(void **state) {
    (void)state;
    enum { WORDS = 1000000 };
    struct idxt_words words = {0};
    assert_true(idxt_words_begin(&words));
    char name[32];
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < WORDS; i++) count(&words, name, (size_t)sprintf(name, "word%d", i));
    }
    assert_int_equal(words.count, WORDS);
    for (int i = 0; i < WORDS; i++) assert_word(&words, (size_t)i, name, (size_t)sprintf(name, "word%d", i), 2);
    /* A small text after a large one starts with a small table. */
    assert_true(words.slot_mask >= WORDS);
    assert_true(idxt_words_begin(&words));
    assert_true(words.slot_mask < 10000);
    count(&words, "word7", 5);
    assert_int_equal(words.count, 1);
    idxt_words_free(&words);
}

/* Words with one hash stay apart. They are made so by changing those in the set behind its back. */
static void test_equal_hashes_are_told_apart(void **state) {
    (void)state;
    struct idxt_words words = {0};
    assert_true(idxt_words_begin(&words));
    count(&words, "one", 3);
    memcpy(words.bytes, "two", 3);
    count(&words, "one", 3);
    words.words[1].length = 2;
    count(&words, "one", 3);
    assert_int_equal(words.count, 3);
    assert_word(&words, 0, "two", 3, 1);
    assert_word(&words, 1, "on", 2, 1);
    assert_word(&words, 2, "one", 3, 1);
    idxt_words_free(&words);
}

/* Lengths on both sides of where the comparison of bytes takes another way, each byte different in turn. */
static void test_every_byte_tells_apart(void **state) {
    (void)state;
    struct idxt_words words = {0};
    char bytes[40];
    memset(bytes, 'x', sizeof bytes);
    for (size_t length = 0; length <= sizeof bytes; length++) {
        for (size_t i = 0; i <= length; i++) {
            assert_true(idxt_words_begin(&words));
            count(&words, bytes, length);
            if (i < length) words.bytes[i] = 'y'; /* behind its back, so that the keys are the same */
            count(&words, bytes, length);
            assert_int_equal(words.count, i < length ? 2 : 1);
        }
    }
    idxt_words_free(&words);
}

/* Hashes belong to recipes and are the same everywhere; keys must be foreseen by nobody. */
static void test_keys_are_drawn(void **state) {
    (void)state;
    struct idxt_words a = {0}, b = {0};
    assert_true(idxt_words_begin(&a));
    assert_true(idxt_words_begin(&b));
    count(&a, "a", 1);
    count(&b, "a", 1);
    assert_true(a.words[0].hash == UINT64_C(0xe6c632b61e964e1f));
    assert_true(b.words[0].hash == UINT64_C(0xe6c632b61e964e1f));
    assert_true(a.seed != b.seed); /* equal once in 2^63 runs */
    idxt_words_free(&a);
    idxt_words_free(&b);
}

static void test_room_beyond_size_t_is_refused(void **state) {
    (void)state;
    struct idxt_words words = {0};
    assert_true(idxt_words_begin(&words));
    count(&words, "kept", 4);
    assert_null(idxt_words_reserve_bytes(&words, SIZE_MAX));
    count(&words, "kept", 4);
    assert_word(&words, 0, "kept", 4, 2);
    idxt_words_free(&words);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_each_distinct_word),
        cmocka_unit_test(test_beginning_forgets_and_keeps_buffers),
        cmocka_unit_test(test_a_million_words_twice),
        cmocka_unit_test(test_equal_hashes_are_told_apart),
        cmocka_unit_test(test_every_byte_tells_apart),
        cmocka_unit_test(test_keys_are_drawn),
        cmocka_unit_test(test_room_beyond_size_t_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
