/* sets.h: sets of 64-bit hashes, each as an ascending array without repetitions. */
#ifndef IDX_TEXT_SETS_H
#define IDX_TEXT_SETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes a set of `count` hashes in any order, in place. Returns how many are left. */
size_t idxt_make_set(uint64_t *hashes, size_t count);

/* Whether an array is a set. */
bool idxt_is_set(const uint64_t *hashes, size_t count);

/* How many hashes two sets share. */
size_t idxt_count_shared(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count);

/* Whether they share so many; gives up as soon as too few are left. */
bool idxt_share(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count, uint64_t needed);

#endif
