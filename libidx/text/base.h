/* base.h: errors of libidxtext, as idx_text.h documents them, and buffers that grow geometrically. */
#ifndef IDX_TEXT_BASE_H
#define IDX_TEXT_BASE_H

#include <idx.h>
#include <stddef.h>
#include <unicode/utypes.h>

/* Sets *error, which may be NULL, to `status` and a sentence that is formatted as by printf, and its other members to
 * 0. Returns `status`. */
__attribute__((format(printf, 3, 4))) enum idx_status idxt_fail(struct idx_error *error, enum idx_status status,
                                                                const char *format, ...);

/* Returns the part of a path that fits into error->file: all of it, or its end, which says the most. It points into
 * `path`. */
const char *idxt_path_end(const char *path);

/* Sets *error, which may be NULL, after a system call on the file `path` failed with the errno `system_errno`. `action`
 * completes the sentence "can't ACTION PATH", for example "read the table". Returns IDX_NOT_FOUND, IDX_NO_ACCESS,
 * IDX_DISK_FULL, IDX_OUT_OF_MEMORY, or for all other errnos IDX_IO_ERROR. */
enum idx_status idxt_fail_system(struct idx_error *error, const char *path, const char *action, int system_errno);

/* Fills *error, which may be NULL, for lack of memory for a text, and returns IDX_OUT_OF_MEMORY. */
enum idx_status idxt_fail_memory(struct idx_error *error);

/* Sets *error, which may be NULL, after ICU or a function of this library returned `code`, a failure. Returns
 * IDX_OUT_OF_MEMORY for U_MEMORY_ALLOCATION_ERROR, IDX_LIMIT for U_INDEX_OUTOFBOUNDS_ERROR (a text becomes too long),
 * and else IDX_UNSUPPORTED. */
enum idx_status idxt_fail_icu(struct idx_error *error, UErrorCode code);

/* Makes the capacity of a buffer at least `needed` elements of `element_size` bytes; if it grows, it grows by half or
 * more. At first `buffer` is NULL, and *capacity, in elements, 0. Returns the buffer, which may have moved, for the
 * caller to free, and updates *capacity. If memory runs out, returns NULL, and the old buffer and *capacity stay as
 * they are. */
void *idxt_buffer_grow(void *buffer, size_t *capacity, size_t needed, size_t element_size);

#endif
