/* cost.h: what probing a table costs. */
#ifndef IDX_LIBIDX_COST_H
#define IDX_LIBIDX_COST_H

#include <stdint.h>

/* Blocks that a probe searches which finds `group` fingerprints with its prefix: those that hold them, and, half a cell
 * of the directory on average, what lies before. */
double idxi_expected_blocks(double group, double block_fingerprints);

/* How many of the last bits of a prefix are not flipped, where a radius has bits flipped, but searched for all their
 * values at once: so many that a look-up finds a few fingerprints. */
unsigned idxi_spared_bits(uint64_t count, unsigned prefix);

#endif
