/* progress.c: what builds and merges tell their callers as they go, and that they can be cancelled wherever they tell
 * it: nothing is published then, nothing left behind, and what is replaced stays. The clock is made to run so fast that
 * each look at it is a reason to tell. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "libidx/base/base.h"
#include "tests/libidx/same.h"
#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

/* ---- The clock ---- */

static long step = 1; /* seconds between two looks */
static atomic_long ticks;

int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
int __real_clock_gettime(clockid_t clock, struct timespec *time);

int __wrap_clock_gettime(clockid_t clock, struct timespec *time) {
    if (clock != CLOCK_MONOTONIC) return __real_clock_gettime(clock, time);
    *time = (struct timespec){atomic_fetch_add(&ticks, step) + step, 0};
    return 0;
}

/* ---- What is told ---- */

#define MAX_CALLS 100000

static struct {
    size_t calls, cancels_at; /* the call, from 1, that returns false; 0: none */
    pthread_t caller;
    bool from_another; /* thread */
    struct idx_progress told[MAX_CALLS];
} world;

static bool note(void *context, const struct idx_progress *progress) {
    assert_ptr_equal(context, &world);
    if (!pthread_equal(pthread_self(), world.caller)) world.from_another = true;
    if (world.calls < MAX_CALLS) world.told[world.calls] = *progress;
    return ++world.calls != world.cancels_at;
}

static void begin(size_t cancels_at) {
    world.calls = 0;
    world.cancels_at = cancels_at;
    world.caller = pthread_self();
    world.from_another = false;
}

/* The call that begins what follows call `i`: another phase, or the same one anew. */
static bool begins(size_t i) {
    return i == 0 || world.told[i].phase != world.told[i - 1].phase || world.told[i].done < world.told[i - 1].done;
}

/* Each phase begins at 0 but where documents go on being added, ascends, and does not pass its total. */
static void check_calls(void) {
    assert_true(world.calls > 0 && world.calls < MAX_CALLS);
    assert_false(world.from_another);
    for (size_t i = 0; i < world.calls; i++) {
        const struct idx_progress *told = &world.told[i];
        assert_true((unsigned)told->phase < IDX_PHASE_COUNT);
        if (begins(i)) assert_int_equal(told->done, 0);
        if (!begins(i)) assert_int_equal(told->total, told[-1].total);
        if (told->total > 0) assert_true(told->done <= told->total);
        if (told->phase == IDX_PHASE_ADDING || told->phase == IDX_PHASE_PUBLISHING) assert_int_equal(told->total, 0);
    }
}

/* The phases in their order, as digits, each time one begins. */
static const char *list_phases(void) {
    static char text[1000];
    size_t length = 0;
    for (size_t i = 0; i < world.calls && length < sizeof text - 1; i++) {
        if (begins(i)) text[length++] = (char)('0' + world.told[i].phase);
    }
    text[length] = '\0';
    return text;
}

/* The last call of a phase, of its last turn. */
static const struct idx_progress *last_of(enum idx_phase phase) {
    for (size_t i = world.calls; i > 0; i--) {
        if (world.told[i - 1].phase == phase) return &world.told[i - 1];
    }
    fail_msg("phase %d is not told of", (int)phase);
    return NULL;
}

/* ---- Builds ---- */

/* With the least memory, these are spilled twice, and sorted on disk for tables. */
#define DOCUMENTS 30000
#define PLENTY ((uint64_t)1 << 30)

static struct idx_build_options options_of(const char *folder, uint64_t memory, unsigned threads) {
    struct idx_build_options options = options_for(64, 3, "4");
    options.memory_bytes = memory;
    options.threads = threads;
    options.replace = true;
    options.temporary_folder = path_in(folder, "tmp");
    options.progress = note;
    options.context = &world;
    return options;
}

/* All fingerprints differ. */
static enum idx_status build(const char *path, const struct idx_build_options *options, size_t count) {
    struct idx_builder *builder;
    char id[32];
    enum idx_status status = idx_builder_open(&builder, path, options, &failure);
    if (status != IDX_OK) return status;
    for (size_t i = 0; i < count && status == IDX_OK; i++)
        status = idx_builder_add(builder,
                                 &(struct idx_item){.fingerprint = (i + 1) * UINT64_C(0x9e3779b97f4a7c15),
                                                    .id = id,
                                                    .id_length = write_id(id, i)},
                                 &failure);
    if (status == IDX_OK) status = idx_builder_finish(builder, NULL, &failure);
    idx_builder_close(builder);
    return status;
}

static void make_temporary(const char *folder) { assert_int_equal(mkdir(path_in(folder, "tmp"), 0777), 0); }

