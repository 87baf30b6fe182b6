/* compact.h: compaction of an index that is open. */
#ifndef IDX_LIBIDX_COMPACT_H
#define IDX_LIBIDX_COMPACT_H

#include "libidx/view/index.h"

/* idx_compact, of what a view has, which it closes: in place of reading all that is pending once more. Where another
 * compaction came first, there is nothing to do. */
enum idx_status idxi_compact(struct idx_index *index, const struct idx_compact_options *options,
                             struct idx_error *error);

#endif
