/* skew.c: tests of what an index says of its fingerprints' skew, counted again here, and of what look-ups cost beside
 * what is expected of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libidx/segment/table_reader.h"
#include "libidx/view/index.h"
#include "tests/libidx/blocks.h"
#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"
#include "tests/libidx/trial.h"

/* ---- Statistics ---- */

struct groups {
    uint64_t largest;
    double squares; /* of their sizes, added up */
};

/* Those that agree in the mask. */
static struct groups count_groups(const struct set *set, uint64_t mask) {
    struct groups groups = {0, 0};
    uint64_t *prefixes = malloc(set->distinct_count * sizeof *prefixes + 1);
    assert_non_null(prefixes);
    for (size_t i = 0; i < set->distinct_count; i++) prefixes[i] = set->distinct[i] & mask;
    qsort(prefixes, set->distinct_count, sizeof *prefixes, compare_numbers);
    for (size_t i = 0, end; i < set->distinct_count; i = end) {
        for (end = i; end < set->distinct_count && prefixes[end] == prefixes[i];) end++;
        groups.squares += (double)(end - i) * (double)(end - i);
        if (end - i > groups.largest) groups.largest = end - i;
    }
    free(prefixes);
    return groups;
}

static uint64_t find_dead_bits(const struct set *set) {
    uint64_t differing = 0;
    for (size_t i = 0; i < set->distinct_count; i++) differing |= set->distinct[i] ^ set->distinct[0];
    return ~differing & all_ones(set->bits);
}

static bool is_near(double a, double b) { return fabs(a - b) <= 1e-9 * fabs(b); }

static void check_table(const struct set *set, const struct idx_table_properties *table, uint64_t list_bytes) {
    struct groups groups = count_groups(set, table->mask);
    double count = (double)set->distinct_count, blocks = (double)table->blocks;
    assert_int_equal(table->fingerprints, set->distinct_count);
    assert_int_equal(table->directory_bytes, (table->blocks + 55) / 56 * 64 + list_bytes);
    assert_true(table->dead_bits == find_dead_bits(set));
    assert_int_equal(table->largest_group, groups.largest);
    if (count == 0) return;
    double group = groups.squares / count, expected = 1 + 1.0 / 16 + group / (count / blocks);
    assert_true(is_near(table->mean_group, group));
    assert_true(is_near(table->expected_blocks, expected < blocks ? expected : blocks));
}

static void test_every_shape(void **state) {
    static const unsigned bits[] = {1, 20, 37, 64};
    for (size_t i = 0; i < SHAPE_COUNT * LENGTH(bits); i++) {
        enum shape shape = (enum shape)(i % SHAPE_COUNT);
        struct set set = make_set(shape, bits[i / SHAPE_COUNT], 5000, i);
        struct trial trial = {shape_names[shape], .set = &set, .scheme = "2:1", .k = 1, .segments = 1};
        trial.block_size = 64;
        if (set.bits == 1) trial.scheme = "@1", trial.k = 0;
        struct idx_index *index = open_trial(*state, &trial, IDX_ID_NONE);
        for (size_t table = 0; table < index->scheme.table_count; table++) {
            struct idx_table_properties properties;
            assert_ok(idx_get_table_properties(index, 0, table, &properties, &failure));
            check_table(&set, &properties, index->segments[0]->tables[table].header.list_bytes);
        }
        idx_close(index);
        remove_all(path_in(*state, "trial.idx"));
        free_set(&set);
    }
}

/* Each segment speaks for itself. */
static void test_segments(void **state) {
    static const uint64_t first[] = {0x10, 0x11, 0x12, 0x13}, second[] = {0x8000000000000000};
    const char *parts[] = {path_in(*state, "a"), path_in(*state, "b")}, *path = path_in(*state, "whole");
    struct idx_build_options options = options_for(64, 1, "2:1");
    struct idx_table_properties table;
    build_index(parts[0], &options, first, LENGTH(first));
    build_index(parts[1], &options, second, LENGTH(second));
    join_indexes(path, parts, LENGTH(parts));
    struct idx_index *index = open_index(path, IDX_RESIDENCE_NONE);
    assert_ok(idx_get_table_properties(index, 0, 0, &table, &failure));
    assert_true(table.dead_bits == ~UINT64_C(3));
    assert_int_equal(table.largest_group, 4);
    assert_true(table.mean_group == 4 && table.expected_blocks == 1);
    assert_ok(idx_get_table_properties(index, 0, 1, &table, &failure));
    assert_true(table.dead_bits == ~UINT64_C(3));
    assert_int_equal(table.largest_group, 1);
    assert_true(table.mean_group == 1);
    assert_ok(idx_get_table_properties(index, 1, 0, &table, &failure));
    assert_true(table.dead_bits == UINT64_MAX);
    assert_int_equal(table.largest_group, 1);
    idx_close(index);
}

