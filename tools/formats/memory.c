/* memory.c: lets no allocation of jansson, libxml2 and ICU fail, and notes that memory ran out.
 * If an allocation fails, ICU may crash or never return, libxml2 may print messages without end, and jansson may abort
 * by an assertion or take a part of a string for all of it. So no allocation fails: if malloc does, the memory comes
 * from a reserve. Then memory_ran_out says so, and the command ends properly after that document, or the service
 * refuses it. Once all blocks of the reserve were released, it can be used again. If it is used up, the process ends at
 * once.
 */
#include "tools/formats/memory.h"

#include "tools/shared/command.h"

#include <jansson.h>
#include <libxml/xmlmemory.h>
#include <unicode/uclean.h>

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RESERVE_BYTES = 1 << 20 };

/* The head of a block of the reserve, with the block's size in bytes. The reserve is counted in units of this. */
union reserve_unit {
    size_t size;
    max_align_t alignment;
};

static union reserve_unit reserve[RESERVE_BYTES / sizeof(union reserve_unit)];
static size_t used_units;  /* Units that are used. */
static size_t used_blocks; /* Blocks that were not released yet. */
static pthread_mutex_t reserve_mutex = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local bool thread_ran_out;

/* Returns whether a block is from the reserve. One below the reserve, or NULL, becomes a large number here, since the
 * difference wraps around. */
static bool is_reserved(const void *block) { return (uintptr_t)block - (uintptr_t)reserve < sizeof reserve; }

/* Returns `size` bytes of the reserve, and notes that memory ran out in this thread. Never returns NULL: if the reserve
 * has too little, the process ends. */
static void *allocate_from_reserve(size_t size) {
    const size_t unit_count = sizeof reserve / sizeof *reserve;
    union reserve_unit *block = NULL;
    thread_ran_out = true;
    pthread_mutex_lock(&reserve_mutex);
    /* One unit is for the head, and one more because the division rounds down. */
    if (size < sizeof reserve && 2 + size / sizeof *reserve <= unit_count - used_units) {
        block = reserve + used_units;
        used_units += 2 + size / sizeof *reserve;
        used_blocks++;
    }
    pthread_mutex_unlock(&reserve_mutex);
    if (block == NULL) {
        complain("out of memory");
        _exit(ENDS_BADLY);
    }
    block->size = size;
    return block + 1;
}

/* Counts a block of the reserve as released. Once all blocks are, the whole reserve is free again. */
static void release_reserved_block(void) {
    pthread_mutex_lock(&reserve_mutex);
    if (--used_blocks == 0) used_units = 0;
    pthread_mutex_unlock(&reserve_mutex);
}

/* Like malloc, but returns NULL only for 0 bytes. */
static void *allocate_block(size_t size) {
    void *block = malloc(size);
    return block != NULL || size == 0 ? block : allocate_from_reserve(size);
}

/* Releases a block of malloc or of the reserve. Like free, accepts NULL. */
static void release_block(void *block) {
    if (is_reserved(block))
        release_reserved_block();
    else
        free(block);
}

/* Like realloc, but returns NULL only for 0 bytes. */
static void *resize_block(void *block, size_t size) {
    if (size == 0) {
        release_block(block);
        return NULL;
    }
    void *resized = is_reserved(block) ? NULL : realloc(block, size);
    if (resized != NULL) return resized;
    size_t old_size = block == NULL        ? 0
                      : is_reserved(block) ? ((union reserve_unit *)block)[-1].size
                                           : malloc_usable_size(block);
    resized = allocate_from_reserve(size);
    if (block != NULL) memcpy(resized, block, old_size < size ? old_size : size);
    release_block(block);
    return resized;
}

/* Like strdup, but never returns NULL. */
static char *duplicate_text(const char *text) {
    size_t size = strlen(text) + 1;
    return memcpy(allocate_block(size), text, size);
}

/* Calls allocate_block for ICU, which passes a context that is not used. */
static void *allocate_for_icu(const void *context, size_t size) {
    (void)context;
    return allocate_block(size);
}

/* Calls resize_block for ICU, which passes a context that is not used. */
static void *resize_for_icu(const void *context, void *block, size_t size) {
    (void)context;
    return resize_block(block, size);
}

/* Calls release_block for ICU, which passes a context that is not used. */
static void release_for_icu(const void *context, void *block) {
    (void)context;
    release_block(block);
}

/* Has jansson, libxml2 and ICU allocate by this file's functions, which never fail. */
static void set_allocators(void) {
    UErrorCode code = U_ZERO_ERROR;
    json_set_alloc_funcs(allocate_block, release_block);
    xmlMemSetup(release_block, allocate_block, resize_block, duplicate_text);
    u_setMemoryFunctions(NULL, allocate_for_icu, resize_for_icu, release_for_icu, &code);
}

void memory_watch(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, set_allocators);
}

bool memory_ran_out(void) {
    bool had_run_out = thread_ran_out;
    thread_ran_out = false;
    return had_run_out;
}
