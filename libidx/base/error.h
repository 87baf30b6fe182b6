/* error.h: errors, and checks of arguments. */
#ifndef IDX_LIBIDX_ERROR_H
#define IDX_LIBIDX_ERROR_H

#include <idx.h>

#include "format/fault.h"

/* A function that fails ends in one of the idxi_fail functions. They fill the caller's error, where `error` may be
 * NULL, and return the status. `file` is the path that the sentence begins with. */

/* Fails with `status`. The sentence is `file: ` (unless `file` is NULL) and the formatted text. */
enum idx_status idxi_fail(struct idx_error *error, enum idx_status status, const char *file, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Fails after a system call; the status follows from the value of errno, `system_errno`. The sentence is
 * `file: can't <action>: <reason>`, and what to do where the disk is full. */
enum idx_status idxi_fail_system(struct idx_error *error, int system_errno, const char *file, const char *action);

/* Fails with IDX_OUT_OF_MEMORY. */
enum idx_status idxi_fail_memory(struct idx_error *error);

/* Fails because the bytes of a file at `offset` have a fault. The sentence says to restore or rebuild the index. */
enum idx_status idxi_fail_fault(struct idx_error *error, enum idxf_fault fault, const char *file, uint64_t offset);

/* Fails because a file has a format version that is not supported. */
enum idx_status idxi_fail_version(struct idx_error *error, uint32_t version, const char *file);

/* Fails with IDX_WRONG_SIZE because a file has `size` bytes, where it needs `needed`. */
enum idx_status idxi_fail_size(struct idx_error *error, uint64_t size, uint64_t needed, const char *file);

/* Returns IDX_OK if `fault`, that of the header of a file, is IDXF_OK. Else fails as idxi_fail_version (`version` is
 * the header's), as idxi_fail_size (the file has `size` bytes, and needs `needed`), or for other faults as
 * idxi_fail_fault. */
enum idx_status idxi_check_header(enum idxf_fault fault, uint32_t version, uint64_t size, uint64_t needed,
                                  const char *file, struct idx_error *error);

/* Fails with IDX_FOREIGN_FILE, because the uuid of a file is not that of its segment. */
enum idx_status idxi_fail_foreign(struct idx_error *error, const char *file);

/* Returns the status that users get for a fault of a file; IDX_OK for IDXF_OK. */
enum idx_status idxi_get_fault_status(enum idxf_fault fault);

/* Returns the status of `call` from the calling function, unless it is IDX_OK. */
#define IDXI_TRY(call)                                                                                                 \
    do {                                                                                                               \
        enum idx_status idxi_status_ = (call);                                                                         \
        if (idxi_status_ != IDX_OK) return idxi_status_;                                                               \
    } while (0)

/* ---- Arguments ---- */

/* The errors of these checks are IDX_INVALID_ARGUMENT unless a check says otherwise. */

/* Copies the options of a caller, `caller_options` (may be NULL), over `options`, which has all defaults. Both begin
 * with their size in bytes, a size_t. As many bytes are copied as both have, but `options` keeps its size. Fails if the
 * caller's size is 0: then no _INIT macro has set it, and what the caller chose would be ignored. */
enum idx_status idxi_copy_options(void *options, const void *caller_options, struct idx_error *error);

/* Checks that the `length` of an ID, in bytes, is up to IDX_MAX_ID_BYTES. */
enum idx_status idxi_check_id_length(size_t length, struct idx_error *error);

/* Returns whether an item can belong to an index with IDs of a type. Text IDs are item->id, with item->number 0 where
 * it is NULL; for the other types item->id must be NULL. */
bool idxi_item_fits_id_type(const struct idx_item *item, enum idx_id_type type);

/* Checks that a number of threads is from 1 to IDX_MAX_THREADS. */
enum idx_status idxi_check_threads(unsigned threads, struct idx_error *error);

/* Checks that a distance is one that some index can have, 0 to IDX_MAX_K. Else fails with `status`. */
enum idx_status idxi_check_any_distance(unsigned distance, enum idx_status status, struct idx_error *error);

/* Checks that no fingerprint has more than `bits` bits, which are 1 to 64. */
enum idx_status idxi_check_fingerprints(const uint64_t *fingerprints, size_t count, unsigned bits,
                                        struct idx_error *error);

/* Checks that a size is a power of two from IDX_MIN_BLOCK_SIZE to IDX_MAX_BLOCK_SIZE. */
enum idx_status idxi_check_block_size(uint32_t size, struct idx_error *error);

#endif
