/* compact.h: compaction of an open index. */
#ifndef IDX_LIBIDX_COMPACT_H
#define IDX_LIBIDX_COMPACT_H

#include "libidx/view/index.h"

/* As idx_compact, with a view, which it closes, so that pending records need not be read again. If another compaction
 * came first, there is nothing to do. */
enum idx_status idxi_compact(struct idx_index *index, const struct idx_compact_options *options,
                             struct idx_error *error);

#endif
