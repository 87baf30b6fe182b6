/* document_sums.c: reads and writes the header of docs.sum. */
#include "format/document_sums.h"

#include "format/header.h"

static const struct idxf_field fields[] = {
    IDXF_FIELD(12, struct idxf_document_sums, extra),
    IDXF_FIELD(16, struct idxf_document_sums, uuid),
    IDXF_FIELD(32, struct idxf_document_sums, length),
};

static const struct idxf_header_form form = {"idxdsums", IDXF_DOCUMENT_SUMS_HEADER_BYTES,
                                             sizeof fields / sizeof *fields, fields};

uint64_t idxf_document_sums_count_pages(const struct idxf_document_sums *sums) {
    return sums->length / IDXF_PAGE_SIZE + (sums->length % IDXF_PAGE_SIZE != 0);
}

void idxf_document_sums_header_write(const struct idxf_document_sums *sums, uint8_t *header) {
    idxf_header_write(&form, sums, header);
}

enum idxf_fault idxf_document_sums_header_read(struct idxf_document_sums *sums, const uint8_t *bytes, uint64_t size,
                                               uint32_t *version) {
    enum idxf_fault fault = idxf_header_read(&form, bytes, size, sums, version);
    if (fault != IDXF_OK) return fault;
    uint64_t following = idxf_document_sums_count_pages(sums) * 8 + sums->extra;
    return size - IDXF_DOCUMENT_SUMS_HEADER_BYTES == following ? IDXF_OK : IDXF_FAULT_SIZE;
}
