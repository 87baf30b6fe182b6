/* streaming.h: what idx_batch and idx_stream share: their options; and queries in memory, past which fingerprints
 * stream, by tables of the queries (passing.h) or as arrays (passing_arrays.h), whichever is expected to be faster. */
#ifndef IDX_LIBIDX_STREAMING_H
#define IDX_LIBIDX_STREAMING_H

#include "libidx/batch/passing.h"
#include "libidx/batch/passing_arrays.h"

/* Copies options, or where they are NULL takes the defaults, and checks all but the distance. Errors:
 * IDX_INVALID_ARGUMENT. */
enum idx_status idxi_batch_options(struct idx_batch_options *options, const struct idx_batch_options *given,
                                   struct idx_error *error);

struct idxi_streaming {
    unsigned threads; /* that may add fingerprints; one where they are searched as arrays, on several threads */
    bool by_arrays;
    struct idxi_progress *progress;
    struct idxi_query_tables *tables;
    struct idxi_passing *passings[IDX_MAX_THREADS]; /* one for each thread */
    struct idxi_passing_arrays arrays;
};

/* Takes queries of `bits` bits, which can go then. About `fingerprints` will stream past them; UINT64_MAX: any number.
 * Distance, threads and memory are those of the options. To be closed also after an error. Errors: IDX_LIMIT (2^32 - 1
 * queries or more), IDX_OUT_OF_MEMORY. */
enum idx_status idxi_streaming_open(struct idxi_streaming *streaming, const uint64_t *queries, size_t count,
                                    unsigned bits, uint64_t fingerprints, const struct idx_batch_options *options,
                                    struct idxi_results *results, struct idxi_progress *progress,
                                    struct idx_error *error);

/* Lets fingerprints pass, and adds them to the progress. Each thread gives its number. Errors: IDX_INVALID_ARGUMENT (a
 * fingerprint of too many bits), IDX_CANCELLED, IDX_OUT_OF_MEMORY, and of idxi_results_put. */
enum idx_status idxi_streaming_add(struct idxi_streaming *streaming, size_t thread, const uint64_t *fingerprints,
                                   size_t count, struct idx_error *error);

/* Puts all matches that were not put. */
enum idx_status idxi_streaming_end(struct idxi_streaming *streaming, struct idx_error *error);

void idxi_streaming_close(struct idxi_streaming *streaming);

#endif
