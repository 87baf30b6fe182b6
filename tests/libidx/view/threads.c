/* threads.c: many threads on one index at once, opened afresh each round, so that they race for the first use of its
 * pages and of its document maps. What they find is compared with what one thread finds. For the thread sanitizer. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"
#include "tests/libidx/trial.h"

#define THREADS 8
#define QUERIES 200
#define ROOM 2000

static const char *path;
static uint64_t queries[QUERIES], answers[QUERIES];
static struct idx_match first_matches[QUERIES]; /* the nearest of each */
static size_t match_counts[QUERIES];

/* What the threads of a round share. cmocka's assertions belong to the main thread: they count what they find wrong. */
struct round {
    const struct idx_index *index;
    enum idx_residence residence;
    size_t (*work)(const struct round *round, size_t thread); /* returns the number of failures */
    atomic_size_t arrived;
    atomic_size_t failures;
};

/* ---- One thread's reading ---- */

static void mix(uint64_t *digest, uint64_t value) {
    *digest = (*digest ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    *digest ^= *digest >> 29;
}

static bool read_documents(struct idx_documents *cursor, uint64_t fingerprint, uint64_t *digest) {
    struct idx_document document;
    uint64_t count;
    bool found = true;
    if (idx_documents_find(cursor, fingerprint, &count, NULL) != IDX_OK) return false;
    mix(digest, count);
    while (found) {
        if (idx_documents_next(cursor, &document, &found, NULL) != IDX_OK) return false;
        for (size_t i = 0; found && i < document.id_length; i++) mix(digest, ((const uint8_t *)document.id)[i]);
    }
    return true;
}

static bool answer(const struct idx_index *index, struct idx_documents *cursor, uint64_t query, uint64_t *digest) {
    struct idx_match matches[ROOM];
    size_t count;
    bool exists;
    *digest = 0;
    if (idx_lookup(index, query, 3, matches, ROOM, &count, NULL) != IDX_OK || count > ROOM) return false;
    if (idx_exists(index, query, 3, &exists, NULL) != IDX_OK || exists != (count > 0)) return false;
    for (size_t i = 0; i < count; i++) {
        mix(digest, matches[i].fingerprint);
        if (!read_documents(cursor, matches[i].fingerprint, digest)) return false;
    }
    return true;
}

static bool count_visit(void *context, const struct idx_match *match) {
    (void)match;
    ++*(size_t *)context;
    return true;
}

/* Document 7 of the first segment, and that of the second where it has one; IDs that there are not. */
static bool find_ids(const struct idx_index *index) {
    size_t found, none;
    return idx_find_id(index, &(struct idx_item){.id = "7", .id_length = 1}, NULL, 0, &found, NULL) == IDX_OK &&
           found > 0 && found <= 2 &&
           idx_find_id(index, &(struct idx_item){.id = "none", .id_length = 4}, NULL, 0, &none, NULL) == IDX_OK &&
           none == 0;
}

/* Functions of an open index beside look-ups. */
static bool ask_the_rest(const struct idx_index *index) {
    struct idx_properties properties;
    struct idx_table_properties table;
    size_t count = 0;
    bool replaced;
    if (!find_ids(index)) return false;
    idx_get_properties(index, &properties);
    return idx_get_table_properties(index, 1, 3, &table, NULL) == IDX_OK &&
           idx_replaced(index, &replaced, NULL) == IDX_OK && !replaced &&
           idx_visit_all(index, count_visit, &count, NULL) == IDX_OK && count > 0 && count <= properties.fingerprints;
}

/* All queries, each thread from another one on. */
static size_t read_all(const struct idx_index *index, size_t thread) {
    struct idx_documents *cursor;
    size_t failures = 0;
    if (thread % 2 == 1) failures += !ask_the_rest(index);
    if (idx_documents_open(&cursor, index, NULL) != IDX_OK) return 1;
    for (size_t i = 0; i < QUERIES; i++) {
        size_t query = (i + thread * (QUERIES / THREADS)) % QUERIES;
        uint64_t digest;
        failures += !answer(index, cursor, queries[query], &digest) || digest != answers[query];
    }
    idx_documents_close(cursor);
    return failures;
}

/* ---- Rounds ---- */

static size_t work_on_one_index(const struct round *round, size_t thread) { return read_all(round->index, thread); }

/* The shortest way to the first use of the document maps, and of the maps from IDs. */
static size_t open_documents(const struct round *round, size_t thread) {
    struct idx_documents *cursor;
    if (thread % 2 == 1) return !find_ids(round->index);
    if (idx_documents_open(&cursor, round->index, NULL) != IDX_OK) return 1;
    idx_documents_close(cursor);
    return 0;
}

/* Batches side by side, each of several threads, whose shares are larger than one's. */
static size_t work_in_batches(const struct round *round, size_t thread) {
    uint64_t many[3 * QUERIES];
    struct idx_match matches[3 * QUERIES];
    size_t counts[3 * QUERIES], failures = 0;
    for (size_t i = 0; i < 3 * QUERIES; i++) many[i] = queries[(i + thread) % QUERIES];
    if (look_up_many(round->index, many, 3 * QUERIES, 3, (unsigned)thread % 3 + 1, matches, 1, counts, NULL) != IDX_OK)
        return 1;
    for (size_t i = 0; i < 3 * QUERIES; i++) {
        size_t query = (i + thread) % QUERIES;
        bool same = counts[i] == match_counts[query] &&
                    (counts[i] == 0 || (matches[i].fingerprint == first_matches[query].fingerprint &&
                                        matches[i].distance == first_matches[query].distance));
        failures += !same;
    }
    return failures;
}

static size_t work_on_an_own_index(const struct round *round, size_t thread) {
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    struct idx_index *own;
    options.residence = round->residence;
    if (thread == 0) return idx_verify(path, NULL, NULL, NULL) != IDX_OK;
    if (idx_open(&own, path, &options, NULL) != IDX_OK) return 1;
    size_t failures = read_all(own, thread);
    idx_close(own);
    return failures;
}

/* All threads begin at once: they wait for each other without sleeping. */
static void *run_thread(void *context) {
    struct round *round = context;
    size_t thread = atomic_fetch_add(&round->arrived, 1);
    while (round->arrived < THREADS) sched_yield();
    round->failures += round->work(round, thread);
    return NULL;
}

static void play(struct round *round) {
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, run_thread, round), 0);
    for (size_t i = 0; i < THREADS; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(round->failures, 0);
}

