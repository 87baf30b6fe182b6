/* tables.c: writes all tables of a segment from its fingerprints in their own order. */
#include "libidx/building/tables.h"

#include <stdlib.h>

#include "libidx/streams/sorter.h"

/* Tables that are being written, by several threads. */
struct making {
    struct idxi_output *output;
    const struct idxi_table_form *form;
    const struct idxi_distinct *distinct;
    atomic_size_t unread;        /* tables that have yet to read the distinct fingerprints */
    struct idxi_sorter *sorters; /* as many as threads: a table takes one that is free */
    atomic_bool *taken;          /* for each sorter, whether a table has it */
    atomic_uint_fast64_t bytes;  /* of the files written so far */
};

/* ---- Tables that need no sorting ---- */

bool idxi_is_leading(uint64_t mask, unsigned bits) {
    uint64_t other_bits = ~mask & (UINT64_MAX >> (64 - bits));
    return (other_bits & (other_bits + 1)) == 0; /* the other bits are the lowest ones */
}

/* The fingerprints of a table whose mask is the leading bits, so that permuting and left-aligning them is a shift. */
struct shifted {
    struct idxi_stream stream;
    struct idxi_stream *source;
    unsigned shift;
    struct idxi_progress *progress;
};

/* Reads fingerprints as struct idxi_stream says: those of the source, shifted. */
static enum idx_status read_shifted(struct idxi_stream *stream, uint64_t *fingerprints, uint64_t *values,
                                    size_t capacity, size_t *count, struct idx_error *error) {
    struct shifted *shifted = (struct shifted *)stream;
    IDXI_TRY(shifted->source->read(shifted->source, fingerprints, values, capacity, count, error));
    for (size_t i = 0; i < *count; i++) fingerprints[i] <<= shifted->shift;
    return idxi_progress_add(shifted->progress, *count, error);
}

/* ---- Tables that are sorted ---- */

/* Notes that one more table has read all distinct fingerprints. After the last table, frees their space on disk. */
static void note_table_read(struct making *making) {
    if (atomic_fetch_sub(&making->unread, 1) == 1) idxi_distinct_drop(making->distinct);
}

/* Adds all fingerprints of the source, permuted for table `number`, to its sorter. */
static enum idx_status add_permuted(const struct making *making, size_t number, struct idxi_stream *source,
                                    struct idxi_sorter *sorter, struct idx_error *error) {
    struct idxf_permutation permutation;
    uint64_t fingerprints[IDXI_STREAM_ENTRIES];
    size_t count;
    idxf_permutation_init(&permutation, making->form->scheme->tables[number].mask, making->form->scheme->bits);
    for (;;) {
        size_t max_count = (size_t)idxi_min(idxi_sorter_get_free_entries(sorter), IDXI_STREAM_ENTRIES);
        IDXI_TRY(source->read(source, fingerprints, NULL, max_count, &count, error));
        if (count == 0) return IDX_OK;
        for (size_t i = 0; i < count; i++) idxi_sorter_add(sorter, idxf_permute(&permutation, fingerprints[i]), 0);
        IDXI_TRY(idxi_progress_add(making->form->progress, count, error));
        if (idxi_sorter_get_free_entries(sorter) == 0) IDXI_TRY(idxi_sorter_spill(sorter, error));
    }
}

/* Returns a sorter that no other thread uses. There are as many as threads, so one is always free. */
static struct idxi_sorter *claim_sorter(struct making *making) {
    size_t i = 0;
    while (atomic_exchange(&making->taken[i], true)) i++;
    return &making->sorters[i];
}

/* Writes table `number`, whose order is not that of the source. */
static enum idx_status write_sorted_table(struct making *making, size_t number, struct idxi_stream *source,
                                          struct idxi_table_made *made, struct idx_error *error) {
    struct idxi_sorter *sorter = claim_sorter(making);
    struct idxi_stream *sorted;
    uint64_t mask = making->form->scheme->tables[number].mask;
    idxi_sorter_reset(sorter, (unsigned)__builtin_popcountll(mask));
    enum idx_status status = add_permuted(making, number, source, sorter, error);
    if (status == IDX_OK) note_table_read(making);
    if (status == IDX_OK) status = idxi_sorter_open_stream(sorter, &sorted, error);
    if (status == IDX_OK) status = idxi_output_write_table(making->output, making->form, number, sorted, made, error);
    /* After an error the sorter still has fingerprints, so no other table may use it; this thread begins none. */
    if (status == IDX_OK) making->taken[sorter - making->sorters] = false;
    return status;
}

/* ---- All tables ---- */

/* Writes table `number` from the source, which has all fingerprints in their own order: shifts or sorts them. */
static enum idx_status shift_or_sort_table(struct making *making, size_t number, struct idxi_stream *source,
                                           struct idxi_table_made *made, struct idx_error *error) {
    const struct idx_scheme *scheme = making->form->scheme;
    struct shifted shifted = {.stream = {.read = read_shifted, .rewind = NULL},
                              .source = source,
                              .shift = IDX_MAX_BITS - scheme->bits,
                              .progress = making->form->progress};
    if (!idxi_is_leading(scheme->tables[number].mask, scheme->bits))
        return write_sorted_table(making, number, source, made, error);
    IDXI_TRY(idxi_output_write_table(making->output, making->form, number, &shifted.stream, made, error));
    note_table_read(making);
    return IDX_OK;
}

/* A task of idxi_run_parallel: writes table `number` of the scheme. `context` is the struct making. */
static enum idx_status run_table_task(void *context, size_t number, struct idx_error *error) {
    struct making *making = context;
    struct idxi_distinct_stream source;
    struct idxi_table_made made = {0, 0};
    enum idx_status status = idxi_distinct_open(making->distinct, &source, error);
    if (status == IDX_OK) status = shift_or_sort_table(making, number, source.stream, &made, error);
    idxi_distinct_close(&source);
    making->bytes += made.bytes;
    return status;
}

enum idx_status idxi_tables_write(struct idxi_output *output, const struct idxi_table_form *form,
                                  const struct idxi_distinct *distinct, unsigned threads, uint64_t memory,
                                  struct idxi_tables_made *made, struct idx_error *error) {
    size_t tables = form->scheme->table_count;
    if (threads > tables) threads = (unsigned)tables;
    struct making making = {.output = output, .form = form, .distinct = distinct, .unread = tables};
    struct idxi_sorter_options options = {.once = true,
                                          .threads = 1,
                                          .memory = memory / threads,
                                          .folder = output->temporary_folder,
                                          .path = output->temporary_path,
                                          .progress = form->progress};
    making.sorters = calloc(threads, sizeof *making.sorters);
    making.taken = calloc(threads, sizeof *making.taken);
    enum idx_status status = making.sorters == NULL || making.taken == NULL ? idxi_fail_memory(error) : IDX_OK;
    for (unsigned i = 0; i < threads && status == IDX_OK; i++)
        status = idxi_sorter_open(&making.sorters[i], &options, error);
    if (status == IDX_OK) status = idxi_run_parallel(tables, threads, run_table_task, &making, form->progress, error);
    *made = (struct idxi_tables_made){.bytes = making.bytes, .temporary_bytes = 0};
    for (unsigned i = 0; i < threads && making.sorters != NULL; i++) {
        made->temporary_bytes += idxi_sorter_count_written_bytes(&making.sorters[i]);
        idxi_sorter_close(&making.sorters[i]);
    }
    free(making.sorters);
    free(making.taken);
    return status;
}
