/* array.c: makes room in arrays, and compares their items. */
#include "tools/shared/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The caller's pointer may be of any type, so it is read and written as bytes. */
bool array_grow(void *array, size_t *capacity, size_t count, size_t item_size) {
    void *items;
    if (count < *capacity) return true;
    size_t new_capacity = 2 * *capacity + 64;
    memcpy(&items, array, sizeof items);
    void *grown = realloc(items, new_capacity * item_size);
    if (grown == NULL) return false;
    memcpy(array, &grown, sizeof grown);
    *capacity = new_capacity;
    return true;
}

int compare_u64(const void *first, const void *second) {
    const uint64_t *a = first, *b = second;
    return (*a > *b) - (*a < *b);
}
