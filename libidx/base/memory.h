/* memory.h: how much memory a call may use, arrays that grow or that use memory only as they are written, and arenas.
 */
#ifndef IDX_LIBIDX_MEMORY_H
#define IDX_LIBIDX_MEMORY_H

#include <idx.h>

#include "libidx/base/error.h"

/* ---- Limits ---- */

/* Checks that the caller's limit *bytes is IDX_MIN_MEMORY_BYTES or more. If it is 0, sets it to half of the free memory
 * instead, or to IDX_MIN_MEMORY_BYTES if that is more. Errors: IDX_INVALID_ARGUMENT. */
enum idx_status idxi_memory_choose_limit(uint64_t *bytes, struct idx_error *error);

/* Returns how many bytes of `memory` bytes each of `threads` threads that write tables may use for keys of blocks. */
size_t idxi_get_keys_memory(uint64_t memory, unsigned threads);

/* Returns how many bytes of `memory` bytes are for all threads' arrays of entries: what keys and buffers leave. */
uint64_t idxi_memory_of_arrays(uint64_t memory, unsigned threads);

/* Returns whether so many fingerprints fit into `memory` bytes while each thread sorts a copy of all for a table. */
bool idxi_memory_holds_tables(uint64_t memory, uint64_t fingerprints, unsigned threads);

/* Returns memory of at least `bytes` bytes, which begins at a page, or if it is large, is in huge pages. The caller
 * frees it by free(). Returns NULL when memory runs out. */
void *idxi_allocate_pages(size_t bytes);

/* ---- Arrays ---- */

/* Makes an array of `count` numbers, all 0, which the caller gives to idxi_array_release. Memory is used page by page,
 * as numbers are written. Returns NULL if the address space is too small. */
uint64_t *idxi_array_reserve(size_t count);

/* Hints that `count` numbers from `array` on, which may be in the middle of an array, are all written next. Their
 * memory is then allocated at once, if the system can do that, not page by page. */
void idxi_array_populate(uint64_t *array, size_t count);

/* Returns the memory to the system and keeps the array; its numbers are 0 again. `count` as when it was made. Accepts
 * NULL. */
void idxi_array_clear(uint64_t *array, size_t count);

/* Frees the array; `count` as when it was made. Accepts NULL. */
void idxi_array_release(uint64_t *array, size_t count);

/* Grows `array`, of *capacity elements of `element_bytes` bytes each, if it has fewer than `needed` elements, and
 * returns it. Where it grows, it moves, its capacity at least doubles, and *capacity is set. New elements are not set.
 * Returns NULL when memory runs out, and then leaves the array as it is. Accepts NULL, with a capacity of 0; the caller
 * frees the array by free(). */
void *idxi_array_grow(void *array, size_t *capacity, size_t needed, size_t element_bytes);

/* Grows an array to `needed` elements, or returns IDX_OUT_OF_MEMORY from the calling function. */
#define IDXI_GROW(array, capacity, needed, error)                                                                      \
    do {                                                                                                               \
        void *idxi_grown_ = idxi_array_grow((array), &(capacity), (needed), sizeof *(array));                          \
        if (idxi_grown_ == NULL) return idxi_fail_memory(error);                                                       \
        (array) = idxi_grown_;                                                                                         \
    } while (0)

/* Changes the size of a map from `bytes` to `new_bytes` bytes, and returns where it is now. The bytes that both sizes
 * have are kept, and new ones are 0. A map uses memory only as it is written. It may move, which copies nothing. Large
 * maps are in huge pages if the system has them, also once they have grown. Returns NULL when memory runs out, and then
 * leaves the map as it is. `map` is NULL, with a size of 0, or what an earlier call has returned; the caller gives it
 * to idxi_map_release. `new_bytes` is not 0. */
void *idxi_map_resize(void *map, size_t bytes, size_t new_bytes);

/* Does what idxi_array_grow does for a map, whose new elements are 0. The caller gives it to idxi_map_release. */
void *idxi_map_grow(void *map, size_t *capacity, size_t needed, size_t element_bytes);

/* Grows a map to `needed` elements, or returns IDX_OUT_OF_MEMORY from the calling function. */
#define IDXI_GROW_MAP(map, capacity, needed, error)                                                                    \
    do {                                                                                                               \
        void *idxi_grown_ = idxi_map_grow((map), &(capacity), (needed), sizeof *(map));                                \
        if (idxi_grown_ == NULL) return idxi_fail_memory(error);                                                       \
        (map) = idxi_grown_;                                                                                           \
    } while (0)

/* Frees the map; `bytes` is its size. Accepts NULL. */
void idxi_map_release(void *map, size_t bytes);

/* ---- Arenas ---- */

/* The bytes that a processor fetches from memory together. */
#define IDXI_CACHE_LINE 64

/* An arena gives out memory piece by piece, and frees it as a whole. Zeroed, it is empty. */
struct idxi_arena {
    struct idxi_chunk *newest;
    char *at, *end;   /* the bytes of the newest chunk that are free */
    size_t next_size; /* of the chunk that is made next; 0 at first */
};

/* Returns `size` bytes, not set, at an address that is a multiple of `alignment`, a power of two up to IDXI_CACHE_LINE.
 * They stay the arena's. Returns NULL when memory runs out. */
void *idxi_arena_allocate(struct idxi_arena *arena, size_t size, size_t alignment);

/* Frees all that the arena gave out. It is empty then. */
void idxi_arena_free(struct idxi_arena *arena);

#endif
