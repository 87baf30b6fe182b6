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

struct idxf_header_form {
    char magic[IDXF_MAGIC_BYTES + 1];
    size_t size;
    size_t field_count;
    const struct idxf_field *fields; /* ascending by offset */
};

/* Writes a header of form->size bytes, with its version and its checksum. `values` is the struct whose members are the
 * fields. */
void idxf_header_write(const struct idxf_header_form *form, const void *values, uint8_t *header);

/* Reads a header, of which `available` bytes can be read, into members of the struct `values`. Checks the signature,
 * the version, the size, the checksum and the reserved bytes; the caller checks the values. On IDXF_FAULT_VERSION,
 * *version is set to the version found. After a fault, only some of the values may be set. */
enum idxf_fault idxf_header_read(const struct idxf_header_form *form, const uint8_t *header, uint64_t available,
                                 void *values, uint32_t *version);

#endif
