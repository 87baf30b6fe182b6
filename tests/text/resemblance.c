/* resemblance.c: tests of words, shingles and Jaccard coefficients, beside a plain program of their definitions: it
 * decodes by itself, folds texts whole and character by character, makes shingles as strings, and compares all with
 * all. */
#include <stdbool.h>
#include <stdlib.h>

#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/uscript.h>
#include <unicode/utf16.h>

#include "libidx/text/segmenter.h"
#include "tests/random.h"
#include "tests/text/testing.h"

/* ---- The definitions ---- */

/* The code point at *at of a text, and *at behind it; U+FFFD, and *at behind as many bytes as may begin a sequence, or
 * one, where there is no well-formed one. */
static int32_t decode(const unsigned char *text, size_t length, size_t *at) {
    unsigned char lead = text[(*at)++];
    if (lead < 0x80) return lead;
    size_t more = lead >= 0xc2 && lead < 0xe0 ? 1 : (lead & 0xf0) == 0xe0 ? 2 : lead >= 0xf0 && lead < 0xf5 ? 3 : 0;
    unsigned char least = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    unsigned char most = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    int32_t c = lead & (0x3f >> more);
    for (size_t i = 0; i < more; i++, least = 0x80, most = 0xbf) {
        if (*at == length || text[*at] < least || text[*at] > most) return 0xfffd;
        c = c << 6 | (text[(*at)++] & 0x3f);
    }
    return more == 0 ? 0xfffd : c;
}

static bool is_letter(int32_t c) {
    switch (u_charType(c)) {
        case U_UPPERCASE_LETTER:
        case U_LOWERCASE_LETTER:
        case U_TITLECASE_LETTER:
        case U_MODIFIER_LETTER:
        case U_OTHER_LETTER:
        case U_DECIMAL_DIGIT_NUMBER:
        case U_NON_SPACING_MARK:
        case U_ENCLOSING_MARK:
        case U_COMBINING_SPACING_MARK: return true;
    }
    return false;
}

static bool is_word(int32_t c) {
    UErrorCode code = U_ZERO_ERROR;
    UScriptCode script = uscript_getScript(c, &code);
    return is_letter(c) && (u_hasBinaryProperty(c, UCHAR_IDEOGRAPHIC) || (c >= 0x3040 && c <= 0x30ff) ||
                            script == USCRIPT_HAN || script == USCRIPT_HIRAGANA || script == USCRIPT_KATAKANA ||
                            u_getIntPropertyValue(c, UCHAR_WORD_BREAK) == U_WB_KATAKANA ||
                            u_getIntPropertyValue(c, UCHAR_LINE_BREAK) == U_LB_COMPLEX_CONTEXT);
}

enum { MOST_ITEMS = 20000, MOST_LETTERS = 64, MOST_BYTES = 3000, MOST_FOLDED = 6 * MOST_BYTES };

/* A folded character, and the place of the run that it comes of. */
struct letter {
    int32_t c;
    size_t begin, end;
};

static const UNormalizer2 *get_normalizer(void) {
    UErrorCode code = U_ZERO_ERROR;
    const UNormalizer2 *normalizer = unorm2_getNFKCCasefoldInstance(&code);
    assert_true(U_SUCCESS(code));
    return normalizer;
}

/* Normalises units, and returns how many units `normal` has then, of MOST_FOLDED. */
static int32_t normalize(const UNormalizer2 *normalizer, const UChar *units, int32_t length, UChar *normal) {
    UErrorCode code = U_ZERO_ERROR;
    int32_t made = unorm2_normalize(normalizer, units, length, normal, MOST_FOLDED, &code);
    assert_true(U_SUCCESS(code));
    return made;
}

static const UNormalizer2 *get_decomposer(void) {
    UErrorCode code = U_ZERO_ERROR;
    const UNormalizer2 *normalizer = unorm2_getNFDInstance(&code);
    assert_true(U_SUCCESS(code));
    return normalizer;
}

/* Each chillu, as its letter and virama. */
static const UChar chillus[][3] = {
    {0xd7a, 0xd23, 0xd4d}, {0xd7b, 0xd28, 0xd4d}, {0xd7c, 0xd30, 0xd4d}, {0xd7d, 0xd32, 0xd4d}, {0xd7e, 0xd33, 0xd4d},
    {0xd7f, 0xd15, 0xd4d}, {0xd54, 0xd2e, 0xd4d}, {0xd55, 0xd2f, 0xd4d}, {0xd56, 0xd34, 0xd4d},
};
enum { CHILLUS = sizeof chillus / sizeof *chillus };

/* Appends what a character is without tatweel, and a chillu in parts; others are as they are. */
static void append_parts(int32_t c, UChar *parts, int32_t *length) {
    UChar units[U16_MAX_LENGTH], folded[MOST_FOLDED];
    int32_t unit_count = 0;
    size_t chillu = 0;
    U16_APPEND_UNSAFE(units, unit_count, c);
    int32_t count = normalize(get_normalizer(), units, unit_count, folded);
    while (chillu < CHILLUS && chillus[chillu][0] != c) chillu++;
    if (chillu < CHILLUS) {
        parts[(*length)++] = chillus[chillu][1];
        parts[(*length)++] = chillus[chillu][2];
    } else if (count > 0 && folded[0] == 0x640) {
        for (int32_t i = 1; i < count; i++) parts[(*length)++] = folded[i];
    } else {
        U16_APPEND_UNSAFE(parts, *length, c);
    }
}

