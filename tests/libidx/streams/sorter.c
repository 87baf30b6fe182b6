/* sorter.c: tests of sorting entries in memory and in runs on disk, merged in levels where they are many, against a
 * model. */
#include "libidx/streams/sorter.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "format/permute.h"
#include "tests/libidx/entries.h"
#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

/* Room for 8192 entries, and eight runs are merged at a time. */
#define LITTLE ((uint64_t)1 << 16)
#define MUCH ((uint64_t)64 << 20)

static const unsigned thread_counts[] = {1, 2, 3, 7};

static struct {
    struct idxi_sorter sorter;
    struct idxi_progress progress;
    struct entries added, sorted;
    size_t spills;
} world;

static void open_sorter(const char *path, bool with_values, unsigned threads, uint64_t memory) {
    struct idxi_sorter_options options = {.with_values = with_values,
                                          .threads = threads,
                                          .memory = memory,
                                          .folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
                                          .path = path,
                                          .progress = &world.progress};
    assert_true(options.folder >= 0);
    idxi_progress_init(&world.progress, NULL, NULL);
    world.spills = 0;
    assert_ok(idxi_sorter_open(&world.sorter, &options, &failure));
}

/* Adds what is in world.added, and makes the model of it. */
static struct idxi_stream *sort_added(void) {
    struct idxi_stream *stream;
    for (size_t i = 0; i < world.added.count; i++) {
        if (idxi_sorter_get_free_entries(&world.sorter) == 0) {
            assert_ok(idxi_sorter_spill(&world.sorter, &failure));
            world.spills++;
        }
        idxi_sorter_add(&world.sorter, world.added.fingerprints[i], world.added.values[i]);
    }
    append_entries(&world.sorted, &world.added);
    assert_ok(idxi_sorter_open_stream(&world.sorter, &stream, &failure));
    return stream;
}

static void forget_entries(void) {
    free_entries(&world.added);
    free_entries(&world.sorted);
}

static void close_sorter(void) {
    int folder = world.sorter.options.folder;
    idxi_sorter_close(&world.sorter);
    close(folder);
    forget_entries();
}

static void make_model(bool with_values) {
    sort_entries(&world.sorted, with_values);
    drop_repeated(&world.sorted, with_values);
}

/* ---- Entries ---- */

static void check_kind(const char *path, enum kind kind, size_t count, bool with_values, unsigned threads,
                       uint64_t memory) {
    uint64_t seed = count + threads;
    open_sorter(path, with_values, threads, memory);
    add_entries(&world.added, kind, count, &seed);
    struct idxi_stream *stream = sort_added();
    make_model(with_values);
    assert_gives_all(stream, &world.sorted, with_values, 2048);
    assert_ok(stream->rewind(stream, &failure));
    assert_gives_all(stream, &world.sorted, with_values, 777);
    assert_true((world.spills > 0) == (idxi_sorter_count_written_bytes(&world.sorter) > 0));
    assert_int_equal(count_entries(path), 0);
    close_sorter();
}

static void test_in_memory(void **state) {
    for (size_t i = 0; i < 2 * KIND_COUNT * LENGTH(thread_counts); i++)
        check_kind(*state, (enum kind)(i / 2 % KIND_COUNT), scale(30000) + i, i % 2 == 0,
                   thread_counts[i / (2 * KIND_COUNT)], MUCH);
}

static void test_few(void **state) {
    for (size_t count = 0; count < 20; count++) {
        for (size_t i = 0; i < LENGTH(thread_counts); i++)
            check_kind(*state, KIND_UNIFORM, count, i % 2 == 0, thread_counts[i], count % 3 == 0 ? LITTLE : MUCH);
    }
}

/* 100000 entries are 12 times what fits, so that eight runs or more of a level become one again and again. */
static void test_on_disk(void **state) {
    for (size_t i = 0; i < 2 * LENGTH(thread_counts); i++) {
        for (size_t kind = 0; kind < KIND_COUNT; kind += 1 + i % 2)
            check_kind(*state, (enum kind)kind, 100000 + i, i % 2 == 0, thread_counts[i / 2], LITTLE);
    }
}

