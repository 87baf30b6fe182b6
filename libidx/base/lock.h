/* lock.h: the locks of the one writer, and of the one compaction, that an index can have at a time (SPEC.md, chapter
 * 12): files in its folder, locked by flock, whose text says who has them. */
#ifndef IDX_LIBIDX_LOCK_H
#define IDX_LIBIDX_LOCK_H

#include <idx.h>

#define IDXI_LOCK_NAME "writer.lock"
#define IDXI_COMPACT_LOCK_NAME "compact.lock"
#define IDXI_MANIFEST_LOCK_NAME "manifest.lock" /* of both, while either changes the manifest */

/* Takes a lock, by its name, of an index, given by its folder (a descriptor, and the path); sets *lock, a descriptor
 * for idxi_lock_close. Waits for those who share it for a moment. The lock goes with the process, however it ends.
 * Errors: IDX_BUSY (the sentence names who has it), IDX_NO_ACCESS, IDX_DISK_FULL, IDX_IO_ERROR, IDX_OUT_OF_MEMORY. */
enum idx_status idxi_lock_open(int *lock, const char *name, int folder, const char *folder_path,
                               struct idx_error *error);

/* The same for who lets nobody take it meanwhile, and may share it with others who do: for a moment, or for longer,
 * when others are told so at once. */
enum idx_status idxi_lock_for_a_moment(int *lock, const char *name, int folder, const char *folder_path,
                                       struct idx_error *error);
enum idx_status idxi_lock_share(int *lock, const char *name, int folder, const char *folder_path,
                                struct idx_error *error);

/* Takes a lock that nobody has but for a moment, and waits for that; closing the descriptor gives it up. */
enum idx_status idxi_lock_wait(int *lock, const char *name, int folder, const char *folder_path,
                               struct idx_error *error);

/* Below 0 is fine. */
void idxi_lock_close(int lock);

#endif
