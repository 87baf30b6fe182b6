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
    uint64_t first;    /* it has the records behind this one */
    uint64_t checksum; /* of all this; set by reading and by writing */
};

/* This is a place between two frames. */
struct idxf_log_place {
    uint64_t offset;   /* in the file, bytes */
    uint64_t sequence; /* of the last record before it */
    uint64_t chain;    /* the checksum of the frame before it, or of the header */
};

/* ---- The header, IDXF_LOG_HEADER_BYTES ---- */

#define IDXF_LOG_HEADER_BYTES 88

void idxf_log_write(struct idxf_log *log, uint8_t *bytes);

/* Reads and checks the header of a file of `size` bytes, of which min(size, IDXF_LOG_HEADER_BYTES) are at `bytes`. On
 * IDXF_FAULT_VERSION, *version is set to the version found. */
enum idxf_fault idxf_log_read(struct idxf_log *log, const uint8_t *bytes, uint64_t size, uint32_t *version);

/* Returns the place where the first frame begins. */
struct idxf_log_place idxf_log_begin(const struct idxf_log *log);

/* ---- Slots, IDXF_LOG_SLOT_BYTES each ---- */

#define IDXF_LOG_SLOT_BYTES 32

/* Returns the offset in the file of slot 0 or 1. */
static inline uint64_t idxf_log_slot_offset(unsigned slot) { return (1 + slot) * (uint64_t)IDXF_PAGE_SIZE; }

void idxf_log_slot_write(const struct idxf_log *log, const struct idxf_log_place *place, uint8_t *bytes);

/* Whether a slot is sound. If so, sets *place to what it says. */
bool idxf_log_slot_read(const struct idxf_log *log, const uint8_t *bytes, struct idxf_log_place *place);

/* Whether a place behind the header or a frame is before the end of the acknowledged frames, which a slot says is
 * `known`, or is that end with the same sequence number and chain. The first place that is neither, or is behind that
 * end, shows that acknowledged frames are damaged. */
bool idxf_log_agrees(const struct idxf_log_place *place, const struct idxf_log_place *known);

/* ---- Frames ---- */

/* A frame has so many bytes before its records, and behind them. */
#define IDXF_FRAME_HEADER_BYTES 24
#define IDXF_FRAME_CHECKSUM_BYTES 8

struct idxf_frame {
    uint64_t size;  /* bytes in all */
    uint64_t count; /* of records */
};

/* Completes a frame of `size` bytes behind a place, in which the `count` records are written already. Moves the place
 * behind it. */
void idxf_frame_write(struct idxf_log_place *place, uint8_t *bytes, size_t size, uint64_t count);

/* Whether the IDXF_FRAME_HEADER_BYTES bytes behind a place may be those of a frame. Only idxf_frame_follows, which
 * compares checksums, proves that they are. */
bool idxf_frame_begins(const struct idxf_log_place *place, const uint8_t *bytes, struct idxf_frame *frame);

/* Whether the `frame->size` bytes behind a place are the frame that belongs there. If so, moves the place behind it. */
bool idxf_frame_follows(struct idxf_log_place *place, const uint8_t *bytes, const struct idxf_frame *frame);

#endif
