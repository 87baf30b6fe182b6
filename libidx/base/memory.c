/* memory.c: the memory limits of builds and merges, arrays that use memory only as they are written, and arenas. */
#include "libidx/base/base.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- How much memory there is ---- */

/* Returns the decimal number behind `prefix`, times `unit`, in the first line of the file at `path` that begins with
 * `prefix`. Returns UINT64_MAX if there is no such line or number, or the file can't be read. */
static uint64_t read_size_from_line(const char *path, const char *prefix, uint64_t unit) {
    FILE *file = fopen(path, "re");
    char line[256];
    uint64_t number = UINT64_MAX;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char *number_end, *digits = line + strlen(prefix);
        if (strncmp(line, prefix, strlen(prefix)) != 0) continue;
        unsigned long long units = strtoull(digits, &number_end, 10);
        if (number_end != digits && units < UINT64_MAX / unit) number = units * unit;
        break;
    }
    if (file != NULL) fclose(file);
    return number;
}

/* Returns the bytes that are free on the machine, or that a container (cgroup 2 or 1) may use, if these are fewer. */
static uint64_t find_free_bytes(void) {
    long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    uint64_t bytes = (uint64_t)1 << 30; /* where the system does not say */
    if (pages > 0 && page_bytes > 0) bytes = (uint64_t)pages * (uint64_t)page_bytes;
    bytes = idxi_min(bytes, read_size_from_line("/proc/meminfo", "MemAvailable:", 1024));
    bytes = idxi_min(bytes, read_size_from_line("/sys/fs/cgroup/memory.max", "", 1));
    return idxi_min(bytes, read_size_from_line("/sys/fs/cgroup/memory/memory.limit_in_bytes", "", 1));
}

enum idx_status idxi_memory_choose_limit(uint64_t *bytes, struct idx_error *error) {
    if (*bytes == 0) {
        *bytes = find_free_bytes() / 2;
        if (*bytes < IDX_MIN_MEMORY_BYTES) *bytes = IDX_MIN_MEMORY_BYTES;
    }
    if (*bytes >= IDX_MIN_MEMORY_BYTES) return IDX_OK;
    return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "%llu bytes of memory: the minimum is %llu MiB",
                     (unsigned long long)*bytes, (unsigned long long)(IDX_MIN_MEMORY_BYTES >> 20));
}

/* ---- How memory is shared out ---- */

/* Bytes of buffers: of the files and streams that each thread has open, and of the document map. */
#define BUFFER_BYTES_PER_THREAD ((uint64_t)4 << 20)
#define COMMON_BUFFER_BYTES ((uint64_t)24 << 20)

#define KEYS_DIVISOR 16 /* keys of blocks get memory / KEYS_DIVISOR */

size_t idxi_get_keys_memory(uint64_t memory_bytes, unsigned threads) {
    return (size_t)(memory_bytes / KEYS_DIVISOR / threads);
}

uint64_t idxi_memory_of_arrays(uint64_t memory_bytes, unsigned threads) {
    uint64_t buffer_bytes = COMMON_BUFFER_BYTES + BUFFER_BYTES_PER_THREAD * threads;
    if (buffer_bytes > memory_bytes / 2) buffer_bytes = memory_bytes / 2; /* many threads must leave some for arrays */
    return memory_bytes - buffer_bytes - memory_bytes / KEYS_DIVISOR;
}

bool idxi_memory_holds_tables(uint64_t memory_bytes, uint64_t fingerprint_count, unsigned threads) {
    /* A fingerprint takes 8 bytes, and in each thread 8 more for its permuted copy and 8 for sorting that. */
    uint64_t bytes_of_each = 8 + (uint64_t)16 * threads;
    return fingerprint_count <= idxi_memory_of_arrays(memory_bytes, threads) / bytes_of_each;
}

/* ---- Pages ---- */

#define PAGE ((size_t)4096)
#define HUGE_PAGE ((size_t)2 << 20)

void *idxi_allocate_pages(size_t bytes) {
    size_t page_bytes = bytes < HUGE_PAGE ? PAGE : HUGE_PAGE;
    void *memory = aligned_alloc(page_bytes, (bytes + page_bytes - 1) / page_bytes * page_bytes);
#ifdef MADV_HUGEPAGE
    if (memory != NULL && bytes >= HUGE_PAGE) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return memory;
}

/* ---- Arrays ---- */

#define MIN_ELEMENTS 64 /* of an array that grows */

/* Arrays are not in huge pages. They would be sorted a tenth faster, but on virtual machines whose memory is allocated
 * when it is first written, writing huge pages for the first time costs more than that. They have room for one number
 * more, since the system maps no array of 0 bytes. */

