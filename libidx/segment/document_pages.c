/* document_pages.c: reads LMDB's page structure: checksums, nodes, and the path through a tree. */
#include "libidx/segment/document_pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "format/bytes.h"
#include "format/checksum.h"
#include "libidx/base/base.h"

#define LMDB_MAGIC 0xBEEFC0DE
#define LMDB_VERSION 1
#define MAX_PAGE_SIZE 65536
#define MAX_KEY_BYTES 511 /* that LMDB allows */

/* ---- Where the fields of a page are, all in host byte order ---- */

enum {
    PAGE_HEADER = 16, /* bytes of the page number, padding, flags and bounds */
    AT_FLAGS = 10,
    AT_LOWER = 12, /* where the array of node offsets ends */
    AT_MAGIC = PAGE_HEADER,
    AT_VERSION = PAGE_HEADER + 4,
    AT_PAGE_SIZE = PAGE_HEADER + 24,
    AT_MAIN = PAGE_HEADER + 72,
    AT_TRANSACTION = PAGE_HEADER + 128,
    /* A node begins with the size of its data, or the low 32 bits of a page number; then come its flags, or the high
     * bits of the page number, the size of its key, the key, and the data. */
    NODE_HEADER = 8,
    AT_NODE_FLAGS = 4,
    AT_KEY_SIZE = 6,
    /* The data of the node of a named database is a record of so many bytes. */
    DATABASE_BYTES = 48,
    AT_DATABASE_FLAGS = 4,
    AT_ROOT = 40,
};

enum { BRANCH_PAGE = 0x01, LEAF_PAGE = 0x02 };
enum { BIG_DATA = 0x01, SUBTREE = 0x02 };

