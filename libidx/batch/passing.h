/* passing.h: lets fingerprints pass queries in memory: compares each fingerprint with the queries that have the same
 * key in a table. Fingerprints wait until there are many for one bucket of a table; then the bucket stays in the
 * caches. */
#ifndef IDX_LIBIDX_PASSING_H
#define IDX_LIBIDX_PASSING_H

#include "libidx/batch/query_tables.h"
#include "libidx/batch/results.h"

/* What one thread needs to let fingerprints pass. */
struct idxi_passing;

/* The caller closes *passing. Needs about 16 MiB, or less if `memory` is less. Errors: IDX_OUT_OF_MEMORY. */
enum idx_status idxi_passing_open(struct idxi_passing **passing, const struct idxi_query_tables *tables,
                                  struct idxi_results *results, uint64_t memory, struct idx_error *error);

/* Lets fingerprints pass. Errors: IDX_INVALID_ARGUMENT (a fingerprint of too many bits), and of idxi_results_put. */
enum idx_status idxi_passing_add(struct idxi_passing *passing, const uint64_t *fingerprints, size_t count,
                                 struct idx_error *error);

/* Compares the waiting fingerprints, and puts all matches. */
enum idx_status idxi_passing_end(struct idxi_passing *passing, struct idx_error *error);

/* Accepts NULL. */
void idxi_passing_close(struct idxi_passing *passing);

/* ---- Comparing: passing_compare.c ---- */

/* A fingerprint that seems near to a query, number `at` of the table. */
struct idxi_candidate {
    uint64_t fingerprint;
    uint32_t at;
};

/* Fingerprints that meet the queries of a table. Candidates are checked together, so that the waits for the memory of
 * their queries overlap. */
#define IDXI_CANDIDATES 32
struct idxi_meeting {
    const struct idxi_query_tables *tables;
    const struct idxi_query_table *table;
    size_t number; /* of the table */
    struct idxi_finds *finds;
    enum idx_status status;
    struct idx_error *error;
    size_t candidate_count;
    struct idxi_candidate candidates[IDXI_CANDIDATES];
};

/* Leaves no candidates. */
typedef void (*idxi_meet)(struct idxi_meeting *meeting, const uint64_t *fingerprints, size_t count);

/* The ways that this processor has to compare, the fastest last; returns their number. */
#define IDXI_MAX_MEETS 3
size_t idxi_meets(idxi_meet meets[IDXI_MAX_MEETS]);

/* Another than the fastest. For tests. */
void idxi_passing_set_meet(struct idxi_passing *passing, idxi_meet way);

#endif
