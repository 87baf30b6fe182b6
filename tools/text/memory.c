/* memory.c: see memory.h. */
#include "tools/text/memory.h"

#include <jansson.h>
#include <libxml/xmlmemory.h>
#include <unicode/uclean.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local bool ran_out;

static void *note(void *block, size_t size) {
    if (block == NULL && size > 0) ran_out = true;
    return block;
}

static void *allocate(size_t size) { return note(malloc(size), size); }

static void *resize(void *block, size_t size) { return note(realloc(block, size), size); }

static char *duplicate(const char *text) { return note(strdup(text), 1); }

static void *allocate_for_icu(const void *context, size_t size) {
    (void)context;
    return allocate(size);
}

static void *resize_for_icu(const void *context, void *block, size_t size) {
    (void)context;
    return resize(block, size);
}

static void free_for_icu(const void *context, void *block) {
    (void)context;
    free(block);
}

static void watch(void) {
    UErrorCode code = U_ZERO_ERROR;
    json_set_alloc_funcs(allocate, free);
    xmlMemSetup(free, allocate, resize, duplicate);
    u_setMemoryFunctions(NULL, allocate_for_icu, resize_for_icu, free_for_icu, &code);
}

void memory_watch(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch);
}

bool memory_ran_out(void) {
    bool since = ran_out;
    ran_out = false;
    return since;
}
