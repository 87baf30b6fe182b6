/* batch.c: tests of idx_batch and idx_stream: every way gives what a linear scan gives, in order, whatever the data,
 * the scheme, the distance, the number of threads and the memory. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"
#include "tests/libidx/trial.h"

static const unsigned threads[] = {1, 2, 7};
static const char *const schemes[] = {"4",     "10",
                                      "2:1:1", "4:1/4:1",
                                      "1:1:3", "auto",
                                      "20",    "@ffffff0000000000:1,@000000fffff00000,@00000000000fffff",
                                      "3:1:1", "@ffff000000000000:3,@0000ffffffffffff:3"};

/* ---- What is expected ---- */

struct answer {
    uint64_t query, fingerprint;
    unsigned distance;
};

struct answers {
    struct answer *items;
    size_t count, capacity;
    size_t calls, stop_after; /* calls; 0: never */
};

static void add_answer(struct answers *answers, size_t query, const struct idx_match *match) {
    if (answers->count == answers->capacity) {
        answers->capacity = answers->capacity * 2 + 1000;
        answers->items = realloc(answers->items, answers->capacity * sizeof *answers->items);
        assert_non_null(answers->items);
    }
    answers->items[answers->count++] = (struct answer){query, match->fingerprint, match->distance};
}

static bool collect(void *context, size_t query, const struct idx_match *matches, size_t count) {
    struct answers *answers = context;
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++) add_answer(answers, query, &matches[i]);
    return ++answers->calls != answers->stop_after;
}

static int compare_fingerprints(const void *a, const void *b) {
    const struct idx_match *x = a, *y = b;
    return (x->fingerprint > y->fingerprint) - (x->fingerprint < y->fingerprint);
}

static void scan_all(const struct set *set, const uint64_t *queries, size_t count, unsigned distance, bool by_distance,
                     struct answers *answers) {
    struct idx_match *matches = malloc((set->distinct_count + 1) * sizeof *matches);
    assert_non_null(matches);
    for (size_t i = 0; i < count; i++) {
        size_t found = scan(set, queries[i], distance, matches);
        if (!by_distance) qsort(matches, found, sizeof *matches, compare_fingerprints);
        for (size_t j = 0; j < found; j++) add_answer(answers, i, &matches[j]);
    }
    free(matches);
}

static void compare_answers(const struct answers *found, const struct answers *expected, const char *what) {
    if (found->count != expected->count) fail_msg("%s: %zu matches, not %zu", what, found->count, expected->count);
    for (size_t i = 0; i < found->count; i++) {
        const struct answer *a = &found->items[i], *b = &expected->items[i];
        if (a->query != b->query || a->fingerprint != b->fingerprint || a->distance != b->distance)
            fail_msg("%s: match %zu differs", what, i);
    }
}

/* ---- Batches ---- */

static void check_batch(const struct idx_index *index, const struct idx_batch_options *options, const uint64_t *queries,
                        size_t count, const struct answers *expected, const char *what) {
    static const char *const names[] = {"auto", "probe", "sweep", "stream"};
    char where[200];
    struct answers found = {0};
    snprintf(where, sizeof where, "%s, %s, %u threads, distance %u", what, names[options->method], options->threads,
             options->distance);
    assert_ok(idx_batch(index, queries, count, options, collect, &found, &failure));
    compare_answers(&found, expected, where);
    free(found.items);
}

static void check_ways(const struct idx_index *index, const struct set *set, const uint64_t *queries, size_t count,
                       unsigned distance, const char *what) {
    struct idx_batch_options options = IDX_BATCH_OPTIONS_INIT;
    struct answers expected = {0};
    struct idx_properties properties;
    idx_get_properties(index, &properties);
    scan_all(set, queries, count, distance, true, &expected);
    options.distance = distance;
    for (size_t i = 0; i < 4 * LENGTH(threads); i++) {
        options.method = (enum idx_batch_method)(i % 4);
        bool by_tables = options.method == IDX_BATCH_PROBE || options.method == IDX_BATCH_SWEEP;
        if (by_tables && distance > properties.k) continue;
        options.threads = threads[i / 4];
        options.memory_bytes = i % 2 == 0 ? IDX_MIN_MEMORY_BYTES : (uint64_t)64 << 20;
        check_batch(index, &options, queries, count, &expected, what);
    }
    free(expected.items);
}

