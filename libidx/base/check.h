/* check.h: arguments that several calls have: options, and checks, whose errors are IDX_INVALID_ARGUMENT. */
#ifndef IDX_LIBIDX_CHECK_H
#define IDX_LIBIDX_CHECK_H

#include <idx.h>

/* Copies a caller's options over `own`, which has all defaults: as many bytes as both have, by the sizes that they
 * begin with. `own` keeps its size. `given` may be NULL. Nothing beyond its size is read. */
void idxi_copy_options(void *own, const void *given);

/* Up to IDX_MAX_ID_BYTES. */
enum idx_status idxi_check_id(size_t length, struct idx_error *error);

/* 1 to IDX_MAX_THREADS. */
enum idx_status idxi_check_threads(unsigned threads, struct idx_error *error);

/* Up to IDX_MAX_K; else the status is `status`. */
enum idx_status idxi_check_any_distance(unsigned distance, enum idx_status status, struct idx_error *error);

/* None of more than `bits` bits, 1 to 64. */
enum idx_status idxi_check_fingerprints(const uint64_t *fingerprints, size_t count, unsigned bits,
                                        struct idx_error *error);

/* A power of two from IDX_MIN_BLOCK_SIZE to IDX_MAX_BLOCK_SIZE. */
enum idx_status idxi_check_block_size(uint32_t size, struct idx_error *error);

#endif
