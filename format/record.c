/* record.c: writes and reads records. */
#include "format/record.h"

#include <string.h>

#include "format/bytes.h"
#include "format/checksum.h"

enum { AT_OPERATION = 8, AT_FINGERPRINT = 9 };

/* The checksum covers where a record belongs, too: its index and its number. */
static uint64_t sum_of(const struct idxf_record_rules *rules, uint64_t sequence, const uint8_t *bytes, size_t size) {
    uint8_t place[IDXF_UUID_BYTES + 8];
    memcpy(place, rules->uuid, IDXF_UUID_BYTES);
    idxf_store64(place + IDXF_UUID_BYTES, sequence);
    uint64_t seed = idxf_checksum(place, sizeof place);
    return XXH3_64bits_withSeed(bytes + AT_OPERATION, size - AT_OPERATION, seed);
}

/* Whether this operation names a document, by an ID. */
static bool has_id(const struct idxf_record_rules *rules, enum idxf_operation operation) {
    return rules->id_type != IDXF_ID_NONE && operation != IDXF_REMOVE_FINGERPRINT;
}

enum idxf_fault idxf_record_check(const struct idxf_record_rules *rules, const struct idxf_record *record) {
    if ((unsigned)record->operation >= IDXF_OPERATION_COUNT) return IDXF_FAULT_OPERATION;
    if (record->operation == IDXF_REMOVE_DOCUMENT && rules->id_type == IDXF_ID_NONE) return IDXF_FAULT_OPERATION;
    if ((record->fingerprint & ~idxf_low_bits(rules->bits)) != 0) return IDXF_FAULT_BITS;
    if (!has_id(rules, record->operation)) return record->id_size == 0 ? IDXF_OK : IDXF_FAULT_SIZE;
    if (rules->id_type == IDXF_ID_U64) return record->id_size == 8 ? IDXF_OK : IDXF_FAULT_SIZE;
    return record->id_size <= IDXF_MAX_RECORD_ID_BYTES ? IDXF_OK : IDXF_FAULT_SIZE;
}

void idxf_record_write(const struct idxf_record_rules *rules, uint64_t sequence, const struct idxf_record *record,
                       uint8_t *bytes) {
    bytes[AT_OPERATION] = (uint8_t)record->operation;
    idxf_store64(bytes + AT_FINGERPRINT, record->fingerprint);
    if (record->id_size > 0) memcpy(bytes + IDXF_RECORD_HEADER_BYTES, record->id, record->id_size);
    idxf_store64(bytes, sum_of(rules, sequence, bytes, idxf_record_size(record)));
}

enum idxf_fault idxf_record_read(const struct idxf_record_rules *rules, uint64_t sequence, struct idxf_record *record,
                                 const uint8_t *bytes, size_t size) {
    if (size < IDXF_RECORD_HEADER_BYTES) return IDXF_FAULT_SIZE;
    if (idxf_load64(bytes) != sum_of(rules, sequence, bytes, size)) return IDXF_FAULT_CHECKSUM;
    record->operation = (enum idxf_operation)bytes[AT_OPERATION];
    record->fingerprint = idxf_load64(bytes + AT_FINGERPRINT);
    record->id = bytes + IDXF_RECORD_HEADER_BYTES;
    record->id_size = size - IDXF_RECORD_HEADER_BYTES;
    return idxf_record_check(rules, record);
}

void idxf_record_key(uint8_t key[IDXF_RECORD_KEY_BYTES], uint64_t sequence) {
    for (int i = IDXF_RECORD_KEY_BYTES - 1; i >= 0; i--, sequence >>= 8) key[i] = (uint8_t)sequence;
}

uint64_t idxf_record_sequence(const uint8_t key[IDXF_RECORD_KEY_BYTES]) {
    uint64_t sequence = 0;
    for (int i = 0; i < IDXF_RECORD_KEY_BYTES; i++) sequence = sequence << 8 | key[i];
    return sequence;
}
