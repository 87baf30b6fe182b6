/* distinct.c: keeps the distinct fingerprints of a build, in an array or in a run on disk. */
#include "libidx/streams/distinct.h"

#include <string.h>

#include "libidx/base/base.h"

#define RUN_BUFFER_BYTES ((size_t)1 << 20) /* of the buffer through which a run is read */

enum idx_status idxi_distinct_begin(struct idxi_distinct *distinct, uint64_t capacity, int folder, const char *path,
                                    struct idx_error *error) {
    *distinct = (struct idxi_distinct){.on_disk = capacity == 0, .capacity = (size_t)capacity, .file.fd = -1};
    if (distinct->on_disk) return idxi_run_file_open(&distinct->file, folder, path, false, error);
    distinct->fingerprints = idxi_array_reserve(distinct->capacity);
    return distinct->fingerprints == NULL ? idxi_fail_memory(error) : IDX_OK;
}

enum idx_status idxi_distinct_add(struct idxi_distinct *distinct, const uint64_t *fingerprints, size_t count,
                                  struct idx_error *error) {
    uint64_t old_count = distinct->count; /* in memory, the next ones belong there */
    distinct->count += count;
    if (distinct->on_disk) return idxi_run_file_write(&distinct->file, fingerprints, NULL, count, error);
    memcpy(distinct->fingerprints + old_count, fingerprints, count * sizeof *fingerprints);
    return IDX_OK;
}

enum idx_status idxi_distinct_end(struct idxi_distinct *distinct, struct idx_error *error) {
    return distinct->on_disk ? idxi_run_file_end(&distinct->file, &distinct->run, error) : IDX_OK;
}

void idxi_distinct_drop(const struct idxi_distinct *distinct) {
    if (distinct->on_disk) idxi_run_drop(&distinct->run);
}

void idxi_distinct_free(struct idxi_distinct *distinct) {
    if (distinct->on_disk) idxi_run_file_close(&distinct->file);
    idxi_array_release(distinct->fingerprints, distinct->capacity);
    *distinct = (struct idxi_distinct){.file.fd = -1};
}

enum idx_status idxi_distinct_open_stream(const struct idxi_distinct *distinct, struct idxi_distinct_stream *stream,
                                          struct idx_error *error) {
    *stream = (struct idxi_distinct_stream){.stream = &stream->array.stream};
    idxi_array_stream_init(&stream->array, distinct->fingerprints, NULL, (size_t)distinct->count);
    if (!distinct->on_disk) return IDX_OK; /* else the stream of the array is not used */
    stream->stream = &stream->run.stream;
    return idxi_run_stream_open(&stream->run, &distinct->run, false, RUN_BUFFER_BYTES, error);
}

void idxi_distinct_close_stream(struct idxi_distinct_stream *stream) { idxi_run_stream_close(&stream->run); }
