/* index_lock.h: the locks of an index that is open. */
#ifndef IDX_LIBIDX_INDEX_LOCK_H
#define IDX_LIBIDX_INDEX_LOCK_H

#include "libidx/base/lock.h"
#include "libidx/view/index.h"

/* Takes a lock of the index that a view is of, and makes the view the newest one; where another index comes to stand at
 * the path meanwhile, that one's. The view must be the caller's alone. Errors: as idxi_lock_open and idx_refresh. */
enum idx_status idxi_lock_index(int *lock, const char *name, struct idx_index **index, struct idx_error *error);

/* Whether a lock is that of the index which a view is of: another one may have come to stand at its path. */
bool idxi_lock_is_of(int lock, const char *name, const struct idx_index *index);

#endif
