/* sorting.c: see sorting.h. Each thread counts the values of its share of the fingerprints; a value is what a
 * fingerprint has in the bits of the mask. Summing up these counts gives the places to which each thread moves its
 * share. */
#include "libidx/fingerprints/sorting.h"

#include <string.h>

#include "format/processor.h"

uint64_t idxi_get_buckets_bytes(size_t count, unsigned width) {
    return (uint64_t)count * sizeof(uint64_t) + (((uint64_t)1 << width) + 2) * sizeof(uint32_t);
}

size_t idxi_get_counts_bytes(unsigned width) { return sizeof(uint32_t) << width; }

/* Returns where the share of a thread begins in sorting->from; it ends where that of the next thread begins. */
static size_t find_share_begin(const struct idxi_sorting *sorting, size_t thread) {
    return sorting->count * thread / sorting->threads;
}

/* Returns the numbers of a thread, one for each value: first how many fingerprints of its share have the value, later
 * the place in the output for the next one. */
static uint32_t *get_thread_counts(const struct idxi_sorting *sorting, size_t thread) {
    return sorting->counts + (thread << idxf_count_bits(sorting->mask));
}

/* An idxi_plain_task: counts the values of a thread's share. Adds nothing to the progress: fails only if cancelled. */
static enum idx_status count_values_of_share(void *context, size_t thread, struct idx_error *error) {
    const struct idxi_sorting *sorting = context;
    size_t begin = find_share_begin(sorting, thread), end = find_share_begin(sorting, thread + 1);
    memset(get_thread_counts(sorting, thread), 0, idxi_get_counts_bytes(idxf_count_bits(sorting->mask)));
    sorting->way->count(sorting->from + begin, end - begin, sorting->mask, get_thread_counts(sorting, thread));
    return idxi_progress_add(sorting->progress, 0, error);
}

/* An idxi_plain_task: moves the fingerprints of a thread's share to their places. Fails only if cancelled. */
static enum idx_status place_fingerprints_of_share(void *context, size_t thread, struct idx_error *error) {
    const struct idxi_sorting *sorting = context;
    size_t begin = find_share_begin(sorting, thread), end = find_share_begin(sorting, thread + 1);
    sorting->way->place(sorting->from + begin, end - begin, sorting->mask, sorting->to.fingerprints,
                        get_thread_counts(sorting, thread));
    return idxi_progress_add(sorting->progress, 0, error);
}

/* Turns each thread's counts into its first place for each value, and sets the starts of the buckets. Within a bucket,
 * the places of the threads follow each other in order, so that sorting is stable. */
static void turn_counts_into_places(const struct idxi_sorting *sorting) {
    size_t values = (size_t)1 << idxf_count_bits(sorting->mask);
    uint32_t *starts = sorting->to.starts, next_place = 0;
    for (size_t value = 0; value < values; value++) {
        starts[value] = next_place;
        for (size_t thread = 0; thread < sorting->threads; thread++) {
            uint32_t *place = get_thread_counts(sorting, thread) + value, count = *place;
            *place = next_place;
            next_place += count;
        }
    }
    starts[values] = next_place;
}

enum idx_status idxi_sort_into_buckets(struct idxi_sorting *sorting, struct idx_error *error) {
    unsigned threads = sorting->threads;
    if (sorting->counts == NULL) {
        sorting->to.starts[0] = 0;
        idxi_sort_by_mask(sorting->way, sorting->from, sorting->count, sorting->mask, sorting->to.fingerprints,
                          sorting->to.starts + 1);
        return sorting->progress == NULL ? IDX_OK : idxi_progress_add(sorting->progress, 0, error);
    }
    IDXI_TRY(idxi_run_parallel(threads, threads, count_values_of_share, sorting, sorting->progress, error));
    turn_counts_into_places(sorting);
    return idxi_run_parallel(threads, threads, place_fingerprints_of_share, sorting, sorting->progress, error);
}
