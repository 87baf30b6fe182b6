/* probe_cost.h: the cost of probing a table. */
#ifndef IDX_LIBIDX_PROBE_COST_H
#define IDX_LIBIDX_PROBE_COST_H

#include <stdint.h>

/* The blocks that a probe searches if `group` fingerprints have its prefix: those that hold them, and on average half a
 * cell of the directory before them. */
double idxi_expected_blocks(double group, double block_fingerprints);

/* For a table with a radius: how many of the last bits of a prefix are not flipped, but searched for all their values
 * at once. As many as let a probe find a few fingerprints. */
unsigned idxi_spared_bits(uint64_t count, unsigned prefix);

#endif
