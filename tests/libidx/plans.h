/* plans.h: what the tests of plans share. */
#ifndef IDX_TESTS_PLANS_H
#define IDX_TESTS_PLANS_H

#include <idx.h>
#include <idx_planning.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern struct idx_scheme scheme;              /* the last one that was parsed */
extern struct idx_plan plans[IDX_MAX_TABLES]; /* the last ones that were made */
extern size_t plan_count;

struct idx_plan_options options_of(uint64_t count, unsigned bits, unsigned k);

/* The plan of a scheme. */
struct idx_plan price(const struct idx_plan_options *options, const char *text);

void make_plans(const struct idx_plan_options *options);

/* Which of these plans `auto` takes. */
const struct idx_plan *chosen_plan(void);

/* Fingerprints of so many bits, sorted, left-aligned, each once, for free(): of a few bits, *wanted becomes less. */
uint64_t *sorted_uniform(size_t *wanted, unsigned bits);

bool is_near(double a, double b, double tolerance);

#define assert_near(a, b, tolerance)                                                                                   \
    do {                                                                                                               \
        if (!is_near(a, b, tolerance)) fail_msg("%s is %g, not %g", #a, (double)(a), (double)(b));                     \
    } while (0)

#endif
