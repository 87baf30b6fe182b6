/* shard.c: tests of how fingerprints are spread over shards, and that shards built apart and merged are the whole. */
#include <idx.h>

#include <string.h>
#include <xxhash.h>

#include "tests/libidx/same.h"
#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

__extension__ typedef unsigned __int128 uint128;

/* ⌊h · shards / 2^64⌋, h the XXH3 hash of the 8 bytes, little-endian. */
static uint64_t compute_shard(uint64_t fingerprint, uint64_t shards) {
    uint8_t bytes[8];
    for (unsigned i = 0; i < 8; i++) bytes[i] = (uint8_t)(fingerprint >> 8 * i);
    return (uint64_t)((uint128)XXH3_64bits(bytes, sizeof bytes) * shards >> 64);
}

static void test_formula(void **state) {
    static const uint64_t shards[] = {1, 2, 3, 7, 64, 1000, (UINT64_C(1) << 32) + 1, UINT64_MAX};
    static const uint64_t extremes[] = {0, 1, UINT64_MAX, UINT64_C(1) << 63};
    uint64_t seed = 1;
    (void)state;
    for (size_t i = 0; i < LENGTH(shards); i++) {
        for (size_t j = 0; j < 1000; j++) {
            uint64_t fingerprint = j < LENGTH(extremes) ? extremes[j] : next_random(&seed);
            uint64_t shard = idx_shard(fingerprint, shards[i]);
            assert_true(shard < shards[i]);
            assert_int_equal(shard, compute_shard(fingerprint, shards[i]));
        }
    }
    assert_int_equal(idx_shard(5, 0), 0);
    assert_int_equal(idx_shard(5, 1), 0);
}

/* Pearson's statistic of distinct fingerprints over 16 shards: 15 on average, above 60 by chance never. */
static double measure_unevenness(const struct set *set) {
    size_t counts[16] = {0};
    double expected = (double)set->distinct_count / 16, sum = 0;
    for (size_t i = 0; i < set->distinct_count; i++) counts[idx_shard(set->distinct[i], 16)]++;
    for (size_t i = 0; i < 16; i++) sum += ((double)counts[i] - expected) * ((double)counts[i] - expected) / expected;
    return sum;
}

static void test_evenness(void **state) {
    static const enum shape shapes[] = {SHAPE_UNIFORM, SHAPE_CLUSTERED, SHAPE_PREFIXED,  SHAPE_SUFFIXED,
                                        SHAPE_SKEWED,  SHAPE_DEAD,      SHAPE_DENSE_LOW, SHAPE_DENSE_TOP};
    (void)state;
    for (size_t i = 0; i < LENGTH(shapes); i++) {
        struct set set = make_set(shapes[i], 64, 30000, i);
        assert_true(set.distinct_count > 10000);
        double unevenness = measure_unevenness(&set);
        if (unevenness > 60) fail_msg("%s: %g", shape_names[shapes[i]], unevenness);
        free_set(&set);
    }
}

/* ---- Building apart ---- */

/* Builds what belongs to shard `shard` of `shards`. A document's ID is its place. */
static void build_shard(const char *path, const struct idx_build_options *options, const struct set *set,
                        uint64_t shard, uint64_t shards) {
    struct idx_builder *builder;
    assert_ok(idx_builder_open(&builder, path, options, &failure));
    for (size_t i = 0; i < set->count; i++) {
        if (idx_shard(set->items[i], shards) == shard)
            assert_ok(
                idx_builder_add(builder, &(struct idx_item){.fingerprint = set->items[i], .number = i}, &failure));
    }
    assert_ok(idx_builder_finish(builder, NULL, &failure));
    idx_builder_close(builder);
}

static void merge_shards(const char *folder, enum shape shape, enum idx_id_type id_type) {
    struct idx_build_options options = options_for(40, 2, "3:1");
    struct set set = make_set(shape, 40, 3000, 1);
    const char *paths[7];
    uint64_t fingerprints = 0;
    options.id_type = id_type;
    build_shard(path_in(folder, "whole"), &options, &set, 0, 1);
    for (size_t i = 0; i < LENGTH(paths); i++) {
        struct idx_properties properties;
        paths[i] = path_in(folder, "shard%zu", i);
        build_shard(paths[i], &options, &set, i, LENGTH(paths));
        struct idx_index *index = open_index(paths[i], IDX_RESIDENCE_NONE);
        idx_get_properties(index, &properties);
        fingerprints += properties.fingerprints;
        idx_close(index);
    }
    assert_int_equal(fingerprints, set.distinct_count); /* none is in two shards */
    assert_ok(idx_merge(path_in(folder, "merged"), paths, LENGTH(paths), NULL, NULL, &failure));
    assert_same_index(path_in(folder, "whole"), path_in(folder, "merged"));
    for (size_t i = 0; i < LENGTH(paths); i++) remove_all(paths[i]);
    remove_all(path_in(folder, "whole"));
    remove_all(path_in(folder, "merged"));
    free_set(&set);
}

static void test_shards(void **state) {
    for (int shape = 0; shape < SHAPE_COUNT; shape++)
        merge_shards(*state, (enum shape)shape, shape % 2 == 0 ? IDX_ID_U64 : IDX_ID_NONE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formula),
        cmocka_unit_test(test_evenness),
        in_folder(test_shards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
