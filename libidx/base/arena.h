/* arena.h: an arena: memory that is allocated piece by piece and freed as a whole. */
#ifndef IDX_LIBIDX_ARENA_H
#define IDX_LIBIDX_ARENA_H

#include <stddef.h>

/* Bytes that come from memory together. */
#define IDXI_CACHE_LINE 64

/* Zeroed: empty. */
struct idxi_arena {
    struct idxi_chunk *newest;
    char *at, *end;
    size_t next_size;
};

/* Some bytes at a multiple of `alignment`, a power of two up to IDXI_CACHE_LINE. NULL when out of memory. */
void *idxi_arena_take(struct idxi_arena *arena, size_t size, size_t alignment);

/* Frees all that was taken. */
void idxi_arena_free(struct idxi_arena *arena);

#endif
