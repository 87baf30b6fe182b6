/* header.h: headers of binary files (SPEC.md, chapter 1): eight bytes that identify the file, the format version,
 * fields of that kind of file, and at the end a checksum of the bytes before it. Bytes that are no field are 0. */
#ifndef IDX_FORMAT_HEADER_H
#define IDX_FORMAT_HEADER_H

#include <stddef.h>
#include <stdint.h>

#include "format/fault.h"

#define IDXF_MAGIC_BYTES 8

/* A field: its place in the header, its bytes, and the offset of the struct's member that has its value. */
struct idxf_field {
    uint16_t offset;
    uint16_t size; /* 4 and 8 bytes are a number, which the struct has in the processor's order */
    uint16_t member_offset;
};

/* Describes the field at byte OFFSET of the header, whose value is the member MEMBER of the struct TYPE. */
#define IDXF_FIELD(OFFSET, TYPE, MEMBER)                                                                               \
    { (OFFSET), sizeof((TYPE *)0)->MEMBER, offsetof(TYPE, MEMBER) }

/* What all headers of a kind of file have in common. */
struct idxf_header_form {
    char magic[IDXF_MAGIC_BYTES + 1]; /* the bytes that identify the file, and a NUL */
    size_t size;                      /* bytes, with the checksum */
    size_t field_count;
    const struct idxf_field *fields; /* ascending by offset */
};

/* Writes a header of form->size bytes: the bytes that identify the file, the version, the fields, whose values are
 * members of the struct `values`, and the checksum. Other bytes become 0. */
void idxf_header_write(const struct idxf_header_form *form, const void *values, uint8_t *header);

/* Reads the header at `header` into members of the struct `values`. `available` is how many bytes can be read there.
 * The caller checks the values. Returns IDXF_OK or the first fault of these, after which only some of the values may be
 * set:
 * - IDXF_FAULT_MAGIC: another kind of file, or fewer than IDXF_MAGIC_BYTES bytes.
 * - IDXF_FAULT_VERSION: a version that this code does not read; *version is set to it.
 * - IDXF_FAULT_SIZE: fewer than form->size bytes.
 * - IDXF_FAULT_CHECKSUM: the checksum differs.
 * - IDXF_FAULT_RESERVED: a byte that is no field is not 0. */
enum idxf_fault idxf_header_read(const struct idxf_header_form *form, const uint8_t *header, uint64_t available,
                                 void *values, uint32_t *version);

#endif
