/* decoded_range.c: decodes a range of a table, and divides it into cells. */
#include "libidx/batch/decoded_range.h"

#include <stdlib.h>
#include <string.h>

/* About how many fingerprints a cell has. */
#define CELL_ITEMS 4

/* How many items can be read beyond the last one of a range. */
#define PADDING 8

/* Appends the items from `low` to `high` among the `decoded_count` that were just decoded behind
 * range->items[range->count - 1]. Most blocks lie within these bounds as a whole: then nothing is moved. */
static void keep_items_within(struct idxi_decoded_range *range, size_t decoded_count, uint64_t low, uint64_t high) {
    uint64_t *items = range->items + range->count;
    size_t kept = 0;
    if (items[0] >= low && items[decoded_count - 1] <= high) {
        range->count += decoded_count;
        return;
    }
    for (size_t i = 0; i < decoded_count; i++) {
        uint64_t item = items[i];
        items[kept] = item; /* written without a branch, and overwritten if not kept */
        kept += (item >= low) & (item <= high);
    }
    range->count += kept;
}

/* Cuts the range, whose items share the first `bits` bits, into cells of about CELL_ITEMS. Even if a damaged table is
 * not in order, the cells' beginnings ascend and stay within the range. Fails if memory runs out. */
static enum idx_status cut_into_cells(struct idxi_decoded_range *range, unsigned bits, struct idx_error *error) {
    range->range_bits = bits;
    range->cell_bits = 0;
    while (range->cell_bits + bits < 63 && (size_t)CELL_ITEMS << range->cell_bits < range->count) range->cell_bits++;
    size_t cell_count = (size_t)1 << range->cell_bits;
    IDXI_GROW(range->cells, range->cell_capacity, cell_count + 1, error);
    memset(range->cells, 0, (cell_count + 1) * sizeof *range->cells);
    /* Each cell with items ends behind its last one. That is where the next cell begins. */
    for (size_t i = 0; i < range->count; i++) range->cells[idxi_get_cell(range, range->items[i]) + 1] = (uint32_t)i + 1;
    uint32_t begin = 0; /* An empty cell ends where the one before it does. */
    for (size_t cell = 1; cell <= cell_count; cell++) {
        begin = range->cells[cell] > begin ? range->cells[cell] : begin;
        range->cells[cell] = begin;
    }
    return IDX_OK;
}

enum idx_status idxi_decoded_range_read(struct idxi_decoded_range *range, const struct idxi_table *table,
                                        uint64_t value, unsigned bits, const struct idxf_start *begin, uint64_t end,
                                        struct idx_error *error) {
    uint64_t rest_mask = idxf_low_bits(64 - bits), low = value & ~rest_mask, high = value | rest_mask, last = 0;
    struct idxi_blocks blocks;
    size_t decoded_count;
    range->count = 0;
    idxi_blocks_begin(&blocks, table, begin);
    idxi_table_request_pages(table, begin->block, end);
    while (last < high) {
        IDXI_GROW(range->items, range->capacity, range->count + idxf_get_decoded_capacity(table->decoder) + PADDING,
                  error);
        IDXI_TRY(idxi_blocks_read(&blocks, table->header.blocks, range->items + range->count, &decoded_count, error));
        if (decoded_count == 0) break;
        last = range->items[range->count + decoded_count - 1];
        keep_items_within(range, decoded_count, low, high);
    }
    memset(range->items + range->count, 0, PADDING * sizeof *range->items);
    return cut_into_cells(range, bits, error);
}

void idxi_decoded_range_free(struct idxi_decoded_range *range) {
    free(range->items);
    free(range->cells);
}
