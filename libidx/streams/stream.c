/* stream.c: streams of entries in memory. */
#include "libidx/streams/stream.h"

#include <string.h>

/* Reads the next entries of an array, as struct idxi_stream says. */
static enum idx_status read_array(struct idxi_stream *stream, uint64_t *fingerprints, uint64_t *values, size_t capacity,
                                  size_t *count, struct idx_error *error) {
    struct idxi_array_stream *array = (struct idxi_array_stream *)stream;
    size_t entries_left = array->count - array->given;
    (void)error;
    *count = entries_left < capacity ? entries_left : capacity;
    if (*count == 0) return IDX_OK;
    memcpy(fingerprints, array->fingerprints + array->given, *count * sizeof *fingerprints);
    if (values != NULL) memcpy(values, array->values + array->given, *count * sizeof *values);
    array->given += *count;
    return IDX_OK;
}

/* Goes back to the array's first entry, and never fails. */
static enum idx_status rewind_array(struct idxi_stream *stream, struct idx_error *error) {
    (void)error;
    ((struct idxi_array_stream *)stream)->given = 0;
    return IDX_OK;
}

void idxi_array_stream_init(struct idxi_array_stream *array, const uint64_t *fingerprints, const uint64_t *values,
                            size_t count) {
    *array = (struct idxi_array_stream){{read_array, rewind_array}, fingerprints, values, count, 0};
}
