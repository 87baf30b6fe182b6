/* streaming.h: what idx_batch and idx_stream share: their options; and queries in memory, past which fingerprints
 * stream. The bits are cut into one part more than a match may have errors, and a fingerprint is compared with the
 * queries that are the same in one of the parts. Where that is slower, fingerprints are collected, and then searched
 * together with the queries as arrays (array_pairs.h). */
#ifndef IDX_LIBIDX_STREAMING_H
#define IDX_LIBIDX_STREAMING_H

#include "libidx/base/base.h"
#include "libidx/batch/distinct_queries.h"
#include "libidx/batch/results.h"
#include "libidx/fingerprints/balls.h"
#include "libidx/fingerprints/value_slots.h"

/* Copies options, or where they are NULL takes the defaults, and checks all but the distance. Errors:
 * IDX_INVALID_ARGUMENT. */
enum idx_status idxi_batch_options(struct idx_batch_options *options, const struct idx_batch_options *given,
                                   struct idx_error *error);

/* What one thread needs to let fingerprints pass. */
struct idxi_passing;

struct idxi_streaming {
    struct idxi_distinct_queries queries;
    struct idxi_value_slots slots; /* the places of these */
    unsigned bits, distance;
    unsigned threads;   /* that may add fingerprints */
    unsigned searching; /* threads of a search of arrays, where one thread adds the fingerprints */
    uint64_t memory;    /* bytes for the fingerprints that are collected, and for searching */
    struct idxi_results *results;
    struct idxi_progress *progress;
    struct idxi_cut cut;                               /* without balls where arrays are searched */
    struct idxi_folded_buckets buckets[IDX_MAX_K + 1]; /* the queries by the bits of each ball */
    struct idxi_passing *passings[IDX_MAX_THREADS];
};

/* How many fingerprints are collected for so many queries, so that each search is worth sorting the queries for it;
 * fewer where `memory` bytes don't hold more. */
size_t idxi_streaming_most(size_t queries, uint64_t memory);

/* The bytes that the buckets of so many queries take, by this many bits. */
uint64_t idxi_streaming_bytes(size_t queries, unsigned distance, unsigned width);

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

/* Lets those pass that were collected, and puts all matches that were not put. */
enum idx_status idxi_streaming_end(struct idxi_streaming *streaming, struct idx_error *error);

void idxi_streaming_close(struct idxi_streaming *streaming);

#endif
