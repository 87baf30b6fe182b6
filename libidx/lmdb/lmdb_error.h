/* lmdb_error.h: what LMDB says when it fails, as errors of the library. */
#ifndef IDX_LIBIDX_LMDB_ERROR_H
#define IDX_LIBIDX_LMDB_ERROR_H

#include <idx.h>
#include <lmdb.h>

/* After a call of LMDB returned `result`. The sentence is `path: can't <action>: <reason>`. */
enum idx_status idxi_fail_lmdb(struct idx_error *error, int result, const char *path, const char *action);

/* After a call that may have written to an open environment's file: returns `result`, or ENOSPC where that is EIO,
 * which LMDB says of a write that was cut short, and the disk turns out to be full. */
int idxi_lmdb_write_error(MDB_env *env, int result);

/* idxi_fail_lmdb of that. */
enum idx_status idxi_fail_lmdb_write(struct idx_error *error, MDB_env *env, int result, const char *path,
                                     const char *action);

#endif
