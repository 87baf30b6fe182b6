/* tables.c: writes all tables of a segment from its fingerprints in their own order. */
#include "libidx/building/tables.h"

#include <stdlib.h>

#include "libidx/streams/sorter.h"

/* The state of idxi_tables_write, which all its threads share. */
struct tables_job {
    struct idxi_output *output;
    const struct idxi_table_form *form;
    const struct idxi_distinct *distinct;
    atomic_size_t pending_reads; /* tables that have not read all distinct fingerprints yet */
    struct idxi_sorter *sorters; /* as many as threads: a table claims one that is free */
    atomic_bool *claimed;        /* for each sorter, whether a table uses it */
    atomic_uint_fast64_t bytes;  /* of the files written so far */
};

/* ---- Tables that need no sorting ---- */

bool idxi_is_leading_mask(uint64_t mask, unsigned bits) {
    uint64_t other_bits = ~mask & (UINT64_MAX >> (64 - bits));
    return (other_bits & (other_bits + 1)) == 0; /* the other bits are the lowest ones */
}

/* The fingerprints of a table whose mask is the leading bits, so that permuting and left-aligning them is a shift. */
struct shifted_stream {
    struct idxi_stream stream;
    struct idxi_stream *source;
    unsigned shift;
    struct idxi_progress *progress;
};

/* Reads fingerprints as struct idxi_stream says: those of the source, shifted and counted as progress. */
static enum idx_status read_shifted(struct idxi_stream *stream, uint64_t *fingerprints, uint64_t *values,
                                    size_t capacity, size_t *count, struct idx_error *error) {
    struct shifted_stream *shifted = (struct shifted_stream *)stream;
    IDXI_TRY(shifted->source->read(shifted->source, fingerprints, values, capacity, count, error));
    for (size_t i = 0; i < *count; i++) fingerprints[i] <<= shifted->shift;
    return idxi_progress_add(shifted->progress, *count, error);
}

/* ---- Tables that are sorted ---- */

/* Notes that one more table has read all distinct fingerprints. After the last table, frees their space on disk. */
static void note_table_read(struct tables_job *job) {
    if (atomic_fetch_sub(&job->pending_reads, 1) == 1) idxi_distinct_drop(job->distinct);
}

/* Adds all fingerprints of the source to the sorter, permuted for table `number` and left-aligned. Each counts as
 * progress. */
static enum idx_status permute_and_add(const struct tables_job *job, size_t number, struct idxi_stream *source,
                                       struct idxi_sorter *sorter, struct idx_error *error) {
    struct idxf_permutation permutation;
    uint64_t fingerprints[IDXI_STREAM_ENTRIES];
    size_t count;
    idxf_permutation_init(&permutation, job->form->scheme->tables[number].mask, job->form->scheme->bits);
    for (;;) {
        size_t max_count = (size_t)idxi_min(idxi_sorter_get_free_entries(sorter), IDXI_STREAM_ENTRIES);
        IDXI_TRY(source->read(source, fingerprints, NULL, max_count, &count, error));
        if (count == 0) return IDX_OK;
        for (size_t i = 0; i < count; i++) idxi_sorter_add(sorter, idxf_permute(&permutation, fingerprints[i]), 0);
        IDXI_TRY(idxi_progress_add(job->form->progress, count, error));
        if (idxi_sorter_get_free_entries(sorter) == 0) IDXI_TRY(idxi_sorter_spill(sorter, error));
    }
}

/* Claims a sorter that no other table uses. As there are as many as threads, one is free unless a table failed. */
static struct idxi_sorter *claim_sorter(struct tables_job *job) {
    size_t i = 0;
    while (atomic_exchange(&job->claimed[i], true)) i++;
    return &job->sorters[i];
}

