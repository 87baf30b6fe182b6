/* page_structure.c: checks the structure of an LMDB file before LMDB writes to it, since LMDB trusts what it reads: the
 * pages of each tree, their nodes and their order; what stands in values is not its business. */
#include <stdlib.h>
#include <string.h>

#include "libidx/base/error.h"
#include "libidx/lmdb/document_pages.h"
#include "libidx/lmdb/lmdb_layout.h"

enum { INTEGER_KEYS = 0x08, ORDER_FLAGS = 0x7e };
enum { MAX_KEY_BYTES = 511, MAX_NAMED = 2 };

enum kind { FREE_PAGES, NAMED_DATABASES, PLAIN };

/* A tree on the way through it. */
struct tree {
    enum kind kind;
    struct idxi_database found; /* pages and entries that were counted */
    uint8_t key[MAX_KEY_BYTES]; /* the next one is above it, or equal where it may be */
    size_t key_size;
    bool has_key, may_equal;
};

struct check {
    const struct idxi_pages *pages;
    const struct idxi_meta *meta;
    uint64_t page_count; /* of the file, as it says */
    uint64_t marked_count;
    uint8_t *marked; /* a bit for each page that was found to be of something */
    struct idxi_database named[MAX_NAMED];
    size_t named_count;
};

static enum idx_status fail_page(const struct check *check, uint64_t number, struct idx_error *error) {
    return idxi_fail(error, IDX_BAD_CONTENT, check->pages->path,
                     "is damaged (page %llu): restore it from a copy, or rebuild the index",
                     (unsigned long long)number);
}

/* Notes that pages belong to something, which no two may. */
static enum idx_status mark(struct check *check, uint64_t number, uint64_t count, struct idx_error *error) {
    if (number >= check->page_count || count > check->page_count - number) return fail_page(check, number, error);
    for (uint64_t page = number; page < number + count; page++) {
        uint8_t bit = (uint8_t)(1u << page % 8);
        if (check->marked[page / 8] & bit) return fail_page(check, page, error);
        check->marked[page / 8] |= bit;
    }
    check->marked_count += count;
    return IDX_OK;
}

/* ---- Values ---- */

/* A list of free pages: their number, then they, descending; room may be left behind them. */
static enum idx_status check_free_list(struct check *check, uint64_t page, const uint8_t *value, size_t size,
                                       struct idx_error *error) {
    uint64_t count = size < 8 ? 0 : host64(value);
    if (size < 8 || size % 8 != 0 || count > size / 8 - 1) return fail_page(check, page, error);
    for (uint64_t i = 1; i <= count; i++) {
        uint64_t number = host64(value + 8 * i);
        if (i > 1 && number >= host64(value + 8 * (i - 1))) return fail_page(check, page, error);
        IDXI_TRY(mark(check, number, 1, error));
    }
    return IDX_OK;
}

/* Keeps what a named database says of itself, for later. */
static enum idx_status keep_database(struct check *check, uint64_t page, const uint8_t *value, size_t size,
                                     struct idx_error *error) {
    if (size != DATABASE_BYTES || check->named_count == MAX_NAMED) return fail_page(check, page, error);
    check->named[check->named_count++] = idxi_database_read(value);
    return IDX_OK;
}

/* The pages that a value has for itself. */
static enum idx_status check_overflow(struct check *check, struct tree *tree, uint64_t number, size_t size,
                                      const uint8_t **value, struct idx_error *error) {
    uint64_t count = (PAGE_HEADER + size - 1) / check->pages->page_size + 1;
    const uint8_t *page;
    IDXI_TRY(mark(check, number, count, error));
    IDXI_TRY(
        check->pages->fetch(check->pages, number, tree->kind == FREE_PAGES ? count : 1, IDXI_MAX_DEPTH, &page, error));
    if (host64(page) != number || host16(page + AT_FLAGS) != OVERFLOW_PAGE || host32(page + AT_LOWER) != count)
        return fail_page(check, number, error);
    tree->found.overflow_pages += count;
    *value = page + PAGE_HEADER;
    return IDX_OK;
}

