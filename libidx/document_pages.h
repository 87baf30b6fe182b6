/* document_pages.h: checks the pages of docs.mdb before LMDB reads them, since LMDB trusts its pages. It follows the
 * way that LMDB takes to a key through the pages of its data file (version 1, that of LMDB 0.9), and compares each page
 * with docs.sum before its first use. So a look-up costs microseconds, whatever the size of the map. */
#ifndef IDX_LIBIDX_DOCUMENT_PAGES_H
#define IDX_LIBIDX_DOCUMENT_PAGES_H

#include <idx.h>
#include <stdatomic.h>

#include "format/document_sums.h"

struct idxi_pages {
    const uint8_t *map; /* docs.mdb */
    uint64_t length;
    const uint8_t *sums_map; /* docs.sum */
    uint64_t sums_length;
    uint64_t page_size;        /* LMDB's, bytes */
    _Atomic uint64_t *checked; /* a bit for each IDXF_PAGE_SIZE bytes found right; NULL where they are not checked */
    size_t allocated_bytes;
    const char *path; /* of docs.mdb, for messages */
};

/* Maps the files (open descriptors, their lengths known and in accord) and checks LMDB's two meta pages. */
enum idx_status idxi_pages_open(struct idxi_pages *pages, int documents, uint64_t length, int sums,
                                uint64_t sums_length, bool skip_checks, const char *path, struct idx_error *error);

void idxi_pages_close(struct idxi_pages *pages);

/* Checks every page of the file, whether or not it was before. */
enum idx_status idxi_pages_check_all(const struct idxi_pages *pages, struct idx_error *error);

/* Checks the pages of LMDB's main database, which holds the named ones. */
enum idx_status idxi_pages_check_main(const struct idxi_pages *pages, struct idx_error *error);

/* Finds the root of a named database, after idxi_pages_check_main. */
enum idx_status idxi_pages_find_root(const struct idxi_pages *pages, const char *name, uint64_t *root,
                                     struct idx_error *error);

/* Checks the pages of a whole database. */
enum idx_status idxi_pages_check_tree(const struct idxi_pages *pages, uint64_t root, struct idx_error *error);

/* Checks the pages that LMDB reads to get all values of an integer key. */
enum idx_status idxi_pages_check_key(const struct idxi_pages *pages, uint64_t root, uint64_t key,
                                     struct idx_error *error);

#endif
