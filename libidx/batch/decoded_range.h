/* decoded_range.h: a decoded range of a table, in which a sweep searches for its queries. */
#ifndef IDX_LIBIDX_DECODED_RANGE_H
#define IDX_LIBIDX_DECODED_RANGE_H

#include "libidx/batch/results.h"
#include "libidx/batch/sorted_queries.h"

/* Fingerprints, ascending, and where those of each cell begin: the range is cut into 2^cell_bits cells. */
struct idxi_decoded_range {
    uint64_t *items; /* some more can be read behind the last one */
    size_t count, capacity;
    uint32_t *cells;
    size_t cell_capacity;
    unsigned range_bits, cell_bits;
};

/* Decodes the fingerprints of a table whose first `bits` bits are those of `value`, from where they begin to before
 * block `end`. Reuses the memory of the range before; zeroed for the first one. Errors: IDX_BAD_CHECKSUM,
 * IDX_BAD_CONTENT, IDX_OUT_OF_MEMORY. */
enum idx_status idxi_decoded_range_read(struct idxi_decoded_range *range, const struct idxi_table *table,
                                        uint64_t value, unsigned bits, const struct idxf_start *begin, uint64_t end,
                                        struct idx_error *error);

void idxi_decoded_range_free(struct idxi_decoded_range *range);

/* A cell's number: that of the bits behind the first ones of the range. */
static inline size_t idxi_find_cell(const struct idxi_decoded_range *range, uint64_t value) {
    return idxf_first_bits(value << range->range_bits, range->cell_bits);
}

/* A query that is looked for in a range. */
struct idxi_range_search {
    const struct idx_index *index;
    const struct idxi_probing *probing;
    const struct idxi_sorted_queries *queries; /* that it belongs to */
    const struct idxi_decoded_range *range;
    unsigned distance;
    uint64_t permuted; /* the query */
    size_t number;     /* under which it is reported */
    struct idxi_finds *finds;
    enum idx_status status;
    struct idx_error *error;
};

/* Finds the matches that idxi_search_probes would, of these arguments. Sets search->status at an error. */
typedef void (*idxi_search_range)(struct idxi_range_search *search, uint64_t value, unsigned bit, unsigned radius);

/* The fastest way that this processor has. */
idxi_search_range idxi_choose_search_range(void);

#endif
