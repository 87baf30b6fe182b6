/* base.h: errors of libidxtext, as idx_text.h documents them, and buffers that grow geometrically. */
#ifndef IDX_TEXT_BASE_H
#define IDX_TEXT_BASE_H

#include <idx.h>
#include <stddef.h>
#include <unicode/utypes.h>

/* Fills *error, which may be NULL, with a formatted sentence, and returns `status`. */
__attribute__((format(printf, 3, 4))) enum idx_status idxt_fail(struct idx_error *error, enum idx_status status,
                                                                const char *format, ...);

/* Returns what an error says of a path: all of it, or if error->file is too short, its end, which says the most. */
const char *idxt_path_end(const char *path);

/* Fails with the status of `system_errno` after a system call on `path`. `action` is, for example, "read the table". */
enum idx_status idxt_fail_system(struct idx_error *error, const char *path, const char *action, int system_errno);

/* Fails because memory runs out while a text is fingerprinted. */
enum idx_status idxt_fail_memory(struct idx_error *error);

/* Fails because ICU or the segmenter returned `code`. */
enum idx_status idxt_fail_icu(struct idx_error *error, UErrorCode code);

/* Makes room for `needed` elements of `element_size` bytes in a buffer that has room for *capacity elements (NULL and 0
 * at first). Returns the buffer, which may have moved, or NULL if memory runs out: then the old one stays as it is. The
 * caller frees it. */
void *idxt_buffer_grow(void *buffer, size_t *capacity, size_t needed, size_t element_size);

#endif
