/* every_character.c: a text with every character of Unicode 15 but those for private use, in all places of words, has
 * the recorded fingerprints, whatever the version of ICU is: those of 72, 74 and 76 were compared. `every_character
 * --print` prints what every_character.tsv has: a line for each 1024 characters, with the first of them, and the
 * fingerprints and the numbers of features by words:1 and words:2. */
#include <stdio.h>

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include "tests/text/testing.h"

enum { PART = 1024, MOST_BYTES = PART * 256, LINE = 100 };

/* ICU 72 has Unicode 15; later characters are not in the text, and earlier releases lack some of it. */
static bool is_known(UChar32 c) {
    UVersionInfo age;
    u_charAge(c, age);
    return !U_IS_SURROGATE(c) && u_charType(c) != U_PRIVATE_USE_CHAR && age[0] > 0 &&
           (age[0] < 15 || (age[0] == 15 && age[1] == 0));
}

/* What stands before and behind the character by turns: letters, digits and marks of words, and scripts that have their
 * own rules. Where the character is twice, the second one is what stands behind. */
static const char *const places[][2] = {
    {"", ""},     {"a", "b"}, {"1", "2"},   {"a.", "'b"},           {"1,", ".2"},
    {"_", "_"},   {"א", "ב"}, {"中", "文"}, {"カ", "ラ"},           {"ก", "า"},
    {"어", "어"}, {"ع", "١"}, {"क", "ख"},   {"a\u0301", "\u0301b"}, {"", NULL},
};
enum { PLACES = sizeof places / sizeof *places };

static void append(char *text, size_t *length, UChar32 c, const char *const place[2]) {
    *length += (size_t)sprintf(text + *length, "%s", place[0]);
    for (int times = place[1] == NULL ? 2 : 1; times > 0; times--) U8_APPEND_UNSAFE((uint8_t *)text, *length, c);
    *length += (size_t)sprintf(text + *length, "%s ", place[1] == NULL ? "" : place[1]);
}

/* Writes the line of a part. Returns false if the part has no characters. */
static bool write_line(struct idx_text *const texts[2], UChar32 first, char line[LINE]) {
    static char text[MOST_BYTES];
    size_t length = 0;
    uint64_t made[2], features[2];
    for (UChar32 c = first; c < first + PART; c++) {
        for (unsigned i = 0; i < PLACES && is_known(c); i++) append(text, &length, c, places[i]);
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(idx_text_fingerprint(texts[i], text, length, 64, &made[i], &features[i], NULL), IDX_OK);
    snprintf(line, LINE, "%04x\t%016llx\t%llu\t%016llx\t%llu\n", (unsigned)first, (unsigned long long)made[0],
             (unsigned long long)features[0], (unsigned long long)made[1], (unsigned long long)features[1]);
    return length > 0;
}

static void test_every_character(void **state) {
    (void)state;
    if (U_ICU_VERSION_MAJOR_NUM < 72) {
        print_message("skipped: ICU %s lacks characters of Unicode 15\n", U_ICU_VERSION);
        skip();
    }
    struct idx_text *texts[] = {open_by("words:1"), open_by("words:2")};
    FILE *recorded = fopen(IDX_SOURCE_DIR "/tests/text/every_character.tsv", "r");
    char line[LINE], expected[LINE];
    assert_non_null(recorded);
    for (UChar32 first = 0; first < 0x110000; first += PART) {
        if (!write_line(texts, first, line)) continue;
        assert_non_null(fgets(expected, sizeof expected, recorded));
        assert_string_equal(line, expected);
    }
    assert_null(fgets(expected, sizeof expected, recorded));
    fclose(recorded);
    idx_text_close(texts[0]);
    idx_text_close(texts[1]);
}

static int print_lines(void) {
    struct idx_text *texts[] = {open_by("words:1"), open_by("words:2")};
    char line[LINE];
    for (UChar32 first = 0; first < 0x110000; first += PART) {
        if (write_line(texts, first, line)) fputs(line, stdout);
    }
    return 0;
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_character)};
    if (argc > 1 && strcmp(argv[1], "--print") == 0) return print_lines();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
