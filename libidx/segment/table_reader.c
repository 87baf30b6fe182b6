/* table_reader.c: opens table files, checks pages, finds blocks by the directory, and decodes them. */
#include "libidx/segment/table_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/checksum.h"

#define MAX_PREFETCHED_BYTES 4096 /* of blocks, for each probe */

/* ---- Opening ---- */

/* Reads and checks the header, and computes the layout, which the size of the file must match. */
static enum idx_status read_header(struct idxi_table *table, struct idx_error *error) {
    uint8_t page[IDXF_PAGE_SIZE];
    uint64_t size;
    uint32_t version;
    IDXI_TRY(idxi_get_file_size(table->file, &size, table->path, error));
    size_t available = size < sizeof page ? (size_t)size : sizeof page;
    IDXI_TRY(idxi_read_at(table->file, page, available, 0, table->path, error));
    enum idxf_fault fault = idxf_table_header_read(&table->header, page, available, &version);
    IDXI_TRY(idxi_check_header(fault, version, size, sizeof page, table->path, error));
    table->layout = idxf_table_lay_out(&table->header);
    return size == table->layout.file_size ? IDX_OK
                                           : idxi_fail_file_size(error, size, table->layout.file_size, table->path);
}

/* Makes the table use the directory at `bytes`, in the map or in memory, with its lists behind it as in the file. Does
 * nothing for a table without blocks. */
static void set_directory(struct idxi_table *table, const uint8_t *bytes) {
    const struct idxf_table_layout *layout = &table->layout;
    if (table->header.blocks == 0) return;
    idxf_directory_init(&table->directory, bytes, bytes + (layout->lists - layout->directory), table->header.list_bytes,
                        (size_t)(layout->checksums - layout->lists), table->header.blocks);
}

/* Maps the whole file. Blocks and directory are used where they are mapped, unless they are loaded later. */
static enum idx_status map_file(struct idxi_table *table, struct idx_error *error) {
    void *map = mmap(NULL, (size_t)table->layout.file_size, PROT_READ, MAP_SHARED, table->file, 0);
    if (map == MAP_FAILED) return idxi_fail_system(error, errno, table->path, "map");
    table->map = map;
    table->blocks = table->map + table->layout.blocks;
    set_directory(table, table->map + table->layout.directory);
    return IDX_OK;
}

/* Makes table->checked, in which no page is checked yet. It stays NULL for a table without pages. */
static enum idx_status make_checked_bitmap(struct idxi_table *table, struct idx_error *error) {
    size_t bitmap_words = (size_t)(table->layout.pages + 63) / 64;
    if (bitmap_words == 0) return IDX_OK;
    table->checked = calloc(bitmap_words, sizeof *table->checked);
    if (table->checked == NULL) return idxi_fail_memory(error);
    table->allocated_bytes += bitmap_words * sizeof *table->checked;
    return IDX_OK;
}

/* Makes table->decoder, which stays NULL for a table without blocks. */
static enum idx_status make_decoder(struct idxi_table *table, struct idx_error *error) {
    if (table->header.blocks == 0) return IDX_OK;
    table->decoder = malloc(sizeof *table->decoder);
    if (table->decoder == NULL) return idxi_fail_memory(error);
    table->allocated_bytes += sizeof *table->decoder;
    struct idxf_block_form form = idxf_table_get_block_form(&table->header);
    idxf_decoder_init(table->decoder, &form);
    return IDX_OK;
}

/* Sets table->prefetched_bytes and table->spared_bits. They stay 0 for a table without blocks. */
static void set_prefetched_and_spared(struct idxi_table *table) {
    uint64_t count = table->header.fingerprints, blocks = table->header.blocks;
    if (blocks == 0) return;
    uint64_t group_size = table->prefix > 63 ? 0 : count >> table->prefix; /* C has no shift by 64 bits */
    double bytes =
        table->header.block_size * idxi_estimate_probe_blocks((double)group_size, (double)count / (double)blocks);
    table->prefetched_bytes = bytes < MAX_PREFETCHED_BYTES ? (size_t)bytes : MAX_PREFETCHED_BYTES;
    table->spared_bits = idxi_count_spared_bits(count, table->prefix);
}

