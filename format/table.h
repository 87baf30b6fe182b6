/* table.h: table files: the header, and the offsets of the sections (SPEC.md, chapter 4). */
#ifndef IDX_FORMAT_TABLE_H
#define IDX_FORMAT_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "format/block.h"
#include "format/fault.h"
#include "format/statistics.h"

#define IDXF_UUID_BYTES 16

struct idxf_table_header {
    uint8_t uuid[IDXF_UUID_BYTES]; /* of the segment */
    uint64_t mask;
    uint64_t fingerprints;
    uint64_t blocks;
    uint32_t number; /* within the segment, from 0 */
    uint32_t block_size;
    uint8_t bits;
    uint8_t radius;
    uint8_t anchor_bits;
    struct idxf_code code;
    uint8_t long_codes; /* 1 or 0: see struct idxf_block_form */
    struct idxf_statistics statistics;
    uint64_t list_bytes; /* of the directory */
    uint32_t extra;      /* bytes at the end of the file that this version ignores */
};

/* These are the byte offsets of the sections in the file, all multiples of 8, and those of blocks, directory and
 * checksums multiples of the page size. The sections from `blocks` to `checksums` are `pages` pages of IDXF_PAGE_SIZE
 * bytes. */
struct idxf_table_layout {
    uint64_t blocks;
    uint64_t directory;
    uint64_t directory_lines;
    uint64_t lists;
    uint64_t checksums;
    uint64_t pages;
    uint64_t file_size;
};

/* Rounds an offset in a file up to a multiple of the page size. */
static inline uint64_t idxf_round_to_page(uint64_t offset) {
    return (offset + IDXF_PAGE_SIZE - 1) / IDXF_PAGE_SIZE * IDXF_PAGE_SIZE;
}

/* Writes the header page, IDXF_PAGE_SIZE bytes. */
void idxf_table_header_write(const struct idxf_table_header *header, uint8_t *page);

/* Reads and checks the header of a file whose first `size` bytes are at `page`. Returns a fault of idxf_header_read, or
 * the first fault of a field, in the order of SPEC.md, chapter 4. On IDXF_FAULT_VERSION, *version is set to the version
 * found. After a fault, *header must not be used. */
enum idxf_fault idxf_table_header_read(struct idxf_table_header *header, const uint8_t *page, size_t size,
                                       uint32_t *version);

/* Returns the offsets of the sections of a table file, and its size. The header must be valid. */
struct idxf_table_layout idxf_table_lay_out(const struct idxf_table_header *header);

/* Returns what all blocks of the table have in common, from a valid header. */
struct idxf_block_form idxf_table_get_block_form(const struct idxf_table_header *header);

#endif
