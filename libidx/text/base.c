/* base.c: errors of libidxtext, each a status and a sentence, and buffers that grow geometrically. */
#include "libidx/text/base.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unicode/uvernum.h>

enum idx_status idxt_fail(struct idx_error *error, enum idx_status status, const char *format, ...) {
    if (error == NULL) return status;
    memset(error, 0, sizeof *error);
    error->status = status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->sentence, sizeof error->sentence, format, arguments);
    va_end(arguments);
    return status;
}

/* Returns the status for an errno of a system call: IDX_IO_ERROR where idx.h has no closer one. */
static enum idx_status get_status_of_errno(int system_errno) {
    switch (system_errno) {
        case ENOENT:
        case ENOTDIR: return IDX_NOT_FOUND;
        case EACCES:
        case EPERM:
        case EROFS: return IDX_NO_ACCESS;
        case ENOSPC:
        case EDQUOT:
        case EFBIG: return IDX_DISK_FULL;
        case ENOMEM: return IDX_OUT_OF_MEMORY;
    }
    return IDX_IO_ERROR;
}

const char *idxt_path_end(const char *path) {
    size_t length = strlen(path), max_length = sizeof(((struct idx_error *)NULL)->file) - 1;
    return length > max_length ? path + length - max_length : path;
}

enum idx_status idxt_fail_system(struct idx_error *error, const char *path, const char *action, int system_errno) {
    const char *path_end = idxt_path_end(path);
    enum idx_status status = idxt_fail(error, get_status_of_errno(system_errno), "can't %s %s: %s", action, path_end,
                                       strerror(system_errno));
    if (error == NULL) return status;
    error->system_errno = system_errno;
    snprintf(error->file, sizeof error->file, "%s", path_end);
    return status;
}

enum idx_status idxt_fail_memory(struct idx_error *error) {
    return idxt_fail(error, IDX_OUT_OF_MEMORY, "out of memory while fingerprinting a text");
}

enum idx_status idxt_fail_icu(struct idx_error *error, UErrorCode code) {
    if (code == U_MEMORY_ALLOCATION_ERROR) return idxt_fail_memory(error);
    if (code == U_INDEX_OUTOFBOUNDS_ERROR)
        return idxt_fail(error, IDX_LIMIT, "a text becomes too long by normalisation");
    if (code == U_UNSUPPORTED_ERROR)
        return idxt_fail(error, IDX_UNSUPPORTED,
                         "ICU %s lacks dictionaries here, by which recipes with v1 cut texts of scripts without "
                         "spaces: take a recipe with v2, or an idx whose ICU has them: the Debian packages idx and "
                         "python3-libidx, or libidx of conda-forge",
                         U_ICU_VERSION);
    return idxt_fail(error, IDX_UNSUPPORTED, "ICU %s can't segment text here: %s", U_ICU_VERSION, u_errorName(code));
}

/* ---- Buffers ---- */

enum { MIN_CAPACITY = 256 };

void *idxt_buffer_grow(void *buffer, size_t *capacity, size_t needed, size_t element_size) {
    if (buffer != NULL && needed <= *capacity) return buffer;
    size_t new_capacity = *capacity + *capacity / 2;
    if (new_capacity < needed) new_capacity = needed;
    if (new_capacity < MIN_CAPACITY) new_capacity = MIN_CAPACITY;
    if (new_capacity > SIZE_MAX / element_size) return NULL;
    void *new_buffer = realloc(buffer, new_capacity * element_size);
    if (new_buffer != NULL) *capacity = new_capacity;
    return new_buffer;
}
