/* error.h: how libidx reports errors. Every failing function ends in one of these calls, which fill the caller's struct
 * idx_error (may be NULL) and return the status. */
#ifndef IDX_LIBIDX_ERROR_H
#define IDX_LIBIDX_ERROR_H

#include <idx.h>

#include "format/fault.h"

/* The sentence is `file: ` (unless NULL) and the formatted text. */
enum idx_status idxi_fail(struct idx_error *error, enum idx_status status, const char *file, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* After a failed system call: the status comes from errno's value. The sentence is `file: can't <action>: <reason>`. */
enum idx_status idxi_fail_system(struct idx_error *error, int system_errno, const char *file, const char *action);

enum idx_status idxi_fail_memory(struct idx_error *error);

/* After a fault in the bytes of a file at `offset`. */
enum idx_status idxi_fail_fault(struct idx_error *error, enum idxf_fault fault, const char *file, uint64_t offset);

/* After a file of another format version. */
enum idx_status idxi_fail_version(struct idx_error *error, uint32_t version, const char *file);

/* After a file whose uuid is not that of its segment. */
enum idx_status idxi_fail_foreign(struct idx_error *error, const char *file);

/* The status of a fault. */
enum idx_status idxi_fault_status(enum idxf_fault fault);

/* Returns from the calling function when `call` fails. */
#define IDXI_TRY(call)                                                                                                 \
    do {                                                                                                               \
        enum idx_status idxi_status_ = (call);                                                                         \
        if (idxi_status_ != IDX_OK) return idxi_status_;                                                               \
    } while (0)

#endif
