/* removed.c: writes and reads a segment's file `removed`. */
#include "format/removed.h"

#include <string.h>

#include "format/bytes.h"
#include "format/header.h"

static const struct idxf_field fields[] = {
    IDXF_FIELD(12, struct idxf_removed, extra),    IDXF_FIELD(16, struct idxf_removed, uuid),
    IDXF_FIELD(32, struct idxf_removed, count),    IDXF_FIELD(40, struct idxf_removed, length),
    IDXF_FIELD(48, struct idxf_removed, checksum),
};

static const struct idxf_header_form form = {"idxremov", IDXF_REMOVED_HEADER_BYTES, sizeof fields / sizeof *fields,
                                             fields};

void idxf_removed_header_write(const struct idxf_removed *removed, uint8_t *header) {
    idxf_header_write(&form, removed, header);
}

enum idxf_fault idxf_removed_header_read(struct idxf_removed *removed, const uint8_t *bytes, uint64_t size,
                                         uint32_t *version) {
    enum idxf_fault fault = idxf_header_read(&form, bytes, size, removed, version);
    if (fault != IDXF_OK) return fault;
    if (removed->count == 0) return IDXF_FAULT_COUNT;
    uint64_t following = size - IDXF_REMOVED_HEADER_BYTES;
    return following >= removed->extra && following - removed->extra == removed->length ? IDXF_OK : IDXF_FAULT_SIZE;
}

/* ---- Removals ---- */

/* Compares two numbers: returns -1, 0, or 1. */
static int compare_numbers(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

/* Compares the IDs of two records, integers by value and texts as bytes. A text comes before those that begin with it.
 * Returns a number below 0, 0, or above 0. */
static int compare_ids(enum idxf_id_type id_type, const struct idxf_record *a, const struct idxf_record *b) {
    if (id_type == IDXF_ID_U64) return compare_numbers(idxf_load64(a->id), idxf_load64(b->id));
    size_t min_size = a->id_size < b->id_size ? a->id_size : b->id_size;
    int order = min_size == 0 ? 0 : memcmp(a->id, b->id, min_size);
    return order != 0 ? order : compare_numbers(a->id_size, b->id_size);
}

int idxf_compare_removals(enum idxf_id_type id_type, const struct idxf_record *a, const struct idxf_record *b) {
    int order = compare_numbers(a->fingerprint, b->fingerprint);
    /* Descending, since IDXF_REMOVE_FINGERPRINT comes first and is the greater number. */
    if (order == 0) order = compare_numbers(b->operation, a->operation);
    return order != 0 || a->operation == IDXF_REMOVE_FINGERPRINT ? order : compare_ids(id_type, a, b);
}

void idxf_removals_open(struct idxf_removals *removals, const struct idxf_record_rules *rules,
                        const struct idxf_removed *removed, const uint8_t *bytes) {
    *removals =
        (struct idxf_removals){.rules = rules, .at = bytes, .end = bytes + removed->length, .left = removed->count};
}

/* Whether a removal may come next: it is above the last one, and not of a fingerprint that the last one removed. */
static bool may_follow_last(const struct idxf_removals *removals, const struct idxf_record *removal) {
    const struct idxf_record *last = &removals->last;
    if (!removals->has_last) return true;
    if (last->fingerprint == removal->fingerprint && last->operation == IDXF_REMOVE_FINGERPRINT) return false;
    return idxf_compare_removals(removals->rules->id_type, last, removal) < 0;
}

enum idxf_fault idxf_removals_next(struct idxf_removals *removals, struct idxf_record *removal) {
    enum idxf_fault fault = idxf_record_read(removals->rules, &removals->at, removals->end, removal);
    if (fault != IDXF_OK) return fault;
    bool is_removal = removal->operation == IDXF_REMOVE_DOCUMENT || removal->operation == IDXF_REMOVE_FINGERPRINT;
    if (!is_removal) return IDXF_FAULT_OPERATION;
    if (!may_follow_last(removals, removal)) return IDXF_FAULT_ORDER;
    removals->last = *removal;
    removals->has_last = true;
    removals->left--;
    return removals->left == 0 && removals->at != removals->end ? IDXF_FAULT_SIZE : IDXF_OK;
}
