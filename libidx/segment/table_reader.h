/* table_reader.h: an open table file: its directory, its blocks, and its fingerprints as a stream. Each page is checked
 * before its first use. */
#ifndef IDX_LIBIDX_TABLE_READER_H
#define IDX_LIBIDX_TABLE_READER_H

#include <idx.h>
#include <stdatomic.h>
#include <stdint.h>

#include "format/directory.h"
#include "format/permute.h"
#include "format/table.h"
#include "libidx/base/base.h"
#include "libidx/streams/stream.h"

/* An open table file. */
struct idxi_table {
    struct idxf_table_header header;
    struct idxf_table_layout layout;
    struct idxf_permutation permutation;
    unsigned prefix;                 /* bits */
    struct idxf_decoder *decoder;    /* NULL for a table without fingerprints */
    size_t alike;                    /* number of the first table of the segment with the same code */
    const uint8_t *map;              /* the file */
    const uint8_t *blocks;           /* in the map, or loaded into memory */
    struct idxf_directory directory; /* in the map, or loaded into memory */
    bool is_directory_loaded;
    int file;                /* descriptor, until loading is done; or -1 */
    size_t prefetched_bytes; /* prefetched from the first block of a search on */
    unsigned spared_bits;    /* the last bits of the prefix: not flipped, but searched for all their values at once */
    bool on_disk;            /* blocks are prefetched by system calls */
    size_t allocated_bytes;  /* what opening allocated, without loaded data */
    /* A bit for each page that was found correct; NULL if mapped pages are not checked, or none is used. */
    _Atomic uint64_t *checked;
    char *path;
};

/* Opens and maps the file `name` in `folder` (a descriptor; its path is `folder_path`), and checks its header and size.
 * `options` say whether pages are checked, and what idxi_table_load will load. Call idxi_table_close even if this
 * fails. Errors: the damaged-file group, IDX_NEW_VERSION, IDX_OUT_OF_MEMORY, IDX_IO_ERROR, IDX_NO_ACCESS. */
enum idx_status idxi_table_open(struct idxi_table *table, int folder, const char *folder_path, const char *name,
                                const struct idx_open_options *options, struct idx_error *error);

/* Returns how many bytes of memory idxi_table_load needs for a residence, a multiple of IDXF_PAGE_SIZE; 0 if it loads
 * nothing. */
size_t idxi_table_count_load_bytes(const struct idxi_table *table, enum idx_residence residence);

/* Loads what options->residence says into `memory`, and closes the file's descriptor; the file stays mapped. Each page
 * is checked unless options->skip_page_checks. `memory` has as many bytes as idxi_table_count_load_bytes says (NULL for
 * none), begins at a page, and must outlive the table. Errors: IDX_BAD_CHECKSUM, IDX_IO_ERROR. */
enum idx_status idxi_table_load(struct idxi_table *table, const struct idx_open_options *options, uint8_t *memory,
                                struct idx_error *error);

/* Closes and unmaps the file, and frees all memory but that of the loaded data, which is the caller's. */
void idxi_table_close(struct idxi_table *table);

/* Compares page `page` (from 0, after the header) with its checksum, even if that was done before. Errors:
 * IDX_BAD_CHECKSUM. */
enum idx_status idxi_table_compare_checksum(const struct idxi_table *table, uint64_t page, struct idx_error *error);

/* Compares page `page` (from 0, after the header) with its checksum, and notes in table->checked that it is correct.
 * That must not be NULL. Does the same for pages beside it, but ignores their damage. Errors: IDX_BAD_CHECKSUM. */
enum idx_status idxi_table_check_and_note_page(const struct idxi_table *table, uint64_t page, struct idx_error *error);

/* Drops mapped pages from memory; they are read again when they are used. Code that reads a whole table calls this
 * every IDXI_DROPPED_BYTES, so that the table does not fill the memory. Loaded data stays. */
#define IDXI_DROPPED_BYTES ((uint64_t)4 << 20)
void idxi_table_drop_pages(const struct idxi_table *table);

/* Checks the page that has byte `offset` of the file, which is behind the header, unless that was done before or pages
 * are not checked. Must be called before bytes of the page are read in the map. Errors: IDX_BAD_CHECKSUM. */
static inline enum idx_status idxi_table_check_page_at(const struct idxi_table *table, uint64_t offset,
                                                       struct idx_error *error) {
    uint64_t page = offset / IDXF_PAGE_SIZE - 1;
    if (table->checked == NULL) return IDX_OK;
    if (atomic_load_explicit(&table->checked[page / 64], memory_order_acquire) >> page % 64 & 1) return IDX_OK;
    return idxi_table_check_and_note_page(table, page, error);
}

/* Returns the offset of block number `block` in the file. */
static inline uint64_t idxi_table_get_block_offset(const struct idxi_table *table, uint64_t block) {
    return table->layout.blocks + block * table->header.block_size;
}

