/* document_pages.c: a reader of LMDB's page structure that goes as far as its pages must be checked, and no further. */
#include "libidx/document_pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "format/bytes.h"
#include "format/checksum.h"
#include "libidx/error.h"

/* LMDB's data file, in host byte order: offsets within a page. */
enum {
    PAGE_HEADER = 16, /* bytes: page number, padding, flags, bounds */
    AT_FLAGS = 10,
    AT_LOWER = 12, /* where the array of node offsets ends; in an overflow page: the number of pages, 4 bytes */
    AT_MAGIC = PAGE_HEADER,
    AT_PAGE_SIZE = PAGE_HEADER + 24,
    AT_MAIN_ROOT = PAGE_HEADER + 112,
    AT_TRANSACTION = PAGE_HEADER + 128,
    META_BYTES = PAGE_HEADER + 136,
    /* Nodes: data size, or page number, in 32 bits; flags, or its high bits; key size; key; data. */
    NODE_HEADER = 8,
    AT_NODE_FLAGS = 4,
    AT_KEY_SIZE = 6,
    /* The record of a named database, or of a tree of duplicates. */
    DATABASE_BYTES = 48,
    AT_ROOT = 40,
};

enum { BRANCH_PAGE = 0x01, LEAF_PAGE = 0x02, LEAF2_PAGE = 0x20 };
enum { BIG_DATA = 0x01, SUBTREE = 0x02 };

#define LMDB_MAGIC 0xBEEFC0DE
#define NO_PAGE UINT64_MAX
#define MAX_PAGE_SIZE 65536
#define MAX_DEPTH 32

