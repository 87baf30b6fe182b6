/* check.c: see check.h. */
#include "libidx/base/check.h"

#include <string.h>

#include "format/bytes.h"
#include "libidx/base/error.h"

void idxi_copy_options(void *own, const void *given) {
    size_t own_size, size = 0;
    memcpy(&own_size, own, sizeof own_size);
    if (given != NULL) memcpy(&size, given, sizeof size);
    if (size > own_size) size = own_size;
    if (size <= sizeof size) return;
    memcpy((char *)own + sizeof size, (const char *)given + sizeof size, size - sizeof size);
}

enum idx_status idxi_check_id(size_t length, struct idx_error *error) {
    if (length <= IDX_MAX_ID_BYTES) return IDX_OK;
    return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "an ID of %zu bytes is too long: the maximum is %d", length,
                     IDX_MAX_ID_BYTES);
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

enum idx_status idxi_check_any_distance(unsigned distance, enum idx_status status, struct idx_error *error) {
    if (distance <= IDX_MAX_K) return IDX_OK;
    return idxi_fail(error, status, NULL, "distance %u: it must be 0 to %d", distance, IDX_MAX_K);
}

enum idx_status idxi_check_fingerprints(const uint64_t *fingerprints, size_t count, unsigned bits,
                                        struct idx_error *error) {
    uint64_t all = 0, over = ~idxf_low_bits(bits);
    for (size_t i = 0; i < count; i++) all |= fingerprints[i];
    for (size_t i = 0; i < count && (all & over) != 0; i++) {
        if ((fingerprints[i] & over) != 0)
            return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "fingerprint %016llx has more than %u bits",
                             (unsigned long long)fingerprints[i], bits);
    }
    return IDX_OK;
}
