/* buffer.c: buffers that grow geometrically. */
#include "libidx/text/buffer.h"

#include <stdint.h>
#include <stdlib.h>

enum { SMALLEST = 256 };

void *idxt_buffer_grow(void *buffer, size_t *capacity, size_t needed, size_t size) {
    if (buffer != NULL && needed <= *capacity) return buffer;
    size_t wanted = *capacity + *capacity / 2;
    if (wanted < needed) wanted = needed;
    if (wanted < SMALLEST) wanted = SMALLEST;
    if (wanted > SIZE_MAX / size) return NULL;
    void *grown = realloc(buffer, wanted * size);
    if (grown != NULL) *capacity = wanted;
    return grown;
}