uint64_t *idxi_array_reserve(size_t count) {
    if (count > SIZE_MAX / sizeof(uint64_t) - 1) return NULL;
    void *map = mmap(NULL, (count + 1) * sizeof(uint64_t), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return map == MAP_FAILED ? NULL : map;
}

void idxi_array_populate(uint64_t *array, size_t count) {
#ifdef MADV_POPULATE_WRITE
    /* madvise needs the beginning of a page: so many bytes before `array`. */
    size_t page_offset = (uintptr_t)array % (size_t)sysconf(_SC_PAGESIZE);
    madvise((uint8_t *)array - page_offset, count * sizeof *array + page_offset, MADV_POPULATE_WRITE);
#else
    (void)array;
    (void)count;
#endif
}

void idxi_array_clear(uint64_t *array, size_t count) {
    if (array != NULL) madvise(array, (count + 1) * sizeof(uint64_t), MADV_DONTNEED);
}

void idxi_array_release(uint64_t *array, size_t count) {
    if (array != NULL) munmap(array, (count + 1) * sizeof(uint64_t));
}

void *idxi_array_grow(void *array, size_t *capacity, size_t needed, size_t element_bytes) {
    size_t new_capacity = *capacity < MIN_ELEMENTS ? MIN_ELEMENTS : *capacity;
    if (needed <= *capacity && array != NULL) return array;
    if (needed > SIZE_MAX / 2 / element_bytes) return NULL;
    while (new_capacity < needed) new_capacity *= 2;
    void *moved = realloc(array, new_capacity * element_bytes);
    if (moved != NULL) *capacity = new_capacity;
    return moved;
}

/* ---- Maps ---- */

#define FIRST_MAP_BYTES ((size_t)64 << 10) /* of a map that grows */

/* Returns a new map of `bytes` bytes, all 0, that begins at a multiple of HUGE_PAGE, or NULL when memory runs out. */
static void *map_aligned(size_t bytes) {
    if (bytes > SIZE_MAX - HUGE_PAGE) return NULL;
    uint8_t *map =
        mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) return NULL;
    const size_t skipped_bytes = (HUGE_PAGE - (uintptr_t)map % HUGE_PAGE) % HUGE_PAGE; /* to the first multiple */
    if (skipped_bytes > 0) munmap(map, skipped_bytes);
    munmap(map + skipped_bytes + bytes, HUGE_PAGE - skipped_bytes);
    return map + skipped_bytes;
}

/* Returns how many bytes the system maps for `bytes` bytes: whole pages, or from HUGE_PAGE bytes on whole huge pages,
 * since the system gives no part of one. Returns SIZE_MAX if that overflows. */
static size_t round_to_whole_pages(size_t bytes) {
    const size_t page_bytes = bytes < HUGE_PAGE ? (size_t)sysconf(_SC_PAGESIZE) : HUGE_PAGE;
    return bytes > SIZE_MAX - page_bytes ? SIZE_MAX : (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

void *idxi_map_resize(void *map, size_t bytes, size_t new_bytes) {
    size_t old_mapped = round_to_whole_pages(bytes), new_mapped = round_to_whole_pages(new_bytes);
    if (map != NULL && old_mapped == new_mapped) return map;
    uint8_t *moved = map_aligned(new_mapped);
    if (moved == NULL) return NULL;
    /* Where both begin with a huge page, the system moves huge pages as they are, and need not divide them. */
    if (map != NULL && mremap(map, old_mapped, new_mapped, MREMAP_MAYMOVE | MREMAP_FIXED, moved) == MAP_FAILED) {
        munmap(moved, new_mapped);
        return NULL;
    }
#ifdef MADV_HUGEPAGE
    if (new_mapped >= HUGE_PAGE) madvise(moved, new_mapped, MADV_HUGEPAGE);
#endif
    return moved;
}

void *idxi_map_grow(void *map, size_t *capacity, size_t needed, size_t element_bytes) {
    size_t new_capacity = *capacity == 0 ? FIRST_MAP_BYTES / element_bytes : *capacity;
    if (needed <= *capacity && map != NULL) return map;
    if (needed > SIZE_MAX / 2 / element_bytes) return NULL;
    while (new_capacity < needed) new_capacity *= 2;
    void *resized = idxi_map_resize(map, *capacity * element_bytes, new_capacity * element_bytes);
    if (resized != NULL) *capacity = new_capacity;
    return resized;
}

void idxi_map_release(void *map, size_t bytes) {
    if (map != NULL) munmap(map, round_to_whole_pages(bytes));
}

/* ---- Arenas ---- */

#define FIRST_CHUNK_BYTES ((size_t)64 << 10)
#define MAX_CHUNK_BYTES ((size_t)4 << 20)

/* A part of an arena's memory; arenas have a list of them. */
struct idxi_chunk {
    struct idxi_chunk *older;
    char bytes[];
};

/* Adds a chunk with room for `min_bytes` bytes at any alignment. Each chunk is twice as large as the one before, from
 * FIRST_CHUNK_BYTES to MAX_CHUNK_BYTES, or larger if `min_bytes` needs it. Returns false when memory runs out. */
static bool add_chunk(struct idxi_arena *arena, size_t min_bytes) {
    if (arena->next_size == 0) arena->next_size = FIRST_CHUNK_BYTES;
    size_t size = arena->next_size;
    while (size < min_bytes + sizeof(struct idxi_chunk) + IDXI_CACHE_LINE) size *= 2;
    struct idxi_chunk *chunk = idxi_allocate_pages(size);
    if (chunk == NULL) return false;
    chunk->older = arena->newest;
    arena->newest = chunk;
    arena->at = chunk->bytes;
    arena->end = (char *)chunk + size;
    if (arena->next_size < MAX_CHUNK_BYTES) arena->next_size *= 2;
    return true;
}

void *idxi_arena_allocate(struct idxi_arena *arena, size_t size, size_t alignment) {
    for (;;) {
        size_t skipped_bytes = (alignment - (uintptr_t)arena->at % alignment) % alignment;
        if (arena->at != NULL && size + skipped_bytes <= (size_t)(arena->end - arena->at)) {
            char *bytes = arena->at + skipped_bytes;
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
