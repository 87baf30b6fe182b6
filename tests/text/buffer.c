/* buffer.c: tests of growing buffers. */
#include "libidx/text/base.h"

#include <stdlib.h>

#include "tests/text/testing.h"

/* A million elements one by one move the buffer a few dozen times, not a million, and keep what they hold. */
static void test_grows_geometrically(void **state) {
    (void)state;
    uint32_t *buffer = NULL;
    size_t capacity = 0, before = 0, moves = 0;
    for (uint32_t i = 0; i < 1000000; i++) {
        buffer = idxt_buffer_grow(buffer, &capacity, (size_t)i + 1, sizeof *buffer);
        assert_non_null(buffer);
        assert_true(capacity > i);
        moves += capacity != before;
        before = capacity;
        buffer[i] = i;
    }
    assert_true(moves < 40);
    for (uint32_t i = 0; i < 1000000; i++) assert_true(buffer[i] == i);
    free(buffer);
}

static void test_nothing_needed_is_a_buffer_too(void **state) {
    (void)state;
    size_t capacity = 0;
    char *buffer = idxt_buffer_grow(NULL, &capacity, 0, 1);
    assert_non_null(buffer);
    assert_true(idxt_buffer_grow(buffer, &capacity, capacity, 1) == buffer);
    free(buffer);
}

static void test_sizes_beyond_size_t_are_refused(void **state) {
    (void)state;
    size_t capacity = 0;
    uint64_t *buffer = idxt_buffer_grow(NULL, &capacity, 1, sizeof *buffer);
    assert_non_null(buffer);
    size_t before = capacity;
    buffer[0] = 7;
    assert_null(idxt_buffer_grow(buffer, &capacity, SIZE_MAX / sizeof *buffer + 1, sizeof *buffer));
    assert_null(idxt_buffer_grow(buffer, &capacity, SIZE_MAX, sizeof *buffer));
    assert_true(capacity == before);
    assert_true(buffer[0] == 7);
    free(buffer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grows_geometrically),
        cmocka_unit_test(test_nothing_needed_is_a_buffer_too),
        cmocka_unit_test(test_sizes_beyond_size_t_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