static void test_build_in_memory(void **state) {
    make_temporary(*state);
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        struct idx_build_options options = options_of(*state, PLENTY, threads);
        begin(0);
        assert_ok(build(path_in(*state, "index"), &options, DOCUMENTS));
        check_calls();
        assert_string_equal(list_phases(), "01234");
        assert_int_equal(last_of(IDX_PHASE_ADDING)->done, DOCUMENTS / 4096 * 4096);
        assert_int_equal(last_of(IDX_PHASE_SORTING)->total, DOCUMENTS);
        assert_int_equal(last_of(IDX_PHASE_MERGING)->total, DOCUMENTS);
        assert_int_equal(last_of(IDX_PHASE_MERGING)->done, DOCUMENTS);
        assert_int_equal(last_of(IDX_PHASE_TABLES)->total, 2 * 4 * DOCUMENTS);
        if (threads > 1) continue; /* who else ends last is not told */
        assert_int_equal(last_of(IDX_PHASE_SORTING)->done, DOCUMENTS);
        assert_int_equal(last_of(IDX_PHASE_TABLES)->done, 2 * 4 * DOCUMENTS);
    }
}

static void test_build_on_disk(void **state) {
    make_temporary(*state);
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        struct idx_build_options options = options_of(*state, IDX_MIN_MEMORY_BYTES, threads);
        begin(0);
        assert_ok(build(path_in(*state, "index"), &options, DOCUMENTS));
        check_calls();
        assert_string_equal(list_phases(), "010101234");
        assert_int_equal(last_of(IDX_PHASE_ADDING)->done, DOCUMENTS / 4096 * 4096);
        assert_int_equal(last_of(IDX_PHASE_MERGING)->done, DOCUMENTS);
        assert_int_equal(last_of(IDX_PHASE_TABLES)->total, 2 * 4 * DOCUMENTS);
        if (threads == 1) assert_int_equal(last_of(IDX_PHASE_TABLES)->done, 2 * 4 * DOCUMENTS);
    }
}

static void test_build_nothing(void **state) {
    make_temporary(*state);
    struct idx_build_options options = options_of(*state, PLENTY, 1);
    begin(0);
    assert_ok(build(path_in(*state, "index"), &options, 0));
    check_calls();
    assert_string_equal(list_phases(), "01234");
}

/* With a clock that stands still, a phase is told of when it begins, and no more. */
static void test_telling_rarely(void **state) {
    make_temporary(*state);
    struct idx_build_options options = options_of(*state, IDX_MIN_MEMORY_BYTES, 1);
    begin(0);
    step = 0;
    assert_ok(build(path_in(*state, "index"), &options, DOCUMENTS));
    step = 1;
    assert_int_equal(world.calls, strlen("010101234"));
}

/* ---- Cancelling builds ---- */

/* What is left in a folder that has an index, one to be merged with, and the temporary folder, is these. */
static void check_nothing_left(const char *folder, int entries) {
    assert_int_equal(count_entries(folder), entries);
    assert_int_equal(count_entries(path_in(folder, "tmp")), 0);
}

/* Cancels at every call, or under a sanitizer at some, until there is none more. */
static void cancel_everywhere(const char *folder, uint64_t memory, unsigned threads, bool replace) {
    struct idx_build_options options = options_of(folder, memory, threads);
    const char *path = path_in(folder, "index"), *old = path_in(folder, "old");
    size_t cancelled = 0, count = DOCUMENTS;
    make_temporary(folder);
    if (replace) {
        build_index(path, NULL, (const uint64_t[]){1, 2, 3}, 3);
        copy_folder(path, old);
    }
    for (size_t at = 1;; at += is_sanitized() ? 7 : 1) {
        begin(at);
        enum idx_status status = build(path, &options, count);
        if (status == IDX_OK) break;
        assert_status(IDX_CANCELLED, status);
        assert_string_equal(failure.sentence, "cancelled: nothing was published");
        assert_false(world.from_another);
        assert_int_equal(world.calls, at); /* not called again */
        check_nothing_left(folder, replace ? 3 : 1);
        if (replace && at % 8 == 1) assert_same_index(old, path);
        cancelled++;
    }
    assert_true(world.calls < world.cancels_at);
    assert_true(cancelled > (is_sanitized() ? 3 : 20));
    assert_ok(idx_verify(path, NULL, NULL, &failure));
    check_nothing_left(folder, replace ? 3 : 2);
}

static void test_cancelling_in_memory(void **state) { cancel_everywhere(*state, PLENTY, 1, false); }
static void test_cancelling_on_disk(void **state) { cancel_everywhere(*state, IDX_MIN_MEMORY_BYTES, 1, false); }
static void test_cancelling_threads(void **state) { cancel_everywhere(*state, IDX_MIN_MEMORY_BYTES, 3, false); }
static void test_cancelling_replacement(void **state) { cancel_everywhere(*state, PLENTY, 2, true); }

/* ---- Merges ---- */

static const char *inputs[2];