static uint64_t *make_queries(const struct set *set, size_t count, uint64_t seed) {
    uint64_t *queries = malloc((count + 1) * sizeof *queries);
    assert_non_null(queries);
    for (size_t i = 0; i < count; i++) queries[i] = make_query(set, 4, &seed);
    return queries;
}

static void check_index(const char *folder, const struct set *set, const char *scheme, unsigned k, size_t segments,
                        size_t query_count) {
    struct trial trial = {"batch", .set = set, .scheme = scheme, .k = k, .segments = segments, .block_size = 64};
    trial.residence = (enum idx_residence)(k % 4);
    struct idx_index *index = open_trial(folder, &trial, IDX_ID_NONE);
    uint64_t *queries = make_queries(set, query_count, 5);
    for (unsigned distance = 0; distance <= k; distance++)
        check_ways(index, set, queries, query_count, distance, scheme);
    check_ways(index, set, queries, query_count, k + 3, scheme);
    check_ways(index, set, queries, query_count, IDX_MAX_K, scheme);
    free(queries);
    idx_close(index);
    remove_all(path_in(folder, "trial.idx"));
}

static void test_schemes(void **state) {
    struct set set = make_set(SHAPE_CLUSTERED, 64, scale(3000), 3);
    for (size_t i = 0; i < LENGTH(schemes); i++) {
        int k = largest_k(schemes[i], 64);
        check_index(*state, &set, schemes[i], k > 3 || k < 0 ? 3 : (unsigned)k, 1, 300);
    }
    free_set(&set);
}

static void test_shapes(void **state) {
    for (size_t shape = 0; shape < SHAPE_COUNT; shape++) {
        struct set set = make_set((enum shape)shape, 64, scale(2000), 7);
        check_index(*state, &set, shape % 2 == 0 ? "10" : "2:1:1", 3, 1, 200);
        free_set(&set);
    }
}

static void test_bits(void **state) {
    static const unsigned bits[] = {1, 2, 17, 32, 33, 63};
    for (size_t i = 0; i < LENGTH(bits); i++) {
        struct set set = make_set(SHAPE_UNIFORM, bits[i], scale(1000), 7);
        check_index(*state, &set, "auto", bits[i] > 3 ? 3 : bits[i] - 1, 1, 200);
        free_set(&set);
    }
}

/* A fingerprint that several segments have is found once. */
static void test_segments(void **state) {
    struct set set = make_set(SHAPE_CLUSTERED, 64, scale(3000), 9);
    check_index(*state, &set, "2:1:1", 3, 3, 300);
    check_index(*state, &set, "4", 3, 2, 300);
    free_set(&set);
}

/* Tables of many ranges, few and many queries: so that ranges are decoded, and others probed. */
static void test_large_tables(void **state) {
    static const char *const of_large[] = {"10", "2:1:1", "1:1:3"};
    static const size_t counts[] = {1, 40, 3000};
    struct set set = make_set(SHAPE_UNIFORM, 64, scale(600000), 11);
    for (size_t i = 0; i < LENGTH(of_large); i++) {
        struct trial trial = {"large", .set = &set, .scheme = of_large[i], .k = 3, .segments = 1, .block_size = 64};
        struct idx_index *index = open_trial(*state, &trial, IDX_ID_NONE);
        uint64_t *queries = make_queries(&set, 3000, 5);
        for (size_t j = 0; j < (i == 2 ? 2 : LENGTH(counts)); j++) {
            struct idx_batch_options options = IDX_BATCH_OPTIONS_INIT;
            struct answers expected = {0};
            options.method = IDX_BATCH_PROBE; /* which the tests above compare with scans */
            assert_ok(idx_batch(index, queries, counts[j], &options, collect, &expected, &failure));
            for (size_t turn = 0; turn < 4; turn++) {
                options.method = turn % 2 == 0 ? IDX_BATCH_SWEEP : IDX_BATCH_STREAM;
                options.threads = turn < 2 ? 1 : 3;
                check_batch(index, &options, queries, counts[j], &expected, of_large[i]);
            }
            free(expected.items);
        }
        free(queries);
        idx_close(index);
        remove_all(path_in(*state, "trial.idx"));
    }
    free_set(&set);
}

