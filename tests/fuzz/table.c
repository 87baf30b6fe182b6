/* table.c: fuzzes the reader of table headers: each input as it is, and with its checksum made right, which no mutation
 * would hit. One that is accepted must be written back byte for byte, and its sections must stand in order. */
#include "format/table.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes.h"
#include "format/checksum.h"
#include "format/limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const uint8_t *data, size_t size) {
    struct idxf_table_header header;
    uint8_t again[IDXF_PAGE_SIZE];
    uint32_t version;
    if (idxf_table_header_read(&header, data, size, &version) != IDXF_OK) return;
    idxf_table_header_write(&header, again);
    if (memcmp(again, data, IDXF_PAGE_SIZE) != 0) abort();

    struct idxf_table_layout layout = idxf_table_layout(&header);
    if (layout.blocks < IDXF_PAGE_SIZE || layout.keys < layout.blocks || layout.directory < layout.keys ||
        layout.checksums < layout.directory || layout.file_size < layout.checksums) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    check(data, size);
    if (size < IDXF_PAGE_SIZE) return 0;
    uint8_t *page = malloc(IDXF_PAGE_SIZE); /* exactly: a read beyond it is seen */
    if (page == NULL) return 0;
    memcpy(page, data, IDXF_PAGE_SIZE - 8);
    idxf_store64(page + IDXF_PAGE_SIZE - 8, idxf_checksum(page, IDXF_PAGE_SIZE - 8));
    check(page, IDXF_PAGE_SIZE);
    free(page);
    return 0;
}
