/* runs.c: writes and reads sorted runs. In the file, the size (u32) and checksum (u64) of each group precede it. */
#include "libidx/streams/runs.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/bytes.h"
#include "format/checksum.h"
#include "format/group.h"
#include "libidx/base/base.h"

#define GROUP_HEADER_BYTES 12
#define MAX_GROUP_BYTES (GROUP_HEADER_BYTES + IDXF_MAX_GROUP_BYTES)
#define BUFFER_BYTES ((size_t)1 << 20)

_Static_assert(IDXI_MIN_RUN_BUFFER >= MAX_GROUP_BYTES, "a group fits into the buffer");

/* ---- Writing ---- */

enum idx_status idxi_run_file_open(struct idxi_run_file *file, int folder, const char *path, bool with_values,
                                   struct idx_error *error) {
    *file = (struct idxi_run_file){.fd = -1, .folder_path = path, .with_values = with_values};
    file->buffer = malloc(BUFFER_BYTES);
    file->fingerprints = malloc(IDXF_MAX_GROUP_ENTRIES * sizeof *file->fingerprints);
    file->values = malloc(IDXF_MAX_GROUP_ENTRIES * sizeof *file->values);
    if (file->buffer == NULL || file->fingerprints == NULL || file->values == NULL) return idxi_fail_memory(error);
    return idxi_make_temporary_file(&file->fd, folder, path, error);
}

/* Writes the buffer to the end of the file, and empties it, even if writing fails. */
static enum idx_status write_buffer(struct idxi_run_file *file, struct idx_error *error) {
    size_t used = file->used;
    file->used = 0;
    IDXI_TRY(idxi_write_at(file->fd, file->buffer, used, file->written, file->folder_path, error));
    file->written += used;
    return IDX_OK;
}

/* Encodes as many of `count` entries as fit into a group, appends it to the buffer, and sets *encoded_count to their
 * number. If the buffer is too full for a group, it is written to the file first. */
static enum idx_status append_group(struct idxi_run_file *file, const uint64_t *fingerprints, const uint64_t *values,
                                    size_t count, size_t *encoded_count, struct idx_error *error) {
    size_t size;
    if (BUFFER_BYTES - file->used < MAX_GROUP_BYTES) IDXI_TRY(write_buffer(file, error));
    uint8_t *header = file->buffer + file->used, *group = header + GROUP_HEADER_BYTES;
    *encoded_count =
        idxf_group_encode(fingerprints, file->with_values ? values : NULL, count, IDXF_MAX_GROUP_BYTES, group, &size);
    idxf_store32(header, (uint32_t)size);
    idxf_store64(header + 4, idxf_checksum(group, size));
    file->used += GROUP_HEADER_BYTES + size;
    return IDX_OK;
}

/* Copies `count` entries behind those that wait for a full group. Not more than IDXF_MAX_GROUP_ENTRIES may then
 * wait. */
static void append_waiting_entries(struct idxi_run_file *file, const uint64_t *fingerprints, const uint64_t *values,
                                   size_t count) {
    memcpy(file->fingerprints + file->waiting_count, fingerprints, count * sizeof *fingerprints);
    if (file->with_values) memcpy(file->values + file->waiting_count, values, count * sizeof *values);
    file->waiting_count += count;
}

/* Forgets the first `count` entries that wait. */
static void remove_waiting_entries(struct idxi_run_file *file, size_t count) {
    file->waiting_count -= count;
    memmove(file->fingerprints, file->fingerprints + count, file->waiting_count * sizeof *file->fingerprints);
    if (file->with_values) memmove(file->values, file->values + count, file->waiting_count * sizeof *file->values);
}

