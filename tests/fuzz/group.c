/* group.c: fuzzes groups of documents. An input is a group: what decodes must encode to a group that decodes to the
 * same, no longer, and is the same where it was the writer's. */
#include "format/group.h"

#include <stdbool.h>

#include "tests/fuzz/fuzz.h"

struct decoded {
    struct idxf_group group;
    uint64_t fingerprints[IDXF_MAX_GROUP_ENTRIES], values[IDXF_MAX_GROUP_ENTRIES];
    enum idxf_fault fault, check;
};

static void decode(const uint8_t *bytes, size_t size, struct decoded *decoded) {
    decoded->fault = idxf_group_open(&decoded->group, bytes, size);
    if (decoded->fault != IDXF_OK) return;
    CHECK(decoded->group.count >= 1 && decoded->group.count <= IDXF_MAX_GROUP_ENTRIES);
    decoded->fault = idxf_decode_fingerprints(&decoded->group, decoded->fingerprints);
    idxf_decode_values(&decoded->group, 0, decoded->group.count, decoded->values);
    if (decoded->fault != IDXF_OK) return;
    decoded->check = idxf_group_check(&decoded->group, decoded->fingerprints, decoded->values);
    for (size_t i = 0; i < decoded->group.count; i++) {
        uint64_t value;
        idxf_decode_values(&decoded->group, i, 1, &value);
        CHECK(value == decoded->values[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct decoded decoded, again;
    uint8_t encoded[IDXF_MAX_GROUP_BYTES], *bytes = copy_exactly(data, size);
    size_t made;
    decode(bytes, size, &decoded);
    if (decoded.fault == IDXF_OK && decoded.check == IDXF_OK) {
        size_t count = decoded.group.count;
        CHECK(idxf_group_encode(decoded.fingerprints, decoded.values, count, sizeof encoded, encoded, &made) == count);
        CHECK(made <= size);
        decode(encoded, made, &again);
        CHECK(again.fault == IDXF_OK && again.check == IDXF_OK && again.group.count == count);
        CHECK(memcmp(again.fingerprints, decoded.fingerprints, count * sizeof *again.fingerprints) == 0);
        CHECK(memcmp(again.values, decoded.values, count * sizeof *again.values) == 0);
    }
    free(bytes);
    return 0;
}
