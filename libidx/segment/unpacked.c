/* unpacked.c: makes unpacked tables (see unpacked.h). */
#include <stdlib.h>
#include <string.h>

#include "libidx/base/base.h"
#include "libidx/segment/table_reader.h"
#include "libidx/segment/unpacked_tables.h"

/* ---- Patterns ---- */

/* Lists all patterns that consist of the bits of `pattern` and `bits_to_add` more bits below bit `end_bit`. Writes each
 * to patterns->flips[*count], unless flips is NULL, and adds 1 to *count. */
static void add_patterns(struct idxi_patterns *patterns, size_t *count, uint32_t pattern, unsigned end_bit,
                         unsigned bits_to_add) {
    if (bits_to_add == 0) {
        if (patterns->flips != NULL) patterns->flips[*count] = pattern;
        ++*count;
        return;
    }
    for (unsigned i = bits_to_add - 1; i < end_bit; i++) /* below i there must be bits_to_add - 1 bits */
        add_patterns(patterns, count, pattern | UINT32_C(1) << i, i, bits_to_add - 1);
}

/* Writes a part's patterns to patterns->flips, unless it is NULL. Sets patterns->counts, and returns the number of
 * patterns. */
static size_t count_or_list_patterns(struct idxi_patterns *patterns, const struct idxi_part *part) {
    size_t count = 0;
    for (unsigned errors = 0; errors <= part->radius; errors++) {
        add_patterns(patterns, &count, 0, part->bits, errors);
        patterns->counts[errors] = (uint32_t)count;
    }
    return count;
}

/* Allocates and lists the patterns of a part. patterns->flips must be NULL before, so the first pass only counts them;
 * the caller frees it. */
static enum idx_status make_patterns(struct idxi_patterns *patterns, const struct idxi_part *part,
                                     struct idx_error *error) {
    patterns->flips = malloc(count_or_list_patterns(patterns, part) * sizeof *patterns->flips);
    if (patterns->flips == NULL) return idxi_fail_memory(error);
    count_or_list_patterns(patterns, part);
    return IDX_OK;
}

/* ---- Sorting ---- */

#define REPORT_STEP ((size_t)1 << 16) /* fingerprints between two reports of progress */

/* Reads all fingerprints of a table into `fingerprints`, in the table's order but unpermuted. Fails unless there are as
 * many as its header says. Counts each as progress. */
static enum idx_status read_all_fingerprints(const struct idxi_table *table, uint64_t *fingerprints,
                                             struct idxi_progress *progress, struct idx_error *error) {
    struct idxi_table_stream *stream = malloc(sizeof *stream);
    uint64_t extra;
    size_t count = 0, done = 0, total = (size_t)table->header.fingerprints;
    enum idx_status status = stream == NULL ? idxi_fail_memory(error) : IDX_OK;
    if (status == IDX_OK) idxi_table_stream_init(stream, table);
    while (status == IDX_OK && done < total) {
        size_t max_count = (size_t)idxi_min(total - done, REPORT_STEP);
        status = stream->stream.read(&stream->stream, fingerprints + done, NULL, max_count, &count, error);
        if (status != IDX_OK || count == 0) break;
        for (size_t i = done; i < done + count; i++)
            fingerprints[i] = idxf_unpermute(&table->permutation, fingerprints[i]);
        done += count;
        status = idxi_progress_add(progress, count, error);
    }
    /* Only its end tells whether the table has no more fingerprints than its header says. */
    if (status == IDX_OK) status = stream->stream.read(&stream->stream, &extra, NULL, 1, &count, error);
    if (status == IDX_OK && done + count != total) status = idxi_fail_fault(error, IDXF_FAULT_COUNT, table->path, 0);
    free(stream);
    return status;
}

/* What all tasks of sorting share. */
struct sort_job {
    struct idxi_unpacked *unpacked;
    const uint64_t *fingerprints; /* all of them, in any order */
    struct idxi_progress *progress;
};

