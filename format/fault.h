/* fault.h: faults, the ways in which bytes can break a rule of SPEC.md. Each fault has a name, which SPEC.md and the
 * conformance vectors use, and the predicate of a sentence. */
#ifndef IDX_FORMAT_FAULT_H
#define IDX_FORMAT_FAULT_H

enum idxf_fault {
    IDXF_OK = 0,
    IDXF_FAULT_MAGIC,
    IDXF_FAULT_VERSION,
    IDXF_FAULT_SIZE,
    IDXF_FAULT_CHECKSUM,
    IDXF_FAULT_RESERVED,
    IDXF_FAULT_NEEDS,
    IDXF_FAULT_SYNTAX,
    IDXF_FAULT_UUID,
    IDXF_FAULT_BITS,
    IDXF_FAULT_K,
    IDXF_FAULT_ID_TYPE,
    IDXF_FAULT_BY_ID,
    IDXF_FAULT_RECIPE,
    IDXF_FAULT_MASK,
    IDXF_FAULT_RADIUS,
    IDXF_FAULT_COVER,
    IDXF_FAULT_SEGMENT,
    IDXF_FAULT_ANCHOR,
    IDXF_FAULT_BLOCK_SIZE,
    IDXF_FAULT_COUNT,
    IDXF_FAULT_DIRECTORY,
    IDXF_FAULT_CODE,
    IDXF_FAULT_OVERRUN,
    IDXF_FAULT_ORDER,
    IDXF_FAULT_OPERATION,
    IDXF_FAULT_STATISTICS,
    IDXF_FAULT_PADDING,
    IDXF_FAULT_COUNT_OF_FAULTS
};

/* Returns the fault's name in SPEC.md, such as "checksum", in static storage. */
const char *idxf_get_fault_name(enum idxf_fault fault);

/* Returns what is wrong, in static storage, as a predicate for the sentence whose subject is the file, such as "does
 * not match its checksum". */
const char *idxf_get_fault_predicate(enum idxf_fault fault);

#endif
