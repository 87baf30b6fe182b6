/* streaming.h: what idx_batch and idx_stream share: their options, and the comparison of a stream of fingerprints with
 * queries in memory. The bits are cut into one part more than a match may have errors, so each match agrees with its
 * query in a part, and a fingerprint is compared with the queries that agree with it in one of them. If that is slower,
 * fingerprints are collected instead, and searched together with the queries as arrays (array_pairs.h). */
#ifndef IDX_LIBIDX_STREAMING_H
#define IDX_LIBIDX_STREAMING_H

#include "libidx/base/base.h"
#include "libidx/batch/distinct_queries.h"
#include "libidx/batch/results.h"
#include "libidx/fingerprints/balls.h"
#include "libidx/fingerprints/value_slots.h"

/* Copies the options of a caller to *options, or the defaults if `caller_options` is NULL. Chooses the memory if the
 * caller names none. Checks all options but the distance. Errors: IDX_INVALID_ARGUMENT. */
enum idx_status idxi_copy_batch_options(struct idx_batch_options *options,
                                        const struct idx_batch_options *caller_options, struct idx_error *error);

/* What one thread needs to compare fingerprints. */
struct idxi_streaming_worker;

struct idxi_streaming {
    struct idxi_distinct_queries queries;
    struct idxi_value_slots slots; /* the places of the queries' values */
    unsigned bits, distance;
    unsigned threads;       /* how many threads may call idxi_streaming_compare; one if arrays are searched */
    unsigned array_threads; /* how many threads search arrays */
    uint64_t memory;        /* bytes for the fingerprints that are collected, and for searching */
    struct idxi_results *results;
    struct idxi_progress *progress;
    struct idxi_cut cut;                               /* no balls if arrays are searched */
    struct idxi_folded_buckets buckets[IDX_MAX_K + 1]; /* the queries by the bits of each ball */
    struct idxi_streaming_worker *workers[IDX_MAX_THREADS];
};

/* Returns how many fingerprints to collect for each search of arrays with `query_count` queries: enough that sorting
 * the queries again each time pays, but no more than half of `memory` bytes holds. At least 1. */
size_t idxi_choose_collected_count(size_t query_count, uint64_t memory);

/* Returns how many bytes the buckets of `query_count` queries take, with their folds, for all distance + 1 balls of
 * `width` bits. */
uint64_t idxi_count_bucket_bytes(size_t query_count, unsigned distance, unsigned width);

/* Copies `count` queries of `bits` bits, and chooses the faster way to compare them with about `fingerprint_count`
 * fingerprints; UINT64_MAX means that the number is unknown. Takes the distance and the threads from the options, and
 * half of their memory. `results` gets the matches; it and `progress` must outlive *streaming. Call
 * idxi_streaming_close even if this fails. Errors: IDX_LIMIT (2^32 - 1 queries or more), IDX_OUT_OF_MEMORY. */
enum idx_status idxi_streaming_open(struct idxi_streaming *streaming, const uint64_t *queries, size_t count,
                                    unsigned bits, uint64_t fingerprint_count, const struct idx_batch_options *options,
                                    struct idxi_results *results, struct idxi_progress *progress,
                                    struct idx_error *error);

/* Compares `count` fingerprints with the queries, or copies them to be compared later, together with others. Adds those
 * compared to the progress. Threads may call it at once, each with a number `thread` of its own, below
 * streaming->threads. Errors: IDX_INVALID_ARGUMENT (a fingerprint of too many bits), IDX_CANCELLED, IDX_OUT_OF_MEMORY,
 * those of idxi_results_add_buffer. */
enum idx_status idxi_streaming_compare(struct idxi_streaming *streaming, size_t thread, const uint64_t *fingerprints,
                                       size_t count, struct idx_error *error);

/* Compares what is still collected, and adds the remaining matches of all threads to the results. No thread may be
 * comparing. Errors: IDX_CANCELLED, IDX_OUT_OF_MEMORY, those of idxi_results_add_buffer. */
enum idx_status idxi_streaming_end(struct idxi_streaming *streaming, struct idx_error *error);

/* Frees the copies, buckets and threads' arrays of *streaming, but not the results. */
void idxi_streaming_close(struct idxi_streaming *streaming);

#endif