static void build_inputs(const char *folder) {
    uint64_t fingerprints[5000], seed = 1;
    struct idx_build_options options = options_for(64, 3, "4");
    for (size_t i = 0; i < 2; i++) {
        inputs[i] = path_in(folder, "in%zu", i);
        for (size_t j = 0; j < LENGTH(fingerprints); j++) fingerprints[j] = next_random(&seed);
        build_index(inputs[i], &options, fingerprints, LENGTH(fingerprints));
    }
    make_temporary(folder);
}

static enum idx_status merge(const char *path, unsigned threads) {
    struct idx_merge_options options = IDX_MERGE_OPTIONS_INIT;
    options.threads = threads;
    options.replace = true;
    options.progress = note;
    options.context = &world;
    return idx_merge(path, inputs, 2, &options, NULL, &failure);
}

static void test_merging(void **state) {
    build_inputs(*state);
    for (unsigned threads = 1; threads <= 4; threads += 3) {
        begin(0);
        assert_ok(merge(path_in(*state, "merged"), threads));
        check_calls();
        assert_string_equal(list_phases(), "24");
        assert_int_equal(last_of(IDX_PHASE_MERGING)->total, 10000 + 4 * 10000);
        if (threads == 1) assert_int_equal(last_of(IDX_PHASE_MERGING)->done, 10000 + 4 * 10000);
    }
}

/* Over one of its inputs, which stays whole. */
static void test_cancelling_merges(void **state) {
    build_inputs(*state);
    const char *old = path_in(*state, "old");
    copy_folder(inputs[0], old);
    for (unsigned threads = 1; threads <= 4; threads += 3) {
        size_t at = 0;
        enum idx_status status = IDX_CANCELLED;
        while (status != IDX_OK) {
            begin(++at);
            const char *path = threads == 1 && at % 2 == 0 ? inputs[0] : path_in(*state, "merged");
            status = merge(path, threads);
            if (status == IDX_OK) break;
            assert_status(IDX_CANCELLED, status);
            assert_false(world.from_another);
            assert_int_equal(world.calls, at);
            check_nothing_left(*state, 4);
            if (at % 16 == 0) assert_same_index(old, inputs[0]);
        }
        assert_true(at > 2 && world.calls < at);
        remove_all(path_in(*state, "merged"));
        if (threads > 1) break;
        remove_all(inputs[0]);
        copy_folder(old, inputs[0]);
    }
}

/* ---- Work in parallel ---- */

struct counting {
    atomic_uint counts[1000];
    struct idxi_progress *progress;
    size_t fails_at;
};

static enum idx_status count_task(void *context, size_t number, struct idx_error *error) {
    struct counting *counting = context;
    counting->counts[number]++;
    if (number == counting->fails_at) {
        *error = (struct idx_error){.status = IDX_LIMIT, .sentence = "task fails"};
        return IDX_LIMIT;
    }
    return idxi_progress_add(counting->progress, 1, error);
}

/* Each task is done once, by any number of threads; none after one that failed has ended, if there is one thread. */
static void test_parallel(void **state) {
    static const unsigned threads[] = {1, 2, 3, 8, IDX_MAX_THREADS};
    static const size_t counts[] = {0, 1, 2, 7, 1000};
    (void)state;
    for (size_t i = 0; i < LENGTH(threads) * LENGTH(counts); i++) {
        size_t count = counts[i / LENGTH(threads)];
        struct idxi_progress progress;
        struct counting counting = {.progress = &progress, .fails_at = SIZE_MAX};
        idxi_progress_init(&progress, NULL, NULL);
        assert_ok(idxi_run_parallel(count, threads[i % LENGTH(threads)], count_task, &counting, &progress, &failure));
        for (size_t j = 0; j < LENGTH(counting.counts); j++) assert_int_equal(counting.counts[j], j < count);
        assert_int_equal(progress.done, count);
        counting.fails_at = count / 2;
        enum idx_status wanted = count == 0 ? IDX_OK : IDX_LIMIT;
        assert_status(
            wanted, idxi_run_parallel(count, threads[i % LENGTH(threads)], count_task, &counting, &progress, &failure));
        if (count > 0) assert_string_equal(failure.sentence, "task fails");
        for (size_t j = 0; j <= count / 2 && j < count; j++) assert_int_equal(counting.counts[j], 2);
        if (i % LENGTH(threads) == 0 && count > 2) assert_int_equal(counting.counts[count / 2 + 1], 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_build_in_memory),    in_folder(test_build_on_disk),          in_folder(test_build_nothing),
        in_folder(test_telling_rarely),     in_folder(test_cancelling_in_memory),   in_folder(test_cancelling_on_disk),
        in_folder(test_cancelling_threads), in_folder(test_cancelling_replacement), in_folder(test_merging),
        in_folder(test_cancelling_merges),  cmocka_unit_test(test_parallel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
