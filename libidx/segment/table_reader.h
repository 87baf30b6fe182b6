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

/* Opens the file `name` in `folder`, whose path is `folder_path`, and checks the header and the size. Call
 * idxi_table_close even if this fails. */
enum idx_status idxi_table_open(struct idxi_table *table, int folder, const char *folder_path, const char *name,
                                const struct idx_open_options *options, struct idx_error *error);

/* Returns the bytes of memory that the loaded data of a residence needs, in whole pages. */
size_t idxi_table_count_load_bytes(const struct idxi_table *table, enum idx_residence residence);

/* Loads the data of the options' residence into `memory`, which is aligned to a page and must live as long as the
 * table, and checks each page. A table that is used as it is mapped needs no loading. */
enum idx_status idxi_table_load(struct idxi_table *table, const struct idx_open_options *options, uint8_t *memory,
                                struct idx_error *error);

/* Closes the file, and frees all but the memory of the loaded data. */
void idxi_table_close(struct idxi_table *table);

/* Compares page `page` (from 0, after the header) with its checksum, even if that was done before. */
enum idx_status idxi_table_verify_page(const struct idxi_table *table, uint64_t page, struct idx_error *error);

/* Compares a page with its checksum, and notes that it is correct. Pages beside it are checked and noted with it. */
enum idx_status idxi_table_check_new_page(const struct idxi_table *table, uint64_t page, struct idx_error *error);

/* Drops mapped pages from memory; they are read again when they are used. Code that reads a whole table calls this
 * every IDXI_DROPPED_BYTES, so that the table does not fill the memory. Loaded data stays. */
#define IDXI_DROPPED_BYTES ((uint64_t)4 << 20)
void idxi_table_drop_pages(const struct idxi_table *table);

/* Checks the page of the bytes at `offset` of the file, unless that was done before. It must be called before they are
 * used where they are mapped. */
static inline enum idx_status idxi_table_check_page_at(const struct idxi_table *table, uint64_t offset,
                                                       struct idx_error *error) {
    uint64_t page = offset / IDXF_PAGE_SIZE - 1;
    if (table->checked == NULL) return IDX_OK;
    if (atomic_load_explicit(&table->checked[page / 64], memory_order_acquire) >> page % 64 & 1) return IDX_OK;
    return idxi_table_check_new_page(table, page, error);
}

/* Returns the offset of a block in the file. */
static inline uint64_t idxi_table_get_block_offset(const struct idxi_table *table, uint64_t block) {
    return table->layout.blocks + block * table->header.block_size;
}

/* Returns the bytes of a block, whose page must be checked first where blocks are mapped. */
static inline const uint8_t *idxi_table_get_block(const struct idxi_table *table, uint64_t block) {
    return table->blocks + block * table->header.block_size;
}

/* Asks the system to read the pages of the blocks from `begin` to before `end`, which will all be needed: some hundred
 * KiB at most, since systems ignore what is beyond. Does nothing where blocks are loaded. */
void idxi_table_request_pages(const struct idxi_table *table, uint64_t begin, uint64_t end);

/* Returns the directory line in which the search for a permuted, left-aligned fingerprint begins. */
static inline const uint8_t *idxi_table_get_line(const struct idxi_table *table, uint64_t fingerprint) {
    uint64_t line = idxf_find_place(fingerprint, table->layout.directory_lines).line;
    return table->directory.lines + line * IDXF_LINE_BYTES;
}

/* Sets *start to the block where the search for a permuted, left-aligned fingerprint and those above it begins: all
 * blocks before it have lower keys. It is the number of blocks if all keys are lower. Errors: IDX_BAD_CHECKSUM,
 * IDX_BAD_CONTENT. */
enum idx_status idxi_table_find_block(const struct idxi_table *table, uint64_t fingerprint, struct idxf_start *start,
                                      struct idx_error *error);

/* Sets *start to the block of this number. Checks the whole directory first, if it is mapped. Errors: as for
 * idxi_table_find_block. */
enum idx_status idxi_table_locate_block(const struct idxi_table *table, uint64_t block, struct idxf_start *start,
                                        struct idx_error *error);

/* Blocks that are being decoded, in their order. */
struct idxi_blocks {
    const struct idxi_table *table;
    uint64_t next; /* block */
    struct idxf_bounds bounds;
};

/* Begins at the block of `start`, which idxi_table_find_block or idxi_table_locate_block has set. */
void idxi_blocks_begin(struct idxi_blocks *blocks, const struct idxi_table *table, const struct idxf_start *start);

/* Decodes the next blocks, up to block `end` (from blocks->next to the number of blocks): a few of them, or none at the
 * end. `fingerprints` has space for idxf_get_decoded_capacity(table->decoder) of them. Each page is checked before its
 * first use, unless the index was opened otherwise. The fingerprints ascend, also from one call to the next. Errors:
 * IDX_BAD_CHECKSUM, IDX_BAD_CONTENT; then nothing is returned. */
enum idx_status idxi_blocks_read(struct idxi_blocks *blocks, uint64_t end, uint64_t *fingerprints, size_t *count,
                                 struct idx_error *error);

/* ---- All fingerprints ---- */

/* The fingerprints of an open table as a stream, in the order of the table: permuted, left-aligned, ascending. */

struct idxi_table_stream {
    struct idxi_stream stream; /* without values */
    struct idxi_blocks blocks;
    size_t decoded_capacity;                /* fingerprints for which idxi_blocks_read needs space */
    uint64_t given;                         /* fingerprints that were read so far */
    uint64_t dropped;                       /* how often mapped pages were dropped */
    uint64_t chunk[IDXF_MAX_DECODED_WORDS]; /* decoded when a caller's array was too small for as many */
    size_t chunk_count, chunk_read;         /* fingerprints in the chunk, and those of them that a caller got */
};

/* Begins at the first fingerprint. The table stays the caller's, and open. Each page is checked before its first use,
 * unless the table was opened otherwise. A fault in a block (IDX_BAD_CHECKSUM, IDX_BAD_CONTENT) ends the stream, and so
 * do fingerprints that don't ascend, and a number of them that is not the header's. The stream drops mapped pages
 * behind it, so it keeps at most a few MiB of the table in memory. Any number of streams may read a table at a time. */
void idxi_table_stream_init(struct idxi_table_stream *stream, const struct idxi_table *table);

/* ---- What a probe costs ---- */

/* Returns how many blocks a probe searches if `group` fingerprints have its prefix: those that hold them, and on
 * average half a cell of the directory before them. */
double idxi_estimate_blocks(double group, double block_fingerprints);

/* Returns how many of the last bits of the prefix of a table with a radius are not flipped, but searched for all their
 * values at once: as many as let a probe find a few of the table's `count` fingerprints. */
unsigned idxi_count_spared_bits(uint64_t count, unsigned prefix);

#endif
