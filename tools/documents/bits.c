/* bits.c: makes the bits of bits.h. */
#include "tools/documents/bits.h"

#include "tools/shared/wording.h"

#include <stdlib.h>

uint64_t *bits_make(uint64_t count) {
    uint64_t *bits = calloc((size_t)(count / 64) + 1, sizeof *bits);
    if (bits == NULL) complain("out of memory");
    return bits;
}
