/* plan.c: tests of plans: that those listed are the best there are, and that `auto` takes the right one. */
#include <math.h>

#include "libidx/scheme/scheme.h"
#include "libidx/view/index.h"
#include "tests/libidx/blocks.h"
#include "tests/libidx/plans.h"
#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

#include <idx_planning.h>

/* ---- Plans ---- */

static void test_plan_of_a_scheme(void **state) {
    (void)state;
    struct idx_plan_options options = options_of(UINT64_C(1) << 34, 64, 3);
    struct idx_plan plan;
    options.block_size = 128;
    assert_ok(idx_scheme_parse(&scheme, "20", 64, 3, 0, &failure));
    assert_ok(idx_plan_scheme(&options, &scheme, &plan, &failure));
    assert_string_equal(plan.scheme, "6:3");
    assert_int_equal(plan.tables, 20);
    assert_false(plan.chosen);
    options.k = 4;
    assert_status(IDX_WEAK_SCHEME, idx_plan_scheme(&options, &scheme, &plan, &failure));
    assert_string_equal(failure.sentence, "scheme '6:3' does not cover k = 4: some pairs at that distance would be "
                                          "missed; use more blocks, a larger radius, or auto");
    options.k = 3;
    options.bits = 63;
    assert_status(IDX_INVALID_ARGUMENT, idx_plan_scheme(&options, &scheme, &plan, &failure));
    options.bits = 64;
    options.count = UINT64_C(1) << 40;
    assert_status(IDX_LIMIT, idx_plan_scheme(&options, &scheme, &plan, &failure));
    idxi_scheme_init(&scheme, "masks", 64);
    for (size_t i = 0; i < IDX_MAX_TABLES; i++) scheme.tables[i] = (struct idx_table){UINT64_MAX, 3};
    scheme.table_count = IDX_MAX_TABLES;
    options.count = 1000;
    assert_ok(idx_plan_scheme(&options, &scheme, &plan, &failure));
    assert_string_equal(plan.scheme, ""); /* so many masks have no room */
}

/* Each is proved, costs what it says, and is worth its bytes; and no named scheme is better than those listed. */
static void check_plans(const struct idx_plan_options *options) {
    static const char *const texts[] = {
        "1:1",     "2:1",   "3:1",   "4:1",   "5:1",   "6:1",   "7:1",   "8:1",   "9:1",   "3:2",     "4:2",    "5:2",
        "6:2",     "6:3",   "7:3",   "8:2",   "8:3",   "9:2",   "1:1:1", "1:1:2", "1:1:3", "2:1:1",   "2:1:2",  "2:1:3",
        "4:1/4:1", "3:1:1", "3:1:2", "4:1:1", "4:1:2", "5:2:1", "10:3",  "17:1",  "7:2:1", "5:1/5:1", "3:1/3:1"};
    make_plans(options);
    for (size_t i = 0; i < plan_count; i++) {
        struct idx_plan plan = price(options, plans[i].scheme);
        plan.chosen = plans[i].chosen;
        assert_memory_equal(&plan, &plans[i], sizeof plan);
        assert_true(i == 0 || plans[i].tables > plans[i - 1].tables);
        assert_true(i == 0 || plans[i].nanoseconds <= 0.95 * plans[i - 1].nanoseconds);
    }
    for (size_t i = 0; i < LENGTH(texts); i++) {
        double least = INFINITY;
        if (idx_scheme_parse(&scheme, texts[i], options->bits, options->k, 0, NULL) != IDX_OK) continue;
        struct idx_plan plan = price(options, texts[i]);
        for (size_t j = 0; j < plan_count && plans[j].tables <= plan.tables; j++) least = plans[j].nanoseconds;
        if (plan.nanoseconds < 0.93 * least) fail_msg("%s is missing for k = %u", texts[i], options->k);
    }
}

static void check_counts(uint64_t first, uint64_t factor) {
    static const unsigned widths[] = {64, 40, 20};
    for (size_t i = 0; i < LENGTH(widths); i++) {
        for (unsigned k = 0; k <= IDX_MAX_K; k++) {
            for (uint64_t count = first; count <= UINT64_C(100000000000); count *= factor) {
                struct idx_plan_options options = options_of(count, widths[i], k);
                check_plans(&options);
                assert_non_null(chosen_plan());
            }
        }
    }
}

static void test_plans(void **state) {
    (void)state;
    check_counts(1, 100000);
}

