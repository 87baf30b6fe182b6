/* sorter.c: each thread sorts a slice of the entries in memory and writes it as a run to a file of its own. The runs
 * are merged as they are read. If there are many runs of one level, they are first merged into one, since memory must
 * have a buffer for each run. */
#include "libidx/streams/sorter.h"

#include <stdlib.h>

#include "libidx/streams/sort.h"

/* Runs that are merged at a time: one for each MEMORY_PER_MERGED_RUN of memory. Each has a buffer of up to
 * MAX_RUN_BUFFER_BYTES. */
#define MIN_MERGED_RUNS 8
#define MAX_MERGED_RUNS 1024
#define MEMORY_PER_MERGED_RUN ((uint64_t)256 << 10)
#define MAX_RUN_BUFFER_BYTES ((size_t)1 << 20)

#define MIN_ENTRIES ((size_t)8192) /* the least capacity of a sorter */

/* ---- Memory ---- */

/* Makes arrays for sorter->capacity entries. Returns false if the address space is too small for all. Then some may be
 * made, and the caller calls release_arrays. */
static bool reserve_arrays(struct idxi_sorter *sorter) {
    bool with_values = sorter->options.with_values;
    sorter->fingerprints = idxi_array_reserve(sorter->capacity);
    sorter->spare = idxi_array_reserve(sorter->capacity);
    sorter->values = with_values ? idxi_array_reserve(sorter->capacity) : NULL;
    sorter->spare_values = with_values ? idxi_array_reserve(sorter->capacity) : NULL;
    bool has_arrays = sorter->fingerprints != NULL && sorter->spare != NULL;
    return has_arrays && (!with_values || (sorter->values != NULL && sorter->spare_values != NULL));
}

/* Frees an array of `count` elements, if there is one, and sets it to NULL. */
static void release_array(uint64_t **array, size_t count) {
    idxi_array_release(*array, count);
    *array = NULL;
}

/* Frees the arrays that only sorting needs. */
static void release_spare_arrays(struct idxi_sorter *sorter) {
    release_array(&sorter->spare, sorter->capacity);
    release_array(&sorter->spare_values, sorter->capacity);
}

/* Gives the memory of the arrays, in which there must be no entries, back to the system, and keeps the arrays. */
static void give_back_array_memory(struct idxi_sorter *sorter) {
    idxi_array_clear(sorter->fingerprints, sorter->capacity);
    idxi_array_clear(sorter->values, sorter->capacity);
    idxi_array_clear(sorter->spare, sorter->capacity);
    idxi_array_clear(sorter->spare_values, sorter->capacity);
}

/* Frees all arrays that were made. */
static void release_arrays(struct idxi_sorter *sorter) {
    release_array(&sorter->fingerprints, sorter->capacity);
    release_array(&sorter->values, sorter->capacity);
    release_spare_arrays(sorter);
}

enum idx_status idxi_sorter_open(struct idxi_sorter *sorter, const struct idxi_sorter_options *options,
                                 struct idx_error *error) {
    size_t entry_bytes = options->with_values ? 32 : 16; /* half of them for sorting */
    *sorter = (struct idxi_sorter){.options = *options, .values_ascend = true};
    sorter->capacity = (size_t)(options->memory / entry_bytes);
    if (sorter->capacity < MIN_ENTRIES) sorter->capacity = MIN_ENTRIES;
    /* The system may limit the address space to less, so less is tried. */
    while (!reserve_arrays(sorter)) {
        release_arrays(sorter);
        if (sorter->capacity < 2 * MIN_ENTRIES) return idxi_fail_memory(error);
        sorter->capacity /= 2;
    }
    return IDX_OK;
}

/* ---- Slices ---- */

/* Returns the index of the first entry of slice `number`, from 0. Each thread has a slice; if `number` is the number of
 * threads, returns the number of entries, the end of the last slice. Where entries don't divide evenly, the first
 * slices have one more. */
