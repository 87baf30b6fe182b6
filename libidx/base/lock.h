/* lock.h: the locks of an index. One process can write to an index at a time, and one can compact it (SPEC.md, chapter
 * 10). Each holds the lock of a file in the folder of the index, by flock; the text of the file says which process that
 * is. */
#ifndef IDX_LIBIDX_LOCK_H
#define IDX_LIBIDX_LOCK_H

#include <idx.h>

#define IDXI_LOCK_NAME "writer.lock"
#define IDXI_COMPACT_LOCK_NAME "compact.lock"
#define IDXI_MANIFEST_LOCK_NAME "manifest.lock" /* Either holds it while it changes the manifest. */

/* How to lock. A process that shares a lock keeps others from taking it, but not from sharing it. */
enum idxi_locking {
    IDXI_LOCK_TAKE,   /* takes the lock, after waiting for processes that share it for a moment */
    IDXI_LOCK_SHARE,  /* shares it; others that want to take it fail at once with IDX_BUSY */
    IDXI_LOCK_MOMENT, /* shares it for a moment, for which others that want to take it wait */
    IDXI_LOCK_WAIT,   /* takes a lock that is only ever held for a moment, and waits for it */
};

/* Locks the file `name`, one of the names above, in the folder of an index; `folder` is its descriptor, `folder_path`
 * its path. Sets *lock to a descriptor for idxi_lock_close, and leaves it as it is after a failure. The lock ends with
 * the process, however that ends. Errors: IDX_BUSY (the sentence names the process that has it), IDX_NO_ACCESS,
 * IDX_DISK_FULL, IDX_IO_ERROR, IDX_OUT_OF_MEMORY. */
enum idx_status idxi_lock(int *lock, enum idxi_locking how, const char *name, int folder, const char *folder_path,
                          struct idx_error *error);

/* Returns whether a call that replaces an index must fail after this status of idxi_lock. Other errors mean that the
 * folder can't have locks. Then it has no writers and compactions either, whose work could be lost. */
static inline bool idxi_lock_forbids(enum idx_status status) {
    return status == IDX_BUSY || status == IDX_OUT_OF_MEMORY;
}

/* Releases a lock and closes its descriptor. Does nothing if `lock` is negative. */
void idxi_lock_close(int lock);

#endif
