/* plan.h: what the parts of libidx share about plans: what look-ups cost, and which scheme `auto` takes. */
#ifndef IDX_LIBIDX_PLAN_H
#define IDX_LIBIDX_PLAN_H

#include <idx.h>

/* Blocks that a probe searches which finds `group` fingerprints with its prefix: those that hold them, and, half a cell
 * of the directory on average, what lies before. */
double idxi_expected_blocks(double group, double block_fingerprints);

/* How many of the last bits of a prefix are not flipped, where a radius has bits flipped, but searched for all their
 * values at once: so many that a look-up finds a few fingerprints. */
unsigned idxi_spared_bits(uint64_t count, unsigned prefix);

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
