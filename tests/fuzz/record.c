/* record.c: fuzzes the reader of the log's records: the first byte of an input gives the ID type and the bits, the rest
 * is a record, as it is, and with its checksum made right. What is accepted is written back byte for byte. */
#include "format/record.h"

#include "format/bytes.h"
#include "tests/fuzz/fuzz.h"

static enum idxf_fault check(const struct idxf_record_rules *rules, const uint8_t *bytes, size_t size) {
    struct idxf_record record;
    uint8_t *again = copy_exactly(bytes, size);
    enum idxf_fault fault = idxf_record_read(rules, 5, &record, bytes, size);
    if (fault == IDXF_OK) {
        CHECK(idxf_record_size(&record) == size);
        CHECK(idxf_record_check(rules, &record) == IDXF_OK);
        memset(again, 0, size);
        idxf_record_write(rules, 5, &record, again);
        CHECK(memcmp(again, bytes, size) == 0);
    }
    free(again);
    return fault;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    struct idxf_record_rules rules = {.bits = (uint8_t)(data[0] / 4 + 1),
                                      .id_type = (enum idxf_id_type)(data[0] % 4 % IDXF_ID_TYPE_COUNT)};
    uint8_t *bytes = copy_exactly(data + 1, size - 1);
    enum idxf_fault fault = check(&rules, bytes, size - 1);
    if (size - 1 >= IDXF_RECORD_HEADER_BYTES) {
        struct idxf_record record = {.operation = (enum idxf_operation)bytes[8],
                                     .fingerprint = idxf_load64(bytes + 9),
                                     .id = data + 1 + IDXF_RECORD_HEADER_BYTES,
                                     .id_size = size - 1 - IDXF_RECORD_HEADER_BYTES};
        idxf_record_write(&rules, 5, &record, bytes);
        CHECK(check(&rules, bytes, size - 1) == idxf_record_check(&rules, &record));
    } else {
        CHECK(fault == IDXF_FAULT_SIZE);
    }
    free(bytes);
    return 0;
}
