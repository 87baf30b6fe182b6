/* kway_merge.c: tests of merging streams, against qsort as a model: any number of inputs, of every kind, that give
 * their entries in any portions, read in any portions. */
#include "libidx/streams/kway_merge.h"

#include <stdlib.h>

#include "tests/libidx/entries.h"
#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

#define MAX_INPUTS 64

static const size_t input_counts[] = {0, 1, 2, 3, 5, 17, MAX_INPUTS};

/* Inputs, and what merging them must give. */
static struct {
    struct entries entries[MAX_INPUTS], merged;
    struct portions portions[MAX_INPUTS];
    struct idxi_stream *streams[MAX_INPUTS];
    size_t count;
    bool with_values;
    struct idxi_kway_merge *merge;
} world;

static void begin(size_t count, bool with_values) {
    world.count = count;
    world.with_values = with_values;
}

/* Once the inputs have their entries, unsorted. */
static struct idxi_stream *open_world(void) {
    for (size_t i = 0; i < world.count; i++) {
        append_entries(&world.merged, &world.entries[i]);
        sort_entries(&world.entries[i], world.with_values);
        init_portions(&world.portions[i], &world.entries[i], i);
        world.streams[i] = &world.portions[i].stream;
    }
    sort_entries(&world.merged, world.with_values);
    drop_repeated(&world.merged, world.with_values);
    assert_ok(idxi_kway_merge_open(&world.merge, world.streams, world.count, world.with_values, &failure));
    return idxi_kway_merge_get_stream(world.merge);
}

static void close_world(void) {
    idxi_kway_merge_close(world.merge);
    for (size_t i = 0; i < world.count; i++) free_entries(&world.entries[i]);
    free_entries(&world.merged);
}

/* ---- What is merged ---- */

/* A count from 0 to 3000, small ones more often. */
static size_t choose_count(uint64_t *seed) { return next_random(seed) % (next_random(seed) % 3000 + 1); }

static void test_kinds(void **state) {
    static const size_t capacities[] = {1, 2, 3, 7, 1000, 1023, 1024, 1025, 2048, 5000};
    uint64_t seed = 1;
    size_t trial = 0;
    (void)state;
    for (size_t n = 0; n < LENGTH(input_counts); n++) {
        for (size_t kind = 0; kind < 2 * KIND_COUNT; kind++, trial++) {
            begin(input_counts[n], kind % 2 == 1);
            for (size_t i = 0; i < world.count; i++)
                add_entries(&world.entries[i], (enum kind)(kind / 2), choose_count(&seed), &seed);
            assert_gives_all(open_world(), &world.merged, world.with_values, capacities[trial % LENGTH(capacities)]);
            close_world();
        }
    }
}

static void test_every_capacity(void **state) {
    uint64_t seed = 2;
    (void)state;
    for (size_t capacity = 1; capacity <= 40; capacity++) {
        begin(5, capacity % 2 == 0);
        for (size_t i = 0; i < world.count; i++) {
            add_entries(&world.entries[i], KIND_UNIFORM, 500, &seed);
            add_entries(&world.entries[i], KIND_FEW, 500, &seed);
        }
        assert_gives_all(open_world(), &world.merged, world.with_values, capacity);
        close_world();
    }
}

/* Each input has a range of its own, and the ranges come in no order. */
static void test_disjoint_ranges(void **state) {
    uint64_t seed = 3;
    (void)state;
    for (size_t n = 0; n < LENGTH(input_counts); n++) {
        begin(input_counts[n], n % 2 == 0);
        for (uint64_t i = 0; i < world.count; i++) {
            for (size_t j = 0; j < 1500; j++)
                add_entry(&world.entries[i], (i * 37 % MAX_INPUTS) << 58 | next_random(&seed) >> 6, j % 2);
        }
        assert_gives_all(open_world(), &world.merged, world.with_values, 2048);
        close_world();
    }
}

/* Values decide among equal fingerprints, and are told apart in all of their bits. */
static void test_values_of_one_fingerprint(void **state) {
    uint64_t seed = 4;
    (void)state;
    begin(17, true);
    for (size_t i = 0; i < world.count; i++) {
        for (size_t j = 0; j < 2000; j++) add_entry(&world.entries[i], 7, UINT64_C(1) << next_random(&seed) % 64);
        for (size_t j = 0; j < 200; j++) add_entry(&world.entries[i], 8, next_random(&seed));
    }
    assert_gives_all(open_world(), &world.merged, true, 100);
    assert_int_equal(world.merged.count, 64 + 17 * 200);
    close_world();
}