/* Just what fits, and one more; just as many runs as are merged at a time, and one more. */
static void test_ends_of_memory(void **state) {
    static const size_t runs[] = {1, 2, 7, 8, 9, 15, 16, 64};
    for (size_t i = 0; i < LENGTH(runs); i++) {
        for (size_t more = 0; more < 3; more++)
            check_kind(*state, KIND_UNIFORM, 8192 * runs[i] + more - 1, more == 1, 1, LITTLE);
    }
}

/* Levels: of 70 runs, each eight make one of the next level, and eight of these one more. */
static void test_levels(void **state) {
    uint64_t seed = 1;
    unsigned most = 0;
    open_sorter(*state, false, 1, LITTLE);
    add_entries(&world.added, KIND_UNIFORM, 8192, &seed);
    for (size_t round = 1; round <= 70; round++) {
        for (size_t i = 0; i < world.added.count; i++)
            idxi_sorter_add(&world.sorter, world.added.fingerprints[i] + round, 0);
        assert_ok(idxi_sorter_spill(&world.sorter, &failure));
        assert_int_equal(world.sorter.run_count, round / 64 + round % 64 / 8 + round % 8);
        for (size_t i = 0; i < world.sorter.run_count; i++)
            if (world.sorter.runs[i].level > most) most = world.sorter.runs[i].level;
        for (size_t i = 0; i < world.added.count; i++) add_entry(&world.sorted, world.added.fingerprints[i] + round, 0);
    }
    assert_int_equal(most, 2);
    struct idxi_stream *stream;
    assert_ok(idxi_sorter_open_stream(&world.sorter, &stream, &failure));
    make_model(false);
    assert_gives_all(stream, &world.sorted, false, 2048);
    close_sorter();
}

/* As a builder of text IDs adds them: values ascend, and equal fingerprints stay in order. */
static void test_ascending_values(void **state) {
    for (size_t i = 0; i < 2 * LENGTH(thread_counts); i++) {
        uint64_t seed = i;
        open_sorter(*state, true, thread_counts[i / 2], i % 2 == 0 ? LITTLE : MUCH);
        for (uint64_t value = 0; value < 50000; value++) add_entry(&world.added, next_random(&seed) % 9000, value);
        struct idxi_stream *stream = sort_added();
        assert_true(world.sorter.values_ascend);
        make_model(true);
        assert_gives_all(stream, &world.sorted, true, 2048);
        close_sorter();
    }
}

/* Values that ascend but for one, wherever it stands in what is in memory. */
static void test_one_value_falls(void **state) {
    static const uint64_t places[] = {1, 2, 5000, 8190, 8191, 8192, 8193, 12000};
    for (size_t i = 0; i < LENGTH(places); i++) {
        open_sorter(*state, true, 1, LITTLE);
        for (uint64_t value = 0; value < 12001; value++)
            add_entry(&world.added, 5, value == places[i] ? value - 1 : 2 * value + 2);
        struct idxi_stream *stream = sort_added();
        make_model(true);
        assert_gives_all(stream, &world.sorted, true, 2048);
        close_sorter();
    }
}

/* ---- Prefixes ---- */

/* A permuted fingerprint, and where it came. */
struct placed {
    uint64_t fingerprint, prefix;
    size_t place;
};

