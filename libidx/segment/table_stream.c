/* table_stream.c: decodes the blocks of a table one after the other. */
#include "libidx/segment/table_stream.h"

#include <string.h>

/* Decodes some blocks; none at the end. */
static enum idx_status decode(struct idxi_table_stream *stream, uint64_t *fingerprints, size_t *count,
                              struct idx_error *error) {
    const struct idxi_table *table = stream->blocks.table;
    const struct idxf_table_header *header = &table->header;
    uint64_t dropped = IDXI_DROPPED_BYTES / header->block_size;
    if (stream->blocks.next / dropped != stream->dropped) idxi_table_drop(table);
    stream->dropped = stream->blocks.next / dropped;
    IDXI_TRY(idxi_blocks_read(&stream->blocks, header->blocks, fingerprints, count, error));
    stream->given += *count;
    bool agrees = *count > 0 || stream->given == header->fingerprints;
    return agrees ? IDX_OK : idxi_fail_fault(error, IDXF_FAULT_COUNT, table->path, 0);
}

/* Gives what is left of the chunk, after decoding another where nothing is. */
static enum idx_status give_chunk(struct idxi_table_stream *stream, uint64_t *fingerprints, size_t capacity,
                                  size_t *count, struct idx_error *error) {
    if (stream->chunk_given == stream->chunk_count) {
        stream->chunk_given = stream->chunk_count = 0;
        IDXI_TRY(decode(stream, stream->chunk, &stream->chunk_count, error));
    }
    size_t left = stream->chunk_count - stream->chunk_given;
    *count = left < capacity ? left : capacity;
    memcpy(fingerprints, stream->chunk + stream->chunk_given, *count * sizeof *fingerprints);
    stream->chunk_given += *count;
    return IDX_OK;
}

static enum idx_status read_table(struct idxi_stream *base, uint64_t *fingerprints, uint64_t *values, size_t capacity,
                                  size_t *count, struct idx_error *error) {
    struct idxi_table_stream *stream = (struct idxi_table_stream *)base;
    size_t made = 0, step = 1;
    (void)values;
    if (stream->chunk_given < stream->chunk_count || capacity < stream->room)
        return give_chunk(stream, fingerprints, capacity, count, error);
    for (; step > 0 && capacity - made >= stream->room; made += step)
        IDXI_TRY(decode(stream, fingerprints + made, &step, error));
    *count = made;
    return IDX_OK;
}

static enum idx_status rewind_table(struct idxi_stream *base, struct idx_error *error) {
    struct idxi_table_stream *stream = (struct idxi_table_stream *)base;
    (void)error;
    idxi_table_stream_init(stream, stream->blocks.table);
    return IDX_OK;
}

void idxi_table_stream_init(struct idxi_table_stream *stream, const struct idxi_table *table) {
    stream->stream = (struct idxi_stream){read_table, rewind_table};
    stream->blocks = (struct idxi_blocks){table, 0, {0, 0}};
    stream->room = table->decoder == NULL ? 0 : idxf_decoded_room(table->decoder);
    stream->given = stream->dropped = 0;
    stream->chunk_count = stream->chunk_given = 0;
}
