/* statistics.h: the statistics in a table's header, which describe its fingerprints (SPEC.md, chapter 4). */
#ifndef IDX_FORMAT_STATISTICS_H
#define IDX_FORMAT_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

#include "format/permute.h"

/* The statistics are for people and for planning. */
struct idxf_statistics {
    uint64_t set_bits;      /* of all fingerprints, ORed, not permuted */
    uint64_t common_bits;   /* the same, ANDed */
    uint64_t largest_group; /* the most fingerprints that share a prefix */
    uint64_t pairs;         /* of fingerprints that share a prefix; UINT64_MAX where they are more */
};

/* Computes the statistics of a table's fingerprints as they come, in the table's order, permuted and left-aligned. */
struct idxf_statistics_counter {
    struct idxf_statistics statistics; /* bits permuted and left-aligned */
    unsigned prefix;
    uint64_t group_size, previous; /* how many fingerprints share the last one's prefix so far, and the last one */
};

/* Begins without fingerprints. `prefix` is the number of bits of the table's mask. */
void idxf_statistics_begin(struct idxf_statistics_counter *counter, unsigned prefix);

/* Adds the next `count` fingerprints of the table, permuted and left-aligned, which must ascend. */
void idxf_statistics_add(struct idxf_statistics_counter *counter, const uint64_t *fingerprints, size_t count);

/* Returns the statistics of all fingerprints that were added, with their bits as users see them. `permutation` is the
 * table's. */
struct idxf_statistics idxf_statistics_end(const struct idxf_statistics_counter *counter,
                                           const struct idxf_permutation *permutation);

#endif
