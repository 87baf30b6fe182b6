/* id_hashes.c: tests of how the IDs that several documents have are found and counted. */
#include "tools/dedup/id_hashes.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/testing.h"

static int print_id(char id[32], uint64_t number) { return snprintf(id, 32, "id-%llu", (unsigned long long)number); }

static void add(struct id_hashes *ids, uint64_t number) {
    char id[32];
    int length = print_id(id, number);
    assert_true(id_hashes_add(ids, id, (size_t)length));
}

static void check(struct id_hashes *ids, uint64_t repeated, uint64_t documents) {
    uint64_t counted_ids, counted_documents;
    id_hashes_sort(ids);
    id_hashes_count_repeated(ids, &counted_ids, &counted_documents);
    assert_int_equal(counted_ids, repeated);
    assert_int_equal(counted_documents, documents);
    for (size_t i = 1; i < ids->count; i++) assert_true(ids->hashes[i - 1] <= ids->hashes[i]);
}

static void test_few(void **state) {
    (void)state;
    struct id_hashes ids = {0};
    check(&ids, 0, 0);
    assert_true(id_hashes_add(&ids, NULL, 0));
    check(&ids, 0, 0);
    id_hashes_free(&ids);
    for (int i = 0; i < 3; i++) add(&ids, 7);
    add(&ids, 8);
    check(&ids, 1, 3);
    id_hashes_free(&ids);
}

/* ID i comes i % 5 + 1 times, in an order that has equal ones far apart. */
static void test_many(void **state) {
    (void)state;
    struct id_hashes ids = {0};
    const uint64_t most = 100000;
    for (uint64_t round = 0; round < 5; round++) {
        for (uint64_t i = 0; i < most; i++)
            if (i % 5 >= round) add(&ids, i);
    }
    check(&ids, most / 5 * 4, most / 5 * (2 + 3 + 4 + 5));
    id_hashes_free(&ids);
}

/* One ID more often than fits where hashes are inserted one by one, with others around it. */
static void test_one_for_all(void **state) {
    (void)state;
    struct id_hashes ids = {0};
    for (uint64_t i = 0; i < 1000; i++) {
        add(&ids, 1);
        add(&ids, 2 + i);
    }
    check(&ids, 1, 1000);
    id_hashes_free(&ids);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_one_for_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
