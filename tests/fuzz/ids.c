/* ids.c: fuzzes groups of text IDs. An input is the length of a dictionary in two bytes, the dictionary, and a group:
 * what decodes must encode to what decodes to the same. */
#include "format/ids.h"

#include "tests/fuzz/fuzz.h"

/* Encodes an ID behind the one before, and decodes it from there. */
static void check_id(const struct idxf_pieces *pieces, const uint8_t *before, size_t before_length, const uint8_t *id,
                     size_t length) {
    size_t most = idxf_ids_get_max_bytes(length);
    struct idxf_ids ids;
    uint8_t *bytes = malloc(IDXF_IDS_HEADER_BYTES + most),
            *got = malloc(before_length + idxf_ids_get_buffer_bytes(most));
    CHECK(bytes != NULL && got != NULL);
    idxf_ids_write_count(bytes, 1);
    size_t size = idxf_ids_encode_id(pieces, before, before_length, id, length, bytes + IDXF_IDS_HEADER_BYTES);
    CHECK(size <= most);
    CHECK(idxf_ids_open(&ids, bytes, IDXF_IDS_HEADER_BYTES + size, pieces->dictionary, pieces->size) == IDXF_OK);
    ids.length = before_length;
    if (before_length > 0) memcpy(got, before, before_length);
    CHECK(idxf_ids_next(&ids, got) == IDXF_OK);
    CHECK(ids.length == length && (length == 0 || memcmp(got, id, length) == 0));
    free(bytes);
    free(got);
}

static void check_group(const struct idxf_pieces *pieces, const uint8_t *bytes, size_t size) {
    struct idxf_ids ids;
    size_t room = idxf_ids_get_buffer_bytes(size), before_length = 0;
    uint8_t *id = malloc(room), *before = malloc(room);
    CHECK(id != NULL && before != NULL);
    enum idxf_fault fault = idxf_ids_open(&ids, bytes, size, pieces->dictionary, pieces->size);
    for (size_t i = 0; fault == IDXF_OK && ids.left > 0; i++) {
        fault = idxf_ids_next(&ids, id);
        CHECK(ids.length <= room);
        if (fault == IDXF_OK && ids.length <= IDXF_MAX_PIECED_BYTES && i < 20)
            check_id(pieces, before, before_length, id, ids.length);
        before_length = ids.length <= IDXF_MAX_PIECED_BYTES ? ids.length : 0;
        memcpy(before, id, before_length);
    }
    free(id);
    free(before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct idxf_pieces pieces;
    if (size < 2) return 0;
    size_t said = (size_t)data[0] | (size_t)data[1] << 8, words_size = said < size - 2 ? said : size - 2;
    uint8_t *words = copy_exactly(data + 2, words_size);
    uint8_t *bytes = copy_exactly(data + 2 + words_size, size - 2 - words_size);
    idxf_pieces_init(&pieces, words, words_size);
    check_group(&pieces, bytes, size - 2 - words_size);
    free(words);
    free(bytes);
    return 0;
}