/* Returns the number of 2 bytes in host byte order at any address, since fields need not be aligned. */
static inline uint16_t load_host16(const uint8_t *bytes) {
    uint16_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

/* Returns the number of 4 bytes in host byte order at any address. */
static inline uint32_t load_host32(const uint8_t *bytes) {
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

/* Returns the number of 8 bytes in host byte order at any address. */
static inline uint64_t load_host64(const uint8_t *bytes) {
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

/* Fails with IDX_BAD_CONTENT, because pages, nodes or trees break LMDB's rules. */
static enum idx_status fail_damaged_structure(const struct idxi_pages *pages, struct idx_error *error) {
    return idxi_fail(error, IDX_BAD_CONTENT, pages->path,
                     "is not a valid LMDB file: restore it from a copy, or rebuild the index");
}

/* ---- Checksums ---- */

/* Compares unit number `unit` of the file with its checksum. A unit has IDXF_PAGE_SIZE bytes, or at the end of the file
 * what is left, whatever the size of LMDB's pages. */
static enum idx_status compare_checksum(const struct idxi_pages *pages, uint64_t unit, struct idx_error *error) {
    uint64_t offset = unit * IDXF_PAGE_SIZE, left = pages->length - offset;
    size_t size = left < IDXF_PAGE_SIZE ? (size_t)left : IDXF_PAGE_SIZE;
    if (idxf_checksum(pages->map + offset, size) ==
        idxf_load64(pages->sums_map + IDXF_DOCUMENT_SUMS_HEADER_BYTES + unit * 8))
        return IDX_OK;
    return idxi_fail_fault(error, IDXF_FAULT_CHECKSUM, pages->path, offset);
}

enum idx_status idxi_pages_check_all(const struct idxi_pages *pages, struct idx_error *error) {
    for (uint64_t unit = 0; unit * IDXF_PAGE_SIZE < pages->length; unit++)
        IDXI_TRY(compare_checksum(pages, unit, error));
    return IDX_OK;
}

/* Sets *page to page `number` of LMDB. Checks first that the file has `count` pages from there on, and compares them
 * with their checksums, unless that was done before. */
static enum idx_status check_and_get_pages(const struct idxi_pages *pages, uint64_t number, uint64_t count,
                                           const uint8_t **page, struct idx_error *error) {
    uint64_t page_count = pages->length / pages->page_size;
    if (number >= page_count || count > page_count - number) return fail_damaged_structure(pages, error);
    uint64_t begin = number * pages->page_size, end = begin + count * pages->page_size;
    *page = pages->map + begin;
    if (pages->checked == NULL) return IDX_OK;
    for (uint64_t unit = begin / IDXF_PAGE_SIZE; unit * IDXF_PAGE_SIZE < end; unit++) {
        _Atomic uint64_t *word = &pages->checked[unit / 64];
        uint64_t bit = UINT64_C(1) << unit % 64;
        if (atomic_load_explicit(word, memory_order_acquire) & bit) continue;
        IDXI_TRY(compare_checksum(pages, unit, error));
        atomic_fetch_or_explicit(word, bit, memory_order_release);
    }
    return IDX_OK;
}

/* ---- Nodes ---- */

/* Returns the flags of a page: BRANCH_PAGE, LEAF_PAGE, and others. */
static unsigned get_page_flags(const uint8_t *page) { return load_host16(page + AT_FLAGS); }

/* Returns the number of nodes of a page, or 0 where its bounds are out of range. */
static unsigned count_nodes(const struct idxi_pages *pages, const uint8_t *page) {
    unsigned lower = load_host16(page + AT_LOWER);
    return lower < PAGE_HEADER || lower > pages->page_size ? 0 : (lower - PAGE_HEADER) / 2;
}

/* Returns node `i` of a page, or NULL where its header or its key would not lie within the page. */
static const uint8_t *get_node(const struct idxi_pages *pages, const uint8_t *page, unsigned i) {
    unsigned offset = load_host16(page + PAGE_HEADER + 2 * i);
    if (offset > pages->page_size - NODE_HEADER) return NULL;
    const uint8_t *node = page + offset;
    return load_host16(node + AT_KEY_SIZE) > pages->page_size - NODE_HEADER - offset ? NULL : node;
}

/* Returns the number of the page that a node of a branch leads to. */
static uint64_t get_child(const uint8_t *node) {
    return load_host32(node) | (uint64_t)load_host16(node + AT_NODE_FLAGS) << 32;
}

/* Sets the cursor's key and value to those of `node` of the leaf `page`. The value follows the key in the page; or, as
 * BIG_DATA, it has pages of its own, and the number of the first one follows the key. */
static enum idx_status read_entry(const struct idxi_pages *pages, const uint8_t *page, const uint8_t *node,
                                  struct idxi_page_cursor *cursor, struct idx_error *error) {
    unsigned flags = load_host16(node + AT_NODE_FLAGS);
    cursor->key = node + NODE_HEADER;
    cursor->key_size = load_host16(node + AT_KEY_SIZE);
    cursor->value = cursor->key + cursor->key_size;
    cursor->value_size = load_host32(node);
    size_t left_in_page = (size_t)(page + pages->page_size - cursor->value);
    size_t size_in_page = flags & BIG_DATA ? sizeof(uint64_t) : cursor->value_size;
    if (size_in_page > left_in_page) return fail_damaged_structure(pages, error);
    if (!(flags & BIG_DATA)) return IDX_OK;
    uint64_t number = load_host64(cursor->value), count = (PAGE_HEADER + cursor->value_size - 1) / pages->page_size + 1;
    IDXI_TRY(check_and_get_pages(pages, number, count, &cursor->value, error));
    cursor->value += PAGE_HEADER;
    return IDX_OK;
}

/* ---- Opening ---- */

/* Maps both files. idxi_pages_close unmaps them, also after an error. */
static enum idx_status map_files(struct idxi_pages *pages, int map_file, int sums_file, struct idx_error *error) {
    void *map = mmap(NULL, (size_t)pages->length, PROT_READ, MAP_SHARED, map_file, 0);
    if (map == MAP_FAILED) return idxi_fail_system(error, errno, pages->path, "map");
    pages->map = map;
    map = mmap(NULL, (size_t)pages->sums_length, PROT_READ, MAP_SHARED, sums_file, 0);
    if (map == MAP_FAILED) return idxi_fail_system(error, errno, pages->path, "map the checksums of");
    pages->sums_map = map;
    return IDX_OK;
}

/* Makes pages->checked, the bitmap of checked units, in which no unit is checked yet. */
static enum idx_status make_checked_bitmap(struct idxi_pages *pages, struct idx_error *error) {
    size_t bitmap_words = (size_t)(pages->length / IDXF_PAGE_SIZE / 64 + 1);
    pages->checked = calloc(bitmap_words, sizeof *pages->checked);
    if (pages->checked == NULL) return idxi_fail_memory(error);
    pages->allocated_bytes = bitmap_words * sizeof *pages->checked;
    return IDX_OK;
}

/* Checks the magic number of a meta page. Fails with IDX_UNSUPPORTED if a machine with the other byte order wrote it,
 * or with IDX_BAD_CONTENT. */
static enum idx_status check_magic(const struct idxi_pages *pages, const uint8_t *page, struct idx_error *error) {
    uint32_t magic = load_host32(page + AT_MAGIC);
    if (magic == LMDB_MAGIC) return IDX_OK;
    if (magic == __builtin_bswap32(LMDB_MAGIC))
        return idxi_fail(
            error, IDX_UNSUPPORTED, pages->path,
            "was made on a machine with a different byte order: run `idx dump` there, and build the index here");
    return fail_damaged_structure(pages, error);
}

/* What a meta page of LMDB says, the first or second page. The one with the greater transaction number is valid. */
struct meta {
    uint64_t page_size, transaction; /* bytes; the number of the transaction that wrote it */
    uint64_t main_root;              /* of the main database */
};

/* Reads and checks a meta page. Pages must have 4096 to 65536 bytes, a power of two. */
static enum idx_status read_meta(struct meta *meta, const struct idxi_pages *pages, const uint8_t *page,
                                 struct idx_error *error) {
    IDXI_TRY(check_magic(pages, page, error));
    *meta = (struct meta){.page_size = load_host32(page + AT_PAGE_SIZE),
                          .transaction = load_host64(page + AT_TRANSACTION),
                          .main_root = load_host64(page + AT_MAIN + AT_ROOT)};
    bool is_valid = load_host32(page + AT_VERSION) == LMDB_VERSION && meta->page_size >= IDXF_PAGE_SIZE &&
                    meta->page_size <= MAX_PAGE_SIZE && (meta->page_size & (meta->page_size - 1)) == 0;
    return is_valid ? IDX_OK : fail_damaged_structure(pages, error);
}

/* Checks both meta pages, and sets the size of pages and the root of the main database to what they say. */
static enum idx_status check_meta_pages(struct idxi_pages *pages, struct idx_error *error) {
    const uint8_t *page;
    struct meta first, second;
    pages->page_size = IDXF_PAGE_SIZE; /* the smallest possible size, until the first page says its own */
    IDXI_TRY(check_and_get_pages(pages, 0, 1, &page, error));
    IDXI_TRY(read_meta(&first, pages, page, error));
    pages->page_size = first.page_size;
    IDXI_TRY(check_and_get_pages(pages, 0, 2, &page, error));
    IDXI_TRY(read_meta(&second, pages, page + pages->page_size, error));
    pages->main_root = first.transaction < second.transaction ? second.main_root : first.main_root;
    return IDX_OK;
}

enum idx_status idxi_pages_open(struct idxi_pages *pages, int map_file, uint64_t length, int sums_file,
                                uint64_t sums_length, const struct idx_open_options *options, const char *path,
                                struct idx_error *error) {
    *pages = (struct idxi_pages){.length = length, .sums_length = sums_length, .path = path};
    if (length < 2 * IDXF_PAGE_SIZE) return fail_damaged_structure(pages, error);
    IDXI_TRY(map_files(pages, map_file, sums_file, error));
    /* Otherwise Linux reads up to megabytes around each page. It may do so in docs.sum, which is small. */
    if (options->residence == IDX_RESIDENCE_DISK)
        madvise((void *)(uintptr_t)pages->map, (size_t)pages->length, MADV_RANDOM);
    if (!options->skip_page_checks) IDXI_TRY(make_checked_bitmap(pages, error));
    return check_meta_pages(pages, error);
}

void idxi_pages_close(struct idxi_pages *pages) {
    if (pages->map != NULL) munmap((void *)(uintptr_t)pages->map, (size_t)pages->length);
    if (pages->sums_map != NULL) munmap((void *)(uintptr_t)pages->sums_map, (size_t)pages->sums_length);
    free((void *)(uintptr_t)pages->checked);
}

void idxi_pages_drop(const struct idxi_pages *pages) {
    madvise((void *)(uintptr_t)pages->map, (size_t)pages->length, MADV_DONTNEED);
    madvise((void *)(uintptr_t)pages->sums_map, (size_t)pages->sums_length, MADV_DONTNEED);
}

/* ---- Trees ---- */

/* Compares a node's key with another by bytes: below 0, 0, or above 0. A key comes before those that begin with it. */
static int compare_node_key(const uint8_t *node, const void *key, size_t key_size) {
    size_t size = load_host16(node + AT_KEY_SIZE);
    int order = memcmp(node + NODE_HEADER, key, size < key_size ? size : key_size);
    return order != 0 ? order : (size > key_size) - (size < key_size);
}

/* Sets *position: in a leaf, to the first node whose key is not below `key`, or to the number of nodes; in a branch, to
 * the last node whose key is not above it, where the first node counts as below all keys. Returns false if a node is
 * damaged. */
static bool search_nodes(const struct idxi_pages *pages, const uint8_t *page, const void *key, size_t key_size,
                         unsigned *position) {
    bool is_branch = (get_page_flags(page) & BRANCH_PAGE) != 0;
    unsigned first_searched = is_branch ? 1 : 0, low = first_searched, high = count_nodes(pages, page);
    while (low < high) {
        unsigned middle = (low + high) / 2;
        const uint8_t *node = get_node(pages, page, middle);
        if (node == NULL) return false;
        int order = compare_node_key(node, key, key_size);
        if (order < 0 || (order == 0 && is_branch))
            low = middle + 1;
        else
            high = middle;
    }
    *position = low - first_searched; /* of a branch, the node before the first one that is above the key */
    return true;
}

/* Goes down to the first node of a page. Fails if the page has no nodes, or is too deep. */
static enum idx_status enter_page(struct idxi_page_cursor *cursor, uint64_t number, struct idx_error *error) {
    const uint8_t *page;
    if (cursor->depth == IDXI_MAX_DEPTH) return fail_damaged_structure(cursor->pages, error);
    IDXI_TRY(check_and_get_pages(cursor->pages, number, 1, &page, error));
    if (!(get_page_flags(page) & (BRANCH_PAGE | LEAF_PAGE)) || count_nodes(cursor->pages, page) == 0)
        return fail_damaged_structure(cursor->pages, error);
    cursor->way[cursor->depth].page = page;
    cursor->way[cursor->depth++].node = 0;
    return IDX_OK;
}

/* Returns the node at the end of the cursor's way, or NULL if it is damaged. cursor->depth must be above 0, and the
 * page must have a node of this number. */
static const uint8_t *get_current_node(const struct idxi_page_cursor *cursor) {
    return get_node(cursor->pages, cursor->way[cursor->depth - 1].page, cursor->way[cursor->depth - 1].node);
}

/* Returns whether the cursor's node is in a branch, not in a leaf. */
static bool is_in_branch(const struct idxi_page_cursor *cursor) {
    return (get_page_flags(cursor->way[cursor->depth - 1].page) & BRANCH_PAGE) != 0;
}

/* Goes from the cursor's node, which is in a branch, to the first node of the page that it leads to. */
static enum idx_status follow_node(struct idxi_page_cursor *cursor, struct idx_error *error) {
    const uint8_t *node = get_current_node(cursor);
    return node == NULL ? fail_damaged_structure(cursor->pages, error) : enter_page(cursor, get_child(node), error);
}

/* Goes to the entry at the cursor's node. If the node is behind the last one of its page, goes to the next entry: up to
 * the first page with a further node, then down to a leaf. Sets cursor->found to false if there is none. */
static enum idx_status go_to_entry(struct idxi_page_cursor *cursor, struct idx_error *error) {
    while (cursor->depth > 0 &&
           cursor->way[cursor->depth - 1].node >= count_nodes(cursor->pages, cursor->way[cursor->depth - 1].page)) {
        if (--cursor->depth > 0) cursor->way[cursor->depth - 1].node++;
    }
    cursor->found = cursor->depth > 0;
    if (!cursor->found) return IDX_OK;
    while (is_in_branch(cursor)) IDXI_TRY(follow_node(cursor, error));
    const uint8_t *node = get_current_node(cursor);
    if (node == NULL) return fail_damaged_structure(cursor->pages, error);
    return read_entry(cursor->pages, cursor->way[cursor->depth - 1].page, node, cursor, error);
}

enum idx_status idxi_pages_next(struct idxi_page_cursor *cursor, struct idx_error *error) {
    uint8_t last_key[MAX_KEY_BYTES];
    size_t last_size = cursor->key_size;
    if (last_size > sizeof last_key) return fail_damaged_structure(cursor->pages, error);
    memcpy(last_key, cursor->key, last_size);
    cursor->way[cursor->depth - 1].node++;
    IDXI_TRY(go_to_entry(cursor, error));
    bool ascends = !cursor->found || compare_node_key(get_current_node(cursor), last_key, last_size) > 0;
    return ascends ? IDX_OK : fail_damaged_structure(cursor->pages, error);
}

enum idx_status idxi_pages_seek(const struct idxi_pages *pages, uint64_t root, const void *key, size_t key_size,
                                struct idxi_page_cursor *cursor, struct idx_error *error) {
    cursor->pages = pages;
    cursor->depth = 0;
    cursor->found = false;
    if (root == IDXI_NO_PAGE) return IDX_OK;
    IDXI_TRY(enter_page(cursor, root, error));
    for (;;) { /* once for each page from the root to a leaf */
        const uint8_t *page = cursor->way[cursor->depth - 1].page;
        if (!search_nodes(pages, page, key, key_size, &cursor->way[cursor->depth - 1].node))
            return fail_damaged_structure(pages, error);
        if (!is_in_branch(cursor)) return go_to_entry(cursor, error);
        IDXI_TRY(follow_node(cursor, error));
    }
}

enum idx_status idxi_pages_find(const struct idxi_pages *pages, uint64_t root, const char *key,
                                struct idxi_page_cursor *cursor, struct idx_error *error) {
    size_t size = strlen(key);
    IDXI_TRY(idxi_pages_seek(pages, root, key, size, cursor, error));
    cursor->found = cursor->found && cursor->key_size == size && memcmp(cursor->key, key, size) == 0;
    return IDX_OK;
}

enum idx_status idxi_pages_find_root(const struct idxi_pages *pages, const char *name, uint64_t *root,
                                     struct idx_error *error) {
    struct idxi_page_cursor cursor;
    IDXI_TRY(idxi_pages_find(pages, pages->main_root, name, &cursor, error));
    if (!cursor.found || !(load_host16(get_current_node(&cursor) + AT_NODE_FLAGS) & SUBTREE) ||
        cursor.value_size < DATABASE_BYTES || load_host16(cursor.value + AT_DATABASE_FLAGS) != 0)
        return fail_damaged_structure(pages, error);
    *root = load_host64(cursor.value + AT_ROOT);
    return IDX_OK;
}
