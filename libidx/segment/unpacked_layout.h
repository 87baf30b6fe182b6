/* unpacked_layout.h: the layout of an unpacked segment: parts of the bits, and how many of their errors look-ups go
 * through. */
#ifndef IDX_LIBIDX_UNPACKED_LAYOUT_H
#define IDX_LIBIDX_UNPACKED_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#define IDXI_MAX_PARTS 8
#define IDXI_MAX_PART_BITS 28

/* Bits whose value chooses a fingerprint's bucket: bits - low_bits bits from bit `shift` on, and behind these
 * `low_bits` bits from bit `low_shift` on, which may be none. */
struct idxi_part {
    unsigned shift, bits; /* `bits`: of the whole value */
    unsigned low_shift, low_bits;
    unsigned radius; /* the most errors in these bits that buckets are probed for */
};

/* Two fingerprints within the distance differ in no more bits than its radius in some part. No two parts share a bit,
 * and the sum of their radii, each plus one, is more than the distance; or the layout is of halves. Then the distance
 * is 3, one half of the bits has at most one error, and of three blocks of it two have none: there is a part for each
 * two blocks of a half, those of a half one after the other, with radius 0. */
struct idxi_layout {
    unsigned count;
    bool of_halves;
    struct idxi_part parts[IDXI_MAX_PARTS];
    double nanoseconds; /* of a query, about */
    uint64_t bytes;     /* of memory in all */
};

#define IDXI_HALF_PARTS 3

/* Returns the fastest layout for `count` fingerprints of `bits` bits that takes at most `max_bytes` bytes and is worth
 * its memory. `distance` is the largest one to be searched for. If every layout takes more bytes, returns the smallest
 * one, so the caller compares layout.bytes with `max_bytes`. */
struct idxi_layout idxi_layout_choose(uint64_t count, unsigned bits, unsigned distance, uint64_t max_bytes);

/* Returns about how many seconds unpacking `count` fingerprints takes on one core. */
double idxi_layout_estimate_seconds(const struct idxi_layout *layout, uint64_t count);

/* Sets radii[i] to the radius with which part i is probed for `distance`, or to -1 if it need not be probed. `distance`
 * is at most the one that the layout was chosen for, and `count` the number of fingerprints. Returns about how many
 * nanoseconds a query with this distance takes. */
double idxi_layout_choose_radii(const struct idxi_layout *layout, uint64_t count, unsigned distance,
                                int radii[IDXI_MAX_PARTS]);

#endif
