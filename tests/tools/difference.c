/* difference.c: tests of the words that differ, against the longest common subsequence by dynamic programming. */
#include "tools/report/difference.h"

#include "tests/random.h"
#include "tests/testing.h"

#include <stdlib.h>

enum { MOST = 60 };

static size_t longest_common(const uint64_t *a, size_t n, const uint64_t *b, size_t m) {
    size_t table[MOST + 1][MOST + 1] = {{0}};
    for (size_t i = 1; i <= n; i++)
        for (size_t j = 1; j <= m; j++) {
            size_t best = table[i - 1][j] > table[i][j - 1] ? table[i - 1][j] : table[i][j - 1];
            table[i][j] = a[i - 1] == b[j - 1] ? table[i - 1][j - 1] + 1 : best;
        }
    return table[n][m];
}

/* What is not marked must be the same on both sides. Returns how much that is. */
static size_t check_rest(const struct words *a, const struct words *b) {
    size_t j = 0, common = 0;
    for (size_t i = 0; i < a->count; i++) {
        if (a->differs[i]) continue;
        while (j < b->count && b->differs[j]) j++;
        assert_true(j < b->count);
        assert_int_equal(a->hashes[i], b->hashes[j]);
        j++, common++;
    }
    while (j < b->count) assert_true(b->differs[j++]);
    return common;
}

static void test_optimal(void **state) {
    uint64_t random = 1, a[MOST], b[MOST];
    bool a_differs[MOST], b_differs[MOST];
    (void)state;
    for (int round = 0; round < 20000; round++) {
        uint64_t kinds = 1 + next_random(&random) % 12;
        struct words first = {a, a_differs, next_random(&random) % (MOST + 1)};
        struct words second = {b, b_differs, next_random(&random) % (MOST + 1)};
        for (size_t i = 0; i < MOST; i++) a[i] = next_random(&random) % kinds;
        for (size_t i = 0; i < MOST; i++) b[i] = round % 2 == 0 ? a[i] : next_random(&random) % kinds;
        for (int i = 0; i < 4; i++) b[next_random(&random) % MOST] = next_random(&random) % kinds;
        assert_true(difference_find(&first, &second));
        assert_int_equal(check_rest(&first, &second), longest_common(a, first.count, b, second.count));
    }
}

/* Texts that differ in more words than are looked for: still the same on both sides, and most of what is shared. */
static void test_large(void **state) {
    enum { WORDS = 100000 };
    uint64_t random = 2, *a = calloc(2 * WORDS, sizeof *a), *b = a + WORDS;
    bool *differs = calloc(2 * WORDS, sizeof *differs);
    (void)state;
    struct words first = {a, differs, WORDS}, second = {b, differs + WORDS, WORDS};
    for (size_t i = 0; i < WORDS; i++) {
        a[i] = next_random(&random);
        b[i] = i % 10 == 0 ? next_random(&random) : a[i];
    }
    assert_true(difference_find(&first, &second));
    assert_true(check_rest(&first, &second) > WORDS / 2);
    for (size_t i = 0; i < WORDS; i++) b[i] = next_random(&random);
    assert_true(difference_find(&first, &second));
    assert_int_equal(check_rest(&first, &second), 0);
    free(a);
    free(differs);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_optimal), cmocka_unit_test(test_large)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
