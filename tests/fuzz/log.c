/* log.c: fuzzes the reader of a log: an input is read as one, as it is; and then its bytes are frames behind a header
 * that is made right, chained as they come. What is accepted is written back byte for byte. */
#include "format/log.h"

#include "format/checksum.h"
#include "tests/fuzz/fuzz.h"

static void check_header(const uint8_t *bytes, size_t size) {
    struct idxf_log log;
    uint8_t again[IDXF_LOG_HEADER_BYTES];
    uint32_t version;
    if (idxf_log_header_read(&log, bytes, size, &version) != IDXF_OK) return;
    idxf_log_header_write(&log, again);
    CHECK(memcmp(again, bytes, sizeof again) == 0);
}

static void check_slot(const struct idxf_log *log, const uint8_t *bytes, size_t size) {
    struct idxf_log_place place;
    uint8_t again[IDXF_LOG_SLOT_BYTES];
    if (size < sizeof again || !idxf_log_slot_read(log, bytes, &place)) return;
    idxf_log_slot_write(log, &place, again);
    CHECK(memcmp(again, bytes, sizeof again) == 0);
}

/* Reads frames as far as they go, each made right before. */
static void check_frames(const struct idxf_log *log, uint8_t *bytes, size_t size) {
    struct idxf_log_place place = idxf_log_get_first_place(log), written = place;
    while (size >= IDXF_FRAME_HEADER_BYTES) {
        struct idxf_frame frame;
        struct idxf_log_place before = place;
        if (!idxf_frame_read_header(&place, bytes, &frame) || frame.size > size) break;
        idxf_frame_write(&written, bytes, (size_t)frame.size, frame.count);
        CHECK(idxf_frame_accept(&place, bytes, &frame));
        CHECK(memcmp(&place, &written, sizeof place) == 0);
        CHECK(place.offset == before.offset + frame.size && place.sequence == before.sequence + frame.count);
        bytes[frame.size / 2] ^= 1;
        CHECK(!idxf_frame_accept(&before, bytes, &frame));
        bytes += frame.size;
        size -= (size_t)frame.size;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct idxf_log log = {.salt = size};
    uint8_t header[IDXF_LOG_HEADER_BYTES], *bytes = copy_exactly(data, size);
    idxf_log_header_write(&log, header);
    check_header(bytes, size);
    check_slot(&log, bytes, size);
    check_frames(&log, bytes, size);
    free(bytes);
    return 0;
}
