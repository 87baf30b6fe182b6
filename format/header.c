/* header.c: see header.h. */
#include "format/header.h"

#include <string.h>

#include "format/bytes.h"
#include "format/checksum.h"
#include "format/limits.h"

enum { AT_VERSION = IDXF_MAGIC_BYTES, AT_FIELDS = 12, CHECKSUM_BYTES = 8 };

void idxf_header_begin(uint8_t *header, size_t size, const char magic[IDXF_MAGIC_BYTES]) {
    memset(header, 0, size);
    memcpy(header, magic, IDXF_MAGIC_BYTES);
    idxf_store32(header + AT_VERSION, IDXF_VERSION);
}

void idxf_header_end(uint8_t *header, size_t size) {
    size_t at = size - CHECKSUM_BYTES;
    idxf_store64(header + at, idxf_checksum(header, at));
}

enum idxf_fault idxf_header_check(const uint8_t *header, size_t size, uint64_t available,
                                  const char magic[IDXF_MAGIC_BYTES], uint32_t *version) {
    size_t at = size - CHECKSUM_BYTES;
    if (available < IDXF_MAGIC_BYTES || memcmp(header, magic, IDXF_MAGIC_BYTES) != 0) return IDXF_FAULT_MAGIC;
    if (available < AT_FIELDS) return IDXF_FAULT_SIZE;
    *version = idxf_load32(header + AT_VERSION);
    if (*version != IDXF_VERSION) return IDXF_FAULT_VERSION;
    if (available < size) return IDXF_FAULT_SIZE;
    return idxf_load64(header + at) == idxf_checksum(header, at) ? IDXF_OK : IDXF_FAULT_CHECKSUM;
}
