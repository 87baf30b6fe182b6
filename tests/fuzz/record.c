/* record.c: fuzzes the reader of records: the first byte of an input gives the ID type and the bits, the rest are
 * records, one after the other. What is accepted is written back byte for byte. */
#include "format/record.h"

#include "format/bytes.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    struct idxf_record_rules rules = {.bits = (uint8_t)(data[0] / 4 + 1),
                                      .id_type = (enum idxf_id_type)(data[0] % 4 % IDXF_ID_TYPE_COUNT)};
    uint8_t *bytes = copy_exactly(data + 1, size - 1), *again = copy_exactly(data + 1, size - 1);
    const uint8_t *at = bytes, *end = bytes + size - 1;
    while (at < end) {
        struct idxf_record record;
        const uint8_t *begin = at;
        if (idxf_record_read(&rules, &at, end, &record) != IDXF_OK) break;
        CHECK(idxf_record_check(&rules, &record) == IDXF_OK);
        CHECK(idxf_get_record_size(&rules, &record) == (size_t)(at - begin));
        CHECK(idxf_record_write(&rules, &record, again) == again + (at - begin));
        CHECK(memcmp(again, begin, (size_t)(at - begin)) == 0);
    }
    free(again);
    free(bytes);
    return 0;
}
