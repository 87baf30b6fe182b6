/* window.h: the last few items of a stream, words or characters, contiguous in memory, so that each run of them can be
 * hashed: shingles and n-grams. */
#ifndef IDX_TEXT_WINDOW_H
#define IDX_TEXT_WINDOW_H

#include <stdbool.h>
#include <stddef.h>

enum { IDXT_WINDOW_ITEMS = 32 };

/* Starts as {0}. The buffer is kept from text to text. */
struct idxt_window {
    char *bytes;
    size_t byte_count;
    size_t capacity;
    size_t starts[IDXT_WINDOW_ITEMS]; /* where items begin, oldest first */
    size_t items;
};

/* Forgets all items. */
void idxt_window_begin(struct idxt_window *window);

/* Room for an item of up to `size` bytes, valid until the next call. NULL: out of memory. */
char *idxt_window_reserve(struct idxt_window *window, size_t size);

/* Adds the item of `length` bytes that was written where idxt_window_reserve said. Of the items before, the last
 * `most` - 1 are kept (`most`: 1 to IDXT_WINDOW_ITEMS). */
void idxt_window_push(struct idxt_window *window, size_t length, size_t most);

/* The bytes of all items that are kept, without the last `without` ones. */
const char *idxt_window_bytes(const struct idxt_window *window, size_t without, size_t *length);

void idxt_window_free(struct idxt_window *window);

#endif