/* So many queries that differ in their last bits alone, that tables with others in front sort them as one bucket. */
static void test_alike_queries(void **state) {
    enum { COUNT = 9000, ITEMS = 1000 };
    static uint64_t queries[COUNT];
    uint64_t items[ITEMS], seed = 23;
    for (size_t i = 0; i < COUNT; i++) queries[i] = UINT64_C(0x3456789abcd00000) | next_random(&seed) >> 44;
    for (size_t i = 0; i < ITEMS; i++) items[i] = flip_bits(queries[i], 64, (unsigned)i % 5, &seed);
    struct set set = set_of(items, ITEMS, 64);
    struct trial trial = {"alike", .set = &set, .scheme = "4", .k = 3, .segments = 1, .block_size = 64};
    struct idx_index *index = open_trial(*state, &trial, IDX_ID_NONE);
    check_ways(index, &set, queries, COUNT, 3, "alike");
    idx_close(index);
    free_set(&set);
}

/* More matches than memory holds, by far: they go through files, which have no names. */
static void test_many_matches(void **state) {
    struct set set = make_ball(UINT64_C(0x123456789abcdef0), 64, 2);
    struct idx_batch_options options = IDX_BATCH_OPTIONS_INIT;
    struct trial trial = {"ball", .set = &set, .scheme = "4", .k = 3, .segments = 1, .block_size = 64};
    struct idx_index *index = open_trial(*state, &trial, IDX_ID_NONE);
    struct answers expected = {0};
    const char *folder = *state;
    int entries = count_entries(folder);
    size_t count = set.distinct_count < 500 ? set.distinct_count : 500;
    scan_all(&set, set.distinct, count, 3, true, &expected);
    assert_true(expected.count > 50000);
    options.memory_bytes = IDX_MIN_MEMORY_BYTES;
    options.temporary_folder = folder;
    for (size_t i = 0; i < 6; i++) {
        options.method = (enum idx_batch_method)(1 + i % 3);
        options.threads = threads[i / 3];
        check_batch(index, &options, set.distinct, count, &expected, "a ball");
        assert_int_equal(count_entries(folder), entries);
    }
    free(expected.items);
    idx_close(index);
    free_set(&set);
}

static void test_stopping(void **state) {
    struct set set = make_set(SHAPE_CLUSTERED, 64, 2000, 3);
    struct trial trial = {"stop", .set = &set, .scheme = "4", .k = 3, .segments = 1, .block_size = 64};
    struct idx_index *index = open_trial(*state, &trial, IDX_ID_NONE);
    for (size_t i = 0; i < 3; i++) {
        struct idx_batch_options options = IDX_BATCH_OPTIONS_INIT;
        struct answers found = {.stop_after = 5};
        options.method = (enum idx_batch_method)(1 + i);
        assert_ok(idx_batch(index, set.items, 500, &options, collect, &found, &failure));
        assert_int_equal(found.calls, 5);
        assert_ok(idx_batch(index, set.items, 0, &options, collect, &found, &failure));
        assert_ok(idx_batch(index, NULL, 0, &options, collect, &found, &failure));
        assert_int_equal(found.calls, 5);
        free(found.items);
    }
    idx_close(index);
    free_set(&set);
}

/* ---- Cancelling, refusals, damage ---- */

struct cancelling {
    enum idx_phase phase;
    size_t seen;
};

static bool cancel_in_phase(void *context, const struct idx_progress *progress) {
    struct cancelling *cancelling = context;
    cancelling->seen++;
    return progress->phase != cancelling->phase;
}

