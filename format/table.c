/* table.c: reads and writes the header of a table file, field by field in the order of SPEC.md. */
#include "format/table.h"

#include <string.h>

#include "format/bytes.h"
#include "format/directory.h"
#include "format/header.h"

static const char magic[IDXF_MAGIC_BYTES] = "idxtable";

enum {
    AT_NUMBER = 12,
    AT_UUID = 16,
    AT_MASK = 32,
    AT_BITS = 40,
    AT_RADIUS = 41,
    AT_ANCHOR_BITS = 42,
    AT_NEAR_BITS = 43,
    AT_BLOCK_SIZE = 44,
    AT_FINGERPRINTS = 48,
    AT_BLOCKS = 56,
    AT_LENGTHS = 64,
    AT_SET_BITS = 128,
    AT_COMMON_BITS = 136,
    AT_LARGEST_GROUP = 144,
    AT_PAIRS = 152,
    AT_LIST_BYTES = 160,
    AT_LONG_CODES = 168,
    AT_RESERVED_1 = 169,
    AT_EXTRA = 172,
    AT_RESERVED_2 = 176,
    AT_CHECKSUM = 4088,
};

void idxf_table_header_write(const struct idxf_table_header *header, uint8_t *page) {
    idxf_header_begin(page, IDXF_PAGE_SIZE, magic);
    idxf_store32(page + AT_NUMBER, header->number);
    memcpy(page + AT_UUID, header->uuid, IDXF_UUID_BYTES);
    idxf_store64(page + AT_MASK, header->mask);
    page[AT_BITS] = header->bits;
    page[AT_RADIUS] = header->radius;
    page[AT_ANCHOR_BITS] = header->anchor_bits;
    page[AT_NEAR_BITS] = header->code.near_bits;
    idxf_store32(page + AT_BLOCK_SIZE, header->block_size);
    idxf_store64(page + AT_FINGERPRINTS, header->fingerprints);
    idxf_store64(page + AT_BLOCKS, header->blocks);
    memcpy(page + AT_LENGTHS, header->code.lengths, IDXF_CLASSES);
    idxf_store64(page + AT_SET_BITS, header->statistics.set_bits);
    idxf_store64(page + AT_COMMON_BITS, header->statistics.common_bits);
    idxf_store64(page + AT_LARGEST_GROUP, header->statistics.largest_group);
    idxf_store64(page + AT_PAIRS, header->statistics.pairs);
    idxf_store64(page + AT_LIST_BYTES, header->list_bytes);
    page[AT_LONG_CODES] = header->long_codes;
    idxf_store32(page + AT_EXTRA, header->extra);
    idxf_header_end(page, IDXF_PAGE_SIZE);
}

static enum idxf_fault check_counts(const struct idxf_table_header *header) {
    uint64_t most = header->bits == 64 ? UINT64_MAX : UINT64_C(1) << header->bits;
    if (header->blocks > IDXF_MAX_BLOCKS || header->fingerprints > most) return IDXF_FAULT_COUNT;
    if (header->fingerprints < header->blocks || header->fingerprints > header->blocks * IDXF_MAX_BLOCK_FINGERPRINTS)
        return IDXF_FAULT_COUNT;
    /* A list has two keys or more, and no more bits of each than a key has. */
    if (header->list_bytes > header->blocks * sizeof(uint64_t)) return IDXF_FAULT_COUNT;
    return IDXF_OK;
}

static enum idxf_fault check_fields(const struct idxf_table_header *header) {
    if (header->bits < 1 || header->bits > IDXF_MAX_BITS) return IDXF_FAULT_BITS;
    if (header->mask == 0 || (header->mask & ~idxf_low_bits(header->bits)) != 0) return IDXF_FAULT_MASK;
    if (header->radius > IDXF_MAX_RADIUS) return IDXF_FAULT_RADIUS;
    if (header->anchor_bits < 1 || header->anchor_bits > header->bits || header->anchor_bits > IDXF_MAX_ANCHOR_BITS)
        return IDXF_FAULT_ANCHOR;
    if (header->block_size < IDXF_MIN_BLOCK_SIZE || header->block_size > IDXF_MAX_BLOCK_SIZE ||
        (header->block_size & (header->block_size - 1)) != 0)
        return IDXF_FAULT_BLOCK_SIZE;
    enum idxf_fault fault = check_counts(header);
    if (fault != IDXF_OK) return fault;
    if (header->long_codes > (header->block_size == IDXF_MIN_BLOCK_SIZE)) return IDXF_FAULT_CODE;
    return idxf_code_check(&header->code, header->bits);
}

static bool any_set(const uint8_t *bytes, size_t begin, size_t end) {
    for (size_t i = begin; i < end; i++) {
        if (bytes[i] != 0) return true;
    }
    return false;
}

enum idxf_fault idxf_table_header_read(struct idxf_table_header *header, const uint8_t *page, size_t size,
                                       uint32_t *version) {
    enum idxf_fault fault = idxf_header_check(page, IDXF_PAGE_SIZE, size, magic, version);
    if (fault != IDXF_OK) return fault;
    if (any_set(page, AT_RESERVED_1, AT_EXTRA) || any_set(page, AT_RESERVED_2, AT_CHECKSUM)) return IDXF_FAULT_RESERVED;
    header->number = idxf_load32(page + AT_NUMBER);
    memcpy(header->uuid, page + AT_UUID, IDXF_UUID_BYTES);
    header->mask = idxf_load64(page + AT_MASK);
    header->bits = page[AT_BITS];
    header->radius = page[AT_RADIUS];
    header->anchor_bits = page[AT_ANCHOR_BITS];
    header->code.near_bits = page[AT_NEAR_BITS];
    header->block_size = idxf_load32(page + AT_BLOCK_SIZE);
    header->fingerprints = idxf_load64(page + AT_FINGERPRINTS);
    header->blocks = idxf_load64(page + AT_BLOCKS);
    memcpy(header->code.lengths, page + AT_LENGTHS, IDXF_CLASSES);
    header->list_bytes = idxf_load64(page + AT_LIST_BYTES);
    header->long_codes = page[AT_LONG_CODES];
    header->extra = idxf_load32(page + AT_EXTRA);
    header->statistics.set_bits = idxf_load64(page + AT_SET_BITS);
    header->statistics.common_bits = idxf_load64(page + AT_COMMON_BITS);
    header->statistics.largest_group = idxf_load64(page + AT_LARGEST_GROUP);
    header->statistics.pairs = idxf_load64(page + AT_PAIRS);
    return check_fields(header);
}

static uint64_t round_to_page(uint64_t offset) {
    return (offset + IDXF_PAGE_SIZE - 1) / IDXF_PAGE_SIZE * IDXF_PAGE_SIZE;
}

struct idxf_table_layout idxf_table_layout(const struct idxf_table_header *header) {
    struct idxf_table_layout layout;
    layout.blocks = IDXF_PAGE_SIZE;
    layout.directory = round_to_page(layout.blocks + header->blocks * header->block_size);
    layout.directory_lines = idxf_directory_lines(header->blocks);
    layout.lists = layout.directory + layout.directory_lines * IDXF_LINE_BYTES;
    layout.checksums = round_to_page(layout.lists + header->list_bytes);
    layout.pages = (layout.checksums - layout.blocks) / IDXF_PAGE_SIZE;
    layout.file_size = layout.checksums + layout.pages * 8 + header->extra;
    return layout;
}

struct idxf_block_form idxf_table_block_form(const struct idxf_table_header *header) {
    return (struct idxf_block_form){header->bits, header->anchor_bits, header->block_size, header->code,
                                    header->long_codes == 1};
}
