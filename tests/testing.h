/* testing.h: what all tests share: cmocka, with what it needs to be included before it, comparing numbers, and programs
 * whose tests are shared out. */
#ifndef IDX_TESTS_TESTING_H
#define IDX_TESTS_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Compares two uint64_t, for qsort and bsearch. */
static inline int compare_numbers(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Runs the tests that the arguments choose, after `setup` unless that is NULL: all of them, or `only` those that are
 * named, or those `without` which are named. */
static inline int run_chosen(const struct CMUnitTest *tests, size_t count, CMFixtureFunction setup, int argc,
                             char **argv) {
    struct CMUnitTest chosen[32];
    size_t chosen_count = 0, named_count = 0;
    if (count > sizeof chosen / sizeof *chosen) return 2;
    for (size_t i = 0; i < count; i++) {
        bool named = false;
        for (int j = 2; j < argc; j++) named = named || strcmp(argv[j], tests[i].name) == 0;
        named_count += named;
        if (argc < 2 || named == (strcmp(argv[1], "only") == 0)) chosen[chosen_count++] = tests[i];
    }
    if (argc > 1 && named_count + 2 != (size_t)argc) return 2; /* A name is of no test. */
    return _cmocka_run_group_tests("tests", chosen, chosen_count, setup, NULL);
}

#define RUN_CHOSEN(tests, setup, argc, argv) run_chosen(tests, sizeof(tests) / sizeof *(tests), setup, argc, argv)

#endif
