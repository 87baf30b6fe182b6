/* kept_sets.h: takes back sets that were added to a file of sets, and not synced. */
#ifndef IDX_LIBIDX_KEPT_SETS_H
#define IDX_LIBIDX_KEPT_SETS_H

#include <idx.h>

/* Returns how many bytes what was added since the last sync takes. */
size_t idxi_kept_sets_added(const struct idx_kept_sets *kept);

/* Forgets what was added since idxi_kept_sets_added returned `added`, without a sync between the two. */
void idxi_kept_sets_forget(struct idx_kept_sets *kept, size_t added);

#endif