/* Full groups are written from where the entries are; only entries that do not fill a group are copied. */
enum idx_status idxi_run_file_write(struct idxi_run_file *file, const uint64_t *fingerprints, const uint64_t *values,
                                    size_t count, struct idx_error *error) {
    for (size_t done = 0, encoded_count; done < count;) {
        const uint64_t *next_values = file->with_values ? values + done : NULL;
        if (file->waiting_count == 0 && count - done >= IDXF_MAX_GROUP_ENTRIES) {
            IDXI_TRY(append_group(file, fingerprints + done, next_values, count - done, &encoded_count, error));
            done += encoded_count;
            continue;
        }
        size_t missing = IDXF_MAX_GROUP_ENTRIES - file->waiting_count, copied = idxi_min(count - done, missing);
        append_waiting_entries(file, fingerprints + done, next_values, copied);
        done += copied;
        if (file->waiting_count < IDXF_MAX_GROUP_ENTRIES) break;
        IDXI_TRY(append_group(file, file->fingerprints, file->values, file->waiting_count, &encoded_count, error));
        remove_waiting_entries(file, encoded_count);
        if (file->waiting_count > copied) continue;
        /* All entries that still wait were just copied: they are read again from where they came. */
        done -= file->waiting_count;
        file->waiting_count = 0;
    }
    return IDX_OK;
}

enum idx_status idxi_run_file_end(struct idxi_run_file *file, struct idxi_run *run, struct idx_error *error) {
    while (file->waiting_count > 0) {
        size_t encoded_count;
        IDXI_TRY(append_group(file, file->fingerprints, file->values, file->waiting_count, &encoded_count, error));
        remove_waiting_entries(file, encoded_count);
    }
    IDXI_TRY(write_buffer(file, error));
    *run = (struct idxi_run){.file = file, .begin = file->last_run_end, .end = file->written};
    file->last_run_end = file->written;
    return IDX_OK;
}

void idxi_run_drop(const struct idxi_run *run) {
#ifdef IDX_LINUX
    (void)!fallocate(run->file->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)run->begin,
                     (off_t)(run->end - run->begin));
#else
    (void)run;
#endif
}

void idxi_run_file_close(struct idxi_run_file *file) {
    if (file->fd >= 0) close(file->fd);
    free(file->buffer);
    free(file->fingerprints);
    free(file->values);
    *file = (struct idxi_run_file){.fd = -1};
}

/* ---- Reading ---- */

/* Fails with IDX_BAD_CHECKSUM, because the file does not have what was written to it. */
static enum idx_status fail_damaged_run(const struct idxi_run_stream *stream, struct idx_error *error) {
    return idxi_fail(error, IDX_BAD_CHECKSUM, stream->run.file->folder_path,
                     "a temporary file does not have the content that was written: check the disk, and build again");
}

/* If the stream drops what was read, frees the disk space of the run up to byte `end` of the file, and moves the run's
 * beginning there. Does so in large steps, since each is a system call. */
static void drop_bytes_until(struct idxi_run_stream *stream, uint64_t end) {
    if (end < stream->run.end) end -= end % IDXI_RUN_DROP_BYTES; /* so that no page of the disk is freed by halves */
    if (!stream->drops || end <= stream->run.begin) return;
    idxi_run_drop(&(struct idxi_run){.file = stream->run.file, .begin = stream->run.begin, .end = end});
    stream->run.begin = end;
}

/* Moves the undecoded bytes to the front of the buffer, and fills it from the file: with the whole next group, unless
 * the run ends before. */
static enum idx_status refill_buffer(struct idxi_run_stream *stream, struct idx_error *error) {
    const struct idxi_run *run = &stream->run;
    size_t undecoded_bytes = stream->end - stream->begin, read_bytes = stream->capacity - undecoded_bytes;
    memmove(stream->buffer, stream->buffer + stream->begin, undecoded_bytes);
    if (read_bytes > run->end - stream->offset) read_bytes = (size_t)(run->end - stream->offset);
    enum idx_status status = idxi_read_at(run->file->fd, stream->buffer + undecoded_bytes, read_bytes, stream->offset,
                                          run->file->folder_path, error);
    if (status == IDX_WRONG_SIZE) return fail_damaged_run(stream, error);
    if (status != IDX_OK) return status;
    stream->offset += read_bytes;
    stream->begin = 0;
    stream->end = undecoded_bytes + read_bytes;
    drop_bytes_until(stream, stream->offset);
    return IDX_OK;
}