static void test_cancelling(void **state) {
    struct set set = make_set(SHAPE_CLUSTERED, 64, 2000, 3);
    struct trial trial = {"cancel", .set = &set, .scheme = "4", .k = 3, .segments = 1, .block_size = 64};
    struct idx_index *index = open_trial(*state, &trial, IDX_ID_NONE);
    for (size_t i = 0; i < 6; i++) {
        struct idx_batch_options options = IDX_BATCH_OPTIONS_INIT;
        struct cancelling cancelling = {IDX_PHASE_COMPARING, 0};
        struct answers found = {0};
        options.method = (enum idx_batch_method)(1 + i % 3);
        options.threads = threads[i / 3];
        options.progress = cancel_in_phase;
        options.context = &cancelling;
        assert_status(IDX_CANCELLED, idx_batch(index, set.items, 500, &options, collect, &found, &failure));
        assert_string_equal(failure.sentence, "cancelled: the results are incomplete");
        assert_int_equal(found.calls, 0);
        assert_int_equal(cancelling.seen, 1);
    }
    idx_close(index);
    free_set(&set);
}

static enum idx_status ask(const struct idx_index *index, const struct idx_batch_options *options, uint64_t query) {
    struct answers found = {0};
    enum idx_status status = idx_batch(index, &query, 1, options, collect, &found, &failure);
    free(found.items);
    return status;
}

static void test_refusals(void **state) {
    struct set set = make_set(SHAPE_UNIFORM, 33, 500, 3);
    struct idx_build_options build = options_for(33, 2, "4");
    build_index(path_in(*state, "narrow"), &build, set.items, set.count);
    struct idx_index *index = open_index(path_in(*state, "narrow"), IDX_RESIDENCE_DIRECTORY);
    struct idx_batch_options options = IDX_BATCH_OPTIONS_INIT;
    assert_ok(ask(index, NULL, 1));
    assert_ok(ask(index, &options, 1));
    assert_status(IDX_INVALID_ARGUMENT, ask(index, &options, UINT64_C(0x200000000)));
    assert_string_equal(failure.sentence, "fingerprint 0000000200000000 has more than 33 bits");
    options.distance = 3;
    options.method = IDX_BATCH_PROBE;
    assert_status(IDX_BAD_DISTANCE, ask(index, &options, 1));
    options.method = IDX_BATCH_SWEEP;
    assert_status(IDX_BAD_DISTANCE, ask(index, &options, 1));
    options.distance = IDX_MAX_K + 1;
    options.method = IDX_BATCH_AUTO;
    assert_status(IDX_BAD_DISTANCE, ask(index, &options, 1));
    options = (struct idx_batch_options)IDX_BATCH_OPTIONS_INIT;
    options.threads = 0;
    assert_status(IDX_INVALID_ARGUMENT, ask(index, &options, 1));
    options.threads = 257;
    assert_status(IDX_INVALID_ARGUMENT, ask(index, &options, 1));
    options.threads = 1;
    options.method = (enum idx_batch_method)4;
    assert_status(IDX_INVALID_ARGUMENT, ask(index, &options, 1));
    options.method = IDX_BATCH_AUTO;
    options.memory_bytes = IDX_MIN_MEMORY_BYTES - 1;
    assert_status(IDX_INVALID_ARGUMENT, ask(index, &options, 1));
    options.memory_bytes = 0;
    options.temporary_folder = path_in(*state, "nowhere");
    assert_status(IDX_NOT_FOUND, ask(index, &options, 1));
    idx_close(index);
    free_set(&set);
}

/* A bit of a block turned, in all tables. */
static void test_damage(void **state) {
    struct set set = make_set(SHAPE_UNIFORM, 64, 20000, 3);
    struct idx_build_options build = options_for(64, 3, "2:1:1");
    const char *path = path_in(*state, "damaged");
    build.id_type = IDX_ID_NONE;
    build_index(path, &build, set.items, set.count);
    for (unsigned table = 0; table < 2; table++) {
        const char *file = path_in(path, "000001/table-%02u.tbl", table);
        size_t size;
        uint8_t *bytes = read_file(file, &size);
        bytes[4096 + 20 * 64 + 30] ^= 1;
        write_file(file, bytes, size);
        free(bytes);
    }
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    for (size_t i = 0; i < 6; i++) {
        struct idx_batch_options options = IDX_BATCH_OPTIONS_INIT;
        struct answers found = {0};
        options.method = (enum idx_batch_method)(1 + i % 3);
        options.threads = threads[i / 3];
        assert_status(IDX_BAD_CHECKSUM, idx_batch(index, set.items, set.count, &options, collect, &found, &failure));
        assert_int_equal(failure.offset, 4096);
        assert_int_equal(found.calls, 0);
    }
    idx_close(index);
    free_set(&set);
}

