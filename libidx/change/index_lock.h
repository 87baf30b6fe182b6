/* index_lock.h: the locks of an open index. */
#ifndef IDX_LIBIDX_INDEX_LOCK_H
#define IDX_LIBIDX_INDEX_LOCK_H

#include <idx.h>

/* Locks the index of the view *index by its lock file `name`, sets *lock to the file's descriptor for idxi_lock_close,
 * and refreshes the view: *index may become another one. If another index replaces it at the same time, locks that one.
 * The view must belong to the caller alone. *lock must be -1 before, and is to be closed even after an error. Errors:
 * as idxi_lock and idx_refresh. */
enum idx_status idxi_lock_index(int *lock, const char *name, struct idx_index **index, struct idx_error *error);

/* Returns whether the descriptor `lock` is that of the lock file `name` in the folder of a view: false after another
 * index has replaced the one that was locked. */
bool idxi_lock_belongs_to(int lock, const char *name, const struct idx_index *index);

#endif
