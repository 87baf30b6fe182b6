/* testing.h: what all tests share: cmocka, with what it needs to be included before it, and comparing numbers. */
#ifndef IDX_TESTS_TESTING_H
#define IDX_TESTS_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Compares two uint64_t, for qsort and bsearch. */
static inline int compare_numbers(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

#endif