/* Folds units of one run. */
static int32_t fold_run(const UChar *units, int32_t length, UChar *folded) {
    static UChar parts[MOST_FOLDED], decomposed[MOST_FOLDED];
    int32_t part_count = 0;
    for (int32_t i = 0; i < length;) {
        int32_t c;
        U16_NEXT(units, i, length, c);
        append_parts(c, parts, &part_count);
    }
    return normalize(get_normalizer(), decomposed, normalize(get_decomposer(), parts, part_count, decomposed), folded);
}

/* Whether nothing before a character can combine with it or what is behind it. */
static bool begins_run(int32_t c) {
    UChar units[U16_MAX_LENGTH], folded[MOST_FOLDED];
    int32_t length = 0;
    if (c < 0x80) return true;
    U16_APPEND_UNSAFE(units, length, c);
    bool is_tatweel = normalize(get_normalizer(), units, length, folded) > 0 && folded[0] == 0x640;
    return !is_tatweel && unorm2_hasBoundaryBefore(get_normalizer(), c) &&
           unorm2_hasBoundaryBefore(get_decomposer(), c);
}

/* Appends the folded units to the letters. */
static size_t append_run(struct letter *letters, size_t count, const UChar *units, int32_t length, size_t begin,
                         size_t end) {
    static UChar folded[MOST_FOLDED];
    int32_t made = fold_run(units, length, folded);
    for (int32_t i = 0; i < made; count++) {
        letters[count] = (struct letter){0, begin, end};
        U16_NEXT(folded, i, made, letters[count].c);
    }
    return count;
}

/* The folded characters of a text: it is cut where a character has a normalisation boundary before it, and before the
 * first one that begins 256 units or more behind a cut. */
static size_t fold(const char *text, size_t length, struct letter *letters) {
    UChar units[300];
    int32_t unit_count = 0;
    size_t count = 0, begin = 0;
    for (size_t at = 0; at < length;) {
        size_t before = at;
        int32_t c = decode((const unsigned char *)text, length, &at);
        if (unit_count >= 256 || begins_run(c)) {
            count = append_run(letters, count, units, unit_count, begin, before);
            unit_count = 0;
            begin = before;
        }
        U16_APPEND_UNSAFE(units, unit_count, c);
    }
    return append_run(letters, count, units, unit_count, begin, length);
}

/* A word or a character. */
struct item {
    size_t begin, end, letter_count;
    int32_t letters[MOST_LETTERS];
};

static struct letter folded_letters[MOST_FOLDED];

static size_t cut_words(const char *text, size_t length, struct item *items) {
    size_t count = 0, letter_count = fold(text, length, folded_letters);
    bool inside = false;
    for (size_t i = 0; i < letter_count; i++) {
        const struct letter *found = &folded_letters[i];
        bool letter = is_letter(found->c), whole = letter && is_word(found->c);
        if (letter && (!inside || whole)) items[count++] = (struct item){.begin = found->begin};
        inside = letter && !whole;
        if (!letter) continue;
        struct item *item = &items[count - 1];
        assert_true(count < MOST_ITEMS);
        /* Of the longest words the letters are folded into one, which differs where any of them does. */
        if (item->letter_count < MOST_LETTERS)
            item->letters[item->letter_count++] = found->c;
        else
            item->letters[MOST_LETTERS - 1] =
                (int32_t)((uint32_t)item->letters[MOST_LETTERS - 1] * 31 + (uint32_t)found->c);
        item->end = found->end;
    }
    return count;
}

