/* lmdb_error.c: errors of LMDB as errors of the library. */
#include "libidx/segment/lmdb_error.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/limits.h"
#include "libidx/base/error.h"

enum idx_status idxi_fail_lmdb(struct idx_error *error, int result, const char *path, const char *action) {
    if (result > 0) return idxi_fail_system(error, result, path, action);
    return idxi_fail(error, result == MDB_PANIC ? IDX_IO_ERROR : IDX_BAD_CONTENT, path, "can't %s: %s", action,
                     mdb_strerror(result));
}

enum idx_status idxi_fail_lmdb_write(struct idx_error *error, MDB_env *env, int result, const char *path) {
    static const uint8_t page[IDXF_PAGE_SIZE];
    struct stat status;
    mdb_filehandle_t file;
    bool unclear = result == EIO && mdb_env_get_fd(env, &file) == 0 && fstat(file, &status) == 0;
    for (size_t i = 0; i < 256 && unclear; i++) {
        unclear = pwrite(file, page, sizeof page, status.st_size + (off_t)(i * sizeof page)) >= 0;
        if (!unclear) result = errno;
    }
    return idxi_fail_lmdb(
        error, result, path,
        result != EIO ? "write" : "write (the disk was full for a moment, or it fails: make room, and try again)");
}
