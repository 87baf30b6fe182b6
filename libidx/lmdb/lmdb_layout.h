/* lmdb_layout.h: where things stand in the pages of an LMDB data file (version 1, that of LMDB 0.9), all in host byte
 * order. */
#ifndef IDX_LIBIDX_LMDB_LAYOUT_H
#define IDX_LIBIDX_LMDB_LAYOUT_H

#include <stdint.h>
#include <string.h>

/* Offsets within a page. */
enum {
    PAGE_HEADER = 16, /* bytes: page number, padding, flags, bounds */
    AT_FLAGS = 10,
    AT_LOWER = 12, /* where the array of node offsets ends; in an overflow page: the number of pages, 4 bytes */
    AT_UPPER = 14, /* where nodes begin */
    AT_MAGIC = PAGE_HEADER,
    AT_VERSION = PAGE_HEADER + 4,
    AT_PAGE_SIZE = PAGE_HEADER + 24,
    AT_FREE = PAGE_HEADER + 24,
    AT_MAIN = PAGE_HEADER + 72,
    AT_LAST_PAGE = PAGE_HEADER + 120,
    AT_TRANSACTION = PAGE_HEADER + 128,
    /* Nodes: data size, or page number, in 32 bits; flags, or its high bits; key size; key; data. */
    NODE_HEADER = 8,
    AT_NODE_FLAGS = 4,
    AT_KEY_SIZE = 6,
    /* The record of a named database. */
    DATABASE_BYTES = 48,
    AT_DATABASE_FLAGS = 4,
    AT_DEPTH = 6,
    AT_COUNTS = 8, /* of branch pages, leaf pages, overflow pages and entries */
    AT_ROOT = 40,
};

enum { BRANCH_PAGE = 0x01, LEAF_PAGE = 0x02, OVERFLOW_PAGE = 0x04 };
enum { BIG_DATA = 0x01, SUBTREE = 0x02 };

static inline uint16_t host16(const uint8_t *bytes) {
    uint16_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static inline uint32_t host32(const uint8_t *bytes) {
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static inline uint64_t host64(const uint8_t *bytes) {
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

#endif
