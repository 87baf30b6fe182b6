/* resemblance.h: sets of hashes, as the resemblance of texts is computed from them. */
#ifndef IDX_LIBIDX_TEXT_RESEMBLANCE_H
#define IDX_LIBIDX_TEXT_RESEMBLANCE_H

#include <idx_text.h>
#include <stddef.h>
#include <stdint.h>

/* A set of 64-bit hashes is an ascending array without repetitions. */

/* A list of hashes that grows. It starts as {0}; the caller frees `hashes`. */
struct idxt_hashes {
    uint64_t *hashes;
    size_t count;
    size_t capacity;
};

/* Appends the hashes of a text's shingles to a list, as idx_text_shingles lists them, and grows it as needed. `options`
 * may be NULL. Errors: those of idx_text_shingles, except for too small an array; IDX_OUT_OF_MEMORY. After an error the
 * list has the same hashes as before. */
enum idx_status idxt_append_shingles(struct idxt_hashes *list, const void *utf8, size_t length,
                                     const struct idx_text_shingle_options *options, struct idx_error *error);

/* Makes a set of `count` hashes in place: sorts them, and removes repetitions. Returns how many are left. */
size_t idxt_make_set(uint64_t *hashes, size_t count);

#endif
