/* removed.c: fuzzes the reader of a segment's removals, behind a header that is made right: the first byte of an input
 * gives the ID type and the bits, the second the number of removals, the rest are their bytes. What is accepted
 * ascends, and is written back byte for byte. */
#include "format/removed.h"

#include "format/checksum.h"
#include "tests/fuzz/fuzz.h"

/* Reads removals up to a fault, and writes those that have none. */
static void check(const struct idxf_record_rules *rules, const uint8_t *bytes, size_t size, uint8_t *again,
                  uint64_t count) {
    struct idxf_removed removed = {.count = count, .length = size, .checksum = idxf_checksum(bytes, size)};
    struct idxf_removed header_again;
    struct idxf_removals removals;
    struct idxf_record removal, last = {.operation = IDXF_ADD};
    uint8_t header[IDXF_REMOVED_HEADER_BYTES];
    uint32_t version;
    size_t used = 0;
    idxf_removed_header_write(&removed, header);
    enum idxf_fault fault = idxf_removed_header_read(&header_again, header, sizeof header + size, &version);
    CHECK(fault == (count == 0 ? IDXF_FAULT_COUNT : IDXF_OK));
    idxf_removals_open(&removals, rules, &removed, bytes);
    while (removals.left > 0 && fault == IDXF_OK) {
        fault = idxf_removals_next(&removals, &removal);
        if (fault != IDXF_OK) break;
        CHECK(last.operation == IDXF_ADD || idxf_compare_removals(rules->id_type, &last, &removal) < 0);
        CHECK(used + idxf_get_record_size(rules, &removal) <= size);
        used = (size_t)(idxf_record_write(rules, &removal, again + used) - again);
        last = removal;
    }
    CHECK(memcmp(again, bytes, used) == 0);
    CHECK(fault != IDXF_OK || used == size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) return 0;
    struct idxf_record_rules rules = {.bits = (uint8_t)(data[0] / 4 + 1),
                                      .id_type = (enum idxf_id_type)(data[0] % 4 % IDXF_ID_TYPE_COUNT)};
    uint8_t *bytes = copy_exactly(data + 2, size - 2), *again = copy_exactly(data + 2, size - 2);
    check(&rules, bytes, size - 2, again, data[1]);
    free(again);
    free(bytes);
    return 0;
}