static int compare_placed(const void *a, const void *b) {
    const struct placed *x = a, *y = b;
    if (x->prefix != y->prefix) return x->prefix < y->prefix ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* Sorts by prefix, stably. */
static void sort_by_prefix(struct entries *entries, unsigned prefix) {
    struct placed *placed = malloc((entries->count + 1) * sizeof *placed);
    assert_non_null(placed);
    for (size_t i = 0; i < entries->count; i++) {
        uint64_t fingerprint = entries->fingerprints[i];
        placed[i] = (struct placed){fingerprint, prefix == 0 ? 0 : fingerprint >> (64 - prefix), i};
    }
    qsort(placed, entries->count, sizeof *placed, compare_placed);
    for (size_t i = 0; i < entries->count; i++) entries->fingerprints[i] = placed[i].fingerprint;
    free(placed);
}

/* Adds the distinct fingerprints of a set in order, permuted by a mask, as tables.c does. */
static void add_permuted(const struct set *set, uint64_t mask) {
    struct idxf_permutation permutation;
    idxf_permutation_init(&permutation, mask, set->bits);
    for (size_t i = 0; i < set->distinct_count; i++)
        add_entry(&world.added, idxf_permute(&permutation, set->distinct[i]), 0);
}

/* All tables one after the other, in one sorter that is reset, in memory and on disk. */
static void test_prefixes(void **state) {
    static const uint64_t masks[] = {0xffff, 0xff00ff00, 0x5555555555, 1, 0x8001, 0xf0f0f0f0f, 0xffffffffff};
    for (size_t trial = 0; trial < 4; trial++) {
        struct set set = make_set(trial == 3 ? SHAPE_CLUSTERED : SHAPE_UNIFORM, 40, 90000, trial);
        open_sorter(*state, false, 1 + (unsigned)trial % 2, trial % 2 == 0 ? LITTLE : MUCH);
        for (size_t i = 0; i < LENGTH(masks); i++) {
            unsigned prefix = (unsigned)__builtin_popcountll(masks[i]);
            idxi_sorter_reset(&world.sorter, prefix);
            add_permuted(&set, masks[i]);
            struct idxi_stream *stream = sort_added();
            sort_by_prefix(&world.sorted, prefix);
            assert_gives_all(stream, &world.sorted, false, 2048);
            assert_ok(stream->rewind(stream, &failure));
            assert_gives_all(stream, &world.sorted, false, 5000);
            sort_entries(&world.sorted, false); /* it is the whole order, too */
            assert_ok(stream->rewind(stream, &failure));
            assert_gives_all(stream, &world.sorted, false, 5000);
            forget_entries();
        }
        close_sorter();
        free_set(&set);
    }
}

/* ---- Use again ---- */

/* After each reset only what came since is given: many after few, none after many. */
static void test_reset(void **state) {
    static const size_t counts[] = {100, 30000, 0, 8192, 90000, 1, 90000, 0};
    uint64_t seed = 1;
    open_sorter(*state, false, 2, LITTLE);
    for (size_t i = 0; i < LENGTH(counts); i++) {
        idxi_sorter_reset(&world.sorter, 64);
        add_entries(&world.added, KIND_UNIFORM, counts[i], &seed);
        sort_entries(&world.added, false);
        struct idxi_stream *stream = sort_added();
        assert_gives_all(stream, &world.sorted, false, 2048);
        forget_entries();
    }
    close_sorter();
}

/* While runs are merged nothing is in memory but their buffers: what was given back reads as 0. */
static void test_memory_is_given_back(void **state) {
    uint64_t seed = 1;
    open_sorter(*state, true, 2, LITTLE);
    add_entries(&world.added, KIND_DENSE, 20000, &seed);
    sort_added();
    for (size_t i = 0; i < world.sorter.capacity; i++) {
        assert_int_equal(world.sorter.fingerprints[i], 0);
        assert_int_equal(world.sorter.values[i] | world.sorter.spare[i] | world.sorter.spare_values[i], 0);
    }
    close_sorter();
}

/* Closed at any time, nothing is left: neither memory (the address sanitizer tells) nor files. */
static void test_closing_early(void **state) {
    for (size_t entries = 0; entries < 40000; entries += 7000) {
        open_sorter(*state, true, 3, LITTLE);
        for (size_t i = 0; i < entries; i++) {
            if (idxi_sorter_get_free_entries(&world.sorter) == 0) assert_ok(idxi_sorter_spill(&world.sorter, &failure));
            idxi_sorter_add(&world.sorter, i, i);
        }
        close_sorter();
    }
    assert_int_equal(count_entries(*state), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_in_memory),
        in_folder(test_few),
        in_folder(test_on_disk),
        in_folder(test_ends_of_memory),
        in_folder(test_levels),
        in_folder(test_ascending_values),
        in_folder(test_one_value_falls),
        in_folder(test_prefixes),
        in_folder(test_reset),
        in_folder(test_closing_early),
        in_folder(test_memory_is_given_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
