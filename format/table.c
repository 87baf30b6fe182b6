/* table.c: reads and writes the header of a table file, field by field in the order of SPEC.md. */
#include "format/table.h"

#include "format/bytes.h"
#include "format/directory.h"
#include "format/header.h"

static const struct idxf_field fields[] = {
    IDXF_FIELD(12, struct idxf_table_header, number),
    IDXF_FIELD(16, struct idxf_table_header, uuid),
    IDXF_FIELD(32, struct idxf_table_header, mask),
    IDXF_FIELD(40, struct idxf_table_header, bits),
    IDXF_FIELD(41, struct idxf_table_header, radius),
    IDXF_FIELD(42, struct idxf_table_header, anchor_bits),
    IDXF_FIELD(43, struct idxf_table_header, code.near_bits),
    IDXF_FIELD(44, struct idxf_table_header, block_size),
    IDXF_FIELD(48, struct idxf_table_header, fingerprints),
    IDXF_FIELD(56, struct idxf_table_header, blocks),
    IDXF_FIELD(64, struct idxf_table_header, code.lengths),
    IDXF_FIELD(128, struct idxf_table_header, statistics.set_bits),
    IDXF_FIELD(136, struct idxf_table_header, statistics.common_bits),
    IDXF_FIELD(144, struct idxf_table_header, statistics.largest_group),
    IDXF_FIELD(152, struct idxf_table_header, statistics.pairs),
    IDXF_FIELD(160, struct idxf_table_header, list_bytes),
    IDXF_FIELD(168, struct idxf_table_header, long_codes),
    IDXF_FIELD(172, struct idxf_table_header, extra),
};

static const struct idxf_header_form form = {"idxtable", IDXF_PAGE_SIZE, sizeof fields / sizeof *fields, fields};

void idxf_table_header_write(const struct idxf_table_header *header, uint8_t *page) {
    idxf_header_write(&form, header, page);
}

/* Returns IDXF_FAULT_COUNT unless the numbers of blocks and fingerprints agree, and the lists are not too long for so
 * many blocks. */
static enum idxf_fault check_counts(const struct idxf_table_header *header) {
    uint64_t max_fingerprints = header->bits == 64 ? UINT64_MAX : UINT64_C(1) << header->bits;
    if (header->blocks > IDXF_MAX_BLOCKS || header->fingerprints > max_fingerprints) return IDXF_FAULT_COUNT;
    if (header->fingerprints < header->blocks || header->fingerprints > header->blocks * IDXF_MAX_BLOCK_FINGERPRINTS)
        return IDXF_FAULT_COUNT;
    /* Each block has one key, of which a list has at most all 64 bits. */
    if (header->list_bytes > header->blocks * sizeof(uint64_t)) return IDXF_FAULT_COUNT;
    return IDXF_OK;
}

/* Checks the values that can be checked without the manifest, in the order of SPEC.md, chapter 4. Returns the first
 * fault. */
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
    bool may_have_long_codes = header->block_size == IDXF_MIN_BLOCK_SIZE;
    if (header->long_codes > may_have_long_codes) return IDXF_FAULT_CODE;
    return idxf_code_check(&header->code, header->bits);
}

enum idxf_fault idxf_table_header_read(struct idxf_table_header *header, const uint8_t *page, size_t size,
                                       uint32_t *version) {
    enum idxf_fault fault = idxf_header_read(&form, page, size, header, version);
    return fault == IDXF_OK ? check_fields(header) : fault;
}

struct idxf_table_layout idxf_table_lay_out(const struct idxf_table_header *header) {
    struct idxf_table_layout layout;
    layout.blocks = IDXF_PAGE_SIZE;
    layout.directory = idxf_round_to_page(layout.blocks + header->blocks * header->block_size);
    layout.directory_lines = idxf_directory_count_lines(header->blocks);
    layout.lists = layout.directory + layout.directory_lines * IDXF_LINE_BYTES;
    layout.checksums = idxf_round_to_page(layout.lists + header->list_bytes);
    layout.pages = (layout.checksums - layout.blocks) / IDXF_PAGE_SIZE;
    layout.file_size = layout.checksums + layout.pages * 8 + header->extra;
    return layout;
}

struct idxf_block_form idxf_table_get_block_form(const struct idxf_table_header *header) {
    return (struct idxf_block_form){.bits = header->bits,
                                    .anchor_bits = header->anchor_bits,
                                    .block_size = header->block_size,
                                    .code = header->code,
                                    .long_codes = header->long_codes == 1};
}
