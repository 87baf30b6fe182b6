/* header.c: writes and reads headers field by field. */
#include "format/header.h"

#include <stdbool.h>
#include <string.h>

#include "format/bytes.h"
#include "format/checksum.h"
#include "format/limits.h"

enum { AT_VERSION = IDXF_MAGIC_BYTES, AT_FIELDS = 12, CHECKSUM_BYTES = 8 };

/* Copies a field of `size` bytes from a struct to a header, or back. On a big-endian processor the bytes of a number
 * are swapped, which is its own reverse. */
static void copy_field(void *to, const void *from, size_t size) {
    if (size == sizeof(uint64_t)) {
        uint64_t number = idxf_load64(from);
        memcpy(to, &number, sizeof number);
    } else if (size == sizeof(uint32_t)) {
        uint32_t number = idxf_load32(from);
        memcpy(to, &number, sizeof number);
    } else {
        memcpy(to, from, size);
    }
}

void idxf_header_write(const struct idxf_header_form *form, const void *values, uint8_t *header) {
    size_t checksum_offset = form->size - CHECKSUM_BYTES;
    memset(header, 0, form->size);
    memcpy(header, form->magic, IDXF_MAGIC_BYTES);
    idxf_store32(header + AT_VERSION, IDXF_VERSION);
    for (size_t i = 0; i < form->field_count; i++) {
        const struct idxf_field *field = &form->fields[i];
        copy_field(header + field->offset, (const uint8_t *)values + field->member_offset, field->size);
    }
    idxf_store64(header + checksum_offset, idxf_checksum(header, checksum_offset));
}

/* Whether the bytes from `begin` to before `end` are all 0, as those between fields must be. */
static bool are_bytes_zero(const uint8_t *bytes, size_t begin, size_t end) {
    while (begin < end && bytes[begin] == 0) begin++;
    return begin >= end;
}

enum idxf_fault idxf_header_read(const struct idxf_header_form *form, const uint8_t *header, uint64_t available,
                                 void *values, uint32_t *version) {
    size_t checksum_offset = form->size - CHECKSUM_BYTES, previous_end = AT_FIELDS;
    if (available < IDXF_MAGIC_BYTES || memcmp(header, form->magic, IDXF_MAGIC_BYTES) != 0) return IDXF_FAULT_MAGIC;
    if (available < AT_FIELDS) return IDXF_FAULT_SIZE;
    *version = idxf_load32(header + AT_VERSION);
    if (*version != IDXF_VERSION) return IDXF_FAULT_VERSION;
    if (available < form->size) return IDXF_FAULT_SIZE;
    if (idxf_load64(header + checksum_offset) != idxf_checksum(header, checksum_offset)) return IDXF_FAULT_CHECKSUM;
    for (size_t i = 0; i < form->field_count; i++) {
        const struct idxf_field *field = &form->fields[i];
        if (!are_bytes_zero(header, previous_end, field->offset)) return IDXF_FAULT_RESERVED;
        copy_field((uint8_t *)values + field->member_offset, header + field->offset, field->size);
        previous_end = field->offset + (size_t)field->size;
    }
    return are_bytes_zero(header, previous_end, checksum_offset) ? IDXF_OK : IDXF_FAULT_RESERVED;
}
