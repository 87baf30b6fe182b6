/* sketch.c: tests of the recipes minhash:M: sketches as they were frozen, of a text of every script, and that they are
 * the smallest hashes of a text's shingles. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/text/testing.h"

static size_t sketch(struct idx_text *text, const char *utf8, uint64_t hashes[IDX_TEXT_MAX_FINGERPRINTS],
                     uint64_t *features) {
    const struct idx_text_field body = {"body", utf8, strlen(utf8)};
    struct idx_text_counts counts;
    size_t count;
    assert_int_equal(
        idx_text_fingerprints(text, &body, 1, 64, hashes, IDX_TEXT_MAX_FINGERPRINTS, &count, &counts, NULL), IDX_OK);
    *features = counts.features;
    return count;
}

/* Checks one line of the file: a recipe, and the hashes of the text by it, each behind a space. */
static void assert_sketch(const char *utf8, char *line) {
    uint64_t hashes[IDX_TEXT_MAX_FINGERPRINTS], features;
    char *end = line + strcspn(line, " "), written[IDX_TEXT_MAX_FINGERPRINTS * 17 + 1] = "";
    bool any = *end != '\0';
    *end = '\0';
    struct idx_text *text = open_by(line);
    assert_string_equal(idx_text_recipe(text), line);
    size_t count = sketch(text, utf8, hashes, &features);
    for (size_t i = 0, length = 0; i < count; i++)
        length += (size_t)sprintf(written + length, &" %016llx"[i == 0], (unsigned long long)hashes[i]);
    assert_string_equal(written, any ? end + 1 : "");
    idx_text_close(text);
}

/* Sketches are stored in indexes, so no release may make others. */
static void test_frozen(void **state) {
    (void)state;
    static char line[1 << 14], utf8[1 << 14];
    size_t texts = 0, sketches = 0;
    FILE *file = fopen(IDX_SOURCE_DIR "/tests/text/sketches.txt", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '\t') {
            assert_sketch(utf8, line + 1);
            sketches++;
        } else {
            strcpy(utf8, line);
            texts++;
        }
    }
    fclose(file);
    assert_true(texts >= 180);
    assert_int_equal(sketches, 3 * texts);
}

static const char long_text[] =
    "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness, it "
    "was the epoch of belief, it was the epoch of incredulity, it was the season of Light, it was the season of "
    "Darkness; it was the best of times, it was the worst of times";

/* The values are the first ones of the set that idx_text_shingles lists, whatever M, the width and the unit are. */
static void test_smallest(void **state) {
    (void)state;
    for (unsigned unit = 0; unit < 2; unit++) {
        for (unsigned width = 1; width <= IDX_TEXT_MAX_SHINGLE_WIDTH; width++) {
            for (unsigned most = 1; most <= IDX_TEXT_MAX_FINGERPRINTS; most += 7) {
                struct idx_text_shingle_options options = {sizeof options, width, (enum idx_text_shingle_unit)unit,
                                                           false};
                uint64_t set[512], hashes[IDX_TEXT_MAX_FINGERPRINTS], features;
                size_t members;
                char recipe[64];
                assert_int_equal(idx_text_shingles(long_text, strlen(long_text), &options, set, 512, &members, NULL),
                                 IDX_OK);
                snprintf(recipe, sizeof recipe, "minhash:%u;%s=%u", most, unit == 0 ? "words" : "chars", width);
                struct idx_text *text = open_by(recipe);
                size_t count = sketch(text, long_text, hashes, &features);
                assert_int_equal(count, members < most ? members : most);
                assert_memory_equal(hashes, set, count * sizeof *set);
                assert_int_equal(features, members);
                idx_text_close(text);
            }
        }
    }
}

/* Of several bodies all shingles count; titles and descriptions don't. A text without words has no sketch. */
static void test_fields(void **state) {
    (void)state;
    struct idx_text *text = open_by("minhash:2;words=1");
    uint64_t hashes[2], first[IDX_TEXT_MAX_FINGERPRINTS], features;
    const struct idx_text_field fields[] = {
        {"title", "zebra", 5}, {"body", "b", 1}, {NULL, "a", 1}, {"description", "yak", 3}};
    size_t count;
    assert_int_equal(idx_text_fingerprints(text, fields, 4, 64, hashes, 2, &count, NULL, NULL), IDX_OK);
    assert_int_equal(count, 2);
    assert_int_equal(sketch(text, "b a a b", first, &features), 2);
    assert_int_equal(features, 2);
    assert_memory_equal(hashes, first, sizeof hashes);
    assert_int_equal(sketch(text, " ,.;", first, &features), 0);
    assert_int_equal(features, 0);
    assert_null(idx_text_signature(text, &count));
    idx_text_close(text);
}

static void test_refused(void **state) {
    (void)state;
    struct idx_text *text = open_by("minhash:2");
    uint64_t hashes[2];
    const struct idx_text_field body = {"body", "a", 1};
    struct idx_text_table *table;
    struct idx_error error;
    size_t count;
    assert_int_equal(idx_text_fingerprints(text, &body, 1, 63, hashes, 2, &count, NULL, &error), IDX_INVALID_ARGUMENT);
    assert_string_equal(error.sentence, "recipe 'minhash:2;words=5;v1' makes fingerprints of 64 bits, not 63");
    assert_int_equal(idx_text_fingerprints(text, &body, 1, 64, hashes, 1, &count, NULL, &error), IDX_INVALID_ARGUMENT);
    assert_string_equal(error.sentence, "the array needs room for 2 fingerprints, but has room for 1");
    assert_int_equal(idx_text_table_open(&table, text, &error), IDX_INVALID_ARGUMENT);
    idx_text_close(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frozen),
        cmocka_unit_test(test_smallest),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
