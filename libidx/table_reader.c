/* table_reader.c: opens table files, checks pages, finds blocks by directory and keys. */
#include "libidx/table_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/checksum.h"
#include "libidx/error.h"
#include "libidx/file.h"

/* Held keys of this size and more are worth huge pages. */
#define HUGE_PAGE_BYTES ((size_t)2 << 20)

/* ---- Opening ---- */

static enum idx_status read_header(struct idxi_table *table, int file, struct idx_error *error) {
    uint8_t page[IDXF_PAGE_SIZE];
    uint64_t size;
    uint32_t version;
    IDXI_TRY(idxi_file_size(file, &size, table->path, error));
    size_t got = size < sizeof page ? (size_t)size : sizeof page;
    IDXI_TRY(idxi_read_at(file, page, got, 0, table->path, error));
    enum idxf_fault fault = idxf_table_header_read(&table->header, page, got, &version);
    if (fault == IDXF_FAULT_VERSION) return idxi_fail_version(error, version, table->path);
    if (fault != IDXF_OK) return idxi_fail_fault(error, fault, table->path, 0);
    table->layout = idxf_table_layout(&table->header);
    if (size != table->layout.file_size)
        return idxi_fail(
            error, IDX_WRONG_SIZE, table->path,
            "has %llu bytes where its header says %llu: the file is damaged; rebuild the index, or restore "
            "it from a copy",
            (unsigned long long)size, (unsigned long long)table->layout.file_size);
    return IDX_OK;
}

static enum idx_status map_file(struct idxi_table *table, int file, struct idx_error *error) {
    void *map = mmap(NULL, (size_t)table->layout.file_size, PROT_READ, MAP_SHARED, file, 0);
    if (map == MAP_FAILED) return idxi_fail_system(error, errno, table->path, "map");
    table->map = map;
    table->blocks = table->map + table->layout.blocks;
    table->keys = table->map + table->layout.keys;
    table->directory = table->map + table->layout.directory;
    return IDX_OK;
}

static enum idx_status make_bitmap(struct idxi_table *table, struct idx_error *error) {
    size_t words = (size_t)(table->layout.pages + 63) / 64;
    if (words == 0) return IDX_OK;
    table->checked = calloc(words, sizeof *table->checked);
    if (table->checked == NULL) return idxi_fail_memory(error);
    table->allocated_bytes += words * sizeof *table->checked;
    return IDX_OK;
}

static enum idx_status make_decoder(struct idxi_table *table, struct idx_error *error) {
    if (table->header.blocks == 0) return IDX_OK;
    table->decoder = malloc(sizeof *table->decoder);
    if (table->decoder == NULL) return idxi_fail_memory(error);
    table->allocated_bytes += sizeof *table->decoder;
    idxf_decoder_init(table->decoder, (enum idxf_codec)table->header.codec, table->header.bits,
                      table->header.block_size, table->header.lengths);
    return IDX_OK;
}

/* Copies the sections from `begin` on into memory, checking each page on the way. */
static enum idx_status hold(struct idxi_table *table, int file, uint64_t begin, bool skip_checks,
                            struct idx_error *error) {
    size_t bytes = (size_t)(table->layout.checksums - begin);
    if (bytes == 0) return IDX_OK;
    size_t alignment = bytes < HUGE_PAGE_BYTES ? IDXF_PAGE_SIZE : HUGE_PAGE_BYTES;
    table->held = aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (table->held == NULL) return idxi_fail_memory(error);
#ifdef MADV_HUGEPAGE
    if (bytes >= HUGE_PAGE_BYTES) madvise(table->held, bytes, MADV_HUGEPAGE);
#endif
    table->allocated_bytes += bytes;
    IDXI_TRY(idxi_read_at(file, table->held, bytes, begin, table->path, error));
    for (size_t at = 0; at < bytes && !skip_checks; at += IDXF_PAGE_SIZE) {
        uint64_t page = (begin + at) / IDXF_PAGE_SIZE - 1;
        if (idxf_checksum(table->held + at, IDXF_PAGE_SIZE) !=
            idxf_load64(table->map + table->layout.checksums + page * 8))
            return idxi_fail_fault(error, IDXF_FAULT_CHECKSUM, table->path, begin + at);
    }
    table->keys = table->held + (table->layout.keys - begin);
    table->directory = table->held + (table->layout.directory - begin);
    if (begin == table->layout.blocks) table->blocks = table->held;
    return IDX_OK;
}

