/* passing_arrays.h: lets fingerprints pass queries in memory, many at a time: where the distance is large, that is
 * faster than passing.h. Collects fingerprints, and then searches queries and fingerprints as arrays
 * (array_pairs.h). */
#ifndef IDX_LIBIDX_PASSING_ARRAYS_H
#define IDX_LIBIDX_PASSING_ARRAYS_H

#include "libidx/base/base.h"
#include "libidx/batch/distinct_queries.h"
#include "libidx/batch/results.h"
#include "libidx/fingerprints/value_slots.h"

struct idxi_passing_arrays {
    struct idxi_distinct_queries queries;
    struct idxi_value_slots slots; /* of these */
    unsigned bits, distance, threads;
    uint64_t memory; /* bytes for searching */
    struct idxi_progress *progress;
    uint64_t *fingerprints; /* that were collected */
    size_t count, most;
    struct idxi_finds finds;
    enum idx_status status; /* of putting matches, and: */
    struct idx_error *error;
};

/* Fingerprints that are collected, so that each search is worth sorting the queries for it; fewer where `memory` bytes
 * don't hold more. */
size_t idxi_passing_arrays_most(size_t queries, uint64_t memory);

/* The caller closes *passing, also after an error. Uses about `memory` bytes, and the room for the queries. Errors:
 * IDX_LIMIT (2^32 - 1 queries or more), IDX_OUT_OF_MEMORY. */
enum idx_status idxi_passing_arrays_open(struct idxi_passing_arrays *passing, const uint64_t *queries, size_t count,
                                         unsigned bits, unsigned distance, unsigned threads, uint64_t memory,
                                         struct idxi_results *results, struct idxi_progress *progress,
                                         struct idx_error *error);

/* Lets fingerprints pass, and adds them to the progress, by and by. Errors: IDX_INVALID_ARGUMENT (a fingerprint of too
 * many bits), IDX_CANCELLED, IDX_OUT_OF_MEMORY, and of idxi_results_put. */
enum idx_status idxi_passing_arrays_add(struct idxi_passing_arrays *passing, const uint64_t *fingerprints, size_t count,
                                        struct idx_error *error);

/* Searches what was collected, and puts all matches. */
enum idx_status idxi_passing_arrays_end(struct idxi_passing_arrays *passing, struct idx_error *error);

void idxi_passing_arrays_close(struct idxi_passing_arrays *passing);

#endif
