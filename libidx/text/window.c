/* window.c: see window.h. The items move to the front of the buffer when as many bytes precede them as they have, so
 * each byte moves once. */
#include "libidx/text/window.h"

#include "libidx/text/buffer.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void idxt_window_begin(struct idxt_window *window) { window->items = window->byte_count = 0; }

/* Where the oldest item begins. */
static size_t first(const struct idxt_window *window) {
    return window->items == 0 ? window->byte_count : window->starts[0];
}

static void move_to_front(struct idxt_window *window) {
    size_t start = first(window);
    if (start < window->byte_count - start || start == 0) return;
    memmove(window->bytes, window->bytes + start, window->byte_count - start);
    window->byte_count -= start;
    for (size_t i = 0; i < window->items; i++) window->starts[i] -= start;
}

char *idxt_window_reserve(struct idxt_window *window, size_t size) {
    move_to_front(window);
    if (size > SIZE_MAX - window->byte_count) return NULL;
    char *bytes = idxt_buffer_grow(window->bytes, &window->capacity, window->byte_count + size, 1);
    if (bytes == NULL) return NULL;
    window->bytes = bytes;
    return bytes + window->byte_count;
}

void idxt_window_push(struct idxt_window *window, size_t length, size_t most) {
    if (window->items == most) {
        window->items--;
        memmove(window->starts, window->starts + 1, window->items * sizeof *window->starts);
    }
    window->starts[window->items++] = window->byte_count;
    window->byte_count += length;
}

const char *idxt_window_bytes(const struct idxt_window *window, size_t without, size_t *length) {
    *length = window->byte_count - first(window) - without;
    return window->bytes + first(window);
}

void idxt_window_free(struct idxt_window *window) {
    free(window->bytes);
    *window = (struct idxt_window){0};
}
