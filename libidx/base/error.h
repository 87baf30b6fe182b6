/* error.h: errors, and checks of arguments. */
#ifndef IDX_LIBIDX_ERROR_H
#define IDX_LIBIDX_ERROR_H

#include <idx.h>

#include "format/fault.h"

/* A function that fails ends in one of the idxi_fail functions. They fill *error, unless `error` is NULL, and return
 * the status. `file` is the path of the file that failed, with which the sentence begins. */

/* Fails with `status`. The sentence is `file: ` (unless `file` is NULL) and the formatted text. */
enum idx_status idxi_fail(struct idx_error *error, enum idx_status status, const char *file, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Fails after a system call that set errno to `system_errno`, which *error keeps. The status is IDX_NOT_FOUND,
 * IDX_EXISTS, IDX_NO_ACCESS, IDX_DISK_FULL or IDX_OUT_OF_MEMORY where errno has such a meaning, else IDX_IO_ERROR. The
 * sentence is `file: can't <action>: <reason>`, such as "x: can't open: Permission denied", and advice where the disk
 * is full. */
enum idx_status idxi_fail_system(struct idx_error *error, int system_errno, const char *file, const char *action);

/* Fails with IDX_OUT_OF_MEMORY. */
enum idx_status idxi_fail_memory(struct idx_error *error);

/* Fails with the status of `fault` (idxi_get_fault_status), which the bytes of a file at `offset` have. *error keeps
 * the offset. The sentence says to restore or rebuild the index. */
enum idx_status idxi_fail_fault(struct idx_error *error, enum idxf_fault fault, const char *file, uint64_t offset);

/* Fails with IDX_NEW_VERSION because a file has format version `version`, which libidx does not support. */
enum idx_status idxi_fail_version(struct idx_error *error, uint32_t version, const char *file);

/* Fails with IDX_WRONG_SIZE because a file has `size` bytes instead of `needed`. The lesser of both becomes the offset
 * in *error. */
enum idx_status idxi_fail_file_size(struct idx_error *error, uint64_t size, uint64_t needed, const char *file);

/* Turns `fault`, the result of reading a file's header, into a status:
 * - IDXF_OK: returns IDX_OK.
 * - IDXF_FAULT_VERSION: fails as idxi_fail_version; `version` is the header's.
 * - IDXF_FAULT_SIZE: fails as idxi_fail_file_size; the file has `size` bytes and needs `needed`.
 * - Others: fails as idxi_fail_fault, at offset 0. */
enum idx_status idxi_check_header(enum idxf_fault fault, uint32_t version, uint64_t size, uint64_t needed,
                                  const char *file, struct idx_error *error);

/* Fails with IDX_FOREIGN_FILE because a file has the uuid of another segment or index. */
enum idx_status idxi_fail_foreign_file(struct idx_error *error, const char *file);

/* Returns the status that users get for a fault of a file: IDX_OK for IDXF_OK, IDX_NEW_VERSION for unknown versions and
 * additions, IDX_WRONG_SIZE, IDX_BAD_CHECKSUM, IDX_FOREIGN_FILE for a uuid, and IDX_BAD_CONTENT for all others. */
enum idx_status idxi_get_fault_status(enum idxf_fault fault);

/* Returns the status of `call` from the calling function, unless it is IDX_OK. */
#define IDXI_TRY(call)                                                                                                 \
    do {                                                                                                               \
        enum idx_status idxi_status_ = (call);                                                                         \
        if (idxi_status_ != IDX_OK) return idxi_status_;                                                               \
    } while (0)

/* ---- Arguments ---- */

/* The errors of these checks are IDX_INVALID_ARGUMENT unless a check says otherwise. */

/* Copies a caller's options, *caller_options, over *options, which has all defaults. If `caller_options` is NULL,
 * changes nothing. Both begin with their size in bytes, a size_t. As many bytes are copied as both have, but `options`
 * keeps its size. Fails if the caller's size is 0: then the caller has not used the _INIT macro. */
enum idx_status idxi_copy_options(void *options, const void *caller_options, struct idx_error *error);

/* Checks that the `length` of an ID, in bytes, is at most IDX_MAX_ID_BYTES. */
enum idx_status idxi_check_id_length(size_t length, struct idx_error *error);

/* Returns whether an item suits an index with IDs of this type. With IDX_ID_TEXT, item->id is the ID; if it is NULL,
 * item->number and item->id_length must be 0. With the other types, item->id must be NULL. */
bool idxi_item_fits_id_type(const struct idx_item *item, enum idx_id_type type);

/* Checks that a number of threads is from 1 to IDX_MAX_THREADS. */
enum idx_status idxi_check_threads(unsigned threads, struct idx_error *error);

/* Checks that a distance is at most IDX_MAX_K, the largest of any index. Else fails with `status`. */
enum idx_status idxi_check_distance_limit(unsigned distance, enum idx_status status, struct idx_error *error);

/* Checks that none of `count` fingerprints has a bit set above its lowest `bits` (1 to 64). The sentence names the
 * first that has. */
enum idx_status idxi_check_fingerprints(const uint64_t *fingerprints, size_t count, unsigned bits,
                                        struct idx_error *error);

/* Checks that a size is a power of two from IDX_MIN_BLOCK_SIZE to IDX_MAX_BLOCK_SIZE. */
enum idx_status idxi_check_block_size(uint32_t size, struct idx_error *error);

#endif