/* Checks and decodes the next group into the stream's arrays, and sets stream->count to its entries; 0 at the end of
 * the run. Fails as idxi_read_at does, or with IDX_BAD_CHECKSUM. */
static enum idx_status decode_next_group(struct idxi_run_stream *stream, struct idx_error *error) {
    struct idxf_group group;
    if (stream->end - stream->begin < MAX_GROUP_BYTES && stream->offset < stream->run.end)
        IDXI_TRY(refill_buffer(stream, error));
    size_t undecoded_bytes = stream->end - stream->begin;
    stream->next_entry = stream->count = 0;
    if (undecoded_bytes == 0) return IDX_OK;
    if (undecoded_bytes < GROUP_HEADER_BYTES) return fail_damaged_run(stream, error);
    const uint8_t *header = stream->buffer + stream->begin, *bytes = header + GROUP_HEADER_BYTES;
    size_t size = idxf_load32(header);
    /* In this order: the size is checked before bytes are read, and the checksum before they are decoded. */
    if (size > undecoded_bytes - GROUP_HEADER_BYTES || idxf_checksum(bytes, size) != idxf_load64(header + 4) ||
        idxf_group_open(&group, bytes, size) != IDXF_OK ||
        idxf_decode_fingerprints(&group, stream->fingerprints) != IDXF_OK)
        return fail_damaged_run(stream, error);
    if (stream->run.file->with_values) idxf_decode_values(&group, 0, group.count, stream->values);
    stream->count = group.count;
    stream->begin += GROUP_HEADER_BYTES + size;
    return IDX_OK;
}

/* Reads entries as struct idxi_stream says: what is left of the decoded group, or entries of the next one. */
static enum idx_status read_run(struct idxi_stream *base, uint64_t *fingerprints, uint64_t *values, size_t capacity,
                                size_t *count, struct idx_error *error) {
    struct idxi_run_stream *stream = (struct idxi_run_stream *)base;
    if (stream->next_entry == stream->count) IDXI_TRY(decode_next_group(stream, error));
    *count = (size_t)idxi_min(stream->count - stream->next_entry, capacity);
    memcpy(fingerprints, stream->fingerprints + stream->next_entry, *count * sizeof *fingerprints);
    if (values != NULL) memcpy(values, stream->values + stream->next_entry, *count * sizeof *values);
    stream->next_entry += *count;
    return IDX_OK;
}

/* Goes back to the first entry of a stream that does not drop what was read. */
static enum idx_status rewind_run(struct idxi_stream *base, struct idx_error *error) {
    struct idxi_run_stream *stream = (struct idxi_run_stream *)base;
    (void)error;
    stream->offset = stream->run.begin;
    stream->begin = stream->end = stream->next_entry = stream->count = 0;
    return IDX_OK;
}

enum idx_status idxi_run_stream_open(struct idxi_run_stream *stream, const struct idxi_run *run, bool drops,
                                     size_t buffer_bytes, struct idx_error *error) {
    *stream = (struct idxi_run_stream){
        .stream = {read_run, rewind_run}, .run = *run, .drops = drops, .offset = run->begin, .capacity = buffer_bytes};
    stream->buffer = malloc(buffer_bytes);
    stream->fingerprints = malloc(IDXF_MAX_GROUP_ENTRIES * sizeof *stream->fingerprints);
    stream->values = calloc(IDXF_MAX_GROUP_ENTRIES, sizeof *stream->values); /* they stay 0 without values */
    bool has_memory = stream->buffer != NULL && stream->fingerprints != NULL && stream->values != NULL;
    return has_memory ? IDX_OK : idxi_fail_memory(error);
}

void idxi_run_stream_close(struct idxi_run_stream *stream) {
    free(stream->buffer);
    free(stream->fingerprints);
    free(stream->values);
}
