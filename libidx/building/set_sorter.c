/* set_sorter.c: see set_sorter.h. A set in the temporary file is the number of its members, then these. */
#include "libidx/building/set_sorter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BUFFER_BYTES ((size_t)1 << 20)
#define DROPPED_BYTES ((uint64_t)64 << 20) /* after so many bytes, pages of the file are dropped from memory */

enum idx_status idxi_set_sorter_open(struct idxi_set_sorter *sorter, const struct idxi_sorter_options *options,
                                     struct idx_error *error) {
    sorter->is_open = true;
    sorter->file = -1;
    sorter->path = options->path;
    sorter->buffer = malloc(BUFFER_BYTES);
    IDXI_TRY(idxi_sorter_open(&sorter->keys, options, error));
    if (sorter->buffer == NULL) return idxi_fail_memory(error);
    return idxi_make_temporary_file(&sorter->file, options->folder, options->path, error);
}

/* Writes the buffer to the end of the file, and empties it. */
static enum idx_status flush_buffer(struct idxi_set_sorter *sorter, struct idx_error *error) {
    IDXI_TRY(idxi_write_at(sorter->file, sorter->buffer, sorter->buffered, sorter->written, sorter->path, error));
    sorter->written += sorter->buffered;
    sorter->buffered = 0;
    return IDX_OK;
}

/* Appends `size` bytes to the buffer, and writes the buffer to the file whenever it is full. */
static enum idx_status append_bytes(struct idxi_set_sorter *sorter, const uint8_t *bytes, size_t size,
                                    struct idx_error *error) {
    while (size > 0) {
        size_t free_bytes = BUFFER_BYTES - sorter->buffered, step_bytes = size < free_bytes ? size : free_bytes;
        memcpy(sorter->buffer + sorter->buffered, bytes, step_bytes);
        sorter->buffered += step_bytes;
        bytes += step_bytes;
        size -= step_bytes;
        if (sorter->buffered == BUFFER_BYTES) IDXI_TRY(flush_buffer(sorter, error));
    }
    return IDX_OK;
}

enum idx_status idxi_set_sorter_add(struct idxi_set_sorter *sorter, const struct idxf_set *set,
                                    struct idx_error *error) {
    uint8_t count[sizeof(uint64_t)];
    idxf_store64(count, set->count);
    IDXI_TRY(idxi_sorter_add_or_spill(&sorter->keys, set->key, sorter->written + sorter->buffered, error));
    IDXI_TRY(append_bytes(sorter, count, sizeof count, error));
    return append_bytes(sorter, set->members, (size_t)set->count * sizeof(uint64_t), error);
}

/* Adds all sets to `writer` in the order of their keys. `map` is the temporary file, mapped. Drops its pages from
 * memory every DROPPED_BYTES. */
static enum idx_status write_sets(struct idxi_set_sorter *sorter, const uint8_t *map, struct idxi_sets_writer *writer,
                                  struct idxi_progress *progress, struct idx_error *error) {
    struct idxi_stream *sorted;
    uint64_t keys[IDXI_STREAM_ENTRIES], offsets[IDXI_STREAM_ENTRIES], undropped_bytes = 0;
    IDXI_TRY(idxi_sorter_open_stream(&sorter->keys, &sorted, error));
    for (size_t count = 1; count > 0;) {
        IDXI_TRY(sorted->read(sorted, keys, offsets, IDXI_STREAM_ENTRIES, &count, error));
        IDXI_TRY(idxi_progress_add(progress, 0, error)); /* only checks whether the build was cancelled */
        for (size_t i = 0; i < count; i++) {
            const uint8_t *record = map + offsets[i];
            struct idxf_set set = {.key = keys[i], .count = idxf_load64(record), .members = record + sizeof(uint64_t)};
            IDXI_TRY(idxi_sets_writer_add(writer, &set, error));
            undropped_bytes += set.count * sizeof(uint64_t);
        }
        if (undropped_bytes < DROPPED_BYTES) continue;
        madvise((void *)(uintptr_t)map, (size_t)sorter->written, MADV_DONTNEED);
        undropped_bytes = 0;
    }
    return IDX_OK;
}

enum idx_status idxi_set_sorter_write(struct idxi_set_sorter *sorter, struct idxi_sets_writer *writer,
                                      struct idxi_progress *progress, struct idx_error *error) {
    IDXI_TRY(flush_buffer(sorter, error));
    if (sorter->written == 0) return IDX_OK;
    void *map = mmap(NULL, (size_t)sorter->written, PROT_READ, MAP_SHARED, sorter->file, 0);
    if (map == MAP_FAILED) return idxi_fail_system(error, errno, sorter->path, "map");
    enum idx_status status = write_sets(sorter, map, writer, progress, error);
    munmap(map, (size_t)sorter->written);
    return status;
}

uint64_t idxi_set_sorter_count_written_bytes(const struct idxi_set_sorter *sorter) {
    return sorter->is_open ? sorter->written + idxi_sorter_count_written_bytes(&sorter->keys) : 0;
}

void idxi_set_sorter_close(struct idxi_set_sorter *sorter) {
    free(sorter->scratch.hashes);
    free(sorter->buffer);
    if (sorter->is_open) {
        idxi_sorter_close(&sorter->keys);
        if (sorter->file >= 0) close(sorter->file);
    }
    *sorter = (struct idxi_set_sorter){.is_open = false};
}
