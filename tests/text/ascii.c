/* ascii.c: tests that words cut without ICU are the ones that ICU cuts, in the same order: every short text of the
 * characters that rules speak of, every three ASCII characters, and random texts, also with other characters between.
 */
#include "libidx/text/ascii.h"
#include "libidx/text/segmenter.h"

#include "tests/random.h"
#include "tests/text/testing.h"

#include <stdio.h>
#include <stdlib.h>

#include <unicode/ubrk.h>
#include <unicode/unorm2.h>
#include <unicode/ustring.h>
#include <unicode/utf16.h>

/* ICU alone, over the text as a whole. */
struct plain {
    const UNormalizer2 *normalizer;
    UBreakIterator *iterator;
    UChar *source, *units;
};

struct both {
    struct plain plain;
    struct idxt_segmenter segmenter;
};

enum { LONGEST = 1 << 18 };

/* Where a run without normalisation boundary is cut, by the recipe's words, or the length. */
static int32_t find_cut(const struct plain *plain, const UChar *units, int32_t length) {
    for (int32_t i = 0, run = 0; i < length;) {
        int32_t start = i;
        UChar32 c;
        U16_NEXT_UNSAFE(units, i, c);
        if (unorm2_hasBoundaryBefore(plain->normalizer, c)) run = start;
        if (start - run >= 256) return start;
    }
    return length;
}

static void plain_set(struct plain *plain, const char *bytes, size_t length) {
    UErrorCode code = U_ZERO_ERROR;
    int32_t source_length, count = 0;
    u_strFromUTF8WithSub(plain->source, LONGEST, &source_length, bytes, (int32_t)length, 0xFFFD, NULL, &code);
    for (int32_t start = 0, cut; start < source_length; start += cut) {
        cut = find_cut(plain, plain->source + start, source_length - start);
        count += unorm2_normalize(plain->normalizer, plain->source + start, cut, plain->units + count,
                                  18 * LONGEST - count, &code);
    }
    for (int32_t i = 0; i < count; i++) {
        if (plain->units[i] == u'@' || plain->units[i] == u':') plain->units[i] = u' ';
    }
    ubrk_setText(plain->iterator, plain->units, count, &code);
    assert_true(U_SUCCESS(code));
}

static bool plain_next(struct plain *plain, struct idxt_span *word) {
    for (int32_t start = ubrk_current(plain->iterator), end; (end = ubrk_next(plain->iterator)) != UBRK_DONE;
         start = end) {
        if (ubrk_getRuleStatus(plain->iterator) < UBRK_WORD_NUMBER) continue;
        *word = (struct idxt_span){plain->units + start, (size_t)(end - start), NULL, 0};
        return true;
    }
    return false;
}

static bool equal_words(struct idxt_span a, struct idxt_span b) {
    for (size_t i = 0; i < a.length && a.length == b.length; i++) {
        UChar unit = a.ascii != NULL ? (UChar)a.ascii[i] : a.units[i];
        if (unit != b.units[i]) return false;
    }
    return a.length == b.length;
}

static void assert_like_icu(struct both *both, const char *text, size_t length) {
    struct idxt_span word, expected;
    size_t count = 0;
    assert_int_equal(idxt_segmenter_set_text(&both->segmenter, text, length), U_ZERO_ERROR);
    plain_set(&both->plain, text, length);
    while (plain_next(&both->plain, &expected)) {
        bool same = idxt_segmenter_next_word(&both->segmenter, &word) && equal_words(word, expected);
        if (!same) fail_msg("word %zu of '%.*s' is another", count, length < 200 ? (int)length : 200, text);
        count++;
    }
    if (idxt_segmenter_next_word(&both->segmenter, &word)) fail_msg("one more than %zu words: '%.200s'", count, text);
    assert_false(idxt_segmenter_next_word(&both->segmenter, &word));
}

/* Many short texts as one, each after a line feed, where words always break; so they come to stand at every position of
 * the 64 that are looked at together. */
struct lines {
    struct both *both;
    char text[LONGEST];
    size_t length;
};

static void flush(struct lines *lines) {
    assert_like_icu(lines->both, lines->text, lines->length);
    lines->length = 0;
}

static void add_line(struct lines *lines, const char *line, size_t length) {
    if (lines->length + length + 1 > sizeof lines->text) flush(lines);
    memcpy(lines->text + lines->length, line, length);
    lines->length += length;
    lines->text[lines->length++] = '\n';
}

/* At least one character for each class that the rules of word boundaries or the recipe have in ASCII. */
static const char classes[] = "aZ7_.',;:@\" \r\n-";
enum { CLASSES = sizeof classes - 1 };

static size_t write_classes(char *line, size_t length, uint64_t number) {
    for (size_t i = 0; i < length; i++, number /= CLASSES) line[i] = classes[number % CLASSES];
    return length;
}

