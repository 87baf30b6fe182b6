/* record.c: writes and reads records. */
#include "format/record.h"

#include <string.h>

#include "format/bytes.h"
#include "format/sets.h"

/* A record has its fingerprint, its operation, the length of a text ID, the ID, and members. */
enum { AT_OPERATION = 8, AT_ID = 9, LENGTH_BYTES = 4 };

/* Whether a record of this operation has an ID: each addition and each removal of a document, unless documents have
 * none. IDXF_ADD and IDXF_REMOVE_DOCUMENT are the least operations. */
static bool has_id(const struct idxf_record_rules *rules, enum idxf_operation operation) {
    return rules->id_type != IDXF_ID_NONE &&
           (operation <= IDXF_REMOVE_DOCUMENT || (operation == IDXF_ADD_TEXT && rules->sketch > 0));
}

/* Returns how many members a record says that it has, unchecked: 0 unless it adds a text to an index with sets. */
static uint64_t count_members(const struct idxf_record_rules *rules, const struct idxf_record *record) {
    return record->operation == IDXF_ADD_TEXT && rules->sketch > 0 ? record->fingerprint : 0;
}

/* Returns how many bytes of a record are before its ID. */
static size_t get_header_size(const struct idxf_record_rules *rules, enum idxf_operation operation) {
    return has_id(rules, operation) && rules->id_type == IDXF_ID_TEXT ? AT_ID + LENGTH_BYTES : AT_ID;
}

size_t idxf_get_record_size(const struct idxf_record_rules *rules, const struct idxf_record *record) {
    return get_header_size(rules, record->operation) + record->id_size +
           (size_t)count_members(rules, record) * sizeof(uint64_t);
}

uint64_t idxf_count_sequence_numbers(const struct idxf_record_rules *rules, const struct idxf_record *record) {
    if (record->operation != IDXF_ADD_TEXT) return 1;
    return record->fingerprint < rules->sketch ? record->fingerprint : rules->sketch;
}

const uint8_t *idxf_get_text_members(const struct idxf_record_rules *rules, const uint8_t *id, size_t id_size,
                                     size_t *count) {
    *count = (size_t)idxf_load64(id - get_header_size(rules, IDXF_ADD_TEXT)) & IDXF_MAX_MEMBERS;
    return id + id_size;
}

/* Checks the number of a text's members, which record->fingerprint has, and their order. */
static enum idxf_fault check_members(const struct idxf_record *record) {
    if (record->fingerprint == 0 || record->fingerprint > IDXF_MAX_MEMBERS) return IDXF_FAULT_COUNT;
    return idxf_members_ascend(record->members, (size_t)record->fingerprint) ? IDXF_OK : IDXF_FAULT_ORDER;
}

/* Returns whether records of an index may have an operation. Indexes with sets add texts, the others documents. */
static bool is_allowed_operation(const struct idxf_record_rules *rules, enum idxf_operation operation) {
    if ((unsigned)operation >= IDXF_OPERATION_COUNT) return false;
    if (operation == IDXF_REMOVE_DOCUMENT) return rules->id_type != IDXF_ID_NONE;
    return operation == IDXF_REMOVE_FINGERPRINT || (operation == IDXF_ADD_TEXT) == (rules->sketch > 0);
}

enum idxf_fault idxf_record_check(const struct idxf_record_rules *rules, const struct idxf_record *record) {
    if (!is_allowed_operation(rules, record->operation)) return IDXF_FAULT_OPERATION;
    if ((record->fingerprint & ~idxf_low_bits(rules->bits)) != 0) return IDXF_FAULT_BITS;
    if (!has_id(rules, record->operation)) return record->id_size == 0 ? IDXF_OK : IDXF_FAULT_SIZE;
    bool fits = rules->id_type == IDXF_ID_U64 ? record->id_size == 8 : record->id_size <= IDXF_MAX_RECORD_ID_BYTES;
    if (!fits) return IDXF_FAULT_SIZE;
    return record->operation == IDXF_ADD_TEXT ? check_members(record) : IDXF_OK;
}

uint8_t *idxf_record_write(const struct idxf_record_rules *rules, const struct idxf_record *record, uint8_t *bytes) {
    size_t header_size = get_header_size(rules, record->operation);
    idxf_store64(bytes, record->fingerprint);
    bytes[AT_OPERATION] = (uint8_t)record->operation;
    if (header_size > AT_ID) idxf_store32(bytes + AT_ID, (uint32_t)record->id_size);
    if (record->id_size > 0) memcpy(bytes + header_size, record->id, record->id_size);
    bytes += header_size + record->id_size;
    size_t member_bytes = (size_t)count_members(rules, record) * sizeof(uint64_t);
    if (member_bytes > 0) memcpy(bytes, record->members, member_bytes);
    return bytes + member_bytes;
}

enum idxf_fault idxf_record_read(const struct idxf_record_rules *rules, const uint8_t **at, const uint8_t *end,
                                 struct idxf_record *record) {
    const uint8_t *bytes = *at;
    size_t bytes_left = (size_t)(end - bytes);
    if (bytes_left < AT_ID) return IDXF_FAULT_OVERRUN;
    *record =
        (struct idxf_record){.fingerprint = idxf_load64(bytes), .operation = (enum idxf_operation)bytes[AT_OPERATION]};
    size_t header_size = get_header_size(rules, record->operation);
    if (bytes_left < header_size) return IDXF_FAULT_OVERRUN;
    if (has_id(rules, record->operation))
        record->id_size = rules->id_type == IDXF_ID_U64 ? sizeof(uint64_t) : idxf_load32(bytes + AT_ID);
    if (record->id_size > bytes_left - header_size) return IDXF_FAULT_OVERRUN;
    record->id = bytes + header_size;
    record->members = record->id + record->id_size;
    uint64_t member_count = count_members(rules, record);
    if (member_count > (size_t)(end - record->members) / sizeof(uint64_t)) return IDXF_FAULT_OVERRUN;
    *at = record->members + member_count * sizeof(uint64_t);
    return idxf_record_check(rules, record);
}
