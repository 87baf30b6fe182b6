/* lock.h: the lock of the one writer that an index can have at a time (SPEC.md, chapter 12). */
#ifndef IDX_LIBIDX_LOCK_H
#define IDX_LIBIDX_LOCK_H

#include <idx.h>

#define IDXI_LOCK_NAME "writer.lock"

/* Takes the lock of an index, given by its folder (a descriptor, and the path); sets *lock, a descriptor for
 * idxi_lock_close. The lock goes with the process, however it ends.
 * Errors: IDX_BUSY (the sentence names who has it), IDX_NO_ACCESS, IDX_DISK_FULL, IDX_IO_ERROR, IDX_OUT_OF_MEMORY. */
enum idx_status idxi_lock_open(int *lock, int folder, const char *folder_path, struct idx_error *error);

/* The same for who lets no writer come meanwhile, and may share it with others who do. */
enum idx_status idxi_lock_share(int *lock, int folder, const char *folder_path, struct idx_error *error);

/* Below 0 is fine. */
void idxi_lock_close(int lock);

#endif
