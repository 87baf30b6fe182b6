/* sums.c: fuzzes the reader of docs.sum's header: each input as it is, and with its checksum made right, which no
 * mutation would hit; as a file of its own size, and of the size that its length asks for. One that is accepted must be
 * written back byte for byte. */
#include "format/document_sums.h"

#include "format/bytes.h"
#include "format/checksum.h"
#include "tests/fuzz/fuzz.h"

enum { HEADER = IDXF_DOCUMENT_SUMS_HEADER_BYTES, AT_EXTRA = 12, AT_LENGTH = 32, AT_CHECKSUM = 56 };

static void check(const uint8_t *header, uint64_t size) {
    struct idxf_document_sums sums;
    uint8_t again[HEADER];
    uint32_t version = IDXF_VERSION;
    enum idxf_fault fault = idxf_document_sums_header_read(&sums, header, size, &version);
    CHECK((fault == IDXF_FAULT_VERSION) == (version != IDXF_VERSION));
    if (fault != IDXF_OK) return;
    CHECK(size == HEADER + idxf_document_sums_count_pages(&sums) * 8 + sums.extra);
    idxf_document_sums_header_write(&sums, again);
    CHECK(memcmp(again, header, HEADER) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *header = copy_exactly(data, size < HEADER ? size : HEADER);
    check(header, size);
    if (size >= HEADER) {
        struct idxf_document_sums sums = {.length = idxf_load64(header + AT_LENGTH)};
        idxf_store64(header + AT_CHECKSUM, idxf_checksum(header, AT_CHECKSUM));
        check(header, size);
        check(header, HEADER + idxf_document_sums_count_pages(&sums) * 8 + idxf_load32(header + AT_EXTRA));
    }
    free(header);
    return 0;
}