/* Checks the header, maps table->file, and makes what reading needs: permutation, decoder, and bitmap. With
 * IDX_RESIDENCE_ALL there is no bitmap, because all data is checked when it is loaded. */
static enum idx_status check_and_map_file(struct idxi_table *table, const struct idx_open_options *options,
                                          struct idx_error *error) {
    IDXI_TRY(read_header(table, error));
    IDXI_TRY(map_file(table, error));
    idxf_permutation_init(&table->permutation, table->header.mask, table->header.bits);
    table->prefix = (unsigned)__builtin_popcountll(table->header.mask);
    IDXI_TRY(make_decoder(table, error));
    set_prefetched_and_spared(table);
    table->on_disk = options->residence == IDX_RESIDENCE_DISK;
    if (table->on_disk) madvise((void *)(uintptr_t)table->map, (size_t)table->layout.file_size, MADV_RANDOM);
    bool needs_bitmap = !options->skip_page_checks && options->residence != IDX_RESIDENCE_ALL;
    return needs_bitmap ? make_checked_bitmap(table, error) : IDX_OK;
}

/* Closes table->file unless it is -1, and sets it to -1. The file stays mapped. */
static void close_file(struct idxi_table *table) {
    if (table->file >= 0) close(table->file);
    table->file = -1;
}

enum idx_status idxi_table_open(struct idxi_table *table, int folder, const char *folder_path, const char *name,
                                const struct idx_open_options *options, struct idx_error *error) {
    *table = (struct idxi_table){.path = idxi_join_path(folder_path, name), .file = -1};
    if (table->path == NULL) return idxi_fail_memory(error);
    IDXI_TRY(idxi_open_index_file(&table->file, folder, name, IDXI_OPEN_FILE, table->path, error));
    IDXI_TRY(check_and_map_file(table, options, error));
    if (options->residence == IDX_RESIDENCE_NONE) close_file(table); /* nothing will be loaded */
    return IDX_OK;
}

void idxi_table_close(struct idxi_table *table) {
    if (table->map != NULL) munmap((void *)(uintptr_t)table->map, (size_t)table->layout.file_size);
    close_file(table);
    free((void *)(uintptr_t)table->checked);
    free(table->decoder);
    free(table->path);
}

/* ---- Loading ---- */

/* Returns the offset in the file of the first byte that is loaded for a residence. All up to the checksums is. */
static uint64_t get_load_begin(const struct idxi_table *table, enum idx_residence residence) {
    if (residence == IDX_RESIDENCE_NONE) return table->layout.checksums;
    return residence == IDX_RESIDENCE_ALL ? table->layout.blocks : table->layout.directory;
}

size_t idxi_table_count_load_bytes(const struct idxi_table *table, enum idx_residence residence) {
    return (size_t)(table->layout.checksums - get_load_begin(table, residence));
}

/* Compares a page with its checksum. `bytes` is the page, mapped or loaded, and `offset` its place in the file. */
static enum idx_status compare_checksum(const struct idxi_table *table, const uint8_t *bytes, uint64_t offset,
                                        struct idx_error *error) {
    uint64_t page = offset / IDXF_PAGE_SIZE - 1;
    if (idxf_checksum(bytes, IDXF_PAGE_SIZE) == idxf_load64(table->map + table->layout.checksums + page * 8))
        return IDX_OK;
    return idxi_fail_fault(error, IDXF_FAULT_CHECKSUM, table->path, offset);
}

/* How many bytes are read at a time, and checked while they are in the second cache. */
#define STEP_BYTES ((size_t)64 * IDXF_PAGE_SIZE)

/* Does the work of idxi_table_load, but does not close the file. From then on the table uses what was loaded in place
 * of the mapped data. */
