/* many.c: tests of idx_lookup_many: it answers each query as idx_lookup does, whatever the number of queries, threads
 * and matches, and refuses what that refuses. */
#include <stdlib.h>
#include <string.h>

#include "libidx/view/index.h"
#include "tests/libidx/forge.h"
#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"
#include "tests/libidx/trial.h"

#define MOST 1300

static const unsigned threads[] = {1, 2, 7};

static struct set set;
static struct idx_index *index_of_set;
static uint64_t queries[MOST];

/* Clusters in two segments, and queries near them: from none to hundreds of matches. */
static int set_up(void **state) {
    uint64_t seed = 3;
    if (make_folder(state) != 0) return -1;
    set = make_set(SHAPE_CLUSTERED, 64, 3000, 1);
    struct trial trial = {"clustered", .set = &set, .scheme = "2:1:1", .k = 3, .segments = 2, .block_size = 64};
    index_of_set = open_trial(*state, &trial, IDX_ID_NONE);
    for (size_t i = 0; i < MOST; i++) queries[i] = make_query(&set, 4, &seed);
    return 0;
}

static int tear_down(void **state) {
    idx_close(index_of_set);
    free_set(&set);
    return remove_folder(state);
}

static void *allocate(size_t count, size_t size) {
    void *memory = malloc(count * size + 1);
    assert_non_null(memory);
    return memory;
}

/* ---- The same as one by one ---- */

static bool same_matches(const struct idx_match *a, const struct idx_match *b, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (a[i].fingerprint != b[i].fingerprint || a[i].distance != b[i].distance) return false;
    }
    return true;
}

static void compare_query(const struct idx_index *index, uint64_t query, unsigned distance,
                          const struct idx_match *matches, size_t capacity, size_t found) {
    struct idx_match *expected = allocate(capacity, sizeof *expected);
    size_t count;
    assert_ok(idx_lookup(index, query, distance, capacity == 0 ? NULL : expected, capacity, &count, &failure));
    assert_int_equal(found, count);
    assert_true(same_matches(matches, expected, count < capacity ? count : capacity));
    free(expected);
}

/* Nothing is written beyond the matches and counts asked for. */
static void compare_batch(const struct idx_index *index, size_t count, unsigned distance, unsigned thread_count,
                          size_t capacity) {
    struct idx_match *matches = allocate(count * capacity + 1, sizeof *matches), beyond;
    size_t *counts = allocate(count + 1, sizeof *counts);
    memset(matches, 0xee, (count * capacity + 1) * sizeof *matches);
    memset(counts, 0xee, (count + 1) * sizeof *counts);
    memset(&beyond, 0xee, sizeof beyond);
    assert_ok(look_up_many(index, queries, count, distance, thread_count, capacity == 0 ? NULL : matches, capacity,
                           counts, &failure));
    for (size_t i = 0; i < count; i++)
        compare_query(index, queries[i], distance, matches + i * capacity, capacity, counts[i]);
    assert_true(same_matches(&matches[count * capacity], &beyond, 1));
    memset(&beyond, 0xee, sizeof beyond);
    assert_memory_equal(&counts[count], &beyond, sizeof *counts);
    free(matches);
    free(counts);
}

/* Threads take 256 queries at a time. */
static void test_numbers_of_queries(void **state) {
    static const size_t counts[] = {1, 2, 31, 63, 64, 65, 255, 256, 257, 511, 512, 513, MOST};
    (void)state;
    for (size_t i = 0; i < LENGTH(counts) * LENGTH(threads); i++)
        compare_batch(index_of_set, counts[i / LENGTH(threads)], 3, threads[i % LENGTH(threads)], 10);
}

