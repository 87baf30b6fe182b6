/* unpacked_layout.h: the layout of an unpacked segment: parts of the bits, and how many of their errors look-ups go
 * through. */
#ifndef IDX_LIBIDX_UNPACKED_LAYOUT_H
#define IDX_LIBIDX_UNPACKED_LAYOUT_H

#include <stdint.h>

#define IDXI_MAX_PARTS 8
#define IDXI_MAX_PART_BITS 28

/* Consecutive bits. Fingerprints are in buckets by their values. */
struct idxi_part {
    unsigned shift, bits;
    unsigned radius; /* the most errors in these bits that buckets are probed for */
};

/* No two parts share a bit, and the sum of their radii, each plus one, is more than the distance: so two fingerprints
 * within the distance differ in no more bits than its radius in some part. */
struct idxi_layout {
    unsigned count;
    struct idxi_part parts[IDXI_MAX_PARTS];
    double nanoseconds; /* of a query, about */
    uint64_t bytes;     /* of memory in all */
};

/* The fastest layout that takes at most `most` bytes, or the smallest one where none does. */
struct idxi_layout idxi_layout_choose(uint64_t count, unsigned bits, unsigned distance, uint64_t most);

/* The most memory that unpacking so many is worth: more gains little. */
uint64_t idxi_layout_limit(uint64_t count);

/* The seconds that unpacking so many takes, on one core. */
double idxi_layout_opening(const struct idxi_layout *layout, uint64_t count);

/* Which radii suffice for a smaller distance, -1 for a part that need not be probed. Returns the nanoseconds. */
double idxi_layout_radii(const struct idxi_layout *layout, uint64_t count, unsigned distance,
                         int radii[IDXI_MAX_PARTS]);

#endif
