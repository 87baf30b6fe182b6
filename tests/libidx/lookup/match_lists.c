/* match_lists.c: tests of idx_list_matches: it lists what idx_lookup finds of each query, however much that is,
 * whatever the threads and the limits, and refuses what that refuses. */
#include <stdlib.h>
#include <string.h>

#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"
#include "tests/libidx/trial.h"

#define MOST 1300
#define ROOM 1000

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

static enum idx_status list(size_t count, const struct idx_match_lists_options *options,
                            struct idx_match_lists *lists) {
    return idx_list_matches(index_of_set, queries, count, options, lists, &failure);
}

/* ---- The same as one by one ---- */

/* Compares the list of one query with what a look-up finds. Returns how many matches it has. */
static size_t compare_query(const struct idx_match_lists *lists, size_t query, unsigned distance, uint64_t limit) {
    struct idx_match expected[ROOM];
    size_t count;
    assert_ok(idx_lookup(index_of_set, queries[query], distance, expected, ROOM, &count, &failure));
    assert_in_range(count, 0, ROOM);
    assert_int_equal(lists->counts[query], count);
    size_t listed = count < limit ? count : (size_t)limit;
    assert_int_equal(lists->offsets[query + 1] - lists->offsets[query], listed);
    for (size_t i = 0; i < listed; i++) {
        const struct idx_match *match = &lists->matches[(size_t)lists->offsets[query] + i];
        assert_true(match->fingerprint == expected[i].fingerprint);
        assert_int_equal(match->distance, expected[i].distance);
    }
    return count;
}

static void compare(size_t count, unsigned distance, unsigned thread_count, uint64_t limit) {
    struct idx_match_lists_options options = IDX_MATCH_LISTS_OPTIONS_INIT;
    struct idx_match_lists lists;
    size_t most = 0;
    options.distance = distance;
    options.threads = thread_count;
    options.max_matches = limit;
    assert_ok(list(count, &options, &lists));
    assert_int_equal(lists.offsets[0], 0);
    for (size_t i = 0; i < count; i++) {
        size_t found = compare_query(&lists, i, distance, limit);
        if (found > most) most = found;
    }
    if (count == MOST && distance == 3) assert_in_range(most, 41, ROOM); /* more than the limits below */
    idx_match_lists_close(&lists);
    assert_null(lists.offsets);
    assert_null(lists.counts);
    assert_null(lists.matches);
}

static void test_numbers_of_queries(void **state) {
    static const size_t counts[] = {0, 1, 2, 255, 256, 257, 512, MOST};
    (void)state;
    for (size_t i = 0; i < LENGTH(counts) * LENGTH(threads); i++)
        compare(counts[i / LENGTH(threads)], 3, threads[i % LENGTH(threads)], UINT64_MAX);
}

/* Limits below what a share of queries finds, so that it drops matches while it searches. */
static void test_limits_and_distances(void **state) {
    static const uint64_t limits[] = {0, 1, 3, 40, ROOM};
    (void)state;
    for (size_t i = 0; i < LENGTH(limits) * 4; i++)
        compare(MOST, (unsigned)i % 4, threads[i % LENGTH(threads)], limits[i / 4]);
}

static void test_default_options(void **state) {
    struct idx_match_lists lists;
    (void)state;
    assert_ok(list(300, NULL, &lists));
    for (size_t i = 0; i < 300; i++) compare_query(&lists, i, 3, UINT64_MAX);
    idx_match_lists_close(&lists);
    idx_match_lists_close(NULL);
}

/* ---- Bounds, cancelling, and what is refused ---- */

/* The bytes that the lists take are the least that may be allowed. */
static void test_bytes(void **state) {
    struct idx_match_lists_options options = IDX_MATCH_LISTS_OPTIONS_INIT;
    struct idx_match_lists lists;
    (void)state;
    for (size_t i = 0; i < 2 * LENGTH(threads); i++) {
        options.threads = threads[i % LENGTH(threads)];
        options.max_matches = i < LENGTH(threads) ? 2 : UINT64_MAX;
        options.max_bytes = UINT64_MAX;
        assert_ok(list(MOST, &options, &lists));
        options.max_bytes = (2 * MOST + 1) * 8 + (uint64_t)lists.offsets[MOST] * sizeof(struct idx_match);
        idx_match_lists_close(&lists);
        assert_ok(list(MOST, &options, &lists));
        idx_match_lists_close(&lists);
        options.max_bytes--;
        assert_status(IDX_LIMIT, list(MOST, &options, &lists));
        assert_non_null(strstr(failure.sentence, "the matches of 1300 fingerprints take more than the "));
        assert_non_null(strstr(failure.file, "trial.idx"));
    }
}

struct watcher {
    uint64_t done, total;
    bool cancels;
};

static bool watch(void *context, const struct idx_progress *progress) {
    struct watcher *watcher = context;
    assert_int_equal(progress->phase, IDX_PHASE_COMPARING);
    watcher->done = progress->done;
    watcher->total = progress->total;
    return !watcher->cancels;
}

static void test_progress(void **state) {
    struct idx_match_lists_options options = IDX_MATCH_LISTS_OPTIONS_INIT;
    struct idx_match_lists lists;
    struct watcher watcher = {0, 0, false};
    (void)state;
    options.progress = watch;
    options.context = &watcher;
    assert_ok(list(MOST, &options, &lists));
    idx_match_lists_close(&lists);
    assert_int_equal(watcher.total, MOST);
    watcher.cancels = true;
    assert_status(IDX_CANCELLED, list(MOST, &options, &lists));
}

static void test_arguments(void **state) {
    struct idx_match_lists_options options = IDX_MATCH_LISTS_OPTIONS_INIT;
    struct idx_match_lists lists;
    (void)state;
    options.threads = 0;
    assert_status(IDX_INVALID_ARGUMENT, list(MOST, &options, &lists));
    assert_string_equal(failure.sentence, "0 threads: the number must be 1 to 256");
    options.threads = 2;
    options.distance = 4;
    assert_status(IDX_BAD_DISTANCE, list(0, &options, &lists));
}

/* One fingerprint of too many bits, in the first share or the last one. */
static void test_a_bad_fingerprint(void **state) {
    struct idx_build_options build = options_for(33, 3, "4");
    struct idx_match_lists_options options = IDX_MATCH_LISTS_OPTIONS_INIT;
    struct idx_match_lists lists;
    uint64_t narrow[MOST] = {0};
    build_index(path_in(*state, "narrow"), &build, narrow, 1);
    struct idx_index *index = open_index(path_in(*state, "narrow"), IDX_RESIDENCE_DIRECTORY);
    for (size_t i = 0; i < LENGTH(threads) * 2; i++) {
        options.threads = threads[i / 2];
        narrow[i % 2 == 0 ? 0 : MOST - 1] = UINT64_C(0x200000000);
        assert_status(IDX_INVALID_ARGUMENT, idx_list_matches(index, narrow, MOST, &options, &lists, &failure));
        assert_string_equal(failure.sentence, "fingerprint 0000000200000000 has more than 33 bits");
        narrow[0] = narrow[MOST - 1] = 0;
    }
    idx_close(index);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_of_queries), cmocka_unit_test(test_limits_and_distances),
        cmocka_unit_test(test_default_options),    cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_progress),           cmocka_unit_test(test_arguments),
        in_folder(test_a_bad_fingerprint),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