static void test_capacities_and_distances(void **state) {
    static const size_t capacities[] = {0, 1, 2, 5, 30, 1000};
    size_t most = 0, few = 0;
    (void)state;
    for (size_t i = 0; i < LENGTH(capacities) * 4; i++)
        compare_batch(index_of_set, 300, (unsigned)i % 4, threads[i % LENGTH(threads)], capacities[i / 4]);
    for (size_t i = 0; i < 300; i++) {
        size_t count;
        assert_ok(idx_lookup(index_of_set, queries[i], 3, NULL, 0, &count, &failure));
        if (count > most) most = count;
        if (count == 0) few++;
    }
    assert_in_range(most, 31, 1000); /* more than most capacities, and with some of them all */
    assert_in_range(few, 10, 290);
}

/* Probes are under way in groups, larger ones where they wait for a disk: here a query makes few of them, some,
 * and more than that. */
static void test_numbers_of_probes(void **state) {
    static const char *const schemes[] = {"@ffff000000000000:3,@0000ffffffffffff:3", "2:1:1", "20",
                                          "@ffffffffffffffff:3"};
    struct set many = make_set(SHAPE_CLUSTERED, 64, scale(50000), 1);
    for (size_t i = 0; i < LENGTH(schemes) * 4; i++) {
        struct trial trial = {"many", .set = &many, .scheme = schemes[i / 4], .k = 3, .segments = 1, .block_size = 128};
        trial.residence = (enum idx_residence)(i % 4);
        struct idx_index *index = open_trial(*state, &trial, IDX_ID_NONE);
        compare_batch(index, i % 4 < 2 ? 7 : 300, 3, threads[i % LENGTH(threads)], 5);
        idx_close(index);
        remove_all(path_in(*state, "trial.idx"));
    }
    free_set(&many);
}

static void test_no_queries(void **state) {
    size_t count = 77;
    struct idx_match match = {77, 7};
    (void)state;
    for (size_t i = 0; i < LENGTH(threads); i++) {
        assert_ok(look_up_many(index_of_set, queries, 0, 3, threads[i], &match, 1, &count, &failure));
        assert_ok(look_up_many(index_of_set, NULL, 0, 3, threads[i], NULL, 0, NULL, NULL));
    }
    assert_int_equal(count, 77);
    assert_int_equal(match.fingerprint, 77);
}

/* Without options, or with those of a program that knows fewer, the distance is k and there is one thread. */
static void test_default_options(void **state) {
    static size_t expected[MOST], counts[MOST];
    struct idx_lookup_options options = {offsetof(struct idx_lookup_options, threads), UINT_MAX, 0};
    (void)state;
    assert_ok(look_up_many(index_of_set, queries, MOST, 3, 1, NULL, 0, expected, &failure));
    assert_ok(idx_lookup_many(index_of_set, queries, MOST, NULL, NULL, 0, counts, &failure));
    assert_memory_equal(counts, expected, sizeof counts);
    memset(counts, 0xee, sizeof counts);
    assert_ok(idx_lookup_many(index_of_set, queries, MOST, &options, NULL, 0, counts, &failure));
    assert_memory_equal(counts, expected, sizeof counts);
    options.size = sizeof options;
    assert_status(IDX_INVALID_ARGUMENT,
                  idx_lookup_many(index_of_set, queries, MOST, &options, NULL, 0, counts, &failure));
    assert_string_equal(failure.sentence, "0 threads: the number must be 1 to 256");
}

/* The same query many times: each has its own matches. */
static void test_equal_queries(void **state) {
    uint64_t kept[LENGTH(queries)];
    (void)state;
    memcpy(kept, queries, sizeof kept);
    for (size_t i = 0; i < LENGTH(queries); i++) queries[i] = set.items[i % 2];
    compare_batch(index_of_set, 600, 3, 2, 20);
    memcpy(queries, kept, sizeof kept);
}

static void test_an_empty_index(void **state) {
    static const unsigned all_threads[] = {1, 2, 256};
    const char *path = path_in(*state, "empty");
    build_index(path, NULL, NULL, 0);
    struct idx_index *index = open_index(path, IDX_RESIDENCE_ALL);
    for (size_t i = 0; i < LENGTH(all_threads); i++) compare_batch(index, 300, 3, all_threads[i], 1);
    idx_close(index);
}