static void test_every_short_text_of_classes(void **state) {
    static struct lines lines;
    lines.both = *state;
    char line[8];
    uint64_t count = 1;
    for (size_t length = 0; length <= 5; length++, count *= CLASSES) {
        for (uint64_t number = 0; number < count; number++) add_line(&lines, line, write_classes(line, length, number));
    }
    flush(&lines);
    count = 1;
    for (size_t length = 0; length <= 3; length++, count *= CLASSES) {
        for (uint64_t number = 0; number < count; number++) {
            assert_like_icu(lines.both, line, write_classes(line, length, number));
        }
    }
}

static void test_every_three_characters(void **state) {
    static struct lines lines;
    lines.both = *state;
    for (unsigned number = 0; number < 128 * 128 * 128; number++) {
        char line[] = {(char)(number >> 14), (char)(number >> 7 & 127), (char)(number & 127)};
        add_line(&lines, line, sizeof line);
    }
    flush(&lines);
}

static void test_random_ascii(void **state) {
    static char text[LONGEST];
    uint64_t random = 1;
    for (size_t round = 0; round < 3000; round++) {
        size_t length = next_random(&random) % (round < 2990 ? 300 : sizeof text);
        bool any = round % 2 == 0; /* any characters, or those of classes, the letter most often */
        for (size_t i = 0; i < length; i++) {
            uint64_t r = next_random(&random);
            text[i] = any ? (char)(r & 127) : classes[r % 40 < CLASSES ? r % 40 : 0];
        }
        assert_like_icu(*state, text, length);
    }
}

/* What makes normalisation and segmentation look around, between ASCII characters of every class. */
static const char *const atoms[] = {
    "a",        "B",          "z",        "7",          "_",
    "\n",       "\r\n",       " ",        " ",          " ",
    "\t",       ".",          "'",        ",",          ":",
    "@",        "\"",         "\xC2\x85", "\u2028",     "\u00A0",
    "\u3000",   "\u0301",     "\u200D",   "\u00AD",     "\u05D0",
    "\u05F4",   "\u00B7",     "\u2019",   "\uFF1A",     "\uFF0E",
    "\u203F",   "\u0660",     "\u1100",   "\u1161",     "\u11A8",
    "\u0E01",   "\u0E33",     "\u4E2D",   "\u6587",     "\u30AB",
    "\uFF76",   "\u304C",     "\u3099",   "\uFDFA",     "\u00C5",
    "\u1E9E",   "\u0130",     "\u212A",   "\xFF",       "\xE2",
    "\xF0\x9F", "\U0001F1E9", "\u1780",   "\U0001F468", "\u2764\uFE0F",
    "\u0F71",
};

static size_t write_atoms(char *text, size_t size, uint64_t *random, unsigned share_of_ascii) {
    size_t written = 0;
    while (written + 6 <= size) {
        size_t count = next_random(random) % 8 < share_of_ascii ? 17 : sizeof atoms / sizeof *atoms;
        const char *atom = atoms[next_random(random) % count];
        memcpy(text + written, atom, strlen(atom));
        written += strlen(atom);
    }
    return written;
}

static void test_mixed_with_others(void **state) {
    static char text[LONGEST];
    uint64_t random = 2;
    for (size_t round = 0; round < 20000; round++) {
        size_t size = next_random(&random) % (round < 19980 ? 260 : sizeof text);
        assert_like_icu(*state, text, write_atoms(text, size, &random, round % 9));
    }
}

/* One other character anywhere among words, and two. */
static void test_one_other_character(void **state) {
    const char *const others[] = {"\u00FC", "\u0301", "\u4E2D", "\xFF", "\u200D", "\xC2\x85"};
    static const char ascii[] = "It's 3.5 o'clock,\nfoo_bar  _ x\r\n\r\ny at the 64th place of this, or not; a.b c";
    char text[256];
    for (size_t other = 0; other < sizeof others / sizeof *others; other++) {
        for (size_t i = 0; i < sizeof ascii; i++) {
            for (size_t j = i; j < sizeof ascii; j++) {
                size_t length = strlen(others[other]), at = i;
                memcpy(text, ascii, i);
                memcpy(text + at, others[other], length);
                memcpy(text + at + length, ascii + i, j - i);
                at += length + j - i;
                if (j > i) memcpy(text + at, others[other], length), at += length;
                memcpy(text + at, ascii + j, sizeof ascii - 1 - j);
                assert_like_icu(*state, text, at + sizeof ascii - 1 - j);
            }
        }
    }
}

/* Marks that combine, of one and of two units (U+1D165 and U+0316), about as many as are cut, twice as many, or as many
 * as a part has, behind characters of both kinds and behind other runs; the last marks sort before those left of them,
 * unless a cut lies between. */
