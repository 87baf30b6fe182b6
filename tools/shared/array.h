/* array.h: arrays that grow, and how their items are compared. */
#ifndef IDX_TOOLS_SHARED_ARRAY_H
#define IDX_TOOLS_SHARED_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/* Makes room for one more item behind the first `count` items of an array, unless it has room. `array` points to the
 * caller's pointer to the items, and *capacity is how many items of `item_size` bytes fit. Returns false, without a
 * complaint, if memory ran out; the array stays as it is then. */
bool array_grow(void *array, size_t *capacity, size_t count, size_t item_size);

/* Compares two uint64_t, for qsort and bsearch. */
int compare_u64(const void *first, const void *second);

#endif