static uint16_t host16(const uint8_t *bytes) {
    uint16_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static uint32_t host32(const uint8_t *bytes) {
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static uint64_t host64(const uint8_t *bytes) {
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static enum idx_status fail_structure(const struct idxi_pages *pages, struct idx_error *error) {
    return idxi_fail(error, IDX_BAD_CONTENT, pages->path,
                     "is no sound LMDB file: restore it from a copy, or rebuild the index");
}

/* ---- Checksums ---- */

static enum idx_status compare(const struct idxi_pages *pages, uint64_t unit, struct idx_error *error) {
    uint64_t offset = unit * IDXF_PAGE_SIZE, left = pages->length - offset;
    size_t size = left < IDXF_PAGE_SIZE ? (size_t)left : IDXF_PAGE_SIZE;
    if (idxf_checksum(pages->map + offset, size) ==
        idxf_load64(pages->sums_map + IDXF_DOCUMENT_SUMS_HEADER_BYTES + unit * 8))
        return IDX_OK;
    return idxi_fail_fault(error, IDXF_FAULT_CHECKSUM, pages->path, offset);
}

enum idx_status idxi_pages_check_all(const struct idxi_pages *pages, struct idx_error *error) {
    for (uint64_t unit = 0; unit * IDXF_PAGE_SIZE < pages->length; unit++) IDXI_TRY(compare(pages, unit, error));
    return IDX_OK;
}

/* Checks `count` LMDB pages from `number` on, and gives the first of them. */
static enum idx_status check_pages(const struct idxi_pages *pages, uint64_t number, uint64_t count,
                                   const uint8_t **page, struct idx_error *error) {
    uint64_t limit = pages->length / pages->page_size;
    if (number >= limit || count > limit - number) return fail_structure(pages, error);
    uint64_t begin = number * pages->page_size, end = begin + count * pages->page_size;
    *page = pages->map + begin;
    if (pages->checked == NULL) return IDX_OK;
    for (uint64_t unit = begin / IDXF_PAGE_SIZE; unit * IDXF_PAGE_SIZE < end; unit++) {
        _Atomic uint64_t *word = &pages->checked[unit / 64];
        uint64_t bit = UINT64_C(1) << unit % 64;
        if (atomic_load_explicit(word, memory_order_acquire) & bit) continue;
        IDXI_TRY(compare(pages, unit, error));
        atomic_fetch_or_explicit(word, bit, memory_order_release);
    }
    return IDX_OK;
}

/* ---- Nodes ---- */

static unsigned flags_of(const uint8_t *page) { return host16(page + AT_FLAGS); }

/* The number of nodes of a page; 0 where its bounds are out of range. */
static unsigned count_nodes(const struct idxi_pages *pages, const uint8_t *page) {
    unsigned lower = host16(page + AT_LOWER);
    return lower < PAGE_HEADER || lower > pages->page_size ? 0 : (lower - PAGE_HEADER) / 2;
}

/* Node `i`, whose header and key lie within the page; NULL otherwise. */
static const uint8_t *get_node(const struct idxi_pages *pages, const uint8_t *page, unsigned i) {
    unsigned offset = host16(page + PAGE_HEADER + 2 * i);
    if (offset > pages->page_size - NODE_HEADER) return NULL;
    const uint8_t *node = page + offset;
    return host16(node + AT_KEY_SIZE) > pages->page_size - NODE_HEADER - offset ? NULL : node;
}

static uint64_t child_of(const uint8_t *node) { return host32(node) | (uint64_t)host16(node + AT_NODE_FLAGS) << 32; }

/* The data of a leaf's node, if it has at least `size` bytes there; NULL otherwise. */
static const uint8_t *get_data(const struct idxi_pages *pages, const uint8_t *page, const uint8_t *node, size_t size) {
    const uint8_t *data = node + NODE_HEADER + host16(node + AT_KEY_SIZE);
    size_t room = (size_t)(page + pages->page_size - data);
    return room < size ? NULL : data;
}

/* ---- Opening ---- */

static enum idx_status map_files(struct idxi_pages *pages, int documents, int sums, struct idx_error *error) {
    void *map = mmap(NULL, (size_t)pages->length, PROT_READ, MAP_SHARED, documents, 0);
    if (map == MAP_FAILED) return idxi_fail_system(error, errno, pages->path, "map");
    pages->map = map;
    map = mmap(NULL, (size_t)pages->sums_length, PROT_READ, MAP_SHARED, sums, 0);
    if (map == MAP_FAILED) return idxi_fail_system(error, errno, pages->path, "map the checksums of");
    pages->sums_map = map;
    return IDX_OK;
}

static enum idx_status allocate(struct idxi_pages *pages, struct idx_error *error) {
    size_t words = (size_t)(pages->length / IDXF_PAGE_SIZE / 64 + 1);
    pages->checked = calloc(words, sizeof *pages->checked);
    if (pages->checked == NULL) return idxi_fail_memory(error);
    pages->allocated_bytes = words * sizeof *pages->checked;
    return IDX_OK;
}

/* LMDB's magic number has the byte order of the machine that wrote it. */
static enum idx_status check_magic(const struct idxi_pages *pages, struct idx_error *error) {
    uint32_t magic = host32(pages->map + AT_MAGIC);
    if (magic == LMDB_MAGIC) return IDX_OK;
    if (magic == __builtin_bswap32(LMDB_MAGIC))
        return idxi_fail(
            error, IDX_UNSUPPORTED, pages->path,
            "was made on a machine of the other byte order: `idx dump` the index there, and build it here");
    return fail_structure(pages, error);
}

static enum idx_status check_meta_pages(struct idxi_pages *pages, struct idx_error *error) {
    const uint8_t *page;
    pages->page_size = IDXF_PAGE_SIZE;
    IDXI_TRY(check_pages(pages, 0, 1, &page, error));
    IDXI_TRY(check_magic(pages, error));
    pages->page_size = host32(page + AT_PAGE_SIZE);
    if (pages->page_size < IDXF_PAGE_SIZE || pages->page_size > MAX_PAGE_SIZE ||
        (pages->page_size & (pages->page_size - 1)) != 0)
        return fail_structure(pages, error);
    return check_pages(pages, 0, 2, &page, error);
}

enum idx_status idxi_pages_open(struct idxi_pages *pages, int documents, uint64_t length, int sums,
                                uint64_t sums_length, bool skip_checks, const char *path, struct idx_error *error) {
    *pages = (struct idxi_pages){.length = length, .sums_length = sums_length, .path = path};
    if (length < 2 * IDXF_PAGE_SIZE) return fail_structure(pages, error);
    IDXI_TRY(map_files(pages, documents, sums, error));
    if (!skip_checks) IDXI_TRY(allocate(pages, error));
    return check_meta_pages(pages, error);
}

void idxi_pages_close(struct idxi_pages *pages) {
    if (pages->map != NULL) munmap((void *)(uintptr_t)pages->map, (size_t)pages->length);
    if (pages->sums_map != NULL) munmap((void *)(uintptr_t)pages->sums_map, (size_t)pages->sums_length);
    free((void *)(uintptr_t)pages->checked);
}

/* ---- Trees ---- */

static enum idx_status check_subtree(const struct idxi_pages *pages, uint64_t number, unsigned depth,
                                     struct idx_error *error) {
    const uint8_t *page;
    if (depth > MAX_DEPTH) return fail_structure(pages, error);
    IDXI_TRY(check_pages(pages, number, 1, &page, error));
    unsigned count = flags_of(page) & BRANCH_PAGE ? count_nodes(pages, page) : 0;
    for (unsigned i = 0; i < count; i++) {
        const uint8_t *node = get_node(pages, page, i);
        if (node == NULL) return fail_structure(pages, error);
        IDXI_TRY(check_subtree(pages, child_of(node), depth + 1, error));
    }
    return IDX_OK;
}

enum idx_status idxi_pages_check_tree(const struct idxi_pages *pages, uint64_t root, struct idx_error *error) {
    return root == NO_PAGE ? IDX_OK : check_subtree(pages, root, 0, error);
}

static uint64_t main_root(const struct idxi_pages *pages) {
    const uint8_t *first = pages->map, *second = first + pages->page_size;
    const uint8_t *newer = host64(first + AT_TRANSACTION) < host64(second + AT_TRANSACTION) ? second : first;
    return host64(newer + AT_MAIN_ROOT);
}

enum idx_status idxi_pages_check_main(const struct idxi_pages *pages, struct idx_error *error) {
    return idxi_pages_check_tree(pages, main_root(pages), error);
}

enum idx_status idxi_pages_find_root(const struct idxi_pages *pages, const char *name, uint64_t *root,
                                     struct idx_error *error) {
    const uint8_t *page;
    size_t length = strlen(name);
    /* Three names fit into one page. */
    IDXI_TRY(check_pages(pages, main_root(pages), 1, &page, error));
    unsigned count = flags_of(page) & LEAF_PAGE ? count_nodes(pages, page) : 0;
    for (unsigned i = 0; i < count; i++) {
        const uint8_t *node = get_node(pages, page, i);
        if (node == NULL) return fail_structure(pages, error);
        if (host16(node + AT_KEY_SIZE) != length || memcmp(node + NODE_HEADER, name, length) != 0) continue;
        const uint8_t *database = get_data(pages, page, node, DATABASE_BYTES);
        if (database == NULL || !(host16(node + AT_NODE_FLAGS) & SUBTREE)) break;
        *root = host64(database + AT_ROOT);
        return IDX_OK;
    }
    return fail_structure(pages, error);
}

/* The last node whose key is not above `key`, counting the first node of a branch as below all keys. False where the
 * page is not sound, or a leaf has only keys above. */
static bool search_page(const struct idxi_pages *pages, const uint8_t *page, uint64_t key, const uint8_t **found) {
    bool is_branch = (flags_of(page) & BRANCH_PAGE) != 0;
    unsigned count = count_nodes(pages, page), low = is_branch ? 1 : 0, high = count;
    if (count == 0) return false;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        const uint8_t *node = get_node(pages, page, middle);
        if (node == NULL || host16(node + AT_KEY_SIZE) != sizeof key) return false;
        if (host64(node + NODE_HEADER) <= key)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0) return false;
    *found = get_node(pages, page, low - 1);
    return *found != NULL;
}

/* Checks what a leaf's node keeps outside of its page: a long value, or many values. */
static enum idx_status check_value(const struct idxi_pages *pages, const uint8_t *page, const uint8_t *node,
                                   struct idx_error *error) {
    unsigned flags = host16(node + AT_NODE_FLAGS);
    if (flags & BIG_DATA) {
        const uint8_t *number = get_data(pages, page, node, sizeof(uint64_t)), *first;
        if (number == NULL) return fail_structure(pages, error);
        IDXI_TRY(check_pages(pages, host64(number), 1, &first, error));
        return check_pages(pages, host64(number), host32(first + AT_LOWER), &first, error);
    }
    if (flags & SUBTREE) {
        const uint8_t *database = get_data(pages, page, node, DATABASE_BYTES);
        if (database == NULL) return fail_structure(pages, error);
        return idxi_pages_check_tree(pages, host64(database + AT_ROOT), error);
    }
    return IDX_OK;
}

enum idx_status idxi_pages_check_key(const struct idxi_pages *pages, uint64_t root, uint64_t key,
                                     struct idx_error *error) {
    uint64_t number = root;
    if (root == NO_PAGE) return IDX_OK;
    for (unsigned depth = 0; depth <= MAX_DEPTH; depth++) {
        const uint8_t *page, *node;
        IDXI_TRY(check_pages(pages, number, 1, &page, error));
        if (flags_of(page) & LEAF_PAGE)
            return search_page(pages, page, key, &node) ? check_value(pages, page, node, error) : IDX_OK;
        if (!(flags_of(page) & BRANCH_PAGE) || !search_page(pages, page, key, &node)) break;
        number = child_of(node);
    }
    return fail_structure(pages, error);
}
