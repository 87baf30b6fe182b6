/* verify_table.c: checks a table. Its pages are dropped from memory as it goes on, so that large tables fit. */
#include "libidx/verify/verify.h"

#include <stdlib.h>
#include <string.h>

/* Compares all pages with their checksums, even those that were compared before. */
static enum idx_status check_pages(const struct idxi_table *table, struct idx_error *error) {
    for (uint64_t page = 0; page < table->layout.pages; page++) {
        if (page * IDXF_PAGE_SIZE % IDXI_DROPPED_BYTES == 0) idxi_table_drop_pages(table);
        IDXI_TRY(idxi_table_compare_checksum(table, page, error));
    }
    return IDX_OK;
}

/* Checks that the bytes from `begin` to `end` of the file, which are between sections, are zero. */
static enum idx_status check_zero_bytes(const struct idxi_table *table, uint64_t begin, uint64_t end,
                                        struct idx_error *error) {
    for (uint64_t offset = begin; offset < end; offset++) {
        if (table->map[offset] != 0) return idxi_fail_fault(error, IDXF_FAULT_PADDING, table->path, offset);
    }
    return IDX_OK;
}

/* A walk through the fingerprints of a table, in its order. */
struct walk {
    struct idxi_fingerprint_set set;
    struct idxf_statistics_counter counter;
    struct idxf_directory_writer directory; /* the directory as it should be, up to the blocks so far */
    bool differs;                           /* whether the directory of the file differs from it */
    uint64_t difference_offset;             /* the byte of the file of the first difference found */
    uint64_t key;                           /* of the last block */
    uint64_t fingerprints[IDXF_MAX_DECODED_WORDS];
};

/* Notes that the directory differs at byte `offset` of the file, unless a difference was noted before. */
static void note_difference(struct walk *walk, uint64_t offset) {
    if (!walk->differs) walk->difference_offset = offset;
    walk->differs = true;
}

/* Compares the current line of walk->directory, which has all its keys, with that of the file, notes a difference, and
 * begins the next line. */
static void compare_directory_line(const struct idxi_table *table, struct walk *walk) {
    uint64_t line_offset = walk->directory.line * IDXF_LINE_BYTES;
    uint8_t bytes[IDXF_LINE_BYTES];
    idxf_directory_write_line(&walk->directory, bytes);
    if (memcmp(table->map + table->layout.directory + line_offset, bytes, sizeof bytes) != 0)
        note_difference(walk, table->layout.directory + line_offset);
}

/* Compares walk->key, the key of block number `block`, with the list of its line in the file, if that has one, and
 * notes a difference. */
static void compare_listed_key(const struct idxi_table *table, uint64_t block, struct walk *walk) {
    struct idxf_place place = idxf_find_place(walk->key, table->layout.directory_lines);
    const uint8_t *line = table->map + table->layout.directory + place.line * IDXF_LINE_BYTES;
    struct idxf_list list = idxf_line_read_list(line);
    uint64_t number = block - idxf_get_first_block(line);
    if (list.count == 0 || number >= list.count || list.width > 64) return; /* compare_directory_line notes it */
    if (list.at > table->header.list_bytes || idxf_list_count_bytes(&list) > table->header.list_bytes - list.at) return;
    uint64_t begin = (table->layout.lists + list.at) * 8 + number * list.width, end = begin + list.width;
    size_t readable = (size_t)table->layout.checksums;
    bool agrees = idxf_get_bits(table->map, readable, begin, list.width) == idxf_get_top_bits(place.part, list.width);
    /* Bits up to the end of the list's last byte must be 0. */
    if (number + 1 == list.count) agrees &= idxf_get_bits(table->map, readable, end, (unsigned)(-end % 8)) == 0;
    if (!agrees) note_difference(walk, begin / 8);
}