/* Returns the bytes of block number `block`. If blocks are mapped, idxi_table_check_page_at checks its page first. */
static inline const uint8_t *idxi_table_get_block(const struct idxi_table *table, uint64_t block) {
    return table->blocks + block * table->header.block_size;
}

/* Asks the system to read the pages of the blocks from number `begin` to before `end` into memory, without waiting.
 * They should have some hundred KiB at most, since systems ignore what is beyond. Does nothing if blocks are loaded. */
void idxi_table_request_pages(const struct idxi_table *table, uint64_t begin, uint64_t end);

/* Returns the directory line where the search for a permuted, left-aligned fingerprint begins, IDXF_LINE_BYTES bytes,
 * for example to prefetch it. The table must have blocks. */
static inline const uint8_t *idxi_table_get_line(const struct idxi_table *table, uint64_t fingerprint) {
    uint64_t line = idxf_find_place(fingerprint, table->layout.directory_lines).line;
    return table->directory.lines + line * IDXF_LINE_BYTES;
}

/* Sets *start to the first block that can have a permuted, left-aligned fingerprint or one above it: all blocks before
 * it have lower keys. If all keys are lower, start->block is the number of blocks. The table must have blocks. Errors:
 * IDX_BAD_CHECKSUM, IDX_BAD_CONTENT. */
enum idx_status idxi_table_find_block(const struct idxi_table *table, uint64_t fingerprint, struct idxf_start *start,
                                      struct idx_error *error);

/* Sets *start to block number `block`, for idxi_blocks_begin. Checks the whole directory first if it is mapped, which
 * takes long in a large table. The table must have blocks. Errors: as for idxi_table_find_block. */
enum idx_status idxi_table_find_block_by_number(const struct idxi_table *table, uint64_t block,
                                                struct idxf_start *start, struct idx_error *error);

/* Blocks that are being decoded, in their order. */
struct idxi_blocks {
    const struct idxi_table *table;
    uint64_t next; /* number of the next block */
    struct idxf_bounds bounds;
};

/* Begins decoding at the block of `start`, which idxi_table_find_block or idxi_table_find_block_by_number has set.
 * *blocks needs no closing. */
void idxi_blocks_begin(struct idxi_blocks *blocks, const struct idxi_table *table, const struct idxf_start *start);

/* Decodes one or a few of the next blocks, but none from block `end` on, which is at most the number of blocks. Writes
 * their fingerprints, permuted and left-aligned, and sets *count to their number, which is 0 only at `end`. There must
 * be space for idxf_get_decoded_capacity(table->decoder) of them. They ascend, also from one call to the next. Each
 * page is checked before its first use, unless the table was opened with skip_page_checks. Errors: IDX_BAD_CHECKSUM,
 * IDX_BAD_CONTENT; then *fingerprints and *count are unspecified. */
enum idx_status idxi_blocks_read(struct idxi_blocks *blocks, uint64_t end, uint64_t *fingerprints, size_t *count,
                                 struct idx_error *error);

/* ---- All fingerprints ---- */

/* The fingerprints of an open table as a stream, in the order of the table: permuted, left-aligned, ascending. */
struct idxi_table_stream {
    struct idxi_stream stream; /* without values */
    struct idxi_blocks blocks;
    size_t decoded_capacity;                /* fingerprints for which idxi_blocks_read needs space */
    uint64_t given;                         /* fingerprints of the blocks so far */
    uint64_t drops;                         /* how often mapped pages were dropped from memory */
    uint64_t chunk[IDXF_MAX_DECODED_WORDS]; /* decoded when a caller's array was too small for as many */
    size_t chunk_count, chunk_copied;       /* fingerprints in the chunk, and those of them that a caller got */
};

/* Begins at the first fingerprint. The table must stay open as long as the stream, which needs no closing. Any number
 * of streams may read a table at a time. The stream drops mapped pages that it has read, so at most a few MiB of the
 * table are in memory. Each page is checked before its first use, unless the table was opened with skip_page_checks.
 * Reading fails with IDX_BAD_CHECKSUM, or with IDX_BAD_CONTENT if a block has a fault, if fingerprints don't ascend, or
 * if there are not as many as the header says. */
void idxi_table_stream_init(struct idxi_table_stream *stream, const struct idxi_table *table);

/* ---- What a probe costs ---- */

/* Returns how many blocks a probe searches on average if `group_size` fingerprints have its prefix and a block holds
 * `block_fingerprints`: the blocks of the group, and half a cell of the directory before them. */
double idxi_estimate_probe_blocks(double group_size, double block_fingerprints);

/* Returns how many of the last bits of a prefix of `prefix` bits a look-up spares: a table with a radius is not probed
 * with these flipped, but each probe searches all their values at once. They are as many as let a probe find a few of
 * the table's `count` fingerprints. */
unsigned idxi_count_spared_bits(uint64_t count, unsigned prefix);

#endif
