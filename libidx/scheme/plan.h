/* plan.h: the scheme that `auto` chooses. */
#ifndef IDX_LIBIDX_PLAN_H
#define IDX_LIBIDX_PLAN_H

#include <idx.h>
#include <idx_planning.h>

/* Sets *scheme to the one that `auto` chooses for the options, which must be valid. Ignores their calibration and
 * residence, so that the scheme is the same on every machine. Errors: IDX_OUT_OF_MEMORY; then *scheme is unchanged. */
enum idx_status idxi_plan_auto(const struct idx_plan_options *options, struct idx_scheme *scheme,
                               struct idx_error *error);

#endif
