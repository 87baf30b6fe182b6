/* forge.c: see forge.h. */
#include "tests/libidx/forge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/bytes.h"
#include "format/checksum.h"
#include "format/document_sums.h"
#include "format/table.h"
#include "tests/libidx/support.h"

#define HEADER_SUM (IDXF_PAGE_SIZE - 8)

void change_bytes(const char *path, size_t offset, const void *bytes, size_t length) {
    size_t size;
    uint8_t *content = read_file(path, &size);
    assert_true(offset <= size && length <= size - offset);
    memcpy(content + offset, bytes, length);
    write_file(path, content, size);
    free(content);
}

void change_size(const char *path, size_t size) { assert_int_equal(truncate(path, (off_t)size), 0); }

void seal_table(const char *path) {
    size_t size;
    uint8_t *content = read_file(path, &size);
    size_t pages = (size - IDXF_PAGE_SIZE) / (IDXF_PAGE_SIZE + 8);
    uint8_t *sums = content + (pages + 1) * IDXF_PAGE_SIZE;
    assert_int_equal(size, IDXF_PAGE_SIZE + pages * (IDXF_PAGE_SIZE + 8));
    for (size_t page = 0; page < pages; page++)
        idxf_store64(sums + page * 8, idxf_checksum(content + (page + 1) * IDXF_PAGE_SIZE, IDXF_PAGE_SIZE));
    idxf_store64(content + HEADER_SUM, idxf_checksum(content, HEADER_SUM));
    write_file(path, content, size);
    free(content);
}

void forge_table(const char *path, size_t offset, const void *bytes, size_t length) {
    change_bytes(path, offset, bytes, length);
    seal_table(path);
}

void forge_sums(const char *segment, const uint8_t *uuid) {
    struct idxf_document_sums sums;
    size_t size;
    uint8_t *content = read_file(path_in(segment, "docs.mdb"), &size);
    memcpy(sums.uuid, uuid, sizeof sums.uuid);
    sums.length = size;
    size_t pages = (size_t)idxf_document_sums_pages(&sums);
    uint8_t *made = malloc(IDXF_DOCUMENT_SUMS_HEADER_BYTES + pages * 8);
    assert_non_null(made);
    idxf_document_sums_write(&sums, made);
    for (size_t page = 0; page < pages; page++) {
        size_t at = page * IDXF_PAGE_SIZE, length = size - at < IDXF_PAGE_SIZE ? size - at : IDXF_PAGE_SIZE;
        idxf_store64(made + IDXF_DOCUMENT_SUMS_HEADER_BYTES + page * 8, idxf_checksum(content + at, length));
    }
    write_file(path_in(segment, "docs.sum"), made, IDXF_DOCUMENT_SUMS_HEADER_BYTES + pages * 8);
    free(content);
    free(made);
}

void read_segment_uuid(const char *table, uint8_t uuid[16]) {
    size_t size;
    uint8_t *content = read_file(table, &size);
    memcpy(uuid, content + 16, 16);
    free(content);
}

void forge_manifest(const char *path, const char *lines) {
    size_t length = strlen(lines), room = length + 32;
    char *text = malloc(room);
    assert_non_null(text);
    int size = snprintf(text, room, "%schecksum %016llx\n", lines, (unsigned long long)idxf_checksum(lines, length));
    write_file(path, text, (size_t)size);
    free(text);
}
