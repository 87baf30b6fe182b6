/* array.h: arrays that grow, and how their items are compared. */
#ifndef IDX_TOOLS_SHARED_ARRAY_H
#define IDX_TOOLS_SHARED_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/* Grows an array, if it is full, so that one more item fits behind its first `count` items. `array` points to the
 * caller's pointer to the items, NULL at first, which the caller frees. *capacity is how many items of `item_size`
 * bytes fit, 0 at first. Returns false, without a complaint, if memory ran out; then the array stays as it is. */
bool array_grow(void *array, size_t *capacity, size_t count, size_t item_size);

/* Compares the two uint64_t that `first` and `second` point to, as qsort and bsearch need it for ascending order. */
int compare_u64(const void *first, const void *second);

#endif
