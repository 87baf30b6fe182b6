/* exactly.h: bytes for functions that read any. */
#ifndef IDX_TESTS_TOOLS_EXACTLY_H
#define IDX_TESTS_TOOLS_EXACTLY_H

#include <stdlib.h>
#include <string.h>

#define LITERAL(text) (text), sizeof(text) - 1

/* The bytes alone, without the terminating NUL, so that a sanitizer sees a read beyond them. */
static inline char *copy_exactly(const char *bytes, size_t length) {
    char *copy = calloc(length > 0 ? length : 1, 1);
    if (copy == NULL) abort();
    memcpy(copy, bytes, length);
    return copy;
}

#endif
