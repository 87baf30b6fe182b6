/* sweep.h: looks up many queries by reading each table once, in file order. */
#ifndef IDX_LIBIDX_SWEEP_H
#define IDX_LIBIDX_SWEEP_H

#include "libidx/lookup/results.h"
#include "libidx/view/index.h"

struct idxi_sweep_options {
    unsigned distance;
    unsigned threads;
    uint64_t memory; /* bytes, about */
    struct idxi_progress *progress;
};

/* A probe of a table on disk, in nanoseconds: a read at random, others under way beside it. */
#define IDXI_DISK_PROBE_TIME 20000.0

/* A byte that is read from a disk together with those beside it. */
#define IDXI_DISK_BYTE_TIME 1.0

/* The expected cost, in nanoseconds of one thread. */
double idxi_sweep_cost(const struct idx_index *index, size_t count, unsigned distance);

/* Puts all matches of queries, which were checked, as the distance was. Errors: IDX_BAD_CHECKSUM, IDX_BAD_CONTENT,
 * IDX_CANCELLED, IDX_OUT_OF_MEMORY, and of idxi_results_put. */
enum idx_status idxi_sweep(const struct idx_index *index, const uint64_t *queries, size_t count,
                           const struct idxi_sweep_options *options, struct idxi_results *results,
                           struct idx_error *error);

#endif
