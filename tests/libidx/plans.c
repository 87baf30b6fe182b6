/* plans.c: see plans.h. */
#include "tests/libidx/plans.h"

#include <math.h>
#include <stdlib.h>

#include "libidx/scheme/plan.h"
#include "libidx/scheme/price.h"
#include "libidx/streams/sort.h"
#include "tests/libidx/support.h"
#include "tests/random.h"

struct idx_scheme scheme;
struct idx_plan plans[IDX_MAX_TABLES];
size_t plan_count;

struct idx_plan_options options_of(uint64_t count, unsigned bits, unsigned k) {
    struct idx_plan_options options = IDX_PLAN_OPTIONS_INIT;
    options.count = count;
    options.bits = bits;
    options.k = k;
    return options;
}

struct idx_plan price(const struct idx_plan_options *options, const char *text) {
    struct idx_plan plan;
    assert_ok(idx_scheme_parse(&scheme, text, options->bits, options->k, options->count, &failure));
    idxi_price_single_scheme(options, &scheme, &plan);
    return plan;
}

void make_plans(const struct idx_plan_options *options) {
    assert_ok(idx_plan(options, plans, LENGTH(plans), &plan_count, &failure));
    assert_in_range(plan_count, 1, LENGTH(plans));
}

const struct idx_plan *chosen_plan(void) {
    const struct idx_plan *chosen = NULL;
    for (size_t i = 0; i < plan_count; i++) {
        if (!plans[i].chosen) continue;
        assert_null(chosen);
        chosen = &plans[i];
    }
    assert_non_null(chosen);
    return chosen;
}

bool is_near(double a, double b, double tolerance) { return fabs(a - b) <= tolerance * fmax(fabs(a), fabs(b)); }

uint64_t *sorted_uniform(size_t *wanted, unsigned bits) {
    size_t count = *wanted, kept = 0;
    uint64_t seed = count, *items = malloc(count * sizeof *items), *spare = malloc(count * sizeof *spare);
    assert_non_null(items);
    assert_non_null(spare);
    for (size_t i = 0; i < count; i++) items[i] = next_random(&seed) << (64 - bits);
    idxi_sort_pairs(items, NULL, count, false, spare, NULL);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || items[i] != items[kept - 1]) items[kept++] = items[i];
    }
    *wanted = kept;
    free(spare);
    return items;
}