/* ---- Tests ---- */

static int set_up(void **state) {
    uint64_t seed = 9;
    struct idx_documents *cursor;
    if (make_folder(state) != 0) return -1;
    struct set set = make_set(SHAPE_CLUSTERED, 64, 3000, 1);
    struct trial trial = {"clustered", .set = &set, .scheme = "10", .k = 3, .segments = 2, .block_size = 128};
    struct idx_index *index = open_trial(*state, &trial, IDX_ID_TEXT);
    path = path_in(*state, "trial.idx");
    assert_ok(idx_documents_open(&cursor, index, &failure));
    for (size_t i = 0; i < QUERIES; i++) {
        queries[i] = make_query(&set, 4, &seed);
        assert_true(answer(index, cursor, queries[i], &answers[i]));
        assert_ok(idx_lookup(index, queries[i], 3, &first_matches[i], 1, &match_counts[i], &failure));
    }
    idx_documents_close(cursor);
    idx_close(index);
    free_set(&set);
    return 0;
}

/* `count` rounds, each on an index opened afresh. */
static void play_rounds(size_t count, size_t (*work)(const struct round *, size_t)) {
    for (size_t i = 0; i < count; i++) {
        struct round round = {.residence = (enum idx_residence)(i % 4), .work = work};
        struct idx_index *index = open_index(path, round.residence);
        round.index = index;
        play(&round);
        idx_close(index);
    }
}

static void test_one_index(void **state) {
    (void)state;
    play_rounds(4, work_on_one_index);
}

static void test_batches(void **state) {
    (void)state;
    play_rounds(4, work_in_batches);
}

static void test_first_use_of_documents(void **state) {
    (void)state;
    play_rounds(100, open_documents);
}

static void test_an_index_each(void **state) {
    (void)state;
    play_rounds(4, work_on_an_own_index);
}

static void test_more_rounds(void **state) {
    (void)state;
    play_rounds(41, work_on_one_index);
    play_rounds(56, work_in_batches);
    play_rounds(900, open_documents);
    play_rounds(26, work_on_an_own_index);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_index),
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_first_use_of_documents),
        cmocka_unit_test(test_an_index_each),
        cmocka_unit_test(test_more_rounds),
    };
    return cmocka_run_group_tests(tests, set_up, remove_folder);
}
