/* buffer.h: buffers that grow geometrically. */
#ifndef IDX_TEXT_BUFFER_H
#define IDX_TEXT_BUFFER_H

#include <stddef.h>

/* Makes room for `needed` elements of `size` bytes in the buffer at `buffer` of *capacity elements (NULL and 0 at
 * first). Returns the buffer, which may have moved, or NULL when memory is out: then the old one stays as it is. */
void *idxt_buffer_grow(void *buffer, size_t *capacity, size_t needed, size_t size);

#endif
