/* error.c: statuses and their sentences, the checks of arguments, and what the library says of itself. */
#include "libidx/base/base.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "format/limits.h"
#include "format/manifest.h"
#include "format/processor.h"

_Static_assert(IDX_MAX_BITS == IDXF_MAX_BITS, "one rule, one number");
_Static_assert(IDX_MAX_K == IDXF_MAX_K, "one rule, one number");
_Static_assert(IDX_MAX_RADIUS == IDXF_MAX_RADIUS, "one rule, one number");
_Static_assert(IDX_MAX_TABLES == IDXF_MAX_TABLES, "one rule, one number");
_Static_assert(IDX_MIN_BLOCK_SIZE == IDXF_MIN_BLOCK_SIZE, "one rule, one number");
_Static_assert(IDX_MAX_BLOCK_SIZE == IDXF_MAX_BLOCK_SIZE, "one rule, one number");
_Static_assert(IDX_MAX_RECIPE_BYTES == IDXF_MAX_RECIPE_BYTES, "one rule, one number");
_Static_assert((int)IDX_ID_TEXT == IDXF_ID_TEXT && (int)IDX_ID_U64 == IDXF_ID_U64 && (int)IDX_ID_NONE == IDXF_ID_NONE,
               "one numbering");

const char *idx_version(void) { return IDX_VERSION; }

const char *idx_instructions(void) { return idxf_get_instructions_name(); }

const char *idx_status_string(enum idx_status status) {
    switch (status) {
        case IDX_OK: return "no error";
        case IDX_INVALID_ARGUMENT: return "invalid argument";
        case IDX_BAD_SCHEME: return "malformed scheme";
        case IDX_WEAK_SCHEME: return "scheme does not cover k";
        case IDX_BAD_RECIPE: return "unknown recipe";
        case IDX_BAD_DISTANCE: return "distance above the index's k";
        case IDX_NOT_FOUND: return "not found";
        case IDX_NOT_AN_INDEX: return "not an idx index";
        case IDX_EXISTS: return "already exists";
        case IDX_NEW_VERSION: return "format version not supported";
        case IDX_UNSUPPORTED: return "not supported here";
        case IDX_LIMIT: return "limit of the format exceeded";
        case IDX_CANCELLED: return "cancelled by the caller";
        case IDX_BUSY: return "in use by another writer or a compaction";
        case IDX_MISSING_FILE: return "file missing";
        case IDX_FOREIGN_FILE: return "file of another index";
        case IDX_WRONG_SIZE: return "wrong file size";
        case IDX_BAD_CHECKSUM: return "checksum differs";
        case IDX_BAD_CONTENT: return "damaged content";
        case IDX_OUT_OF_MEMORY: return "out of memory";
        case IDX_IO_ERROR: return "input/output error";
        case IDX_DISK_FULL: return "disk full";
        case IDX_NO_ACCESS: return "access denied";
    }
    return "unknown status";
}

/* Sets error->file to a path, or if it is too long, to its end, which says more than its beginning. */
static void set_error_file(struct idx_error *error, const char *file) {
    size_t length = strlen(file), max_length = sizeof error->file - 1;
    snprintf(error->file, sizeof error->file, "%s", length > max_length ? file + length - max_length : file);
}

enum idx_status idxi_fail(struct idx_error *error, enum idx_status status, const char *file, const char *format, ...) {
    if (error == NULL) return status;
    va_list arguments;
    size_t prefix_length = 0;
    memset(error, 0, sizeof *error);
    error->status = status;
    if (file != NULL) {
        set_error_file(error, file);
        prefix_length = (size_t)snprintf(error->sentence, sizeof error->sentence, "%s: ", error->file);
    }
    va_start(arguments, format);
    vsnprintf(error->sentence + prefix_length, sizeof error->sentence - prefix_length, format, arguments);
    va_end(arguments);
    return status;
}

/* Returns the status for the errno of a failed system call: IDX_IO_ERROR for all that have none of their own. */
static enum idx_status get_status_of_errno(int system_errno) {
    switch (system_errno) {
        case ENOENT:
        case ENOTDIR: return IDX_NOT_FOUND;
        case ENOMEM: return IDX_OUT_OF_MEMORY;
        case ENOSPC:
        case EDQUOT:
        case EFBIG: return IDX_DISK_FULL;
        case EACCES:
        case EPERM:
        case EROFS: return IDX_NO_ACCESS;
        case EEXIST:
        case ENOTEMPTY: return IDX_EXISTS;
        default: return IDX_IO_ERROR;
    }
}

enum idx_status idxi_fail_system(struct idx_error *error, int system_errno, const char *file, const char *action) {
    enum idx_status status = get_status_of_errno(system_errno);
    const char *reason = strerror(system_errno);
    bool is_disk_full = system_errno == ENOSPC || system_errno == EDQUOT;
    idxi_fail(error, status, file, "can't %s: %s%s", action, reason,
              is_disk_full ? "; free space there, or put the output or temporary files on another disk" : "");
    if (error != NULL) error->system_errno = system_errno;
    return status;
}

enum idx_status idxi_fail_memory(struct idx_error *error) {
    return idxi_fail(error, IDX_OUT_OF_MEMORY, NULL, "out of memory");
}

