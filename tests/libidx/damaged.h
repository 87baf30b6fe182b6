/* damaged.h: merging indexes of which one is damaged. */
#ifndef IDX_TESTS_LIBIDX_DAMAGED_H
#define IDX_TESTS_LIBIDX_DAMAGED_H

#include <idx.h>

/* Flips a bit of byte `at` of a file of inputs[1], and merges the two inputs into `out` in their folder, where the
 * right result is `whole`: the merge fails as idx_verify does, or does not read that byte and comes out right. Returns
 * whether it failed, and sets *verified. */
bool merge_finds_damage(const char *folder, const char *const *inputs, const char *path, uint8_t *bytes, size_t size,
                        size_t at, enum idx_status *verified);

#endif