/* ---- Blocks searched ---- */

/* What a random query is expected to cost: no bit flipped finds those of the prefix; bits flipped, all but the spared
 * ones of it at once, and then those of each other prefix. */
static double expect_blocks(const struct idxi_table *table) {
    double count = (double)table->header.fingerprints, in_block = count / (double)table->header.blocks;
    unsigned flipped = table->prefix - table->spared_bits;
    double exact = idxi_estimate_probe_blocks(ldexp(count, -(int)table->prefix), in_block);
    if (table->header.radius == 0) return exact;
    assert_int_equal(table->header.radius, 1);
    return idxi_estimate_probe_blocks(ldexp(count, -(int)flipped), in_block) + flipped * exact;
}

static double count_blocks(const struct idx_index *index, size_t queries) {
    uint64_t seed = 77, sum = 0;
    for (size_t i = 0; i < queries; i++) {
        sum += search_blocks(index, next_random(&seed), index->manifest->k);
    }
    return (double)sum / (double)queries;
}

static void test_uniform_look_ups_cost_what_is_expected(void **state) {
    static const char *const schemes[] = {"4:1", "5:2", "2:1:1"};
    struct set set = make_set(SHAPE_UNIFORM, 64, scale(1000000), 1);
    for (size_t i = 0; i < LENGTH(schemes) * 2; i++) {
        struct trial trial = {"uniform", .set = &set, .scheme = schemes[i / 2], .k = 3, .segments = 1};
        double expected = 0;
        trial.block_size = i % 2 == 0 ? 128 : 64;
        struct idx_index *index = open_trial(*state, &trial, IDX_ID_NONE);
        for (size_t table = 0; table < index->scheme.table_count; table++)
            expected += expect_blocks(&index->segments[0]->tables[table]);
        double found = count_blocks(index, 2000);
        if (fabs(found - expected) > 0.1 * expected)
            fail_msg("%s: %.2f blocks, not %.2f", schemes[i / 2], found, expected);
        idx_close(index);
        remove_all(path_in(*state, "trial.idx"));
    }
    free_set(&set);
}

/* The properties give it for prefixes of the table's own fingerprints. Of skewed ones, large groups lie closer together
 * than the mean, and so in fewer blocks than expected. */
static void test_skewed_look_ups_cost_what_is_expected(void **state) {
    static const enum shape shapes[] = {SHAPE_UNIFORM, SHAPE_SKEWED, SHAPE_PREFIXED, SHAPE_DENSE_LOW, SHAPE_DEAD};
    for (size_t i = 0; i < LENGTH(shapes); i++) {
        struct set set = make_set(shapes[i], 64, scale(50000), 1);
        struct trial trial = {shape_names[shapes[i]], .set = &set, .scheme = "@ffff000000000000:1", .segments = 1};
        struct idx_table_properties table;
        uint64_t sum = 0, queries = 0;
        trial.block_size = 64;
        struct idx_index *index = open_trial(*state, &trial, IDX_ID_NONE);
        assert_ok(idx_get_table_properties(index, 0, 0, &table, &failure));
        for (size_t query = 0; query < set.distinct_count; query += 20, queries++) {
            sum += search_blocks(index, set.distinct[query], 0);
        }
        double found = (double)sum / (double)queries;
        double least = shapes[i] == SHAPE_SKEWED ? 0.8 : 0.9;
        if (found < least * table.expected_blocks || found > 1.1 * table.expected_blocks)
            fail_msg("%s: %.2f blocks, not %.2f", trial.name, found, table.expected_blocks);
        idx_close(index);
        remove_all(path_in(*state, "trial.idx"));
        free_set(&set);
    }
}

/* A distance below k costs fewer tables: with 4:1, one, two, three and four. */
static void test_smaller_distances_cost_less(void **state) {
    struct set set = make_set(SHAPE_UNIFORM, 64, 1000, 1);
    struct trial trial = {"uniform", .set = &set, .scheme = "4:1", .k = 3, .segments = 1, .block_size = 4096};
    struct idx_index *index = open_trial(*state, &trial, IDX_ID_NONE);
    assert_int_equal(index->segments[0]->tables[0].header.blocks, 2);
    for (unsigned distance = 0; distance <= 3; distance++) {
        assert_int_equal(search_blocks(index, 0, distance), distance + 1); /* 0 is in the first block of all tables */
    }
    idx_close(index);
    free_set(&set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_every_shape),
        in_folder(test_segments),
        in_folder(test_uniform_look_ups_cost_what_is_expected),
        in_folder(test_skewed_look_ups_cost_what_is_expected),
        in_folder(test_smaller_distances_cost_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