static enum idx_status open_file(struct idxi_table *table, int file, const struct idx_open_options *options,
                                 struct idx_error *error) {
    IDXI_TRY(read_header(table, file, error));
    IDXI_TRY(map_file(table, file, error));
    idxf_permutation_init(&table->permutation, table->header.mask, table->header.bits);
    table->prefix = (unsigned)__builtin_popcountll(table->header.mask);
    IDXI_TRY(make_decoder(table, error));
    if (options->keys == IDX_KEYS_BLOCKS_MEMORY)
        return hold(table, file, table->layout.blocks, options->skip_page_checks, error);
    if (!options->skip_page_checks) IDXI_TRY(make_bitmap(table, error));
    return options->keys == IDX_KEYS_MAPPED ? IDX_OK
                                            : hold(table, file, table->layout.keys, options->skip_page_checks, error);
}

enum idx_status idxi_table_open(struct idxi_table *table, int folder, const char *folder_path, const char *name,
                                const struct idx_open_options *options, struct idx_error *error) {
    *table = (struct idxi_table){.path = idxi_path(folder_path, name)};
    if (table->path == NULL) return idxi_fail_memory(error);
    int file = openat(folder, name, IDXI_OPEN_FILE);
    if (file < 0 && errno == ENOENT)
        return idxi_fail(error, IDX_MISSING_FILE, table->path,
                         "is missing: the index is damaged; rebuild it, or restore it from a copy");
    if (file < 0) return idxi_fail_system(error, errno, table->path, "open");
    enum idx_status status = open_file(table, file, options, error);
    close(file);
    return status;
}

void idxi_table_close(struct idxi_table *table) {
    if (table->map != NULL) munmap((void *)(uintptr_t)table->map, (size_t)table->layout.file_size);
    free(table->held);
    free((void *)(uintptr_t)table->checked);
    free(table->decoder);
    free(table->path);
}

/* ---- Checking ---- */

enum idx_status idxi_table_verify_page(const struct idxi_table *table, uint64_t page, struct idx_error *error) {
    uint64_t offset = (page + 1) * IDXF_PAGE_SIZE;
    if (idxf_checksum(table->map + offset, IDXF_PAGE_SIZE) ==
        idxf_load64(table->map + table->layout.checksums + page * 8))
        return IDX_OK;
    return idxi_fail_fault(error, IDXF_FAULT_CHECKSUM, table->path, offset);
}

enum idx_status idxi_table_check_page_first(const struct idxi_table *table, uint64_t page, struct idx_error *error) {
    IDXI_TRY(idxi_table_verify_page(table, page, error));
    atomic_fetch_or_explicit(&table->checked[page / 64], UINT64_C(1) << page % 64, memory_order_release);
    return IDX_OK;
}

/* ---- Finding blocks ---- */

static enum idx_status get_entry(const struct idxi_table *table, uint64_t entry, uint64_t *block,
                                 struct idx_error *error) {
    IDXI_TRY(idxi_table_check_mapped(table, table->layout.directory + entry * 4, error));
    *block = idxf_load32(table->directory + entry * 4);
    return IDX_OK;
}

enum idx_status idxi_table_get_range(const struct idxi_table *table, uint64_t fingerprint, uint64_t *first,
                                     uint64_t *last, struct idx_error *error) {
    unsigned bits = table->header.directory_bits;
    *first = 0;
    *last = table->header.blocks;
    if (bits == 0) return IDX_OK;
    uint64_t entry = fingerprint >> (64 - bits);
    IDXI_TRY(get_entry(table, entry, first, error));
    IDXI_TRY(get_entry(table, entry + 1, last, error));
    if (*first > *last || *last > table->header.blocks)
        return idxi_fail_fault(error, IDXF_FAULT_DIRECTORY, table->path, table->layout.directory + entry * 4);
    return IDX_OK;
}
