/* header.h: the beginning and the end of headers of binary files (SPEC.md, chapter 1): eight bytes that identify the
 * file, the format version, and at the end a checksum of the bytes before it. */
#ifndef IDX_FORMAT_HEADER_H
#define IDX_FORMAT_HEADER_H

#include <stddef.h>
#include <stdint.h>

#include "format/fault.h"

#define IDXF_MAGIC_BYTES 8

/* Writes the beginning of a header of `size` bytes, and zeros behind it. */
void idxf_header_begin(uint8_t *header, size_t size, const char magic[IDXF_MAGIC_BYTES]);

/* Writes the checksum, once all other fields are written. */
void idxf_header_end(uint8_t *header, size_t size);

/* Checks the beginning and the checksum of a header of `size` bytes, of which `available` can be read. On
 * IDXF_FAULT_VERSION, *version is set to the version found. */
enum idxf_fault idxf_header_check(const uint8_t *header, size_t size, uint64_t available,
                                  const char magic[IDXF_MAGIC_BYTES], uint32_t *version);

#endif
