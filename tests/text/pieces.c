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

#include "libidx/text/weight.h"

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

static uint64_t next_random(uint64_t *state) {
    *state += UINT64_C(0x9E3779B97F4A7C15); /* splitmix64 */
    uint64_t z = *state;
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static size_t random_text(char *text, size_t length, uint64_t *random) {
    size_t written = 0;
    while (written + 4 <= length) {
        const char *atom = atoms[next_random(random) % (sizeof atoms / sizeof *atoms)];
        size_t size = strlen(atom);
        memcpy(text + written, atom, size);
        written += size;
    }
    return written;
}

static void test_pieces_are_unseen(void **state) {
    (void)state;
    enum { LENGTH = 1 << 20 };
    char *bytes = malloc(LENGTH);
    assert_non_null(bytes);
    struct idx_text *text;
    assert_int_equal(idx_text_open(&text, NULL, NULL), IDX_OK);
    for (uint64_t seed = 1; seed <= 8; seed++) {
        uint64_t random = seed, fingerprint, features, expected, expected_features;
        size_t length = random_text(bytes, LENGTH, &random);
        expected = plain_fingerprint(bytes, length, &expected_features);
        assert_int_equal(idx_text_fingerprint(text, bytes, length, 64, &fingerprint, &features, NULL), IDX_OK);
        if (fingerprint != expected || features != expected_features) fail_msg("seed %llu", (unsigned long long)seed);
    }
    idx_text_close(text);
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_are_unseen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
