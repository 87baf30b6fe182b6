/* removed.h: a segment's file `removed`: which documents of older segments it removes (SPEC.md, chapter 11). */
#ifndef IDX_FORMAT_REMOVED_H
#define IDX_FORMAT_REMOVED_H

#include "format/record.h"

#define IDXF_REMOVED_HEADER_BYTES 64

struct idxf_removed {
    uint8_t uuid[IDXF_UUID_BYTES]; /* of the segment */
    uint64_t count;                /* of removals, at least 1 */
    uint64_t length;               /* of the removals, bytes */
    uint64_t checksum;             /* of the removals */
    uint32_t extra;                /* bytes at the end of the file that this version ignores */
};

/* Writes the header, IDXF_REMOVED_HEADER_BYTES; the removals follow it. */
void idxf_removed_header_write(const struct idxf_removed *removed, uint8_t *header);

/* Reads and checks the header of a file of `size` bytes, of which min(size, 64) are at `bytes`. Returns a fault of
 * idxf_header_read, IDXF_FAULT_COUNT if there are no removals, or IDXF_FAULT_SIZE if the file does not have exactly the
 * removals and the extra bytes that the header states. On IDXF_FAULT_VERSION, *version is set to the version found. The
 * caller compares the checksum of the removals. */
enum idxf_fault idxf_removed_header_read(struct idxf_removed *removed, const uint8_t *bytes, uint64_t size,
                                         uint32_t *version);

/* ---- Removals: records of IDXF_REMOVE_DOCUMENT or IDXF_REMOVE_FINGERPRINT, in ascending order ---- */

/* Compares two removals in the order of a file. Returns a number below 0, 0, or above 0. The removal of a whole
 * fingerprint comes before those of its documents, which would have no effect, so a file may not have both. */
int idxf_compare_removals(enum idxf_id_type id_type, const struct idxf_record *a, const struct idxf_record *b);

struct idxf_removals {
    const struct idxf_record_rules *rules;
    const uint8_t *at, *end;
    uint64_t left;           /* removals that are still to come */
    struct idxf_record last; /* the one that was read last, if `has_last` */
    bool has_last;
};

/* Begins to read the removals of a file: `bytes` are those behind its header, removed->length of them. They and *rules
 * must outlive *removals. */
void idxf_removals_open(struct idxf_removals *removals, const struct idxf_record_rules *rules,
                        const struct idxf_removed *removed, const uint8_t *bytes);

/* Reads and checks the next removal, whose ID points into the bytes. removals->left must not be 0. Returns IDXF_OK, or
 * one of these faults, after which nothing more can be read:
 * - a fault of idxf_record_read.
 * - IDXF_FAULT_OPERATION: the record is no removal.
 * - IDXF_FAULT_ORDER: it is not above the last one, or removes a document of a fingerprint that the last one removed.
 * - IDXF_FAULT_SIZE: bytes are left behind the last removal. */
enum idxf_fault idxf_removals_next(struct idxf_removals *removals, struct idxf_record *removal);

#endif