/* ---- Refusals ---- */

static enum idx_status ask(const struct idx_index *index, const uint64_t *asked, size_t count, unsigned distance,
                           unsigned thread_count) {
    static size_t counts[MOST];
    return look_up_many(index, asked, count, distance, thread_count, NULL, 0, counts, &failure);
}

static void test_arguments(void **state) {
    (void)state;
    assert_status(IDX_INVALID_ARGUMENT, ask(index_of_set, queries, 10, 3, 0));
    assert_string_equal(failure.sentence, "0 threads: the number must be 1 to 256");
    assert_status(IDX_INVALID_ARGUMENT, ask(index_of_set, queries, 10, 3, 257));
    assert_string_equal(failure.sentence, "257 threads: the number must be 1 to 256");
    assert_status(IDX_INVALID_ARGUMENT, ask(index_of_set, queries, 10, 3, UINT32_MAX));
    assert_status(IDX_INVALID_ARGUMENT, ask(index_of_set, NULL, 0, 3, 0));
    assert_ok(ask(index_of_set, queries, 10, 3, 256));
    assert_status(IDX_BAD_DISTANCE, ask(index_of_set, queries, 10, 4, 1));
    assert_non_null(strstr(failure.sentence, ": supports distances up to 3, not 4: "));
    assert_status(IDX_BAD_DISTANCE, ask(index_of_set, NULL, 0, 64, 2));
    assert_int_equal(look_up_many(index_of_set, NULL, 0, 64, 2, NULL, 0, NULL, NULL), IDX_BAD_DISTANCE);
}

/* One fingerprint of too many bits, wherever it stands. */
static void test_a_bad_fingerprint(void **state) {
    static const size_t places[] = {0, 1, 255, 256, 700, MOST - 1};
    uint64_t narrow[MOST], seed = 1;
    struct set items = make_set(SHAPE_UNIFORM, 33, 500, 1);
    struct idx_build_options options = options_for(33, 3, "4");
    build_index(path_in(*state, "narrow"), &options, items.items, items.count);
    struct idx_index *index = open_index(path_in(*state, "narrow"), IDX_RESIDENCE_DIRECTORY);
    for (size_t i = 0; i < MOST; i++) narrow[i] = make_query(&items, 4, &seed);
    for (size_t i = 0; i < LENGTH(places) * LENGTH(threads); i++) {
        size_t place = places[i / LENGTH(threads)];
        uint64_t kept = narrow[place];
        narrow[place] = UINT64_C(0x200000000);
        assert_status(IDX_INVALID_ARGUMENT, ask(index, narrow, MOST, 3, threads[i % LENGTH(threads)]));
        assert_string_equal(failure.sentence, "fingerprint 0000000200000000 has more than 33 bits");
        narrow[place] = kept;
        assert_ok(ask(index, narrow, MOST, 3, threads[i % LENGTH(threads)]));
    }
    idx_close(index);
    free_set(&items);
}

/* ---- Damage ---- */

#define SPREAD 20000

/* Fingerprints whose first table has them in order, and queries for some of them, but for one in the damaged part. */
static uint64_t spread(size_t i) { return (uint64_t)i << 48 | i; }

