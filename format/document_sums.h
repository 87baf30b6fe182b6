/* document_sums.h: docs.sum: the length of a segment's docs.mdb and the checksums of its pages (SPEC.md, chapter 8). */
#ifndef IDX_FORMAT_DOCUMENT_SUMS_H
#define IDX_FORMAT_DOCUMENT_SUMS_H

#include <stdint.h>

#include "format/fault.h"
#include "format/table.h"

#define IDXF_DOCUMENT_SUMS_HEADER_BYTES 64

struct idxf_document_sums {
    uint8_t uuid[IDXF_UUID_BYTES]; /* of the segment */
    uint64_t length;               /* of docs.mdb, bytes */
    uint32_t extra;                /* bytes at the end of the file that this version ignores */
};

/* Returns the number of checksums, one for each IDXF_PAGE_SIZE bytes of docs.mdb; the last page may be shorter. */
uint64_t idxf_document_sums_count_pages(const struct idxf_document_sums *sums);

/* Writes the header, IDXF_DOCUMENT_SUMS_HEADER_BYTES; the checksums follow it, 8 bytes each. */
void idxf_document_sums_header_write(const struct idxf_document_sums *sums, uint8_t *header);

/* Reads and checks the header of a docs.sum of `size` bytes, of which min(size, 64) are at `bytes`. Returns a fault of
 * idxf_header_read, or IDXF_FAULT_SIZE if the file does not have exactly the checksums and the extra bytes that the
 * header states. On IDXF_FAULT_VERSION, *version is set to the version found. After a fault, *sums must not be used. */
enum idxf_fault idxf_document_sums_header_read(struct idxf_document_sums *sums, const uint8_t *bytes, uint64_t size,
                                               uint32_t *version);

#endif
