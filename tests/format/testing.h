/* testing.h: what the tests of format/ share: cmocka, faults by name, and random numbers that are always the same. */
#ifndef IDX_TESTS_FORMAT_TESTING_H
#define IDX_TESTS_FORMAT_TESTING_H

#include <stdbool.h>
#include <stdlib.h>

#include "format/fault.h"
#include "tests/random.h"
#include "tests/testing.h"

#define assert_fault(actual, expected) assert_string_equal(idxf_get_fault_name(actual), idxf_get_fault_name(expected))

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* A random number of any size: those of few bits come as often as those of many. Two calls of next_random in one
 * expression would come in the compiler's order. */
static inline uint64_t next_random_of_any_size(uint64_t *state) {
    uint64_t number = next_random(state);
    return number >> next_random(state) % 64;
}

/* A copy in an allocation of exactly this size, so that a sanitizer sees a read of one byte too many. */
static inline void *copy_exactly(const void *bytes, size_t size) {
    void *copy = calloc(1, size > 0 ? size : 1);
    assert_non_null(copy);
    if (size > 0) memcpy(copy, bytes, size);
    return copy;
}

#endif
