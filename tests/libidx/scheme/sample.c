/* sample.c: tests of fingerprints that are not uniform: how long groups are, by a sample, and plans for these. */
#include <math.h>
#include <stdlib.h>

#include "libidx/scheme/sample.h"
#include "libidx/streams/sort.h"
#include "tests/libidx/plans.h"
#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

#include <idx_planning.h>

static double exact_group(const struct set *set, uint64_t mask) {
    double pairs = 0;
    for (size_t i = 0; i < set->distinct_count; i++) {
        for (size_t j = 0; j < set->distinct_count; j++)
            pairs += i != j && ((set->distinct[i] ^ set->distinct[j]) & mask) == 0;
    }
    return pairs / (double)set->distinct_count;
}

/* By parts of different sizes. */
static void take_sample(struct idxi_sample *sample, const uint64_t *fingerprints, size_t count) {
    assert_ok(idxi_sample_begin(sample, &failure));
    for (size_t done = 0, part = 1; done < count; part = part * 2 + 1) {
        size_t more = part < count - done ? part : count - done;
        idxi_sample_add(sample, fingerprints + done, more);
        done += more;
    }
    idxi_sample_end(sample, 64);
}

/* A small set is measured whole. */
static void test_groups_of_all(void **state) {
    (void)state;
    static const uint64_t masks[] = {0xff00000000000000, 0xffff, 0x8000000000000001, UINT64_MAX, 0xffffffff00000000};
    static const enum shape shapes[] = {SHAPE_UNIFORM, SHAPE_CLUSTERED, SHAPE_PREFIXED, SHAPE_SUFFIXED,
                                        SHAPE_ENDS,    SHAPE_ONE,       SHAPE_NONE,     SHAPE_DENSE_LOW};
    for (size_t i = 0; i < LENGTH(shapes); i++) {
        struct set set = make_set(shapes[i], 64, 700, 5);
        struct idxi_sample sample;
        take_sample(&sample, set.distinct, set.distinct_count);
        for (size_t j = 0; j < LENGTH(masks) && set.distinct_count > 0; j++)
            assert_near(idxi_sample_estimate_group_size(&sample, masks[j]), exact_group(&set, masks[j]), 1e-9);
        assert_true(shapes[i] != SHAPE_DENSE_LOW || sample.dead_bits == (UINT64_MAX << 10));
        assert_true(shapes[i] != SHAPE_UNIFORM || sample.dead_bits == 0);
        idxi_sample_free(&sample);
        free_set(&set);
    }
}

/* A large one by a sample: here half of the fingerprints share their first 12 bits. */
static void test_groups_of_some(void **state) {
    (void)state;
    size_t count = 200000;
    uint64_t *items = sorted_uniform(&count, 64), *spare = malloc(count * sizeof *spare);
    struct idxi_sample sample;
    assert_non_null(spare);
    for (size_t i = 0; i < count; i++) items[i] >>= (items[i] >> 30 & 1) * 12;
    idxi_sort_pairs(items, NULL, count, false, spare, NULL);
    take_sample(&sample, items, count);
    double half = (double)count / 2, others = half / 4096;
    assert_in_range(sample.count, 15000, 16384);
    assert_near(idxi_sample_estimate_group_size(&sample, 0xfff0000000000000), (half + others) / 2 + others, 0.03);
    assert_near(idxi_sample_estimate_group_size(&sample, 0xfffffff000000000), half / 65536 / 2, 0.2);
    assert_near(idxi_sample_estimate_group_size(&sample, 0x000000000000ffff), (double)count / 65536, 0.05);
    idxi_sample_free(&sample);
    free(items);
    free(spare);
}

static double five(void *context, uint64_t mask) {
    ++*(size_t *)context;
    assert_true(mask != 0);
    return 5;
}

/* Measured groups are what is counted with; the schemes are listed by them. */
static void test_plans_by_measured_groups(void **state) {
    (void)state;
    size_t calls = 0;
    struct idx_plan_options options = options_of(1000000, 64, 3);
    options.expected_group = five;
    options.context = &calls;
    make_plans(&options);
    assert_true(calls > 0);
    for (size_t i = 0; i < plan_count; i++) assert_near(plans[i].candidates, 5 * plans[i].probes, 1e-9);
    assert_int_equal(plans[plan_count - 1].tables, 4); /* five tables are no better where all groups are of one size */
}

/* Where many bits are dead, no mask has them. */
static void test_dead_bits(void **state) {
    (void)state;
    struct idx_plan_options options = options_of(100000, 64, 3);
    for (unsigned dead = 16; dead <= 40; dead += 8) {
        options.dead_bits = all_ones(dead);
        make_plans(&options);
        assert_ok(idx_scheme_parse(&scheme, chosen_plan()->scheme, 64, 3, 0, &failure));
        for (size_t i = 0; i < scheme.table_count; i++) assert_true((scheme.tables[i].mask & options.dead_bits) == 0);
    }
    options.dead_bits = UINT64_MAX;
    make_plans(&options);
    assert_non_null(chosen_plan());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups_of_all),
        cmocka_unit_test(test_groups_of_some),
        cmocka_unit_test(test_plans_by_measured_groups),
        cmocka_unit_test(test_dead_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
