/* log.c: writes and reads the header, the slots and the frames of a log. */
#include "format/log.h"

#include <xxhash.h>

#include "format/bytes.h"
#include "format/header.h"

/* Places in a slot, and then in a frame; bytes. */
enum { AT_END = 0, AT_LAST = 8, AT_CHAIN = 16, AT_SLOT_CHECKSUM = 24 };
enum { AT_SIZE = 0, AT_COUNT = 8, AT_SEQUENCE = 16 };

/* ---- The header ---- */

#define AT_CHECKSUM (IDXF_LOG_HEADER_BYTES - 8)

static const struct idxf_field fields[] = {
    IDXF_FIELD(16, struct idxf_log, uuid),   IDXF_FIELD(32, struct idxf_log, id),
    IDXF_FIELD(48, struct idxf_log, before), IDXF_FIELD(64, struct idxf_log, salt),
    IDXF_FIELD(72, struct idxf_log, first),
};

static const struct idxf_header_form form = {"idxpendi", IDXF_LOG_HEADER_BYTES, sizeof fields / sizeof *fields, fields};

void idxf_log_header_write(struct idxf_log *log, uint8_t *bytes) {
    idxf_header_write(&form, log, bytes);
    log->checksum = idxf_load64(bytes + AT_CHECKSUM);
}

enum idxf_fault idxf_log_header_read(struct idxf_log *log, const uint8_t *bytes, uint64_t size, uint32_t *version) {
    /* A file that ends before its frames begin is cut off. idxf_header_read is given fewer bytes than a header has, so
     * that it returns IDXF_FAULT_SIZE, after faults of the signature and the version. */
    uint64_t available = size < IDXF_LOG_FRAMES && size > AT_CHECKSUM ? AT_CHECKSUM : size;
    enum idxf_fault fault = idxf_header_read(&form, bytes, available, log, version);
    if (fault != IDXF_OK) return fault;
    log->checksum = idxf_load64(bytes + AT_CHECKSUM);
    return log->first <= IDXF_MAX_SEQUENCE ? IDXF_OK : IDXF_FAULT_COUNT;
}

struct idxf_log_place idxf_log_get_first_place(const struct idxf_log *log) {
    return (struct idxf_log_place){IDXF_LOG_FRAMES, log->first, log->checksum};
}

/* ---- Slots ---- */

/* Returns the checksum of the bytes of a slot that precede its checksum. It depends on the header's checksum, so that
 * the slot of another log is not accepted. */
static uint64_t compute_slot_checksum(const struct idxf_log *log, const uint8_t *bytes) {
    return XXH3_64bits_withSeed(bytes, AT_SLOT_CHECKSUM, log->checksum);
}

void idxf_log_slot_write(const struct idxf_log *log, const struct idxf_log_place *place, uint8_t *bytes) {
    idxf_store64(bytes + AT_END, place->offset);
    idxf_store64(bytes + AT_LAST, place->sequence);
    idxf_store64(bytes + AT_CHAIN, place->chain);
    idxf_store64(bytes + AT_SLOT_CHECKSUM, compute_slot_checksum(log, bytes));
}

bool idxf_log_slot_read(const struct idxf_log *log, const uint8_t *bytes, struct idxf_log_place *place) {
    if (idxf_load64(bytes + AT_SLOT_CHECKSUM) != compute_slot_checksum(log, bytes)) return false;
    *place = (struct idxf_log_place){idxf_load64(bytes + AT_END), idxf_load64(bytes + AT_LAST),
                                     idxf_load64(bytes + AT_CHAIN)};
    return true;
}

bool idxf_log_place_agrees(const struct idxf_log_place *place, const struct idxf_log_place *slot) {
    if (place->offset < slot->offset) return true;
    return place->offset == slot->offset && place->sequence == slot->sequence && place->chain == slot->chain;
}

/* ---- Frames ---- */

/* Moves a place behind a frame that begins there, and whose checksum is `chain`. */
static void move_place_behind(struct idxf_log_place *place, const struct idxf_frame *frame, uint64_t chain) {
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
    move_place_behind(place, &frame, chain);
}

bool idxf_frame_read_header(const struct idxf_log_place *place, const uint8_t *bytes, struct idxf_frame *frame) {
    const uint64_t overhead = IDXF_FRAME_HEADER_BYTES + IDXF_FRAME_CHECKSUM_BYTES;
    *frame = (struct idxf_frame){idxf_load64(bytes + AT_SIZE), idxf_load64(bytes + AT_COUNT)};
    /* Neither the offset nor the sequence number behind the frame may overflow. A record takes a byte or more. */
    bool is_size_possible = frame->size > overhead && frame->size <= INT64_MAX - place->offset;
    bool is_count_possible = frame->count > 0 && frame->count <= frame->size - overhead &&
                             frame->count <= IDXF_MAX_SEQUENCE - place->sequence;
    return is_size_possible && is_count_possible && idxf_load64(bytes + AT_SEQUENCE) == place->sequence + 1;
}

bool idxf_frame_accept(struct idxf_log_place *place, const uint8_t *bytes, const struct idxf_frame *frame) {
    size_t summed_bytes = (size_t)frame->size - IDXF_FRAME_CHECKSUM_BYTES;
    uint64_t chain = idxf_load64(bytes + summed_bytes);
    if (chain != XXH3_64bits_withSeed(bytes, summed_bytes, place->chain)) return false;
    move_place_behind(place, frame, chain);
    return true;
}
