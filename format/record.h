/* record.h: records, what is added to an index and removed from it (SPEC.md, chapter 10): in the log, and in a
 * segment's file `removed`. */
#ifndef IDX_FORMAT_RECORD_H
#define IDX_FORMAT_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "format/fault.h"
#include "format/limits.h"
#include "format/manifest.h"

enum idxf_operation {
    IDXF_ADD = 0,                /* a document */
    IDXF_REMOVE_DOCUMENT = 1,    /* of a fingerprint that keeps others */
    IDXF_REMOVE_FINGERPRINT = 2, /* with all its documents */
    IDXF_ADD_TEXT = 3,           /* a document with its set: an addition of each member of its sketch */
    IDXF_OPERATION_COUNT
};

struct idxf_record {
    enum idxf_operation operation;
    uint64_t fingerprint;   /* IDXF_ADD_TEXT: the number of the set's members */
    const uint8_t *id;      /* IDXF_ID_TEXT: its bytes; IDXF_ID_U64: 8, little-endian; none where a record has no ID */
    size_t id_size;         /* 0 to IDXF_MAX_RECORD_ID_BYTES */
    const uint8_t *members; /* IDXF_ADD_TEXT: ascending, each a little-endian number of 8 bytes */
};

/* What all records of an index have in common. */
struct idxf_record_rules {
    uint8_t uuid[IDXF_UUID_BYTES]; /* of the index */
    uint8_t bits;                  /* of a fingerprint */
    enum idxf_id_type id_type;
    uint8_t sketch; /* how many members of a set are fingerprints; 0: documents have no sets */
};

/* Returns how many bytes a record that keeps the rules takes: up to IDXF_RECORD_HEADER_BYTES, and those of its ID and
 * its members. */
size_t idxf_get_record_size(const struct idxf_record_rules *rules, const struct idxf_record *record);

/* Returns how many sequence numbers a record has: one, or one for each member of a set's sketch. */
uint64_t idxf_count_sequence_numbers(const struct idxf_record_rules *rules, const struct idxf_record *record);

/* Checks a record against the rules of its index. Returns IDXF_OK, or the first fault of these:
 * - IDXF_FAULT_OPERATION: records of the index can't have this operation.
 * - IDXF_FAULT_BITS: the fingerprint has more bits than those of the index.
 * - IDXF_FAULT_SIZE: the ID is too long, does not have 8 bytes as integer IDs have, or the operation has no ID.
 * - IDXF_FAULT_COUNT: a text has no members, or more than IDXF_MAX_MEMBERS.
 * - IDXF_FAULT_ORDER: a text's members don't ascend. */
enum idxf_fault idxf_record_check(const struct idxf_record_rules *rules, const struct idxf_record *record);

/* Returns the members of a text, and sets *count to their number. `id` must point to the ID, of `id_size` bytes, within
 * the text's whole record (IDXF_ADD_TEXT). The number is masked, so that it stays below 2^24 even if the memory, which
 * is mapped, was changed since the record was checked. */
const uint8_t *idxf_get_text_members(const struct idxf_record_rules *rules, const uint8_t *id, size_t id_size,
                                     size_t *count);

/* Writes a record that keeps the rules (idxf_record_check) to `bytes`, idxf_get_record_size of them. Returns where it
 * ends. */
uint8_t *idxf_record_write(const struct idxf_record_rules *rules, const struct idxf_record *record, uint8_t *bytes);

/* Reads and checks the record at *at, before `end`, and moves *at behind it. Its ID and its members point into these
 * bytes. Returns IDXF_FAULT_OVERRUN if it does not end before `end`, or a fault of idxf_record_check. After a fault,
 * *record must not be used, and *at may have moved. */
enum idxf_fault idxf_record_read(const struct idxf_record_rules *rules, const uint8_t **at, const uint8_t *end,
                                 struct idxf_record *record);

#endif
