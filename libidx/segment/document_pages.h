/* document_pages.h: reads the pages of docs.mdb, an LMDB data file (version 1, that of LMDB 0.9), each compared with
 * docs.sum before its first use. LMDB itself writes the file, but trusts pages that it reads; here nothing outside of
 * the file is read, whatever the bytes are, and a search costs microseconds, whatever the size of the map. */
#ifndef IDX_LIBIDX_DOCUMENT_PAGES_H
#define IDX_LIBIDX_DOCUMENT_PAGES_H

#include <idx.h>
#include <stdatomic.h>

#include "format/document_sums.h"

/* The mapped pages of docs.mdb and docs.sum, as idxi_pages_open maps them. */
struct idxi_pages {
    const uint8_t *map; /* docs.mdb */
    uint64_t length;
    const uint8_t *sums_map; /* docs.sum */
    uint64_t sums_length;
    uint64_t page_size;        /* LMDB's, bytes */
    uint64_t main_root;        /* of the main database, which holds the named ones */
    _Atomic uint64_t *checked; /* a bit for each IDXF_PAGE_SIZE correct bytes; NULL: pages are not checked */
    size_t allocated_bytes;
    const char *path; /* of docs.mdb, for messages */
};

#define IDXI_NO_PAGE UINT64_MAX /* the root of an empty database */

/* Maps docs.mdb (`map_file`) and docs.sum (`sums_file`), whose lengths in bytes agree, and checks LMDB's two meta
 * pages. `options` say whether pages are checked before their first use, and how they are read ahead. The files may be
 * closed after it; `path`, of docs.mdb, must outlive *pages. Call idxi_pages_close even if this fails. Errors:
 * IDX_BAD_CHECKSUM, IDX_BAD_CONTENT, IDX_UNSUPPORTED (another byte order), IDX_OUT_OF_MEMORY, IDX_IO_ERROR. */
enum idx_status idxi_pages_open(struct idxi_pages *pages, int map_file, uint64_t length, int sums_file,
                                uint64_t sums_length, const struct idx_open_options *options, const char *path,
                                struct idx_error *error);

/* Unmaps the files and frees all memory. Accepts a zeroed struct. */
void idxi_pages_close(struct idxi_pages *pages);

/* Compares the whole of docs.mdb with its checksums, even what was checked before. Errors: IDX_BAD_CHECKSUM. */
enum idx_status idxi_pages_check_all(const struct idxi_pages *pages, struct idx_error *error);

/* Drops the mapped pages from memory. They are read again when they are needed, but not checked again. */
void idxi_pages_drop(const struct idxi_pages *pages);

/* The functions below fail with IDX_BAD_CHECKSUM or IDX_BAD_CONTENT where a page that they read is damaged. */

/* Sets *root to the number of the root page of the database `name`, or to IDXI_NO_PAGE if it is empty. Fails if there
 * is no such database, or if its keys are not ordered as bytes, or may have several values. */
enum idx_status idxi_pages_find_root(const struct idxi_pages *pages, const char *name, uint64_t *root,
                                     struct idx_error *error);

/* Trees that are deeper than this count as damaged. */
#define IDXI_MAX_DEPTH 32

/* An entry of a database, and the way to it. Keys and values stay within the map. */
struct idxi_page_cursor {
    const struct idxi_pages *pages;
    unsigned depth;
    struct {
        const uint8_t *page;
        unsigned node;
    } way[IDXI_MAX_DEPTH];
    bool found; /* false after the last entry; the other members are set only if it is true */
    const uint8_t *key, *value;
    size_t key_size, value_size; /* bytes */
};

/* Sets the cursor to the first entry whose key is not below `key`, of `key_size` bytes, in the database with this root.
 * If there is none, cursor->found is false. */
enum idx_status idxi_pages_seek(const struct idxi_pages *pages, uint64_t root, const void *key, size_t key_size,
                                struct idxi_page_cursor *cursor, struct idx_error *error);

/* Sets the cursor to the entry whose key is exactly `key`, without its final 0. If there is none, cursor->found is
 * false. */
enum idx_status idxi_pages_find(const struct idxi_pages *pages, uint64_t root, const char *key,
                                struct idxi_page_cursor *cursor, struct idx_error *error);

/* Goes to the next entry; cursor->found must be true before, and is false after the last entry. Fails if the key is not
 * above the one before: so a walk meets each entry at most once, even if damaged branches share pages. */
enum idx_status idxi_pages_next(struct idxi_page_cursor *cursor, struct idx_error *error);

#endif
