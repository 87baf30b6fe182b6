/* lmdb_error.h: errors of LMDB as errors of the library. */
#ifndef IDX_LIBIDX_LMDB_ERROR_H
#define IDX_LIBIDX_LMDB_ERROR_H

#include <idx.h>
#include <lmdb.h>

/* After a call of LMDB returned `result`. The sentence is `path: can't <action>: <reason>`. */
enum idx_status idxi_fail_lmdb(struct idx_error *error, int result, const char *path, const char *action);

/* The same after a call that may have written to an open environment's file, with the action `write`: EIO, which LMDB
 * says of a write that was cut short, becomes ENOSPC where the disk turns out to be full; else both causes are named.
 */
enum idx_status idxi_fail_lmdb_write(struct idx_error *error, MDB_env *env, int result, const char *path);

#endif
