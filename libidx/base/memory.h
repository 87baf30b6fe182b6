/* memory.h: how much memory a call may use, arrays that grow or that use memory only as they are written, and arenas.
 */
#ifndef IDX_LIBIDX_MEMORY_H
#define IDX_LIBIDX_MEMORY_H

#include <idx.h>

#include "libidx/base/error.h"

/* ---- Limits ---- */

/* Checks that *bytes, a caller's limit of memory, is at least IDX_MIN_MEMORY_BYTES. If it is 0, sets it to half of the
 * free memory instead, or to IDX_MIN_MEMORY_BYTES if that is more. Errors: IDX_INVALID_ARGUMENT. */
enum idx_status idxi_memory_choose_limit(uint64_t *bytes, struct idx_error *error);

/* Returns how many of `memory_bytes` bytes each of `threads` threads (1 or more) may use for the keys of the blocks
 * that it writes. */
size_t idxi_get_keys_memory(uint64_t memory_bytes, unsigned threads);

/* Returns how many of `memory_bytes` bytes the arrays of entries of all `threads` threads may use together: what keys
 * and buffers leave. */
uint64_t idxi_memory_of_arrays(uint64_t memory_bytes, unsigned threads);

/* Returns whether `memory_bytes` bytes suffice to hold `fingerprint_count` fingerprints while each of `threads` threads
 * (1 or more) sorts a copy of all for a table. */
bool idxi_memory_holds_tables(uint64_t memory_bytes, uint64_t fingerprint_count, unsigned threads);

/* Returns at least `bytes` bytes of memory, not set, at the beginning of a page; from 2 MiB on, in huge pages if the
 * system has them. The caller frees it by free(). Returns NULL when memory runs out. */
void *idxi_allocate_pages(size_t bytes);

/* ---- Arrays ---- */

/* Makes an array of `count` numbers, all 0, which the caller gives to idxi_array_release. A page uses memory only once
 * it is written. Returns NULL if the address space is too small. */
uint64_t *idxi_array_reserve(size_t count);

/* Hints that `count` numbers from `array` on, which may be in the middle of an array, are all written next. Their
 * memory is then allocated at once, if the system can do that, not page by page. */
void idxi_array_populate(uint64_t *array, size_t count);

/* Sets all numbers of an array to 0 by giving its memory back to the system. `count` is the one that it was made with.
 * Accepts NULL. */
void idxi_array_clear(uint64_t *array, size_t count);

/* Frees an array. `count` is the one that it was made with. Accepts NULL. */
void idxi_array_release(uint64_t *array, size_t count);

/* Makes room in `array`, of *capacity elements of `element_bytes` bytes each, for `needed` elements. Returns the array,
 * which may have moved. If it grows, *capacity at least doubles; new elements are not set. Returns NULL when memory
 * runs out, and then leaves the array as it is. `array` may be NULL with a capacity of 0. The caller frees the array by
 * free(). */
void *idxi_array_grow(void *array, size_t *capacity, size_t needed, size_t element_bytes);

/* Grows an array to `needed` elements, or returns IDX_OUT_OF_MEMORY from the calling function. */
#define IDXI_GROW(array, capacity, needed, error)                                                                      \
    do {                                                                                                               \
        void *idxi_grown_ = idxi_array_grow((array), &(capacity), (needed), sizeof *(array));                          \
        if (idxi_grown_ == NULL) return idxi_fail_memory(error);                                                       \
        (array) = idxi_grown_;                                                                                         \
    } while (0)

/* Changes the size of a map from `bytes` to `new_bytes` (1 or more), and returns where it is now. The bytes that both
 * sizes have are kept, and new ones are 0. A map uses memory only as it is written. It may move, which copies nothing.
 * Large maps are in huge pages if the system has them, also once they have grown. Returns NULL when memory runs out,
 * and then leaves the map as it is. `map` is what an earlier call has returned, or NULL with 0 `bytes`. The caller
 * gives it to idxi_map_release. */
void *idxi_map_resize(void *map, size_t bytes, size_t new_bytes);

/* Does what idxi_array_grow does for a map of *capacity * element_bytes bytes; its new elements are 0. The caller gives
 * it to idxi_map_release. */
void *idxi_map_grow(void *map, size_t *capacity, size_t needed, size_t element_bytes);

/* Grows a map to `needed` elements, or returns IDX_OUT_OF_MEMORY from the calling function. */
#define IDXI_GROW_MAP(map, capacity, needed, error)                                                                    \
    do {                                                                                                               \
        void *idxi_grown_ = idxi_map_grow((map), &(capacity), (needed), sizeof *(map));                                \
        if (idxi_grown_ == NULL) return idxi_fail_memory(error);                                                       \
        (map) = idxi_grown_;                                                                                           \
    } while (0)

/* Frees a map of `bytes` bytes, the size that it has now. Accepts NULL. */
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
