/* set_file.c: fuzzes the records and the directory of a file of sets, behind a header that is made right: the first
 * byte of an input gives the number of entries, which come last; the others are records. What is accepted ascends. */
#include "format/sets.h"
#include "tests/fuzz/fuzz.h"

static void walk_along(const uint8_t *records, size_t record_bytes, const uint8_t *directory, uint64_t entries) {
    struct idxf_sets_walk walk = {
        .records = records, .directory = directory, .record_bytes = record_bytes, .entries = entries};
    struct idxf_set set;
    uint64_t key = 0;
    while (walk.at < walk.record_bytes) {
        uint64_t before = walk.at;
        if (idxf_sets_walk_next(&walk, &set) != IDXF_OK) return;
        CHECK(set.key >= key && set.count > 0 && walk.at > before && walk.at <= record_bytes);
        CHECK(set.members >= records + before && set.members + set.count * 8 == records + walk.at);
        key = set.key;
        idxf_members_ascend(set.members, (size_t)set.count);
    }
    CHECK(walk.at == record_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint32_t version;
    struct idxf_sets_header header;
    uint8_t *page = copy_exactly(data, size);
    if (idxf_sets_header_read(&header, page, size, &version) == IDXF_OK)
        CHECK(idxf_sets_lay_out(&header).file_size >= header.record_bytes + header.entries);
    free(page);
    if (size < 1 || (size - 1) / IDXF_SETS_ENTRY_BYTES < data[0]) return 0;
    size_t directory_bytes = data[0] * (size_t)IDXF_SETS_ENTRY_BYTES, record_bytes = size - 1 - directory_bytes;
    uint8_t *records = copy_exactly(data + 1, record_bytes);
    uint8_t *directory = copy_exactly(data + 1 + record_bytes, directory_bytes);
    walk_along(records, record_bytes, directory, data[0]);
    free(records);
    free(directory);
    return 0;
}
