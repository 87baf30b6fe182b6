/* unpacked_tables.h: what an unpacked segment is made of. */
#ifndef IDX_LIBIDX_UNPACKED_TABLES_H
#define IDX_LIBIDX_UNPACKED_TABLES_H

#include "format/bytes.h"
#include "libidx/segment/unpacked.h"
#include "libidx/segment/unpacked_layout.h"

/* What a part's value is combined with, by exclusive or, to flip up to its radius of bits: fewer bits first. */
struct idxi_patterns {
    uint32_t *flips;
    uint32_t counts[IDX_MAX_K + 1]; /* by number of bits: how many patterns have at most as many */
};

struct idxi_unpacked {
    struct idxi_layout layout;
    const struct idxi_bucket_way *way; /* the fastest */
    size_t count;
    uint8_t *memory;
    size_t bytes;
    /* Of each part: the fingerprints by their values, and where the buckets begin, with their end behind the last. */
    uint64_t *fingerprints[IDXI_MAX_PARTS];
    uint32_t *starts[IDXI_MAX_PARTS];
    struct idxi_patterns patterns[IDXI_MAX_PARTS];
    /* Of each distance: the radii that are probed, and the nanoseconds of a query. */
    int radii[IDX_MAX_K + 1][IDXI_MAX_PARTS];
    double times[IDX_MAX_K + 1];
};

/* Returns the bits of a fingerprint that a part has, together as a number. */
static inline uint32_t idxi_get_part_value(const struct idxi_part *part, uint64_t fingerprint) {
    if (part->bits == 0) return 0;
    uint64_t value = fingerprint >> part->shift & idxf_low_bits(part->bits - part->low_bits);
    return (uint32_t)(value << part->low_bits | (fingerprint >> part->low_shift & idxf_low_bits(part->low_bits)));
}

#endif
