/* stream.h: ascending streams, from which tables are written, and which merges read and make. An entry is a
 * fingerprint, or a document: a fingerprint with a value, which is its document number or integer ID. */
#ifndef IDX_LIBIDX_STREAM_H
#define IDX_LIBIDX_STREAM_H

#include <idx.h>

/* How many entries the readers of a stream ask for at a time. */
#define IDXI_STREAM_ENTRIES ((size_t)2048)

/* The first member of every kind of stream. Only one thread at a time may use a stream. After a failure of `read`, its
 * arrays may be partly set. */
struct idxi_stream {
    /* Reads the next entries into the arrays, at least one and up to `capacity` (1 or more), and sets *count to their
     * number, which is 0 at the end. `values` is NULL for a stream of fingerprints alone. */
    enum idx_status (*read)(struct idxi_stream *stream, uint64_t *fingerprints, uint64_t *values, size_t capacity,
                            size_t *count, struct idx_error *error);
    /* Goes back to the first entry; NULL in streams that can be read only once. */
    enum idx_status (*rewind)(struct idxi_stream *stream, struct idx_error *error);
};

/* A stream of entries in memory, which stay the caller's. */
struct idxi_array_stream {
    struct idxi_stream stream;
    const uint64_t *fingerprints, *values; /* values: NULL for fingerprints alone */
    size_t count, given;                   /* entries: all, and how many were read since the first one */
};

/* Makes a stream of `count` entries in memory, which must outlive it. `values` may be NULL. The stream never fails, and
 * needs no closing. */
void idxi_array_stream_init(struct idxi_array_stream *array, const uint64_t *fingerprints, const uint64_t *values,
                            size_t count);

#endif
