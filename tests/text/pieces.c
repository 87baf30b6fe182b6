/* pieces.c: tests that a text fingerprinted in pieces gives what the whole text gives in one: random texts of
 * characters that make segmentation and normalisation look around, against a plain and slow way to the same
 * fingerprint. */
#include <idx_text.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <unicode/ubrk.h>
#include <unicode/unorm2.h>
#include <unicode/ustring.h>

#include <cmocka.h>

#include "libidx/text/features.h"
#include "libidx/text/words.h"
#include "tests/random.h"

/* The recipe step by step over the whole text: normalise, cut, sort all words, count runs. */
struct words {
    char **words;
    size_t count;
};

static int compare_words(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static UChar *normalized(const char *bytes, size_t length, int32_t *unit_length) {
    UErrorCode code = U_ZERO_ERROR;
    UChar *source = malloc((length + 1) * sizeof *source), *units = malloc((18 * length + 1) * sizeof *units);
    assert_non_null(source);
    assert_non_null(units);
    int32_t source_length;
    u_strFromUTF8WithSub(source, (int32_t)length + 1, &source_length, bytes, (int32_t)length, 0xFFFD, NULL, &code);
    *unit_length = unorm2_normalize(unorm2_getNFKCCasefoldInstance(&code), source, source_length, units,
                                    18 * (int32_t)length + 1, &code);
    for (int32_t i = 0; i < *unit_length; i++) {
        if (units[i] == u'@' || units[i] == u':') units[i] = u' ';
    }
    assert_true(U_SUCCESS(code));
    free(source);
    return units;
}

static struct words cut(const UChar *units, int32_t length) {
    struct words words = {malloc(((size_t)length + 1) * sizeof *words.words), 0};
    assert_non_null(words.words);
    UErrorCode code = U_ZERO_ERROR;
    UBreakIterator *iterator = ubrk_open(UBRK_WORD, "", units, length, &code);
    assert_true(U_SUCCESS(code));
    for (int32_t start = 0, end; (end = ubrk_next(iterator)) != UBRK_DONE; start = end) {
        if (ubrk_getRuleStatus(iterator) < UBRK_WORD_NUMBER) continue;
        size_t capacity = 3 * (size_t)(end - start) + 1;
        char *word = calloc(1, capacity);
        assert_non_null(word);
        u_strToUTF8(word, (int32_t)capacity, NULL, units + start, end - start, &code);
        assert_true(U_SUCCESS(code));
        words.words[words.count++] = word;
    }
    ubrk_close(iterator);
    return words;
}

static uint64_t plain_fingerprint(const char *bytes, size_t length, uint64_t *features) {
    int32_t unit_length;
    UChar *units = normalized(bytes, length, &unit_length);
    struct words words = cut(units, unit_length);
    qsort(words.words, words.count, sizeof *words.words, compare_words);
    struct idx_simhash simhash;
    idx_simhash_init(&simhash);
    *features = 0;
    for (size_t i = 0, next; i < words.count; i = next) {
        const char *word = words.words[i];
        for (next = i + 1; next < words.count && strcmp(words.words[next], word) == 0;) next++;
        idx_simhash_add(&simhash, word, strlen(word), idxt_weight(next - i));
        ++*features;
    }
    for (size_t i = 0; i < words.count; i++) free(words.words[i]);
    free(words.words);
    free(units);
    return idx_simhash_finish(&simhash, 64);
}

static const char *const atoms[] = {
    "a",      "B",      "z1",     "7",      "\n",         "\n",         "\r",     "\r\n",   "\xC2\x85",
    "\u2028", " ",      ".",      "'",      ",",          ":",          "@",      "_",      "\"",
    "\u0301", "\u200D", "\u00AD", "\u05D0", "\u1100",     "\u1161",     "\u11A8", "\u0E01", "\u0E33",
    "\u4E2D", "\u6587", "\u30AB", "\uFF76", "\u304C",     "\u3099",     "\uFDFA", "\u00C5", "\u1E9E",
    "\u0130", "\xFF",   "\xE2",   "\xF0",   "\U0001F1E9", "\U0001F468", "\u1780", "\u0F71",
};

/* Writes random atoms, at most `size` bytes of them. Returns how many. */
static size_t write_atoms(char *text, size_t size, uint64_t *random) {
    size_t written = 0;
    while (written + 4 <= size) {
        const char *atom = atoms[next_random(random) % (sizeof atoms / sizeof *atoms)];
        memcpy(text + written, atom, strlen(atom));
        written += strlen(atom);
    }
    return written;
}

static void assert_like_whole(struct idx_text *text, const char *bytes, size_t length) {
    uint64_t fingerprint, features, expected_features;
    uint64_t expected = plain_fingerprint(bytes, length, &expected_features);
    assert_int_equal(idx_text_fingerprint(text, bytes, length, 64, &fingerprint, &features, NULL), IDX_OK);
    assert_true(features == expected_features);
    assert_true(fingerprint == expected);
}

/* Few words, so that each of them shows in the fingerprint, around the first place where a text may be cut. */
static void test_around_one_cut(void **state) {
    enum { SPACES = IDXT_PIECE_BYTES - 40, ATOMS = 120 };
    static char bytes[SPACES + ATOMS];
    uint64_t random = 1;
    memset(bytes, ' ', SPACES);
    for (int round = 0; round < 1000; round++) {
        assert_like_whole(*state, bytes, SPACES + write_atoms(bytes + SPACES, ATOMS, &random));
    }
}

static void test_many_cuts(void **state) {
    enum { LENGTH = 1 << 20 };
    char *bytes = malloc(LENGTH);
    assert_non_null(bytes);
    uint64_t random = 2;
    for (int round = 0; round < 3; round++) assert_like_whole(*state, bytes, write_atoms(bytes, LENGTH, &random));
    free(bytes);
}

static int open_text(void **state) { return idx_text_open((struct idx_text **)state, NULL, NULL) == IDX_OK ? 0 : -1; }

static int close_text(void **state) {
    idx_text_close(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_around_one_cut),
        cmocka_unit_test(test_many_cuts),
    };
    return cmocka_run_group_tests(tests, open_text, close_text);
}