/* ---- Keys ---- */

static int compare_keys(const struct tree *tree, const uint8_t *key, size_t size) {
    if (tree->kind == FREE_PAGES) return host64(key) < host64(tree->key) ? -1 : host64(key) > host64(tree->key);
    size_t shared = size < tree->key_size ? size : tree->key_size;
    int order = memcmp(key, tree->key, shared);
    return order != 0 ? order : (size > tree->key_size) - (size < tree->key_size);
}

/* Whether a key may come next; if so, it has come. */
static bool accept_key(struct tree *tree, const uint8_t *key, size_t size, bool may_equal) {
    if (size == 0 || size > MAX_KEY_BYTES || (tree->kind == FREE_PAGES && size != 8)) return false;
    int order = tree->has_key ? compare_keys(tree, key, size) : 1;
    if (order < 0 || (order == 0 && !tree->may_equal)) return false;
    memcpy(tree->key, key, size);
    tree->key_size = size;
    tree->has_key = true;
    tree->may_equal = may_equal;
    return true;
}

/* ---- Pages ---- */

/* The bytes that a node takes of its page; 0 where it does not fit into it. */
static size_t node_size(const struct idxi_pages *pages, const uint8_t *page, size_t offset, bool is_leaf) {
    if (offset % 2 != 0 || offset < host16(page + AT_UPPER) || offset > pages->page_size - NODE_HEADER) return 0;
    const uint8_t *node = page + offset;
    size_t size = NODE_HEADER + (size_t)host16(node + AT_KEY_SIZE);
    if (is_leaf) size += host16(node + AT_NODE_FLAGS) & BIG_DATA ? sizeof(uint64_t) : host32(node);
    size += size % 2;
    return size <= pages->page_size - offset ? size : 0;
}

/* Whether the header and the bounds of a page's nodes are right; they fill all behind `upper`. */
static bool is_sound(const struct idxi_pages *pages, const uint8_t *page, uint64_t number, bool is_leaf) {
    size_t lower = host16(page + AT_LOWER), upper = host16(page + AT_UPPER), used = 0;
    if (host64(page) != number || host16(page + AT_FLAGS) != (is_leaf ? LEAF_PAGE : BRANCH_PAGE)) return false;
    if (lower < PAGE_HEADER + (is_leaf ? 2 : 4) || lower % 2 != 0 || lower > upper || upper > pages->page_size)
        return false;
    for (size_t at = PAGE_HEADER; at < lower; at += 2) {
        size_t size = node_size(pages, page, host16(page + at), is_leaf);
        if (size == 0) return false;
        used += size;
    }
    return used == pages->page_size - upper;
}

static enum idx_status check_entry(struct check *check, struct tree *tree, uint64_t number, const uint8_t *node,
                                   struct idx_error *error) {
    unsigned flags = host16(node + AT_NODE_FLAGS), wanted = tree->kind == NAMED_DATABASES ? SUBTREE : 0;
    size_t key_size = host16(node + AT_KEY_SIZE), size = host32(node);
    const uint8_t *value = node + NODE_HEADER + key_size;
    tree->found.entries++;
    if ((flags & ~(unsigned)BIG_DATA) != wanted || !accept_key(tree, node + NODE_HEADER, key_size, false))
        return fail_page(check, number, error);
    if (flags & BIG_DATA) IDXI_TRY(check_overflow(check, tree, host64(value), size, &value, error));
    if (tree->kind == FREE_PAGES) return check_free_list(check, number, value, size, error);
    return tree->kind == NAMED_DATABASES ? keep_database(check, number, value, size, error) : IDX_OK;
}

static enum idx_status check_page(struct check *check, struct tree *tree, uint64_t number, unsigned level,
                                  unsigned depth, struct idx_error *error);

