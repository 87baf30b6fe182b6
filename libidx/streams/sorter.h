/* sorter.h: sorts entries: in memory as long as they fit there, else as runs on disk. */
#ifndef IDX_LIBIDX_SORTER_H
#define IDX_LIBIDX_SORTER_H

#include "libidx/base/base.h"
#include "libidx/streams/kway_merge.h"
#include "libidx/streams/runs.h"

struct idxi_sorter_options {
    bool with_values;
    unsigned prefix; /* 0; else entries are permuted fingerprints that come in order within each prefix of so many bits,
                        and there are no values */
    unsigned threads;
    uint64_t memory; /* bytes: for what was added, and as much again while it is sorted */
    int folder;      /* for temporary files; descriptor and path are the caller's */
    const char *path;
    struct idxi_progress *progress;
};

/* A run, and how often its entries have been merged. */
struct idxi_sorter_run {
    struct idxi_run run;
    unsigned level;
};

struct idxi_sorter {
    struct idxi_sorter_options options;
    uint64_t *fingerprints, *values, *spare, *spare_values;
    size_t count, most;          /* in memory; `most` is what fits */
    bool values_ascend;          /* of those in memory, in the order they were added */
    struct idxi_run_file *files; /* one for each thread, once there is anything to write */
    size_t file_count;
    struct idxi_sorter_run *runs;
    size_t run_count, run_capacity;

    /* What is given at the end. */
    struct idxi_array_stream *arrays;
    struct idxi_run_stream *run_streams;
    size_t stream_count;
    struct idxi_kway_merge *merge;
};

/* How many runs are merged at a time within so many bytes. */
size_t idxi_sorter_fan(uint64_t memory);

/* To be closed also after an error. Memory is taken as entries are added. Errors: IDX_OUT_OF_MEMORY. */
enum idx_status idxi_sorter_open(struct idxi_sorter *sorter, const struct idxi_sorter_options *options,
                                 struct idx_error *error);

/* How many entries can be added before those in memory must be spilled. */
static inline size_t idxi_sorter_room(const struct idxi_sorter *sorter) { return sorter->most - sorter->count; }

/* Sorts what is in memory, and writes it to disk. */
enum idx_status idxi_sorter_spill(struct idxi_sorter *sorter, struct idx_error *error);

/* Adds an entry, for which there must be room. */
static inline void idxi_sorter_add(struct idxi_sorter *sorter, uint64_t fingerprint, uint64_t value) {
    size_t at = sorter->count++;
    sorter->fingerprints[at] = fingerprint;
    if (sorter->values == NULL) return;
    sorter->values[at] = value;
    if (at > 0 && value < sorter->values[at - 1]) sorter->values_ascend = false;
}

/* The same, spilling what is in memory where there is none. */
static inline enum idx_status idxi_sorter_put(struct idxi_sorter *sorter, uint64_t fingerprint, uint64_t value,
                                              struct idx_error *error) {
    if (idxi_sorter_room(sorter) == 0) {
        enum idx_status status = idxi_sorter_spill(sorter, error);
        if (status != IDX_OK) return status;
    }
    idxi_sorter_add(sorter, fingerprint, value);
    return IDX_OK;
}

/* Sorts what was added, and gives it, each entry once: the stream is the sorter's. Nothing can be added any more. */
enum idx_status idxi_sorter_end(struct idxi_sorter *sorter, struct idxi_stream **stream, struct idx_error *error);

/* Forgets all entries, and keeps the memory for others, sorted by as many bits of prefix. */
void idxi_sorter_reset(struct idxi_sorter *sorter, unsigned prefix);

/* Bytes written to temporary files. */
uint64_t idxi_sorter_written(const struct idxi_sorter *sorter);

void idxi_sorter_close(struct idxi_sorter *sorter);

#endif
