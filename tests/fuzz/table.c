/* table.c: fuzzes the reader of table headers: each input as it is, and with its checksum made right, which no mutation
 * would hit. One that is accepted must be written back byte for byte, and its sections must stand in order. */
#include "format/table.h"

#include "format/bytes.h"
#include "format/checksum.h"
#include "format/directory.h"
#include "format/limits.h"
#include "tests/fuzz/fuzz.h"

/* A section of so many bytes ends within the last page before the next section. */
static void check_section(uint64_t begin, uint64_t bytes, uint64_t next) {
    CHECK(next >= begin && next % IDXF_PAGE_SIZE == 0);
    CHECK(next - begin >= bytes && next - begin < bytes + IDXF_PAGE_SIZE);
}

static void check(const uint8_t *page, size_t size) {
    struct idxf_table_header header;
    uint8_t again[IDXF_PAGE_SIZE];
    uint32_t version = IDXF_VERSION;
    enum idxf_fault fault = idxf_table_header_read(&header, page, size, &version);
    CHECK((fault == IDXF_FAULT_VERSION) == (version != IDXF_VERSION));
    if (fault != IDXF_OK) return;
    idxf_table_header_write(&header, again);
    CHECK(memcmp(again, page, IDXF_PAGE_SIZE) == 0);
    CHECK(header.blocks <= header.fingerprints && header.blocks <= UINT32_MAX); /* a directory counts blocks in a u32 */

    struct idxf_table_layout layout = idxf_table_lay_out(&header);
    CHECK(layout.blocks == IDXF_PAGE_SIZE);
    check_section(layout.blocks, header.blocks * header.block_size, layout.directory);
    CHECK(layout.directory_lines * IDXF_LINE_BLOCKS >= header.blocks);
    CHECK(layout.directory_lines * IDXF_LINE_BLOCKS < header.blocks + IDXF_LINE_BLOCKS);
    CHECK(layout.lists - layout.directory == layout.directory_lines * IDXF_LINE_BYTES);
    check_section(layout.lists, header.list_bytes, layout.checksums);
    CHECK(layout.checksums - layout.blocks == layout.pages * IDXF_PAGE_SIZE);
    CHECK(layout.file_size - layout.checksums == layout.pages * 8 + header.extra);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t read = size < IDXF_PAGE_SIZE ? size : IDXF_PAGE_SIZE;
    uint8_t *page = copy_exactly(data, read);
    check(page, read);
    if (read == IDXF_PAGE_SIZE) {
        idxf_store64(page + IDXF_PAGE_SIZE - 8, idxf_checksum(page, IDXF_PAGE_SIZE - 8));
        check(page, read);
    }
    free(page);
    return 0;
}
