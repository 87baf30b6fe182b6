/* pages.c: tests that pages are checked before their first use: of a damaged page nothing is answered, whatever was
 * used before it, and of those beside it, which are checked with it, everything. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

#define COUNT 20000
#define DAMAGED_PAGE 9 /* of some 28 with blocks */

/* Asks for all fingerprints, and notes in `refused` which were refused; returns how many. */
static size_t ask(const struct idx_index *index, const struct set *set, bool *refused) {
    size_t sum = 0;
    for (size_t i = 0; i < set->count; i++) {
        struct idx_match match;
        size_t count;
        enum idx_status status = idx_lookup(index, set->items[i], 0, &match, 1, &count, &failure);
        refused[i] = status != IDX_OK;
        sum += refused[i];
        assert_status(refused[i] ? IDX_BAD_CHECKSUM : IDX_OK, status);
        if (refused[i]) assert_int_equal(failure.offset / 4096, DAMAGED_PAGE);
        if (!refused[i]) assert_true(count == 1 && match.fingerprint == set->items[i]);
    }
    return sum;
}

static void damage(const char *path) {
    uint8_t byte;
    int file = open(path, O_RDWR | O_CLOEXEC);
    assert_true(file >= 0);
    assert_int_equal(pread(file, &byte, 1, DAMAGED_PAGE * 4096 + 100), 1);
    byte ^= 1;
    assert_int_equal(pwrite(file, &byte, 1, DAMAGED_PAGE * 4096 + 100), 1);
    close(file);
}

/* Twice each, so that the second time all other pages are known. */
static void test_of_pages_only_the_damaged_is_refused(void **state) {
    static const enum idx_residence residences[] = {IDX_RESIDENCE_NONE, IDX_RESIDENCE_DIRECTORY, IDX_RESIDENCE_DISK};
    static bool first[COUNT], refused[COUNT];
    struct idx_build_options options = options_for(64, 3, "2:1:1");
    struct set set = make_set(SHAPE_UNIFORM, 64, COUNT, 1);
    const char *path = path_in(*state, "i");
    size_t sum = 0;
    options.id_type = IDX_ID_NONE;
    build_index(path, &options, set.items, set.count);
    damage(path_in(path, "000001/table-00.tbl"));
    for (size_t i = 0; i < 2 * LENGTH(residences); i++) {
        struct idx_index *index = open_index(path, residences[i / 2]);
        if (i == 0) sum = ask(index, &set, first);
        assert_int_equal(ask(index, &set, refused), sum);
        assert_memory_equal(refused, first, sizeof refused);
        idx_close(index);
    }
    assert_in_range(sum, 300, 1500); /* a page has 64 blocks of some ten */
    free_set(&set);
}

int main(void) {
    const struct CMUnitTest tests[] = {in_folder(test_of_pages_only_the_damaged_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
