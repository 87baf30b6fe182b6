/* table_stream.c: decodes the blocks of a table one after the other. */
#include "libidx/table_stream.h"

#include <string.h>

static enum idx_status fail_block(const struct idxi_table_stream *stream, enum idxf_fault fault,
                                  struct idx_error *error) {
    return idxi_fail_fault(error, fault, stream->table->path, idxi_table_block_offset(stream->table, stream->block));
}

static enum idx_status begin_block(struct idxi_table_stream *stream, struct idx_error *error) {
    const struct idxi_table *table = stream->table;
    uint64_t offset = idxi_table_block_offset(table, stream->block);
    if (offset % IDXI_DROPPED_BYTES == 0) idxi_table_drop(table);
    IDXI_TRY(idxi_table_check(table, offset, error));
    size_t count = idxf_block_begin(&stream->cursor, table->decoder, idxi_table_block(table, stream->block));
    return count > 0 ? IDX_OK : fail_block(stream, stream->cursor.fault, error);
}

/* A fault that stands in the block behind the disorder comes first (SPEC.md, chapter 7). */
static enum idx_status fail_order(struct idxi_table_stream *stream, struct idx_error *error) {
    while (idxf_block_next(&stream->cursor, stream->chunk) > 0) continue;
    enum idxf_fault fault = stream->cursor.fault;
    return fail_block(stream, fault == IDXF_OK ? IDXF_FAULT_ORDER : fault, error);
}

/* Whether these ascend, also from those before. */
static bool ascend(const struct idxi_table_stream *stream, const uint64_t *fingerprints, size_t count) {
    bool falls = stream->given > 0 && fingerprints[0] <= stream->previous;
    for (size_t i = 1; i < count; i++) falls |= fingerprints[i] <= fingerprints[i - 1];
    return !falls;
}

/* Decodes up to IDXF_CHUNK fingerprints; none at the end. */
static enum idx_status decode(struct idxi_table_stream *stream, uint64_t *fingerprints, size_t *count,
                              struct idx_error *error) {
    const struct idxf_table_header *header = &stream->table->header;
    for (*count = 0; stream->block < header->blocks; stream->block++, stream->cursor.count = 0) {
        if (stream->cursor.count == 0) IDXI_TRY(begin_block(stream, error));
        *count = idxf_block_next(&stream->cursor, fingerprints);
        if (stream->cursor.fault != IDXF_OK) return fail_block(stream, stream->cursor.fault, error);
        if (*count == 0) continue;
        if (!ascend(stream, fingerprints, *count)) return fail_order(stream, error);
        stream->given += *count;
        stream->previous = fingerprints[*count - 1];
        return IDX_OK;
    }
    bool agrees = stream->given == header->fingerprints;
    return agrees ? IDX_OK : idxi_fail_fault(error, IDXF_FAULT_COUNT, stream->table->path, 0);
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
    if (stream->chunk_given < stream->chunk_count || capacity < IDXF_CHUNK)
        return give_chunk(stream, fingerprints, capacity, count, error);
    for (; step > 0 && capacity - made >= IDXF_CHUNK; made += step)
        IDXI_TRY(decode(stream, fingerprints + made, &step, error));
    *count = made;
    return IDX_OK;
}

static enum idx_status rewind_table(struct idxi_stream *base, struct idx_error *error) {
    struct idxi_table_stream *stream = (struct idxi_table_stream *)base;
    (void)error;
    idxi_table_stream_init(stream, stream->table);
    return IDX_OK;
}

void idxi_table_stream_init(struct idxi_table_stream *stream, const struct idxi_table *table) {
    stream->stream = (struct idxi_stream){read_table, rewind_table};
    stream->table = table;
    stream->block = stream->given = stream->previous = 0;
    stream->cursor.count = 0;
    stream->chunk_count = stream->chunk_given = 0;
}
