/* table_reader.h: one table file, open: its keys and directory, and its blocks, each page checked before its first
 * use. */
#ifndef IDX_LIBIDX_TABLE_READER_H
#define IDX_LIBIDX_TABLE_READER_H

#include <idx.h>
#include <stdatomic.h>

#include "format/bytes.h"
#include "format/permute.h"
#include "format/table.h"
#include "libidx/error.h"

struct idxi_table {
    struct idxf_table_header header;
    struct idxf_table_layout layout;
    struct idxf_permutation permutation;
    unsigned prefix;              /* bits */
    struct idxf_decoder *decoder; /* NULL for a table without fingerprints */
    const uint8_t *map;           /* the file */
    const uint8_t *blocks;        /* in the map, or in `held`, like the next two */
    const uint8_t *keys;
    const uint8_t *directory;
    uint8_t *held;          /* keys and directory in memory, blocks maybe; or NULL */
    size_t allocated_bytes; /* all that opening allocated */
    /* A bit for each page that was found right; NULL where mapped pages are not checked, or none is used. */
    _Atomic uint64_t *checked;
    char *path;
};

/* Opens `name` in `folder` (whose path is `folder_path`), and checks the header and the size. */
enum idx_status idxi_table_open(struct idxi_table *table, int folder, const char *folder_path, const char *name,
                                const struct idx_open_options *options, struct idx_error *error);

void idxi_table_close(struct idxi_table *table);

/* Compares page `page` (from 0, after the header) with its checksum. */
enum idx_status idxi_table_verify_page(const struct idxi_table *table, uint64_t page, struct idx_error *error);

/* The same once, remembering success. */
enum idx_status idxi_table_check_page_first(const struct idxi_table *table, uint64_t page, struct idx_error *error);

/* Before using bytes at `offset` of the file, which lie in one page. */
static inline enum idx_status idxi_table_check(const struct idxi_table *table, uint64_t offset,
                                               struct idx_error *error) {
    uint64_t page = offset / IDXF_PAGE_SIZE - 1;
    if (table->checked == NULL) return IDX_OK;
    if (atomic_load_explicit(&table->checked[page / 64], memory_order_acquire) >> page % 64 & 1) return IDX_OK;
    return idxi_table_check_page_first(table, page, error);
}

static inline uint64_t idxi_table_block_offset(const struct idxi_table *table, uint64_t block) {
    return table->layout.blocks + block * table->header.block_size;
}

static inline const uint8_t *idxi_table_block(const struct idxi_table *table, uint64_t block) {
    return table->blocks + block * table->header.block_size;
}

/* Block `block`'s key, unchecked: for keys held in memory, or a page checked before. */
static inline uint64_t idxi_table_key(const struct idxi_table *table, uint64_t block) {
    return idxf_load64(table->keys + block * 8);
}

/* Before using keys or directory entries at `offset`: held ones were checked when they were loaded. */
static inline enum idx_status idxi_table_check_mapped(const struct idxi_table *table, uint64_t offset,
                                                      struct idx_error *error) {
    return table->held != NULL ? IDX_OK : idxi_table_check(table, offset, error);
}

/* The same, its page checked where keys are mapped. */
static inline enum idx_status idxi_table_get_key(const struct idxi_table *table, uint64_t block, uint64_t *key,
                                                 struct idx_error *error) {
    IDXI_TRY(idxi_table_check_mapped(table, table->layout.keys + block * 8, error));
    *key = idxi_table_key(table, block);
    return IDX_OK;
}

/* The range of blocks that the directory gives for a permuted fingerprint: the first block whose key is not below it is
 * in *first to *last (inclusive; the number of blocks where there is none). */
enum idx_status idxi_table_get_range(const struct idxi_table *table, uint64_t fingerprint, uint64_t *first,
                                     uint64_t *last, struct idx_error *error);

/* The first block whose key is not below a permuted fingerprint, given such a range. */
static inline enum idx_status idxi_table_find_block(const struct idxi_table *table, uint64_t fingerprint,
                                                    uint64_t first, uint64_t last, uint64_t *block,
                                                    struct idx_error *error) {
    while (first < last) {
        uint64_t middle = first + (last - first) / 2, key;
        IDXI_TRY(idxi_table_get_key(table, middle, &key, error));
        if (key < fingerprint)
            first = middle + 1;
        else
            last = middle;
    }
    *block = first;
    return IDX_OK;
}

#endif