static size_t cut_characters(const char *text, size_t length, struct item *items) {
    size_t count = 0, letter_count = fold(text, length, folded_letters);
    bool space = false;
    for (size_t i = 0; i < letter_count; i++) {
        int32_t c = folded_letters[i].c;
        bool is_space = (c >= 9 && c <= 13) || c == 0x20 || c == 0x85 || c == 0xa0 || c == 0x1680 ||
                        (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
                        c == 0x3000;
        if (!is_space && space && count > 0) items[count++] = (struct item){.letter_count = 1, .letters = {' '}};
        if (!is_space) items[count++] = (struct item){.letter_count = 1, .letters = {folded_letters[i].c}};
        space = is_space;
        assert_true(count < MOST_ITEMS);
    }
    return count;
}

/* Shingles, each by its items. */
struct reference {
    struct item items[MOST_ITEMS];
    size_t firsts[MOST_ITEMS];
    size_t width, count, all; /* distinct ones, and all */
};

static bool are_equal_shingles(const struct reference *a, size_t i, const struct reference *b, size_t j) {
    if (a->width != b->width) return false;
    for (size_t k = 0; k < a->width; k++) {
        const struct item *x = &a->items[a->firsts[i] + k], *y = &b->items[b->firsts[j] + k];
        if (x->letter_count != y->letter_count) return false;
        if (memcmp(x->letters, y->letters, x->letter_count * sizeof *x->letters) != 0) return false;
    }
    return true;
}

static void refer(struct reference *reference, const char *text, size_t length, unsigned width,
                  enum idx_text_shingle_unit unit) {
    size_t items = (unit == IDX_TEXT_WORDS ? cut_words : cut_characters)(text, length, reference->items);
    reference->width = items < width ? items : width;
    reference->count = 0;
    reference->all = items == 0 ? 0 : items - reference->width + 1;
    for (size_t i = 0; i < reference->all; i++) {
        bool is_new = true;
        reference->firsts[reference->count] = i;
        for (size_t j = 0; j < reference->count && is_new; j++)
            is_new = !are_equal_shingles(reference, reference->count, reference, j);
        reference->count += is_new;
    }
}

static double compare(const struct reference *a, const struct reference *b) {
    size_t shared = 0;
    for (size_t i = 0; i < a->count; i++)
        for (size_t j = 0; j < b->count; j++) shared += are_equal_shingles(a, i, b, j);
    return a->count + b->count == 0 ? 1 : (double)shared / (double)(a->count + b->count - shared);
}

/* ---- Texts ---- */

static const char *const pieces[] = {
    "the",
    "The ",
    " web",
    "WEB",
    "don't",
    "3.14",
    "a_b",
    " ",
    "  \n",
    ", ",
    "x",
    "7",
    "STRASSE ",
    "stra\xC3\x9F"
    "e",
    "\xC3\x89"
    "cole ",                                            /* É */
    "e\xCC\x81"                                         /* e and an accent */
    "cole",                                             /* */
    "\xCC\x81",                                         /* an accent alone */
    "\xCE\xA3\xCF\x83\xCF\x82",                         /* the three sigmas */
    "\xD0\x93\xD0\x9E\xD0\xA0\xD0\x9E\xD0\x94 ",        /* Cyrillic */
    "\xD7\xA9\xD7\x9C\xD7\x95\xD7\x9D",                 /* Hebrew */
    "\xD9\x85\xD8\xB1\xD8\xAD\xD8\xA8\xD8\xA7 ",        /* Arabic */
    "\xE0\xA4\xB9\xE0\xA4\xBF",                         /* Devanagari, with a vowel sign */
    "\xE0\xB8\xA0\xE0\xB8\xB2\xE0\xB8\xA9\xE0\xB8\xB2", /* Thai */
    "\xE0\xBA\x9E\xE0\xBA\xB2",                         /* Lao */
    "\xE1\x80\x99\xE1\x80\xBC",                         /* Burmese */
    "\xE1\x9E\x98\xE1\x9E\x93",                         /* Khmer */
    "\xE6\x88\x91\xE4\xBB\xAC",                         /* Chinese */
    "\xE3\x80\x82",                                     /* an ideographic full stop */
    "\xE3\x81\x82\xE3\x82\xAB\xEF\xBD\xB6",             /* kana, of half width too */
    "\xED\x95\x9C\xEA\xB8\x80",                         /* Hangul */
    "\xF0\xA0\x80\x80",                                 /* an ideograph beyond the first plane */
    "\xF0\x9F\x98\x80",                                 /* an emoji */
    "\xEF\xBD\x86\xEF\xBD\x95",                         /* letters of full width */
    "\xEF\xBC\x8C",                                     /* a comma of full width */
    "\xE2\x80\x8D",                                     /* a joiner */
    "\xC2\xAD",                                         /* a soft hyphen */
    "\xE2\x80\x8B",                                     /* a space of no width */
    "\xEF\xBB\xBF",                                     /* a byte order mark */
    "\xEF\xAC\x83",                                     /* a ligature of three letters */
    "\xEF\xB7\xBA",                                     /* U+FDFA: 18 characters, four words */
    "\xE3\x8C\x96",                                     /* U+3316: six words */
    "\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB",             /* Hangul in parts */
    "\xE3\x82\xAB\xE3\x82\x99",                         /* kana and a voiced mark */
    "\xE0\xB8\xB9\xCC\x81\xCC\xB4",                     /* a Thai mark and others that are put in order */
    "\xEF\xAC\xAC\xE1\x9F\x92",                         /* a mark of Khmer that gets between Hebrew ones */
    "\xD9\x80",                                         /* tatweel */
    "\xD8\xA7\xD9\x80\xD9\x93",                         /* alef and madda with tatweel between them */
    "\xEF\xB9\xBD\xEF\xB3\xB3",                         /* marks on tatweel */
    "\xE0\xB5\xBB\xE0\xB5\x94",                         /* chillus */
    "\xE0\xB4\xA8\xE0\xB5\x8D\xE2\x80\x8D",             /* what the first of these equals */
    "\xE1\xBE\x8A\xCC\x81",                             /* an iota below before an accent */
    "\xCD\x85\xCC\xA3",                                 /* and alone */
    "\xC4\xB0",                                         /* a dotted capital I */
    "\xF0\x9D\x94\xB8",                                 /* a letter of mathematics */
    "\x80",
    "\xFF",
    "\xC3",
    "\xE6\x88",
    "\xF0\x9F\x98",
    "\xED\xA0\x80", /* a surrogate */
    "\xC0\xAF",     /* an overlong solidus */
    "\xF4\x90\x80\x80",
    "\xEF\xBF\xBD",
};
enum { PIECES = sizeof pieces / sizeof *pieces };

/* Of `most` pieces at most, some of them NUL. */
static size_t write_random(char *text, size_t most, uint64_t *random) {
    size_t length = 0, kinds = 1 + next_random(random) % PIECES, from = next_random(random);
    for (size_t left = next_random(random) % (most + 1); left > 0; left--) {
        uint64_t drawn = next_random(random);
        const char *piece = pieces[(from + drawn % kinds) % PIECES];
        size_t size = strlen(piece);
        memcpy(text + length, piece, size);
        length += size;
        if (drawn >> 32 & 1) text[length++] = drawn >> 33 & 31 ? ' ' : '\0';
    }
    return length;
}

/* A copy of its exact size, so that reading past it is seen. */
static char *copy(const char *text, size_t length) {
    char *bytes = malloc(length + (length == 0));
    assert_non_null(bytes);
    memcpy(bytes, text, length);
    return bytes;
}

/* ---- Tests ---- */

/* The words that were visited. */
struct visited {
    struct idx_text_word words[MOST_ITEMS];
    size_t count, stop; /* the number of words after which it stops */
};

static bool take_word(void *context, const struct idx_text_word *word) {
    struct visited *visited = context;
    assert_true(visited->count < MOST_ITEMS && visited->count < visited->stop);
    visited->words[visited->count++] = *word;
    return visited->count < visited->stop;
}

static struct visited visited;

/* The words of a text, beside their definition; two have equal hashes where they are equal once they are folded.
 * Returns how many there are. */
static size_t check_words(const char *text, size_t length) {
    static struct item items[MOST_ITEMS];
    size_t count = cut_words(text, length, items);
    visited.count = 0;
    visited.stop = SIZE_MAX;
    assert_int_equal(idx_text_visit_words(text, length, take_word, &visited, NULL), IDX_OK);
    assert_int_equal(visited.count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(visited.words[i].begin, items[i].begin);
        assert_int_equal(visited.words[i].end, items[i].end);
        for (size_t j = 0; j < i && i < 100; j++) {
            bool equal = items[i].letter_count == items[j].letter_count &&
                         memcmp(items[i].letters, items[j].letters, items[i].letter_count * sizeof(int32_t)) == 0;
            assert_int_equal(visited.words[i].hash == visited.words[j].hash, equal);
        }
    }
    assert_true(count <= IDX_TEXT_MAX_WORDS(length));
    if (count == 0) return 0;
    visited.count = 0;
    visited.stop = count / 2 + 1;
    assert_int_equal(idx_text_visit_words(text, length, take_word, &visited, NULL), IDX_OK);
    assert_int_equal(visited.count, count / 2 + 1);
    return count;
}

static void test_words(void **state) {
    (void)state;
    char text[MOST_BYTES];
    uint64_t random = 1;
    struct idx_error error;
    check_words("", 0);
    assert_int_equal(idx_text_visit_words(NULL, 0, take_word, &visited, NULL), IDX_OK);
    assert_int_equal(idx_text_visit_words(NULL, 1, take_word, &visited, &error), IDX_INVALID_ARGUMENT);
    assert_int_equal(idx_text_visit_words("a", 1, NULL, NULL, &error), IDX_INVALID_ARGUMENT);
    check_words("Two words", 9);
    check_words("a\0b", 3);
    check_words("a b c", 5);
    for (int round = 0; round < 3000; round++) {
        size_t length = write_random(text, 60, &random);
        char *bytes = copy(text, length);
        check_words(bytes, length);
        free(bytes);
    }
}

/* Places of words that come of one character, and of characters that fold together. */
static void test_places(void **state) {
    (void)state;
    static const struct idx_text_word expected[] = {{2, 7, 0}, {4, 7, 0},  {4, 7, 0},
                                                    {4, 8, 0}, {9, 12, 0}, {13, 17, 0}};
    const char *text = ". \xD8\xA7\xEF\xB7\xBA\x78 e\xCC\x81 a\xC2\xAD\x62";
    visited.count = 0;
    visited.stop = SIZE_MAX;
    assert_int_equal(idx_text_visit_words(text, strlen(text), take_word, &visited, NULL), IDX_OK);
    assert_int_equal(visited.count, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < visited.count; i++) {
        assert_int_equal(visited.words[i].begin, expected[i].begin);
        assert_int_equal(visited.words[i].end, expected[i].end);
    }
    check_words(text, strlen(text));
}

/* Texts are folded exactly as recipes fold them, long runs included: their letters are those of the segmenter. */
static void check_folding(const char *text, size_t length) {
    static struct idxt_segmenter segmenter;
    segmenter.cut.unifies_forms = true;
    if (segmenter.normalizer == NULL) assert_int_equal(idxt_segmenter_open(&segmenter), U_ZERO_ERROR);
    assert_int_equal(idxt_segmenter_normalize_keeping_marks(&segmenter, text, length), U_ZERO_ERROR);
    size_t count = fold(text, length, folded_letters), at = 0;
    for (size_t i = 0; i < count; i++) {
        int32_t c;
        assert_true(at < segmenter.unit_length);
        U16_NEXT(segmenter.units, at, segmenter.unit_length, c);
        assert_int_equal(c, folded_letters[i].c);
    }
    assert_int_equal(at, segmenter.unit_length);
    check_words(text, length);
}

static void test_folding(void **state) {
    (void)state;
    char text[MOST_BYTES];
    uint64_t random = 4;
    for (int round = 0; round < 2000; round++) check_folding(text, write_random(text, 60, &random));
    static const char *const marks[] = {"\xCC\x81", "\xE0\xB8\xB9", "\xC2\xAD", "\xF0\x9D\x85\xA5",    "\xCC\xB4",
                                        "\xD9\x80", "\xEF\xB9\xBD", "\xCD\x85", "\xE1\xBE\xAF\xCC\x81"};
    enum { MARKS = sizeof marks / sizeof *marks };
    for (int round = 0; round < 300; round++) {
        size_t length = 0;
        for (size_t run = next_random(&random) % 3; run <= 2; run++) {
            text[length++] = round % 3 == 0 ? ' ' : 'e';
            for (size_t rest = 250 + next_random(&random) % 20; rest > 0 && length < MOST_BYTES - 8; rest--) {
                const char *mark = marks[round % 7 == 0 ? 3 : next_random(&random) % MARKS];
                memcpy(text + length, mark, strlen(mark));
                length += strlen(mark);
            }
        }
        check_folding(text, length);
    }
}

static size_t encode(char *text, int32_t c) {
    size_t length = 0;
    if (c < 0x80) {
        text[length++] = (char)c;
        return length;
    }
    if (c >= 0x10000) text[length++] = (char)(0xf0 | c >> 18);
    if (c >= 0x800) text[length++] = (char)((c >= 0x10000 ? 0x80 : 0xe0) | (c >> 12 & (c >= 0x10000 ? 0x3f : 0xf)));
    text[length++] = (char)((c >= 0x800 ? 0x80 : 0xc0) | (c >> 6 & (c >= 0x800 ? 0x3f : 0x1f)));
    text[length++] = (char)(0x80 | (c & 0x3f));
    return length;
}

/* ---- Equal forms ---- */

/* Appends a normal form of units in UTF-8; NULL: as they are. */
static size_t append_form(char *text, size_t at, const UNormalizer2 *normalizer, const UChar *units, int32_t length) {
    static UChar normal[MOST_FOLDED];
    if (normalizer != NULL) {
        length = normalize(normalizer, units, length, normal);
        units = normal;
    }
    for (int32_t i = 0; i < length;) {
        int32_t c;
        U16_NEXT(units, i, length, c);
        at += encode(text + at, c);
    }
    return at;
}

/* Sets *hash to one of all words of a text, in their order, and returns how many there are. */
static bool mix_word(void *context, const struct idx_text_word *word) {
    uint64_t *hash = context;
    *hash = *hash * 31 + word->hash;
    return true;
}

static uint64_t hash_words(const char *text, size_t length) {
    uint64_t hash = 0;
    assert_int_equal(idx_text_visit_words(text, length, mix_word, &hash, NULL), IDX_OK);
    return hash;
}

/* Checks that a sequence of characters behind a letter has equal words as it is, composed, and decomposed. */
static void check_forms(const UChar *units, int32_t length) {
    UErrorCode code = U_ZERO_ERROR;
    const UNormalizer2 *forms[] = {NULL, unorm2_getNFCInstance(&code), get_decomposer()};
    uint64_t hashes[3];
    for (int i = 0; i < 3; i++) {
        char text[400];
        hashes[i] = hash_words(text, append_form(text, 0, forms[i], units, length));
    }
    if (hashes[0] == hashes[1] && hashes[0] == hashes[2]) return;
    for (int32_t i = 0; i < length; i++) print_message("U+%04X ", units[i]);
    fail_msg("these units have other words in NFC or NFD");
}

enum { MOST_MARKS = 2000 };

/* Lists all characters that a normal form may put into another place. */
static size_t list_marks(int32_t marks[MOST_MARKS]) {
    size_t count = 0;
    for (int32_t c = 0; c <= 0x10ffff; c++) {
        if (u_getCombiningClass(c) == 0) continue;
        assert_true(count < MOST_MARKS);
        marks[count++] = c;
    }
    return count;
}

static bool decomposes(int32_t c) {
    UChar units[4];
    UErrorCode code = U_ZERO_ERROR;
    return unorm2_getRawDecomposition(get_decomposer(), c, units, 4, &code) >= 0;
}

/* Texts that are canonically equal have the same words: every character that has a canonical decomposition, before
 * every mark; and every letter and mark before several of them. */
static void test_canonical_equivalence(void **state) {
    (void)state;
    int32_t marks[MOST_MARKS];
    size_t mark_count = list_marks(marks);
    uint64_t random = 8;
    assert_true(mark_count > 800);
    for (int32_t c = 0x80; c <= 0x10ffff; c++) {
        if (!is_letter(c)) continue;
        bool is_hangul = c >= 0xac00 && c <= 0xd7a3, with_all = decomposes(c) && !is_hangul;
        for (size_t i = 0; i < (with_all ? mark_count : 2); i++) {
            UChar units[20] = {'a'};
            int32_t length = 1, more = with_all ? 1 : 1 + (int32_t)(next_random(&random) % 3);
            U16_APPEND_UNSAFE(units, length, c);
            U16_APPEND_UNSAFE(units, length, marks[with_all ? i : next_random(&random) % mark_count]);
            for (; more > 1; more--) U16_APPEND_UNSAFE(units, length, marks[next_random(&random) % mark_count]);
            check_forms(units, length);
        }
    }
    static const UChar iota_below[] = {0x1f8a, 0x301, 0}, in_order[] = {0x391, 0x313, 0x300, 0x301, 0x345, 0};
    char one[40], other[40];
    assert_true(hash_words(one, append_form(one, 0, NULL, iota_below, 2)) ==
                hash_words(other, append_form(other, 0, NULL, in_order, 5)));
}

/* Tatweel adds nothing to a word, wherever it is, and whatever carries it. */
static void test_tatweel(void **state) {
    (void)state;
    static const UChar carriers[][3] = {
        {0x640},         {0xfcf2, 0x64e, 0x651}, {0xfcf3, 0x64f, 0x651}, {0xfcf4, 0x650, 0x651}, {0xfe71, 0x64b},
        {0xfe77, 0x64e}, {0xfe79, 0x64f},        {0xfe7b, 0x650},        {0xfe7d, 0x651},        {0xfe7f, 0x652}};
    enum { CARRIERS = sizeof carriers / sizeof *carriers };
    for (int32_t c = 0x20; c <= 0x10ffff; c++) {
        if (c >= 0xd800 && c < 0xe000) continue;
        for (unsigned i = 0; i < CARRIERS; i++) {
            UChar with[12], without[12];
            char one[60], other[60];
            int32_t with_length = 0, without_length = 0;
            bool is_alef = c % 2 == 0; /* Madda combines with the letter before tatweel. */
            U16_APPEND_UNSAFE(with, with_length, is_alef ? 0x627 : c);
            with[with_length++] = carriers[i][0];
            U16_APPEND_UNSAFE(with, with_length, is_alef ? c : 0x653);
            U16_APPEND_UNSAFE(without, without_length, is_alef ? 0x627 : c);
            for (int j = 1; j < 3 && carriers[i][j] != 0; j++) without[without_length++] = carriers[i][j];
            U16_APPEND_UNSAFE(without, without_length, is_alef ? c : 0x653);
            uint64_t first = hash_words(one, append_form(one, 0, NULL, with, with_length));
            if (first != hash_words(other, append_form(other, 0, NULL, without, without_length)))
                fail_msg("U+%04X beside U+%04X", (unsigned)c, carriers[i][0]);
            if (c > 0x2000) break;
        }
    }
    assert_true(hash_words("\xD9\x80\xD9\x80", 4) == 0); /* alone it is no word */
}

/* A chillu is its letter, virama and a joiner, with whatever follows. */
static void test_chillus(void **state) {
    (void)state;
    for (unsigned i = 0; i < CHILLUS; i++) {
        for (int32_t c = 0x20; c <= 0x3100; c++) {
            const UChar chillu[] = {0xd05, chillus[i][0], (UChar)c};
            const UChar parts[] = {0xd05, chillus[i][1], chillus[i][2], 0x200d, (UChar)c};
            char one[30], other[30];
            uint64_t first = hash_words(one, append_form(one, 0, NULL, chillu, 3));
            if (first != hash_words(other, append_form(other, 0, NULL, parts, 5)))
                fail_msg("U+%04X before U+%04X", chillus[i][0], (unsigned)c);
        }
    }
}

/* Every code point: between two letters, and by itself, where it has the most words and characters for its bytes. */
static void test_every_character(void **state) {
    (void)state;
    struct idx_text_shingle_options characters = {sizeof characters, 1, IDX_TEXT_CHARACTERS, false};
    size_t count, most_words = 0, most_characters = 0;
    for (int32_t c = 1; c <= 0x10ffff; c++) {
        char text[8] = "a";
        if (c >= 0xd800 && c < 0xe000) continue;
        size_t length = 1 + encode(text + 1, c);
        text[length++] = 'b';
        check_words(text, length);
        count = check_words(text + 1, length - 2);
        if (count > most_words) most_words = count;
        idx_text_shingles(text + 1, length - 2, &characters, NULL, 0, &count, NULL);
        assert_true(count <= IDX_TEXT_MAX_CHARACTERS(length - 2));
        if (count > most_characters) most_characters = count;
    }
    assert_int_equal(most_words, 6);
    assert_int_equal(most_characters, 18);
}

static struct reference references[2];

static const struct idx_text_shingle_options *choose(struct idx_text_shingle_options *options, unsigned width,
                                                     enum idx_text_shingle_unit unit) {
    *options = (struct idx_text_shingle_options)IDX_TEXT_SHINGLE_OPTIONS_INIT;
    options->width = width;
    options->unit = unit;
    return options;
}

/* Makes the shingles of a text in an array of just the room that is needed. */
static uint64_t *make(const char *text, size_t length, const struct idx_text_shingle_options *options, size_t *count,
                      const struct reference *reference) {
    size_t room = SIZE_MAX;
    struct idx_error error;
    enum idx_status status = idx_text_shingles(text, length, options, NULL, 0, &room, &error);
    assert_int_equal(room, reference->all);
    assert_int_equal(status, reference->all == 0 ? IDX_OK : IDX_INVALID_ARGUMENT);
    assert_true(room <=
                (options->unit == IDX_TEXT_WORDS ? IDX_TEXT_MAX_WORDS(length) : IDX_TEXT_MAX_CHARACTERS(length)));
    uint64_t *hashes = malloc(room * sizeof *hashes + 1);
    assert_non_null(hashes);
    for (size_t less = 1; less <= 2 && less < room; less++) {
        assert_int_equal(idx_text_shingles(text, length, options, hashes, room - less, count, &error),
                         IDX_INVALID_ARGUMENT);
        assert_int_equal(*count, room);
        assert_int_equal(error.status, IDX_INVALID_ARGUMENT);
    }
    if (idx_text_shingles(text, length, options, hashes, room, count, &error) != IDX_OK) fail_msg("%s", error.sentence);
    assert_int_equal(*count, reference->count);
    for (size_t i = 1; i < *count; i++) assert_true(hashes[i - 1] < hashes[i]);
    return hashes;
}

static void compare_two(const char *texts[2], const size_t lengths[2], unsigned width,
                        enum idx_text_shingle_unit unit) {
    struct idx_text_shingle_options options;
    uint64_t *sets[2];
    size_t counts[2];
    double resemblance = -1;
    choose(&options, width, unit);
    for (int i = 0; i < 2; i++) {
        refer(&references[i], texts[i], lengths[i], width, unit);
        sets[i] = make(texts[i], lengths[i], &options, &counts[i], &references[i]);
    }
    double expected = compare(&references[0], &references[1]);
    assert_true(idx_text_jaccard(sets[0], counts[0], sets[1], counts[1]) == expected);
    assert_true(idx_text_jaccard(sets[1], counts[1], sets[0], counts[0]) == expected);
    assert_int_equal(idx_text_resemblance(texts[0], lengths[0], texts[1], lengths[1], &options, &resemblance, NULL),
                     IDX_OK);
    assert_true(resemblance == expected);
    if (width == 5 && unit == IDX_TEXT_WORDS) {
        assert_int_equal(idx_text_resemblance(texts[0], lengths[0], texts[1], lengths[1], NULL, &resemblance, NULL),
                         IDX_OK);
        assert_true(resemblance == expected);
    }
    free(sets[0]);
    free(sets[1]);
}

/* Pairs of texts of which the second begins like the first, by every width. */
static void test_shingles(void **state) {
    (void)state;
    char text[2][2 * MOST_BYTES];
    uint64_t random = 2;
    size_t alike = 0;
    for (int round = 0; round < 400; round++) {
        size_t lengths[2] = {write_random(text[0], 50, &random), 0};
        lengths[1] = round % 4 == 0 ? 0 : lengths[0] * (next_random(&random) % 9) / 8;
        memcpy(text[1], text[0], lengths[1]);
        lengths[1] += write_random(text[1] + lengths[1], 10, &random);
        const char *texts[2] = {copy(text[0], lengths[0]), copy(text[1], lengths[1])};
        for (unsigned width = 1; width <= IDX_TEXT_MAX_SHINGLE_WIDTH; width++) {
            compare_two(texts, lengths, width, IDX_TEXT_WORDS);
            compare_two(texts, lengths, width, IDX_TEXT_CHARACTERS);
            double found = compare(&references[0], &references[1]);
            alike += found > 0 && found < 1;
        }
        free((void *)(uintptr_t)texts[0]);
        free((void *)(uintptr_t)texts[1]);
    }
    assert_true(alike > 1000);
}

static double resemblance_of(const char *a, const char *b, unsigned width, enum idx_text_shingle_unit unit) {
    struct idx_text_shingle_options options;
    double found = -1;
    choose(&options, width, unit);
    assert_int_equal(idx_text_resemblance(a, strlen(a), b, strlen(b), &options, &found, NULL), IDX_OK);
    return found;
}

static void test_known_texts(void **state) {
    (void)state;
    assert_true(resemblance_of("", "", 5, IDX_TEXT_WORDS) == 1);
    assert_true(resemblance_of("", "... --", 5, IDX_TEXT_WORDS) == 1);
    assert_true(resemblance_of("", "one", 5, IDX_TEXT_WORDS) == 0);
    assert_true(resemblance_of("One, two!", "one\ttwo", 5, IDX_TEXT_WORDS) == 1);
    assert_true(resemblance_of("one two", "onetwo", 5, IDX_TEXT_WORDS) == 0);
    assert_true(resemblance_of("one two", "one two two", 5, IDX_TEXT_WORDS) == 0); /* a shingle each */
    assert_true(resemblance_of("a b c d e f", "a b c d e g", 5, IDX_TEXT_WORDS) == 1. / 3);
    assert_true(resemblance_of("a b c d", "d c b a", 1, IDX_TEXT_WORDS) == 1);
    assert_true(resemblance_of("night", "nacht", 2, IDX_TEXT_CHARACTERS) == 1. / 7);
    assert_true(resemblance_of(" Good\tnight\r\n", "good  night", 3, IDX_TEXT_CHARACTERS) == 1);
    assert_true(resemblance_of("good, night", "good night", 3, IDX_TEXT_CHARACTERS) == 6. / 11);
    assert_true(resemblance_of("a == b", "a != b", 1, IDX_TEXT_CHARACTERS) == 4. / 5);
    assert_true(resemblance_of("==", "!=", 5, IDX_TEXT_CHARACTERS) == 0);
    assert_true(resemblance_of(" \t", "\n", 1, IDX_TEXT_CHARACTERS) == 1);
    assert_true(resemblance_of("goodnight", "good night", 3, IDX_TEXT_CHARACTERS) == 5. / 10);
}

/* Texts that have the same words, since they differ in normalisation, case, or what is ignorable alone. */
static void test_equal_texts(void **state) {
    (void)state;
    static const char *const equal[][2] = {
        {"STRASSE", "stra\xC3\x9F\x65"},
        {"r\xC3\xA9sum\xC3\xA9 \xC3\x85", "re\xCC\x81sume\xCC\x81 A\xCC\x8A"},
        {"\xE2\x84\xAB \xE2\x84\xAA", "\xC3\xA5 k"},                         /* signs of units */
        {"\xED\x95\x9C", "\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB"},            /* Hangul */
        {"so\xC2\xAD\x66t", "soft"},                                         /* a soft hyphen */
        {"a\xE2\x80\x8B\x62 c\xE2\x80\x8D\x64 \xEF\xBB\xBF\x65", "ab cd e"}, /* without width */
        {"\xEF\xAC\x81ne o\xEF\xAC\x83\x63\x65", "fine office"},             /* ligatures */
        {"\xEF\xBC\xA1\xEF\xBD\x82\xEF\xBC\x91", "ab1"},                     /* full width */
        {"\xEF\xBD\xB6\xEF\xBE\x9E", "\xE3\x82\xAC"},                        /* half width */
        {"\xE3\x8C\x96", "\xE3\x82\xAD\xE3\x83\xAD\xE3\x83\xA1\xE3\x83\xBC\xE3\x83\x88\xE3\x83\xAB"},
        {"\xEF\xB7\xBB", "\xD8\xAC\xD9\x84 \xD8\xAC\xD9\x84\xD8\xA7\xD9\x84\xD9\x87"},
        {"a\xCC\x81\xCC\xA3", "a\xCC\xA3\xCC\x81"}, /* marks in another order */
        {"\xCE\x91\xCD\x85", "\xCE\xB1\xCE\xB9"},   /* an iota below */
    };
    for (size_t i = 0; i < sizeof equal / sizeof *equal; i++)
        for (unsigned width = 1; width < 4; width++) {
            assert_true(resemblance_of(equal[i][0], equal[i][1], width, IDX_TEXT_WORDS) == 1);
            assert_true(resemblance_of(equal[i][0], equal[i][1], width, IDX_TEXT_CHARACTERS) == 1);
        }
    /* What is not equal. */
    assert_true(resemblance_of("e", "\xC3\xA9", 1, IDX_TEXT_WORDS) == 0);
    assert_true(resemblance_of("\xC4\xB1", "i", 1, IDX_TEXT_WORDS) == 0);
}

/* Sets of more hashes than a sort takes at once, and texts that give the same one again and again. */
static void test_long_texts(void **state) {
    (void)state;
    enum { WORDS = 60000 };
    static char text[WORDS * 8];
    static uint64_t hashes[WORDS];
    size_t length = 0, count;
    uint64_t random = 3;
    for (size_t i = 0; i < WORDS; i++) memcpy(text + 2 * i, "a ", 2);
    assert_int_equal(idx_text_shingles(text, sizeof text / 4, NULL, hashes, WORDS, &count, NULL), IDX_OK);
    assert_int_equal(count, 1);
    for (size_t i = 0; i < WORDS; i++) {
        for (uint64_t rest = next_random(&random) % 300 + 1; rest > 0; rest /= 10)
            text[length++] = (char)('0' + rest % 10);
        text[length++] = ' ';
    }
    struct idx_text_shingle_options options;
    assert_int_equal(idx_text_shingles(text, length, choose(&options, 1, IDX_TEXT_WORDS), hashes, WORDS, &count, NULL),
                     IDX_OK);
    assert_int_equal(count, 300);
    assert_int_equal(idx_text_shingles(text, length, choose(&options, 5, IDX_TEXT_WORDS), hashes, WORDS, &count, NULL),
                     IDX_OK);
    assert_true(count > WORDS - 10 && count <= WORDS - 4);
    for (size_t i = 1; i < count; i++) assert_true(hashes[i - 1] < hashes[i]);
}

static void test_wrong_arguments(void **state) {
    (void)state;
    struct idx_text_shingle_options options;
    struct idx_error error;
    uint64_t hash;
    size_t count = 7;
    double resemblance = 7;
    for (unsigned wrong = 0; wrong < 4; wrong++) {
        choose(&options, 5, IDX_TEXT_WORDS);
        if (wrong == 0) options.width = 0;
        if (wrong == 1) options.width = IDX_TEXT_MAX_SHINGLE_WIDTH + 1;
        if (wrong == 2) options.unit = 2;
        if (wrong == 3) options.size--;
        assert_int_equal(idx_text_shingles("a", 1, &options, &hash, 1, &count, &error), IDX_INVALID_ARGUMENT);
        assert_int_equal(error.status, IDX_INVALID_ARGUMENT);
        assert_true(strlen(error.sentence) > 0);
        assert_int_equal(idx_text_resemblance("a", 1, "b", 1, &options, &resemblance, &error), IDX_INVALID_ARGUMENT);
    }
    assert_int_equal(idx_text_shingles(NULL, 1, NULL, &hash, 1, &count, &error), IDX_INVALID_ARGUMENT);
    assert_int_equal(idx_text_shingles("a", 1, NULL, NULL, 1, &count, &error), IDX_INVALID_ARGUMENT);
    assert_int_equal(idx_text_shingles("a", 1, NULL, &hash, 1, NULL, &error), IDX_INVALID_ARGUMENT);
    assert_int_equal(idx_text_resemblance(NULL, 1, "b", 1, NULL, &resemblance, &error), IDX_INVALID_ARGUMENT);
    assert_int_equal(idx_text_resemblance("a", 1, NULL, 1, NULL, &resemblance, &error), IDX_INVALID_ARGUMENT);
    assert_int_equal(idx_text_resemblance("a", 1, "b", 1, NULL, NULL, &error), IDX_INVALID_ARGUMENT);
    assert_int_equal(count, 7);
    assert_true(resemblance == 7);
    assert_int_equal(idx_text_shingles(NULL, 0, NULL, NULL, 0, &count, NULL), IDX_OK);
    assert_int_equal(count, 0);
    assert_int_equal(idx_text_resemblance(NULL, 0, NULL, 0, NULL, &resemblance, NULL), IDX_OK);
    assert_true(resemblance == 1);
    assert_true(idx_text_jaccard(NULL, 0, NULL, 0) == 1);
    assert_true(idx_text_jaccard(NULL, 0, &hash, 1) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),           cmocka_unit_test(test_places),
        cmocka_unit_test(test_folding),         cmocka_unit_test(test_every_character),
        cmocka_unit_test(test_shingles),        cmocka_unit_test(test_known_texts),
        cmocka_unit_test(test_equal_texts),     cmocka_unit_test(test_long_texts),
        cmocka_unit_test(test_wrong_arguments), cmocka_unit_test(test_canonical_equivalence),
        cmocka_unit_test(test_tatweel),         cmocka_unit_test(test_chillus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
