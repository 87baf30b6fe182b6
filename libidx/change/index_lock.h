/* index_lock.h: the locks of an open index. */
#ifndef IDX_LIBIDX_INDEX_LOCK_H
#define IDX_LIBIDX_INDEX_LOCK_H

#include <idx.h>

/* Takes the lock file `name` of the index of a view, sets *lock to its descriptor, and refreshes the view. If another
 * index replaces it at the same time, locks that one. The view must belong to the caller alone. Errors: as idxi_lock
 * and idx_refresh. */
enum idx_status idxi_lock_index(int *lock, const char *name, struct idx_index **index, struct idx_error *error);

/* Returns whether a lock is the file `name` of the index of a view. It is not where another index has replaced that
 * one. */
bool idxi_lock_belongs_to(int lock, const char *name, const struct idx_index *index);

#endif