/* A branch's node: what is below has keys from this one on, but for the first, which may have any. */
static enum idx_status check_child(struct check *check, struct tree *tree, uint64_t number, const uint8_t *node,
                                   bool is_first, unsigned level, unsigned depth, struct idx_error *error) {
    if (!is_first && !accept_key(tree, node + NODE_HEADER, host16(node + AT_KEY_SIZE), true))
        return fail_page(check, number, error);
    uint64_t child = host32(node) | (uint64_t)host16(node + AT_NODE_FLAGS) << 32;
    return check_page(check, tree, child, level + 1, depth, error);
}

/* A page, `level` pages below the root of a tree that has `depth` of them on each way. */
static enum idx_status check_page(struct check *check, struct tree *tree, uint64_t number, unsigned level,
                                  unsigned depth, struct idx_error *error) {
    const uint8_t *page;
    bool is_leaf = level + 1 == depth;
    IDXI_TRY(mark(check, number, 1, error));
    IDXI_TRY(check->pages->fetch(check->pages, number, 1, level, &page, error));
    if (!is_sound(check->pages, page, number, is_leaf)) return fail_page(check, number, error);
    ++*(is_leaf ? &tree->found.leaf_pages : &tree->found.branch_pages);
    size_t lower = host16(page + AT_LOWER);
    for (size_t at = PAGE_HEADER; at < lower; at += 2) {
        const uint8_t *node = page + host16(page + at);
        IDXI_TRY(is_leaf ? check_entry(check, tree, number, node, error)
                         : check_child(check, tree, number, node, at == PAGE_HEADER, level, depth, error));
    }
    return IDX_OK;
}

static enum idx_status check_tree(struct check *check, const struct idxi_database *database, enum kind kind,
                                  struct idx_error *error) {
    struct tree tree = {.kind = kind};
    const struct idxi_database *found = &tree.found;
    bool is_empty = database->root == IDXI_NO_PAGE;
    unsigned order = database->flags & ORDER_FLAGS;
    if (order != (kind == FREE_PAGES ? INTEGER_KEYS : 0) || (database->depth == 0) != is_empty ||
        database->depth > IDXI_MAX_DEPTH)
        return fail_page(check, database->root, error);
    if (!is_empty) IDXI_TRY(check_page(check, &tree, database->root, 0, database->depth, error));
    if (found->branch_pages == database->branch_pages && found->leaf_pages == database->leaf_pages &&
        found->overflow_pages == database->overflow_pages && found->entries == database->entries)
        return IDX_OK;
    return fail_page(check, database->root, error);
}

static enum idx_status check_all(struct check *check, struct idx_error *error) {
    IDXI_TRY(mark(check, 0, 2, error));
    IDXI_TRY(check_tree(check, &check->meta->main, NAMED_DATABASES, error));
    for (size_t i = 0; i < check->named_count; i++) IDXI_TRY(check_tree(check, &check->named[i], PLAIN, error));
    IDXI_TRY(check_tree(check, &check->meta->free, FREE_PAGES, error));
    return check->marked_count == check->page_count ? IDX_OK : fail_page(check, check->meta->last_page, error);
}

/* A file of LMDB's has fewer pages than this: its map would not fit into the address space. */
#define MOST_PAGES (UINT64_C(1) << 35)

enum idx_status idxi_pages_check_structure(const struct idxi_pages *pages, const struct idxi_meta *meta,
                                           struct idx_error *error) {
    struct check check = {.pages = pages, .meta = meta, .page_count = meta->last_page + 1};
    if (meta->last_page < 1 || meta->last_page >= MOST_PAGES) return fail_page(&check, meta->last_page, error);
    check.marked = calloc((size_t)(check.page_count / 8 + 1), 1);
    if (check.marked == NULL) return idxi_fail_memory(error);
    enum idx_status status = check_all(&check, error);
    free(check.marked);
    return status;
}