static enum idx_status load_data(struct idxi_table *table, const struct idx_open_options *options, uint8_t *memory,
                                 struct idx_error *error) {
    uint64_t begin = get_load_begin(table, options->residence);
    size_t size = idxi_table_count_load_bytes(table, options->residence);
    if (size == 0) return IDX_OK;
    for (size_t done = 0, step; done < size; done += step) {
        step = size - done < STEP_BYTES ? size - done : STEP_BYTES;
        IDXI_TRY(idxi_read_at(table->file, memory + done, step, begin + done, table->path, error));
        for (size_t page = done; page < done + step && !options->skip_page_checks; page += IDXF_PAGE_SIZE)
            IDXI_TRY(compare_checksum(table, memory + page, begin + page, error));
    }
    set_directory(table, memory + (table->layout.directory - begin));
    table->is_directory_loaded = true;
    if (options->residence == IDX_RESIDENCE_ALL) table->blocks = memory;
    return IDX_OK;
}

enum idx_status idxi_table_load(struct idxi_table *table, const struct idx_open_options *options, uint8_t *memory,
                                struct idx_error *error) {
    enum idx_status status = load_data(table, options, memory, error);
    close_file(table);
    return status;
}

/* ---- Checking ---- */

enum idx_status idxi_table_compare_checksum(const struct idxi_table *table, uint64_t page, struct idx_error *error) {
    uint64_t offset = (page + 1) * IDXF_PAGE_SIZE;
    return compare_checksum(table, table->map + offset, offset, error);
}

/* So many pages are checked together. That takes only five times as long as one page, because memory is read ahead, and
 * Linux maps as many pages at once. The number divides 64, so that their bits are in one word. */
#define CHECKED_PAGES 16

/* Damage of the pages beside it is not reported: they stay unchecked, so whatever uses them will find it. */
enum idx_status idxi_table_check_and_note_page(const struct idxi_table *table, uint64_t page, struct idx_error *error) {
    _Atomic uint64_t *word = &table->checked[page / 64];
    uint64_t begin = table->on_disk ? page : page / CHECKED_PAGES * CHECKED_PAGES;
    uint64_t end = table->on_disk ? page + 1 : begin + CHECKED_PAGES;
    uint64_t checked = atomic_load_explicit(word, memory_order_relaxed), sound_bits = 0;
    IDXI_TRY(idxi_table_compare_checksum(table, page, error));
    for (uint64_t i = begin; i < end && i < table->layout.pages; i++) {
        uint64_t bit = UINT64_C(1) << i % 64;
        if (i == page || ((checked & bit) == 0 && idxi_table_compare_checksum(table, i, NULL) == IDX_OK))
            sound_bits |= bit;
    }
    atomic_fetch_or_explicit(word, sound_bits, memory_order_release);
    return IDX_OK;
}

void idxi_table_drop_pages(const struct idxi_table *table) {
    madvise((void *)(uintptr_t)table->map, (size_t)table->layout.file_size, MADV_DONTNEED);
}

/* ---- Finding blocks ---- */

void idxi_table_request_pages(const struct idxi_table *table, uint64_t begin, uint64_t end) {
    if (table->blocks != table->map + table->layout.blocks || begin >= end) return;
    uint64_t begin_offset = idxi_table_get_block_offset(table, begin) / IDXF_PAGE_SIZE * IDXF_PAGE_SIZE;
    madvise((void *)(uintptr_t)(table->map + begin_offset),
            (size_t)(idxi_table_get_block_offset(table, end) - begin_offset), MADV_WILLNEED);
}

/* Fails because a line of the directory, or its list, is damaged. */
static enum idx_status fail_directory_line(const struct idxi_table *table, uint64_t line, struct idx_error *error) {
    return idxi_fail_fault(error, IDXF_FAULT_DIRECTORY, table->path, table->layout.directory + line * IDXF_LINE_BYTES);
}