/* Writes table `number`, whose order is not that of the source: sorts its permuted fingerprints first. */
static enum idx_status write_sorted_table(struct tables_job *job, size_t number, struct idxi_stream *source,
                                          struct idxi_table_result *result, struct idx_error *error) {
    struct idxi_sorter *sorter = claim_sorter(job);
    struct idxi_stream *sorted;
    idxi_sorter_reset(sorter, (unsigned)__builtin_popcountll(job->form->scheme->tables[number].mask));
    enum idx_status status = permute_and_add(job, number, source, sorter, error);
    if (status == IDX_OK) note_table_read(job);
    if (status == IDX_OK) status = idxi_sorter_open_stream(sorter, &sorted, error);
    if (status == IDX_OK) status = idxi_output_write_table(job->output, job->form, number, sorted, result, error);
    /* After an error the sorter still has fingerprints, so it stays claimed; this thread begins no other table. */
    if (status == IDX_OK) job->claimed[sorter - job->sorters] = false;
    return status;
}

/* ---- All tables ---- */

/* Writes table `number` from the source, which has all fingerprints in their own order: shifts or sorts them. */
static enum idx_status shift_or_sort_table(struct tables_job *job, size_t number, struct idxi_stream *source,
                                           struct idxi_table_result *result, struct idx_error *error) {
    const struct idx_scheme *scheme = job->form->scheme;
    struct shifted_stream shifted = {.stream = {.read = read_shifted, .rewind = NULL},
                                     .source = source,
                                     .shift = IDX_MAX_BITS - scheme->bits,
                                     .progress = job->form->progress};
    if (!idxi_is_leading_mask(scheme->tables[number].mask, scheme->bits))
        return write_sorted_table(job, number, source, result, error);
    IDXI_TRY(idxi_output_write_table(job->output, job->form, number, &shifted.stream, result, error));
    note_table_read(job);
    return IDX_OK;
}

/* A task of idxi_run_parallel: writes table `number` of the scheme. `context` is the struct tables_job. */
static enum idx_status run_table_task(void *context, size_t number, struct idx_error *error) {
    struct tables_job *job = context;
    struct idxi_distinct_stream source;
    struct idxi_table_result result = {0, 0};
    enum idx_status status = idxi_distinct_open_stream(job->distinct, &source, error);
    if (status == IDX_OK) status = shift_or_sort_table(job, number, source.stream, &result, error);
    idxi_distinct_close_stream(&source);
    job->bytes += result.bytes;
    return status;
}

enum idx_status idxi_tables_write(struct idxi_output *output, const struct idxi_table_form *form,
                                  const struct idxi_distinct *distinct, unsigned threads, uint64_t memory_bytes,
                                  struct idxi_tables_result *result, struct idx_error *error) {
    size_t table_count = form->scheme->table_count;
    if (threads > table_count) threads = (unsigned)table_count;
    struct tables_job job = {.output = output, .form = form, .distinct = distinct, .pending_reads = table_count};
    struct idxi_sorter_options options = {.once = true,
                                          .threads = 1,
                                          .memory = memory_bytes / threads,
                                          .folder = output->temporary_folder,
                                          .path = output->temporary_path,
                                          .progress = form->progress};
    job.sorters = calloc(threads, sizeof *job.sorters);
    job.claimed = calloc(threads, sizeof *job.claimed);
    enum idx_status status = job.sorters == NULL || job.claimed == NULL ? idxi_fail_memory(error) : IDX_OK;
    for (unsigned i = 0; i < threads && status == IDX_OK; i++)
        status = idxi_sorter_open(&job.sorters[i], &options, error);
    if (status == IDX_OK) status = idxi_run_parallel(table_count, threads, run_table_task, &job, form->progress, error);
    *result = (struct idxi_tables_result){.bytes = job.bytes, .temporary_bytes = 0};
    for (unsigned i = 0; i < threads && job.sorters != NULL; i++) {
        result->temporary_bytes += idxi_sorter_count_written_bytes(&job.sorters[i]);
        idxi_sorter_close(&job.sorters[i]);
    }
    free(job.sorters);
    free(job.claimed);
    return status;
}
