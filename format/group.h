/* group.h: groups of documents, packed (SPEC.md, chapter 8). A group holds consecutive entries. An entry is a document:
 * a fingerprint, as users see it, and a value, its document number or integer ID. */
#ifndef IDX_FORMAT_GROUP_H
#define IDX_FORMAT_GROUP_H

#include <stddef.h>
#include <stdint.h>

#include "format/fault.h"
#include "format/limits.h"

/* ---- Encoding ---- */

/* Encodes as many of the `count` (1 or more) entries as fit into `max_bytes` (128 to IDXF_MAX_GROUP_BYTES) of `bytes`,
 * and returns their number, 1 or more. Sets *size to the bytes that the group takes. Entries must ascend by
 * fingerprint, and those of one fingerprint by value. `values` may be NULL if all are 0. */
size_t idxf_group_encode(const uint64_t *fingerprints, const uint64_t *values, size_t count, size_t max_bytes,
                         uint8_t *bytes, size_t *size);

/* ---- Decoding ---- */

/* A group that can be decoded. Its bytes stay the caller's, and nothing beyond them is read. */
struct idxf_group {
    const uint8_t *bytes;
    size_t size;
    size_t values_at;     /* the byte at which values begin */
    size_t count;         /* of entries, 1 to IDXF_MAX_GROUP_ENTRIES */
    uint64_t base;        /* to be added to each packed value */
    unsigned value_width; /* of a packed value, bits */
    unsigned low_width;   /* of a fingerprint's low part, bits */
};

/* Reads and checks the header of a group of `size` bytes, whatever they are, for decoding. `bytes` must outlive *group.
 * Returns IDXF_FAULT_SIZE for an impossible size, IDXF_FAULT_COUNT for a group without entries, and IDXF_FAULT_OVERRUN
 * if its parts don't fit; then *group is not set. */
enum idxf_fault idxf_group_open(struct idxf_group *group, const uint8_t *bytes, size_t size);

/* Decodes all fingerprints, group->count. They ascend if the group is valid. Returns IDXF_FAULT_OVERRUN if their parts
 * don't fit; then only some of them may be set. */
enum idxf_fault idxf_decode_fingerprints(const struct idxf_group *group, uint64_t fingerprints[IDXF_MAX_GROUP_ENTRIES]);

/* Decodes `count` values, from number `from` on, which counts from 0; the group must have them. Sums of 2^64 and more
 * wrap. */
void idxf_decode_values(const struct idxf_group *group, size_t from, size_t count, uint64_t *values);

/* Checks, for verifiers, what decoding does not. `fingerprints` and `values` are the group's, all decoded. Returns
 * IDXF_FAULT_ORDER if one of them would be 2^64 or more or entries don't ascend strictly, and IDXF_FAULT_PADDING if
 * unused bits are not 0. */
enum idxf_fault idxf_group_check(const struct idxf_group *group, const uint64_t *fingerprints, const uint64_t *values);

#endif
