/* probing.c: tests of which tables are probed for distances below k: enough to find all, none that is not needed. */
#include "libidx/scheme/scheme.h"

#include "tests/libidx/support.h"
#include "tests/libidx/trial.h"

/* What is probed, as a scheme. */
static struct idx_scheme scheme_of(const struct idx_scheme *scheme, const struct idxi_probing *probing) {
    struct idx_scheme probed = {.bits = scheme->bits, .table_count = probing->count};
    assert_in_range(probing->count, 1, scheme->table_count);
    for (size_t i = 0; i < probing->count; i++)
        probed.tables[i] = (struct idx_table){probing->tables[i].mask, probing->tables[i].radius};
    return probed;
}

/* Tables of the scheme, in its order, each once, and no radius above what is asked for. */
static void check_tables(const struct idx_scheme *scheme, const struct idxi_probing *probing, unsigned distance) {
    for (size_t i = 0; i < probing->count; i++) {
        const struct idxi_probed_table *probed = &probing->tables[i];
        assert_in_range(probed->table, i == 0 ? 0 : probing->tables[i - 1].table + 1, scheme->table_count - 1);
        assert_true(probed->mask == scheme->tables[probed->table].mask);
        assert_in_range(probed->radius, 0, distance);
        assert_in_range(probed->radius, 0, scheme->tables[probed->table].radius);
    }
}

/* Without any one of the tables, or with any radius less, something would be missed. */
static void check_need(const struct idx_scheme *probed, unsigned distance) {
    for (size_t i = 0; i < probed->table_count; i++) {
        struct idx_scheme less = *probed;
        less.tables[i] = less.tables[--less.table_count];
        assert_false(idxi_scheme_covers(&less, distance));
        less = *probed;
        if (less.tables[i].radius == 0) continue;
        less.tables[i].radius--;
        assert_false(idxi_scheme_covers(&less, distance));
    }
}

static struct idxi_probing *make(const struct idx_scheme *scheme, unsigned k) {
    struct idxi_probing *probings;
    assert_ok(idxi_probings_make(&probings, scheme, k, &failure));
    return probings;
}

static void check_scheme(const char *text, unsigned bits, unsigned k) {
    struct idx_scheme scheme;
    assert_ok(idx_scheme_parse(&scheme, text, bits, k, 1000000, &failure));
    struct idxi_probing *probings = make(&scheme, k);
    for (unsigned distance = 0; distance <= k; distance++) {
        struct idx_scheme probed = scheme_of(&scheme, &probings[distance]);
        check_tables(&scheme, &probings[distance], distance);
        if (!idxi_scheme_covers(&probed, distance)) fail_msg("%s of %u bits misses some at %u", text, bits, distance);
        if (distance < k) check_need(&probed, distance);
    }
    assert_int_equal(probings[k].count, scheme.table_count);
    idxi_probings_free(probings);
}

static void test_enough_and_no_more(void **state) {
    static const char *const schemes[] = {"4",   "10",  "16",    "20",    "2:1:1", "3:1:2", "4:1:1",
                                          "8:1", "8:2", "2:1:3", "4:2:1", "auto",  "7:4"};
    static const unsigned bits[] = {8, 12, 31, 33, 64};
    (void)state;
    for (size_t i = 0; i < LENGTH(schemes) * LENGTH(bits); i++) {
        const char *scheme = schemes[i % LENGTH(schemes)];
        int k = largest_k(scheme, bits[i / LENGTH(schemes)]);
        if (k >= 0) check_scheme(scheme, bits[i / LENGTH(schemes)], (unsigned)k);
    }
    check_scheme("4", 64, 2);
    check_scheme("10", 64, 0);
    check_scheme("2:1:1", 64, 1);
}

/* What each distance costs, by hand: two tables without a bit in common find all with one error. */
static void test_numbers_of_tables(void **state) {
    static const struct {
        const char *scheme;
        unsigned distance;
        size_t tables;
        unsigned radii; /* added up */
    } cases[] = {
        {"4:1", 0, 1, 0},   {"4:1", 1, 2, 0},     {"4:1", 2, 3, 0},     {"4:1", 3, 4, 0},      {"5:2", 0, 1, 0},
        {"5:2", 1, 2, 0},   {"5:2", 2, 4, 0},     {"5:2", 3, 10, 0},    {"6:3", 0, 1, 0},      {"6:3", 1, 2, 0},
        {"6:3", 3, 20, 0},  {"4:1/4:1", 0, 1, 0}, {"4:1/4:1", 1, 2, 0}, {"4:1/4:1", 3, 16, 0}, {"2:1:1", 0, 1, 0},
        {"2:1:1", 1, 2, 0}, {"2:1:1", 2, 2, 1},   {"2:1:1", 3, 2, 2},   {"3:1:2", 0, 1, 0},    {"3:1:2", 1, 2, 0},
        {"3:1:2", 2, 3, 0}, {"3:1:2", 3, 3, 6},
    };
    size_t wrong = 0;
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct idx_scheme scheme;
        unsigned radii = 0;
        assert_ok(idx_scheme_parse(&scheme, cases[i].scheme, 64, 3, 1000, &failure));
        struct idxi_probing *probings = make(&scheme, 3), *probing = &probings[cases[i].distance];
        for (size_t table = 0; table < probing->count; table++) radii += probing->tables[table].radius;
        if (probing->count != cases[i].tables || radii != cases[i].radii) {
            print_error("%s: %zu tables and radii of %u at distance %u\n", cases[i].scheme, probing->count, radii,
                        cases[i].distance);
            wrong++;
        }
        idxi_probings_free(probings);
    }
    assert_int_equal(wrong, 0);
}

/* The same mask twice, with one radius and with two. */
static void test_masks_that_stand_twice(void **state) {
    static const char *const texts[] = {
        "@ffffffff00000000:1,@ffffffff00000000:1,@00000000ffffffff:1,@00000000ffffffff:1",
        "@ffffffff00000000,@ffffffff00000000:2,@00000000ffffffff:1,@00000000ffffffff",
        "@ffffffff00000000:2,@ffffffff00000000,@00000000ffffffff,@00000000ffffffff:1",
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(texts); i++) check_scheme(texts[i], 64, 3);
}

/* As many tables as there can be, of masks at random; they cover k since the last one tolerates so many errors. What
 * can't be proved quickly is probed. */
static void test_many_unusual_masks(void **state) {
    struct idx_scheme scheme = {.bits = 64, .table_count = IDX_MAX_TABLES};
    uint64_t seed = 1;
    (void)state;
    for (size_t i = 0; i < IDX_MAX_TABLES; i++)
        scheme.tables[i] = (struct idx_table){next_random(&seed) | 1, (unsigned)(i % 3)};
    scheme.tables[IDX_MAX_TABLES - 1] = (struct idx_table){UINT64_MAX, 3};
    struct idxi_probing *probings = make(&scheme, 3);
    for (unsigned distance = 0; distance <= 3; distance++) {
        struct idx_scheme probed = scheme_of(&scheme, &probings[distance]);
        assert_true(idxi_scheme_covers(&probed, distance));
    }
    assert_int_equal(probings[0].count, 1);
    assert_int_equal(probings[3].count, IDX_MAX_TABLES);
    idxi_probings_free(probings);
}

static void test_freeing_none(void **state) {
    (void)state;
    idxi_probings_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_enough_and_no_more),     cmocka_unit_test(test_numbers_of_tables),
        cmocka_unit_test(test_masks_that_stand_twice), cmocka_unit_test(test_many_unusual_masks),
        cmocka_unit_test(test_freeing_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