static size_t get_slice_begin(const struct idxi_sorter *sorter, size_t number) {
    unsigned threads = sorter->options.threads;
    size_t longer_slice_count = sorter->count % threads;
    return sorter->count / threads * number + (number < longer_slice_count ? number : longer_slice_count);
}

/* An idxi_plain_task that sorts slice `number` of the sorter `context` in place. Values are compared only if they were
 * not added in ascending order. */
static enum idx_status sort_slice(void *context, size_t number, struct idx_error *error) {
    struct idxi_sorter *sorter = context;
    const struct idxi_sorter_options *options = &sorter->options;
    size_t begin = get_slice_begin(sorter, number), count = get_slice_begin(sorter, number + 1) - begin;
    uint64_t *fingerprints = sorter->fingerprints + begin, *spare = sorter->spare + begin;
    uint64_t *values = options->with_values ? sorter->values + begin : NULL;
    uint64_t *spare_values = options->with_values ? sorter->spare_values + begin : NULL;
    idxi_array_populate(spare, count);
    if (spare_values != NULL) idxi_array_populate(spare_values, count);
    if (options->prefix > 0) {
        idxi_sort_prefixes(fingerprints, count, options->prefix, spare);
        /* Checks for cancelling alone: the caller, which writes a table, adds the units. */
        return idxi_progress_add(options->progress, 0, error);
    }
    idxi_sort_pairs(fingerprints, values, count, values != NULL && !sorter->values_ascend, spare, spare_values);
    return idxi_progress_add(options->progress, count, error);
}

/* Sorts all slices, each in a thread of its own. */
static enum idx_status sort_slices(struct idxi_sorter *sorter, struct idx_error *error) {
    unsigned threads = sorter->options.threads;
    return idxi_run_parallel(threads, threads, sort_slice, sorter, sorter->options.progress, error);
}

/* ---- Runs ---- */

/* Creates the files of runs, one for each thread, unless there are some already. */
static enum idx_status open_run_files(struct idxi_sorter *sorter, struct idx_error *error) {
    const struct idxi_sorter_options *options = &sorter->options;
    if (sorter->files != NULL) return IDX_OK;
    sorter->files = calloc(options->threads, sizeof *sorter->files);
    if (sorter->files == NULL) return idxi_fail_memory(error);
    while (sorter->file_count < options->threads)
        IDXI_TRY(idxi_run_file_open(&sorter->files[sorter->file_count++], options->folder, options->path,
                                    options->with_values, error));
    return IDX_OK;
}

/* An idxi_plain_task that writes slice `number` of the sorter `context`, which is sorted, as a run of file `number`.
 * Sets runs[run_count + number] to it: sorter->runs must have room for a run of each thread behind its last one. */
static enum idx_status write_slice_as_run(void *context, size_t number, struct idx_error *error) {
    struct idxi_sorter *sorter = context;
    struct idxi_run_file *file = &sorter->files[number];
    size_t begin = get_slice_begin(sorter, number), count = get_slice_begin(sorter, number + 1) - begin;
    const uint64_t *values = sorter->options.with_values ? sorter->values + begin : NULL;
    IDXI_TRY(idxi_run_file_write(file, sorter->fingerprints + begin, values, count, error));
    return idxi_run_file_end(file, &sorter->runs[sorter->run_count + number].run, error);
}

size_t idxi_sorter_get_fan_in(uint64_t memory_bytes) {
    uint64_t fan_in = memory_bytes / MEMORY_PER_MERGED_RUN;
    return fan_in < MIN_MERGED_RUNS ? MIN_MERGED_RUNS : idxi_min(fan_in, MAX_MERGED_RUNS);
}

/* Returns how many runs this sorter merges at a time. */
static size_t get_fan_in(const struct idxi_sorter *sorter) { return idxi_sorter_get_fan_in(sorter->options.memory); }

/* Opens sorter->merge over the last `count` (1 or more) runs. `drops`: frees the disk space of what was read. There
 * must be no entries in memory, since the buffers of runs use the memory of the arrays. After an error, the caller
 * calls close_streams. */