static void test_more_plans(void **state) {
    (void)state;
    check_counts(100, 100);
}

/* Whatever the times come to, two halves of 3:2 are found for 1e7, which no B:C is as fast as. */
static void test_more_than_blocks(void **state) {
    (void)state;
    struct idx_plan_options options = options_of(10000000, 64, 3);
    make_plans(&options);
    const struct idx_plan *six = chosen_plan();
    assert_int_equal(six->tables, 6);
    assert_string_equal(six->scheme, "@fffffc0000000000,@ffe003ff00000000,@001fffff00000000,@00000000fffffc00,"
                                     "@00000000ffe003ff,@00000000001fffff");
    assert_true(six->nanoseconds < price(&options, "5:2").nanoseconds);
    assert_true(six->nanoseconds < price(&options, "4:1").nanoseconds);
}

static void test_few_bits(void **state) {
    (void)state;
    for (unsigned bits = 1; bits <= 18; bits++) {
        for (unsigned k = 0; k < bits && k <= IDX_MAX_K; k++) {
            struct idx_plan_options options = options_of(100000, bits, k);
            make_plans(&options);
            for (size_t i = 0; i < plan_count; i++)
                assert_ok(idx_scheme_parse(&scheme, plans[i].scheme, bits, k, 0, &failure));
        }
    }
}

static void test_options(void **state) {
    (void)state;
    struct idx_plan_options options = options_of(1000, 64, 17);
    assert_status(IDX_INVALID_ARGUMENT, idx_plan(&options, NULL, 0, &plan_count, &failure));
    options = options_of(1000, 0, 0);
    assert_status(IDX_INVALID_ARGUMENT, idx_plan(&options, NULL, 0, &plan_count, &failure));
    options = options_of(1000, 64, 3);
    static const uint32_t wrong[] = {0, 1, 32, 100, 8192};
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        options.block_size = wrong[i];
        assert_status(IDX_INVALID_ARGUMENT, idx_plan(&options, NULL, 0, &plan_count, &failure));
    }
    options = options_of(UINT64_C(100000000000), 64, 3);
    options.block_size = 128;
    assert_ok(idx_plan(&options, NULL, 0, &plan_count, &failure));
    options.block_size = 64;
    assert_status(IDX_LIMIT, idx_plan(&options, NULL, 0, &plan_count, &failure));
    assert_string_equal(failure.sentence,
                        "100000000000 fingerprints need more blocks of 64 bytes than the 4294967295 that a table can "
                        "have: choose larger blocks, or several indexes");
    options = options_of(0, 1, 0);
    make_plans(&options);
    assert_int_equal(plans[0].tables, 1);
}

static void test_plans_keep_to_their_room(void **state) {
    (void)state;
    struct idx_plan_options options = options_of(1000000, 64, 3);
    struct idx_plan few[3];
    size_t all;
    assert_ok(idx_plan(&options, NULL, 0, &all, &failure));
    assert_true(all > 2);
    memset(few, 0, sizeof few);
    assert_ok(idx_plan(&options, few, 2, &plan_count, &failure));
    assert_int_equal(plan_count, all);
    assert_true(few[1].tables > 0);
    assert_int_equal(few[2].tables, 0);
    options.size = offsetof(struct idx_plan_options, block_size); /* of an older header: k counts, what follows not */
    options.k = 0;
    options.block_size = 1;
    make_plans(&options);
    assert_int_equal(plan_count, 1);
    assert_string_equal(plans[0].scheme, "1:1");
}

/* ---- auto ---- */

/* The fastest that fits, or else the smallest. */
static void check_choice(uint64_t count, unsigned most, double bytes) {
    struct idx_plan_options options = options_of(count, 64, 3);
    const struct idx_plan *expected = &plans[0];
    options.max_bytes_per_fingerprint = most;
    make_plans(&options);
    for (size_t i = 0; i < plan_count; i++) {
        if (plans[i].table_bytes + plans[i].resident_bytes <= bytes) expected = &plans[i];
    }
    assert_ptr_equal(chosen_plan(), expected);
}

static void test_auto_keeps_to_its_bytes(void **state) {
    (void)state;
    static const uint64_t counts[] = {100, 10000, 1000000, 100000000, 10000000000};
    for (size_t i = 0; i < LENGTH(counts); i++) {
        double count = (double)counts[i];
        check_choice(counts[i], 0, 64 * count + 1048576);
        for (unsigned most = 1; most <= 1000; most = most * 3 / 2 + 1) check_choice(counts[i], most, most * count);
    }
}

