/* batch.h: what idx_batch and idx_stream share. */
#ifndef IDX_LIBIDX_BATCH_H
#define IDX_LIBIDX_BATCH_H

#include <idx.h>

/* Copies options, or where they are NULL takes the defaults, and checks all but the distance. Errors:
 * IDX_INVALID_ARGUMENT. */
enum idx_status idxi_batch_options(struct idx_batch_options *options, const struct idx_batch_options *given,
                                   struct idx_error *error);

#endif
