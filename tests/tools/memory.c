/* memory.c: tests of what tools/formats/memory.c has libraries allocate. Linked so that it calls the functions below
 * (-Wl,--wrap), which fail when they are told to. */
#include "tools/formats/memory.h"

#include <stdlib.h>

#include <jansson.h>
#include <libxml/xmlmemory.h>

#include "tests/testing.h"

void *__real_malloc(size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_realloc(void *memory, size_t size);

static bool fails;

void *__wrap_malloc(size_t size) { return fails ? NULL : __real_malloc(size); }

void *__wrap_realloc(void *memory, size_t size) { return fails ? NULL : __real_realloc(memory, size); }

/* The reserve is used again once all of it was given back: a service goes on. */
static void test_reserve(void **state) {
    (void)state;
    enum { SIZE = 100000, ROUNDS = 100 };
    memory_watch();
    assert_false(memory_ran_out());
    for (unsigned i = 0; i < ROUNDS; i++) {
        fails = true;
        char *first = xmlMalloc(SIZE), *second = xmlMalloc(SIZE);
        memset(first, 1, SIZE);
        memset(second, 2, SIZE);
        first = xmlRealloc(first, 2 * SIZE);
        fails = false;
        assert_true(first[0] == 1 && first[SIZE - 1] == 1 && second[0] == 2 && second[SIZE - 1] == 2);
        assert_null(xmlRealloc(second, 0)); /* This frees it. */
        xmlFree(first);
        assert_true(memory_ran_out());
    }
    assert_false(memory_ran_out());
}

static void test_jansson(void **state) {
    (void)state;
    json_error_t error;
    memory_watch();
    fails = true;
    json_t *value =
        json_loads("[\"a string that is longer than the first buffer of it, which \\u00e4 makes grow\"]", 0, &error);
    fails = false;
    assert_string_equal(json_string_value(json_array_get(value, 0)),
                        "a string that is longer than the first buffer of it, which \u00e4 makes grow");
    json_decref(value);
    assert_true(memory_ran_out());
    value = json_loads("[1,2]", 0, &error);
    assert_int_equal(json_array_size(value), 2);
    json_decref(value);
    assert_false(memory_ran_out());
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reserve), cmocka_unit_test(test_jansson)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
