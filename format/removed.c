/* removed.c: writes and reads a segment's file `removed`. */
#include "format/removed.h"

#include <string.h>

#include "format/bytes.h"
#include "format/checksum.h"

static const char magic[8] = "idxremov";

enum {
    AT_VERSION = 8,
    AT_RESERVED = 12,
    AT_UUID = 16,
    AT_COUNT = 32,
    AT_LENGTH = 40,
    AT_REMOVALS_CHECKSUM = 48,
    AT_CHECKSUM = 56
};

/* Of a removal: its fingerprint, its operation, the length of a text ID; the ID follows. */
enum { AT_OPERATION = 8, AT_ID = 9, LENGTH_BYTES = 4 };

void idxf_removed_write(const struct idxf_removed *removed, uint8_t *header) {
    memset(header, 0, IDXF_REMOVED_HEADER_BYTES);
    memcpy(header, magic, sizeof magic);
    idxf_store32(header + AT_VERSION, IDXF_VERSION);
    memcpy(header + AT_UUID, removed->uuid, IDXF_UUID_BYTES);
    idxf_store64(header + AT_COUNT, removed->count);
    idxf_store64(header + AT_LENGTH, removed->length);
    idxf_store64(header + AT_REMOVALS_CHECKSUM, removed->checksum);
    idxf_store64(header + AT_CHECKSUM, idxf_checksum(header, AT_CHECKSUM));
}

enum idxf_fault idxf_removed_read(struct idxf_removed *removed, const uint8_t *bytes, uint64_t size,
                                  uint32_t *version) {
    if (size < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0) return IDXF_FAULT_MAGIC;
    if (size < AT_RESERVED) return IDXF_FAULT_SIZE;
    *version = idxf_load32(bytes + AT_VERSION);
    if (*version != IDXF_VERSION) return IDXF_FAULT_VERSION;
    if (size < IDXF_REMOVED_HEADER_BYTES) return IDXF_FAULT_SIZE;
    if (idxf_load64(bytes + AT_CHECKSUM) != idxf_checksum(bytes, AT_CHECKSUM)) return IDXF_FAULT_CHECKSUM;
    if (idxf_load32(bytes + AT_RESERVED) != 0) return IDXF_FAULT_RESERVED;
    memcpy(removed->uuid, bytes + AT_UUID, IDXF_UUID_BYTES);
    removed->count = idxf_load64(bytes + AT_COUNT);
    removed->length = idxf_load64(bytes + AT_LENGTH);
    removed->checksum = idxf_load64(bytes + AT_REMOVALS_CHECKSUM);
    if (removed->count == 0) return IDXF_FAULT_COUNT;
    return size - IDXF_REMOVED_HEADER_BYTES == removed->length ? IDXF_OK : IDXF_FAULT_SIZE;
}

/* ---- Removals ---- */

/* The bytes before the ID. */
static size_t removal_header(enum idxf_id_type id_type, enum idxf_operation operation) {
    return id_type == IDXF_ID_TEXT && operation == IDXF_REMOVE_DOCUMENT ? AT_ID + LENGTH_BYTES : AT_ID;
}

size_t idxf_removal_size(enum idxf_id_type id_type, const struct idxf_record *removal) {
    return removal_header(id_type, removal->operation) + removal->id_size;
}

void idxf_removal_write(enum idxf_id_type id_type, const struct idxf_record *removal, uint8_t *bytes) {
    size_t header = removal_header(id_type, removal->operation);
    idxf_store64(bytes, removal->fingerprint);
    bytes[AT_OPERATION] = (uint8_t)removal->operation;
    if (header > AT_ID) idxf_store32(bytes + AT_ID, (uint32_t)removal->id_size);
    if (removal->id_size > 0) memcpy(bytes + header, removal->id, removal->id_size);
}

static int compare_numbers(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

static int compare_ids(enum idxf_id_type id_type, const struct idxf_record *a, const struct idxf_record *b) {
    if (id_type == IDXF_ID_U64) return compare_numbers(idxf_load64(a->id), idxf_load64(b->id));
    size_t shared = a->id_size < b->id_size ? a->id_size : b->id_size;
    int order = shared == 0 ? 0 : memcmp(a->id, b->id, shared);
    return order != 0 ? order : compare_numbers(a->id_size, b->id_size);
}

int idxf_removal_compare(enum idxf_id_type id_type, const struct idxf_record *a, const struct idxf_record *b) {
    int order = compare_numbers(a->fingerprint, b->fingerprint);
    if (order == 0) order = compare_numbers(b->operation, a->operation);
    return order != 0 || a->operation == IDXF_REMOVE_FINGERPRINT ? order : compare_ids(id_type, a, b);
}

void idxf_removals_open(struct idxf_removals *removals, const struct idxf_record_rules *rules,
                        const struct idxf_removed *removed, const uint8_t *bytes) {
    *removals =
        (struct idxf_removals){.rules = rules, .at = bytes, .end = bytes + removed->length, .left = removed->count};
}

/* Reads the next removal's bytes; whether what they say is allowed is looked at later. */
static enum idxf_fault read_removal(struct idxf_removals *removals, struct idxf_record *removal) {
    enum idxf_id_type id_type = removals->rules->id_type;
    const uint8_t *bytes = removals->at;
    size_t size = (size_t)(removals->end - bytes);
    if (size < AT_ID) return IDXF_FAULT_OVERRUN;
    *removal = (struct idxf_record){.fingerprint = idxf_load64(bytes), .operation = (enum idxf_operation)bytes[8]};
    if (removal->operation == IDXF_ADD) return IDXF_FAULT_OPERATION;
    size_t header = removal_header(id_type, removal->operation);
    if (size < header) return IDXF_FAULT_OVERRUN;
    if (removal->operation == IDXF_REMOVE_DOCUMENT && id_type != IDXF_ID_NONE)
        removal->id_size = id_type == IDXF_ID_U64 ? 8 : idxf_load32(bytes + AT_ID);
    if (removal->id_size > size - header) return IDXF_FAULT_OVERRUN;
    removal->id = bytes + header;
    removals->at += header + removal->id_size;
    return IDXF_OK;
}

/* Whether a removal may stand behind the one before it. */
static bool follows(const struct idxf_removals *removals, const struct idxf_record *removal) {
    const struct idxf_record *last = &removals->last;
    if (!removals->any) return true;
    if (last->fingerprint == removal->fingerprint && last->operation == IDXF_REMOVE_FINGERPRINT) return false;
    return idxf_removal_compare(removals->rules->id_type, last, removal) < 0;
}

enum idxf_fault idxf_removals_next(struct idxf_removals *removals, struct idxf_record *removal) {
    enum idxf_fault fault = read_removal(removals, removal);
    if (fault == IDXF_OK) fault = idxf_record_check(removals->rules, removal);
    if (fault != IDXF_OK) return fault;
    if (!follows(removals, removal)) return IDXF_FAULT_ORDER;
    removals->last = *removal;
    removals->any = true;
    removals->left--;
    return removals->left == 0 && removals->at != removals->end ? IDXF_FAULT_SIZE : IDXF_OK;
}
