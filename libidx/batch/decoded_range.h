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

/* Decodes to *range the permuted fingerprints of a table whose first `bits` bits are those of `value`. They begin at
 * *begin, and end before block number `end`. The caller zeroes *range before the first call; later calls reuse its
 * memory. Call idxi_decoded_range_free at the end, also after an error. Errors: IDX_BAD_CHECKSUM, IDX_BAD_CONTENT,
 * IDX_OUT_OF_MEMORY. */
enum idx_status idxi_decoded_range_read(struct idxi_decoded_range *range, const struct idxi_table *table,
                                        uint64_t value, unsigned bits, const struct idxf_start *begin, uint64_t end,
                                        struct idx_error *error);

/* Frees the memory of a range, which may be zeroed. */
void idxi_decoded_range_free(struct idxi_decoded_range *range);

/* Returns the number of a value's cell: the cell_bits bits that follow the first range_bits. */
static inline size_t idxi_get_cell(const struct idxi_decoded_range *range, uint64_t value) {
    return idxf_get_first_bits(value << range->range_bits, range->cell_bits);
}

/* A query that is looked for in a range. */
struct idxi_range_search {
    const struct idx_index *index;
    const struct idxi_probing *probing;
    const struct idxi_sorted_queries *queries; /* the queries of the table, to which it belongs */
    const struct idxi_decoded_range *range;
    unsigned distance;
    uint64_t permuted; /* the query, permuted */
    size_t number;     /* its number in the batch */
    struct idxi_match_buffer *buffer;
    enum idx_status status;
    struct idx_error *error;
};

/* Adds to search->buffer the matches that idxi_probe_table would find with these arguments. An error sets
 * search->status. */
typedef void (*idxi_search_range)(struct idxi_range_search *search, uint64_t value, unsigned bit, unsigned radius);

/* Returns the fastest implementation that this processor can run. */
idxi_search_range idxi_choose_search_range(void);

#endif
