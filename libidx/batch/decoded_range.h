/* decoded_range.h: a decoded range of a table, in which a sweep searches for its queries. */
#ifndef IDX_LIBIDX_DECODED_RANGE_H
#define IDX_LIBIDX_DECODED_RANGE_H

#include "libidx/batch/results.h"
#include "libidx/batch/sorted_queries.h"

/* Ascending permuted fingerprints. The range is cut evenly into 2^cell_bits cells; cells[i] is where those of cell i
 * begin. */
struct idxi_decoded_range {
    uint64_t *items; /* eight more can be read after the last one */
    size_t count, capacity;
    uint32_t *cells;
    size_t cell_capacity;
    unsigned range_bits, cell_bits; /* how many first bits all items share, and how many next ones cells are cut by */
};

/* Decodes to *range the permuted fingerprints of a table whose first `bits` bits are those of `value`. The first of
 * them is in the block at *begin (idxi_table_find_block) or after it, and none is in block number `end` or after it.
 * The caller zeroes *range before the first call; later calls replace its fingerprints and reuse its memory. Call
 * idxi_decoded_range_free at the end, also after an error. Errors: IDX_BAD_CHECKSUM, IDX_BAD_CONTENT,
 * IDX_OUT_OF_MEMORY. */
enum idx_status idxi_decoded_range_read(struct idxi_decoded_range *range, const struct idxi_table *table,
                                        uint64_t value, unsigned bits, const struct idxf_start *begin, uint64_t end,
                                        struct idx_error *error);

/* Frees the memory of a range, which may be zeroed. */
void idxi_decoded_range_free(struct idxi_decoded_range *range);

/* Returns the number of the cell of a value in the range: its cell_bits bits after the first range_bits. */
static inline size_t idxi_get_cell(const struct idxi_decoded_range *range, uint64_t value) {
    return idxf_get_first_bits(value << range->range_bits, range->cell_bits);
}

/* The search for one query in a range. */
struct idxi_range_search {
    const struct idx_index *index;
    const struct idxi_probing *probing;
    const struct idxi_sorted_queries *queries; /* the sorted queries of the table, this one among them */
    const struct idxi_decoded_range *range;
    unsigned distance;
    uint64_t permuted; /* the query, permuted */
    size_t number;     /* its number in the batch */
    struct idxi_match_buffer *buffer;
    enum idx_status status;
    struct idx_error *error;
};

/* Adds to search->buffer the items of the range that match the query. `value` is the permuted query with some bits
 * flipped already. An item must share its prefix, after up to `radius` further bits are flipped: only bits below bit
 * `bit`, and only the first search->queries->flippable bits, as in idxi_probe_table. Leaves out matches that an earlier
 * table finds, and removed fingerprints. An error sets search->status. */
typedef void (*idxi_search_range)(struct idxi_range_search *search, uint64_t value, unsigned bit, unsigned radius);

/* Returns the fastest implementation of idxi_search_range that this processor can run. */
idxi_search_range idxi_choose_search_range(void);

#endif