/* A task of idxi_run_parallel: copies all fingerprints, sorted by their values in part `number`. `context` is the
 * struct sort_job. First starts[value] becomes the number of fingerprints in a bucket, then the end of the bucket. Each
 * fingerprint then goes to the end of its bucket, and the end moves down, until it is where the bucket begins. */
static enum idx_status sort_part(void *context, size_t number, struct idx_error *error) {
    const struct sort_job *job = context;
    struct idxi_unpacked *unpacked = job->unpacked;
    const struct idxi_part *part = &unpacked->layout.parts[number];
    uint32_t *starts = unpacked->starts[number], end_of_bucket = 0;
    uint64_t *sorted = unpacked->fingerprints[number];
    size_t value_count = (size_t)1 << part->bits;
    memset(starts, 0, (value_count + 1) * sizeof *starts);
    for (size_t i = 0; i < unpacked->count; i++) starts[idxi_get_part_value(part, job->fingerprints[i])]++;
    for (size_t i = 0; i <= value_count; i++) starts[i] = end_of_bucket += starts[i];
    for (size_t unsorted = unpacked->count; unsorted > 0;) {
        size_t end = unsorted > REPORT_STEP ? unsorted - REPORT_STEP : 0;
        IDXI_TRY(idxi_progress_add(job->progress, unsorted - end, error));
        for (; unsorted > end; unsorted--) {
            uint64_t fingerprint = job->fingerprints[unsorted - 1];
            sorted[--starts[idxi_get_part_value(part, fingerprint)]] = fingerprint;
        }
    }
    return IDX_OK;
}

/* ---- All ---- */

#define SLACK ((size_t)64) /* bytes of zeros behind the last fingerprint, because vectors are loaded whole */

/* Rounds a number of bytes up to a multiple of SLACK, so that arrays are aligned. */
static size_t round_up_to_slack(size_t bytes) { return (bytes + SLACK - 1) / SLACK * SLACK; }

/* Returns the bytes of the array that says where a part's buckets begin, and where the last one ends. */
static size_t count_starts_bytes(const struct idxi_part *part) {
    return round_up_to_slack((((size_t)1 << part->bits) + 1) * sizeof(uint32_t));
}

/* Allocates one piece of memory for the arrays of all parts, sets where each begins, and makes the patterns. The caller
 * frees *unpacked, also after an error. */
static enum idx_status allocate_tables(struct idxi_unpacked *unpacked, struct idx_error *error) {
    size_t array_bytes = round_up_to_slack(unpacked->count * sizeof(uint64_t)) + SLACK, used_bytes = 0;
    for (unsigned i = 0; i < unpacked->layout.count; i++)
        unpacked->memory_bytes += array_bytes + count_starts_bytes(&unpacked->layout.parts[i]);
    unpacked->memory = idxi_allocate_pages(unpacked->memory_bytes);
    if (unpacked->memory == NULL) return idxi_fail_memory(error);
    for (unsigned i = 0; i < unpacked->layout.count; i++) {
        unpacked->fingerprints[i] = (uint64_t *)(void *)(unpacked->memory + used_bytes);
        memset(unpacked->memory + used_bytes + array_bytes - SLACK, 0, SLACK);
        used_bytes += array_bytes;
        unpacked->starts[i] = (uint32_t *)(void *)(unpacked->memory + used_bytes);
        used_bytes += count_starts_bytes(&unpacked->layout.parts[i]);
        IDXI_TRY(make_patterns(&unpacked->patterns[i], &unpacked->layout.parts[i], error));
    }
    return IDX_OK;
}

/* Reads the fingerprints of a table, and sorts a copy of them for each part of unpacked->layout. The caller frees
 * *unpacked, also after an error. */
