/* reading.h: reads a stream one entry at a time. */
#ifndef IDX_LIBIDX_READING_H
#define IDX_LIBIDX_READING_H

#include "libidx/base/base.h"
#include "libidx/streams/stream.h"

struct idxi_reading {
    struct idxi_stream *stream; /* its entries have values */
    struct idxi_progress *progress;
    size_t next, count; /* of the entries in the arrays, [next, count) are still to be returned */
    uint64_t fingerprints[IDXI_STREAM_ENTRIES], values[IDXI_STREAM_ENTRIES];
};

/* Begins to read `stream`, whose entries have values. It and `progress` stay the caller's, and must outlive the
 * reading. Each entry counts as one unit of progress. */
static inline void idxi_reading_init(struct idxi_reading *reading, struct idxi_stream *stream,
                                     struct idxi_progress *progress) {
    reading->stream = stream;
    reading->progress = progress;
    reading->next = reading->count = 0;
}

/* Adds the entries in the arrays, all of which were returned, to the progress, and reads the next ones into the arrays.
 * Fails as the stream does, or with IDX_CANCELLED. */
static inline enum idx_status idxi_reading_refill(struct idxi_reading *reading, struct idx_error *error) {
    IDXI_TRY(idxi_progress_add(reading->progress, reading->count, error));
    reading->next = 0;
    return reading->stream->read(reading->stream, reading->fingerprints, reading->values, IDXI_STREAM_ENTRIES,
                                 &reading->count, error);
}

/* Finds the next entry without moving on. If there is one, sets *found, and *index to its place in
 * reading->fingerprints and reading->values, which is valid until the next call. At the end, sets *found to false.
 * Fails as idxi_reading_refill does. */
static inline enum idx_status idxi_reading_peek(struct idxi_reading *reading, size_t *index, bool *found,
                                                struct idx_error *error) {
    if (reading->next == reading->count) IDXI_TRY(idxi_reading_refill(reading, error));
    *index = reading->next;
    *found = reading->next < reading->count;
    return IDX_OK;
}

/* Does what idxi_reading_peek does, and moves on to the entry after the one found. */
static inline enum idx_status idxi_reading_next(struct idxi_reading *reading, size_t *index, bool *found,
                                                struct idx_error *error) {
    IDXI_TRY(idxi_reading_peek(reading, index, found, error));
    reading->next += *found;
    return IDX_OK;
}

#endif