/* ---- Streams ---- */

static void check_stream(const struct set *set, const uint64_t *queries, size_t count, unsigned distance,
                         unsigned thread_count, size_t step) {
    struct idx_batch_options options = IDX_BATCH_OPTIONS_INIT;
    struct answers expected = {0}, found = {0};
    struct idx_stream *stream;
    options.distance = distance;
    options.threads = thread_count;
    scan_all(set, queries, count, distance, false, &expected);
    assert_ok(idx_stream_open(&stream, queries, count, set->bits, &options, &failure));
    for (size_t at = 0; at < set->count; at += step)
        assert_ok(idx_stream_add(stream, set->items + at, set->count - at < step ? set->count - at : step, &failure));
    assert_ok(idx_stream_finish(stream, collect, &found, &failure));
    idx_stream_close(stream);
    compare_answers(&found, &expected, "a stream");
    free(expected.items);
    free(found.items);
}

static void test_streams(void **state) {
    (void)state;
    for (size_t shape = 0; shape < SHAPE_COUNT; shape++) {
        struct set set = make_set((enum shape)shape, 64, scale(1000), 13);
        uint64_t *queries = make_queries(&set, 600, 5);
        for (unsigned distance = 0; distance <= IDX_MAX_K; distance += shape == SHAPE_UNIFORM ? 1 : 3)
            check_stream(&set, queries, 600, distance, threads[distance % 3], 350);
        check_stream(&set, queries, 1, 3, 2, set.count + 1);
        check_stream(&set, queries, 0, 3, 1, set.count + 1);
        free(queries);
        free_set(&set);
    }
}

static void check_streams_of_few_bits(size_t count, uint64_t seed) {
    static const unsigned bits[] = {1, 2, 8, 17, 31, 32, 33, 63};
    for (size_t i = 0; i < LENGTH(bits); i++) {
        struct set set = make_set(SHAPE_UNIFORM, bits[i], 500, 13);
        uint64_t *queries = make_queries(&set, count, seed);
        for (unsigned distance = 0; distance <= IDX_MAX_K; distance++)
            check_stream(&set, queries, count, distance, 1, 100000);
        free(queries);
        free_set(&set);
    }
}

static void test_streams_of_few_bits(void **state) {
    (void)state;
    check_streams_of_few_bits(50, 5);
}

static void test_more_streams_of_few_bits(void **state) {
    (void)state;
    check_streams_of_few_bits(400, 6);
}

/* As many queries that tables have several parts. */
static void test_streams_of_many_queries(void **state) {
    struct set set = make_set(SHAPE_CLUSTERED, 64, 60, 13);
    size_t count = scale(300000);
    uint64_t *queries = make_queries(&set, count, 5);
    (void)state;
    for (unsigned distance = 0; distance <= 6; distance += 3) check_stream(&set, queries, count, distance, 2, 25);
    free(queries);
    free_set(&set);
}

static bool cancel_stream(void *context, const struct idx_progress *progress) {
    (void)progress;
    return *(const bool *)context;
}

static void *cancel_on_thread(void *stream) {
    const struct timespec pause = {.tv_nsec = 120000000}; /* progress is reported ten times a second */
    const uint64_t fingerprint = 1;
    nanosleep(&pause, NULL);
    enum idx_status status = idx_stream_add(stream, &fingerprint, 1, &failure);
    if (status == IDX_OK) status = idx_stream_finish(stream, collect, NULL, &failure);
    return status == IDX_CANCELLED ? stream : NULL;
}

/* A stream that is used by another thread than the one that opened it reports progress, and can be cancelled. */
static void test_stream_of_another_thread(void **state) {
    struct idx_batch_options options = IDX_BATCH_OPTIONS_INIT;
    const uint64_t query = 5;
    bool goes_on = true;
    struct idx_stream *stream;
    pthread_t thread;
    void *cancelled;
    (void)state;
    options.distance = 3;
    options.progress = cancel_stream;
    options.context = &goes_on;
    assert_ok(idx_stream_open(&stream, &query, 1, 64, &options, &failure));
    goes_on = false;
    assert_int_equal(pthread_create(&thread, NULL, cancel_on_thread, stream), 0);
    assert_int_equal(pthread_join(thread, &cancelled), 0);
    assert_ptr_equal(cancelled, stream);
    idx_stream_close(stream);
}

