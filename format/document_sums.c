/* document_sums.c: reads and writes the header of docs.sum. */
#include "format/document_sums.h"

#include <string.h>

#include "format/bytes.h"
#include "format/header.h"

static const char magic[IDXF_MAGIC_BYTES] = "idxdsums";

enum { AT_EXTRA = 12, AT_UUID = 16, AT_LENGTH = 32, AT_RESERVED = 40 };

uint64_t idxf_document_sums_pages(const struct idxf_document_sums *sums) {
    return sums->length / IDXF_PAGE_SIZE + (sums->length % IDXF_PAGE_SIZE != 0);
}

void idxf_document_sums_write(const struct idxf_document_sums *sums, uint8_t *header) {
    idxf_header_begin(header, IDXF_DOCUMENT_SUMS_HEADER_BYTES, magic);
    memcpy(header + AT_UUID, sums->uuid, IDXF_UUID_BYTES);
    idxf_store64(header + AT_LENGTH, sums->length);
    idxf_header_end(header, IDXF_DOCUMENT_SUMS_HEADER_BYTES);
}

enum idxf_fault idxf_document_sums_read(struct idxf_document_sums *sums, const uint8_t *bytes, uint64_t size,
                                        uint32_t *version) {
    enum idxf_fault fault = idxf_header_check(bytes, IDXF_DOCUMENT_SUMS_HEADER_BYTES, size, magic, version);
    if (fault != IDXF_OK) return fault;
    if (idxf_load64(bytes + AT_RESERVED) != 0 || idxf_load64(bytes + AT_RESERVED + 8) != 0) return IDXF_FAULT_RESERVED;
    memcpy(sums->uuid, bytes + AT_UUID, IDXF_UUID_BYTES);
    sums->length = idxf_load64(bytes + AT_LENGTH);
    uint64_t follows = idxf_document_sums_pages(sums) * 8 + idxf_load32(bytes + AT_EXTRA);
    return size - IDXF_DOCUMENT_SUMS_HEADER_BYTES == follows ? IDXF_OK : IDXF_FAULT_SIZE;
}
