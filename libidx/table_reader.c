/* table_reader.c: opens table files, checks pages, finds blocks by the directory. */
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
#include "libidx/plan.h"

#define MAX_PREFETCHED_BYTES 4096

/* Where a prefix has more fingerprints than these, sifting sorts out too few probes to be worth while. */
#define SIFTED_GROUP 8

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

/* How many fingerprints share their first `bits` bits when they are spread evenly. */
static uint64_t mean_group(uint64_t count, unsigned bits) { return bits > 63 ? 0 : count >> bits; }

/* Sets how much of a block, and of those behind it, is worth asking for ahead, and how many bits of the prefix are not
 * flipped. */
static void set_reach(struct idxi_table *table) {
    uint64_t count = table->header.fingerprints, blocks = table->header.blocks;
    if (blocks == 0) return;
    double reach = idxi_expected_blocks((double)mean_group(count, table->prefix), (double)count / (double)blocks);
    double bytes = reach * table->header.block_size;
    table->prefetched_bytes = bytes < MAX_PREFETCHED_BYTES ? (size_t)bytes : MAX_PREFETCHED_BYTES;
    table->finds_few = mean_group(count, table->prefix) < SIFTED_GROUP;
    table->spared_bits = idxi_spared_bits(count, table->prefix);
}

static enum idx_status open_file(struct idxi_table *table, int file, const struct idx_open_options *options,
                                 struct idx_error *error) {
    IDXI_TRY(read_header(table, file, error));
    IDXI_TRY(map_file(table, file, error));
    idxf_permutation_init(&table->permutation, table->header.mask, table->header.bits);
    table->prefix = (unsigned)__builtin_popcountll(table->header.mask);
    idxf_rank ranks[IDXF_MAX_RANKS];
    table->rank = ranks[idxf_line_ranks(ranks) - 1];
    IDXI_TRY(make_decoder(table, error));
    set_reach(table);
    table->on_disk = options->residence == IDX_RESIDENCE_DISK;
    if (table->on_disk) madvise((void *)(uintptr_t)table->map, (size_t)table->layout.file_size, MADV_RANDOM);
    bool is_checked = options->skip_page_checks || options->residence == IDX_RESIDENCE_ALL;
    return is_checked ? IDX_OK : make_bitmap(table, error);
}

enum idx_status idxi_table_open(struct idxi_table *table, int folder, const char *folder_path, const char *name,
                                const struct idx_open_options *options, struct idx_error *error) {
    *table = (struct idxi_table){.path = idxi_path(folder_path, name), .file = -1};
    if (table->path == NULL) return idxi_fail_memory(error);
    int file = openat(folder, name, IDXI_OPEN_FILE);
    if (file < 0 && errno == ENOENT)
        return idxi_fail(error, IDX_MISSING_FILE, table->path,
                         "is missing: the index is damaged; rebuild it, or restore it from a copy");
    if (file < 0) return idxi_fail_system(error, errno, table->path, "open");
    table->file = file;
    return open_file(table, file, options, error);
}

void idxi_table_close(struct idxi_table *table) {
    if (table->map != NULL) munmap((void *)(uintptr_t)table->map, (size_t)table->layout.file_size);
    if (table->file >= 0) close(table->file);
    free((void *)(uintptr_t)table->checked);
    free(table->decoder);
    free(table->path);
}

/* ---- Loading ---- */

static uint64_t get_load_begin(const struct idxi_table *table, enum idx_residence residence) {
    if (residence == IDX_RESIDENCE_NONE) return table->layout.checksums;
    return residence == IDX_RESIDENCE_ALL ? table->layout.blocks : table->layout.directory;
}

size_t idxi_table_load_bytes(const struct idxi_table *table, enum idx_residence residence) {
    return (size_t)(table->layout.checksums - get_load_begin(table, residence));
}

static enum idx_status load(struct idxi_table *table, const struct idx_open_options *options, uint8_t *memory,
                            struct idx_error *error) {
    uint64_t begin = get_load_begin(table, options->residence);
    size_t bytes = idxi_table_load_bytes(table, options->residence);
    if (bytes == 0) return IDX_OK;
    IDXI_TRY(idxi_read_at(table->file, memory, bytes, begin, table->path, error));
    for (size_t at = 0; at < bytes && !options->skip_page_checks; at += IDXF_PAGE_SIZE) {
        uint64_t page = (begin + at) / IDXF_PAGE_SIZE - 1;
        if (idxf_checksum(memory + at, IDXF_PAGE_SIZE) != idxf_load64(table->map + table->layout.checksums + page * 8))
            return idxi_fail_fault(error, IDXF_FAULT_CHECKSUM, table->path, begin + at);
    }
    table->directory = memory + (table->layout.directory - begin);
    table->is_directory_loaded = true;
    if (options->residence == IDX_RESIDENCE_ALL) table->blocks = memory;
    return IDX_OK;
}

enum idx_status idxi_table_load(struct idxi_table *table, const struct idx_open_options *options, uint8_t *memory,
                                struct idx_error *error) {
    enum idx_status status = load(table, options, memory, error);
    close(table->file);
    table->file = -1;
    return status;
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

void idxi_table_drop(const struct idxi_table *table) {
    madvise((void *)(uintptr_t)table->map, (size_t)table->layout.file_size, MADV_DONTNEED);
}

/* ---- Finding blocks ---- */

/* In a crowded line: the last block from `first` to `last` whose first fingerprint is not above `fingerprint`, or
 * `first`. */
static enum idx_status search_blocks(const struct idxi_table *table, uint64_t fingerprint, uint64_t first,
                                     uint64_t last, uint64_t *block, struct idx_error *error) {
    while (first < last) {
        uint64_t middle = last - (last - first) / 2;
        struct idxf_block_header header;
        uint64_t offset = idxi_table_block_offset(table, middle);
        IDXI_TRY(idxi_table_check(table, offset, error));
        enum idxf_fault fault = idxf_block_header_read(&header, table->decoder, idxi_table_block(table, middle));
        if (fault != IDXF_OK) return idxi_fail_fault(error, fault, table->path, offset);
        if (header.first <= fingerprint)
            first = middle;
        else
            last = middle - 1;
    }
    *block = first;
    return IDX_OK;
}

enum idx_status idxi_table_find_block(const struct idxi_table *table, uint64_t fingerprint, uint64_t *block,
                                      struct idx_error *error) {
    struct idxf_cell cell = idxf_find_cell(fingerprint, table->layout.directory_lines);
    uint64_t offset = cell.line * IDXF_LINE_BYTES, blocks = table->header.blocks;
    const uint8_t *line = table->directory + offset;
    if (!table->is_directory_loaded) IDXI_TRY(idxi_table_check(table, table->layout.directory + offset, error));
    uint64_t first = idxf_line_first(line), crowded = idxf_line_crowded(line);
    *block = first + table->rank(line, cell.cell);
    if (first > blocks || crowded > blocks - first || *block > blocks)
        return idxi_fail_fault(error, IDXF_FAULT_DIRECTORY, table->path, table->layout.directory + offset);
    if (crowded == 0) return IDX_OK;
    uint64_t last = first + crowded < blocks ? first + crowded : blocks - 1;
    return search_blocks(table, fingerprint, first, last, block, error);
}
