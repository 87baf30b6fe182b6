/* sorter.h: sorts entries, in memory as long as they fit there, else as runs on disk. */
#ifndef IDX_LIBIDX_SORTER_H
#define IDX_LIBIDX_SORTER_H

#include "libidx/base/base.h"
#include "libidx/streams/kway_merge.h"
#include "libidx/streams/runs.h"

struct idxi_sorter_options {
    bool with_values;
    bool once;       /* the sorted entries are read only once: their disk space is freed as they are read */
    unsigned prefix; /* 0: sorts by whole entries. Else by so many first bits alone: entries are permuted fingerprints
                        without values, and those with the same prefix are added in order */
    unsigned threads;
    uint64_t memory; /* bytes, half of them for added entries, and half for sorting these */
    int folder;      /* for temporary files; descriptor and path are the caller's */
    const char *path;
    struct idxi_progress *progress;
};

/* A run, and its level: how many merges its entries went through. */
struct idxi_sorter_run {
    struct idxi_run run;
    unsigned level;
};

struct idxi_sorter {
    struct idxi_sorter_options options;
    uint64_t *fingerprints, *values, *spare, *spare_values;
    size_t count, capacity;      /* entries in memory, and how many fit there */
    bool values_ascend;          /* whether the values in memory ascend in the order they were added */
    struct idxi_run_file *files; /* one for each thread, once a run is to be written */
    size_t file_count;
    struct idxi_sorter_run *runs;
    size_t run_count, run_capacity;

    /* What the stream of sorted entries reads: slices in memory, or runs. */
    struct idxi_array_stream *arrays;
    struct idxi_run_stream *run_streams;
    size_t stream_count; /* of run_streams */
    struct idxi_kway_merge *merge;
};

/* Returns how many runs a sorter with this memory limit merges at a time. */
size_t idxi_sorter_get_fan_in(uint64_t memory_bytes);

/* Opens a sorter. It copies *options, whose folder, path and progress must outlive it, and uses memory only as entries
 * are added. Call idxi_sorter_close even if this fails. Errors: IDX_OUT_OF_MEMORY. */
enum idx_status idxi_sorter_open(struct idxi_sorter *sorter, const struct idxi_sorter_options *options,
                                 struct idx_error *error);

/* Returns how many entries can be added before those in memory must be spilled. */
static inline size_t idxi_sorter_get_free_entries(const struct idxi_sorter *sorter) {
    return sorter->capacity - sorter->count;
}

/* Sorts the entries in memory, writes them to disk as runs, and merges runs if there are many. Then no entries are in
 * memory. Errors: IDX_CANCELLED, and those of idxi_run_file_open, of idxi_run_file_write and of reading runs. */
enum idx_status idxi_sorter_spill(struct idxi_sorter *sorter, struct idx_error *error);

/* Adds an entry; idxi_sorter_get_free_entries must not be 0. `value` is ignored if the entries have no values. */
static inline void idxi_sorter_add(struct idxi_sorter *sorter, uint64_t fingerprint, uint64_t value) {
    size_t index = sorter->count++;
    sorter->fingerprints[index] = fingerprint;
    if (sorter->values == NULL) return;
    sorter->values[index] = value;
    if (index > 0 && value < sorter->values[index - 1]) sorter->values_ascend = false;
}

/* Adds an entry. If memory is full, calls idxi_sorter_spill first, and fails if that fails. */
static inline enum idx_status idxi_sorter_add_or_spill(struct idxi_sorter *sorter, uint64_t fingerprint, uint64_t value,
                                                       struct idx_error *error) {
    if (idxi_sorter_get_free_entries(sorter) == 0) IDXI_TRY(idxi_sorter_spill(sorter, error));
    idxi_sorter_add(sorter, fingerprint, value);
    return IDX_OK;
}

/* Ends adding, and sets *stream to a stream of all entries, sorted, each once. It belongs to the sorter, and ends with
 * idxi_sorter_reset or idxi_sorter_close. Nothing can be added until idxi_sorter_reset. Fails as idxi_sorter_spill
 * does. */
enum idx_status idxi_sorter_open_stream(struct idxi_sorter *sorter, struct idxi_stream **stream,
                                        struct idx_error *error);

/* Removes all entries and ends the stream. Keeps the memory for other entries, and sets options.prefix to `prefix_bits`
 * for them. */
void idxi_sorter_reset(struct idxi_sorter *sorter, unsigned prefix_bits);

/* Returns how many bytes the sorter has written to temporary files since it was opened. */
uint64_t idxi_sorter_count_written_bytes(const struct idxi_sorter *sorter);

/* Frees memory and disk space, also those of the stream. */
void idxi_sorter_close(struct idxi_sorter *sorter);

#endif
