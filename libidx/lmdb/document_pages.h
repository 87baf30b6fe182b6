/* document_pages.h: reads the pages of an LMDB data file (version 1, that of LMDB 0.9): of docs.mdb, each compared with
 * docs.sum before its first use, or of a file that a writer may be at, as copies. LMDB itself writes the file, but
 * trusts pages that it reads; here nothing outside of the file is read, whatever the bytes are, and a search costs
 * microseconds, whatever the size of the map. */
#ifndef IDX_LIBIDX_DOCUMENT_PAGES_H
#define IDX_LIBIDX_DOCUMENT_PAGES_H

#include <idx.h>
#include <stdatomic.h>

#include "format/document_sums.h"

struct idxi_pages;

/* Gives `count` whole pages from `number` on, one after the other, which stay as they are until the next call with the
 * same `level`: 0 to IDXI_MAX_DEPTH - 1 for a page of a tree, IDXI_MAX_DEPTH for a value. */
typedef enum idx_status idxi_pages_fetch(const struct idxi_pages *pages, uint64_t number, uint64_t count,
                                         unsigned level, const uint8_t **page, struct idx_error *error);

/* Filled by idxi_pages_open, for docs.mdb; or by hand, where pages are fetched: page_size, main_root, path, fetch and
 * context alone. */
struct idxi_pages {
    const uint8_t *map; /* docs.mdb */
    uint64_t length;
    const uint8_t *sums_map; /* docs.sum */
    uint64_t sums_length;
    uint64_t page_size;        /* LMDB's, bytes */
    uint64_t main_root;        /* of the main database, which holds the named ones */
    _Atomic uint64_t *checked; /* a bit for each IDXF_PAGE_SIZE bytes found right; NULL where they are not checked */
    size_t allocated_bytes;
    const char *path;        /* of docs.mdb, for messages */
    idxi_pages_fetch *fetch; /* NULL: pages are those of the map */
    void *context;           /* of fetch */
};

/* What LMDB says of a database. Keys are ordered as bytes, and have one value each, where flags is 0. */
struct idxi_database {
    unsigned flags, depth;
    uint64_t branch_pages, leaf_pages, overflow_pages;
    uint64_t entries;
    uint64_t root; /* IDXI_NO_PAGE: it is empty */
};

#define IDXI_NO_PAGE UINT64_MAX

/* Reads what stands under a database's name: 48 bytes. */
struct idxi_database idxi_database_read(const uint8_t *bytes);

/* What one of LMDB's two meta pages, the first two, says: the one with the greater transaction counts. */
struct idxi_meta {
    uint64_t page_size;
    struct idxi_database free, main; /* of pages to be used again, and that of the named databases */
    uint64_t last_page;
    uint64_t transaction;
};

/* The bytes of a meta page that matter. */
#define IDXI_META_BYTES 152

/* Reads a meta page's first IDXI_META_BYTES; `path` is for messages. Errors: IDX_BAD_CONTENT, IDX_UNSUPPORTED. */
enum idx_status idxi_meta_read(struct idxi_meta *meta, const uint8_t *page, const char *path, struct idx_error *error);

/* Maps the files (open descriptors, their lengths known and in accord) and checks LMDB's two meta pages. */
enum idx_status idxi_pages_open(struct idxi_pages *pages, int documents, uint64_t length, int sums,
                                uint64_t sums_length, bool skip_checks, const char *path, struct idx_error *error);

void idxi_pages_close(struct idxi_pages *pages);

/* Checks every page of the file, whether or not it was before. */
enum idx_status idxi_pages_check_all(const struct idxi_pages *pages, struct idx_error *error);

/* Gives back the memory of pages that were read; they stay checked, and come back when they are read again. */
void idxi_pages_drop(const struct idxi_pages *pages);

/* Finds a named database whose keys are ordered as bytes, and each has one value. */
enum idx_status idxi_pages_find_database(const struct idxi_pages *pages, const char *name,
                                         struct idxi_database *database, struct idx_error *error);

/* Finds the root of a named database whose keys are ordered as bytes, and each has one value. */
enum idx_status idxi_pages_find_root(const struct idxi_pages *pages, const char *name, uint64_t *root,
                                     struct idx_error *error);

/* Checks all that LMDB trusts when it writes: that each page is of one tree or free, that trees are as deep, as large
 * and as ordered as they say. Pages are fetched, all of them; nobody writes. In page_structure.c. Errors:
 * IDX_BAD_CONTENT, IDX_WRONG_SIZE, IDX_OUT_OF_MEMORY, IDX_IO_ERROR. */
enum idx_status idxi_pages_check_structure(const struct idxi_pages *pages, const struct idxi_meta *meta,
                                           struct idx_error *error);

/* Deeper trees are taken for damage. */
#define IDXI_MAX_DEPTH 32

/* An entry of a database, and the way to it. Keys and values stay within the map. */
struct idxi_page_cursor {
    const struct idxi_pages *pages;
    unsigned depth;
    struct {
        const uint8_t *page;
        unsigned node;
    } way[IDXI_MAX_DEPTH];
    bool found; /* false behind the last entry; what follows is set where it is true */
    const uint8_t *key, *value;
    size_t key_size, value_size; /* bytes */
};

/* Goes to the first entry of the database with this root whose key is not below `key`. */
enum idx_status idxi_pages_seek(const struct idxi_pages *pages, uint64_t root, const void *key, size_t key_size,
                                struct idxi_page_cursor *cursor, struct idx_error *error);

/* Goes to the last entry of the database with this root. */
enum idx_status idxi_pages_last(const struct idxi_pages *pages, uint64_t root, struct idxi_page_cursor *cursor,
                                struct idx_error *error);

/* Goes on to the next entry, from one that was found. */
enum idx_status idxi_pages_next(struct idxi_page_cursor *cursor, struct idx_error *error);

#endif