enum idx_status idxi_get_fault_status(enum idxf_fault fault) {
    switch (fault) {
        case IDXF_OK: return IDX_OK;
        case IDXF_FAULT_VERSION:
        case IDXF_FAULT_NEEDS: return IDX_NEW_VERSION;
        case IDXF_FAULT_SIZE: return IDX_WRONG_SIZE;
        case IDXF_FAULT_CHECKSUM: return IDX_BAD_CHECKSUM;
        case IDXF_FAULT_UUID: return IDX_FOREIGN_FILE;
        default: return IDX_BAD_CONTENT;
    }
}

enum idx_status idxi_fail_fault(struct idx_error *error, enum idxf_fault fault, const char *file, uint64_t offset) {
    enum idx_status status = idxi_get_fault_status(fault);
    idxi_fail(error, status, file, "%s (byte %llu): the file is damaged; rebuild the index, or restore it from a copy",
              idxf_get_fault_predicate(fault), (unsigned long long)offset);
    if (error != NULL) error->offset = offset;
    return status;
}

enum idx_status idxi_fail_file_size(struct idx_error *error, uint64_t size, uint64_t needed, const char *file) {
    idxi_fail(error, IDX_WRONG_SIZE, file,
              "has %llu bytes, but needs %llu: the file is damaged; rebuild the index, or restore it from a copy",
              (unsigned long long)size, (unsigned long long)needed);
    if (error != NULL) error->offset = size < needed ? size : needed;
    return IDX_WRONG_SIZE;
}

enum idx_status idxi_fail_version(struct idx_error *error, uint32_t version, const char *file) {
    return idxi_fail(
        error, IDX_NEW_VERSION, file,
        "has format version %u, but libidx %s reads only version %d: use the version of idx that built it, "
        "or rebuild it",
        version, IDX_VERSION, IDXF_VERSION);
}

enum idx_status idxi_check_header(enum idxf_fault fault, uint32_t version, uint64_t size, uint64_t needed,
                                  const char *file, struct idx_error *error) {
    if (fault == IDXF_OK) return IDX_OK;
    if (fault == IDXF_FAULT_VERSION) return idxi_fail_version(error, version, file);
    return fault == IDXF_FAULT_SIZE ? idxi_fail_file_size(error, size, needed, file)
                                    : idxi_fail_fault(error, fault, file, 0);
}

enum idx_status idxi_fail_foreign_file(struct idx_error *error, const char *file) {
    return idxi_fail(error, IDX_FOREIGN_FILE, file,
                     "belongs to another index: restore the right file, or rebuild the index");
}

/* ---- Arguments ---- */

enum idx_status idxi_copy_options(void *options, const void *caller_options, struct idx_error *error) {
    size_t size, caller_size;
    const size_t head = sizeof(size_t); /* bytes of the size itself, which are not copied */
    if (caller_options == NULL) return IDX_OK;
    memcpy(&size, options, sizeof size);
    memcpy(&caller_size, caller_options, sizeof caller_size);
    if (caller_size == 0)
        return idxi_fail(
            error, IDX_INVALID_ARGUMENT, NULL,
            "options of size 0: initialise them with the macro that is called like their struct, and _INIT");
    size_t common_bytes = size < caller_size ? size : caller_size;
    if (common_bytes > head) memcpy((char *)options + head, (const char *)caller_options + head, common_bytes - head);
    return IDX_OK;
}

enum idx_status idxi_check_id_length(size_t length, struct idx_error *error) {
    if (length <= IDX_MAX_ID_BYTES) return IDX_OK;
    return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "an ID of %zu bytes is too long: the maximum is %d", length,
                     IDX_MAX_ID_BYTES);
}

bool idxi_item_fits_id_type(const struct idx_item *item, enum idx_id_type type) {
    if (item->id != NULL) return type == IDX_ID_TEXT;
    return type != IDX_ID_TEXT || (item->number == 0 && item->id_length == 0);
}

enum idx_status idxi_check_threads(unsigned threads, struct idx_error *error) {
    if (threads >= 1 && threads <= IDX_MAX_THREADS) return IDX_OK;
    return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "%u threads: the number must be 1 to %d", threads,
                     IDX_MAX_THREADS);
}

enum idx_status idxi_check_block_size(uint32_t size, struct idx_error *error) {
    if (size >= IDX_MIN_BLOCK_SIZE && size <= IDX_MAX_BLOCK_SIZE && (size & (size - 1)) == 0) return IDX_OK;
    return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "block size %u: it must be a power of two from %d to %d", size,
                     IDX_MIN_BLOCK_SIZE, IDX_MAX_BLOCK_SIZE);
}

enum idx_status idxi_check_distance_limit(unsigned distance, enum idx_status status, struct idx_error *error) {
    if (distance <= IDX_MAX_K) return IDX_OK;
    return idxi_fail(error, status, NULL, "distance %u: it must be 0 to %d", distance, IDX_MAX_K);
}

enum idx_status idxi_check_fingerprints(const uint64_t *fingerprints, size_t count, unsigned bits,
                                        struct idx_error *error) {
    uint64_t all_bits = 0, forbidden = ~idxf_low_bits(bits);
    size_t offender = 0;
    for (size_t i = 0; i < count; i++) all_bits |= fingerprints[i];
    if ((all_bits & forbidden) == 0) return IDX_OK;
    while ((fingerprints[offender] & forbidden) == 0) offender++;
    return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "fingerprint %016llx has more than %u bits",
                     (unsigned long long)fingerprints[offender], bits);
}
