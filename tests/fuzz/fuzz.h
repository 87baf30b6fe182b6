/* fuzz.h: what the fuzz targets share. */
#ifndef IDX_TESTS_FUZZ_H
#define IDX_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The target: called for each input. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the program where a property does not hold, in all builds. */
#define CHECK(property) ((property) ? (void)0 : fuzz_abort(#property, __FILE__, __LINE__))

static inline _Noreturn void fuzz_abort(const char *property, const char *file, int line) {
    fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, property);
    abort();
}

/* A copy in an allocation of exactly this size, so that a sanitizer sees a read of one byte too many. */
static inline void *copy_exactly(const void *bytes, size_t size) {
    void *copy = calloc(1, size > 0 ? size : 1);
    CHECK(copy != NULL);
    if (size > 0) memcpy(copy, bytes, size);
    return copy;
}

#endif
