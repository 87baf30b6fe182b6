/* compare.h: which of a chunk of fingerprints are near a query. */
#ifndef IDX_LIBIDX_COMPARE_H
#define IDX_LIBIDX_COMPARE_H

#include <stddef.h>
#include <stdint.h>

/* Stores in `near` the places of the fingerprints within `distance` of `query`, and returns their number. `count` is at
 * most 256. */
typedef size_t (*idxi_compare)(const uint64_t *fingerprints, size_t count, uint64_t query, unsigned distance,
                               uint8_t *near);

/* The fastest one that this processor has. */
idxi_compare idxi_choose_compare(void);

/* The one that every processor has. */
size_t idxi_compare_portable(const uint64_t *fingerprints, size_t count, uint64_t query, unsigned distance,
                             uint8_t *near);

#endif