/* Checks the pages of line number `line` of a mapped directory, and of its list if it has one. Fails with
 * IDX_BAD_CONTENT if the list is not within the lists of the file. */
static enum idx_status check_line_pages(const struct idxi_table *table, uint64_t line, struct idx_error *error) {
    uint64_t offset = table->layout.directory + line * IDXF_LINE_BYTES;
    IDXI_TRY(idxi_table_check_page_at(table, offset, error));
    struct idxf_list list = idxf_line_read_list(table->map + offset);
    if (list.count == 0) return IDX_OK;
    uint64_t size = table->header.list_bytes, bytes = idxf_list_count_bytes(&list);
    if (bytes > size || list.at > size - bytes) return fail_directory_line(table, line, error);
    uint64_t begin = table->layout.lists + list.at, end = begin + bytes;
    for (uint64_t at = begin / IDXF_PAGE_SIZE * IDXF_PAGE_SIZE; at < end; at += IDXF_PAGE_SIZE)
        IDXI_TRY(idxi_table_check_page_at(table, at, error));
    return IDX_OK;
}

enum idx_status idxi_table_find_block(const struct idxi_table *table, uint64_t fingerprint, struct idxf_start *start,
                                      struct idx_error *error) {
    uint64_t line = idxf_find_place(fingerprint, table->layout.directory_lines).line;
    if (!table->is_directory_loaded) IDXI_TRY(check_line_pages(table, line, error));
    bool is_sound = idxf_directory_find_start(&table->directory, fingerprint, start);
    return is_sound ? IDX_OK : fail_directory_line(table, line, error);
}

enum idx_status idxi_table_find_block_by_number(const struct idxi_table *table, uint64_t block,
                                                struct idxf_start *start, struct idx_error *error) {
    for (uint64_t offset = table->layout.directory; offset < table->layout.checksums; offset += IDXF_PAGE_SIZE) {
        if (!table->is_directory_loaded) IDXI_TRY(idxi_table_check_page_at(table, offset, error));
    }
    bool is_sound = idxf_directory_get_block_start(&table->directory, block, start);
    return is_sound ? IDX_OK : fail_directory_line(table, 0, error); /* the damaged line is unknown */
}

/* ---- Decoding blocks ---- */

void idxi_blocks_begin(struct idxi_blocks *blocks, const struct idxi_table *table, const struct idxf_start *start) {
    /* start->above is left-aligned in 64 bits, and bounds are numbers of the table's bits. */
    const uint64_t above = start->above >> (64 - table->header.bits);
    *blocks = (struct idxi_blocks){.table = table, .next = start->block, .bounds = {.above = above, .floor = 0}};
}

enum idx_status idxi_blocks_read(struct idxi_blocks *blocks, uint64_t end, uint64_t *fingerprints, size_t *count,
                                 struct idx_error *error) {
    const struct idxi_table *table = blocks->table;
    size_t faulty;
    enum idxf_fault fault;
    *count = 0;
    if (blocks->next >= end) return IDX_OK;
    uint64_t step = idxi_min(end - blocks->next, idxf_get_blocks_at_once(table->decoder));
    for (uint64_t i = 0; i < step; i++)
        IDXI_TRY(idxi_table_check_page_at(table, idxi_table_get_block_offset(table, blocks->next + i), error));
    *count = idxf_blocks_decode(table->decoder, idxi_table_get_block(table, blocks->next), (size_t)step,
                                &blocks->bounds, fingerprints, &faulty, &fault);
    if (fault != IDXF_OK)
        return idxi_fail_fault(error, fault, table->path, idxi_table_get_block_offset(table, blocks->next + faulty));
    blocks->next += step;
    return IDX_OK;
}

/* ---- All fingerprints, as a stream ---- */

/* Decodes the next blocks as idxi_blocks_read does, to the end of the table, where *count is 0. Drops mapped pages
 * every IDXI_DROPPED_BYTES. At the end, fails unless the table has as many fingerprints as its header says. */
