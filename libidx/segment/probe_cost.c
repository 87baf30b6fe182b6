/* probe_cost.c: see probe_cost.h. */
#include "libidx/segment/probe_cost.h"

#include "format/directory.h"

/* Searching this many fingerprints takes about as long as a probe more. */
#define SPARED_GROUP 8

double idxi_expected_blocks(double group, double block_fingerprints) {
    double cells = (double)IDXF_LINE_CELLS / IDXF_LINE_BLOCKS;
    return 1 + 0.5 / cells + group / block_fingerprints;
}

unsigned idxi_spared_bits(uint64_t count, unsigned prefix) {
    unsigned flipped = prefix < 63 ? prefix : 63;
    while (flipped > 0 && count >> flipped < SPARED_GROUP) flipped--;
    return prefix - flipped;
}