static enum idx_status open_run_merge(struct idxi_sorter *sorter, size_t count, bool drops, struct idx_error *error) {
    const struct idxi_sorter_run *runs = sorter->runs + sorter->run_count - count;
    size_t buffer_bytes = (size_t)(sorter->options.memory / 4 / count); /* a quarter of the memory for all runs */
    if (buffer_bytes < IDXI_MIN_RUN_BUFFER) buffer_bytes = IDXI_MIN_RUN_BUFFER;
    if (buffer_bytes > MAX_RUN_BUFFER_BYTES) buffer_bytes = MAX_RUN_BUFFER_BYTES;
    give_back_array_memory(sorter);
    struct idxi_stream **inputs = malloc(count * sizeof *inputs);
    sorter->run_streams = calloc(count, sizeof *sorter->run_streams);
    enum idx_status status = inputs == NULL || sorter->run_streams == NULL ? idxi_fail_memory(error) : IDX_OK;
    for (size_t i = 0; i < count && status == IDX_OK; i++) {
        status = idxi_run_stream_open(&sorter->run_streams[i], &runs[i].run, drops, buffer_bytes, error);
        sorter->stream_count++; /* also after a failure, so that close_streams frees what was allocated */
        inputs[i] = &sorter->run_streams[i].stream;
    }
    if (status == IDX_OK)
        status = idxi_kway_merge_open(&sorter->merge, inputs, count, sorter->options.with_values, error);
    free(inputs);
    return status;
}

/* Closes sorter->merge and what it reads, as far as they are open. */
static void close_streams(struct idxi_sorter *sorter) {
    idxi_kway_merge_close(sorter->merge);
    sorter->merge = NULL;
    while (sorter->stream_count > 0) idxi_run_stream_close(&sorter->run_streams[--sorter->stream_count]);
    free(sorter->run_streams);
    sorter->run_streams = NULL;
    free(sorter->arrays);
    sorter->arrays = NULL;
}

/* Writes all entries of sorter->merge as one run of the first file, and sets *run. */
static enum idx_status write_merged_run(struct idxi_sorter *sorter, struct idxi_run *run, struct idx_error *error) {
    uint64_t fingerprints[IDXI_STREAM_ENTRIES], values[IDXI_STREAM_ENTRIES];
    struct idxi_stream *stream = idxi_kway_merge_get_stream(sorter->merge);
    uint64_t *values_or_null = sorter->options.with_values ? values : NULL;
    size_t count;
    do {
        IDXI_TRY(stream->read(stream, fingerprints, values_or_null, IDXI_STREAM_ENTRIES, &count, error));
        IDXI_TRY(idxi_run_file_write(&sorter->files[0], fingerprints, values_or_null, count, error));
        IDXI_TRY(idxi_progress_add(sorter->options.progress, 0, error)); /* checks for cancelling alone */
    } while (count > 0);
    return idxi_run_file_end(&sorter->files[0], run, error);
}

/* Merges the last `count` runs, and replaces them by the result, a run of the next level above the last one's. */
static enum idx_status merge_last_runs(struct idxi_sorter *sorter, size_t count, struct idx_error *error) {
    struct idxi_sorter_run merged = {.level = sorter->runs[sorter->run_count - 1].level + 1};
    enum idx_status status = open_run_merge(sorter, count, true, error);
    if (status == IDX_OK) status = write_merged_run(sorter, &merged.run, error);
    close_streams(sorter);
    if (status != IDX_OK) return status;
    sorter->run_count -= count;
    sorter->runs[sorter->run_count++] = merged;
    return IDX_OK;
}

/* Returns how many runs at the end of sorter->runs have the same level. */
static size_t count_runs_of_last_level(const struct idxi_sorter *sorter) {
    size_t count = 0;
    while (count < sorter->run_count &&
           sorter->runs[sorter->run_count - 1 - count].level == sorter->runs[sorter->run_count - 1].level)
        count++;
    return count;
}

