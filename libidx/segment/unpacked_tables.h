/* unpacked_tables.h: what an unpacked segment is made of. */
#ifndef IDX_LIBIDX_UNPACKED_TABLES_H
#define IDX_LIBIDX_UNPACKED_TABLES_H

#include "format/bytes.h"
#include "libidx/segment/unpacked.h"
#include "libidx/segment/unpacked_layout.h"

/* The patterns of a part: all choices of at most `radius` of its bits. A query's value in the part, combined with each
 * by exclusive or, gives the buckets to probe. Patterns of fewer bits come first. */
struct idxi_patterns {
    uint32_t *flips;
    uint32_t counts[IDX_MAX_K + 1]; /* counts[i]: how many patterns have at most i bits */
};

struct idxi_unpacked {
    struct idxi_layout layout;
    const struct idxi_bucket_way *way; /* the fastest */
    size_t count;                      /* fingerprints */
    uint8_t *memory;
    size_t memory_bytes;
    /* Of each part: the fingerprints, sorted by their values in it, and where the bucket of each value begins among
     * them, with the end of the last bucket behind the others. */
    uint64_t *fingerprints[IDXI_MAX_PARTS];
    uint32_t *starts[IDXI_MAX_PARTS];
    struct idxi_patterns patterns[IDXI_MAX_PARTS];
    /* Of each distance: the radii that are probed, -1 for none, and the nanoseconds of a query. */
    int radii[IDX_MAX_K + 1][IDXI_MAX_PARTS];
    double nanoseconds[IDX_MAX_K + 1];
};

/* Returns a fingerprint's value in a part: the bits of the part, moved together to a number of part->bits bits. */
static inline uint32_t idxi_get_part_value(const struct idxi_part *part, uint64_t fingerprint) {
    if (part->bits == 0) return 0;
    uint64_t value = fingerprint >> part->shift & idxf_low_bits(part->bits - part->low_bits);
    return (uint32_t)(value << part->low_bits | (fingerprint >> part->low_shift & idxf_low_bits(part->low_bits)));
}

#endif
