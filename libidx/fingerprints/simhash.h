/* simhash.h: the implementations of adding features to a SimHash accumulator, for tests. */
#ifndef IDX_LIBIDX_SIMHASH_H
#define IDX_LIBIDX_SIMHASH_H

#include <idx.h>

#define IDXI_SIMHASH_WAYS 3

/* Does what idx_simhash_add_features does. */
typedef void idxi_simhash_way(struct idx_simhash *simhash, const struct idx_feature *features, size_t count);

/* Lists the implementations that this processor can run, the plain loop first, the fastest last, and returns their
 * number. */
size_t idxi_simhash_ways(idxi_simhash_way *ways[IDXI_SIMHASH_WAYS]);

#endif
