/* repeats.c: tests of how the IDs that several documents have are counted. */
#include "tools/dedup/dedup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void add(struct repeats *repeats, uint64_t number) {
    char id[32];
    int length = snprintf(id, sizeof id, "id-%llu", (unsigned long long)number);
    assert_true(repeats_add(repeats, id, (size_t)length));
}

static void check(struct repeats *repeats, uint64_t ids, uint64_t documents) {
    uint64_t counted_ids, counted_documents;
    repeats_count(repeats, &counted_ids, &counted_documents);
    assert_int_equal(counted_ids, ids);
    assert_int_equal(counted_documents, documents);
    for (size_t i = 1; i < repeats->count; i++) assert_true(repeats->hashes[i - 1] <= repeats->hashes[i]);
    repeats_free(repeats);
}

static void test_few(void **state) {
    (void)state;
    struct repeats repeats = {.is_asked_for = true};
    check(&repeats, 0, 0);
    repeats.is_asked_for = true;
    assert_true(repeats_add(&repeats, NULL, 0));
    check(&repeats, 0, 0);
    repeats.is_asked_for = true;
    for (int i = 0; i < 3; i++) add(&repeats, 7);
    add(&repeats, 8);
    check(&repeats, 1, 3);
}

/* ID i comes i % 5 + 1 times, in an order that has equal ones far apart. */
static void test_many(void **state) {
    (void)state;
    struct repeats repeats = {.is_asked_for = true};
    const uint64_t most = 100000;
    for (uint64_t round = 0; round < 5; round++) {
        for (uint64_t i = 0; i < most; i++)
            if (i % 5 >= round) add(&repeats, i);
    }
    check(&repeats, most / 5 * 4, most / 5 * (2 + 3 + 4 + 5));
}

/* One ID more often than fits where hashes are inserted one by one, with others around it. */
static void test_one_for_all(void **state) {
    (void)state;
    struct repeats repeats = {.is_asked_for = true};
    for (uint64_t i = 0; i < 1000; i++) {
        add(&repeats, 1);
        add(&repeats, 2 + i);
    }
    check(&repeats, 1, 1000);
}

static void test_not_asked_for(void **state) {
    (void)state;
    struct repeats repeats = {0};
    add(&repeats, 1);
    add(&repeats, 1);
    assert_null(repeats.hashes);
    check(&repeats, 0, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_one_for_all),
        cmocka_unit_test(test_not_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
