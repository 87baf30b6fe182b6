/* pieces.c: tests that a text fingerprinted in pieces gives what the whole text gives in one: random texts of
 * characters that make segmentation and normalisation look around, against a plain and slow way to the same
 * fingerprint. */
#include <stdbool.h>
#include <stdlib.h>

#include <unicode/ubrk.h>
#include <unicode/unorm2.h>
#include <unicode/ustring.h>

#include "libidx/text/segmenter.h"
#include "libidx/text/table.h"
#include "tests/random.h"
#include "tests/text/testing.h"

/* The recipe step by step over the whole text: normalise, cut, sort all words, count runs. */
struct word {
    char *bytes;
    unsigned halvings;
};

struct words {
    struct word *words;
    size_t count;
};

static int compare_words(const void *a, const void *b) {
    return strcmp(((const struct word *)a)->bytes, ((const struct word *)b)->bytes);
}

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

static void append(struct words *words, const UChar *units, int32_t length, unsigned halvings) {
    UErrorCode code = U_ZERO_ERROR;
    char *word = calloc(3, (size_t)length + 1);
    if ((words->count & (words->count + 1)) == 0) /* With a sanitizer, each realloc copies all words. */
        words->words = realloc(words->words, 2 * (words->count + 1) * sizeof *words->words);
    assert_non_null(word);
    assert_non_null(words->words);
    u_strToUTF8(word, 3 * length + 1, NULL, units, length, &code);
    assert_true(U_SUCCESS(code));
    words->words[words->count++] = (struct word){word, halvings};
}

/* Appends the words that ICU finds. */
static void cut_by_icu(struct words *words, const UChar *units, int32_t length) {
    UErrorCode code = U_ZERO_ERROR;
    UBreakIterator *iterator = ubrk_open(UBRK_WORD, "", units, length, &code);
    assert_true(U_SUCCESS(code));
    for (int32_t start = 0, end; (end = ubrk_next(iterator)) != UBRK_DONE; start = end) {
        if (ubrk_getRuleStatus(iterator) >= UBRK_WORD_NUMBER) append(words, units + start, end - start, 0);
    }
    ubrk_close(iterator);
}

/* Of the atoms, the characters of scripts without spaces; each is one unit. */
static bool is_unspaced(UChar unit) {
    return (unit >= 0x0E01 && unit <= 0x0E4E) || unit == 0x1780 || (unit >= 0x3040 && unit <= 0x30FF) ||
           (unit >= 0x4E00 && unit <= 0x9FFF);
}

/* Cuts by version 2: runs of these scripts become characters and pairs, and ICU cuts what is between them. */
static struct words cut(const UChar *units, int32_t length) {
    struct words words = {NULL, 0};
    for (int32_t i = 0, end; i < length; i = end) {
        bool is_run = is_unspaced(units[i]);
        for (end = i + 1; end < length && is_unspaced(units[end]) == is_run;) end++;
        if (!is_run) cut_by_icu(&words, units + i, end - i);
        for (int32_t at = i; is_run && at < end; at++) {
            append(&words, units + at, 1, 1);
            if (at + 1 < end) append(&words, units + at, 2, 2);
        }
    }
    return words;
}

static uint64_t plain_fingerprint(unsigned version, const char *bytes, size_t length, uint64_t *features) {
    int32_t unit_length;
    UChar *units = normalized(bytes, length, &unit_length);
    struct words words = {NULL, 0};
    if (version == 1)
        cut_by_icu(&words, units, unit_length);
    else
        words = cut(units, unit_length);
    if (words.count > 0) qsort(words.words, words.count, sizeof *words.words, compare_words);
    struct idx_simhash simhash;
    idx_simhash_init(&simhash);
    *features = 0;
    for (size_t i = 0, next; i < words.count; i = next) {
        const struct word *word = &words.words[i];
        for (next = i + 1; next < words.count && compare_words(&words.words[next], word) == 0;) next++;
        idx_simhash_add(&simhash, word->bytes, strlen(word->bytes), idxt_log_weight(next - i) >> word->halvings);
        ++*features;
    }
    for (size_t i = 0; i < words.count; i++) free(words.words[i].bytes);
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

/* The fingerprinters of version 1 and 2. */
struct versions {
    struct idx_text *texts[2];
};

static void assert_like_whole(struct versions *versions, const char *bytes, size_t length) {
    for (unsigned version = 1; version <= 2; version++) {
        uint64_t fingerprint, features, expected_features;
        uint64_t expected = plain_fingerprint(version, bytes, length, &expected_features);
        struct idx_text *text = versions->texts[version - 1];
        assert_int_equal(idx_text_fingerprint(text, bytes, length, 64, &fingerprint, &features, NULL), IDX_OK);
        assert_true(features == expected_features);
        assert_true(fingerprint == expected);
    }
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

/* Texts with spaces between their words have the same fingerprints by both versions. */
static void test_versions_agree(void **state) {
    enum { LENGTH = 2000 };
    static const char *const spaced[] = {
        "a",      "Zb",     "7",      "1,5",    "\n",     " ",          " ",      ".",      "'",
        ":",      "_",      "\u0301", "\u05D0", "\u0439", "\uD55C",     "\u1161", "\u11A8", "\u0915\u093F",
        "\u0661", "\u00C5", "\u1E9E", "\u0E51", "\uFF11", "\U0001F1E9", "\xFF",
    };
    struct versions *versions = *state;
    uint64_t random = 3;
    for (int round = 0; round < 300; round++) {
        char bytes[LENGTH];
        uint64_t made[2], features[2];
        size_t length = 0;
        while (length + 8 <= LENGTH) {
            const char *atom = spaced[next_random(&random) % (sizeof spaced / sizeof *spaced)];
            memcpy(bytes + length, atom, strlen(atom));
            length += strlen(atom);
        }
        for (int i = 0; i < 2; i++) {
            struct idx_text *text = versions->texts[i];
            assert_int_equal(idx_text_fingerprint(text, bytes, length, 64, &made[i], &features[i], NULL), IDX_OK);
        }
        assert_true(features[0] > 0 && features[0] == features[1]);
        assert_true(made[0] == made[1]);
    }
}

static int open_texts(void **state) {
    static struct versions versions;
    struct idx_text_options options = IDX_TEXT_OPTIONS_INIT;
    *state = &versions;
    options.recipe = "words:1;v1";
    if (idx_text_open(&versions.texts[0], &options, NULL) != IDX_OK) return -1;
    return idx_text_open(&versions.texts[1], NULL, NULL) == IDX_OK ? 0 : -1;
}

static int close_texts(void **state) {
    struct versions *versions = *state;
    idx_text_close(versions->texts[0]);
    idx_text_close(versions->texts[1]);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_around_one_cut),
        cmocka_unit_test(test_many_cuts),
        cmocka_unit_test(test_versions_agree),
    };
    return cmocka_run_group_tests(tests, open_texts, close_texts);
}