static void test_stream_refusals(void **state) {
    struct idx_batch_options options = IDX_BATCH_OPTIONS_INIT;
    struct idx_stream *stream;
    uint64_t query = 5, wide = 1 << 9;
    (void)state;
    options.distance = IDX_MAX_K + 1;
    assert_status(IDX_INVALID_ARGUMENT, idx_stream_open(&stream, &query, 1, 64, &options, &failure));
    options.distance = 2;
    assert_status(IDX_INVALID_ARGUMENT, idx_stream_open(&stream, &query, 1, 0, &options, &failure));
    assert_status(IDX_INVALID_ARGUMENT, idx_stream_open(&stream, &query, 1, 65, &options, &failure));
    assert_status(IDX_INVALID_ARGUMENT, idx_stream_open(&stream, &query, 1, 2, &options, &failure));
    options.method = IDX_BATCH_SWEEP;
    assert_status(IDX_INVALID_ARGUMENT, idx_stream_open(&stream, &query, 1, 9, &options, &failure));
    options.method = IDX_BATCH_STREAM;
    assert_ok(idx_stream_open(&stream, &query, 1, 9, &options, &failure));
    assert_status(IDX_INVALID_ARGUMENT, idx_stream_add(stream, &wide, 1, &failure));
    assert_string_equal(failure.sentence, "fingerprint 0000000000000200 has more than 9 bits");
    idx_stream_close(stream);
    idx_stream_close(NULL);
}

/* ---- Parts ---- */

static bool gather(void *context, const uint64_t *fingerprints, size_t count) {
    struct answers *answers = context;
    for (size_t i = 0; i < count; i++) {
        struct idx_match match = {fingerprints[i], 0};
        add_answer(answers, 0, &match);
    }
    return true;
}

static bool gather_one(void *context, const struct idx_match *match) {
    add_answer(context, 0, match);
    return true;
}

static void test_parts(void **state) {
    static const uint32_t parts[] = {1, 2, 7, 100, 100000};
    struct set set = make_set(SHAPE_UNIFORM, 64, 5000, 3);
    for (size_t segments = 1; segments <= 2; segments++) {
        struct trial trial = {"parts", .set = &set, .scheme = "4", .k = 3, .segments = segments, .block_size = 64};
        struct idx_index *index = open_trial(*state, &trial, IDX_ID_NONE);
        struct answers expected = {0};
        assert_ok(idx_visit_all(index, gather_one, &expected, &failure));
        assert_int_equal(expected.count, set.distinct_count);
        for (size_t i = 0; i < LENGTH(parts); i++) {
            struct answers found = {0};
            for (uint32_t part = 0; part < parts[i]; part++)
                assert_ok(idx_visit_part(index, part, parts[i], gather, &found, &failure));
            if (segments == 1) compare_answers(&found, &expected, "parts");
            assert_int_equal(found.count, expected.count);
            assert_status(IDX_INVALID_ARGUMENT, idx_visit_part(index, parts[i], parts[i], gather, &found, &failure));
            free(found.items);
        }
        assert_status(IDX_INVALID_ARGUMENT, idx_visit_part(index, 0, 0, gather, NULL, &failure));
        free(expected.items);
        idx_close(index);
        remove_all(path_in(*state, "trial.idx"));
    }
    free_set(&set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_schemes),
        in_folder(test_shapes),
        in_folder(test_bits),
        in_folder(test_segments),
        in_folder(test_large_tables),
        in_folder(test_alike_queries),
        in_folder(test_many_matches),
        in_folder(test_stopping),
        in_folder(test_cancelling),
        in_folder(test_refusals),
        in_folder(test_damage),
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_streams_of_few_bits),
        cmocka_unit_test(test_more_streams_of_few_bits),
        cmocka_unit_test(test_streams_of_many_queries),
        cmocka_unit_test(test_stream_refusals),
        cmocka_unit_test(test_stream_of_another_thread),
        in_folder(test_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
