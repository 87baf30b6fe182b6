/* array.h: arrays that grow, and how their items are compared. */
#ifndef IDX_TOOLS_SHARED_ARRAY_H
#define IDX_TOOLS_SHARED_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/* Makes room for one more item behind the `count` of an array, whose pointer is at `array`, and which has room for
 * *capacity items of `size` bytes each. Returns false if memory ran out; the array stays as it is then. */
bool array_grow(void *array, size_t *capacity, size_t count, size_t size);

/* Compares two uint64_t, for qsort and bsearch. */
int compare_u64(const void *first, const void *second);

#endif
