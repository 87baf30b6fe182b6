/* fault.c: the names of faults, and the predicates that say what is wrong (SPEC.md, chapter 13). */
#include "format/fault.h"

static const struct {
    const char *name;
    const char *predicate;
} faults[IDXF_FAULT_COUNT_OF_FAULTS] = {
    [IDXF_OK] = {"ok", "nothing is wrong"},
    [IDXF_FAULT_MAGIC] = {"magic", "does not begin with the signature of such a file"},
    [IDXF_FAULT_VERSION] = {"version", "has a format version that this library does not read"},
    [IDXF_FAULT_SIZE] = {"size", "is shorter or longer than it should be"},
    [IDXF_FAULT_CHECKSUM] = {"checksum", "does not match its checksum"},
    [IDXF_FAULT_RESERVED] = {"reserved", "has bytes set that are reserved"},
    [IDXF_FAULT_NEEDS] = {"needs", "needs something that this library does not have"},
    [IDXF_FAULT_SYNTAX] = {"syntax", "has a line that does not follow the format"},
    [IDXF_FAULT_UUID] = {"uuid", "has a malformed or foreign uuid"},
    [IDXF_FAULT_BITS] = {"bits", "has a number of bits per fingerprint outside 1 to 64, or another than its index"},
    [IDXF_FAULT_K] = {"k", "has a largest distance k that is out of range"},
    [IDXF_FAULT_ID_TYPE] = {"id-type", "has an unknown ID type"},
    [IDXF_FAULT_BY_ID] = {"by-id", "does not say yes or no about a map from IDs, or says yes without IDs"},
    [IDXF_FAULT_RECIPE] = {"recipe", "has a recipe that is too long or contains control characters"},
    [IDXF_FAULT_MASK] = {"mask", "has a mask that is empty, too wide, or not that of its index"},
    [IDXF_FAULT_RADIUS] = {"radius", "has a radius that is out of range, or not that of its index"},
    [IDXF_FAULT_COVER] = {"cover", "has tables that don't cover its k"},
    [IDXF_FAULT_SEGMENT] = {"segment", "names a segment twice, or no segment, or too many"},
    [IDXF_FAULT_ANCHOR] = {"anchor", "has anchors of no bits, or of more than a fingerprint has"},
    [IDXF_FAULT_BLOCK_SIZE] =
        {"block-size",
         "has a block size that is not a power of two from 64 to 4096, or not that of the other tables of its segment"},
    [IDXF_FAULT_COUNT] = {"count", "has counts that don't agree"},
    [IDXF_FAULT_DIRECTORY] = {"directory", "has a directory that does not agree with its blocks"},
    [IDXF_FAULT_CODE] = {"code", "has code lengths that do not make a complete code"},
    [IDXF_FAULT_OVERRUN] = {"overrun", "has content that doesn't fit into its block, group, frame or file"},
    [IDXF_FAULT_ORDER] = {"order", "has fingerprints that don't ascend"},
    [IDXF_FAULT_OPERATION] = {"operation", "has an unknown operation, or one that its ID type does not have"},
    [IDXF_FAULT_STATISTICS] = {"statistics", "has wrong statistics of its fingerprints"},
    [IDXF_FAULT_PADDING] = {"padding", "has unused bits or bytes that are not 0"},
};

const char *idxf_get_fault_name(enum idxf_fault fault) {
    return (unsigned)fault < IDXF_FAULT_COUNT_OF_FAULTS ? faults[fault].name : "unknown";
}

const char *idxf_get_fault_predicate(enum idxf_fault fault) {
    return (unsigned)fault < IDXF_FAULT_COUNT_OF_FAULTS ? faults[fault].predicate : "has an unknown fault";
}