/* Two inputs, each of any of the extremes: 0 and 2^64 − 1, with value 0 too, are entries as others are. */
static void test_extremes(void **state) {
    static const uint64_t extremes[] = {0, 1, UINT64_MAX - 1, UINT64_MAX};
    (void)state;
    for (unsigned chosen = 0; chosen < 512; chosen++) {
        begin(2, chosen >= 256);
        for (unsigned bit = 0; bit < 8; bit++) {
            if (chosen >> bit & 1) add_entry(&world.entries[bit / 4], extremes[bit % 4], extremes[3 - bit % 4]);
        }
        assert_gives_all(open_world(), &world.merged, world.with_values, 10);
        close_world();
    }
}

static void test_empty_inputs(void **state) {
    uint64_t seed = 5;
    (void)state;
    for (size_t n = 0; n < LENGTH(input_counts); n++) {
        for (size_t full = 0; full <= input_counts[n]; full += 1 + full) { /* one of them is not empty, or none */
            begin(input_counts[n], full % 2 == 0);
            if (full < world.count) add_entries(&world.entries[full], KIND_UNIFORM, 3000, &seed);
            assert_gives_all(open_world(), &world.merged, world.with_values, 999);
            close_world();
        }
    }
}

/* ---- Rewinding ---- */

static void test_rewinding(void **state) {
    static const size_t places[] = {0, 1, 1024, 1500, 100000};
    uint64_t seed = 6;
    (void)state;
    for (size_t trial = 0; trial < KIND_COUNT * LENGTH(places); trial++) {
        begin(1 + trial % 5, trial % 2 == 0);
        for (size_t i = 0; i < world.count; i++)
            add_entries(&world.entries[i], (enum kind)(trial % KIND_COUNT), 1500, &seed);
        struct idxi_stream *stream = open_world();
        size_t place = places[trial / KIND_COUNT];
        if (place > world.merged.count) place = world.merged.count;
        for (int round = 0; round < 2; round++) {
            assert_gives(stream, &world.merged, 0, place, world.with_values, 700);
            assert_ok(stream->rewind(stream, &failure));
        }
        assert_gives_all(stream, &world.merged, world.with_values, 3000);
        assert_ok(stream->rewind(stream, &failure));
        assert_gives_all(stream, &world.merged, world.with_values, 100);
        close_world();
    }
}

/* ---- Inputs that fail ---- */

/* Reads to the end, and returns how that came; the entries before must be right. */
static enum idx_status read_out(struct idxi_stream *stream) {
    uint64_t fingerprints[1000], values[1000];
    for (size_t done = 0, count;; done += count) {
        enum idx_status status =
            stream->read(stream, fingerprints, world.with_values ? values : NULL, 1000, &count, &failure);
        if (status != IDX_OK || count == 0) return status;
        assert_true(done + count <= world.merged.count);
        assert_memory_equal(fingerprints, world.merged.fingerprints + done, count * sizeof *fingerprints);
    }
}

static void test_failing_inputs(void **state) {
    uint64_t seed = 7;
    (void)state;
    for (size_t n = 1; n < LENGTH(input_counts) - 1; n++) {
        for (size_t fails_at = 1; fails_at <= 6; fails_at++) {
            begin(input_counts[n], fails_at % 2 == 0);
            for (size_t i = 0; i < world.count; i++) add_entries(&world.entries[i], KIND_UNIFORM, 6000, &seed);
            struct idxi_stream *stream = open_world();
            struct portions *failing = &world.portions[fails_at % world.count];
            failing->fails_at = failing->reads + fails_at;
            assert_status(IDX_IO_ERROR, read_out(stream));
            assert_string_equal(failure.sentence, "input fails");
            close_world();
        }
    }
}

static void test_failing_to_rewind(void **state) {
    uint64_t seed = 8;
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        begin(5, false);
        add_entries(&world.entries[0], KIND_UNIFORM, 10, &seed);
        struct idxi_stream *stream = open_world();
        world.portions[i].fails_to_rewind = true;
        assert_status(IDX_NO_ACCESS, stream->rewind(stream, &failure));
        close_world();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_every_capacity),
        cmocka_unit_test(test_disjoint_ranges),
        cmocka_unit_test(test_values_of_one_fingerprint),
        cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_empty_inputs),
        cmocka_unit_test(test_rewinding),
        cmocka_unit_test(test_failing_inputs),
        cmocka_unit_test(test_failing_to_rewind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