/* Checks the next block of `blocks`, adds its fingerprints to the walk, and sets walk->key to the last of them. */
static enum idx_status check_block(const struct idxi_table *table, struct idxi_blocks *blocks, struct walk *walk,
                                   struct idx_error *error) {
    uint64_t block = blocks->next, offset = idxi_table_get_block_offset(table, block);
    struct idxf_bounds bounds = blocks->bounds;
    size_t count;
    if (offset % IDXI_DROPPED_BYTES == 0) idxi_table_drop_pages(table);
    IDXI_TRY(idxi_blocks_read(blocks, block + 1, walk->fingerprints, &count, error));
    for (size_t i = 0; i < count; i++)
        idxi_fingerprint_set_add(&walk->set, idxf_unpermute(&table->permutation, walk->fingerprints[i]));
    idxf_statistics_add(&walk->counter, walk->fingerprints, count);
    walk->key = walk->fingerprints[count - 1];
    enum idxf_fault fault = idxf_block_check_padding(table->decoder, idxi_table_get_block(table, block), bounds);
    return fault == IDXF_OK ? IDX_OK : idxi_fail_fault(error, fault, table->path, offset);
}

/* Checks all blocks and their number of fingerprints. Compares the directory with the one that they should have, and
 * notes the first difference, for check_directory. */
static enum idx_status check_blocks(const struct idxi_table *table, struct walk *walk, struct idx_error *error) {
    struct idxi_blocks blocks = {.table = table}; /* from the first block on */
    idxf_statistics_begin(&walk->counter, table->prefix);
    idxf_directory_begin(&walk->directory, table->layout.directory_lines);
    for (uint64_t block = 0; block < table->header.blocks; block++) {
        IDXI_TRY(check_block(table, &blocks, walk, error));
        while (!idxf_directory_add_key(&walk->directory, walk->key)) compare_directory_line(table, walk);
        compare_listed_key(table, block, walk);
    }
    while (walk->directory.line < walk->directory.lines) compare_directory_line(table, walk);
    bool agrees = walk->set.count == table->header.fingerprints;
    return agrees ? IDX_OK : idxi_fail_fault(error, IDXF_FAULT_COUNT, table->path, 0);
}

/* Checks that the lists end where the header says, and fails if check_blocks noted a difference. */
static enum idx_status check_directory(const struct idxi_table *table, struct walk *walk, struct idx_error *error) {
    if (walk->directory.list_bytes != table->header.list_bytes) note_difference(walk, table->layout.lists);
    return walk->differs ? idxi_fail_fault(error, IDXF_FAULT_DIRECTORY, table->path, walk->difference_offset) : IDX_OK;
}

/* Checks that the header has the statistics of the fingerprints that the walk has counted. */
static enum idx_status check_statistics(const struct idxi_table *table, const struct walk *walk,
                                        struct idx_error *error) {
    struct idxf_statistics counted = idxf_statistics_end(&walk->counter, &table->permutation);
    const struct idxf_statistics *stated = &table->header.statistics;
    bool agrees = counted.set_bits == stated->set_bits && counted.common_bits == stated->common_bits &&
                  counted.largest_group == stated->largest_group && counted.pairs == stated->pairs;
    return agrees ? IDX_OK : idxi_fail_fault(error, IDXF_FAULT_STATISTICS, table->path, 0);
}

/* Checks all parts of the file behind its header, which was checked when it was opened. */
static enum idx_status check_sections(const struct idxi_table *table, struct walk *walk, struct idx_error *error) {
    const struct idxf_table_layout *layout = &table->layout;
    uint64_t blocks_end = layout->blocks + table->header.blocks * table->header.block_size;
    uint64_t directory_end = layout->lists + table->header.list_bytes;
    IDXI_TRY(check_pages(table, error));
    IDXI_TRY(check_zero_bytes(table, blocks_end, layout->directory, error));
    IDXI_TRY(check_zero_bytes(table, directory_end, layout->checksums, error));
    IDXI_TRY(check_blocks(table, walk, error));
    IDXI_TRY(check_directory(table, walk, error));
    return check_statistics(table, walk, error);
}

enum idx_status idxi_verify_table(const struct idxi_table *table, struct idxi_fingerprint_set *set,
                                  struct idx_error *error) {
    struct walk *walk = calloc(1, sizeof *walk);
    if (walk == NULL) return idxi_fail_memory(error);
    enum idx_status status = check_sections(table, walk, error);
    *set = walk->set;
    free(walk);
    idxi_table_drop_pages(table);
    return status;
}
