/* range.h: loads a range of permuted fingerprints of one table, over all segments of an index, into an array. */
#ifndef IDX_LIBIDX_RANGE_H
#define IDX_LIBIDX_RANGE_H

#include "libidx/view/index.h"

/* The source of ranges: table number `table`, in all segments of an index. */
struct idxi_ranges {
    const struct idx_index *index;
    size_t table;
    uint64_t *counts; /* how many fingerprints of each segment idxi_range_load has loaded */
};

/* A range, with both ends, and what is to hold it. */
struct idxi_range {
    uint64_t low, high;     /* permuted fingerprints */
    uint64_t mask, value;   /* only fingerprints whose bits of `mask` are `value` are loaded */
    uint64_t *fingerprints; /* ascending, each once */
    uint64_t *room;         /* scratch memory, as large: what several segments decode is merged from there */
    size_t capacity, count;
};

/* The least capacity, in fingerprints, of a range for an index with so many segments. */
#define IDXI_MIN_RANGE_CAPACITY(segments) ((segments) * ((size_t)2 * IDXF_MAX_DECODED_WORDS))

/* Sets range->fingerprints and range->count to the permuted fingerprints from range->low to range->high, both included,
 * removed ones too. The caller sets the other members, with a capacity of at least IDXI_MIN_RANGE_CAPACITY. If the
 * capacity does not suffice, lowers range->high: the range is complete up to there. Each page is checked before its
 * first use, unless the index was opened otherwise. Adds to ranges->counts (may be NULL; use no mask then) how many
 * each segment has in the range. Any number of threads may load ranges of a table at a time, each with counts of its
 * own. Errors: IDX_BAD_CHECKSUM, IDX_BAD_CONTENT, IDX_OUT_OF_MEMORY. */
enum idx_status idxi_range_load(const struct idxi_ranges *ranges, struct idxi_range *range, struct idx_error *error);

/* Sets *count to an estimate of how many fingerprints there are from `low` to `high`, both permuted, from the number of
 * blocks between the two, without reading these. Errors: as idxi_range_load. */
enum idx_status idxi_range_estimate(const struct idxi_ranges *ranges, uint64_t low, uint64_t high, uint64_t *count,
                                    struct idx_error *error);

#endif