static void test_auto_is_what_is_chosen(void **state) {
    (void)state;
    for (uint64_t count = 1; count < UINT64_C(10000000000); count *= 10) {
        struct idx_plan_options options = options_of(count, 64, 5);
        make_plans(&options);
        assert_ok(idx_scheme_parse(&scheme, "auto", 64, 5, count, &failure));
        assert_string_equal(price(&options, chosen_plan()->scheme).scheme, chosen_plan()->scheme);
        struct idx_scheme again = scheme;
        assert_ok(idx_scheme_parse(&scheme, "auto", 64, 5, count, &failure));
        assert_memory_equal(&scheme, &again, sizeof scheme);
    }
}

static size_t tables_built(const char *path, const struct set *set, unsigned most, struct idx_scheme *built) {
    struct idx_build_options options = options_for(set->bits, 3, "auto");
    options.id_type = IDX_ID_NONE;
    options.max_bytes_per_fingerprint = most;
    build_index(path, &options, set->items, set->count);
    struct idx_index *index = open_index(path, IDX_RESIDENCE_NONE);
    *built = index->scheme;
    idx_close(index);
    remove_all(path);
    return built->table_count;
}

static void test_auto_when_building(void **state) {
    const char *path = path_in(*state, "i");
    struct set set = make_set(SHAPE_UNIFORM, 64, 100000, 1);
    struct idx_scheme built;
    assert_int_equal(tables_built(path, &set, 1, &built), 1);
    assert_int_equal(tables_built(path, &set, 7, &built), 1);
    assert_int_equal(tables_built(path, &set, 16, &built), 2);
    assert_string_equal(built.name, "2:1:1");
    assert_int_equal(tables_built(path, &set, 0, &built), 4);
    assert_string_equal(built.name, "4:1");
    free_set(&set);
}

/* Where half of the fingerprints share 16 bits, no table has these alone in front, as 4:1 would. */
static void test_auto_for_shared_bits(void **state) {
    const uint64_t shared = UINT64_C(0xffff) << 48;
    struct set set = make_set(SHAPE_UNIFORM, 64, 20000, 1);
    struct idx_scheme built;
    for (size_t i = 0; i < set.count; i += 2) set.items[i] = set.items[i] & ~shared;
    assert_in_range(tables_built(path_in(*state, "i"), &set, 0, &built), 1, 20);
    for (size_t i = 0; i < built.table_count; i++) assert_true((built.tables[i].mask & ~shared) != 0);
    free_set(&set);
}

/* Of 2^17 fingerprints that differ in 17 bits alone, look-ups search fewer blocks than with the scheme for uniform
 * ones. */
static void test_auto_of_dense_fingerprints(void **state) {
    const char *path = path_in(*state, "i");
    struct set set = make_set(SHAPE_DENSE_LOW, 64, scale(1 << 17), 1);
    struct idx_scheme built;
    double blocks[2];
    static const char *const texts[] = {"auto", "4:1"};
    tables_built(path, &set, 0, &built);
    for (size_t i = 0; i < built.table_count; i++) assert_true(built.tables[i].mask < UINT64_C(1) << 17);
    for (size_t i = 0; i < LENGTH(texts); i++) {
        struct idx_build_options options = options_for(64, 3, texts[i]);
        uint64_t seed = 1, sum = 0;
        build_index(path, &options, set.items, set.count);
        struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
        for (size_t query = 0; query < 20; query++) {
            sum += search_blocks(index, next_random(&seed) % set.count, 3);
        }
        blocks[i] = (double)sum;
        idx_close(index);
        remove_all(path);
    }
    if (blocks[0] >= blocks[1]) fail_msg("auto searches %g blocks, 4:1 %g", blocks[0], blocks[1]);
    free_set(&set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan_of_a_scheme),
        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_more_plans),
        cmocka_unit_test(test_more_than_blocks),
        cmocka_unit_test(test_few_bits),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_plans_keep_to_their_room),
        cmocka_unit_test(test_auto_keeps_to_its_bytes),
        cmocka_unit_test(test_auto_is_what_is_chosen),
        in_folder(test_auto_when_building),
        in_folder(test_auto_for_shared_bits),
        in_folder(test_auto_of_dense_fingerprints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
