/* segmenter.c: tests of what is cut from a text: words as they come, and each character alone. */
#include "libidx/text/segmenter.h"

#include <unicode/utf8.h>

#include "tests/text/testing.h"

static void assert_words(struct idxt_segmenter *segmenter, const char *text, const char *const *words) {
    assert_int_equal(idxt_segmenter_set_text(segmenter, text, strlen(text)), U_ZERO_ERROR);
    struct idxt_span word;
    for (; *words != NULL; words++) {
        char utf8[64];
        assert_true(idxt_segmenter_next_word(segmenter, &word));
        assert_true(word.length * IDXT_UTF8_PER_UNIT < sizeof utf8);
        utf8[idxt_span_write_utf8(word, utf8)] = '\0';
        assert_string_equal(utf8, *words);
    }
    assert_false(idxt_segmenter_next_word(segmenter, &word));
}

static void test_words(void **state) {
    (void)state;
    struct idxt_segmenter segmenter = {0};
    assert_int_equal(idxt_segmenter_open(&segmenter), U_ZERO_ERROR);
    assert_words(&segmenter, "", (const char *const[]){NULL});
    assert_words(&segmenter, "... !", (const char *const[]){NULL});
    assert_words(&segmenter, "Be, or NOT be", (const char *const[]){"be", "or", "not", "be", NULL});
    /* letters of one to four bytes; numbers, kana, ideographs; no emoji */
    assert_words(&segmenter, "Ångström-\U00010400 3,5 カナ 中 \U0001F389",
                 (const char *const[]){"ångström", "\U00010428", "3,5", "カナ", "中", NULL});
    assert_words(&segmenter, "again", (const char *const[]){"again", NULL});
    idxt_segmenter_close(&segmenter);
    idxt_segmenter_close(&segmenter);
}

/* Every character of Unicode is normalised in the room that it is given, alone and many times over, and comes out as
 * UTF-8 of the size that is allowed for. */
static void test_every_character_has_room(void **state) {
    (void)state;
    struct idxt_segmenter segmenter = {0};
    assert_int_equal(idxt_segmenter_open(&segmenter), U_ZERO_ERROR);
    for (UChar32 c = 0; c <= 0x10FFFF; c++) {
        if (U_IS_SURROGATE(c)) continue;
        uint8_t utf8[3 * U8_MAX_LENGTH], back[3 * 18 * IDXT_UTF8_PER_UNIT * 2];
        size_t length = 0;
        for (int times = 0; times < 3; times++) U8_APPEND_UNSAFE(utf8, length, c);
        assert_int_equal(idxt_segmenter_set_text(&segmenter, (const char *)utf8, length), U_ZERO_ERROR);
        struct idxt_span word;
        while (idxt_segmenter_next_word(&segmenter, &word)) {
            assert_true(word.length * IDXT_UTF8_PER_UNIT <= sizeof back);
            size_t size = idxt_span_write_utf8(word, (char *)back);
            assert_true(size > 0 && size <= word.length * IDXT_UTF8_PER_UNIT);
        }
    }
    idxt_segmenter_close(&segmenter);
}

static void test_piece_length(void **state) {
    (void)state;
    static char text[4 * IDXT_PIECE_BYTES];
    memset(text, 'x', sizeof text);
    assert_int_equal(idxt_find_piece_length(text, 0), 0);
    assert_int_equal(idxt_find_piece_length(text, IDXT_PIECE_BYTES), IDXT_PIECE_BYTES);
    assert_int_equal(idxt_find_piece_length(text, sizeof text), sizeof text);
    text[IDXT_PIECE_BYTES - 1] = '\n';
    assert_int_equal(idxt_find_piece_length(text, sizeof text), sizeof text);
    text[2 * IDXT_PIECE_BYTES] = '\n';
    assert_int_equal(idxt_find_piece_length(text, sizeof text), 2 * IDXT_PIECE_BYTES + 1);
    assert_int_equal(idxt_find_piece_length(text, 2 * IDXT_PIECE_BYTES), 2 * IDXT_PIECE_BYTES);
    text[IDXT_PIECE_BYTES] = '\n';
    assert_int_equal(idxt_find_piece_length(text, sizeof text), IDXT_PIECE_BYTES + 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_every_character_has_room),
        cmocka_unit_test(test_piece_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