enum idx_status idxi_sorter_spill(struct idxi_sorter *sorter, struct idx_error *error) {
    unsigned threads = sorter->options.threads;
    IDXI_TRY(open_run_files(sorter, error));
    IDXI_TRY(sort_slices(sorter, error));
    IDXI_GROW(sorter->runs, sorter->run_capacity, sorter->run_count + threads, error);
    IDXI_TRY(idxi_run_parallel(threads, threads, write_slice_as_run, sorter, sorter->options.progress, error));
    for (unsigned i = 0; i < threads; i++) sorter->runs[sorter->run_count++].level = 0;
    sorter->count = 0;
    sorter->values_ascend = true;
    while (count_runs_of_last_level(sorter) >= get_fan_in(sorter))
        IDXI_TRY(merge_last_runs(sorter, count_runs_of_last_level(sorter), error));
    return IDX_OK;
}

/* ---- The stream of sorted entries ---- */

/* Opens sorter->merge over the sorted slices in memory. close_streams closes it, also after an error. */
static enum idx_status open_slice_merge(struct idxi_sorter *sorter, struct idx_error *error) {
    size_t count = sorter->options.threads;
    struct idxi_stream **inputs = malloc(count * sizeof *inputs);
    sorter->arrays = calloc(count, sizeof *sorter->arrays);
    bool has_memory = inputs != NULL && sorter->arrays != NULL;
    for (size_t i = 0; i < count && has_memory; i++) {
        size_t begin = get_slice_begin(sorter, i);
        const uint64_t *values = sorter->options.with_values ? sorter->values + begin : NULL;
        idxi_array_stream_init(&sorter->arrays[i], sorter->fingerprints + begin, values,
                               get_slice_begin(sorter, i + 1) - begin);
        inputs[i] = &sorter->arrays[i].stream;
    }
    enum idx_status status =
        has_memory ? idxi_kway_merge_open(&sorter->merge, inputs, count, sorter->options.with_values, error)
                   : idxi_fail_memory(error);
    free(inputs);
    return status;
}

enum idx_status idxi_sorter_open_stream(struct idxi_sorter *sorter, struct idxi_stream **stream,
                                        struct idx_error *error) {
    if (sorter->run_count == 0) {
        IDXI_TRY(sort_slices(sorter, error));
        if (sorter->options.prefix == 0) release_spare_arrays(sorter); /* the arrays will not be sorted again */
        IDXI_TRY(open_slice_merge(sorter, error));
    } else {
        if (sorter->count > 0) IDXI_TRY(idxi_sorter_spill(sorter, error));
        while (sorter->run_count > get_fan_in(sorter)) IDXI_TRY(merge_last_runs(sorter, get_fan_in(sorter), error));
        IDXI_TRY(open_run_merge(sorter, sorter->run_count, sorter->options.once, error));
    }
    *stream = idxi_kway_merge_get_stream(sorter->merge);
    return IDX_OK;
}

void idxi_sorter_reset(struct idxi_sorter *sorter, unsigned prefix_bits) {
    close_streams(sorter);
    while (sorter->run_count > 0) idxi_run_drop(&sorter->runs[--sorter->run_count].run);
    sorter->options.prefix = prefix_bits;
    sorter->count = 0;
    sorter->values_ascend = true;
}

uint64_t idxi_sorter_count_written_bytes(const struct idxi_sorter *sorter) {
    uint64_t written = 0;
    for (size_t i = 0; i < sorter->file_count; i++) written += sorter->files[i].written;
    return written;
}

void idxi_sorter_close(struct idxi_sorter *sorter) {
    close_streams(sorter);
    while (sorter->file_count > 0) idxi_run_file_close(&sorter->files[--sorter->file_count]);
    free(sorter->files);
    free(sorter->runs);
    release_arrays(sorter);
    *sorter = (struct idxi_sorter){0};
}
