/* document_sums.c: reads and writes the header of docs.sum. */
#include "format/document_sums.h"

#include <string.h>

#include "format/bytes.h"
#include "format/checksum.h"

static const char magic[8] = "idxdsums";

enum { AT_VERSION = 8, AT_RESERVED_1 = 12, AT_UUID = 16, AT_LENGTH = 32, AT_RESERVED_2 = 40, AT_CHECKSUM = 56 };

uint64_t idxf_document_sums_pages(const struct idxf_document_sums *sums) {
    return sums->length / IDXF_PAGE_SIZE + (sums->length % IDXF_PAGE_SIZE != 0);
}

void idxf_document_sums_write(const struct idxf_document_sums *sums, uint8_t *header) {
    memset(header, 0, IDXF_DOCUMENT_SUMS_HEADER_BYTES);
    memcpy(header, magic, sizeof magic);
    idxf_store32(header + AT_VERSION, IDXF_VERSION);
    memcpy(header + AT_UUID, sums->uuid, IDXF_UUID_BYTES);
    idxf_store64(header + AT_LENGTH, sums->length);
    idxf_store64(header + AT_CHECKSUM, idxf_checksum(header, AT_CHECKSUM));
}

enum idxf_fault idxf_document_sums_read(struct idxf_document_sums *sums, const uint8_t *bytes, uint64_t size,
                                        uint32_t *version) {
    if (size < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0) return IDXF_FAULT_MAGIC;
    if (size < AT_RESERVED_1) return IDXF_FAULT_SIZE;
    *version = idxf_load32(bytes + AT_VERSION);
    if (*version != IDXF_VERSION) return IDXF_FAULT_VERSION;
    if (size < IDXF_DOCUMENT_SUMS_HEADER_BYTES) return IDXF_FAULT_SIZE;
    if (idxf_load64(bytes + AT_CHECKSUM) != idxf_checksum(bytes, AT_CHECKSUM)) return IDXF_FAULT_CHECKSUM;
    if (idxf_load32(bytes + AT_RESERVED_1) != 0 || idxf_load64(bytes + AT_RESERVED_2) != 0 ||
        idxf_load64(bytes + AT_RESERVED_2 + 8) != 0)
        return IDXF_FAULT_RESERVED;
    memcpy(sums->uuid, bytes + AT_UUID, IDXF_UUID_BYTES);
    sums->length = idxf_load64(bytes + AT_LENGTH);
    if (size - IDXF_DOCUMENT_SUMS_HEADER_BYTES != idxf_document_sums_pages(sums) * 8) return IDXF_FAULT_SIZE;
    return IDXF_OK;
}
