/* resemblance.h: sets of hashes, as the resemblance of texts is computed from them. */
#ifndef IDX_LIBIDX_TEXT_RESEMBLANCE_H
#define IDX_LIBIDX_TEXT_RESEMBLANCE_H

#include <stddef.h>
#include <stdint.h>

/* A set of 64-bit hashes is an ascending array without repetitions. */

/* Makes a set of `count` hashes in any order, in place. Returns how many are left. */
size_t idxt_make_set(uint64_t *hashes, size_t count);

#endif