static enum idx_status decode_next_blocks(struct idxi_table_stream *stream, uint64_t *fingerprints, size_t *count,
                                          struct idx_error *error) {
    const struct idxi_table *table = stream->blocks.table;
    const struct idxf_table_header *header = &table->header;
    uint64_t blocks_a_drop = IDXI_DROPPED_BYTES / header->block_size;
    if (stream->blocks.next / blocks_a_drop != stream->drops) idxi_table_drop_pages(table);
    stream->drops = stream->blocks.next / blocks_a_drop;
    IDXI_TRY(idxi_blocks_read(&stream->blocks, header->blocks, fingerprints, count, error));
    stream->given += *count;
    bool count_agrees = *count > 0 || stream->given == header->fingerprints;
    return count_agrees ? IDX_OK : idxi_fail_fault(error, IDXF_FAULT_COUNT, table->path, 0);
}

/* Copies up to `capacity` fingerprints of the chunk that were not copied before, and sets *count to their number. If
 * none are left, decodes the next blocks to the chunk first. *count is 0 at the end of the table. */
static enum idx_status copy_from_chunk(struct idxi_table_stream *stream, uint64_t *fingerprints, size_t capacity,
                                       size_t *count, struct idx_error *error) {
    if (stream->chunk_copied == stream->chunk_count) {
        stream->chunk_copied = stream->chunk_count = 0;
        IDXI_TRY(decode_next_blocks(stream, stream->chunk, &stream->chunk_count, error));
    }
    size_t chunk_left = stream->chunk_count - stream->chunk_copied;
    *count = chunk_left < capacity ? chunk_left : capacity;
    memcpy(fingerprints, stream->chunk + stream->chunk_copied, *count * sizeof *fingerprints);
    stream->chunk_copied += *count;
    return IDX_OK;
}

/* Reads fingerprints as struct idxi_stream says. Decodes straight to the caller's array as long as the next blocks
 * surely fit there; a caller with a smaller array gets them from the chunk, a part at a time. */
static enum idx_status read_fingerprints(struct idxi_stream *base, uint64_t *fingerprints, uint64_t *values,
                                         size_t capacity, size_t *count, struct idx_error *error) {
    struct idxi_table_stream *stream = (struct idxi_table_stream *)base;
    size_t decoded = 0, newly_decoded;
    (void)values;
    if (stream->chunk_copied < stream->chunk_count || capacity < stream->decoded_capacity)
        return copy_from_chunk(stream, fingerprints, capacity, count, error);
    do {
        IDXI_TRY(decode_next_blocks(stream, fingerprints + decoded, &newly_decoded, error));
        decoded += newly_decoded;
    } while (newly_decoded > 0 && capacity - decoded >= stream->decoded_capacity);
    *count = decoded;
    return IDX_OK;
}

void idxi_table_stream_init(struct idxi_table_stream *stream, const struct idxi_table *table) {
    /* Member by member, since the chunk is large and needs not be zeroed. */
    stream->stream = (struct idxi_stream){.read = read_fingerprints};
    stream->blocks = (struct idxi_blocks){.table = table};
    stream->decoded_capacity = table->decoder == NULL ? 0 : idxf_get_decoded_capacity(table->decoder);
    stream->given = stream->drops = 0;
    stream->chunk_count = stream->chunk_copied = 0;
}

/* ---- What a probe costs ---- */

#define SPARED_GROUP 8 /* searching so many fingerprints takes about as long as one more probe */

double idxi_estimate_probe_blocks(double group_size, double block_fingerprints) {
    double block_cells = (double)IDXF_LINE_CELLS / IDXF_LINE_BLOCKS; /* cells of the directory per block */
    return 1 + 0.5 / block_cells + group_size / block_fingerprints;
}

unsigned idxi_count_spared_bits(uint64_t count, unsigned prefix) {
    unsigned flipped = prefix < 63 ? prefix : 63;
    while (flipped > 0 && count >> flipped < SPARED_GROUP) flipped--;
    return prefix - flipped;
}
