/* blocks.h: what the public header does not say of blocks. */
#ifndef IDX_TESTS_LIBIDX_BLOCKS_H
#define IDX_TESTS_LIBIDX_BLOCKS_H

#include "libidx/segment/table_reader.h"

/* How many of them a look-up searches. */
uint64_t search_blocks(const struct idx_index *index, uint64_t fingerprint, unsigned distance);

/* The key of each block of a table, its last fingerprint, permuted. The caller frees them. */
uint64_t *read_keys(const struct idxi_table *table);

#endif
