/* arena.c: see arena.h. */
#include "libidx/base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define FIRST_CHUNK ((size_t)64 << 10)
#define LAST_CHUNK ((size_t)4 << 20)
#define HUGE_PAGE ((size_t)2 << 20)

struct idxi_chunk {
    struct idxi_chunk *older;
    char bytes[];
};

static bool add_chunk(struct idxi_arena *arena, size_t least) {
    if (arena->next_size == 0) arena->next_size = FIRST_CHUNK;
    size_t size = arena->next_size;
    while (size < least + sizeof(struct idxi_chunk) + IDXI_CACHE_LINE) size *= 2;
    struct idxi_chunk *chunk = aligned_alloc(size < HUGE_PAGE ? IDXI_CACHE_LINE : HUGE_PAGE, size);
    if (chunk == NULL) return false;
#ifdef MADV_HUGEPAGE
    if (size >= HUGE_PAGE) madvise(chunk, size, MADV_HUGEPAGE);
#endif
    chunk->older = arena->newest;
    arena->newest = chunk;
    arena->at = chunk->bytes;
    arena->end = (char *)chunk + size;
    if (arena->next_size < LAST_CHUNK) arena->next_size *= 2;
    return true;
}

void *idxi_arena_take(struct idxi_arena *arena, size_t size, size_t alignment) {
    for (;;) {
        size_t skipped = (size_t) - (uintptr_t)arena->at & (alignment - 1);
        if (arena->at != NULL && size + skipped <= (size_t)(arena->end - arena->at)) {
            char *bytes = arena->at + skipped;
            arena->at = bytes + size;
            return bytes;
        }
        if (!add_chunk(arena, size)) return NULL;
    }
}

void idxi_arena_free(struct idxi_arena *arena) {
    while (arena->newest != NULL) {
        struct idxi_chunk *older = arena->newest->older;
        free(arena->newest);
        arena->newest = older;
    }
}
