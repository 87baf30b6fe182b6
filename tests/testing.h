/* testing.h: what all tests share: cmocka, with what it needs to be included before it, comparing numbers, and programs
 * whose tests are shared out. */
#ifndef IDX_TESTS_TESTING_H
#define IDX_TESTS_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A plain program that results are compared with: sanitizers leave it alone, where it would take most of the time. */
#define PLAIN __attribute__((no_sanitize("address"), no_sanitize("undefined"), no_sanitize("thread")))

/* Compares two uint64_t, for qsort and bsearch. */
static inline int compare_numbers(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Whether the words after the first one of `text`, which spaces divide, have a word among them. */
static inline bool has_word(const char *text, const char *word) {
    const size_t length = strlen(word);
    for (const char *at = text + 1; (at = strstr(at, word)) != NULL; at++)
        if (at[-1] == ' ' && (at[length] == ' ' || at[length] == '\0')) return true;
    return false;
}

/* Runs the tests that the environment chooses by IDX_TESTS: all of them where it is not there, those that it names
 * after `only`, or the others where it names some after `without`. */
static inline int run_chosen(const struct CMUnitTest *tests, size_t count, CMFixtureFunction set_up,
                             CMFixtureFunction tear_down) {
    const char *choice = getenv("IDX_TESTS");
    struct CMUnitTest *chosen = calloc(count, sizeof *chosen);
    size_t chosen_count = 0, named_count = 0, words = 0;
    if (chosen == NULL) return 2;
    for (const char *at = choice; at != NULL && *at != '\0'; at++) words += *at == ' ';
    for (size_t i = 0; i < count; i++) {
        bool named = words > 0 && has_word(choice, tests[i].name);
        named_count += named;
        if (words == 0 || named == (strncmp(choice, "only ", 5) == 0)) chosen[chosen_count++] = tests[i];
    }
    if (named_count != words) print_error("a test that IDX_TESTS names is not there: %s\n", choice);
    int failed = named_count != words ? 2 : _cmocka_run_group_tests("tests", chosen, chosen_count, set_up, tear_down);
    free(chosen);
    return failed;
}

#undef cmocka_run_group_tests
#define cmocka_run_group_tests(tests, set_up, tear_down)                                                               \
    run_chosen(tests, sizeof(tests) / sizeof *(tests), set_up, tear_down)

#endif
