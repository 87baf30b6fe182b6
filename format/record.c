/* record.c: writes and reads records. */
#include "format/record.h"

#include <string.h>

#include "format/bytes.h"

/* A record has its fingerprint, its operation, the length of a text ID, and the ID. */
enum { AT_OPERATION = 8, AT_ID = 9, LENGTH_BYTES = 4 };

static bool has_id(const struct idxf_record_rules *rules, enum idxf_operation operation) {
    return rules->id_type != IDXF_ID_NONE && operation <= IDXF_REMOVE_DOCUMENT;
}

/* Returns how many bytes are before the ID. */
static size_t get_header_size(const struct idxf_record_rules *rules, enum idxf_operation operation) {
    return has_id(rules, operation) && rules->id_type == IDXF_ID_TEXT ? AT_ID + LENGTH_BYTES : AT_ID;
}

size_t idxf_record_size(const struct idxf_record_rules *rules, const struct idxf_record *record) {
    return get_header_size(rules, record->operation) + record->id_size;
}

enum idxf_fault idxf_record_check(const struct idxf_record_rules *rules, const struct idxf_record *record) {
    if ((unsigned)record->operation >= IDXF_OPERATION_COUNT) return IDXF_FAULT_OPERATION;
    if (record->operation == IDXF_REMOVE_DOCUMENT && rules->id_type == IDXF_ID_NONE) return IDXF_FAULT_OPERATION;
    if ((record->fingerprint & ~idxf_low_bits(rules->bits)) != 0) return IDXF_FAULT_BITS;
    if (!has_id(rules, record->operation)) return record->id_size == 0 ? IDXF_OK : IDXF_FAULT_SIZE;
    if (rules->id_type == IDXF_ID_U64) return record->id_size == 8 ? IDXF_OK : IDXF_FAULT_SIZE;
    return record->id_size <= IDXF_MAX_RECORD_ID_BYTES ? IDXF_OK : IDXF_FAULT_SIZE;
}

uint8_t *idxf_record_write(const struct idxf_record_rules *rules, const struct idxf_record *record, uint8_t *bytes) {
    size_t header = get_header_size(rules, record->operation);
    idxf_store64(bytes, record->fingerprint);
    bytes[AT_OPERATION] = (uint8_t)record->operation;
    if (header > AT_ID) idxf_store32(bytes + AT_ID, (uint32_t)record->id_size);
    if (record->id_size > 0) memcpy(bytes + header, record->id, record->id_size);
    return bytes + header + record->id_size;
}

enum idxf_fault idxf_record_read(const struct idxf_record_rules *rules, const uint8_t **at, const uint8_t *end,
                                 struct idxf_record *record) {
    const uint8_t *bytes = *at;
    size_t size = (size_t)(end - bytes);
    if (size < AT_ID) return IDXF_FAULT_OVERRUN;
    *record =
        (struct idxf_record){.fingerprint = idxf_load64(bytes), .operation = (enum idxf_operation)bytes[AT_OPERATION]};
    size_t header = get_header_size(rules, record->operation);
    if (size < header) return IDXF_FAULT_OVERRUN;
    if (has_id(rules, record->operation))
        record->id_size = rules->id_type == IDXF_ID_U64 ? sizeof(uint64_t) : idxf_load32(bytes + AT_ID);
    if (record->id_size > size - header) return IDXF_FAULT_OVERRUN;
    record->id = bytes + header;
    *at = record->id + record->id_size;
    return idxf_record_check(rules, record);
}
