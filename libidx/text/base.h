/* base.h: errors of libidxtext, as idx_text.h documents them, and buffers that grow geometrically. */
#ifndef IDX_TEXT_BASE_H
#define IDX_TEXT_BASE_H

#include <idx.h>
#include <stddef.h>
#include <unicode/utypes.h>

/* Fills *error, which may be NULL, with a formatted sentence, and returns `status`. */
__attribute__((format(printf, 3, 4))) enum idx_status idxt_fail(struct idx_error *error, enum idx_status status,
                                                                const char *format, ...);

/* Returns the part of a path that fits into error->file: all of it, or its end, which says the most. It points into
 * `path`. */
const char *idxt_path_end(const char *path);

/* Fills *error, which may be NULL, after a system call on `path` that set errno to `system_errno`, and returns the
 * status that goes with it. `action` is, for example, "read the table". */
enum idx_status idxt_fail_system(struct idx_error *error, const char *path, const char *action, int system_errno);

/* Fills *error, which may be NULL, for lack of memory for a text, and returns IDX_OUT_OF_MEMORY. */
enum idx_status idxt_fail_memory(struct idx_error *error);

/* Fills *error, which may be NULL, after ICU or a function of this library returned `code`, a failure, and returns the
 * status that goes with it: IDX_OUT_OF_MEMORY, IDX_LIMIT or IDX_UNSUPPORTED. */
enum idx_status idxt_fail_icu(struct idx_error *error, UErrorCode code);

/* Makes the capacity of a buffer at least `needed` elements of `element_size` bytes. At first `buffer` is NULL, and
 * *capacity, in elements, 0. Returns the buffer, which may have moved, for the caller to free, and updates *capacity.
 * If memory runs out, returns NULL, and the old buffer and *capacity stay as they are. */
void *idxt_buffer_grow(void *buffer, size_t *capacity, size_t needed, size_t element_size);

#endif
