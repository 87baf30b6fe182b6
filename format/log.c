/* log.c: writes and reads what a log is made of. */
#include "format/log.h"

#include <string.h>
#include <xxhash.h>

#include "format/bytes.h"
#include "format/checksum.h"

static const char magic[8] = "idxpendi";

/* Of the header. */
enum {
    AT_VERSION = 8,
    AT_RESERVED = 12,
    AT_UUID = 16,
    AT_ID = 32,
    AT_BEFORE = 48,
    AT_SALT = 64,
    AT_FIRST = 72,
    AT_CHECKSUM = 80
};

/* Of a slot, and of a frame. */
enum { AT_END = 0, AT_LAST = 8, AT_CHAIN = 16, AT_SLOT_CHECKSUM = 24 };
enum { AT_SIZE = 0, AT_COUNT = 8, AT_SEQUENCE = 16 };

/* ---- The header ---- */

void idxf_log_write(struct idxf_log *log, uint8_t *bytes) {
    memset(bytes, 0, IDXF_LOG_HEADER_BYTES);
    memcpy(bytes, magic, sizeof magic);
    idxf_store32(bytes + AT_VERSION, IDXF_VERSION);
    memcpy(bytes + AT_UUID, log->uuid, IDXF_UUID_BYTES);
    memcpy(bytes + AT_ID, log->id, IDXF_UUID_BYTES);
    memcpy(bytes + AT_BEFORE, log->before, IDXF_UUID_BYTES);
    idxf_store64(bytes + AT_SALT, log->salt);
    idxf_store64(bytes + AT_FIRST, log->first);
    log->checksum = idxf_checksum(bytes, AT_CHECKSUM);
    idxf_store64(bytes + AT_CHECKSUM, log->checksum);
}

enum idxf_fault idxf_log_read(struct idxf_log *log, const uint8_t *bytes, uint64_t size, uint32_t *version) {
    if (size < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0) return IDXF_FAULT_MAGIC;
    if (size < AT_RESERVED) return IDXF_FAULT_SIZE;
    *version = idxf_load32(bytes + AT_VERSION);
    if (*version != IDXF_VERSION) return IDXF_FAULT_VERSION;
    if (size < IDXF_LOG_FRAMES) return IDXF_FAULT_SIZE;
    log->checksum = idxf_load64(bytes + AT_CHECKSUM);
    if (log->checksum != idxf_checksum(bytes, AT_CHECKSUM)) return IDXF_FAULT_CHECKSUM;
    if (idxf_load32(bytes + AT_RESERVED) != 0) return IDXF_FAULT_RESERVED;
    memcpy(log->uuid, bytes + AT_UUID, IDXF_UUID_BYTES);
    memcpy(log->id, bytes + AT_ID, IDXF_UUID_BYTES);
    memcpy(log->before, bytes + AT_BEFORE, IDXF_UUID_BYTES);
    log->salt = idxf_load64(bytes + AT_SALT);
    log->first = idxf_load64(bytes + AT_FIRST);
    return log->first <= IDXF_MAX_SEQUENCE ? IDXF_OK : IDXF_FAULT_COUNT;
}

struct idxf_log_place idxf_log_begin(const struct idxf_log *log) {
    return (struct idxf_log_place){IDXF_LOG_FRAMES, log->first, log->checksum};
}

/* ---- Slots ---- */

/* The header's checksum makes a slot that of its log. */
static uint64_t sum_of_slot(const struct idxf_log *log, const uint8_t *bytes) {
    return XXH3_64bits_withSeed(bytes, AT_SLOT_CHECKSUM, log->checksum);
}

void idxf_log_slot_write(const struct idxf_log *log, const struct idxf_log_place *place, uint8_t *bytes) {
    idxf_store64(bytes + AT_END, place->offset);
    idxf_store64(bytes + AT_LAST, place->sequence);
    idxf_store64(bytes + AT_CHAIN, place->chain);
    idxf_store64(bytes + AT_SLOT_CHECKSUM, sum_of_slot(log, bytes));
}

bool idxf_log_slot_read(const struct idxf_log *log, const uint8_t *bytes, struct idxf_log_place *place) {
    if (idxf_load64(bytes + AT_SLOT_CHECKSUM) != sum_of_slot(log, bytes)) return false;
    *place = (struct idxf_log_place){idxf_load64(bytes + AT_END), idxf_load64(bytes + AT_LAST),
                                     idxf_load64(bytes + AT_CHAIN)};
    return true;
}

/* ---- Frames ---- */

static void go_behind(struct idxf_log_place *place, const struct idxf_frame *frame, uint64_t chain) {
    place->offset += frame->size;
    place->sequence += frame->count;
    place->chain = chain;
}

void idxf_frame_write(struct idxf_log_place *place, uint8_t *bytes, size_t size, uint64_t count) {
    struct idxf_frame frame = {size, count};
    idxf_store64(bytes + AT_SIZE, size);
    idxf_store64(bytes + AT_COUNT, count);
    idxf_store64(bytes + AT_SEQUENCE, place->sequence + 1);
    uint64_t chain = XXH3_64bits_withSeed(bytes, size - IDXF_FRAME_CHECKSUM_BYTES, place->chain);
    idxf_store64(bytes + size - IDXF_FRAME_CHECKSUM_BYTES, chain);
    go_behind(place, &frame, chain);
}

bool idxf_frame_begins(const struct idxf_log_place *place, const uint8_t *bytes, struct idxf_frame *frame) {
    const uint64_t around = IDXF_FRAME_HEADER_BYTES + IDXF_FRAME_CHECKSUM_BYTES;
    *frame = (struct idxf_frame){idxf_load64(bytes + AT_SIZE), idxf_load64(bytes + AT_COUNT)};
    return frame->size > around && frame->size <= INT64_MAX - place->offset && frame->count > 0 &&
           frame->count <= frame->size - around && frame->count <= IDXF_MAX_SEQUENCE - place->sequence &&
           idxf_load64(bytes + AT_SEQUENCE) == place->sequence + 1;
}

bool idxf_frame_follows(struct idxf_log_place *place, const uint8_t *bytes, const struct idxf_frame *frame) {
    size_t summed = (size_t)frame->size - IDXF_FRAME_CHECKSUM_BYTES;
    uint64_t chain = idxf_load64(bytes + summed);
    if (chain != XXH3_64bits_withSeed(bytes, summed, place->chain)) return false;
    go_behind(place, frame, chain);
    return true;
}
