/* plan.h: what the parts of libidx share about plans: what schemes cost, and which one `auto` takes. */
#ifndef IDX_LIBIDX_PLAN_H
#define IDX_LIBIDX_PLAN_H

#include <idx.h>

/* Nanoseconds that probing a table takes, for each radius and prefix, on uniform fingerprints. */
struct idxi_times {
    double of[IDX_MAX_RADIUS + 1][IDX_MAX_BITS + 1];
};

/* What a scheme costs, all of it but `chosen`. The options must be right. */
void idxi_plan_scheme(const struct idx_plan_options *options, const struct idx_scheme *scheme, struct idx_plan *plan);

/* The scheme that `auto` takes. Errors: IDX_OUT_OF_MEMORY. */
enum idx_status idxi_plan_auto(const struct idx_plan_options *options, struct idx_scheme *scheme,
                               struct idx_error *error);

#endif
