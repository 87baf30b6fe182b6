/* parts.c: tests of schemes of parts: what they cover, and that the fastest are found. */
#include <math.h>
#include <stdio.h>

#include "libidx/scheme/price.h"
#include "libidx/scheme/scheme.h"
#include "tests/libidx/plans.h"
#include "tests/libidx/support.h"
#include "tests/random.h"

static void test_what_parts_cover(void **state) {
    (void)state;
    for (unsigned blocks = 1; blocks <= 10; blocks++) {
        for (unsigned front = 1; front <= blocks; front++) {
            for (unsigned radius = 0; radius <= IDX_MAX_RADIUS; radius++) {
                char text[16];
                unsigned errors = idxi_count_covered_errors(blocks, front, radius);
                snprintf(text, sizeof text, "%u:%u:%u", blocks, front, radius);
                if (errors > IDX_MAX_K) continue;
                assert_ok(idx_scheme_parse(&scheme, text, 64, errors, 0, &failure));
                assert_false(idxi_scheme_covers(&scheme, errors + 1));
            }
        }
    }
}

/* What idxi_parts_find gives, and what was found by trying all. */
struct finding {
    const struct idxi_table_times *times;
    unsigned bits, k;
    uint64_t live;
    double found[IDXI_MAX_PARTS_TABLES + 1], tried[IDXI_MAX_PARTS_TABLES + 1];
};

static void note_scheme(void *context, const struct idx_scheme *found) {
    struct finding *finding = context;
    double time = 0;
    assert_int_equal(found->bits, finding->bits);
    assert_true(idxi_scheme_covers(found, finding->k));
    for (size_t i = 0; i < found->table_count; i++) {
        assert_true(found->tables[i].mask != 0 && (found->tables[i].mask & ~finding->live) == 0);
        time += finding->times->of[found->tables[i].radius][idx_distance(found->tables[i].mask, 0)];
    }
    assert_true(finding->found[found->table_count] == INFINITY);
    finding->found[found->table_count] = time;
}

/* Goes through all further parts of at least `width` bits, narrowest first. */
static void try_parts(struct finding *finding, unsigned covered, unsigned bits, unsigned width, size_t tables,
                      double time) {
    if (covered > finding->k && time < finding->tried[tables]) finding->tried[tables] = time;
    if (covered > finding->k) return;
    for (; width <= bits; width++) {
        for (unsigned blocks = 1; blocks <= width && blocks <= 4; blocks++) {
            for (unsigned front = 1; front <= blocks; front++) {
                for (unsigned radius = 0; radius <= finding->k && radius <= 2; radius++) {
                    char text[16];
                    struct idx_scheme part;
                    double more = 0;
                    snprintf(text, sizeof text, "%u:%u:%u", blocks, front, radius);
                    assert_ok(idx_scheme_parse(&part, text, width, 0, 0, &failure));
                    for (size_t i = 0; i < part.table_count; i++)
                        more += finding->times->of[radius][idx_distance(part.tables[i].mask, 0)];
                    try_parts(finding, covered + idxi_count_covered_errors(blocks, front, radius) + 1, bits - width,
                              width, tables + part.table_count, time + more);
                }
            }
        }
    }
}

/* With few bits there are few schemes of parts: whatever tables cost, the fastest of each number of them is found. */
static void test_parts_are_the_fastest(void **state) {
    (void)state;
    uint64_t seed = 3;
    for (unsigned trial = 0; trial < 6; trial++) {
        struct idxi_table_times times;
        struct finding finding = {.times = &times, .bits = 9, .k = trial % 3, .live = 0x1dd};
        for (unsigned radius = 0; radius <= IDX_MAX_RADIUS; radius++) {
            for (unsigned prefix = 0; prefix <= IDX_MAX_BITS; prefix++)
                times.of[radius][prefix] = radius == 3 ? 1e9 : (double)(1 + next_random(&seed) % 1000);
        }
        for (size_t i = 0; i < LENGTH(finding.found); i++) finding.found[i] = finding.tried[i] = INFINITY;
        try_parts(&finding, 0, 7, 1, 0, 0);
        assert_ok(idxi_parts_find(9, finding.live, finding.k, &times, note_scheme, &finding, &failure));
        double found = INFINITY, tried = INFINITY; /* with up to so many tables */
        for (size_t tables = 1; tables <= 4; tables++) {
            found = fmin(found, finding.found[tables]);
            tried = fmin(tried, finding.tried[tables]);
            if (!is_near(found, tried, 1e-9))
                fail_msg("k = %u, %zu tables: %g, not %g", finding.k, tables, found, tried);
        }
        assert_true(found < INFINITY);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_parts_cover),
        cmocka_unit_test(test_parts_are_the_fastest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