/* One bit of a page that one query alone needs. */
static void test_damage_that_one_query_meets(void **state) {
    struct idx_build_options options = options_for(64, 0, "@ffffffffffffffff");
    uint64_t items[SPREAD], asked[MOST];
    const char *path = path_in(*state, "spread"), *table = path_in(path, "000001/table-00.tbl");
    const uint8_t byte = 0x5a;
    options.id_type = IDX_ID_NONE;
    for (size_t i = 0; i < SPREAD; i++) items[i] = spread(i);
    for (size_t i = 0; i < MOST; i++) asked[i] = spread(i % (SPREAD / 2));
    build_index(path, &options, items, SPREAD);
    change_bytes(table, 4096 + 3, &byte, 1);
    for (size_t i = 0; i < LENGTH(threads) * 2; i++) {
        struct idx_index *index = open_index(path, i < 3 ? IDX_RESIDENCE_NONE : IDX_RESIDENCE_DISK);
        for (size_t query = 0; query < MOST; query++) asked[query] = spread(SPREAD - 1 - query);
        assert_ok(ask(index, asked, MOST, 0, threads[i % LENGTH(threads)]));
        asked[MOST / 2] = spread(0);
        assert_status(IDX_BAD_CHECKSUM, ask(index, asked, MOST, 0, threads[i % LENGTH(threads)]));
        assert_int_equal(failure.offset, 4096);
        assert_non_null(strstr(failure.file, "spread/000001/table-00.tbl"));
        idx_close(index);
    }
}

/* The block that a look-up of this fingerprint begins with. */
static uint64_t find_block(const char *index_path, uint64_t fingerprint) {
    struct idx_index *index = open_index(index_path, IDX_RESIDENCE_NONE);
    struct idxf_start start;
    assert_ok(idxi_table_find_block(&index->segments[0]->tables[0], fingerprint, &start, &failure));
    idx_close(index);
    return start.block;
}

/* Sound checksums, and a block that breaks a rule: its key is below the one before, or its list of chains is wrong. */
static void try_content_that_one_query_meets(const char *path, uint32_t block_size, const struct forged_block *forged) {
    struct idx_build_options options = options_for(64, 0, "@ffffffffffffffff");
    uint64_t items[SPREAD], asked[MOST];
    const char *table = path_in(path, "000001/table-00.tbl");
    options.id_type = IDX_ID_NONE;
    options.block_size = block_size;
    for (size_t i = 0; i < SPREAD; i++) items[i] = spread(i);
    build_index(path, &options, items, SPREAD);
    uint64_t damaged = spread(SPREAD / 4), block = find_block(path, damaged);
    assert_true(block > 0);
    forge_block(table, block, forged);
    for (size_t i = 0; i < LENGTH(threads) * 4; i++) {
        struct idx_index *index = open_index(path, (enum idx_residence)(i / LENGTH(threads)));
        for (size_t query = 0; query < MOST; query++) asked[query] = spread(SPREAD - 1 - query);
        assert_ok(ask(index, asked, MOST, 0, threads[i % LENGTH(threads)]));
        asked[MOST - 1] = damaged;
        assert_status(IDX_BAD_CONTENT, ask(index, asked, MOST, 0, threads[i % LENGTH(threads)]));
        assert_int_equal(failure.offset, 4096 + block * block_size);
        idx_close(index);
    }
}

static void test_content_that_one_query_meets(void **state) {
    static const uint64_t ones[] = {1, 1};
    const struct forged_block zero = {0, false, 0, {{0}}};
    const struct forged_block astray = {spread(SPREAD / 3), false, 2, {{ones, 2, 0, 0}, {ones, 2, 3, -150}}};
    try_content_that_one_query_meets(path_in(*state, "zero"), 64, &zero);
    try_content_that_one_query_meets(path_in(*state, "one chain"), 512, &zero);
    try_content_that_one_query_meets(path_in(*state, "zero, of several"), 1024, &zero);
    try_content_that_one_query_meets(path_in(*state, "astray"), 1024, &astray);
    try_content_that_one_query_meets(path_in(*state, "astray of four"), 4096, &astray);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_of_queries),
        cmocka_unit_test(test_capacities_and_distances),
        in_folder(test_numbers_of_probes),
        cmocka_unit_test(test_no_queries),
        cmocka_unit_test(test_default_options),
        cmocka_unit_test(test_equal_queries),
        in_folder(test_an_empty_index),
        cmocka_unit_test(test_arguments),
        in_folder(test_a_bad_fingerprint),
        in_folder(test_damage_that_one_query_meets),
        in_folder(test_content_that_one_query_meets),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
