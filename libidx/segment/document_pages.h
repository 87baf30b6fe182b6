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

/* Maps both open files, whose lengths agree, and checks LMDB's two meta pages. The files may be closed then; `path` is
 * kept. Call idxi_pages_close even if this fails. */
enum idx_status idxi_pages_open(struct idxi_pages *pages, int map_file, uint64_t length, int sums_file,
                                uint64_t sums_length, const struct idx_open_options *options, const char *path,
                                struct idx_error *error);

/* Unmaps the files. */
void idxi_pages_close(struct idxi_pages *pages);

/* Checks every page of the file, even if it was checked before. */
enum idx_status idxi_pages_check_all(const struct idxi_pages *pages, struct idx_error *error);

/* Drops pages that were read from memory. They stay checked, and are read again when they are needed. */
void idxi_pages_drop(const struct idxi_pages *pages);

/* The functions below fail with IDX_BAD_CHECKSUM or IDX_BAD_CONTENT where a page that they read is damaged. */

/* Sets *root to the root of a named database, IDXI_NO_PAGE if it is empty. Fails if the database does not exist, unless
 * its keys are ordered as bytes, and unless each has one value. */
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

/* Goes to the first entry of the database with this root whose key is not below `key`; cursor->found is false if there
 * is none. */
enum idx_status idxi_pages_seek(const struct idxi_pages *pages, uint64_t root, const void *key, size_t key_size,
                                struct idxi_page_cursor *cursor, struct idx_error *error);

/* Goes to the entry whose key is exactly `key`; cursor->found is false if there is none. */
enum idx_status idxi_pages_find(const struct idxi_pages *pages, uint64_t root, const char *key,
                                struct idxi_page_cursor *cursor, struct idx_error *error);

/* Goes on to the next entry, from one that was found. Fails where its key is not above that of the one before, so that
 * a walk comes to each entry at most once even where damaged branches share pages. */
enum idx_status idxi_pages_next(struct idxi_page_cursor *cursor, struct idx_error *error);

#endif