static enum idx_status make_tables(struct idxi_unpacked *unpacked, const struct idxi_table *table,
                                   const struct idxi_unpacking_options *options, struct idx_error *error) {
    uint64_t work_units = (uint64_t)unpacked->count * (unpacked->layout.count + 1);
    IDXI_TRY(allocate_tables(unpacked, error));
    IDXI_TRY(idxi_progress_begin(options->progress, IDX_PHASE_TABLES, work_units, error));
    uint64_t *fingerprints = idxi_allocate_pages(unpacked->count * sizeof *fingerprints);
    struct sort_job job = {.unpacked = unpacked, .fingerprints = fingerprints, .progress = options->progress};
    enum idx_status status = fingerprints == NULL ? idxi_fail_memory(error) : IDX_OK;
    if (status == IDX_OK) status = read_all_fingerprints(table, fingerprints, options->progress, error);
    if (status == IDX_OK)
        status = idxi_run_parallel(unpacked->layout.count, options->threads, sort_part, &job, options->progress, error);
    free(fingerprints);
    return status;
}

/* Chooses a layout that fits into options->memory_bytes together with one more copy of the fingerprints, which sorting
 * needs. Fails with IDX_LIMIT for 2^32 - 1 fingerprints or more, or with IDX_OUT_OF_MEMORY if no layout fits. */
static enum idx_status choose_layout(struct idxi_layout *layout, const struct idxi_table *table,
                                     const struct idxi_unpacking_options *options, struct idx_error *error) {
    uint64_t count = table->header.fingerprints, copy_bytes = count * sizeof(uint64_t);
    uint64_t max_bytes = options->memory_bytes > copy_bytes ? options->memory_bytes - copy_bytes : 0;
    if (count >= UINT32_MAX)
        return idxi_fail(error, IDX_LIMIT, table->path,
                         "has %llu fingerprints: at most 2^32 - 2 of a segment can be unpacked; choose another "
                         "residence",
                         (unsigned long long)count);
    *layout = idxi_layout_choose(count, table->header.bits, options->distance, max_bytes);
    if (layout->bytes <= max_bytes) return IDX_OK;
    return idxi_fail(
        error, IDX_OUT_OF_MEMORY, table->path,
        "unpacking it takes at least %llu MiB, and %llu MiB are allowed; if it is only mapped it takes none: "
        "choose another residence",
        (unsigned long long)((layout->bytes + copy_bytes) >> 20) + 1,
        (unsigned long long)(options->memory_bytes >> 20));
}

enum idx_status idxi_unpacked_make(struct idxi_unpacked **result, const struct idxi_table *table,
                                   const struct idxi_unpacking_options *options, struct idx_error *error) {
    const struct idxi_bucket_way *ways[IDXI_MAX_BUCKET_WAYS];
    struct idxi_layout layout;
    *result = NULL;
    if (table->header.fingerprints == 0) return IDX_OK;
    IDXI_TRY(choose_layout(&layout, table, options, error));
    struct idxi_unpacked *unpacked = calloc(1, sizeof *unpacked);
    if (unpacked == NULL) return idxi_fail_memory(error);
    unpacked->layout = layout;
    unpacked->way = ways[idxi_list_bucket_ways(ways) - 1]; /* the last one is the fastest */
    unpacked->count = (size_t)table->header.fingerprints;
    for (unsigned i = 0; i <= options->distance; i++)
        unpacked->nanoseconds[i] = idxi_layout_choose_radii(&layout, unpacked->count, i, unpacked->radii[i]);
    enum idx_status status = make_tables(unpacked, table, options, error);
    if (status == IDX_OK)
        *result = unpacked;
    else
        idxi_unpacked_free(unpacked);
    return status;
}

void idxi_unpacked_free(struct idxi_unpacked *unpacked) {
    if (unpacked == NULL) return;
    for (unsigned i = 0; i < unpacked->layout.count; i++) free(unpacked->patterns[i].flips);
    free(unpacked->memory);
    free(unpacked);
}

uint64_t idxi_unpacked_count_bytes(const struct idxi_unpacked *unpacked) {
    uint64_t bytes = sizeof *unpacked + unpacked->memory_bytes;
    /* counts of a part's radius: all its patterns */
    for (unsigned i = 0; i < unpacked->layout.count; i++)
        bytes += unpacked->patterns[i].counts[unpacked->layout.parts[i].radius] * sizeof(uint32_t);
    return bytes;
}

double idxi_unpacked_get_nanoseconds(const struct idxi_unpacked *unpacked, unsigned distance) {
    return unpacked->nanoseconds[distance];
}
