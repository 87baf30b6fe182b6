/* log.h: the log of records that are not in segments yet: its header, its frames, and the slots that say how far these
 * were acknowledged (SPEC.md, chapter 10). */
#ifndef IDX_FORMAT_LOG_H
#define IDX_FORMAT_LOG_H

#include "format/record.h"

struct idxf_log {
    uint8_t uuid[IDXF_UUID_BYTES];   /* of the index */
    uint8_t id[IDXF_UUID_BYTES];     /* of this log */
    uint8_t before[IDXF_UUID_BYTES]; /* the id of the log in whose place it came; 0 for none */
    uint64_t salt;
    uint64_t first;    /* the sequence number of the last record before those that the log has */
    uint64_t checksum; /* of the header; set by reading and by writing */
};

/* A place between two frames. */
struct idxf_log_place {
    uint64_t offset;   /* in the file, bytes */
    uint64_t sequence; /* the number of the last record before it */
    uint64_t chain;    /* the checksum of the frame before it, or of the header: the seed of the next checksum */
};

/* ---- The header, IDXF_LOG_HEADER_BYTES ---- */

#define IDXF_LOG_HEADER_BYTES 88

/* Writes the header, IDXF_LOG_HEADER_BYTES bytes, and sets log->checksum to its checksum. */
void idxf_log_header_write(struct idxf_log *log, uint8_t *bytes);

/* Reads and checks the header of a file of `size` bytes, of which min(size, IDXF_LOG_HEADER_BYTES) are at `bytes`.
 * Returns a fault of idxf_header_read, where IDXF_FAULT_SIZE also means that the file ends before its frames begin, or
 * IDXF_FAULT_COUNT for an impossible sequence number. On IDXF_FAULT_VERSION, *version is set to the version found.
 * After a fault, *log must not be used. */
enum idxf_fault idxf_log_header_read(struct idxf_log *log, const uint8_t *bytes, uint64_t size, uint32_t *version);

/* Returns the place before the first frame of a log whose header was written or read. */
struct idxf_log_place idxf_log_get_first_place(const struct idxf_log *log);

/* ---- Slots, IDXF_LOG_SLOT_BYTES each ---- */

#define IDXF_LOG_SLOT_BYTES 32

/* Returns the offset in the file of slot 0 or 1. */
static inline uint64_t idxf_log_get_slot_offset(unsigned slot) { return (1 + slot) * (uint64_t)IDXF_PAGE_SIZE; }

/* Writes a slot, IDXF_LOG_SLOT_BYTES bytes, that says that the frames before a place are acknowledged. */
void idxf_log_slot_write(const struct idxf_log *log, const struct idxf_log_place *place, uint8_t *bytes);

/* Whether a slot is sound, which its checksum shows. If so, sets *place to the end of the acknowledged frames. */
bool idxf_log_slot_read(const struct idxf_log *log, const uint8_t *bytes, struct idxf_log_place *place);

/* Whether a place between frames agrees with a slot, which says that the acknowledged frames end at `slot`: the place
 * is before that, or equal to it in all members. If one place does not agree, acknowledged frames are damaged. */
bool idxf_log_place_agrees(const struct idxf_log_place *place, const struct idxf_log_place *slot);

/* ---- Frames ---- */

/* A frame has so many bytes before its records, and behind them. */
#define IDXF_FRAME_HEADER_BYTES 24
#define IDXF_FRAME_CHECKSUM_BYTES 8

struct idxf_frame {
    uint64_t size;  /* bytes in all */
    uint64_t count; /* of records */
};

/* Completes the frame that begins at *place: `bytes` are all its `size` bytes, and already have its `count` records,
 * from byte IDXF_FRAME_HEADER_BYTES on, and room for the checksum behind them. Writes the header and the checksum, and
 * moves *place behind the frame. */
void idxf_frame_write(struct idxf_log_place *place, uint8_t *bytes, size_t size, uint64_t count);

/* Reads the IDXF_FRAME_HEADER_BYTES bytes behind a place into *frame. Returns whether they may be the header of the
 * frame that belongs there; if not, *frame means nothing. Only idxf_frame_accept, which compares checksums, proves that
 * they are. */
bool idxf_frame_read_header(const struct idxf_log_place *place, const uint8_t *bytes, struct idxf_frame *frame);

/* Returns whether the `frame->size` bytes behind a place are the frame that belongs there, whose header
 * idxf_frame_read_header has read. If so, moves the place behind the frame. */
bool idxf_frame_accept(struct idxf_log_place *place, const uint8_t *bytes, const struct idxf_frame *frame);

#endif