static void test_long_runs(void **state) {
    static const char *const starts[] = {"", "a", " ", "\u00E9", "\U0001D15F", "x \u0301 a "};
    static char text[1 << 14];
    uint64_t random = 4;
    for (size_t round = 0; round < 2000; round++) {
        size_t length = 0;
        for (size_t runs = 1 + round % 3; runs > 0; runs--) {
            const char *start = starts[next_random(&random) % 6];
            length += (size_t)snprintf(text + length, 16, "%s", start);
            size_t marks =
                250 * (1 + next_random(&random) % 2 * (next_random(&random) % 4)) + next_random(&random) % 12;
            for (size_t i = 0; i < marks; i++) {
                const char *mark = next_random(&random) % 40 == 0 ? "\U0001D165" : i % 2 == 0 ? "\u0301" : "\u0316";
                length += (size_t)snprintf(text + length, 8, "%s", mark);
            }
        }
        assert_like_icu(*state, text, length);
    }
}

/* Letters of two units that change by normalisation, so many that parts end among them, at even and odd units. */
static void test_parts_end_between_characters(void **state) {
    static char text[1 + 4 * 3000 + 1];
    strcpy(text, "\U00010400");
    for (size_t i = 1; i < 3000; i++) memcpy(text + 4 * i, text, 4);
    assert_like_icu(*state, text, 4 * 3000);
    memmove(text + 1, text, 4 * 3000);
    text[0] = 'a';
    assert_like_icu(*state, text, 1 + 4 * 3000);
}

static void assert_both_ways(const char *bytes) {
    char folded[64], plain_folded[64];
    struct idxt_ascii_block block = idxt_ascii_classify(bytes, folded);
    struct idxt_ascii_block plain = idxt_ascii_classify_plain(bytes, plain_folded);
    assert_memory_equal(&block, &plain, sizeof block);
    assert_memory_equal(folded, plain_folded, sizeof folded);
}

static void test_wide_instructions_classify_alike(void **state) {
    (void)state;
    char bytes[64];
    for (int position = 0; position < 64; position++) {
        for (int byte = 0; byte < 256; byte++) {
            memset(bytes, ' ', sizeof bytes);
            bytes[position] = (char)byte;
            assert_both_ways(bytes);
        }
    }
    uint64_t random = 3;
    for (int round = 0; round < 10000; round++) {
        for (int i = 0; i < 64; i++) bytes[i] = (char)next_random(&random);
        assert_both_ways(bytes);
    }
}

/* Of each class, by position: "Az5_.',; \n" and U+00E4. */
static void test_classes(void **state) {
    (void)state;
    char bytes[64] = "Az5_.',; \n\xC3\xA4@", folded[64];
    struct idxt_ascii_block block = idxt_ascii_classify_plain(bytes, folded);
    assert_string_equal(folded, "az5_.',; \n\xC3\xA4@");
    assert_int_equal(block.letters, 0x003);
    assert_int_equal(block.digits, 0x004);
    assert_int_equal(block.underscores, 0x008);
    assert_int_equal(block.dots, 0x030);
    assert_int_equal(block.commas, 0x0C0);
    assert_int_equal(block.blanks, 0x300);
    assert_int_equal(block.non_ascii, 0xC00);
}

static int open_both(void **state) {
    struct both *both = calloc(1, sizeof *both);
    if (both == NULL) return -1;
    UErrorCode code = U_ZERO_ERROR;
    both->plain.normalizer = unorm2_getNFKCCasefoldInstance(&code);
    both->plain.iterator = ubrk_open(UBRK_WORD, "", NULL, 0, &code);
    both->plain.source = malloc(LONGEST * sizeof *both->plain.source);
    both->plain.units = malloc(18 * LONGEST * sizeof *both->plain.units);
    both->segmenter.cut.by_dictionary = true; /* as ICU cuts */
    *state = both;
    return U_FAILURE(code) || idxt_segmenter_open(&both->segmenter) != U_ZERO_ERROR ? -1 : 0;
}

static int close_both(void **state) {
    struct both *both = *state;
    ubrk_close(both->plain.iterator);
    free(both->plain.source);
    free(both->plain.units);
    idxt_segmenter_close(&both->segmenter);
    free(both);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_short_text_of_classes),
        cmocka_unit_test(test_every_three_characters),
        cmocka_unit_test(test_random_ascii),
        cmocka_unit_test(test_mixed_with_others),
        cmocka_unit_test(test_one_other_character),
        cmocka_unit_test(test_long_runs),
        cmocka_unit_test(test_parts_end_between_characters),
        cmocka_unit_test(test_wide_instructions_classify_alike),
        cmocka_unit_test(test_classes),
    };
    return cmocka_run_group_tests(tests, open_both, close_both);
}
