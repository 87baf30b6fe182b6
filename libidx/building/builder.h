/* builder.h: the check of build options, for the other files that need it. */
#ifndef IDX_LIBIDX_BUILDER_H
#define IDX_LIBIDX_BUILDER_H

#include <idx.h>

/* Errors: IDX_INVALID_ARGUMENT, IDX_BAD_SCHEME, IDX_WEAK_SCHEME. */
enum idx_status idxi_build_options_check(const struct idx_build_options *options, struct idx_error *error);

#endif
