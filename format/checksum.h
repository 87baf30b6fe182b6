/* checksum.h: the checksum of every file: XXH3, 64 bits, seed 0 (SPEC.md, chapter 1). */
#ifndef IDX_FORMAT_CHECKSUM_H
#define IDX_FORMAT_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* Returns the checksum of `size` bytes, the same on every processor. */
uint64_t idxf_checksum(const void *bytes, size_t size);

#endif
