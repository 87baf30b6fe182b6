/* index_lock.h: the locks of an open index. */
#ifndef IDX_LIBIDX_INDEX_LOCK_H
#define IDX_LIBIDX_INDEX_LOCK_H

#include "libidx/base/lock.h"
#include "libidx/view/index.h"

/* Locks the index of a view, and refreshes the view. If another index replaces it at the same time, locks that one. The
 * view must belong to the caller alone. Errors: as idxi_lock_open and idx_refresh. */
enum idx_status idxi_lock_index(int *lock, const char *name, struct idx_index **index, struct idx_error *error);

/* Whether a lock is that of the index of a view: another index may have replaced it. */
bool idxi_lock_is_of(int lock, const char *name, const struct idx_index *index);

#endif
