/* ids.c: encodes and decodes groups of text IDs (SPEC.md, chapter 8). */
#include "format/ids.h"

#include <stdbool.h>
#include <string.h>

/* ---- Encoding ---- */

/* Seven bits a byte, the least significant first; bit 7 is set in all but the last. */
static size_t put_number(uint8_t *bytes, size_t number) {
    size_t size = 0;
    for (; number > 127; number >>= 7) bytes[size++] = (uint8_t)(number | 128);
    bytes[size++] = (uint8_t)number;
    return size;
}

void idxf_ids_put_count(uint8_t bytes[IDXF_IDS_HEADER_BYTES], size_t count) {
    bytes[0] = (uint8_t)(count & 255);
    bytes[1] = (uint8_t)(count >> 8);
}

size_t idxf_ids_shared(const uint8_t *before, size_t before_length, const uint8_t *id, size_t length) {
    size_t shared = 0, most = before_length < length ? before_length : length;
    while (shared < most && before[shared] == id[shared]) shared++;
    return shared;
}

size_t idxf_ids_put_start(uint8_t bytes[IDXF_ID_HEADER_BYTES], size_t shared, size_t rest) {
    size_t size = put_number(bytes, shared);
    return size + put_number(bytes + size, rest);
}

/* ---- Decoding ---- */

enum idxf_fault idxf_ids_open(struct idxf_ids *ids, const uint8_t *bytes, size_t size) {
    if (size < IDXF_IDS_HEADER_BYTES) return IDXF_FAULT_SIZE;
    size_t count = (size_t)bytes[0] | (size_t)bytes[1] << 8;
    *ids = (struct idxf_ids){bytes + IDXF_IDS_HEADER_BYTES, bytes + size, count, count, 0};
    return count == 0 ? IDXF_FAULT_COUNT : IDXF_OK;
}

/* False where the group ends too early, or the number is 2^32 or more. */
static bool get_number(struct idxf_ids *ids, size_t *number) {
    uint64_t got = 0;
    for (unsigned shift = 0; ids->at < ids->end && shift < 35; shift += 7) {
        uint8_t byte = *ids->at++;
        got |= (uint64_t)(byte & 127) << shift;
        *number = (size_t)got;
        if (byte < 128) return got <= UINT32_MAX;
    }
    return false;
}

enum idxf_fault idxf_ids_next(struct idxf_ids *ids, uint8_t *id) {
    size_t shared, rest;
    if (!get_number(ids, &shared) || !get_number(ids, &rest)) return IDXF_FAULT_OVERRUN;
    if (shared > ids->length || rest > (size_t)(ids->end - ids->at)) return IDXF_FAULT_OVERRUN;
    if (rest > 0) memcpy(id + shared, ids->at, rest);
    ids->at += rest;
    ids->length = shared + rest;
    ids->left--;
    return ids->left > 0 || ids->at == ids->end ? IDXF_OK : IDXF_FAULT_SIZE;
}
