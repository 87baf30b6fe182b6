/* resemblance.h: sets of hashes, as the resemblance of texts is computed from them. */
#ifndef IDX_LIBIDX_TEXT_RESEMBLANCE_H
#define IDX_LIBIDX_TEXT_RESEMBLANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A set of 64-bit hashes is an ascending array without repetitions. */

/* Makes a set of `count` hashes in any order, in place. Returns how many are left. */
size_t idxt_make_set(uint64_t *hashes, size_t count);

/* Returns whether an array is a set. */
bool idxt_is_set(const uint64_t *hashes, size_t count);

/* Returns how many hashes two sets share. */
size_t idxt_count_shared(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count);

/* Returns whether two sets share at least `needed` hashes, as soon as that is certain. */
bool idxt_share(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count, uint64_t needed);

#endif
